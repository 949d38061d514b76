"""Picks a limited amount of text from a dataset, for timing, diffs, examples, and the search for leaks.

The parts of a dataset (such as its languages) take turns, so that each gives the same amount if it has enough.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from tokbench.corpus import Shard
from tokbench.errors import CorpusError
from tokbench.results.failure import TaskFailure
from tokbench.runner.recipe import DatasetRecipe
from tokbench.workers.calls import Emit, Given, Limits, T
from tokbench.workers.pool import attempt


@dataclass(frozen=True, slots=True)
class Sample:
    """A text on which tokenizers are shown or compared; `name` tells several texts of a language apart."""

    dataset: str
    language: str
    text: str
    name: str = ""


def found_by_worker(function: Callable[[Emit, *Given], T], *arguments: *Given, limits: Limits) -> T | None:
    """The result of ``function(emit, *arguments)`` in a worker.

    None if the text cannot be read, which the cells of that text report already.
    """
    found = attempt(function, *arguments, limits=limits, again=True)
    return None if isinstance(found, TaskFailure) else found


def pick(
    recipe: DatasetRecipe,
    parts: Sequence[Sequence[Shard]],
    n_bytes: float = math.inf,
    *,
    cut: Callable[[str], Iterable[str]] = lambda text: (text,),
    unreadable: bool = False,
) -> Iterator[tuple[int, str]]:
    """Texts of some parts of a dataset in turn until there are `n_bytes` of UTF-8, each with its part's number.

    `cut` cuts a document into pieces, each of which counts as a text. A part that cannot be read raises
    `CorpusError`, or, with `unreadable`, ends there, because its cells report the error already.
    """

    def texts(part: int) -> Iterator[tuple[int, str]]:
        with contextlib.suppress(CorpusError) if unreadable else contextlib.nullcontext():
            for shard in parts[part]:
                for document in recipe.load().read(shard):
                    for text in cut(document.text):
                        yield part, text

    picked = in_turn(map(texts, range(len(parts))))
    size = 0
    while size < n_bytes and (found := next(picked, None)) is not None:
        size += utf8_bytes([found[1]])
        yield found


def in_turn(streams: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first item of each stream, then the second of each, until all have ended.

    Example:
        >>> list(in_turn([[1, 2, 3], [10], []]))
        [1, 10, 2, 3]
    """
    running = [iter(stream) for stream in streams]
    while running:
        for stream in list(running):
            try:
                yield next(stream)
            except StopIteration:
                running.remove(stream)


def utf8_bytes(texts: Iterable[str]) -> int:
    """The bytes of some texts in UTF-8."""
    return sum(len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass")) for text in texts)
