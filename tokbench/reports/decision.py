"""The decision: which tokenizer is best under some weights of the criteria, and how certain that is.

Tokenizers that lose text are never chosen. Those that only rewrite it can be chosen if `lossless` has the
weight 0, or if none is lossless. The others are compared in pairs, by the weighted mean over the criteria of
the logarithms of their ratios. Two whose difference is within its noise at 95 % are tied; the noise of several
criteria is added as if they varied together, so it is never too small. How much the choice depends on the
weights is shown by the nearest weight that would change it, and by the share of all weights under which each
tokenizer is first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tokbench.metrics.weights import CRITERIA, weights_of
from tokbench.plots import data
from tokbench.plots.captions import marks_explained
from tokbench.plots.labels import run_labels
from tokbench.plots.losses import ESTIMATED, LOSES, REWRITES, losses
from tokbench.reports.criteria import EQUAL, Known, known_criteria, level_of, noise_unknown
from tokbench.reports.reasons import not_known, reasons, texts_named
from tokbench.reports.table import Column, Table, TableCell, tokenizer_rows
from tokbench.results import Run
from tokbench.wording import percent, sentences

SURE = 1.96
DRAWS = 4000
"""How many weights are drawn, uniformly and with a fixed seed, for the shares of first places."""


@dataclass(frozen=True)
class Decision:
    """The candidates, their figures, and the choice under `weights`.

    `choice` are the specs of the best: one, or several that are tied, the best first. `scores` are ratios to
    the best, by the weighted geometric mean. `sentences` state the decision. If it is `vague`, the criteria
    that are not known (`unsaid`) weigh more than those that are, and there is no choice.
    """

    weights: Mapping[str, float]
    known: Mapping[str, Known]
    candidates: tuple[str, ...]
    choice: tuple[str, ...]
    scores: Mapping[str, float]
    first_share: Mapping[str, float]
    sentences: tuple[str, ...]
    unsaid: float = 0.0
    vague: bool = False

    @property
    def weighed(self) -> str:
        """The weights of the known criteria, without zeros, as ``price 3, context 1``."""
        return ", ".join(
            f"{name} {weight:g}" for name, weight in self.weights.items() if name in self.known and weight
        )


def decide(run: Run, weights: Mapping[str, float] | None = None) -> Decision | None:
    """The decision under `weights`, by default those of the run's suite; None if nothing can be compared."""
    chosen = weights_of(weights if weights is not None else run.manifest.get("suite", {}).get("weights"))
    known = known_criteria(run)
    candidates = _candidates(run, chosen, known)
    active = {name: chosen[name] for name in known if chosen[name] > 0}
    if len(candidates) < 2 or not active:
        return None
    ranked = sorted(candidates, key=lambda name: -level_of(name, active, known))
    first = ranked[0]
    unsaid = sum(chosen[c.name] for c in CRITERIA if c.name not in known and c.name != "lossless")
    vague = unsaid > sum(active.values())
    ties = [name for name in ranked[1:] if vague or not _told_apart(first, name, active, known)]
    top = level_of(first, active, known)
    scores = {name: math.exp(level_of(name, active, known) - top) for name in ranked}
    shares = _first_shares(candidates, known)
    said = reasons(run, chosen, active, known, (first, *ties), ranked)
    if vague:
        said[0] = "No choice under these weights: most of the weight is on criteria that are not known."
    return Decision(chosen, known, tuple(ranked), (first, *ties), scores, shares, tuple(said), unsaid, vague)


@data.remembered
def decided(run: Run) -> Decision | None:
    """The decision under the weights of the run's suite."""
    return decide(run)


def undecided(run: Run) -> str:
    """Why nothing is decided between several tokenizers although weights were given; empty otherwise."""
    given = run.manifest.get("suite", {}).get("weights")
    if not given or len(run.tokenizers) < 2 or decided(run) is not None:
        return ""
    weights, known = weights_of(given), known_criteria(run)
    if any(weights[name] > 0 for name in known):
        why = ["fewer than two tokenizers are lossless and have figures for every weighted criterion."]
    else:
        why = ["no criterion with a weight is known.", *not_known(weights, known)]
    return " ".join(["No choice under these weights:", *why])


