"""A small language model over ids: interpolated modified Kneser-Ney of any order, counted in tables.

Chen and Goodman, An empirical study of smoothing techniques for language modeling, Computer Speech and
Language 13, 1999, with the conventions of KenLM (Heafield et al., ACL 2013): one mark before a document and one
after it; the end is predicted, the beginning is not. Below the highest order an n-gram's count is the number of
symbols that it was seen after; one that begins a document keeps its own count. The lowest order is
interpolated with the uniform distribution over the vocabulary and the end, so that what was never seen has a
probability too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.corpus import in_batches
from tokbench.errors import CorpusError, SpecError
from tokbench.kernels.pointers import Floats, Ids
from tokbench.metrics.ngram_table import KeyTable, count_order, mix_order
from tokbench.tokenizer import Tokenizer, check_encoded, encode_batch
from tokbench.wording import data_size

PLAIN = (0.5, 1.0, 1.5)
"""Discounts where n-grams of adjusted count 1 or 2 are missing (those that KenLM falls back on)."""
LIMIT = 20_000_000
"""Tokens of training text, ends of documents included; more is an error. At `TOKEN_MEMORY` each: 4.8 GB.
Above order 3 as many as fill the same memory, and so take no longer to count."""
TOKEN_MEMORY = 240
"""Bytes of memory for a token at most, at order 3, when no two n-grams are alike; half in common text.
Each order above takes a quarter more."""


class Discounts(NamedTuple):
    """What is taken from adjusted counts of 1, of 2, and of 3 and more; `estimate` says how it was found."""

    one: float
    two: float
    more: float
    estimate: str


def discounts(counts_of_counts: Sequence[int]) -> Discounts:
    """The discounts from how many n-grams have an adjusted count of 1, 2, 3 and 4.

    Modified Kneser-Ney's three where all lie above 0 and at or below their count; else one for all, n1 / (n1 +
    2 n2) (Ney, Essen and Kneser 1994); `PLAIN` where n1 or n2 is 0.

    Example:
        >>> [round(d, 3) for d in discounts([100, 40, 20, 12])[:3]], discounts([100, 40, 0, 3]).estimate
        ([0.556, 1.167, 1.667], 'one discount')
    """
    n1, n2, n3, n4 = counts_of_counts
    if not n1 or not n2:
        return Discounts(*PLAIN, "fixed")
    y = n1 / (n1 + 2 * n2)
    if n3 and n4:
        two, more = 2 - 3 * y * n3 / n2, 3 - 4 * y * n4 / n3
        if 0 < two <= 2 and 0 < more <= 3:
            return Discounts(y, two, more, "modified")
    return Discounts(y, y, y, "one discount")


@dataclass(frozen=True, slots=True, eq=False)
class _OrderModel:
    """The n-grams of one order: `table` has their numbers by key, None for symbols, which are their own.

    `share` (float64, ``(n,)``) is the part of its context's probability that each has for itself, `rest`
    (float64, by context, the number of an n-gram of the order below) what goes to the order below.
    """

    table: KeyTable | None
    share: Floats
    rest: Floats
    discounts: Discounts


@dataclass(frozen=True, slots=True, eq=False)
class NgramModel:
    """Probabilities of ids below `vocab_size`, and of the end (the id `vocab_size`), after what came before.

    Example:
        >>> import numpy as np
        >>> model = NgramModel.fit([TokenBatch.of([[0, 1, 0, 1], [0, 0]])], vocab_size=3)
        >>> bits = model.bits(TokenBatch.of([[0, 1], [2]]))
        >>> bits.shape, bool(bits[0] < bits[3])  # 0, 1, end; 2 (never seen), end
        ((5,), True)
    """

    vocab_size: int
    orders: tuple[_OrderModel, ...]

    @classmethod
    def fit(
        cls, batches: Sequence[TokenBatch], vocab_size: int, *, order: int = 3, name: str = "the tokenizer"
    ) -> NgramModel:
        """The model of some documents. Memory: at most 240 bytes a token (and end) for order 3, and 60
        for each order above, to the longest document with its two marks: no n-gram is longer.

        Raises `SpecError` for an order below 1, `CorpusError` for no documents, `TokenizerError` for an id
        that is not in the vocabulary.
        """
        if order < 1:
            raise SpecError(f"an n-gram model has an order of 1 or more, not {order}")
        parts = [_marked(batch, vocab_size, name) for batch in batches]
        symbols = np.concatenate(parts) if parts else np.zeros(0, np.int32)
        if not len(symbols):
            raise CorpusError("no text to train an n-gram model on")
        begin = vocab_size + 1
        found: list[_OrderModel] = []
        number, table = symbols.copy(), None
        contexts = np.zeros(begin + 1, np.int32)
        counts = np.bincount(symbols, minlength=begin + 1).astype(np.int32)
        counts[begin] = 0  # the beginning is never predicted
        n_below = 1
        for n in range(2, order + 1):
            counted = count_order(symbols, number, n, begin, len(counts))
            if not len(counted.counts):
                break
            adjusted = np.where(counted.after, counted.after, counts)
            found.append(_order(table, contexts, adjusted, n_below))
            n_below = len(counts)
            table, contexts, counts = counted.table, counted.contexts, counted.counts
        found.append(_order(table, contexts, counts, n_below))
        return cls(vocab_size, tuple(found))

    def bits(self, batch: TokenBatch, name: str = "the tokenizer") -> Floats:
        """Bits of every id and, after those of each document, of its end: float64, ``(ids + documents,)``."""
        symbols = _marked(batch, self.vocab_size, name)
        begin = self.vocab_size + 1
        alone, *longer = self.orders
        chance = (alone.share + alone.rest[0] / (self.vocab_size + 1))[symbols]
        number = symbols.copy()
        for n, each in enumerate(longer, start=2):
            assert each.table is not None
            mix_order(symbols, number, n, begin, *each.table, each.share, each.rest, chance)
        result: Floats = -np.log2(chance[symbols != begin])
        return result


def _order(table: KeyTable | None, contexts: Ids, counts: Ids, n_below: int) -> _OrderModel:
    """The probabilities of n-grams with these contexts, of `n_below`, and adjusted counts, ``(n,)`` each."""
    taken = discounts([int(np.count_nonzero(counts == n)) for n in (1, 2, 3, 4)])
    discounted = np.array([0.0, *taken[:3]])[np.minimum(counts, 3)]
    total = np.bincount(contexts, counts, n_below)
    rest = np.ones(n_below)  # of a context that was never seen
    np.divide(np.bincount(contexts, discounted, n_below), total, out=rest, where=total > 0)
    with np.errstate(invalid="ignore"):
        share = (counts - discounted) / total[contexts]
    return _OrderModel(table, share, rest, taken)


def _marked(batch: TokenBatch, vocab_size: int, name: str) -> Ids:
    """Each document with the mark of a beginning before it and that of an end after it."""
    check_encoded(name, batch.ids, vocab_size)
    symbols = np.empty(len(batch.ids) + 2 * len(batch), np.int32)
    begins = batch.offsets[:-1] + 2 * np.arange(len(batch))
    ends = begins + np.diff(batch.offsets) + 1
    within = np.ones(len(symbols), np.bool_)
    within[begins] = within[ends] = False
    symbols[begins], symbols[ends], symbols[within] = vocab_size + 1, vocab_size, batch.ids
    return symbols


@dataclass(frozen=True, slots=True, eq=False)
class TrainedNgrams:
    """A model of a tokenizer's ids, and what it was trained on: a digest of every document, and how much."""

    model: NgramModel
    seen: frozenset[bytes]
    documents: int
    n_bytes: int

    def document_bits(self, batch: TokenBatch, name: str) -> Floats:
        """The bits of each document, its end among them: float64 ``(documents,)``; `name` is for errors."""
        bits = self.model.bits(batch, name)
        found: Floats = np.add.reduceat(bits, batch.offsets[:-1] + np.arange(len(batch)))
        return found


