"""The kernels that align folded forms, held against the definition read document by document."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokbench.capabilities import OffsetEncoder
from tokbench.corpus import Document
from tokbench.tally.folding import Degree, fold
from tokbench.tally.folding_kernels import find
from tokbench.tally.folding_kernels import leftmost as leftmost_kernel
from tokbench.tally.places import DEGREES, Aligner, keeps_letters
from tokbench.tally.prepare import prepare
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import Tokenizer, encode_batch

Span = tuple[int, int]


def plain_places(
    tokenizer: Tokenizer, table: TokenTable, text: str, ids: list[int], degrees: tuple[Degree, ...]
) -> tuple[list[Span] | None, int]:
    """The span in bytes of each token, (0, 0) for none, and the characters under unknown ones (−1: not known).

    For documents that are not exact. No spans where the document cannot be aligned.
    """
    hidden = -1 if table.unk in ids else 0
    spans = None
    size_of = [len(character.encode("utf-8", "surrogatepass")) for character in text]
    byte_of = [0, *np.cumsum(size_of).tolist()]
    for degree in degrees:
        spans, found = _folded(table, text, ids, degree, byte_of)
        if spans is not None or found >= 0:
            hidden = max(hidden, found)
            break
    if spans is None and isinstance(tokenizer, OffsetEncoder):
        told = [(int(a), int(b)) for a, b in tokenizer.offsets(text)]
        if len(told) == len(ids) and all(0 <= at <= len(text) for span in told for at in span):
            spans = [(byte_of[a], byte_of[b]) if b > a else (0, 0) for a, b in told]
    if spans is None:
        return None, hidden
    covered = {i for index, (a, b) in zip(ids, spans, strict=True) if index == table.unk for i in range(a, b)}
    return spans, len(covered.intersection(byte_of))


def _folded(
    table: TokenTable, text: str, ids: list[int], degree: Degree, byte_of: list[int]
) -> tuple[list[Span] | None, int]:
    """The span in bytes of each token by folded forms, and the characters that are left over."""
    folded = [fold(character, degree) for character in text]
    whole = b"".join(folded)
    owner: list[Span] = []  # of each folded byte: the byte that it is, or the character that was rewritten
    for index, (piece, at) in enumerate(zip(folded, byte_of, strict=False)):
        if piece == text[index].encode("utf-8", "surrogatepass"):
            owner += [(at + k, at + k + 1) for k in range(len(piece))]
        else:
            owner += [(at, byte_of[index + 1])] * len(piece)
    pieces: list[bytes | None] = []  # None: unknown
    for index in ids:
        if index == table.unk:
            pieces.append(None)
            continue
        own = table.bytes_of(index).decode("utf-8", "surrogateescape")
        piece = b"".join(fold(character, degree) for character in own)
        blank = all(character.isspace() or character == "▁" for character in own)
        if table.length[index] < 0 or (not piece and not blank):
            return None, -1
        pieces.append(piece)
    runs = [b""]
    for piece in pieces:
        if piece is None:
            runs.append(b"")
        else:
            runs[-1] += piece
    places, hidden = [0], -1
    if len(runs) == 1:
        if runs[0] != whole:
            return None, -1
    else:
        forward = leftmost(whole, runs)
        if forward is None:
            return None, -1
        shown = sum(map(bool, folded))
        hidden = round(shown * (len(whole) - sum(map(len, runs))) / max(len(whole), 1))
        apart = all(a + len(run) < b for (a, b), run in zip(pairwise(forward), runs, strict=False))
        if not apart or forward != rightmost(whole, runs):
            return None, hidden
        places = forward
    spans, at, run = [], 0, 0
    for piece in pieces:
        if piece is None:
            run += 1
            to = places[run]
        else:
            to = at + len(piece)
        spans.append((owner[at][0], owner[to - 1][1]) if to > at else (0, 0))
        at = to
    return spans, hidden


def leftmost(text: bytes, runs: list[bytes]) -> list[int] | None:
    """Where each of two or more runs lies at the earliest, in order: the first at the start, the last at the
    end."""
    if not text.startswith(runs[0]) or not text.endswith(runs[-1]):
        return None
    places, position = [0], len(runs[0])
    for run in runs[1:-1]:
        at = text.find(run, position)
        if at < 0:
            return None
        places.append(at)
        position = at + len(run)
    last = len(text) - len(runs[-1])
    return [*places, last] if last >= position else None


def rightmost(text: bytes, runs: list[bytes]) -> list[int] | None:
    """The same at the latest."""
    mirrored = leftmost(text[::-1], [run[::-1] for run in reversed(runs)])
    if mirrored is None:
        return None
    return [len(text) - at - len(run) for at, run in zip(reversed(mirrored), runs, strict=True)]


def agree(tokenizer, texts: list[str]) -> int:
    """Hold the places of every document against the plain ones; say how many are not exact."""
    table = TokenTable(tokenizer)
    degrees = DEGREES if keeps_letters(tokenizer) else DEGREES[1:]
    rewritten = 0
    for batch in prepare(map(Document, texts)):
        tokens = encode_batch(tokenizer, batch.texts)
        table.know(tokens.ids)
        places = Aligner(tokenizer, table).align(batch, tokens)
        for document, text in enumerate(batch.texts):
            if places.exact[document]:
                continue
            rewritten += 1
            spans, hidden = plain_places(tokenizer, table, text, tokens[document].tolist(), degrees)
            first, last = places.tokens.limits[document : document + 2]
            own = np.stack([places.tokens.start[first:last], places.tokens.end[first:last]], 1)
            own -= batch.starts[document]
            assert bool(places.aligned[document]) == (spans is not None), text
            assert own.tolist() == [[a, b] for a, b in spans or () if b > a], text
            assert places.hidden[document] == hidden, text
    return rewritten


HOSTILE = [
    "aabAÄ ",
    "ab \u0301\u0308e",
    "漢かな ﬁ①",
    "\u0e01\u0e33\u0e49 ",
    "▁ \u3000\xa0\t",
    "\u200b\ufeffx\x00",
    "👩\u200d🚀y",
]


def hostile(n: int) -> list[str]:
    draw = random.Random(5)
    return [
        "".join(draw.choices("".join(draw.sample(HOSTILE, draw.randrange(1, 4))), k=draw.randrange(40)))
        for _ in range(n)
    ]


def test_made_up_tokenizers_on_hostile_text(stand_ins) -> None:
    texts = [*hostile(600), "", "\ufdfa" * 9, "a xx yy a", "\ud800 Ä"]
    for tokenizer in (
        stand_ins.Lowering("aab", " a", "ss"),
        stand_ins.Words("a", "aab", "漢", "ab"),
        stand_ins.Told("a", "ab"),
    ):
        assert agree(tokenizer, texts) > 300


@given(st.lists(st.text(alphabet="ab Äß\u0301\ufb01▁漢", max_size=25), min_size=1, max_size=8))
def test_any_text(stand_ins, texts) -> None:
    agree(stand_ins.Lowering("ab", " a", "fi", "ss"), texts)
    agree(stand_ins.Words("a", "ab", "ba"), texts)


@pytest.mark.long
@pytest.mark.parametrize(
    ("spec", "rewritten"),
    [
        ("sentencepiece:{vocabs}/t5-base/spiece.model", 500),
        ("sentencepiece:{vocabs}/albert-base-v1/spiece.model", 500),
        ("sentencepiece:{vocabs}/llama-2/tokenizer.model", 50),  # the rest is a space and the text
        ("wordpiece:{vocabs}/bert-base-uncased/hf/tokenizer.json", 500),
    ],
)
def test_real_vocabularies_in_every_language(spec: str, rewritten: int, test_data) -> None:
    import tokbench

    paths = sorted((test_data / "corpora/pud").glob("*_*.txt"))
    texts = [line for path in paths for line in path.read_text("utf-8").split("\n")[:40]]
    assert len(paths) >= 21
    tokenizer = tokbench.load(spec.format(vocabs=test_data / "vocabs"))
    assert agree(tokenizer, [*texts, *hostile(300)]) > rewritten


@given(st.text("ab", max_size=30), st.lists(st.text("ab", max_size=4), min_size=2, max_size=6))
def test_ways_to_find_runs(text: str, runs: list[str]) -> None:
    whole, pieces = text.encode(), [run.encode() for run in runs]
    if sum(map(len, pieces)) > len(whole):
        return
    made = np.frombuffer(b"".join(pieces), np.uint8)
    limits = np.cumsum([0, *map(len, pieces)])
    places = leftmost_kernel(np.frombuffer(whole, np.uint8), made, limits)
    expected = leftmost(whole, pieces)
    assert places.tolist() == expected if expected is not None else places[0] < 0


class Watched:
    """Bytes that count how often they are looked at."""

    def __init__(self, data: bytes) -> None:
        self.data, self.looks = data, 0

    def __len__(self) -> int:
        return len(self.data)

    def __getitem__(self, index: int) -> int:
        self.looks += 1
        return self.data[index]


def test_text_that_repeats_itself_is_looked_at_as_often_as_any() -> None:
    """A piece that nearly matches everywhere: the looks are linear in the text."""
    plain = getattr(find, "py_func", find)
    text, piece = Watched(b"a" * 4000 + b"b"), Watched(b"a" * 1000 + b"b")
    links = np.zeros(len(piece), np.int64)
    assert plain(text, 0, piece, links) == 3000
    assert text.looks < 3 * len(text)
    assert piece.looks < 3 * (len(text) + 2 * len(piece))


def test_runs_in_text_that_repeats_itself_are_found(stand_ins) -> None:
    class Gap(stand_ins.Pieces):
        unk_id = 256

        def encode(self, text):
            half = len(text) // 4
            return [97, 256, *[97] * half, 98, 256, 97]

    [batch] = prepare([Document("a" * 4000 + "bca")])
    tokenizer = Gap("?")
    tokens, table = encode_batch(tokenizer, batch.texts), TokenTable(tokenizer)
    assert Aligner(tokenizer, table).align(batch, tokens).aligned.all()
