"""Text prepared with account of where it comes from: `tokenizers`' words, the plain form's places."""

from __future__ import annotations

import base64
import itertools
import json
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.added_tokens import AddedToken
from tokbench_subword.pipeline.document import TokenizerJson
from tokbench_subword.pipeline.leading import Leading
from tokbench_subword.pipeline.normalizers import normalizer_of
from tokbench_subword.pipeline.origins import located
from tokbench_subword.pipeline.preparation import Preparation
from tokbench_subword.pipeline.segments import TEXT
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokenizers import Regex, Tokenizer, models

from ..word_rules import BLANKS, CHAINS, HARD, MAP, RUNS, N, P, config, texts


@cache
def preparation(name: str) -> Preparation:
    """That of a chain."""
    return preparation_of(*CHAINS[name])


def preparation_of(normalizer: Any, pre_tokenizer: Any) -> Preparation:
    document = TokenizerJson(model={}, normalizer=config(normalizer), pre_tokenizer=config(pre_tokenizer))
    return Preparation(document=document)


def left_alone(name: str, lines: list[str], *, placed: bool = True) -> int:
    """How many documents are left to the plain form; the words of all others must be those of `tokenizers`, and
    `placed` where the plain form says.
    """
    (normalizer, pre_tokenizer), prepared = CHAINS[name], preparation(name)
    leading = any(isinstance(stage, Leading) for stage in prepared.compiled.stages)
    found = located(prepared.compiled, lines)
    pieces, before = found.pieces(prepared.compiled.cutters)
    ends = before[found.limits]
    data, left = found.data.tobytes(), set(found.left)
    offsets, each = found.offsets, np.arange(found.offsets[-1])
    sizes = dict(zip(lines, np.diff(offsets[found.limits]).tolist(), strict=True))
    anywhere = found.spans(np.stack([each, each + 1], axis=1), offsets, lambda line: np.zeros((sizes[line], 2)))
    origins = anywhere[0].astype(np.int64).tolist()
    for document, line in enumerate(lines):
        if document in left:
            continue
        places = [
            place for place in pieces[ends[document] : ends[document + 1]].tolist() if place[0] < place[1]
        ]
        words = [data[begin:end].decode() for begin, end in places]
        normal = normalizer.normalize_str(line)
        expected = [word for word, _ in pre_tokenizer.pre_tokenize_str(normal) if word] if normal else []
        # in a pipeline, a text whose first character was taken away does not begin where the input does
        assert words == expected or leading, (name, ascii(line))
        if placed:
            spans = [tuple(origins[k]) for place in places for k in range(*place)]
            parts = prepared.parts(line, track=True)
            plain = [word for part in parts for word in prepared.pre_tokenizer(part.stretch) if word.text]
            assert words == [word.text for word in plain], (name, ascii(line))
            told = [
                span
                for word in plain
                for character, span in zip(word.text, word.origin or (), strict=True)
                for _ in character.encode()
            ]
            assert spans == told, (name, ascii(line))
    return len(left)


POINTS = [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0400)]


def check_characters(name: str, points: list[int]) -> None:
    lines = [f"a{chr(point)}e {chr(point)} " for point in points]
    left_alone(name, lines[::97])
    assert left_alone(name, lines, placed=False) < len(lines) / 2  # those that Unicode versions differ on


@pytest.mark.parametrize("name", CHAINS)
def test_some_characters_between_letters(name: str) -> None:
    """Those that most is done to, a third of them for each chain, and few of the others."""
    some = [point for point in POINTS if point < 0x3400 or point % 41 == 0]
    check_characters(name, some[[*CHAINS].index(name) % 3 :: 3])


@pytest.mark.slow
@pytest.mark.parametrize("name", CHAINS)
def test_every_character_between_letters(name: str) -> None:
    check_characters(name, POINTS)


@pytest.mark.long
@pytest.mark.parametrize("name", CHAINS)
def test_hard_characters_side_by_side(name: str) -> None:
    left_alone(name, ["".join(two) for two in itertools.product(HARD, repeat=2)])
    left_alone(name, ["".join(three) for three in itertools.product(HARD[::5], HARD, HARD[1::4])], placed=False)


@pytest.mark.parametrize("name", CHAINS)
@settings(max_examples=20)
@given(lines=st.lists(texts, max_size=8))
@example(lines=["\U0001e000\u0323", "\u0301\u1df9"])  # one of two marks that are put in order is dropped
def test_any_text(name: str, lines: list[str]) -> None:
    left_alone(name, lines)


