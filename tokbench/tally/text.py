"""What is to be counted in a batch of documents whatever the tokenizer, computed once and shared.

The documents of a batch are joined by line feeds into one array of code points and one of bytes; words,
numbers and the rest are spans in bytes of that array. Every count is an array over the batch's documents.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tokbench.corpus import Document
from tokbench.errors import CorpusError
from tokbench.tally.characters import Kind, characters
from tokbench.tally.facts import CorpusFacts
from tokbench.tally.segments import grapheme_starts, word_starts

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

BATCH_BYTES = 1 << 18
"""Text in a batch: enough to hide the cost of a call, little enough to stay in the processor's caches."""
GROUPS = 1024
"""Bootstrap groups; see `tokbench.tally.groups`."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Stretches of the batch: (start, end) in bytes of the joined text, and the document of each."""

    start: Ints
    end: Ints
    document: Ints

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, slots=True, eq=False)
class Cuts:
    """Places inside things where a boundary may fall: the byte, the document, and whether one should."""

    at: Ints
    document: Ints
    gold: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TextBatch:
    """Some documents, with everything that does not depend on a tokenizer counted.

    `data` is the UTF-8 of the texts (uint8), a line feed after each; document i is ``data[starts[i]:ends[i]]``.
    `keys` is the hash (uint32) that places each document in a bootstrap group and in the samples. `counts`
    maps a name of `TEXT_COUNTERS` to an int64 array over the documents.
    """

    texts: Sequence[str]
    keys: NDArray[np.uint32]
    groups: Ints
    data: NDArray[np.uint8]
    starts: Ints
    ends: Ints
    counts: dict[str, Ints]
    words: Spans
    word_hash: NDArray[np.uint64]
    grapheme_inside: NDArray[np.bool_]
    numbers: Spans
    digits: Cuts
    code: dict[str, Spans] = field(default_factory=dict)
    identifier_cuts: Cuts | None = None
    syntax: Spans | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def n_bytes(self) -> int:
        """Bytes of UTF-8 in the batch."""
        return int(self.counts["bytes"].sum())


def prepare(
    documents: Iterable[Document], *, facts: CorpusFacts | None = None, batch_bytes: int = BATCH_BYTES
) -> Iterator[TextBatch]:
    """Cut `documents` into batches of about `batch_bytes` of UTF-8 and count their text.

    What it yields can be given to `collect` for one tokenizer after another.

    Example:
        >>> [batch] = prepare([Document("Two words."), Document("")])
        >>> batch.counts["words"].tolist(), batch.counts["bytes"].tolist()
        ([2, 0], [10, 0])
    """
    facts = facts or CorpusFacts()
    waiting: list[Document] = []
    size = 0
    for document in documents:
        waiting.append(document)
        size += len(document.text) if document.text.isascii() else 2 * len(document.text)
        if size >= batch_bytes:
            yield read_batch(waiting, facts)
            waiting, size = [], 0
    if waiting:
        yield read_batch(waiting, facts)


def document_keys(
    documents: Sequence[Document], encoded: Sequence[bytes], facts: CorpusFacts
) -> tuple[NDArray[np.uint32], Ints]:
    """A 32-bit key of each document and its bootstrap group.

    The key is a hash of the text: its crc32, mixed (MurmurHash3's finaliser), since a checksum alone is
    linear and leaves similar texts in patterns. In a parallel dataset both follow the line, so that
    replicates pair across languages, and up to 1,024 lines have a group each.
    """
    import numpy as np

    lines = [document.line if facts.parallel else None for document in documents]
    sources = (text if line is None else b"%d" % line for line, text in zip(lines, encoded, strict=True))
    keys = np.fromiter(map(zlib.crc32, sources), np.uint32, len(lines))
    keys ^= keys >> np.uint32(16)
    keys *= np.uint32(0x85EBCA6B)
    keys ^= keys >> np.uint32(13)
    keys *= np.uint32(0xC2B2AE35)
    keys ^= keys >> np.uint32(16)
    groups = keys.astype(np.int64) % GROUPS
    if facts.parallel:
        groups = np.array([g if n is None else n % GROUPS for n, g in zip(lines, groups.tolist(), strict=True)])
    return keys, groups


