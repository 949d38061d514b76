"""Compiled normalizers do to batches what the plain ones and those of `tokenizers` do to each text."""

from __future__ import annotations

import copy
import json
import random
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
from tokbench_subword.pipeline.normal_form_kernel import normal_form
from tokbench_subword.pipeline.normal_form_runs import LONGEST
from tokbench_subword.pipeline.normal_form_tables import (
    FIRST_SYLLABLE,
    JOINS,
    MOST_PARTS,
    N_SYLLABLES,
    PARTS_SHIFT,
    SPECIAL,
    normal_form_tables,
)
from tokbench_subword.pipeline.normal_forms import Form, normalized
from tokbench_subword.pipeline.normalizers import SELF, text_normalizer_of
from tokbench_subword.pipeline.precompiled import Precompiled, points_of
from tokbench_subword.pipeline.rewriting import Rewriting
from tokbench_subword.pipeline.splicing import BoundWriter, rewritten
from tokbench_subword.sentencepiece.rules import charsmap_of, normalizer_in
from tokenizers import Regex, normalizers

from tokbench.errors import TokenizerError
from tokbench.kernels.pointers import PADDING

from ..strings import hard_strings

N = normalizers
FORMS: tuple[Form, ...] = ("NFC", "NFD", "NFKC", "NFKD")
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

# Starters that compose, marks of many classes, jamo, and what Indic scripts compose.
HARD = (
    "aAeEiI\u017f\u00c5\u212b\u01d5\u1ebf\u1e9b\u00e9\u0301\u0302\u0308\u0304\u0323\u0327\u0331\u0334\u0345\u0300"
    "\u1100\u1112\u1161\u1175\u11a7\u11a8\u11c2\uac00\uac01\ud7a3\u3133\uffa1\uffc2\uff76\uff9e\u304b\u3099"
    "\u0995\u09c7\u09be\u09d7\u09cb\u0b92\u0bd7\u0cc6\u0cc2\u0cd5\u0ccb\u0dd9\u0dca\u0dcf\u0928\u093c\u0958"
    "\u0f71\u0f72\u0f73\u0f80\u0344\u0387\ufb1d\u05b4\U0001d15e\ufdfa\u1025\u102e\u1039\u103a\u07eb\u07f2"
    "\U00011099\U000110ba\U00011131\U00011127\u302e\u1b44\ua953 \u3000"
    "\t\n\x00\x85\u200b\ufeff\u4e2d\ufa10\u0130\u03a3\U0001e900\U00016ea0\ua7dc\u1c89\U00011938\u32ff\ua7f2`  "
)


def batch(texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    encoded = [text.encode() for text in texts]
    data = np.frombuffer(bytearray(b"\xffx" + b"".join(encoded) + b"\xcc" * PADDING), np.uint8)
    offsets = np.cumsum([2, *map(len, encoded)])
    return data[: offsets[-1]], offsets


def texts_of(data: np.ndarray, offsets: np.ndarray) -> list[str]:
    return [data[start:end].tobytes().decode() for start, end in pairwise(offsets)]


@cache
def functions(number: int) -> tuple[Callable[[list[str]], list[str]], Callable[[str], str]]:
    normalizer = compiled_normalizer_of(CONFIGS[number])
    return lambda texts: texts_of(*normalizer.apply(*batch(texts))), text_normalizer_of(CONFIGS[number])


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


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(range(len(FORMS))), st.text(st.sampled_from(HARD), max_size=40))
def test_normal_forms_of_hard_characters(number: int, text: str) -> None:
    compiled, plain = functions(number)
    assert compiled([text, "", text]) == [plain(text), "", plain(text)]
    assert plain(text) == NORMALIZERS[number].normalize_str(text)


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
        assert texts_of(*normalizer.apply(*batch(texts))) == [plain(text) for text in texts]


@pytest.mark.parametrize("form", FORMS)
def test_long_runs_of_marks(form: str) -> None:
    compiled, plain = functions(FORMS.index(form))
    marks = ("\u0301\u0323\u0334" * LONGEST)[: LONGEST + 7]
    long = [
        "e" + marks,
        "ok é e\u0301",
        "e" + marks[:900],
        "\uac00" * 2 * LONGEST,
        "\u09be" * 2 * LONGEST + "\u0344",
    ]
    assert compiled(long) == [plain(text) for text in long]
    assert compiled(["e\u0301", "e" + marks]) == [plain("e\u0301"), plain("e" + marks)]


@pytest.mark.parametrize("form", FORMS)
def test_a_run_of_any_length_is_the_kernels_and_takes_linear_time(form: Form) -> None:
    """Python took a hundred times as long as for ordinary text, for the whole text that has the run."""
    writer = BoundWriter(normal_form, normal_form_tables(form))
    at_random = random.Random(0)
    marks = "\u0301\u0323\u0334\u0327\u0344\u0f73\uff9e\u3099\u09be\u0345"

    def left_to_python(text: str) -> str:
        raise AssertionError(f"left to Python: {text[:8]!r}")

    def seconds(texts: list[str]) -> float:
        data, offsets = batch(texts)
        start = time.process_time()
        found = rewritten((data, offsets), writer, capacity=2 * len(data), plain=left_to_python)
        taken = time.process_time() - start
        assert texts_of(*found) == [normalized(text, form) for text in texts]
        return taken

    runs = [
        "e" + "".join(at_random.choices(marks[: at_random.randint(2, len(marks))], k=length)) + "x"
        for length in (2, 60, 63, 64, 65, 66, 100, LONGEST - 1, LONGEST, LONGEST + 1, 3 * LONGEST)
        for _ in range(3)
    ]
    seconds([*runs, "e\u0301", "".join(runs)])
    long = "e" + "\u0301\u0323" * 400_000
    short = ("e" + "\u0301\u0323" * 8) * 50_000
    assert seconds([long]) < 20 * seconds([short]) + 0.5


