"""The kernels between text and words give the words that `tokenizers` gives, or leave the document alone."""

from __future__ import annotations

import base64
import itertools
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.tokenizer_json import Document
from tokbench_subword.unigram.json_export import ENDS
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.rules import charsmap_of
from tokbench_subword.unigram.word_path import WordPath
from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

N, P = normalizers, pre_tokenizers
MAP, FOLDING = (N.Precompiled(charsmap_of(name)) for name in ("nmt_nfkc", "nmt_nfkc_cf"))
SPLIT = P.Sequence([P.WhitespaceSplit(), P.Metaspace()])
RUNS = N.Replace(Regex(" {2,}"), "▁")
BLANKS = N.Replace(Regex(ENDS), "")
MARKED = [N.Prepend("▁"), N.Replace(" ", "▁")]
CHAINS = {
    "t5": (MAP, SPLIT),
    "albert": (
        N.Sequence(
            [N.Replace("``", '"'), N.Replace("''", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(), MAP]
        ),
        SPLIT,
    ),
    "runs": (N.Sequence([MAP, N.Strip(left=False, right=True), RUNS]), P.Metaspace()),
    "ends": (N.Sequence([FOLDING, N.Strip(), RUNS]), P.Metaspace(prepend_scheme="first")),
    "nfkc": (N.Sequence([N.Nmt(), N.NFKC(), N.Lowercase()]), P.Metaspace(prepend_scheme="never")),
    "nfd": (N.Sequence([N.NFD(), N.StripAccents()]), P.Metaspace(split=False)),
    "nfc": (N.NFC(), SPLIT),
    "written": (
        N.Sequence([MAP, BLANKS, N.Replace(Regex(" {2,}"), " "), *MARKED]),
        P.Metaspace(prepend_scheme="never"),
    ),
    "marked": (N.Sequence(MARKED), P.Metaspace()),
}
HARD = [
    *"ab ef  ▁▁ \t\n\r\x01\x85\xa0\u2003\u3000\u200b\u200d\ufeff\ufffd①ﬁ㌀ﬀ½™©ßİΣς`'",
    *"\u0301\u0300\u0323\u0308\u3099\u309a\ufe0f\u0344\u0653\u064b\u093c\u094d\u0e33\u0600\u070f",
    *"ाीनक़カﾞハアاويé각가ᄀ\u1161\u11a8ㄱ\ua000",
    "\r\n",
    "🇩🇪",
    "👩\u200d👩",
    "``",
    "''",
    "<unk>",
]
texts = st.lists(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"]), max_size=12).map("".join)


def config(component: Any) -> Any:
    return json.loads(component.__getstate__())


def path_of(name: str) -> WordPath:
    normalizer, pre_tokenizer = CHAINS[name]
    path = WordPath.of(
        Document(model={}, normalizer=config(normalizer), pre_tokenizer=config(pre_tokenizer)),
        "<unk>",
        where=name,
    )
    assert path is not None
    return path


PATHS = {name: path_of(name) for name in CHAINS}


def left_alone(name: str, lines: list[str]) -> int:
    """How many documents are left to the plain path; the words of all others must be those of `tokenizers`."""
    normalizer, pre_tokenizer = CHAINS[name]
    ready = PATHS[name].prepare(lines)
    bounds, ends = ready.words.tolist(), ready.documents.tolist()
    for document, line in enumerate(lines):
        if document not in ready.left:
            words = [
                ready.data[bounds[word] : bounds[word + 1]].decode()
                for word in range(ends[document], ends[document + 1])
            ]
            normal = normalizer.normalize_str(line)
            expected = [word for word, _ in pre_tokenizer.pre_tokenize_str(normal) if word] if normal else []
            assert words == expected, (name, ascii(line))
    return len(ready.left)


POINTS = [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0400)]


def check_characters(name: str, points: list[int]) -> None:
    lines = [f"a{chr(point)}e {chr(point)} " for point in points]
    assert left_alone(name, lines) < len(lines) / 2  # those that Unicode versions differ on


@pytest.mark.parametrize("name", CHAINS)
def test_some_characters_between_letters(name: str) -> None:
    check_characters(name, [point for point in POINTS if point < 0x3400 or point % 41 == 0])


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_every_character_between_letters(name: str) -> None:
    check_characters(name, POINTS)


@pytest.mark.parametrize("name", CHAINS)
def test_hard_characters_side_by_side(name: str) -> None:
    left_alone(name, ["".join(two) for two in itertools.product(HARD, repeat=2)])
    left_alone(name, ["".join(three) for three in itertools.product(HARD[::5], HARD, HARD[1::4])])


@pytest.mark.parametrize("name", CHAINS)
@settings(max_examples=150)
@given(lines=st.lists(texts, max_size=8))
def test_any_text(name: str, lines: list[str]) -> None:
    left_alone(name, lines)


def test_what_needs_the_plain_path_is_left_to_it() -> None:
    ready = PATHS["nfc"].prepare(["plain", "e\u0301", "some <unk> here", "fine"])
    assert ready.left == [1, 2]
    for normalizer, pre_tokenizer in (
        (N.Replace(Regex("[aeiou]"), "x"), P.Metaspace()),
        (N.Sequence([MAP, N.NFKC()]), P.Metaspace()),
        (N.Sequence([N.Prepend("▁"), N.Strip()]), P.Metaspace()),
        (N.Sequence([N.Replace(" ", "▁"), RUNS]), P.Metaspace()),
        (N.Sequence([RUNS, BLANKS]), P.Metaspace()),
        (N.Prepend("_"), P.Metaspace()),
        (MAP, P.Whitespace()),
        (MAP, P.Metaspace(replacement="_")),
    ):
        document = Document(model={}, normalizer=config(normalizer), pre_tokenizer=config(pre_tokenizer))
        assert WordPath.of(document, "<unk>", where="test") is None


def test_damaged_maps_are_refused() -> None:
    from tokbench.errors import TokenizerError

    steps = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"\xff\xff\0\0abc").decode()}
    document = Document(model={}, normalizer=steps, pre_tokenizer=config(P.Metaspace()))
    with pytest.raises(TokenizerError, match="damaged"):
        WordPath.of(document, "<unk>", where="test")


