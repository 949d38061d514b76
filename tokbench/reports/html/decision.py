"""The decision at the head of the page: the choice in words, weights to change, the table, the reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from tokbench.metrics.weights import CRITERIA
from tokbench.reports.decision import decided, script_data, table
from tokbench.reports.html.assemble import rendered

if TYPE_CHECKING:
    from tokbench.results import Run


def decision(run: Run) -> Markup:
    """The decision as markup; empty where nothing can be compared."""
    found = decided(run)
    if found is None:
        return Markup("")
    shown = [
        {"name": criterion.name, "what": criterion.what, "weight": found.weights[criterion.name]}
        for criterion in CRITERIA
        if criterion.name in found.known
    ]
    return rendered(
        "decision.html",
        data=script_data(run, found),
        sentences=found.sentences,
        criteria=shown,
        said=", ".join(f"{name} {weight:g}" for name, weight in found.weights.items()),
        given=table(run, found),
    )
