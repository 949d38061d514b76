"""The kernels between text and words give the words that `tokenizers` gives, or leave the document alone."""

from __future__ import annotations

import base64
import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.files.tokenizer_json import Document
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.unigram.word_path import WordPath
from tokenizers import Regex, Tokenizer, models

from .word_rules import BLANKS, CHAINS, HARD, MAP, RUNS, N, P, config, texts


def path_of(name: str) -> WordPath:
    normalizer, pre_tokenizer = CHAINS[name]
    path = WordPath.of(Document(model={}, normalizer=config(normalizer), pre_tokenizer=config(pre_tokenizer)))
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
                ready.data[bounds[word] : bounds[word + 1]].tobytes().decode()
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


CONJUNCTS = [
    "क",
    "\u0958",
    "ড",
    "\u09dc",
    "\u094d",
    "\u09cd",
    "\u0bcd",
    "\u093e",
    "\u200d",
    "\u200c",
    "\u0314",
    "a",
]


@pytest.mark.parametrize("name", ["t5", "albert", "runs"])
def test_consonants_are_one_cluster_where_a_linker_joins_two_of_them(name: str) -> None:
    """A map drops the accent of ``\u0958\u0314``, which is looked up as a whole: not within a conjunct."""
    lines = ["".join(parts) for parts in itertools.product(CONJUNCTS, repeat=4)]
    assert left_alone(name, lines) < len(lines)
    plain = normalizer_of(config(MAP))
    for line in lines:
        assert plain(Stretch(line)).text == MAP.normalize_str(line), ascii(line)


def test_what_needs_the_plain_path_is_left_to_it() -> None:
    ready = PATHS["nfc"].prepare(["plain", "e\u0301", "fine"])
    assert ready.left == [1]
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
        assert WordPath.of(document) is None


def test_damaged_maps_are_refused() -> None:
    from tokbench.errors import TokenizerError

    steps = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"\xff\xff\0\0abc").decode()}
    document = Document(model={}, normalizer=steps, pre_tokenizer=config(P.Metaspace()))
    with pytest.raises(TokenizerError, match="damaged"):
        WordPath.of(document)


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
