"""Chooses the text that the speed pass times: some of each dataset, the same for every tokenizer.

Each language gives the same amount, if it has as much.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from tokbench.corpus import Shard
from tokbench.runner.picking import found_by_worker, pick, utf8_bytes
from tokbench.runner.recipe import DatasetRecipe
from tokbench.workers.calls import Emit, Limits

if TYPE_CHECKING:
    from tokbench.runner.planning.opening import Corpus  # which a worker does without
    from tokbench.runner.planning.suite_keys import SpeedSettings

SHORT_CHARS = 120
"""Code points of a short document: a line of chat."""
MOST_DOCUMENTS = 5_000
"""Documents that are encoded again and again."""
PARTS = 8
"""Batches of a first pass over a dataset: how much they differ is what its interval is made of."""
SMALLEST_PART = 20_000
"""Bytes."""
MOST_PLACES = 16
"""Places of a dataset, its languages included, from which text is taken."""


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one dataset that is timed.

    `parts` are encoded once, a batch each, by a process that has seen none of it. `documents`, the first of
    them, are encoded again and again, in three shapes of about the same bytes: as they are; `long`, all of them
    as one; `short`, in pieces as short as a chat's.
    """

    dataset: str
    documents: tuple[str, ...]
    parts: tuple[tuple[str, ...], ...]

    @property
    def long(self) -> tuple[str, ...]:
        """One long document."""
        return ("\n".join(self.documents),)

    @property
    def short(self) -> tuple[str, ...]:
        """Documents of a chat's length, cut at a space where there is one."""
        return tuple(piece for text in self.documents for piece in _cut(text))

    def shape(self, form: str) -> tuple[str, ...]:
        """The texts that a form of call gets."""
        return {"long": self.long, "short": self.short}.get(form, self.documents)


def choose_passages(corpora: Sequence[Corpus], settings: SpeedSettings, limits: Limits) -> list[Passage]:
    """A passage of each dataset that has text."""
    first = shares([corpus.n_bytes for corpus in corpora], settings.first_pass_bytes)
    found = []
    for corpus, share in zip(corpora, first, strict=True):
        wanted = ([*corpus.shards.values()], share, settings.passage_bytes)
        passage = found_by_worker(choose_passage, corpus.recipe, *wanted, limits=limits)
        if passage is not None and passage.documents:
            found.append(passage)
    return found


def shares(sizes: Sequence[int], n_bytes: int) -> list[int]:
    """How much to take of texts of these sizes: `n_bytes` in all, of each as much as of others that have it.

    Example:
        >>> shares([100, 5000, 200], 3000)
        [100, 2700, 200]
    """
    found = [0] * len(sizes)
    left = n_bytes
    for rank, place in enumerate(sorted(range(len(sizes)), key=sizes.__getitem__)):
        found[place] = min(sizes[place], left // (len(sizes) - rank))
        left -= found[place]
    return found


def choose_passage(
    emit: Emit, recipe: DatasetRecipe, languages: Sequence[Sequence[Shard]], first: int, again: int
) -> Passage:
    """About `first` bytes of a dataset, of which about `again` are repeated.

    Documents are taken from all languages in turn and, where those are few, from several places of each.
    """
    places = max(1, MOST_PLACES // max(len(languages), 1))
    blocks = [block for shards in languages for block in _blocks(shards, places)]
    longest = max(again // 4, 1)

    def pieces(text: str) -> Iterator[str]:  # else one book could be all that is taken
        return (text[start : start + longest] for start in range(0, len(text), longest))

    picked = pick(recipe, blocks, max(first, again), cut=pieces, unreadable=True)
    chosen = [text for _, text in picked]
    sizes = [utf8_bytes([text]) for text in chosen]
    repeated = min(bisect_left([*accumulate(sizes)], again) + 1, MOST_DOCUMENTS)
    return Passage(recipe.key, tuple(chosen[:repeated]), tuple(_parts(chosen)))


def _blocks(shards: Sequence[Shard], count: int) -> Iterator[Sequence[Shard]]:
    """Consecutive shards in up to `count` groups of about as many."""
    count = min(count, len(shards))
    for place in range(count):
        yield shards[place * len(shards) // count : (place + 1) * len(shards) // count]


def _parts(texts: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """Texts in up to `PARTS` parts of about the same bytes, none too small to be timed."""
    sizes = [utf8_bytes([text]) for text in texts]
    count = min(PARTS, max(sum(sizes) // SMALLEST_PART, 1))
    ends = [round(sum(sizes) * (place + 1) / count) for place in range(count)]
    whole = list(accumulate(sizes))
    cuts = [0, *(bisect_left(whole, end) + 1 for end in ends)]
    yield from filter(None, (tuple(texts[first:last]) for first, last in pairwise(cuts)))


def _cut(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + SHORT_CHARS
        if end < len(text):
            space = text.rfind(" ", start + SHORT_CHARS // 2, end)
            end = space if space > 0 else end
        yield text[start:end]
        start = end