def read_batch(documents: Sequence[Document], facts: CorpusFacts) -> TextBatch:
    """Count the text of `documents`."""
    import numpy as np

    texts = [document.text for document in documents]
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    data = np.frombuffer(b"\n".join([*encoded, b""]), np.uint8)
    points = np.frombuffer("\n".join([*texts, ""]).encode("utf-32-le", "surrogatepass"), np.uint32)
    lengths = np.fromiter(map(len, encoded), np.int64, len(texts))
    starts = np.zeros(len(texts), np.int64)
    np.cumsum(lengths[:-1] + 1, out=starts[1:])
    keys, groups = document_keys(documents, encoded, facts)
    layout = _Layout(points, data, starts, starts + lengths)

    kinds = characters()
    graphemes = grapheme_starts(points)  # also makes every code point known
    kind = kinds.kind[points]
    words, gold, unspaced, hashes = _words(documents, layout, kind, facts)
    numbers, digits = _numbers(layout, (kind & Kind.DIGIT) != 0)
    counts = {
        "documents": np.ones(len(texts), np.int64),
        "bytes": lengths,
        "chars": layout.char_ends - layout.char_starts,
        "graphemes": layout.sums(graphemes),
        "lines": _lines(layout, points, lengths),
        "words": layout.per_document(words.document),
        "gold_words": gold,
        "unspaced_words": unspaced,
        "letters": layout.sums((kind & (Kind.LETTER | Kind.MARK)) != 0),
        "digits": layout.sums((kind & Kind.DIGIT) != 0),
        "spaces": layout.sums((kind & Kind.SPACE) != 0),
        "punctuation": layout.sums((kind & (Kind.PUNCTUATION | Kind.SYMBOL)) != 0),
        "non_ascii": layout.sums(points > 0x7F),
        "numbers": layout.per_document(numbers.document),
        "digit_gold": layout.per_document(digits.document[digits.gold]),
    }
    inside = np.ones(len(data) + 1, np.bool_)
    inside[layout.byte_of[:-1][graphemes]] = False
    inside[-1] = False
    batch = TextBatch(
        texts=texts,
        keys=keys,
        groups=groups,
        data=data,
        starts=starts,
        ends=starts + lengths,
        counts=counts,
        words=words,
        word_hash=hashes,
        grapheme_inside=inside,
        numbers=numbers,
        digits=digits,
    )
    if facts.kind == "code":
        from tokbench.tally.code import with_code

        return with_code(batch, encoded, facts)
    return batch


class _Layout:
    """Where the documents of a batch lie, in code points and in bytes."""

    def __init__(self, points: NDArray[np.uint32], data: NDArray[np.uint8], starts: Ints, ends: Ints) -> None:
        import numpy as np

        self.starts, self.ends = starts, ends
        self.points = points
        byte_of = np.empty(len(points) + 1, np.int64)
        byte_of[:-1] = np.flatnonzero((data & 0xC0) != 0x80)
        byte_of[-1] = len(data)
        self.byte_of = byte_of
        self.char_starts: Ints = np.searchsorted(byte_of, starts)
        self.char_ends: Ints = np.searchsorted(byte_of, ends)

    def sums(self, flags: NDArray[np.bool_]) -> Ints:
        """How many of `flags` (one per code point) are true in each document."""
        import numpy as np

        running = np.zeros(len(flags) + 1, np.int64)
        np.cumsum(flags, out=running[1:])
        result: Ints = running[self.char_ends] - running[self.char_starts]
        return result

    def document_of(self, chars: Ints) -> Ints:
        """The document in which each code point index lies."""
        import numpy as np

        return np.searchsorted(self.char_starts, chars, side="right") - 1

    def per_document(self, documents: Ints) -> Ints:
        """How often each document is named."""
        import numpy as np

        return np.bincount(documents, minlength=len(self.starts)).astype(np.int64)

    def spans(self, starts: Ints, ends: Ints) -> Spans:
        """Spans of code points as spans of bytes."""
        return Spans(self.byte_of[starts], self.byte_of[ends], self.document_of(starts))


def _lines(layout: _Layout, points: NDArray[np.uint32], lengths: Ints) -> Ints:
    """Line feeds, and one more where the text goes on after the last of them; an empty text has none."""
    feeds = layout.sums(points == 10)
    last = points[layout.char_ends - 1]  # of an empty document: the separator before it, itself a line feed
    lines: Ints = feeds + ((lengths > 0) & (last != 10))
    return lines


