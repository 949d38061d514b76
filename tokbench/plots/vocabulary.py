"""Compression against vocabulary size: the same algorithm at several sizes, joined by a line."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from tokbench.extension import Plot
from tokbench.metrics.model import estimated_vocabulary, model_of
from tokbench.plots import data
from tokbench.plots.captions import explained
from tokbench.plots.labels import dataset_label, tokenizer_labels
from tokbench.plots.losses import losses, mark_of
from tokbench.plots.multiples import Axis, Curve, draw_curves
from tokbench.results import Run
from tokbench.spec import Spec
from tokbench.wording import sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def size_families(run: Run) -> dict[str, list[tuple[int, str]]]:
    """Tokenizers that differ in nothing but `vocab_size`: (ids, spec) ascending, by the spec without it.

    Of the ids that they have: a trainer may run out of text before it reaches the size asked for.
    """
    families: dict[str, list[tuple[int, str]]] = {}
    held = {entry["spec"]: entry.get("vocab_size") for entry in run.manifest["tokenizers"]}
    for text in run.tokenizers:
        spec = Spec.parse(text)
        size = str(spec.options.get("vocab_size", ""))
        if size.isdigit():
            rest = {name: value for name, value in spec.options.items() if name != "vocab_size"}
            name = str(Spec(spec.family, spec.variant, rest))
            families.setdefault(name, []).append((int(held.get(text) or size), text))
    return {name: sorted(members) for name, members in families.items() if len(members) > 1}


def estimate(run: Run) -> str:
    """A sentence on the vocabulary that Tao et al. 2024 expect for the run's model; empty without one."""
    given = run.manifest.get("suite", {}).get("model")
    if not given:
        return ""
    low, high = estimated_vocabulary(model_of(given))
    return (
        f"The fits of Tao et al. 2024 (English, models of 33 million to 3 billion parameters) put the best "
        f"size for this model at {low:,}–{high:,} ids."
    )


def draw(run: Run, *, metric: str, unit: str) -> Figure | None:
    """A metric of the main dataset by vocabulary size, intervals as bands; of a cost, with an `estimate`."""
    dataset, known = data.main_dataset(run), losses(run)
    rows = data.overall(run, metric, dataset).set_index("tokenizer")
    curves: dict[str, Curve] = {}
    families = size_families(run)
    labels = tokenizer_labels(families)
    for name, members in families.items():
        there = [(size, rows.loc[spec]) for size, spec in members if spec in rows.index]
        if len(there) > 1:
            marks = [known[spec].mark for _, spec in members if spec in known]
            curves[labels[name] + (f" {min(marks)}" if marks else "")] = Curve.of_rows(there)
    if not curves:
        return None
    pooled = ", its languages pooled" if len(run.languages(dataset)) > 1 else ""
    return draw_curves(
        curves,
        x=Axis(label="vocabulary size", scale="log", base=2, ticks=_ticks(curves)),
        y=Axis(label=unit),
        marks=True,
        note=sentences(
            f"Over {dataset_label(run, dataset)}{pooled}; band: {run.level} interval.",
            explained(run) if any(map(mark_of, curves)) else "",
            estimate(run) if metric == "train_flops" else "",
        ),
    )


def _ticks(curves: Mapping[str, Curve]) -> tuple[float, ...]:
    """The sizes there are, thinned until their labels stand apart on a log axis."""
    kept: list[float] = []
    for size in sorted({float(size) for curve in curves.values() for size in curve.x}):
        if not kept or size >= 1.4 * kept[-1]:
            kept.append(size)
    return tuple(kept)


PLOTS = (
    Plot(
        name="vocab_size",
        title="Compression against vocabulary size",
        summary="Bytes per token of one algorithm at several vocabulary sizes.",
        draw=partial(draw, metric="compression_ratio", unit="bytes per token"),
        needs="two tokenizers, trained by the run, that differ only in vocab_size",
    ),
    Plot(
        name="model_cost",
        title="Cost of training against vocabulary size",
        summary="Operations per byte of one algorithm at several vocabulary sizes, for the model given.",
        draw=partial(draw, metric="train_flops", unit="FLOP of training per byte"),
        needs="a model, and two tokenizers, trained by the run, that differ only in vocab_size",
    ),
)
