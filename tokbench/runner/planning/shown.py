"""What a suite says of its tokenizers and texts by name: their labels and colors, which texts are timed.

Two names that resolve to the same thing mean the same thing, however they are spelled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import chain
from typing import Any, NamedTuple

from tokbench.errors import TokbenchError, UnknownNameError
from tokbench.runner.planning.suite_keys import SpeedSettings, Suite
from tokbench.runner.recipe import key_of
from tokbench.spec import Spec

Resolve = Callable[[str], Spec]
"""What makes a spec of a name, as the registry does for tokenizers and for datasets."""


class Names(NamedTuple):
    """Tokenizers, or texts: as somebody `typed` them, by canonical specs, and what resolves a name to such."""

    typed: Mapping[str, str]
    resolve: Resolve

    def has(self, name: str) -> bool:
        """Whether a name is that of one of these."""
        return _meant(name, self.resolve) in self.typed


def without_replaced(suite: Suite, *here: Names) -> Suite:
    """A suite without what it says of its own tokenizers and texts that those `here` stand in place of.

    Where the speed pass then names no text, all are timed.
    """
    if not suite.replaced:
        return suite

    def stays(name: str, key: str) -> bool:
        gone = suite.replaced.get(key, ())
        return any(names.has(name) for names in here) or not any(
            _meant(name, names.resolve) in {_meant(one, names.resolve) for one in gone} for names in here
        )

    changes: dict[str, Any] = {}
    for key in ("labels", "colors"):
        changes[key] = {name: said for name, said in getattr(suite, key).items() if stays(name, key)}
    if isinstance(suite.speed, SpeedSettings):
        texts = [text for text in suite.speed.datasets if stays(text, "speed")]
        changes["speed"] = suite.speed.model_copy(update={"datasets": texts})
    return suite.model_copy(update=changes)


def check_shown(suite: Suite, tokenizers: Names, texts: Names) -> None:
    """Raise `UnknownNameError` for a label of what is not in the run, or a color of no tokenizer in it."""
    for kind, given, among in (
        ("tokenizer in colors:", suite.colors, [tokenizers]),
        ("tokenizer or dataset in labels:", suite.labels, [tokenizers, texts]),
    ):
        for name in given:
            if not any(names.has(name) for names in among):
                known = [each for names in among for each in chain(*names.typed.items())]
                raise UnknownNameError.of(kind, name, known)


def shown(given: Mapping[str, str], typed: str, key: str, resolve: Resolve) -> str:
    """What a suite says of how something is shown: under its name as typed, or another that means it."""
    if said := given.get(typed):
        return said
    return next((said for name, said in given.items() if _meant(name, resolve) == key), "")


def _meant(name: str, resolve: Resolve) -> str:
    """The canonical spec that a name stands for, however spelled; itself where it is no spec of this kind."""
    try:
        return key_of(resolve(name))
    except TokbenchError:
        return name
