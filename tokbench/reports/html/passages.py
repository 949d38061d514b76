"""Tokenizations side by side: of sample passages, and of the first places where two tokenizers differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from tokbench.plots import data
from tokbench.plots.counts import counts
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.reports.diffs import causes, pairs
from tokbench.reports.figures import number
from tokbench.reports.html.assemble import rendered
from tokbench.reports.tokenview.render import markup, spans_at, spans_of_json
from tokbench.results import Run

OF_A_CAUSE = 3
"""How many divergences of each cause are shown; the run stores a few more."""


def samples(run: Run) -> Markup:
    """Every passage that the run stored, with its tokenizations; equal ones are shown once."""
    if not run.samples:
        return Markup("")
    labels = run_labels(run)
    ranks = {name: ranks_of(run, name) for name in run.tokenizers}
    shown = []
    for sample in run.samples:
        views = []
        for names, pieces in _alike(sample):
            named = ", ".join(labels[name] for name in names)
            view = markup(spans_of_json(pieces), f"Tokens of {named}", ranks.get(names[0]))
            views.append({"name": named, "count": len(pieces), "view": view})
        shown.append({"title": _title(run, sample), "views": views})
    return rendered("samples.html", samples=shown)


def _title(run: Run, sample: dict[str, Any]) -> str:
    """The title of a passage: its dataset and language, or its own title if it comes from elsewhere."""
    if sample.get("dataset") in run.datasets:
        kind = data.kind(run, sample["dataset"])
        return f"{dataset_label(run, sample['dataset'])}, {language_label(sample['language'], kind)}"
    return str(sample.get("title") or "")


def _alike(sample: dict[str, Any]) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """Groups of tokenizers with the same tokens and ids, each with these tokens."""
    found: dict[str, tuple[list[str], list[dict[str, Any]]]] = {}
    for each in sample["tokenizations"]:
        names, _ = found.setdefault(json.dumps(each["pieces"]), ([], each["pieces"]))
        names.append(each.get("spec") or each["tokenizer"])
    yield from found.values()


def ranks_of(run: Run, tokenizer: str) -> dict[int, int]:
    """The rank of each id by frequency on the main dataset; the most frequent is first."""
    found = counts(run, tokenizer, data.main_dataset(run))
    return {} if found is None else {int(index): place for place, index in enumerate(found.ids, 1)}


def divergences(run: Run) -> Markup:
    """Every pair that differs: the causes, and the first divergences of each cause."""
    shown = [_shown(run, pair) for pair in pairs(run) if pair.get("divergences")]
    return rendered("diffs.html", pairs=shown) if shown else Markup("")


def _shown(run: Run, pair: dict[str, Any]) -> dict[str, Any]:
    labels = run_labels(run)
    sides = [(side, pair[side], labels[pair[side]]) for side in ("a", "b")]
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
    """The first of each cause, grouped by cause in the order of appearance."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for each in found:
        kinds.setdefault(each["cause"], []).append(each)
    return [each for kind in kinds.values() for each in kind[:OF_A_CAUSE]]


def _place(run: Run, divergence: dict[str, Any]) -> str:
    """The place of a divergence in readable form, without the path of the dataset."""
    dataset, language, place = divergence["document"].rsplit(" ", 2)
    where = (
        f"{dataset_label(run, dataset)}, {language_label(language, data.kind(run, dataset))}, document {place}"
    )
    return f"{where}, character {number(divergence['start'] + 1, 0)}"


def _view(divergence: dict[str, Any], side: str, label: str, ranks: dict[int, int]) -> Markup:
    spans = spans_of_json(divergence[side])
    lead, count = divergence["lead"], divergence["n_tokens"][side == "b"]
    return markup(spans, f"Tokens of {label}", ranks, differs=spans_at(spans, lead, lead + count))
