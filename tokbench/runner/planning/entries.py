"""The tokenizers of a suite, resolved, and those that no installed plugin offers."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path

from tokbench.errors import SpecError, TokbenchError
from tokbench.registry import Registry
from tokbench.resolving import not_there
from tokbench.runner.planning.shown import shown
from tokbench.runner.planning.suite_keys import Suite
from tokbench.runner.recipe import key_of
from tokbench.spec import NAME, Spec


@dataclass(frozen=True, slots=True)
class Entry:
    """One tokenizer of the suite: its canonical spec, whether it is trained, and whether it may be absent.

    `typed` is the spec or name in the suite, `also` are further ones there for the same tokenizer; `label` and
    `color` say how to show it, if given.
    """

    spec: Spec
    trains: bool
    optional: bool
    typed: str = ""
    also: tuple[str, ...] = ()
    label: str = ""
    color: str = ""

    @property
    def key(self) -> str:
        """The canonical spec, which names its results."""
        return key_of(self.spec)


def entries_of(suite: Suite, registry: Registry) -> tuple[tuple[Entry, ...], dict[str, str]]:
    """The tokenizers of a suite, and the optional ones that no installed plugin offers, with the reason."""
    found: dict[str, Entry] = {}
    absent: dict[str, str] = {}
    endings = (".txt", *{ending for family in registry.tokenizers.values() for ending in family.endings})
    for text, optional in [*((t, False) for t in suite.tokenizers), *((t, True) for t in suite.optional)]:
        try:
            spec = registry.tokenizer_spec(text)
        except SpecError as error:
            if not optional or not _another_may_offer(text, registry):
                raise
            absent[text] = str(error)
            continue
        trains = registry.tokenizers[spec.family].trains(spec)
        if not optional:
            _check_file(registry, spec, endings)
        named = (suite.labels, suite.colors)
        label, color = (shown(said, text, key_of(spec), registry.tokenizer_spec) for said in named)
        known = found.setdefault(str(spec), Entry(spec, trains, optional, text, (), label, color))
        if text not in (known.typed, *known.also):
            found[str(spec)] = replace(known, also=(*known.also, text))
    if not found:
        why = "".join(f"; {text}: {said}" for text, said in absent.items())
        raise SpecError(f"no tokenizers: name some with -t SPEC or the suite's key 'tokenizers'{why}")
    return tuple(found.values()), absent


def _another_may_offer(text: str, registry: Registry) -> bool:
    """Whether `text` names no installed family, so that another plugin may offer it."""
    head = text.partition(":")[0].partition(",")[0]
    return head not in registry.tokenizers and (bool(NAME.match(head)) or "/" in head or "\\" in head)


def _check_file(registry: Registry, spec: Spec, endings: tuple[str, ...]) -> None:
    """Raise `SpecError` for a missing file, or for a name that the family does not have.

    A spec names a file if it begins as a path or ends as a file does, or if its family reads what it names.
    """
    path = Path(spec.variant or "").expanduser()
    if path.is_file():
        return
    named = path.is_absolute() or re.match(r"\.{1,2}[/\\]", spec.variant or "") is not None
    named = named or path.name.lower().endswith(endings)
    if path.exists() or not named:
        named = path in _files_at_hand(registry, spec)
    if named and not path.exists():
        raise SpecError(f"{spec}: {not_there(path)}")


def _files_at_hand(registry: Registry, spec: Spec) -> list[Path]:
    """What a tokenizer of tokbench's own reads, without a download; raises `SpecError` for a wrong name.

    A library or a download that is missing is told where it is loaded, and the rest of the run goes on.
    """
    if not registry.in_house(spec.family, "tokbench_tokenizers"):
        return []
    try:
        return registry.tokenizers[spec.family].files_of(spec, replace(registry.context, offline=True))
    except SpecError:
        raise
    except (TokbenchError, OSError, ImportError):
        return []
