"""The one pass over the text for one tokenizer: documents in, a tally out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tokbench.batch import TokenBatch
from tokbench.capabilities import TokenEstimator, Utf8Encoder
from tokbench.corpus import Document, TextBlock
from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import PADDING, Bytes, Ints
from tokbench.tally.counters import BUCKETS, COUNTERS, GROUPS, CorpusFacts, GroupSums
from tokbench.tally.histogram import Histogram, NGrams, sum_by_key
from tokbench.tally.ngrams import ID_BITS, NGramCounter
from tokbench.tally.offsets import encoded_with_offsets
from tokbench.tally.own import OwnCounter, OwnCounting, OwnSums
from tokbench.tally.places import Aligner
from tokbench.tally.prepare import prepare
from tokbench.tally.roundtrip import RoundTrips
from tokbench.tally.tally import Tally
from tokbench.tally.text import BATCH_BYTES, TextBatch
from tokbench.tally.touch import touch
from tokbench.tally.vocabulary import table_of
from tokbench.tally.wordsample import WordSample, WordSampler
from tokbench.tokenizer import Tokenizer, encode_batch


def collect(
    tokenizer: Tokenizer,
    documents: Iterable[Document] | Iterable[TextBlock] | Iterable[TextBatch],
    *,
    batch_bytes: int = BATCH_BYTES,
    facts: CorpusFacts | None = None,
    on_batch: Callable[[int], None] | None = None,
    counting: Sequence[OwnCounting] = (),
) -> Tally:
    """Encode every document once, in batches of about `batch_bytes`, and count.

    `documents` may also be the batches that `prepare` made, so that several tokenizers share the work on the
    text. `on_batch` is told the bytes of each finished batch; `counting` are metrics with counters of their
    own. Raises `TokenizerError` for ids outside the vocabulary and batches of a wrong shape.

    Example:
        >>> import tokbench
        >>> tally = collect(tokbench.load("bytes"), [Document("two words")])
        >>> tally.tokens, tally.words
        (9, 2)
    """
    language = (facts.language if facts is not None else None) or ""
    counter = (
        NumberCounter(tokenizer)
        if isinstance(tokenizer, TokenEstimator)
        else Counter(tokenizer, counting, language)
    )
    sampler = WordSampler()
    for batch in prepare(documents, facts=facts, batch_bytes=batch_bytes):
        sampler.add(batch)
        counter.add(batch)
        if on_batch is not None:
            on_batch(int(batch.counts["bytes"].sum()))
    return counter.result(sampler.words)


def get_ready() -> None:
    """Compile the kernels that count (some seconds) or load them (one), which is no tokenizer's time."""
    batches = list(prepare([Document("It's 3.14, été, 漢"), Document("")]))
    without_line_feeds(batches[0])
    collect(_Letters(), batches)


class _Letters:
    """Small letters below U+0100, the others unknown: the smallest tokenizer that needs every way to count."""

    name, vocab_size, unk_id = "letters", 256, 0

    def encode(self, text: str) -> Sequence[int]:
        return [ord(letter) if letter < "\u0100" else self.unk_id for letter in text.lower()]

    def decode(self, ids: Sequence[int]) -> str:
        return bytes(ids).decode("latin-1")

    def token_bytes(self, token_id: int) -> bytes:
        return chr(token_id).encode()


FEW = 64
"""Most words are touched by fewer tokens."""
_COLUMN = {name: index for index, name in enumerate(COUNTERS)}


class _Sums:
    """The sums over documents of any tokenizer, even one that only tells how many tokens there are."""

    def __init__(self) -> None:
        self._groups: Ints = np.zeros((len(COUNTERS), GROUPS), np.int64)
        self._document_tokens = Histogram.empty()
        self._lengths: Ints = np.zeros((3, BUCKETS), np.int64)

    def add(self, batch: TextBatch, counts: Mapping[str, Ints]) -> None:
        """Add what was counted of each document of a batch: its tokens, and what else there is."""
        for name, values in {**batch.counts, **counts}.items():
            np.add.at(self._groups[_COLUMN[name]], batch.groups, values)
        self._document_tokens += Histogram.of(counts["tokens"])
        sizes = batch.counts["documents"], batch.counts["bytes"], counts["tokens"]
        buckets = np.frexp(batch.counts["bytes"])[1].clip(max=BUCKETS - 1)  # how many bits a length takes
        for sums, each in zip(self._lengths, sizes, strict=True):
            np.add.at(sums, buckets, each)

    def parts(self) -> dict[str, Any]:
        """The fields of a tally made of them."""
        return {
            "groups": GroupSums.of_dense(self._groups.T),
            "document_tokens": self._document_tokens,
            "lengths": np.ascontiguousarray(self._lengths.T),
        }


