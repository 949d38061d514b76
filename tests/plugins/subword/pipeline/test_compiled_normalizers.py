"""Compiled normalizers do to batches what the plain ones and those of `tokenizers` do to each text."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.normalizers import SELF, text_normalizer_of
from tokbench_subword.pipeline.precompiled import Precompiled, points_of
from tokbench_subword.pipeline.rewriting import Rewriting
from tokbench_subword.pipeline.segments import Segments
from tokbench_subword.sentencepiece.rules import charsmap_of, normalizer_in
from tokenizers import Regex, normalizers

from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import PADDING

from ..strings import hard_strings
from .batches import FORMS, HARD, applied, batch

N = normalizers
NORMALIZERS = [
    *(getattr(N, form)() for form in FORMS),
    N.Lowercase(),
    N.StripAccents(),
    N.Nmt(),
    N.ByteLevel(),
    N.BertNormalizer(),
    N.BertNormalizer(clean_text=False, lowercase=False, strip_accents=True),
    N.BertNormalizer(handle_chinese_chars=False, strip_accents=False),
    N.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False),
    N.Prepend("▁é"),
    N.Strip(),
    N.Strip(left=False),
    N.Strip(right=False),
    N.Replace(" ", "▁"),
    N.Replace("a", ""),
    N.Replace("e", "a rather long text for one letter"),
    N.Replace("  ", "é"),
    N.Replace("``", '"'),
    N.Replace("中文", "中"),
    N.Precompiled(charsmap_of("nmt_nfkc")),
    N.Precompiled(charsmap_of("nfkc_cf")),
    N.Replace(Regex(r"\s+"), " "),
    N.Sequence([N.NFC(), N.Replace(Regex(r"\s+"), " "), N.Lowercase()]),
    N.Sequence([N.NFKD(), N.StripAccents(), N.Lowercase(), N.Replace(" ", "▁")]),
    N.Sequence([N.Lowercase(), N.BertNormalizer(), N.Replace(" ", "▁"), N.Replace("中", "x")]),
    N.Sequence([N.NFKD(), N.StripAccents(), N.Lowercase(), N.Precompiled(charsmap_of("nmt_nfkc"))]),
    N.Sequence([N.Prepend("▁"), N.Replace(" ", "▁"), N.Sequence([N.Strip(), N.NFKC()])]),
]
CONFIGS = [json.loads(one.__getstate__()) for one in NORMALIZERS]
IDS = [json.dumps(config, ensure_ascii=False)[:70] for config in CONFIGS]


@cache
def functions(number: int) -> tuple[Callable[[list[str]], list[str]], Callable[[str], str]]:
    normalizer = compiled_normalizer_of(CONFIGS[number])
    return lambda texts: applied(normalizer, texts), text_normalizer_of(CONFIGS[number])


@cache
def all_code_points() -> list[str]:
    points = [chr(point) for point in range(1, 0x110000) if not 0xD800 <= point < 0xE000]
    # Beside letters and marks, each may be composed or put in order. Empty planes are tried in part.
    used = [one for one in points if ord(one) < 0x32000 or 0xE0000 <= ord(one) < 0xE0200 or ord(one) % 997 == 0]
    some = [
        one for one in used if ord(one) < 0x3400 or 0xA000 <= ord(one) < 0xAC10 or 0xD700 < ord(one) < 0x20000
    ]
    beside = [f"{one}|e{one}\u0334|\u0345{one}\u0327{one}" for one in some]
    return ["".join(those[k : k + 300]) for those in (used, beside) for k in range(0, len(those), 300)]


@pytest.mark.long
@pytest.mark.parametrize("number", range(len(CONFIGS)), ids=IDS)
def test_all_code_points(number: int) -> None:
    compiled, plain = functions(number)
    texts = all_code_points()
    results = compiled(texts)
    for text, result in zip(texts, results, strict=True):
        assert result == NORMALIZERS[number].normalize_str(text)
    every = 40 if "Bert" in IDS[number] or "Regex" in IDS[number] else 7
    for text, result in list(zip(texts, results, strict=True))[number % every :: every]:
        assert result == plain(text)


@pytest.mark.parametrize("number", range(len(CONFIGS)), ids=IDS)
def test_hard_strings(number: int) -> None:
    compiled, plain = functions(number)
    texts = [text.replace("\0", "") for text in hard_strings(400)]
    assert compiled(texts) == [plain(text) for text in texts]
    assert compiled(texts) == [NORMALIZERS[number].normalize_str(text) for text in texts]


TEXTS = st.lists(st.text(st.sampled_from(HARD) | st.characters(exclude_categories=["Cs"])), max_size=6)


@settings(max_examples=300, deadline=None)
@given(st.integers(0, len(CONFIGS) - 1), TEXTS)
def test_as_the_plain_ones(number: int, texts: list[str]) -> None:
    compiled, plain = functions(number)
    assert compiled(texts) == [plain(text) for text in texts]


SIMPLE = st.one_of(
    st.sampled_from(
        [{"type": kind} for kind in (*FORMS, "Lowercase", "StripAccents", "Nmt", "BertNormalizer")]
    ),
    st.builds(lambda head: {"type": "Prepend", "prepend": head}, st.text("▁ aé", max_size=3)),
    st.builds(
        lambda old, new: {"type": "Replace", "pattern": {"String": old}, "content": new},
        st.text("aA \u0301é▁", max_size=3),
        st.text("aA \u0301é▁", max_size=3),
    ),
    st.builds(
        lambda left, right: {"type": "Strip", "strip_left": left, "strip_right": right},
        st.booleans(),
        st.booleans(),
    ),
)


@settings(max_examples=200, deadline=None)
@given(st.lists(SIMPLE, max_size=4), st.lists(st.text("aA  é\u0301\u0323▁\u4e2d\u3000\u302e"), max_size=5))
def test_sequences(steps: list[Mapping[str, Any]], texts: list[str]) -> None:
    config = {"type": "Sequence", "normalizers": steps}
    normalizer, plain = compiled_normalizer_of(config), text_normalizer_of(config)
    assert (normalizer is None) == (plain is None)
    if normalizer is not None and plain is not None:
        assert applied(normalizer, texts) == [plain(text) for text in texts]


@pytest.mark.parametrize("number", range(len(CONFIGS)), ids=IDS)
def test_documents_do_not_meet(number: int) -> None:
    compiled, plain = functions(number)
    texts = ["", "e", "\u0301", "", *"\u1100\u1161\u11a8 ``中文\u302e\u1b44", ""]
    assert compiled(texts) == [plain(text) for text in texts]
    assert compiled([]) == []
    assert compiled([""]) == [""]


@pytest.mark.parametrize("number", range(len(CONFIGS)), ids=IDS)
def test_what_does_not_change_is_not_copied(number: int) -> None:
    normalizer = compiled_normalizer_of(CONFIGS[number])
    plain = functions(number)[1]
    for text in ("x", "\u0440\u09be\u0995\u09be\u0e01", ""):
        data, offsets = batch([text, text])
        given = Segments(data, offsets)
        result = normalizer(given)
        if plain(text) == text:
            assert result is given
        else:
            whole = result.data.base if result.data.base is not None else result.data
            assert len(whole) >= result.offsets[-1] + PADDING


@pytest.mark.long
def test_real_text(test_data: Path) -> None:
    files = [
        *(test_data / "corpora/flores200/dev").iterdir(),
        *(test_data / "corpora/naughty-strings").iterdir(),
    ]
    texts = [line for file in sorted(files) for line in file.read_text(encoding="utf-8").split("\n")[:60]]
    texts += [text[:3000] for text in texts[-3:]]
    for number, normalizer in enumerate(NORMALIZERS):
        result = functions(number)[0](texts)
        assert result == [normalizer.normalize_str(text) for text in texts], IDS[number]


def test_characters_that_join_the_next_one_are_left_to_no_python(monkeypatch: pytest.MonkeyPatch) -> None:
    # such as the sign at the end of each verse of the Koran: a text with one was normalized in Python
    normalizer = N.Precompiled(charsmap_of("nmt_nfkc"))
    compiled = compiled_normalizer_of(json.loads(normalizer.__getstate__()))
    texts = [
        text.replace("*", chr(sign))
        for sign in points_of(r"\p{GCB=Prepend}").tolist()
        for text in (
            "*",
            "*ﬁ",
            "a*e\u0301*ﬁ\u0301",
            "**\u0301\u212b",
            "*\r\n*\u200b*\u3099",
            "ﬁ*\u3000\uff76\uff9e",
        )
    ]
    monkeypatch.setattr(Precompiled, "__call__", lambda *_: pytest.fail("left to Python"))
    assert applied(compiled, texts) == [normalizer.normalize_str(text) for text in texts]


def test_a_recent_mark_behind_a_character_that_joins_the_next_one(tmp_path: Path) -> None:
    # U+1ADE is too recent to join others, for `tokenizers`; but that sign joins whatever follows
    (tmp_path / "rules.tsv").write_text("1ADE\t41\nFB01\t66 69\n")
    (tmp_path / "text.txt").write_text("abc abd abe\n" * 50)
    sentencepiece.SentencePieceTrainer.train(
        input=str(tmp_path / "text.txt"),
        model_prefix=str(tmp_path / "m"),
        vocab_size=12,
        normalization_rule_tsv=str(tmp_path / "rules.tsv"),
        hard_vocab_limit=False,
        minloglevel=2,
    )
    normalizer = N.Precompiled(normalizer_in((tmp_path / "m.model").read_bytes()).charsmap)
    config = json.loads(normalizer.__getstate__())
    compiled, plain = compiled_normalizer_of(config), text_normalizer_of(config)
    texts = ["\u0600\u1ade\u0301", "\u1ade\u0301", "a\u1ade\u0301", "\u0600\ufb01\u0301", "\u0600\u1ade"]
    expected = [normalizer.normalize_str(text) for text in texts]
    assert applied(compiled, texts) == expected
    assert [plain(text) for text in texts] == expected


def test_texts_that_change_where_all_of_them_as_one_do_not() -> None:
    normalizer, texts = N.Replace(Regex(r"\Acc\z|\A(?=c\z)"), "c"), ["cc", "c"]
    compiled = compiled_normalizer_of(json.loads(normalizer.__getstate__()))
    assert applied(compiled, texts) == [normalizer.normalize_str(text) for text in texts]
    assert applied(compiled, texts) == ["c", "cc"]


def test_tables_do_not_travel() -> None:
    with pytest.raises(TypeError):
        copy.deepcopy(compiled_normalizer_of({"type": "Lowercase"}))


def test_rewriting_that_gives_itself_back() -> None:
    there = Rewriting.of({ord("a"): "b", ord("b"): "a"})
    assert not there.then(there).numbers.any()
    around = Rewriting.of({ord("a"): f"<{SELF}>"}).then(Rewriting.of({ord("<"): "[["}))
    assert around.rewritten("a<b") == "[[a>[[b"
    middle = Rewriting.to({"b": range(ord("a"), ord("d"))})  # one run, but that b stays
    assert middle.rewritten("abcd") == "bbbd"
    assert middle.numbers_of(np.array([*b"abc"])).tolist() == [1, 0, 1]


def test_rewriting_of_a_code_point_twice() -> None:
    twice = Rewriting.to({" ": [0x85, 0x20], "": range(0x80, 0xA0), "x": []})
    assert twice.rewritten("a\x85\x86 b") == "a b"


def test_unknown_normalizers_are_refused() -> None:
    assert compiled_normalizer_of(None) is None
    with pytest.raises(TokenizerError, match="Unheard"):
        compiled_normalizer_of({"type": "Sequence", "normalizers": [{"type": "Unheard"}]})


PROGRAM = """
import numpy as np
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.segments import Segments
texts = ["E\\u0301x \\u1100\\u1161\\u11a8 \\u4e2d``", "", " plain ascii text  ", "\\u09a4\\u09be\\u00e9\\u0323"]
encoded = [text.encode() for text in texts]
data = np.frombuffer(bytearray(b"".join(encoded) + bytes(64)), np.uint8)[:-64]
for config in [{"type": kind} for kind in ("NFC", "NFKD", "BertNormalizer", "ByteLevel")] + [
    {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "x"},
    {"type": "Replace", "pattern": {"String": "``"}, "content": "y"},
]:
    found = compiled_normalizer_of(config)(Segments(data, np.cumsum([0, *map(len, encoded)])))
    print(ascii(found.data[: found.offsets[-1]].tobytes().decode()), found.offsets.tolist())
"""


def test_plain_python_gives_the_same(compiled_and_plain: Callable[[str], tuple[str, str]]) -> None:
    compiled, plain = compiled_and_plain(PROGRAM)
    assert compiled == plain
    assert compiled.count("\n") == 7


def test_tokenizers_of_one_description_share_their_tables() -> None:
    description = {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}
    assert compiled_normalizer_of(description) is compiled_normalizer_of(dict(description))
