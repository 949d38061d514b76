"""Tokens over text and words under tokens, by bits and bytes, against the plainest way to say it."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.tokbench.tally.test_marks import boundary_flags
from tokbench.batch import TokenBatch
from tokbench.corpus import Document
from tokbench.tally.collect import FEW
from tokbench.tally.places import Aligner
from tokbench.tally.prepare import prepare
from tokbench.tally.text import TextBatch
from tokbench.tally.touch import touch
from tokbench.tally.vocabulary import TokenTable

PARTS = st.sampled_from([
    *"ab1 _.',\né漢ไ\u0301",
    *(" ", "word ", "3.14", "don't", "слово ", "\r\n", "🙂", "ab" * 30, "_" * 63, "x" * 64),
])  # fmt: skip
TEXTS = st.lists(st.lists(PARTS, max_size=40).map("".join), min_size=1, max_size=4)


class Given:
    """A tokenizer whose vocabulary is given: the bytes of each id, None where it does not tell."""

    name, special_ids = "given", frozenset[int]()

    def __init__(self, pieces: list[bytes], unk_id: int | None = None) -> None:
        self.pieces, self.vocab_size, self.unk_id = pieces, len(pieces), unk_id

    def encode(self, text: str) -> list[int]:
        return []

    def decode(self, ids: object) -> str:
        return ""

    def token_bytes(self, token_id: int) -> bytes:
        return self.pieces[token_id]


def cut_up(batch: TextBatch, random, often: float) -> list[list[bytes]]:
    """The bytes of each document, cut anywhere."""
    found = []
    for start, end in zip(batch.starts.tolist(), batch.ends.tolist(), strict=True):
        text = batch.data[start:end].tobytes()
        cuts = [0, *(at for at in range(1, len(text)) if random.random() < often), len(text)]
        found.append([text[a:b] for a, b in pairwise(cuts) if b > a])
    return found


def laid(batch: TextBatch, documents: list[list[bytes]], *more: bytes):
    """The places of such tokens; some pieces more may be in the vocabulary."""
    pieces = sorted({piece for document in documents for piece in document} | {b"?", *more})
    tokenizer = Given(pieces)
    ids = [[pieces.index(piece) for piece in document] for document in documents]
    tokens = TokenBatch.of(ids)
    aligner = Aligner(tokenizer, TokenTable(tokenizer))
    places = aligner.align(batch, tokens)
    assert aligner.seen.tolist() == np.bincount(tokens.ids, minlength=len(pieces)).tolist()
    return places


@given(TEXTS, st.randoms(use_true_random=False), st.sampled_from([0.01, 0.1, 0.4, 1.0]))
def test_words_by_bits_are_as_one_by_one(texts: list[str], random, often: float) -> None:
    [batch] = prepare(map(Document, texts))
    documents = cut_up(batch, random, often)
    few = np.zeros(FEW, np.int64)
    counts, many = touch(batch, laid(batch, documents), few)
    data, per_word = batch.data, []
    for index, pieces in enumerate(documents):
        ends = (np.cumsum([0, *map(len, pieces)]) + batch.starts[index]).tolist()
        spans = list(pairwise(ends))
        own = slice(*batch.words.limits[index : index + 2].tolist())
        words = list(zip(batch.words.start[own].tolist(), batch.words.end[own].tolist(), strict=True))
        touching = [sum(a < end and b > start for a, b in spans) for start, end in words]
        crossing = [sum(a < end and b > start for start, end in words) > 1 for a, b in spans]
        made = ends[1:-1]
        expected = {
            "word_tokens": sum(touching),
            "continued_words": sum(each > 1 for each in touching),
            "boundaries": len(made),
            "cut_chars": sum(int(data[at]) & 0xC0 == 0x80 for at in made),
            "cut_graphemes": sum(int(batch.marks[at]) & 1 for at in made),
            "cross_words": sum(crossing),
        }
        assert {name: int(counts[name][index]) for name in expected} == expected
        per_word += touching
    assert sorted(per_word) == sorted([*np.repeat(np.arange(FEW), few).tolist(), *many.tolist()])


@given(TEXTS, st.randoms(use_true_random=False), st.sampled_from([0.03, 0.3]))
def test_tokens_that_are_not_the_text_are_found_out(texts: list[str], random, often: float) -> None:
    [batch] = prepare(map(Document, texts))
    documents = cut_up(batch, random, often)
    for document in documents:
        if document and random.random() < 0.7:
            where = random.randrange(len(document))
            piece = bytearray(document[where])
            change = random.randrange(4)
            if change == 0:
                piece[random.randrange(len(piece))] ^= 1 << random.randrange(8)
            elif change == 1:
                del piece[random.randrange(len(piece))]
            elif change == 2:
                piece.insert(random.randrange(len(piece) + 1), random.randrange(256))
            document[where] = bytes(piece)
        if random.random() < 0.3:
            document.insert(0, b" ")
    places = laid(batch, documents, b"")
    texts_of = [batch.data[start:end].tobytes() for start, end in zip(batch.starts, batch.ends, strict=True)]
    spelled = [b"".join(document) for document in documents]
    leads = [own == b" " + text for own, text in zip(spelled, texts_of, strict=True)]
    wanted = [own in (text, b" " + text) for own, text in zip(spelled, texts_of, strict=True)]
    assert places.leads.tolist() == leads
    assert places.exact.tolist() == wanted
    assert places.empty.tolist() == [document.count(b"") for document in documents]
    for index, document in enumerate(documents):
        ends = np.cumsum([0, *map(len, document)]) - leads[index]
        expected = sorted(
            {at for at in ends.tolist() if 0 < at < len(texts_of[index])} if wanted[index] else ()
        )
        found = boundary_flags(places.boundary, len(batch.data))[batch.starts[index] : batch.ends[index] + 1]
        assert np.flatnonzero(found).tolist() == expected
