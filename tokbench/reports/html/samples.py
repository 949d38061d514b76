"""Chosen passages side by side, as every tokenizer takes them apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from tokbench.plots import data
from tokbench.plots.counts import counts
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.reports.html.assemble import rendered
from tokbench.reports.tokenview.render import markup, spans_of_json
from tokbench.results import Run


def samples(run: Run) -> Markup:
    """Every passage the run kept, each with its tokenizations, those of several tokenizers once."""
    if not run.samples:
        return Markup("")
    labels = run_labels(run)
    ranks = {name: ranks_of(run, name) for name in run.tokenizers}
    shown = []
    for sample in run.samples:
        views = []
        for names, pieces in _alike(sample):
            named = ", ".join(labels.get(name, name) for name in names)
            view = markup(spans_of_json(pieces), f"Tokens of {named}", ranks.get(names[0]))
            views.append({"name": named, "count": len(pieces), "view": view})
        shown.append({"title": _title(run, sample), "views": views})
    return rendered("samples.html", samples=shown)


def _title(run: Run, sample: dict[str, Any]) -> str:
    """Dataset and language as the rest of the page writes them; a passage from elsewhere by its own title."""
    if sample.get("dataset") in run.datasets:
        kind = data.kind(run, sample["dataset"])
        return f"{dataset_label(run, sample['dataset'])}, {language_label(sample['language'], kind)}"
    return str(sample.get("title") or "")


def _alike(sample: dict[str, Any]) -> Iterator[tuple[list[str], list[dict[str, Any]]]]:
    """The tokenizers that give the same tokens, ids too, together, each with what they are."""
    found: dict[str, tuple[list[str], list[dict[str, Any]]]] = {}
    for each in sample["tokenizations"]:
        names, _ = found.setdefault(json.dumps(each["pieces"]), ([], each["pieces"]))
        names.append(each.get("spec") or each["tokenizer"])
    yield from found.values()


def ranks_of(run: Run, tokenizer: str) -> dict[int, int]:
    """How each id ranks by frequency over the main dataset, the most frequent first."""
    found = counts(run, tokenizer, data.main_dataset(run))
    return {} if found is None else {int(index): place for place, index in enumerate(found.ids, 1)}
