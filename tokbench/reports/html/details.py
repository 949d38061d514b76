"""The decision, definitions and provenance: parts of the page made from templates."""

from __future__ import annotations

import html
import json
import re
from typing import Any

from markupsafe import Markup

from tokbench.metrics.weights import CRITERIA
from tokbench.reports.chosen import metric_facts
from tokbench.reports.decision import decided, script_data, table, undecided
from tokbench.reports.html.assemble import rendered
from tokbench.reports.html.formula import formula_markup
from tokbench.results import Run

_FIRST = ("run", "started", "finished", "seconds", "versions", "machine", "suite", "tokenizers", "datasets")
_PATH = re.compile(r"(?<![\w/.])(?:/[\w.@+~-]+)+/([\w.@+~-]+)|\b[A-Za-z]:(?:\\\\[\w.@+~ -]+)*\\\\([\w.@+~-]+)")
_SHOWN_ELSEWHERE = {"failures", "schema"}


def decision(run: Run) -> Markup:
    """The choice, its weights, the table and the reasons; or why there is no decision although asked for."""
    found = decided(run)
    if found is None:
        return Markup("<p>{}</p>").format(why) if (why := undecided(run)) else Markup("")
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


def definitions(run: Run) -> Markup:
    """Each metric of the run with formula, unit, source and caveat."""
    facts = metric_facts(run)
    metrics = [facts[name] for name in dict.fromkeys(run.frame["metric"]) if name in facts]
    return rendered("definitions.html", metrics=metrics, formula=formula_markup) if metrics else Markup("")


def provenance(run: Run) -> Markup:
    """The manifest: what was run, on what, with which versions and files."""
    manifest = dict(run.manifest)
    if isinstance(speed := manifest.get("speed"), dict):  # all of its figures are in tables of the report
        manifest["speed"] = {key: value for key, value in speed.items() if key != "summary"}
    keys = [key for key in _FIRST if key in manifest]
    keys += [key for key in manifest if key not in keys and key not in _SHOWN_ELSEWHERE]
    keys = [key for key in keys if manifest[key] not in (None, "", [], {})]
    facts = [(key, manifest[key]) for key in keys if not isinstance(manifest[key], dict | list)]
    nested = [(key, _json(manifest[key])) for key in keys if isinstance(manifest[key], dict | list)]
    return rendered("provenance.html", facts=facts, nested=nested)


def _json(value: Any) -> Markup:
    """The value as text; absolute paths are cut to their last part, to hide home folders."""
    text = json.dumps(value, indent=1, ensure_ascii=False, default=str)
    text = _PATH.sub(lambda path: f"…/{path[1] or path[2]}", text)
    return Markup(html.escape(text, quote=False))  # its many quotation marks stand in no attribute