@pytest.mark.parametrize("form", FORMS)
def test_what_joins_has_no_more_parts_than_bytes(form: Form) -> None:
    """The room that the kernel has for a run relies on it."""
    _, about, parts, *_ = normal_form_tables(form)
    for point in np.flatnonzero(about & np.uint32(JOINS)).tolist():
        place = int(about[point]) >> PARTS_SHIFT
        assert not place or parts[place] <= len(chr(point).encode())
    assert not (about[FIRST_SYLLABLE : FIRST_SYLLABLE + N_SYLLABLES] & np.uint32(JOINS)).any()
    assert parts.max(initial=0, where=np.isin(np.arange(len(parts)), about >> PARTS_SHIFT)) <= MOST_PARTS


@pytest.mark.parametrize("form", FORMS)
def test_what_begins_anew_has_no_part_that_joins(form: str) -> None:
    """The kernel cuts text before such characters, so nothing they are made of may reach back."""
    _, about, parts, *_ = normal_form_tables(form)
    for point in np.flatnonzero((about & np.uint32(JOINS)) == 0).tolist():
        place = int(about[point]) >> 13
        if place:
            assert not about[parts[place + 1]] & np.uint32(JOINS)
    assert not (about[:0x80] & np.uint32(SPECIAL)).any()


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
        result = normalizer.apply(data, offsets)
        if plain(text) == text:
            assert result[0] is data
            assert result[1] is offsets
        else:
            whole = result[0].base if result[0].base is not None else result[0]
            assert len(whole) >= result[1][-1] + PADDING


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
    assert texts_of(*compiled.apply(*batch(texts))) == [normalizer.normalize_str(text) for text in texts]


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
    assert texts_of(*compiled.apply(*batch(texts))) == expected
    assert [plain(text) for text in texts] == expected


def test_texts_that_change_where_all_of_them_as_one_do_not() -> None:
    normalizer, texts = N.Replace(Regex(r"\Acc\z|\A(?=c\z)"), "c"), ["cc", "c"]
    compiled = compiled_normalizer_of(json.loads(normalizer.__getstate__()))
    assert texts_of(*compiled.apply(*batch(texts))) == [normalizer.normalize_str(text) for text in texts]
    assert texts_of(*compiled.apply(*batch(texts))) == ["c", "cc"]


def test_tables_do_not_travel() -> None:
    with pytest.raises(TypeError):
        copy.deepcopy(compiled_normalizer_of({"type": "Lowercase"}))


def test_rewriting_that_gives_itself_back() -> None:
    there = Rewriting.of({ord("a"): "b", ord("b"): "a"})
    assert not there.then(there).numbers.any()
    around = Rewriting.of({ord("a"): f"<{SELF}>"}).then(Rewriting.of({ord("<"): "[["}))
    assert around.rewritten("a<b") == "[[a>[[b"


def test_unknown_normalizers_are_refused() -> None:
    assert compiled_normalizer_of(None) is None
    with pytest.raises(TokenizerError, match="Unheard"):
        compiled_normalizer_of({"type": "Sequence", "normalizers": [{"type": "Unheard"}]})


PROGRAM = """
import numpy as np
from tokbench_subword.pipeline.compiled_normalizers import compiled_normalizer_of
texts = ["E\\u0301x \\u1100\\u1161\\u11a8 \\u4e2d``", "", " plain ascii text  ", "\\u09a4\\u09be\\u00e9\\u0323"]
encoded = [text.encode() for text in texts]
data = np.frombuffer(bytearray(b"".join(encoded) + bytes(64)), np.uint8)[:-64]
for config in [{"type": kind} for kind in ("NFC", "NFKD", "BertNormalizer", "ByteLevel")] + [
    {"type": "Strip", "strip_left": True, "strip_right": True}, {"type": "Prepend", "prepend": "x"},
    {"type": "Replace", "pattern": {"String": "``"}, "content": "y"},
]:
    out, offsets = compiled_normalizer_of(config).apply(data, np.cumsum([0, *map(len, encoded)]))
    print(ascii(out.tobytes().decode()), offsets.tolist())
"""


def test_plain_python_gives_the_same(compiled_and_plain: Callable[[str], tuple[str, str]]) -> None:
    compiled, plain = compiled_and_plain(PROGRAM)
    assert compiled == plain
    assert compiled.count("\n") == 7


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_accents_that_were_composed_are_not_stripped(form: str) -> None:
    config = {"type": "Sequence", "normalizers": [{"type": form}, {"type": "StripAccents"}]}
    compiled = compiled_normalizer_of(config)
    assert compiled is not None
    data = np.frombuffer(bytearray("e\u0301x\u0301".encode() + bytes(64)), np.uint8)
    result, offsets = compiled.apply(data, np.array([0, 6], np.int64))
    assert result[: offsets[-1]].tobytes().decode() == "\xe9x"


def test_tokenizers_of_one_description_share_their_tables() -> None:
    description = {"type": "Sequence", "normalizers": [{"type": "NFD"}, {"type": "Lowercase"}]}
    assert compiled_normalizer_of(description) is compiled_normalizer_of(dict(description))
