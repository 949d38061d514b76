"""Characters that no token is: dropped, one unknown token for each or for some, spelled in bytes or in some."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.dropout import merged_symbols
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.plain import first_symbols, segment
from tokbench_subword.pipeline.patterns import Pattern
from tokbench_subword.words.slots import LONGEST_WORD

from tokbench.kernels.pointers import padded

KNOWN = "ab▁é日本"
UNKNOWN = "x\tü語😀"


@st.composite
def models(draw: st.DrawFn) -> BpeModel:
    """A small model of characters, whose merges may be of any two tokens."""
    tokens = list(KNOWN)
    merges = []
    for left, right in draw(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), max_size=12)):
        made = tokens[left % len(tokens)] + tokens[right % len(tokens)]
        if made not in tokens:
            merges.append([left % len(tokens), right % len(tokens), len(tokens)])
            tokens.append(made)
    lacking = draw(st.sampled_from(["", "x", "\t", "xü", "é", UNKNOWN, None]))
    if lacking is not None:
        gone = set(lacking.encode())
        tokens += [f"<0x{byte:02X}>" for byte in range(256) if byte not in gone]
    unknown = draw(st.booleans())
    tokens += ["<unk>"] * unknown
    return BpeModel(
        vocabulary=tuple(token.encode() for token in tokens),
        merges=np.array(merges, np.int32).reshape(-1, 3),
        level="char",
        unk=len(tokens) - 1 if unknown else None,
        fuse_unk=draw(st.booleans()),
        byte_fallback=lacking is not None,
        pattern=Pattern("none"),
    )


TEXTS = st.lists(st.text(KNOWN + UNKNOWN, max_size=80), max_size=6)


@given(models(), TEXTS)
@settings(max_examples=80, deadline=None)
def test_they_are_encoded_as_the_plain_form_does(model: BpeModel, texts: list[str]) -> None:
    encoder = BpeEncoder(model)
    expected = [[symbol.id for symbol in segment(model, text)] for text in texts]
    for _ in range(2):
        assert [ids.tolist() for ids in encoder.encode_batch(texts)] == expected


@given(models(), st.text(KNOWN + UNKNOWN, min_size=1, max_size=80))
@settings(max_examples=50, deadline=None)
def test_tokens_are_made_of_as_many_symbols_as_in_the_plain_form(model: BpeModel, text: str) -> None:
    """Without the plain form's time, which is quadratic: seconds for 10,000 characters."""
    data, words = padded(text.encode()), np.array([[0, len(text.encode())]])
    symbols, places, ends = BpeEncoder(model).first_symbols(data, words)
    plain = first_symbols(model, text)
    assert list(zip(symbols.tolist(), *places.T.tolist(), strict=True)) == plain
    last = np.cumsum(counts := merged_symbols(model, symbols, ends))
    spans = list(zip(places[last - counts, 0].tolist(), places[last - 1, 1].tolist(), strict=True))
    assert spans == [(symbol.start, symbol.end) for symbol in segment(model, text)]


@pytest.mark.parametrize("fallback", [True, False])
def test_text_is_cut_all_the_same(fallback: bool) -> None:
    """A vocabulary that lacks the byte of a character that is a token, as Gemma's do, keeps parts of lines."""
    tokens = ["a", "▁", "\t", "▁a", *(f"<0x{byte:02X}>" for byte in range(256) if byte != 9), "<unk>"]
    model = BpeModel(
        vocabulary=tuple(token.encode() for token in tokens),
        merges=np.array([[1, 0, 3]], np.int32),
        level="char",
        unk=len(tokens) - 1,
        fuse_unk=True,
        byte_fallback=fallback,
        pattern=Pattern("none"),
    )
    encoder = BpeEncoder(model)
    lines = [("▁a" * number + "\t") * 9 for number in range(2, 40)]
    encoder.encode_batch(lines)
    whole = 0 if fallback else sum(len(line.encode()) <= LONGEST_WORD for line in lines)
    assert encoder._idle[0].words.held == whole + 2, "two parts, beside lines where these are words"
