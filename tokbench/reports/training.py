"""Whether a tokenizer is measured on the very text that it was trained on: then its figures flatter it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from tokbench.plots.labels import dataset_label
from tokbench.spec import Spec

if TYPE_CHECKING:
    from tokbench.results import Run


def trained_on(run: Run, dataset: str) -> list[str]:
    """The specs of the tokenizers that this run trained on a dataset of it, or on a part of that dataset.

    By the datasets' specs: text that two of them share under different names is not found out.
    """
    measured = Spec.parse(dataset)
    found = []
    for entry in run.manifest.get("tokenizers", []):
        on = (entry.get("training") or {}).get("on") or ""
        if any(shares_text(Spec.parse(part), measured) for part in on.split(" + ") if part):
            found.append(entry["spec"])
    return found


LEARNT = "§"
"""The mark of tokenizers trained on a part of the same collection that what is measured was taken from."""


def trained_beside(run: Run, dataset: str) -> dict[str, str]:
    """The tokenizers that this run trained on another part of a dataset's own collection, and on which.

    They have seen text of the same kind, languages and hands: an advantage over those that have not.
    """
    measured = Spec.parse(dataset)
    found = {}
    for entry in run.manifest.get("tokenizers", []):
        on = (entry.get("training") or {}).get("on") or ""
        for part in filter(None, on.split(" + ")):
            other = Spec.parse(part)
            if (other.family, other.variant) == (measured.family, measured.variant) and not shares_text(
                other, measured
            ):
                found[entry["spec"]] = part
    return found


def learnt_note(learnt: Mapping[str, str]) -> str:
    """What the mark says, for those that `trained_beside` found."""
    parts = ", ".join(dict.fromkeys(map(dataset_label, learnt.values())))
    return f"trained on {parts}, the other part of this collection: ahead of those that never saw text like it."


def shares_text(one: Spec, other: Spec) -> bool:
    """Whether two specs of datasets name text in common: the same place, and no option that keeps them apart.

    Example:
        >>> even, odd = (Spec.parse(f"bundled:parallel,lines={half}") for half in ("even", "odd"))
        >>> shares_text(even, odd), shares_text(even, Spec.parse("bundled:parallel,languages=deu_Latn"))
        (False, True)
    """
    if (one.family, one.variant) != (other.family, other.variant):
        return False
    for name in ("lines", "split", "config", "field"):
        halves = {str(spec.options[name]) for spec in (one, other) if name in spec.options} - {"all"}
        if len(halves) == 2:
            return False
    chosen = [_languages(spec) for spec in (one, other)]
    return not all(chosen) or bool(chosen[0] & chosen[1])


def _languages(spec: Spec) -> set[str]:
    """The languages that a spec chooses; empty where it takes all."""
    return set(str(spec.options.get("languages", "")).replace(";", "+").split("+")) - {""}
