"""Sentences that captions share: what marks and hollow points say, and which tokenizers are not there."""

from __future__ import annotations

from collections.abc import Collection

from tokbench.plots.labels import run_labels
from tokbench.plots.losses import ESTIMATED, EXPLAINED, hard_losses, losses
from tokbench.results import Run
from tokbench.wording import listed, sentences


def explained(run: Run, names: Collection[str] | None = None) -> str:
    """`marks_explained`, and which unmarked tokenizers lose something of the cases made to be hard."""
    shown = run.tokenizers if names is None else names
    named = ", ".join(run_labels(run)[spec] for spec in hard_losses(run) if spec in shown)
    hard = f"Unmarked, but does not give back every hard test case: {named}." if named else ""
    return sentences(marks_explained(run, shown), hard)


def marks_explained(run: Run, names: Collection[str]) -> str:
    """What the marks of the tokenizers `names` mean, a sentence for each mark; empty if none has a mark."""
    there = {loss.mark for name, loss in losses(run).items() if name in names}
    return sentences(*(text for mark, text in EXPLAINED.items() if mark in there))


def hollow(run: Run, drawn: Collection[str]) -> str:
    """A caption's sentences on hollow points, if any are `drawn`, and marked names; empty without losses."""
    lost = losses(run)
    points = "Hollow: decoding changes text, or estimated." if any(name in lost for name in drawn) else ""
    return sentences(points, explained(run)) if lost else ""


def absent(run: Run, drawn: Collection[str]) -> str:
    """A caption's sentences on tokenizers not `drawn`, by spec, and why they are not; empty where all are."""
    missing = {spec: label for spec, label in run_labels(run).items() if spec not in drawn}
    lossy = {name for name, loss in losses(run).items() if loss.mark != ESTIMATED}
    out = lossy if run.manifest.get("suite", {}).get("exclude_lossy") else {}
    said = {
        "Left out, because decoding changes the text": [missing[name] for name in missing if name in out],
        "Not measured": [missing[name] for name in missing if name not in out],
    }
    return sentences(*(f"{why}: {listed(names)}." for why, names in said.items() if names))
