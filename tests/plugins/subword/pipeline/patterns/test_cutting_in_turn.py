"""Pre-tokenizers, one or several after another: cut as their plain forms and the library cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.compiled_pre_tokenizers import cuts_of
from tokbench_subword.pipeline.patterns import NAMED
from tokbench_subword.pipeline.patterns.cutters import MachineCutter, cutter_of, joined_cutters
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch

from tests.plugins.subword.pipeline.patterns.examples import BEHAVIORS, PATTERNS, TEXTS, cut
from tokbench.kernels.lanes import LANES


def _marked(mark: str) -> dict[str, object]:
    return {"type": "Metaspace", "replacement": mark, "prepend_scheme": "always", "split": True}


def _split(expression: str) -> dict[str, object]:
    return {"type": "Split", "pattern": {"Regex": expression}, "behavior": "Isolated", "invert": False}


_DIGITS_AND_IDEOGRAPHS = [_split(r"\p{N}{1,3}"), _split("[一-龥぀-ゟ゠-ヿ]+")]
STEPS = {
    "ByteLevel": [{"type": "ByteLevel", "add_prefix_space": False, "use_regex": True}],
    "Whitespace": [{"type": "Whitespace"}],
    "WhitespaceSplit": [{"type": "WhitespaceSplit"}],
    "Bert": [{"type": "BertPreTokenizer"}],
    "Punctuation": [{"type": "Punctuation", "behavior": "MergedWithPrevious"}],
    "Digits": [{"type": "Digits", "individual_digits": False}],
    "each digit": [{"type": "Digits", "individual_digits": True}],
    "scripts": [{"type": "UnicodeScripts"}],
    "delimiter": [{"type": "CharDelimiterSplit", "delimiter": "-"}],
    "string": [{"type": "Split", "pattern": {"String": ". "}, "behavior": "MergedWithNext", "invert": False}],
    "three splits": [*_DIGITS_AND_IDEOGRAPHS, _split(NAMED["gpt2"])],
    "three splits, the last told late": [*_DIGITS_AND_IDEOGRAPHS, _split(PATTERNS["punctuation first"][0])],
    "words and digits": [{"type": "WhitespaceSplit"}, {"type": "Punctuation"}, {"type": "Digits"}],
    "marked words": [{"type": "WhitespaceSplit"}, _marked("▁")],
    "marked pieces, some with spaces": [{"type": "Punctuation"}, _marked("a")],
    "marked by what is cut away": [{"type": "CharDelimiterSplit", "delimiter": "-"}, _marked("-")],
    "marked twice": [
        {"type": "Digits", "individual_digits": True},
        _marked("."),
        {"type": "Punctuation"},
        _marked("b"),
    ],
}


@pytest.mark.parametrize("name", STEPS)
@settings(max_examples=80, deadline=None)
@given(texts=st.lists(TEXTS, max_size=4))
def test_cut_as_the_plain_pre_tokenizers_cut(name: str, texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    plain = pre_tokenizer_of({"type": "Sequence", "pretokenizers": STEPS[name]})
    changes, cutters = cuts_of(STEPS[name])
    assert cut(cutters, texts, changes) == [
        [piece.text.encode() for piece in plain(Stretch(text))] for text in texts
    ]


@pytest.mark.long
@settings(max_examples=300, deadline=None)
@given(
    splits=st.lists(
        st.tuples(st.sampled_from(list(PATTERNS.values())), st.sampled_from(BEHAVIORS), st.booleans()),
        min_size=2,
        max_size=3,
    ),
    texts=st.lists(TEXTS, max_size=4),
)
def test_few_cutters_cut_as_many(splits: list[tuple[tuple[str, str], str, bool]], texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]
    many = [cutter_of(*pattern, behavior, invert) for pattern, behavior, invert in splits]
    assert cut(joined_cutters(many), texts) == cut(many, texts)


@pytest.mark.parametrize("name", ["three splits", "three splits, the last told late", "words and digits"])
def test_published_pre_tokenizers_that_follow_one_another_are_one_machine(name: str) -> None:
    _, (cutter,) = cuts_of(STEPS[name])
    assert isinstance(cutter, MachineCutter)
    assert len(cutter.machine) <= LANES


@pytest.mark.long
@pytest.mark.parametrize("kind", ["Digits", "Punctuation", "Whitespace", "BertPreTokenizer", "UnicodeScripts"])
def test_every_character_is_of_the_class_that_the_library_has_it_in(kind: str) -> None:
    from tokenizers import pre_tokenizers

    for first in range(0, 0x110000, 0x400):
        text = "".join(
            f"a{chr(point)}" for point in range(first, first + 0x400) if not 0xD800 <= point < 0xE000
        )
        pieces = getattr(pre_tokenizers, kind)().pre_tokenize_str(text)
        [found] = cut(cuts_of([{"type": kind}])[1], [text])
        assert [piece.decode() for piece in found] == [piece for piece, _ in pieces], hex(first)