CONJUNCTS = "क\u0958ড\u09dc\u094d\u09cd\u0bcd\u093e\u200d\u200c\u0314a"


@pytest.mark.parametrize("name", ["t5", "albert", "runs"])
def test_consonants_are_one_cluster_where_a_linker_joins_two_of_them(name: str) -> None:
    """A map drops the accent of ``\u0958\u0314``, which is looked up as a whole: not within a conjunct."""
    lines = ["".join(parts) for parts in itertools.product(CONJUNCTS, repeat=4)][::5]
    assert left_alone(name, lines, placed=False) < len(lines)
    plain = normalizer_of(config(MAP))
    for line in lines:
        assert plain(Stretch(line)).text == MAP.normalize_str(line), ascii(line)


def test_added_tokens_are_led_back_to_where_they_were_found() -> None:
    tokens = AddedToken("<m>", 0, lstrip=True, normalized=False), AddedToken("AB", 1), AddedToken("--", 2)
    normalizer = config(N.Sequence([N.Replace("b", "ab"), N.Lowercase()]))
    document = TokenizerJson(model={}, added_tokens=tokens, normalizer=normalizer, pre_tokenizer=None)
    found = located(Preparation(document=document).compiled, ["x", "cb  <m>--b<m>"])
    assert found.left == []
    assert found.marks is not None
    assert found.marks[found.marks != TEXT].tolist() == [1, 0, 2, 1, 0]
    letters = np.array([[0, 1], [1, 2]])  # a token for each that is left
    spans, limits = found.spans(letters, found.offsets, np.array)
    assert limits.tolist() == [0, 1, 7]
    assert spans.tolist() == [[0, 1], [0, 1], [1, 2], [2, 7], [7, 9], [9, 10], [10, 13]]


def test_what_needs_the_plain_form_is_left_to_it() -> None:
    no_automaton = preparation_of(N.Replace(Regex("(?<=ab+)c"), "x"), P.Metaspace())
    found = located(no_automaton.compiled, ["abc", "", "d"])
    assert found.left == [0, 1, 2]
    places, before = np.zeros((0, 2), np.int64), np.zeros(4, np.int64)
    spans, limits = found.spans(places, before, lambda text: [(0, len(text))])
    assert (spans.tolist(), limits.tolist()) == ([[0, 3], [0, 0], [0, 1]], [0, 1, 2, 3])


MARKS = "\u05b4\u05bc\u05c1\u0301\u0323\u064e\u0651"  # Hebrew points, accents, Arabic vowels


@pytest.mark.parametrize("name", ["nfc", "nfkc", "nfd", "letters"])
def test_marks_that_are_put_in_order_or_taken_apart_need_no_plain_form(name: str) -> None:
    runs = [*itertools.permutations(MARKS[:4]), *itertools.product(MARKS, repeat=3), MARKS[::-1] * 300]
    letters = "\u05e9", "\ufb2a", "\u0958", "e\u0301", "\u09df\u09be", "ầ", "각\u11a8"
    lines = [f"x{letter}{''.join(run)}x {''.join(run)}" for run in runs for letter in letters]
    assert left_alone(name, lines) == 0


@pytest.mark.parametrize(
    ("text", "spans"),
    [
        ("xe\u0301", [(0, 1), (1, 3)]),
        ("e\u0301\u0301", [(0, 2), (2, 3)]),
        ("\u05e9\u05bc\u05b4", [(0, 1), (1, 3), (1, 3)]),
        ("\ufb2a\u05b4x", [(0, 1), (0, 2), (0, 2), (2, 3)]),
        ("\u09df\u09be", [(0, 1), (0, 1), (1, 2)]),
    ],
)
def test_what_became_of_one_character_has_its_span_and_of_several_that_of_all(text: str, spans: Any) -> None:
    stretch = normalizer_of({"type": "NFC"})(Stretch(text, [(i, i + 1) for i in range(len(text))]))
    assert stretch.origin == spans


def test_damaged_maps_are_refused() -> None:
    from tokbench.errors import TokenizerError

    steps = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(b"\xff\xff\0\0abc").decode()}
    document = TokenizerJson(model={}, normalizer=steps, pre_tokenizer=config(P.Metaspace()))
    with pytest.raises(TokenizerError, match="damaged"):
        _ = Preparation(document=document).compiled


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
