"""Whether a tokenizer was trained on the text that it is measured on, which flatters its figures."""

from __future__ import annotations

from collections.abc import Collection

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.results import Run
from tokbench.spec import Spec
from tokbench.wording import other_than_asked

TELLING = 0.05
"""The share of a language's lines in the training text from which its figures are called flattered."""


def trained_on(run: Run, dataset: str) -> list[str]:
    """The specs of the tokenizers that this run trained on the text of a dataset, or on a part of it.

    If the run searched the training text for the dataset's lines, the lines found decide, so that a copy under
    another name is detected; otherwise the specs of the datasets decide.
    """
    trained = _training_text(run)
    looked = _looked_for(run, dataset)
    if looked:
        met = any(_share([counts]) >= TELLING for counts in looked.values())
        return [name for name, parts in trained.items() if parts and met]
    measured = Spec.parse(dataset)
    return [
        name
        for name, parts in trained.items()
        if any(shares_text(Spec.parse(part), measured) for part in parts)
    ]


def _training_text(run: Run) -> dict[str, list[str]]:
    """The datasets that each tokenizer was trained on in this run, by spec."""
    return {
        entry["spec"]: [*filter(None, ((entry.get("training") or {}).get("on") or "").split(" + "))]
        for entry in run.manifest.get("tokenizers", [])
    }


def _looked_for(run: Run, dataset: str) -> dict[str, dict[str, int]]:
    """The numbers of lines searched for in the training text and found there, by language."""
    found = data.dataset_entry(run, dataset).get("in_training") or {}
    return {code: counts for code, counts in found.items() if counts["lines"]}


def _share(counts: list[dict[str, int]]) -> float:
    return sum(each["found"] for each in counts) / max(sum(each["lines"] for each in counts), 1)


def how_much(run: Run, dataset: str) -> str:
    """How much of a dataset was in the training text, in parentheses; empty if the run did not search.

    The languages are named if it is not all of them.
    """
    looked = _looked_for(run, dataset)
    met = [code for code, counts in looked.items() if _share([counts]) >= TELLING]
    if not met:
        return ""
    share = f"{100 * _share([*looked.values()]):.3g} % of its lines"
    if len(met) == len(looked):
        return f" ({share})"
    named = ", ".join(met[:3]) + (f" and {len(met) - 3} more languages" if len(met) > 3 else "")
    return f" ({share}; those of {named})"


FLATTERED = "¶"
"""The mark of tokenizers trained on the text that is measured."""
LEARNT = "§"
"""The mark of tokenizers trained on another part of the collection that the measured text is from."""


def trained_beside(run: Run, dataset: str) -> dict[str, str]:
    """The tokenizers that this run trained on another part of a dataset's collection, and on which part.

    They know text of the same kind, languages and authors, which is an advantage over other tokenizers.
    """
    measured = Spec.parse(dataset)
    found = {}
    for name, parts in _training_text(run).items():
        for part in parts:
            other = Spec.parse(part)
            alike = (other.family, other.variant) == (measured.family, measured.variant)
            if alike and not shares_text(other, measured):
                found[name] = part
    return found


def training_marks(run: Run, dataset: str) -> dict[str, str]:
    """The mark of each tokenizer that was trained on a dataset, or on another part of its collection."""
    return dict.fromkeys(trained_beside(run, dataset), LEARNT) | dict.fromkeys(
        trained_on(run, dataset), FLATTERED
    )


def training_notes(run: Run, dataset: str, names: Collection[str] | None = None) -> list[str]:
    """A sentence on each mark, of `names` only if given."""
    shown = run.tokenizers if names is None else names
    marks = {name: mark for name, mark in training_marks(run, dataset).items() if name in shown}
    notes = []
    if FLATTERED in marks.values():
        notes.append(
            f"{FLATTERED} trained on this very text{how_much(run, dataset)}, which flatters its figures."
        )
    learnt = {name: part for name, part in trained_beside(run, dataset).items() if marks.get(name) == LEARNT}
    if learnt:
        parts = ", ".join(dataset_label(run, part) for part in dict.fromkeys(learnt.values()))
        ahead = "ahead of those that never saw text like it"
        notes.append(f"{LEARNT} trained on {parts}, the other part of this collection: {ahead}.")
    return notes


def fewer_notes(run: Run, names: Collection[str] | None = None) -> list[str]:
    """A sentence on each tokenizer that was trained in the run and has fewer tokens than were asked for.

    On `names` only, if given.
    """
    labels = run_labels(run)
    return [
        f"{labels[entry['spec']]}: {other}."
        for entry in run.manifest["tokenizers"]
        if entry.get("training") and entry.get("vocab_size") and (names is None or entry["spec"] in names)
        if (other := other_than_asked(Spec.parse(entry["spec"]).options.get("vocab_size"), entry["vocab_size"]))
    ]


def shares_text(one: Spec, other: Spec) -> bool:
    """Whether two specs of datasets have text in common: the same place, and no option that separates them.

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
    """The languages that a spec selects; empty for all."""
    return set(str(spec.options.get("languages", "")).replace(";", "+").split("+")) - {""}
