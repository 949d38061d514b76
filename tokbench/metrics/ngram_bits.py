"""How well a small n-gram model predicts the ids of a text: bits per byte, and ranks with their range.

Bytes are those of the text's UTF-8, so that tokenizers are comparable. This is not a measure of quality: see
`tokbench.metrics.ngram_metric.NO_QUALITY`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from tokbench.corpus import Dataset
from tokbench.errors import CorpusError, SpecError
from tokbench.metrics.context import CONFIDENCE, REPLICATES
from tokbench.metrics.intervals import Interval, intervals
from tokbench.metrics.measurement import ALL
from tokbench.metrics.ngram import LIMIT, TrainedNgrams, digest, trained_ngrams, utf8_of
from tokbench.metrics.resampling import Floats, resampled_sums
from tokbench.tally.counters import GROUPS
from tokbench.tally.grouping import in_groups
from tokbench.tokenizer import Tokenizer, decode_batch, encode_batch
from tokbench.training_corpus import TrainingCorpus


@dataclass(frozen=True, slots=True)
class NgramBits:
    """A tokenizer on a language (or on all of them): bits per byte, and its rank from best to worst possible.

    `tokens` does not include the ends of documents, although their bits count; `lost` is the number of
    documents that decoding changes; `rank` is None for a single tokenizer, or for too few documents.
    """

    tokenizer: str
    language: str
    documents: int
    tokens: int
    bytes: int
    bits: float
    lost: int
    interval: Interval | None = None
    rank: tuple[int, int] | None = None

    @property
    def bits_per_byte(self) -> float:
        """Bits of all ids and ends, over the bytes of the text."""
        return self.bits / self.bytes


@dataclass(frozen=True, slots=True)
class NgramReading:
    """All figures, best first in each language; `excluded` documents also occur in the training text.

    `estimates` says for each tokenizer how the discounts of each order were found (`tokbench.metrics.ngram`).
    """

    order: int
    training_documents: int
    training_bytes: int
    excluded: int
    figures: list[NgramBits]
    estimates: dict[str, list[str]]


SUMS = ("bits", "bytes", "documents", "tokens", "lost")
Sums = dict[str, Floats]
"""The sums of a tokenizer on a language: each of `SUMS` by bootstrap group, ``(GROUPS,)``."""


def ngram_bits(
    tokenizers: Mapping[str, Tokenizer],
    train: TrainingCorpus,
    dataset: Dataset,
    *,
    order: int = 3,
    limit: int = LIMIT,
    seed: int = 0,
    split: int | None = None,
    progress: Callable[[int], None] = lambda documents: None,
) -> NgramReading:
    """Train a model on each tokenizer's ids of `train`, and read `dataset` with it, all languages by the same.

    Documents of `dataset` whose text is a document of `train` are left out, and counted; documents without text
    are left out, too. Intervals are by bootstrap over documents (over blocks of consecutive ones). A rank is a
    range: from one more than the number of certainly better tokenizers, to the number of those not certainly
    worse. Text is read a thousand documents at a time; the training text is held as ids (`LIMIT`). With a
    number as `split`, documents are divided into halves by their text and the number: the model is trained on
    one half of `train` and reads the other half of `dataset`, so that both may be the same text.

    Raises `SpecError` for an order below 1, `CorpusError` without text, without text outside the training text,
    and for training text of more than `limit` tokens.
    """
    if order < 1:
        raise SpecError(f"an n-gram model has an order of 1 or more, not {order}")
    excluded = done = 0
    read: dict[str, dict[str, Sums]] = {}
    estimates: dict[str, list[str]] = {}
    for name, tokenizer in tokenizers.items():
        taken = (text for text in train.texts() if split is None or not is_read(utf8_of(text), split))
        told = _after(done, progress)
        trained = trained_ngrams(name, tokenizer, taken, order=order, limit=limit, progress=told)
        done += trained.documents
        estimates[name] = [each.discounts.estimate for each in trained.model.orders]
        told = _after(done, progress)
        read[name], excluded, documents = _read(name, tokenizer, trained, dataset, split, told)
        done += documents
    if not any(each["documents"].any() for own in read.values() for each in own.values()):
        raise CorpusError(
            f"{dataset.name}: every document of it occurs in the training text, so nothing is left to read"
            if excluded
            else f"{dataset.name}: no text to read"
        )
    figures = _figures(read, dataset.languages, seed)
    return NgramReading(order, trained.documents, trained.n_bytes, excluded, figures, estimates)


def _after(done: int, progress: Callable[[int], None]) -> Callable[[int], None]:
    """`progress` for a part that counts from 0, after `done` documents."""
    return lambda documents: progress(done + documents)


def _read(
    name: str,
    tokenizer: Tokenizer,
    trained: TrainedNgrams,
    dataset: Dataset,
    split: int | None,
    progress: Callable[[int], None],
) -> tuple[dict[str, Sums], int, int]:
    """The `SUMS` of a tokenizer by language, the documents that were trained on, and all documents."""
    found: dict[str, Sums] = {}
    excluded = documents = 0
    for language in dataset.languages:
        own = found[language] = {what: np.zeros(GROUPS) for what in SUMS}
        for some, groups in in_groups(dataset, language):
            encoded = [utf8_of(document.text) for document in some]
            chosen = [at for at, data in enumerate(encoded) if split is None or is_read(data, split)]
            fresh = [at for at in chosen if digest(encoded[at]) not in trained.seen]
            excluded += len(chosen) - len(fresh)
            if fresh:
                texts = [some[at].text for at in fresh]
                batch = encode_batch(tokenizer, texts)
                back = decode_batch(tokenizer, batch)
                each: dict[str, Any] = {
                    "bits": trained.document_bits(batch, name),
                    "bytes": [len(encoded[at]) for at in fresh],
                    "documents": 1,
                    "tokens": batch.lengths(),
                    "lost": [one != other for one, other in zip(texts, back, strict=True)],
                }
                for what, numbers in each.items():
                    np.add.at(own[what], groups[fresh], numbers)
            documents += len(some)
            progress(documents)
    return found, excluded, documents


def _figures(read: Mapping[str, Mapping[str, Sums]], languages: Sequence[str], seed: int) -> list[NgramBits]:
    """The figures of each language, and of all together if several have text."""
    some = [name for name in languages if next(iter(read.values()))[name]["documents"].any()]
    figures: list[NgramBits] = []
    for language in [*([ALL] if len(some) > 1 else []), *some]:
        added = some if language == ALL else [language]
        sums = {
            name: {what: np.sum([own[each][what] for each in added], axis=0) for what in SUMS}
            for name, own in read.items()
        }
        figures += _ranked(sums, language, seed)
    return figures


@dataclass(frozen=True, slots=True)
class RanksOverSplits:
    """The results of tokenizers on all languages in several splits: bits per byte and rank in each, best first.

    Tokenizers that lose text are left out.
    """

    order: tuple[str, ...]
    bits: Mapping[str, tuple[float, ...]]
    ranks: Mapping[str, tuple[int, ...]]

    @property
    def n_alike(self) -> int:
        """The number of splits with the order of the first one."""
        each = list(zip(*(self.ranks[name] for name in self.order), strict=True))
        return sum(one == each[0] for one in each) if each else 0

    @classmethod
    def of(cls, readings: Sequence[NgramReading]) -> RanksOverSplits:
        """The ranks from the readings of the splits.

        Example:
            >>> def reading(a, b):
            ...     figures = [NgramBits(n, "eng", 1, 1, 8, bits, 0) for n, bits in (("a", a), ("b", b))]
            ...     return NgramReading(3, 1, 1, 0, figures, {})
            >>> found = RanksOverSplits.of([reading(8, 16), reading(12, 16), reading(24, 16)])
            >>> found.order, found.ranks["b"], found.n_alike
            (('a', 'b'), (2, 2, 1), 2)
        """
        whole = [
            {f.tokenizer: f for f in each.figures if f.language == each.figures[0].language}
            for each in readings
        ]
        sound = [name for name in whole[0] if not any(each[name].lost for each in whole)]
        bits = {name: tuple(each[name].bits_per_byte for each in whole) for name in sound}
        ranks = {
            name: tuple(1 + sum(bits[other][at] < own for other in sound) for at, own in enumerate(bits[name]))
            for name in sound
        }
        return cls(tuple(sorted(sound, key=lambda name: sum(bits[name]))), bits, ranks)


def _ranked(read: Mapping[str, Sums], language: str, seed: int) -> list[NgramBits]:
    """The figures of one language, best first, each with its interval and its rank.

    Tokenizers that lose text come last and have no rank: less text takes fewer bits.
    """
    again: dict[str, Floats] = {}
    found: list[NgramBits] = []
    for name, own in read.items():
        both = np.array([own["bits"], own["bytes"]])
        drawn_bits, drawn_bytes = resampled_sums(both, seed=seed, n=REPLICATES)
        with np.errstate(all="ignore"):
            again[name] = drawn_bits / drawn_bytes
        bits = float(own["bits"].sum())
        whole: dict[str, Any] = {
            what: int(own[what].sum()) for what in ("documents", "tokens", "bytes", "lost")
        }
        limits = intervals([again[name]], CONFIDENCE, whole["documents"])[0]
        found.append(NgramBits(name, language, bits=bits, interval=limits, **whole))
    found.sort(key=lambda row: (row.lost > 0, row.bits_per_byte))
    sound = [row for row in found if not row.lost]
    ranked = []
    for row in found:
        apart = [again[row.tokenizer] - again[each.tokenizer] for each in sound if each is not row]
        limits_of = intervals(apart, CONFIDENCE, row.documents)
        if row.lost or not apart or None in limits_of:
            ranked.append(row)
            continue
        better = sum(each is not None and each[0] > 0 for each in limits_of)
        worse = sum(each is not None and each[1] < 0 for each in limits_of)
        ranked.append(replace(row, rank=(1 + better, len(sound) - worse)))
    return ranked


def is_read(data: bytes, split: int) -> bool:
    """Whether the split of this number reads a document; otherwise the model is trained on it."""
    return bool(blake2b(data, digest_size=1, key=split.to_bytes(8, "little")).digest()[0] & 1)