def trained_ngrams(
    name: str,
    tokenizer: Tokenizer,
    texts: Iterable[str],
    *,
    order: int,
    limit: int = LIMIT,
    progress: Callable[[int], None] = lambda documents: None,
) -> TrainedNgrams:
    """The model of a tokenizer's ids of some texts; `progress` is told how many.

    Raises `CorpusError` for no text, and for text of more than `limit` tokens; see `LIMIT`.
    """
    batches: list[TokenBatch] = []
    seen: set[bytes] = set()
    tokens = done = n_bytes = longest = 0
    for some in in_batches(filter(None, texts), progress):
        batches.append(encode_batch(tokenizer, some))
        tokens += len(batches[-1].ids) + len(some)
        longest = max(longest, int(batches[-1].lengths().max()) + 2)
        counted = max(3, min(order, longest))
        most = limit * 4 // (counted + 1)
        if tokens > most:
            lower = f" of order {counted:,}" if counted > 3 else ""
            raise CorpusError(
                f"{name}: the training text makes more than {most:,} tokens, for which counts{lower} would "
                f"take up to {data_size(limit * TOKEN_MEMORY)}; train on a part of it, "
                f"{'lower the order, ' if lower else ''}or set a higher limit"
            )
        encoded = [*map(utf8_of, some)]
        seen.update(map(digest, encoded))
        n_bytes += sum(map(len, encoded))
        done += len(some)
    model = NgramModel.fit(batches, tokenizer.vocab_size, order=order, name=name)
    return TrainedNgrams(model, frozenset(seen), done, n_bytes)


def utf8_of(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogatepass")


def digest(data: bytes) -> bytes:
    """What tells a document from another."""
    return blake2b(data, digest_size=16).digest()
