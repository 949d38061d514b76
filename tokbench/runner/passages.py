"""Text that every tokenizer of a run is given: the beginning of each dataset, read in workers.

Of each language there is as much as of any other, as far as it goes. Here is what is timed, and the check of
its ids before that; what is compared is chosen in `tokbench.runner.diffs`.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from tokbench.batch import TokenBatch
from tokbench.corpus import Shard
from tokbench.errors import CorpusError, TokenizerError
from tokbench.runner.limits import Limits
from tokbench.runner.pool import attempt
from tokbench.runner.recipe import DatasetRecipe
from tokbench.runner.worker import Emit
from tokbench.tokenizer import Tokenizer, encode_batch

if TYPE_CHECKING:
    from tokbench.runner.plan import Corpus  # which a worker does without

T = TypeVar("T")

SHORT_CHARS = 120
"""Code points of a short document: a line of chat."""
MOST_DOCUMENTS = 5_000


@dataclass(frozen=True, slots=True)
class Passage:
    """The text of one dataset that is timed, in its three shapes, each of about the same bytes.

    `documents` are the dataset's own; `long` is all of them as one; `short` are their first words, repeated
    over the documents until there is as much text as a chat would bring.
    """

    dataset: str
    documents: tuple[str, ...]

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


def utf8_bytes(texts: Sequence[str]) -> int:
    """The bytes of some texts in UTF-8."""
    return sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


def choose_passages(corpora: Iterable[Corpus], n_bytes: int, limits: Limits) -> list[Passage]:
    """A passage of each dataset, read in workers; none of one that cannot be read: its cells say so already."""
    found = [
        attempt(choose_passage, corpus.recipe, [*corpus.shards.values()], n_bytes, limits=limits, again=True)
        for corpus in corpora
    ]
    return [passage for passage in found if isinstance(passage, Passage) and passage.documents]


def choose_passage(
    emit: Emit, recipe: DatasetRecipe, languages: Sequence[Sequence[Shard]], n_bytes: int
) -> Passage:
    """About `n_bytes` of a dataset: documents of every language in turn, from the beginning of each."""
    chosen: list[str] = []
    size = 0
    # A whole book as one document would be all there is of the dataset.
    chars = max(n_bytes // 4, 1)
    for text in in_turn([texts_of(recipe, shards, chars) for shards in languages]):
        if text:
            chosen.append(text)
            size += utf8_bytes([text])
        if size >= n_bytes or len(chosen) == MOST_DOCUMENTS:
            break
    return Passage(recipe.key, tuple(chosen))


def texts_of(recipe: DatasetRecipe, shards: Sequence[Shard], chars: int) -> Iterator[str]:
    """The documents of some shards up to where they cannot be read, of each the first code points."""
    with contextlib.suppress(CorpusError):  # their cells say so already
        for shard in shards:
            for document in recipe.load().read(shard):
                yield document.text[:chars]


def in_turn(streams: Iterable[Iterable[T]]) -> Iterator[T]:
    """The first of each stream, then the second of each, until all are at an end.

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


def _cut(text: str) -> Iterator[str]:
    start = 0
    while start < len(text):
        end = start + SHORT_CHARS
        if end < len(text):
            space = text.rfind(" ", start + SHORT_CHARS // 2, end)
            end = space if space > 0 else end
        yield text[start:end]
        start = end


def verified(tokenizer: Tokenizer, passage: Passage) -> TokenBatch:
    """The ids of every document of a passage, the same each time and by every way of asking.

    Raises `TokenizerError` where the second call gives other ids than the first, or single calls other ids than
    the batch, on the passage's documents or on all of them as one.
    """
    import numpy as np

    batch = encode_batch(tokenizer, passage.documents)
    again = encode_batch(tokenizer, passage.documents)
    if not (np.array_equal(batch.ids, again.ids) and np.array_equal(batch.offsets, again.offsets)):
        raise TokenizerError(
            f"{tokenizer.name}: encoding {passage.dataset} twice gives other ids the second time; "
            f"a tokenizer that draws at random has no one speed"
        )
    _same_alone(tokenizer, passage, passage.documents, batch)
    _same_alone(tokenizer, passage, passage.long, encode_batch(tokenizer, passage.long))
    return batch


def _same_alone(tokenizer: Tokenizer, passage: Passage, texts: tuple[str, ...], batch: TokenBatch) -> None:
    import numpy as np

    for index, text in enumerate(texts):
        if not np.array_equal(np.asarray(tokenizer.encode(text), np.int64), batch[index]):
            raise TokenizerError(
                f"{tokenizer.name}: encode and encode_batch disagree on {passage.dataset}, "
                f"document {index}: {text[:60]!r}; a speed of either would not be of the same work"
            )


def digest_of_ids(batch: TokenBatch) -> bytes:
    """A digest of ids and of where documents end; equal for tokenizers that did the same work."""
    return hashlib.sha256(batch.ids.tobytes() + batch.offsets.tobytes()).digest()
