"""Text for tokbench: datasets of documents, in shards of one language each.

A dataset never sends text between processes. It sends a `Shard`, a small description that `Dataset.read` turns
into documents in the worker that counts them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

from tokbench.spec import LoadContext, Option, Spec

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokbench.counts import WordCounts


@dataclass(frozen=True, slots=True)
class Document:
    """One text. `line` aligns it across the languages of a parallel dataset; `words` are gold word spans.

    `words` holds (start, end) pairs in code points of `text`, in order, without overlap. Documents of the same
    `cluster` (an article, a chapter, an author) are one observation: intervals draw them together.
    """

    text: str
    line: int | None = None
    words: tuple[tuple[int, int], ...] | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TextBlock:
    r"""Many documents that consist of text only, as bytes, to avoid a `Document` for every short line.

    `data` is their UTF-8, a line feed after each. Document i ends before the line feed at ``ends[i]`` (int64)
    and begins after that of the document before; other line feeds are part of its text.

    Example:
        >>> block = TextBlock.of(["one", "", "été"])
        >>> block.data.decode(), block.ends.tolist()
        ('one\n\nété\n', [3, 4, 10])
    """

    data: bytes
    ends: NDArray[np.int64]

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextBlock:
        """The block of some texts."""
        import numpy as np

        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
        return cls(b"\n".join([*encoded, b""]), np.cumsum(lengths + 1) - 1)

    def __len__(self) -> int:
        return len(self.ends)

    def texts(self) -> list[str]:
        """The texts of the documents."""
        limits = pairwise([-1, *self.ends.tolist()])
        return [self.data[before + 1 : end].decode("utf-8", "surrogatepass") for before, end in limits]


@dataclass(frozen=True, slots=True)
class Shard:
    """A part of a dataset that one worker reads: a byte range, a row group, a file or a list of rows.

    `source` is what the dataset opens (a path or URL, or a name of its own); `start` and `stop` are in the unit
    the dataset chose; `n_bytes` is the expected size in bytes of UTF-8 text, for balance and progress; `stamp`
    identifies the state of the source when the run was planned (size and modification time, an etag …), so that
    a change during the run is noticed. All of it is ready for JSON.
    """

    language: str
    source: str
    index: int = 0
    start: int = 0
    stop: int = -1
    n_bytes: int = 0
    stamp: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class Dataset(Protocol):
    """A loaded dataset: which languages it has, whether they are parallel, and its shards."""

    @property
    def name(self) -> str:
        """The canonical spec."""

    @property
    def languages(self) -> Sequence[str]:
        """The language tags, in a fixed order."""

    @property
    def parallel(self) -> bool:
        """Whether line n says the same in every language."""

    def shards(self, language: str) -> Sequence[Shard]:
        """The shards of one language, in order; raises `CorpusError` if something cannot be found or read."""

    def read(self, shard: Shard) -> Iterator[Document]:
        """The documents of a shard, streamed; raises `CorpusError` with file, line and byte offset."""

    def digest(self, shard: Shard) -> str:
        """A hash of the shard's content and of how it is cut into documents: the key of cached tallies."""


@runtime_checkable
class BlockReader(Protocol):
    """Optional: a dataset that can read many documents at once."""

    def read_blocks(self, shard: Shard) -> Iterator[TextBlock] | None:
        """The documents of a shard in blocks; None if they are more than text, or are read one by one."""


def read_text(dataset: Dataset, shard: Shard) -> Iterator[Any]:
    """The documents of a shard: each a `Document`, or blocks of many if the dataset reads them so.

    `read` is called only for the first document, so its errors are raised where the documents are read.
    """
    blocks = dataset.read_blocks(shard) if isinstance(dataset, BlockReader) else None
    found: object = dataset.read(shard) if blocks is None else blocks
    if not isinstance(found, Iterable):
        raise TypeError(f"read(shard) returned {type(found).__name__}; yield each document")
    yield from found


Item = TypeVar("Item")


def in_batches(
    items: Iterable[Item], progress: Callable[[int], None] | None = None, *, most: int = 1000
) -> Iterator[list[Item]]:
    """Lists of so many items, such as documents, at `most`; `progress` is told how many were dealt with so far.

    Example:
        >>> list(in_batches("abcde", print, most=2))
        2
        4
        5
        [['a', 'b'], ['c', 'd'], ['e']]
    """
    rest, done = iter(items), 0
    while some := list(islice(rest, most)):
        yield some
        done += len(some)
        if progress is not None:
            progress(done)


def gathered(items: Iterable[Item], size_of: Callable[[Item], int], enough: int) -> Iterator[list[Item]]:
    """The items in lists, each ended by the item with which its size is enough.

    Example:
        >>> list(gathered(["one", "a", "b", "four"], len, 4))
        [['one', 'a'], ['b', 'four']]
    """
    waiting: list[Item] = []
    size = 0
    for item in items:
        waiting.append(item)
        size += size_of(item)
        if size >= enough:
            yield waiting
            waiting, size = [], 0
    if waiting:
        yield waiting


# Plain attributes, read with getattr where present:
#   word_unit: str            "gold" where documents carry words, else chosen by the tally
#   kind: "text" | "code"     what structure metrics apply
#   code_language(lang): str  for code datasets, the programming language (the language tag itself)
#   consecutive: bool         documents follow one another in a text, and intervals draw blocks of them together
#   note: str                 a note for the user when the dataset is opened
#   facts() -> Mapping        licence, origin, files with sha256, for the manifest; reports show `caveat`, what
#                             to know of figures, and `lacks`, what is missing, of which a run tells before


@dataclass(frozen=True, slots=True, kw_only=True)
class DatasetFamily:
    """A kind of dataset that a plugin offers under one name: `load(spec, context)` gives the dataset.

    A bare path that ends in one of `endings` (in lower case, before the ending of a compression) means
    ``name:PATH``.
    """

    name: str
    summary: str
    load: Callable[[Spec, LoadContext], Dataset]
    options: tuple[Option, ...] = ()
    variant: str = ""
    examples: tuple[str, ...] = ()
    endings: tuple[str, ...] = ()


@runtime_checkable
class CountedDataset(Protocol):
    """A dataset of counted pre-tokens instead of text: see `tokbench.counts`."""

    cut: str
    """How the text was cut; see `Counting.cut`."""
    wanted: str
    """A spec that can be trained from the counts: the one that they were made for."""

    def counts(self, languages: Sequence[str]) -> tuple[WordCounts, dict[str, int]]:
        """The pre-tokens of some languages, weighted, and the bytes of text of each language."""
