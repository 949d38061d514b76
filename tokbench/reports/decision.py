"""The decision: which tokenizer the figures speak for under some weights, and how sure that is.

Lossless first: tokenizers that lose text are never chosen; those that only rewrite it may be where `lossless`
weighs nothing, or none is lossless. The rest are compared in pairs: the weighted mean of the logarithms of
their ratios, criterion by criterion. Two whose difference is within its noise at 95 % cannot be told apart; the
noise of several criteria is added up as if they varied together, so it is never too small. How far the choice
hangs on the weights is told by the nearest weight that would change it, and by the share of all weights under
which each is first.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokbench.metrics.weights import CRITERIA, weights_of
from tokbench.plots import data
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import ESTIMATED, LOSES, REWRITES, losses
from tokbench.reports.criteria import Known, costs, known_criteria, priced_tokenizers
from tokbench.reports.table import Column, Table, TableCell, tokenizer_rows
from tokbench.reports.training import training_marks
from tokbench.wording import listed

if TYPE_CHECKING:
    from tokbench.results import Run

SURE = 1.96
EQUAL = 1e-12
"""Logarithms of ratios below this are those of equals."""
DRAWS = 4000
"""Weights drawn evenly, with a fixed seed, for the share under which each tokenizer is first."""


@dataclass(frozen=True)
class Decision:
    """Who may be chosen, their figures, and what follows under `weights`.

    `choice` are the specs that the figures speak for: one, or several that cannot be told apart, the best
    first. `scores` are ratios to the best, by the weighted geometric mean. `sentences` say it in words.
    """

    weights: Mapping[str, float]
    known: Mapping[str, Known]
    candidates: tuple[str, ...]
    choice: tuple[str, ...]
    scores: Mapping[str, float]
    first_share: Mapping[str, float]
    sentences: tuple[str, ...]


def decide(run: Run, weights: Mapping[str, float] | None = None) -> Decision | None:
    """The decision under `weights`, by default those of the run's suite; None where nothing can be compared."""
    chosen = weights_of(weights if weights is not None else run.manifest.get("suite", {}).get("weights"))
    known = known_criteria(run)
    candidates = _candidates(run, chosen, known)
    active = {name: chosen[name] for name in known if chosen[name] > 0}
    if len(candidates) < 2 or not active:
        return None
    ranked = sorted(candidates, key=lambda name: -_level(name, active, known))
    first = ranked[0]
    unsaid = sum(chosen[c.name] for c in CRITERIA if c.name not in known and c.name != "lossless")
    vague = unsaid > sum(active.values())
    ties = [name for name in ranked[1:] if vague or not _told_apart(first, name, active, known)]
    top = _level(first, active, known)
    scores = {name: math.exp(_level(name, active, known) - top) for name in ranked}
    shares = _first_shares(candidates, known)
    said = _sentences(run, chosen, active, known, (first, *ties), ranked)
    if vague:
        said[0] = "No choice under these weights: most of what weighs is not known."
    return Decision(chosen, known, tuple(ranked), (first, *ties), scores, shares, tuple(said))


@data.remembered
def decided(run: Run) -> Decision | None:
    """The decision under the weights of the run's suite."""
    return decide(run)


