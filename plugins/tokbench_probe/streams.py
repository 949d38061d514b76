"""Text as streams of symbols, one to train on and one to read, and the bits that a model needs for the latter.

A stream contains the ids of all documents, with an end symbol before the first document and after each. Ends
are predicted too, and are the only context for the first id of a document. Ids that occur less than twice in
the training text share one symbol, within which all are equally likely. So every id of the vocabulary has a
probability above zero, and the probabilities add up to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from typing import TYPE_CHECKING

from tokbench import CorpusError, Dataset, Tokenizer, TrainingCorpus
from tokbench.corpus import in_batches
from tokbench.tokenizer import check_encoded, decode_batch, encode_batch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ids = NDArray[np.int32]

_OFTEN = 2


@dataclass(frozen=True, slots=True)
class ProbeTexts:
    """The documents to train on and to read; `excluded` counts those in both sets, which are not read."""

    train: list[str]
    read: list[str]
    excluded: int

    @property
    def train_bytes(self) -> int:
        """The size of the training text in UTF-8."""
        return sum(len(utf8_of(text)) for text in self.train)

    @property
    def read_bytes(self) -> int:
        """The size of the text to read in UTF-8."""
        return sum(len(utf8_of(text)) for text in self.read)

    @classmethod
    def of(cls, train: TrainingCorpus, dataset: Dataset, documents: int | None = None) -> ProbeTexts:
        """The texts of two datasets; of the second, only the first `documents` of each language.

        Raises `CorpusError` if nothing is left to train on or to read.
        """
        known = [text for text in train.texts() if text]
        seen = {_digest(text) for text in known}
        found = [
            text
            for language in dataset.languages
            for text in islice(
                (each.text for s in dataset.shards(language) for each in dataset.read(s)), documents
            )
            if text
        ]
        fresh = [text for text in found if _digest(text) not in seen]
        if not known:
            raise CorpusError(f"{train.dataset.name}: no text to train on")
        if not fresh:
            raise CorpusError(
                f"{dataset.name}: every document of it occurs in the training text, so nothing is left to read"
                if found
                else f"{dataset.name}: no text to read"
            )
        return cls(known, fresh, len(found) - len(fresh))


@dataclass(frozen=True, slots=True, eq=False)
class Streams:
    """A tokenizer's streams: int32, symbols below `symbols`.

    `rare_bits` are the bits to distinguish the ids that share a symbol, `rare` are their places in `read`;
    `ends` are the places where its documents end. Decoding does not restore `lost` of the documents.
    """

    train: Ids
    read: Ids
    symbols: int
    rare: NDArray[np.bool_]
    rare_bits: float
    ends: NDArray[np.int64]
    lost: int

    @classmethod
    def of(cls, name: str, tokenizer: Tokenizer, texts: ProbeTexts) -> Streams:
        """The streams of some texts; raises `TokenizerError` for an id that is not in the vocabulary."""
        import numpy as np

        size = tokenizer.vocab_size
        train, _, _ = _joined(name, tokenizer, texts.train)
        read, ends, lost = _joined(name, tokenizer, texts.read, decoding=True)
        often = np.bincount(train, minlength=size + 1) >= _OFTEN
        often[size] = True
        number = np.cumsum(often, dtype=np.int32) - 1
        shared = number[-1] + 1
        number[~often] = shared
        rare = int(size - number[size])
        bits = float(np.log2(rare)) if rare else 0.0
        return cls(number[train], number[read], int(shared) + 1, ~often[read], bits, ends, lost)

    def bits(self, nats: NDArray[np.float64]) -> NDArray[np.float64]:
        """The bits of each document of `read` and its end, from the loss of each symbol but the first."""
        import numpy as np

        each = nats / np.log(2) + self.rare_bits * self.rare[1:]
        return np.add.reduceat(each, np.append(0, self.ends[:-1]))


def _joined(
    name: str, tokenizer: Tokenizer, texts: list[str], *, decoding: bool = False
) -> tuple[Ids, NDArray[np.int64], int]:
    """An end symbol, then each text's ids and an end; the places of these ends; how many texts are lost."""
    import numpy as np

    end = np.array([tokenizer.vocab_size], np.int32)
    parts, lost = [end], 0
    for some in in_batches(texts):
        batch = encode_batch(tokenizer, some)
        check_encoded(name, batch.ids, tokenizer.vocab_size)
        parts += [part for at in range(len(batch)) for part in (batch[at], end)]
        if decoding:
            lost += sum(one != other for one, other in zip(some, decode_batch(tokenizer, batch), strict=True))
    whole = np.concatenate(parts).astype(np.int32)
    return whole, np.flatnonzero(whole == tokenizer.vocab_size)[1:], lost


def utf8_of(text: str) -> bytes:
    """The bytes of a text."""
    return text.encode("utf-8", "surrogatepass")


def _digest(text: str) -> bytes:
    return blake2b(utf8_of(text), digest_size=16).digest()
