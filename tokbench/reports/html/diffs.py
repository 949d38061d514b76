"""The first places where two tokenizers part, each with both tokenizations coloured."""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.reports.diffs import causes, pairs
from tokbench.reports.figures import number
from tokbench.reports.html.assemble import rendered
from tokbench.reports.html.samples import ranks_of
from tokbench.reports.tokenview.render import markup, spans_at, spans_of_json
from tokbench.results import Run

OF_A_CAUSE = 3
"""Divergences shown of each kind; the run keeps a few more."""


def divergences(run: Run) -> Markup:
    """Every pair that differs: its kinds of difference, and the first divergences of each kind."""
    shown = [_shown(run, pair) for pair in pairs(run) if pair.get("divergences")]
    return rendered("diffs.html", pairs=shown) if shown else Markup("")


def _shown(run: Run, pair: dict[str, Any]) -> dict[str, Any]:
    labels = run_labels(run)
    sides = [(side, pair[side], labels.get(pair[side], pair[side])) for side in ("a", "b")]
    ranks = {side: ranks_of(run, spec) for side, spec, _ in sides}
    return {
        "label": f"{sides[1][2]} against {sides[0][2]}",
        "summary": f"{number(pair['n_equal'], 0)} of {number(pair['n_documents'], 0)} documents are equal; the "
        f"others first part on: {causes(pair)}.",
        "divergences": [
            {
                "where": _place(run, each),
                "cause": each["cause"],
                "sides": [
                    {"name": label, "view": _view(each, side, label, ranks[side])} for side, _, label in sides
                ],
            }
            for each in _few(pair["divergences"])
        ],
    }


def _few(found: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The first of each kind, kinds together, in the order in which they appear."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        kinds.setdefault(each["cause"], []).append(each)
    return [each for kind in kinds.values() for each in kind[:OF_A_CAUSE]]


def _place(run: Run, divergence: dict[str, Any]) -> str:
    """Where it is, in a reader's words; the dataset's path, if it has one, is not told."""
    dataset, language, place = divergence["document"].rsplit(" ", 2)
    where = (
        f"{dataset_label(run, dataset)}, {language_label(language, data.kind(run, dataset))}, document {place}"
    )
    return f"{where}, character {number(divergence['start'] + 1, 0)}"


def _view(divergence: dict[str, Any], side: str, label: str, ranks: dict[int, int]) -> Markup:
    spans = spans_of_json(divergence[side])
    lead, count = divergence["lead"], divergence["n_tokens"][side == "b"]
    return markup(spans, f"Tokens of {label}", ranks, differs=spans_at(spans, lead, lead + count))
