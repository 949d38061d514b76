"""A comparison of two runs for CI: JUnit XML, and a summary in Markdown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from tokbench.errors import SpecError
from tokbench.reports.markdown import render
from tokbench.reports.table import Column, Row, Table
from tokbench.results.comparison import KEYS, OTHER_UNIT
from tokbench.wording import counted, in_xml, percent

MOST = 50
"""The most rows of a summary."""

VERDICTS = ("worse", "vanished", "better", "changed", "appeared", "unsure", "same")
"""The verdicts, in the order in which they are shown."""


def worst_first(figures: pd.DataFrame) -> pd.DataFrame:
    """The compared figures in the order of `VERDICTS`, the largest changes of each first."""
    rank, size = figures["verdict"].map(VERDICTS.index), figures["change"].abs().fillna(math.inf)
    order = figures.assign(rank=rank, size=size).sort_values(
        ["rank", "size"], ascending=[True, False], kind="stable"
    )
    return figures.loc[order.index]


def fails(figures: pd.DataFrame, *, strict: bool = False) -> pd.Series:
    """Whether each compared figure fails: it got worse or vanished; with `strict`, also if it may have."""
    return figures["verdict"].isin(["worse", "vanished", *(["unsure"] if strict else [])])


def junit(figures: pd.DataFrame, *, strict: bool = False) -> str:
    """The compared figures as JUnit XML: a test for each figure, with a failure if it `fails`."""
    failing = fails(figures, strict=strict)
    unsure = 0 if strict else int((figures["verdict"] == "unsure").sum())
    suite = ElementTree.Element(
        "testsuite",
        name="tokbench runs compare",
        tests=str(len(figures)),
        failures=str(int(failing.sum())),
        skipped=str(unsure),
    )
    for row, failed in zip(figures.itertuples(), failing, strict=True):
        name = f"{row.metric} [{row.language}]"
        whose = " on ".join(filter(None, (row.tokenizer, row.dataset)))  # of a vocabulary: no dataset
        case = ElementTree.SubElement(suite, "testcase", classname=in_xml(whose), name=in_xml(name))
        if failed:
            ElementTree.SubElement(case, "failure", type=str(row.verdict), message=in_xml(_said(row)))
        elif row.verdict == "unsure":
            ElementTree.SubElement(case, "skipped", message=in_xml(_said(row)))
    return ElementTree.tostring(suite, encoding="unicode", xml_declaration=True) + "\n"


def summary(figures: pd.DataFrame, *, strict: bool = False) -> str:
    """A sentence with the verdicts, and a table of the figures that fail, for the summary of a CI job."""
    counts = figures["verdict"].value_counts()
    bad = figures[fails(figures, strict=strict)]
    gone = "is gone" if len(bad) == 1 else "are gone"
    worse = f"got worse, may have, or {gone}" if strict else f"got worse or {gone}"
    head = f"tokbench: {counted(len(bad), 'figure')} {worse}" if len(bad) else "tokbench: nothing got worse"
    lines = [
        f"### {head}",
        "",
        ", ".join(f"{count:,} {verdict}" for verdict, count in counts.items()) + ".",
        "",
    ]
    if len(bad):
        columns = tuple(map(Column.text, (*KEYS, "before", "after", "change", "p")))
        rows = tuple(_row(row) for row in worst_first(bad).head(MOST).itertuples())
        lines.append(render(Table("worse", head, columns, rows)))
        lines += ["", f"… and {len(bad) - MOST:,} more."] if len(bad) > MOST else []
    return "\n".join([*lines, ""])


def _row(row: Any) -> Row:
    names = (str(getattr(row, key)) for key in KEYS)
    return Row((*names, number(row.before), number(row.after), change(row.change), number(row.p)))


def _said(row: Any) -> str:
    chance = "" if row.p != row.p else f"p = {row.p:.2g}"
    moved = f"{number(row.before)} to {number(row.after)}"
    moved += f" ({row.unit})" if OTHER_UNIT in row.unit else ""
    return f"{row.verdict}: {', '.join(filter(None, (moved, change(row.change), chance)))}"


def setting(value: object) -> str:
    """A setting or other fact of a run in readable form.

    Example:
        >>> setting({"threads": [1, 2], "cache": True, "datasets": []})
        'threads 1 + 2, cache true, datasets none'
    """
    if isinstance(value, dict):
        return ", ".join(f"{key} {setting(one)}" for key, one in value.items()) or "none"
    if isinstance(value, list):
        return " + ".join(map(setting, value)) or "none"
    if isinstance(value, float):
        return f"{value:.12g}"  # 5 as it is given, not 5.0
    return str(value).lower() if value is None or isinstance(value, bool) else str(value)


def number(value: float) -> str:
    """A compared figure with six digits; a dash for none."""
    return "–" if value != value else f"{value:.6g}".replace("-", "−")


def change(value: float) -> str:
    """A relative change in per cent; empty for none."""
    return "" if value != value else percent(value, 2, signed=True)


def budgets_of(texts: Sequence[str]) -> dict[str, float]:
    """The budgets of texts ``METRIC=SHARE``; raises `SpecError` for other texts and for a metric given twice.

    Example:
        >>> budgets_of(["compression_ratio=1%", "premium=0.05"])
        {'compression_ratio': 0.01, 'premium': 0.05}
    """
    found: dict[str, float] = {}
    for text in texts:
        name, given, share = text.partition("=")
        if not given:
            raise SpecError(f"--budget {text}: give a metric and its share, as in {text or 'METRIC'}=1%")
        if name in found:
            raise SpecError(f"--budget {name} is given twice")
        found[name] = share_of(share, f"--budget {name}")
    return found


def share_of(text: str, option: str) -> float:
    """A share written as ``0.01`` or ``1%``; raises `SpecError`, which names `option`, for other texts.

    Also for ``1`` and more without a per cent sign: 1 % is probably meant, because 100 % lets everything pass.
    """
    try:
        share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    except ValueError:
        share = -1.0
    if not 0 <= share < float("inf"):
        raise SpecError(f"{option}: {text!r} is no share, as in 0.01 or 1%")
    if share >= 1 and not text.endswith("%"):
        raise SpecError(f"{option}: {text} may mean {text}% or {share:.0%}; say which, with its %")
    return share