class NumberCounter:
    """Counts for a tokenizer that only tells how many tokens a text has."""

    def __init__(self, tokenizer: TokenEstimator) -> None:
        self._tokenizer = tokenizer
        self._sums = _Sums()

    def add(self, batch: TextBatch) -> None:
        """Count a batch."""
        self._sums.add(batch, {"tokens": self._tokenizer.count_tokens(batch.texts)})

    def result(self, words: Mapping[int, str]) -> Tally:
        """The tally; what needs ids is empty in it."""
        return replace(Tally.empty(), **self._sums.parts())


class Counter:
    """Counts for one tokenizer, batch by batch."""

    def __init__(self, tokenizer: Tokenizer, counting: Sequence[OwnCounting] = (), language: str = "") -> None:
        self._tokenizer = tokenizer
        self._utf8 = tokenizer.encode_utf8 if isinstance(tokenizer, Utf8Encoder) else None
        self._table = table_of(tokenizer)
        self._aligner = Aligner(tokenizer, self._table)
        self._trips = RoundTrips(tokenizer)
        self._sums = _Sums()
        self._few_tokens: Ints = np.zeros(FEW, np.int64)
        self._many_tokens = Histogram.empty()
        self._ngrams = NGramCounter() if self._table.size <= 1 << ID_BITS else None
        self._own = [OwnCounter(each, tokenizer, language) for each in counting]

    def add(self, batch: TextBatch) -> None:
        """Encode and count a batch."""
        tokens, spans = self._encode(batch)
        places = self._aligner.align(batch, tokens, spans)
        counts, many = touch(batch, places, self._few_tokens)
        self._many_tokens += Histogram.of(many)
        lengths = tokens.lengths()
        counts |= {
            "tokens": lengths,
            "aligned_tokens": lengths * places.aligned,
            "split_tokens": places.split,
            "unk_tokens": places.unknown,
            "unk_chars": places.hidden.clip(0),
            "unk_unknown": (places.hidden < 0).astype(np.int64),
        }
        self._sums.add(batch, counts | self._trips.count(batch, tokens, places))
        if self._ngrams is not None:
            self._ngrams.add(batch, tokens)
        for own in self._own:
            own.add(batch, tokens)

    def _encode(self, batch: TextBatch) -> tuple[TokenBatch, Ints | None]:
        """The ids of a batch, and their offsets where most documents will need them."""
        spans = None
        both = encoded_with_offsets(self._tokenizer, self._table, batch)
        if both is not None:
            tokens, spans = both
        elif self._utf8 is None or batch.surrogates.any():
            tokens = encode_batch(self._tokenizer, batch.texts)
        else:
            tokens = self._utf8(*without_line_feeds(batch))
        if len(tokens) != len(batch):
            raise TokenizerError(
                f"{self._tokenizer.name}: returned {len(tokens)} documents for {len(batch)} texts"
            )
        return tokens, spans

    def result(self, words: Mapping[int, str]) -> Tally:
        """The tally; `words` are the sampled words, by hash, to encode on their own."""
        ids = Histogram.of_dense(self._aligner.seen)
        lengths = self._table.length[ids.keys].astype(np.int64)
        sample = WordSample.sum([])
        if words:
            alone = encode_batch(self._tokenizer, [*words.values()]).lengths()
            sample = WordSample(np.array([*words], np.uint64), alone.astype(np.int32))
        return Tally(
            **self._sums.parts(),
            ids=ids,
            word_tokens=Histogram.of_dense(self._few_tokens) + self._many_tokens,
            token_bytes=Histogram(*sum_by_key(lengths, ids.counts)),
            ngrams=self._ngrams.result() if self._ngrams is not None else NGrams.sum([]),
            word_sample=sample,
            losses=self._trips.losses,
            own=OwnSums.sum(own.result() for own in self._own),
        )


def without_line_feeds(batch: TextBatch) -> tuple[Bytes, Ints]:
    """The documents end to end, with padding, and where each begins and the last ends."""
    offsets = np.append(0, np.cumsum(batch.ends - batch.starts))
    inside = np.ones(len(batch.data), np.bool_)
    inside[batch.ends] = False
    whole = np.append(batch.data[inside], np.zeros(PADDING, np.uint8))
    whole.flags.writeable = False
    return whole[: offsets[-1]], offsets