def test_marks_that_are_words_of_their_own_have_room():
    assert left_alone("marked", [" ", "", "  ", *[" "] * 50]) == 0


@pytest.mark.parametrize(
    "normalizer",
    [
        N.Sequence([MAP, N.Strip(False, True), RUNS]),
        N.Sequence([N.Replace("``", '"'), N.NFKD(), N.StripAccents(), N.Lowercase(), MAP]),
        N.Sequence([MAP, BLANKS, N.Replace(Regex(" {2,}"), " ")]),
        N.Strip(),
        N.Nmt(),
    ],
)
def test_the_first_word_is_what_the_input_begins_with(normalizer):
    """With ``prepend_scheme="first"`` a text whose first character is taken away has no mark put in front."""
    theirs = Tokenizer(models.Unigram([("<unk>", 0.0), ("▁", -2.0), ("a", -3.0), ("▁a", -2.5)], 0))
    theirs.normalizer, theirs.pre_tokenizer = normalizer, P.Metaspace(prepend_scheme="first")
    ours = JsonUnigramTokenizer.from_dict(json.loads(theirs.to_str()))
    heads = ("", " ", "  ", "\x01", "\u0301", "\u200b", "``", "\n", "\x01 ", "\u0301\u0302")
    lines = [head + rest for head in heads for rest in ("a", "", "中", " a", "\u0301a")]
    for line, ids in zip(lines, ours.encode_batch(lines), strict=True):
        assert ids.tolist() == theirs.encode(line).ids, ascii(line)