def table(run: Run, decision: Decision) -> Table:
    """The decision table: the candidates by score, then the tokenizers left out, with the reason."""
    lost, left_out = losses(run), TableCell(why="not compared")
    columns = [
        Column.text("tokenizer"),
        Column.text("verdict"),
        Column(key="score", label="score", unit="share of the best", better="higher", places=1,
               help="Weighted geometric mean of its ratios to the best, criterion by criterion"),
    ]  # fmt: skip
    columns += [
        Column(
            key=criterion.name, label=criterion.name, unit="share of the best", better="higher",
            help=f"{criterion.what}: {_made_of(run, decision.known[criterion.name])}",
        )
        for criterion in CRITERIA
        if criterion.name in decision.known
    ]  # fmt: skip
    columns += [Column(key="first", label="first under", unit="share of weights", places=1)]
    best = {
        name: max(value for spec, value in known.values.items() if spec in decision.candidates)
        for name, known in decision.known.items()
    }
    rows: dict[str, list[str | float | TableCell]] = {}
    for spec in decision.candidates:
        values = {name: known.values.get(spec) for name, known in decision.known.items()}
        shares = (value / best[name] if value else left_out for name, value in values.items())
        rows[spec] = [
            _verdict(spec, decision, lost),
            decision.scores[spec],
            *shares,
            decision.first_share[spec],
        ]
    for spec in run.tokenizers:
        if spec not in rows:
            rows[spec] = [_verdict(spec, decision, lost), *[left_out] * (len(columns) - 2)]
    over = {each.datasets for each in decision.known.values() if each.datasets}
    texts = {name for datasets in over for name in datasets}
    same = "each of which counts the same" if len(over) == 1 else "not all of them for every criterion"
    each = f"On {texts_named(run, texts)}{f', {same}' if len(texts) > 1 else ''}. " if texts else ""
    note = (
        f"{each}Each column is the share of the best candidate's figure; the score is their weighted "
        "geometric mean. First under: of weights drawn at random, the share under which the tokenizer comes "
        "first."
    )
    note = sentences(note, marks_explained(run, rows))
    return Table("decision", "Decision", tuple(columns), tokenizer_rows(run, rows), note)


def script_data(run: Run, decision: Decision) -> str:
    """The data with which the page recomputes the decision, as JSON: labels, log figures, noise of pairs."""
    names, labels = sorted(decision.candidates), run_labels(run)
    return json.dumps(
        {
            "names": [labels[name] for name in names],
            "keys": names,
            "criteria": {
                criterion: {
                    "logs": [math.log(value) if (value := known.values.get(name)) else None for name in names],
                    "noise": [[0 if a == b else _rounded(known.noise(a, b)) for b in names] for a in names],
                }
                for criterion, known in decision.known.items()
            },
            "sure": SURE,
            "unsaid": decision.unsaid,
        }
    )


def _made_of(run: Run, known: Known) -> str:
    """The metric of a criterion, and the datasets it is measured on."""
    return f"{known.metric}, on {texts_named(run, known.datasets)}" if known.datasets else known.metric


def _candidates(run: Run, weights: Mapping[str, float], known: Mapping[str, Known]) -> list[str]:
    """The lossless tokenizers; also those that rewrite text if `lossless` weighs 0 or none is lossless."""
    lost = losses(run)
    measured = [
        name
        for name in run.tokenizers
        if known and all(name in each.values for key, each in known.items() if weights[key] > 0)
    ]
    clean = [name for name in measured if name not in lost]
    rewriting = [name for name in measured if name in lost and lost[name].mark == REWRITES]
    return clean + rewriting if weights["lossless"] == 0 or not clean else clean


def _told_apart(one: str, other: str, active: Mapping[str, float], known: Mapping[str, Known]) -> bool:
    """Whether a difference exceeds its noise; False if the noise of a weighted criterion is unknown."""
    noise = 0.0
    for key, weight in active.items():
        if noise_unknown(known[key], one, other):
            return False
        noise += weight * (known[key].noise(one, other) or 0.0)
    apart = abs(level_of(one, active, known) - level_of(other, active, known)) * sum(active.values())
    return apart > max(SURE * noise, EQUAL)


def _first_shares(candidates: list[str], known: Mapping[str, Known]) -> dict[str, float]:
    """The share of random weights that sum to one under which each is first; ties are divided."""
    keys = [key for key in known if all(name in known[key].values for name in candidates)]
    logs = np.array([[math.log(known[key].values[name]) for key in keys] for name in candidates])
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(keys)), DRAWS)
    levels = logs @ drawn.T
    first = levels > levels.max(axis=0) - EQUAL
    return dict(zip(candidates, (first / first.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def _verdict(spec: str, decision: Decision, lost: Mapping[str, Any]) -> str:
    if spec not in decision.candidates:
        if spec in lost:
            return {LOSES: "loses text", REWRITES: "rewrites text", ESTIMATED: "estimated"}[lost[spec].mark]
        return "not all measured"
    if decision.vague:
        return "no choice"
    if spec in decision.choice:
        return "choice" if len(decision.choice) == 1 else "may be as good"
    return f"{percent(1 - decision.scores[spec], 1)} behind"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