def _words(
    documents: Sequence[Document], layout: _Layout, kind: NDArray[np.uint16], facts: CorpusFacts
) -> tuple[Spans, Ints, Ints, NDArray[np.uint64]]:
    """The words as spans, gold and unspaced words per document, and a hash of each word's characters."""
    import numpy as np

    gold = np.zeros(len(documents), np.int64)
    limits = np.append(np.flatnonzero(word_starts(layout.points)), len(layout.points))
    starts, ends = limits[:-1], limits[1:]
    if facts.word_unit != "segments":
        marked = [i for i, document in enumerate(documents) if document.words is not None]
        if marked:
            own = np.zeros(len(documents), np.bool_)
            own[marked] = True
            keep = ~own[layout.document_of(starts)]
            pairs = np.array(
                [
                    (start + offset, end + offset, i)
                    for i, offset in ((i, int(layout.char_starts[i])) for i in marked)
                    for start, end in _checked(documents[i])
                ],
                np.int64,
            ).reshape(-1, 3)
            starts = np.concatenate([starts[keep], pairs[:, 0]])
            ends = np.concatenate([ends[keep], pairs[:, 1]])
            order = np.argsort(starts, kind="stable")
            starts, ends = starts[order], ends[order]
    # a word has a letter or a number in it
    alnum = np.zeros(len(kind) + 1, np.int64)
    np.cumsum((kind & (Kind.LETTER | Kind.NUMBER)) != 0, out=alnum[1:])
    real = alnum[ends] > alnum[starts]
    starts, ends = starts[real], ends[real]
    spans = layout.spans(starts, ends)
    if facts.word_unit != "segments" and marked:
        gold = layout.per_document(spans.document) * own
    unspaced = layout.per_document(spans.document[(kind[starts] & Kind.UNSPACED) != 0])
    return spans, gold, unspaced, _hashes(layout.points, starts, ends)


def _checked(document: Document) -> Iterator[tuple[int, int]]:
    last = 0
    for start, end in document.words or ():
        if not last <= start < end <= len(document.text):
            raise CorpusError(
                f"gold words must be (start, end) pairs inside the text, in order and without overlap; "
                f"({start}, {end}) after {last} in a text of {len(document.text)} characters: "
                f"{document.text[:60]!r}"
            )
        last = end
        yield start, end


def _hashes(points: NDArray[np.uint32], starts: Ints, ends: Ints) -> NDArray[np.uint64]:
    """A 64-bit hash of the characters of each span, by a polynomial over the whole batch.

    sum(c_i · r^i) over the span, divided by r^start, is the span's own polynomial: multiplication by the
    odd r can be undone modulo 2^64.
    """
    import numpy as np

    n = len(points)
    ratio, inverse = 0x9E3779B97F4A7C15, pow(0x9E3779B97F4A7C15, -1, 1 << 64)
    powers = np.full(n + 1, ratio, np.uint64)
    backs = np.full(n + 1, inverse, np.uint64)
    powers[0] = backs[0] = 1
    np.multiply.accumulate(powers, out=powers)
    np.multiply.accumulate(backs, out=backs)
    running = np.zeros(n + 1, np.uint64)
    np.cumsum((points.astype(np.uint64) + np.uint64(1)) * powers[:-1], out=running[1:])
    mixed = (running[ends] - running[starts]) * backs[starts]
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _numbers(layout: _Layout, digit: NDArray[np.bool_]) -> tuple[Spans, Cuts]:
    """Runs of digits, and every place inside one, with whether a group of three ends there."""
    import numpy as np

    change = np.flatnonzero(np.diff(digit.astype(np.int8), prepend=0, append=0))
    starts, ends = change[::2], change[1::2]
    inner = np.flatnonzero(digit[1:] & digit[:-1]) + 1
    run_end = ends[np.searchsorted(starts, inner, side="right") - 1] if len(inner) else inner
    cuts = Cuts(layout.byte_of[inner], layout.document_of(inner), (run_end - inner) % 3 == 0)
    return layout.spans(starts, ends), cuts