def table(run: Run, decision: Decision) -> Table:
    """The decision table: every tokenizer, the candidates by their score, then those left out and why."""
    lost, left_out = losses(run), TableCell(why="not compared")
    columns = [
        Column.text("tokenizer"),
        Column.text("verdict"),
        Column(key="score", label="score", unit="share of the best", better="higher",
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
    columns += [Column(key="first", label="first under", unit="share of weights")]
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
    each = f"On {_on(run, texts)}{f', {same}' if len(texts) > 1 else ''}. " if texts else ""
    note = (
        f"{each}Each column is the share of the best candidate's figure; the score is their weighted "
        "geometric mean. First under: the share of all weights, drawn evenly, under which the tokenizer comes "
        "first."
    )
    return Table("decision", "Decision", tuple(columns), tokenizer_rows(run, rows), note)


def script_data(run: Run, decision: Decision) -> str:
    """What the page needs to decide anew: labels, figures as logarithms, noise of pairs, as JSON."""
    names, labels = sorted(decision.candidates), run_labels(run)
    return json.dumps(
        {
            "names": [labels[name] for name in names],
            "keys": names,
            "criteria": {
                criterion: {
                    "logs": [_log(known, name) for name in names],
                    "noise": [[0 if a == b else _rounded(known.noise(a, b)) for b in names] for a in names],
                }
                for criterion, known in decision.known.items()
            },
            "sure": SURE,
        }
    )


def headline_of(names: list[str], unknown: list[str], level: int) -> str:
    """The choice in words: so many of the `names` are `level` with the first, itself among them.

    `unknown` are the criteria of which it is not known how far chance bears on them.

    Example:
        >>> headline_of(["a"], [], 1), headline_of(["a", "b"], [], 1)
        ('Choice under these weights: a.', 'No winner under these weights: a and b cannot be told apart.')
        >>> headline_of(["a", "b"], [], 2)
        'No winner under these weights: a and b are level.'
        >>> headline_of(["a", "b"], ["price"], 1).partition(": ")[2]
        'by the figures alone a leads, but too little is measured to tell how far chance bears on price.'
    """
    if len(names) == 1:
        return f"Choice under these weights: {names[0]}."
    ahead = f"{names[0]} leads" if level == 1 else f"{listed(names[:level])} are level"
    if unknown:
        said = (
            f"by the figures alone {ahead}, but too little is measured to tell how far chance bears on "
            f"{listed(unknown)}"
        )
    else:
        said = ahead if level == len(names) else f"{listed(names)} cannot be told apart"
    return f"No winner under these weights: {said}."


def _made_of(run: Run, known: Known) -> str:
    """The metric of a criterion, and the datasets it is measured on."""
    return f"{known.metric}, on {_on(run, known.datasets)}" if known.datasets else known.metric


def _on(run: Run, datasets: Collection[str]) -> str:
    return listed([dataset_label(run, name) for name in run.datasets if name in datasets])


def _candidates(run: Run, weights: Mapping[str, float], known: Mapping[str, Known]) -> list[str]:
    """Those that lose nothing; those that rewrite too, where `lossless` weighs nothing or none is lossless."""
    lost = losses(run)
    measured = [
        name
        for name in run.tokenizers
        if known and all(name in each.values for key, each in known.items() if weights[key] > 0)
    ]
    clean = [name for name in measured if name not in lost]
    rewriting = [name for name in measured if name in lost and lost[name].mark == REWRITES]
    return clean + rewriting if weights["lossless"] == 0 or not clean else clean


def _log(known: Known, name: str) -> float | None:
    value = known.values.get(name)
    return None if not value else math.log(value)


def _level(name: str, active: Mapping[str, float], known: Mapping[str, Known]) -> float:
    total = sum(active.values())
    return sum(weight * math.log(known[key].values[name]) for key, weight in active.items()) / total


def _told_apart(one: str, other: str, active: Mapping[str, float], known: Mapping[str, Known]) -> bool:
    """Whether a difference is beyond its noise; not where the noise of something that weighs is unknown."""
    noise = 0.0
    for key, weight in active.items():
        if _noise_unknown(known[key], one, other):
            return False
        noise += weight * (known[key].noise(one, other) or 0.0)
    apart = abs(_level(one, active, known) - _level(other, active, known)) * sum(active.values())
    return apart > max(SURE * noise, EQUAL)


def _noise_unknown(known: Known, one: str, other: str) -> bool:
    """Whether two figures differ, and nothing tells by how much they may by chance."""
    return known.noise(one, other) is None and known.values[one] != known.values[other]


def _first_shares(candidates: list[str], known: Mapping[str, Known]) -> dict[str, float]:
    """The share of weights, drawn evenly from all that sum to one, under which each is first; equals share."""
    import numpy as np

    keys = [key for key in known if all(name in known[key].values for name in candidates)]
    logs = np.array([[math.log(known[key].values[name]) for key in keys] for name in candidates])
    drawn = np.random.default_rng(0).dirichlet(np.ones(len(keys)), DRAWS)
    levels = logs @ drawn.T
    first = levels > levels.max(axis=0) - EQUAL
    return dict(zip(candidates, (first / first.sum(axis=0)).mean(axis=1).tolist(), strict=True))


def _turning_points(
    weights: Mapping[str, float], known: Mapping[str, Known], ranked: list[str]
) -> tuple[dict[str, tuple[float, bool, str]], list[str]]:
    """For each criterion, the nearest weight beyond which another than the first of `ranked` is ahead.

    With it, whether that is above it, and who is ahead then; one that weighs nothing may weigh more. Second,
    the criteria any change of which parts the first from those that are level with it.
    """
    first, *others = ranked
    found: dict[str, tuple[float, bool, str]] = {}
    parting: dict[str, None] = {}
    keys = [key for key, each in known.items() if all(name in each.values for name in ranked)]
    for other in others:
        apart = {key: math.log(known[key].values[first] / known[key].values[other]) for key in keys}
        lead = sum(weights[key] * apart[key] for key in keys)
        lead = 0.0 if lead < EQUAL else lead
        for key in keys:
            if abs(apart[key]) < EQUAL:
                continue
            if not lead:
                parting[key] = None
            turn = weights[key] - lead / apart[key]
            near = key not in found or abs(turn - weights[key]) < abs(found[key][0] - weights[key])
            if near and (apart[key] < 0 or turn > EQUAL):
                found[key] = (turn, apart[key] < 0, other)
    return {key: found[key] for key in keys if key in found}, [key for key in keys if key in parting]


def _sentences(
    run: Run,
    weights: Mapping[str, float],
    active: Mapping[str, float],
    known: Mapping[str, Known],
    choice: tuple[str, ...],
    ranked: list[str],
) -> list[str]:
    """The choice, what would change it, what is noise, and what is not known."""
    labels, lost = run_labels(run), losses(run)
    first, *ties = choice
    unknown = [key for key in active if any(_noise_unknown(known[key], first, name) for name in ties)]
    top = _level(first, active, known)
    level = sum(top - _level(name, active, known) < EQUAL for name in choice)
    said = [headline_of([labels[name] for name in choice], unknown, level)]
    turns, parting = _turning_points(weights, known, ranked)
    parts = [
        f"{key} {'above' if above else 'below'} {_number(turn)} (now {weights[key]:g}): {labels[other]}"
        for key, (turn, above, other) in turns.items()
    ]
    said.append(
        f"Another would come first with {'; '.join(parts)}."
        if parts
        else f"No change of a single weight puts another ahead of {labels[ranked[0]]}."
    )
    if parting:
        said[1] = f"The first are level: any other weight of {' or '.join(parting)} parts them. {said[1]}"
    for unsure in dict.fromkeys(known[key].unsure for key in active):
        if unsure:
            keys = [key for key in active if known[key].unsure == unsure]
            leave = f"{listed(keys).capitalize()} {'leaves' if len(keys) == 1 else 'leave'} out"
            said.append(f"{leave} {_on(run, unsure)}: how far chance bears there is not known.")
    missing = [c for c in CRITERIA if c.name not in known and c.name != "lossless" and weights[c.name] > 0]
    if missing:
        said.append(f"Not known: {'; '.join(f'{c.name} ({c.lacking})' for c in missing)}.")
    flattered: dict[str, list[str]] = {}
    for dataset in data.natural_datasets(run):
        marks = training_marks(run, dataset)
        if names := ", ".join(labels[name] for name in ranked if name in marks):
            flattered.setdefault(names, []).append(dataset)
    for names, datasets in flattered.items():
        said.append(
            f"Better on {_on(run, datasets)} than elsewhere, since trained on that text or on another part of "
            f"its collection: {names}. Judge them on other text (-d)."
        )
    for why, of_estimates in (("text does not come back as it was", False), ("they are estimated", True)):
        out = [
            labels[name]
            for name in run.tokenizers
            if name in lost and name not in ranked and (lost[name].mark == ESTIMATED) == of_estimates
        ]
        if out:
            said.append(f"Left out, since {why}: {', '.join(out)}.")
    if known.get("price") and known.get("context") and known["price"].metric == known["context"].metric:
        said.append("Price and context are the same figure here, tokens: their weights add up.")
    if known.get("price"):
        said += _unpriced(run, per_token=known["price"].metric != "cost")
    return said


def _unpriced(run: Run, per_token: bool) -> list[str]:
    """What to say of tokenizers without a price, and where price is taken `per_token` therefore."""
    labels, costing, priced = run_labels(run), costs(run), priced_tokenizers(run)
    free = [labels[name] for name, cost in costing.items() if not cost]
    without = [labels[name] for name in run.tokenizers if name not in priced]
    if not per_token:
        return [f"Left out, since no price was given: {listed(without)}."] if without else []
    if costing and free:
        return [f"The price of {listed(free)} is 0, so that no ratio can be taken: price is taken per token."]
    if priced and not without:
        return ["Too few tokenizers were measured on all texts to compare prices: price is taken per token."]
    whose = f"No price was given for {listed(without)}" if priced else "No prices were given"
    return [f"{whose}: price is taken per token."]


def _verdict(spec: str, decision: Decision, lost: Mapping[str, Any]) -> str:
    if spec not in decision.candidates:
        if spec in lost:
            return {LOSES: "loses text", REWRITES: "rewrites text", ESTIMATED: "estimated"}[lost[spec].mark]
        return "not all measured"
    if spec in decision.choice:
        return "choice" if len(decision.choice) == 1 else "may be as good"
    return f"{1 - decision.scores[spec]:.1%} behind"


def _number(value: float) -> str:
    """Two digits, written out.

    Example:
        >>> _number(139.6), _number(0.0421)
        ('140', '0.042')
    """
    return f"{float(f'{value:.2g}'):g}"


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
