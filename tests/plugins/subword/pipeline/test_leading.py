"""The scheme ``first`` of Metaspace behind normalizers and cuts: it goes where the plain form says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.segments import TEXT, Segments

from tokbench.kernels.text import utf8_of

FIRST = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": True}
NORMALIZERS: dict[str, Any] = {
    "none": None,
    "strips": {"type": "Strip", "strip_left": True, "strip_right": True},
    "composes": {"type": "NFKC"},
    "takes apart": {"type": "NFKD"},
    "puts in front": {"type": "Prepend", "prepend": "x "},
    "takes away": {"type": "Replace", "pattern": {"String": "a"}, "content": ""},
    "makes more": {"type": "Replace", "pattern": {"Regex": r"b+|\s"}, "content": "bab"},
    "across letters": {"type": "Replace", "pattern": {"Regex": r"(?<=a)b|ab"}, "content": "--"},
    "of another case": {
        "type": "Sequence",
        "normalizers": [
            {"type": "Lowercase"},
            {"type": "Replace", "pattern": {"Regex": "bc|йк|[αա]β?"}, "content": ""},
        ],
    },
    "several": {
        "type": "Sequence",
        "normalizers": [
            {"type": "NFD"},
            {"type": "StripAccents"},
            {"type": "Lowercase"},
            {"type": "Replace", "pattern": {"Regex": r"\s+"}, "content": " "},
            {"type": "Strip", "strip_left": True, "strip_right": False},
        ],
    },
}
CUTS: dict[str, list[dict[str, Any]]] = {
    "alone": [FIRST],
    "behind digits": [{"type": "Digits", "individual_digits": True}, FIRST],
    "behind words": [{"type": "WhitespaceSplit"}, FIRST],
    "twice": [FIRST, {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first", "split": False}],
    "in letters": [{"type": "ByteLevel", "add_prefix_space": True, "use_regex": False}, FIRST],
}
TOKENS = (
    AddedToken("<s>", 0, normalized=False, special=False),
    AddedToken("1", 1, normalized=True, special=False),
    AddedToken("ab", 2, normalized=True, special=False, lstrip=True),
)
_texts = st.text("ab 1½éÅ\u0301中ﬁहि्Ййแำሀ<s>\n", max_size=12) | st.text(max_size=6)


def _plainly(preparation: BpePreparation, text: str) -> list[str | int]:
    found: list[str | int] = []
    for part in preparation.parts(text):
        if part.token is not None:
            found.append(part.token.id)
        else:
            found += [piece.text for piece in preparation.pre_tokenizer(part.stretch) if piece.text]
    return found


def _compiled(preparation: BpePreparation, texts: list[str]) -> list[list[str | int]]:
    compiled = preparation.compiled
    segments = compiled.segments(Segments(*utf8_of(texts)))
    segments = segments.cut(compiled.cutters)
    data, offsets = segments.data.tobytes(), segments.offsets.tolist()
    marks = np.full(len(offsets) - 1, TEXT) if segments.marks is None else segments.marks
    every: list[str | int] = [
        data[begin:end].decode() if mark == TEXT else int(mark)
        for begin, end, mark in zip(offsets[:-1], offsets[1:], marks.tolist(), strict=True)
    ]
    limits = range(len(texts) + 1) if segments.documents is None else segments.documents.tolist()
    return [[one for one in every[limits[t] : limits[t + 1]] if one != ""] for t in range(len(texts))]


@pytest.mark.parametrize("cuts", CUTS)
@pytest.mark.parametrize("name", NORMALIZERS)
@settings(max_examples=8, deadline=None)
@given(texts=st.lists(_texts, max_size=4), added=st.booleans())
def test_first_is_what_the_plain_form_takes_for_first(
    name: str, cuts: str, texts: list[str], added: bool
) -> None:
    texts = [
        text.encode("utf-8", "replace").decode()
        for text in [*texts, " a b", "ab 1", "1 b", "½ a", "BCA", "ЙКЛ", "ԱԲ", "ΑΒΓ", ""]
    ]
    document = TokenizerJson(
        model={},
        normalizer=NORMALIZERS[name],
        pre_tokenizer={"type": "Sequence", "pretokenizers": CUTS[cuts]},
        added_tokens=TOKENS if added else (),
    )
    preparation = BpePreparation.of(document)
    assert _compiled(preparation, texts) == [_plainly(preparation, text) for text in texts]
    assert preparation.compiled.ways["cutting"] == "kernels"


@pytest.mark.parametrize("name", NORMALIZERS)
def test_no_byte_behind_the_text_is_asked_for(name: str) -> None:
    """`encode_utf8` takes arrays that end where the text does."""
    leading = Leading(NORMALIZERS[name])
    for texts in ([], [""], ["", "ab", "é", "a"], ["中"]):
        given = Segments(*utf8_of(texts))
        assert (
            leading.of(given.rewritten(given.data[: given.offsets[-1]], given.offsets)) == leading.of(given)
        ).all()


def test_ways_say_what_is_done_in_python_and_why() -> None:
    split = {"type": "Split", "pattern": {"Regex": r"(?>a|ab)c"}, "behavior": "Isolated", "invert": False}
    replace = {"type": "Replace", "pattern": {"Regex": r"x*"}, "content": "-"}
    ways = BpePreparation.of(TokenizerJson(model={}, normalizer=replace, pre_tokenizer=split)).compiled.ways
    assert ways["cutting"].startswith("Python: an atomic group")
    assert ways["normalizing"].startswith("Python: ")
