"""Normalizers, pre-tokenizers and decoders do what those of `tokenizers` do, on hard strings."""

from __future__ import annotations

import json
import random

import pytest
from tokbench_subword.files.tokenizer_json import document_of, read_document
from tokbench_subword.pipeline.decoders import decoder_of
from tokbench_subword.pipeline.normal_forms import normalized
from tokbench_subword.pipeline.normalizers import normalizer_of, text_normalizer_of
from tokbench_subword.pipeline.patterns.regexes import compile_regex
from tokbench_subword.pipeline.pre_tokenizers import pre_tokenizer_of
from tokbench_subword.pipeline.stretch import Stretch
from tokbench_subword.sentencepiece.rules import charsmap_of
from tokenizers import PreTokenizedString, Regex, decoders, normalizers, pre_tokenizers

from tokbench.errors import TokenizerError

from ..strings import hard_strings

STRINGS = [text.replace("\x00", "") for text in hard_strings(300)]

NORMALIZERS = [
    normalizers.NFC(),
    normalizers.NFD(),
    normalizers.NFKC(),
    normalizers.NFKD(),
    normalizers.Lowercase(),
    normalizers.StripAccents(),
    normalizers.Strip(),
    normalizers.Prepend("x"),
    normalizers.Replace(" ", "▁"),
    normalizers.Replace("", "+"),
    normalizers.Replace(Regex(r"\p{L}+"), "yy"),
    *(
        normalizers.Replace(Regex(pattern), content)
        for pattern in ("^", "$", r"\b", r"\s*", "(?=a)", r"(?<=\d)(?=\D)|x?")
        for content in ("#", "")
    ),
    normalizers.Nmt(),
    normalizers.BertNormalizer(),
    normalizers.BertNormalizer(lowercase=False, strip_accents=True, handle_chinese_chars=False),
    normalizers.Precompiled(charsmap_of("nmt_nfkc")),
    normalizers.Precompiled(charsmap_of("nfkc_cf")),
    normalizers.Sequence([normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]),
]
P = pre_tokenizers
PRE_TOKENIZERS = [
    P.Digits(True),
    P.Digits(False),
    P.Whitespace(),
    P.WhitespaceSplit(),
    P.Punctuation(),
    P.Punctuation("merged_with_previous"),
    P.BertPreTokenizer(),
    P.CharDelimiterSplit("e"),
    P.Metaspace(),
    P.Metaspace(prepend_scheme="first"),
    P.Metaspace(prepend_scheme="never", split=False),
    P.UnicodeScripts(),
    P.FixedLength(length=3),
    P.FixedLength(length=2**60),
    *(
        P.Split(Regex(r"\s?\p{L}+"), behavior, invert)
        for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous")
        for invert in (False, True)
    ),
    *(
        P.Split(Regex(pattern), behavior, invert)
        for pattern in (r"(?=(\d{3})+(?!\d))", r"(?=\p{Lu})|\s", r"\b", "^", r"\p{M}*|.")
        for behavior in ("isolated", "removed", "merged_with_previous", "merged_with_next", "contiguous")
        for invert in (False, True)
    ),
    P.Sequence(
        [
            P.Split(Regex("[\r\n]"), "isolated"),
            P.Split(Regex("\\s?[A-Za-zµÀ-ÖØ-öø-ƺʕ-ʯ]+"), "isolated"),
            P.Split(Regex(r"\s+$"), "isolated"),
            P.Digits(True),
        ]
    ),
]
D = decoders
DECODERS = [
    D.ByteFallback(),
    D.Fuse(),
    D.Strip(" ", 1, 2),
    D.BPEDecoder(),
    D.Metaspace(),
    D.Metaspace(prepend_scheme="never"),
    D.Replace("▁", " "),
    D.ByteLevel(),
    D.WordPiece(),
    D.WordPiece(prefix="▁", cleanup=False),
    D.CTC(),
    D.CTC(pad_token="a", word_delimiter_token="", cleanup=True),
    D.CTC(pad_token="", word_delimiter_token="e", cleanup=False),
    D.Replace("", "+"),
    D.Replace(Regex("$"), "+"),
    D.Sequence([D.BPEDecoder(), D.Strip("b", 1, 0), D.Replace(Regex("$|x"), "+")]),
    D.Sequence([D.WordPiece(), D.Metaspace()]),
    D.Sequence([D.Replace("▁", " "), D.ByteFallback(), D.Fuse(), D.Strip(" ", 1, 0)]),
]


def _config(component):
    return json.loads(component.__getstate__())


def _name(component):
    return json.dumps(_config(component), ensure_ascii=True)[:60]


@pytest.mark.long
@pytest.mark.parametrize(
    "theirs", [one for one in NORMALIZERS if not isinstance(one, normalizers.Replace)], ids=_name
)
def test_normalizers_on_every_character(theirs):
    """Each between letters, so that what it does to its neighbours shows."""
    ours = text_normalizer_of(_config(theirs))
    points = [*range(1, 0xD800), *range(0xE000, 0x20000), *range(0x2F800, 0x2FA20), *range(0xE0000, 0xE0200)]
    for start in range(0, len(points), 512):
        text = "".join(f"\na{chr(point)}eÀ{chr(point)}" for point in points[start : start + 512])
        assert ours(text) == theirs.normalize_str(text), hex(points[start])


@pytest.mark.parametrize("theirs", NORMALIZERS, ids=_name)
def test_normalizers(theirs):
    ours, plain = normalizer_of(_config(theirs)), text_normalizer_of(_config(theirs))
    for text in STRINGS:
        want = theirs.normalize_str(text)
        tracked = ours(Stretch.of(text, track=True))
        assert (plain(text), tracked.text) == (want, want), ascii(text)
        assert len(tracked.origin) == len(want)
        assert all(0 <= start <= end <= len(text) for start, end in tracked.origin)


_BASES = "aeu中ﬁ가ǖậ\u0344\u0f73\u0958\u1112ﷺÅ \x01\u200b\u2126ⅷ\U0001d15e\U0001d1bb\ufb1f\u0b95"
_MARKS = "\u0300\u0301\u0308\u0316\u0323\u0327\u0338\u0345\u302e\u05b0\u0f71\u0f74\u094d\u093c\u1161\u11a8"
_MARKS += "\U0001d165\u1ab0\u08ca"


def _combined(count):
    chosen = random.Random(7)
    kinds = (_BASES, _MARKS)
    return [
        "".join(chosen.choice(chosen.choice(kinds)) for _ in range(chosen.randrange(1, 7)))
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "theirs",
    [
        *NORMALIZERS,
        *(
            normalizers.Sequence([normalizers.Prepend("ab"), one])
            for one in (normalizers.NFC(), normalizers.NFKD(), normalizers.Precompiled(charsmap_of("nmt_nfkc")))
        ),
        normalizers.Sequence([normalizers.NFD(), normalizers.Replace(Regex("."), "xy"), normalizers.Strip()]),
        normalizers.Sequence([normalizers.Prepend("éa"), normalizers.Replace("aa", "b"), normalizers.NFD()]),
        normalizers.Sequence([normalizers.Strip(), normalizers.Replace(Regex("^"), "#")]),
        normalizers.Sequence([normalizers.Strip(), normalizers.Prepend("#"), normalizers.ByteLevel()]),
    ],
    ids=_name,
)
def test_what_stands_where_the_input_begins(theirs):
    """What Metaspace's ``first`` asks of a piece, for each character: where `tokenizers` says it comes from."""
    ours = normalizer_of(_config(theirs))
    for text in [*STRINGS[::3], *_combined(400)]:
        theirs.normalize_str(text)  # a panic in the next lines would end the process
        whole = PreTokenizedString(text)
        whole.normalize(theirs.normalize)
        whole.split(lambda _, part: part.split(Regex(r"[\s\S]"), "isolated"))
        starts = [start for _, (start, _), _ in whole.get_splits("original", "char")]
        for track in (False, True):
            found = ours(Stretch.of(text, track=track))
            pieces = [found.part(place, place + 1).first for place in range(len(found.text))]
            assert pieces == [start == 0 for start in starts], ascii(text)


def test_nothing_that_was_cut_from_elsewhere_is_first():
    prepend = normalizer_of({"type": "Prepend", "prepend": "x"})
    assert prepend(Stretch.of("ab")).part(1, 3).first
    assert not prepend(Stretch.of("ab")).part(2, 3).first
    assert not prepend(Stretch.of("ab", start=3)).first
    front = normalizer_of({"type": "Replace", "pattern": {"Regex": "^"}, "content": "x"})
    assert front(Stretch.of("ab")).first
    assert not front(Stretch.of("ab", start=3)).first


@pytest.mark.parametrize("theirs", PRE_TOKENIZERS, ids=_name)
def test_pre_tokenizers(theirs):
    ours = pre_tokenizer_of(_config(theirs))
    for text in STRINGS:
        want = theirs.pre_tokenize_str(text)
        assert [piece.text for piece in ours(Stretch(text))] == [piece for piece, _ in want], ascii(text)


@pytest.mark.parametrize("theirs", DECODERS, ids=_name)
def test_decoders(theirs):
    ours, chosen = decoder_of(_config(theirs)), random.Random(3)
    tokens = ["▁", "▁▁a", "b", "<0xE4>", "<0xB8>", "<0x80>", "<0xFF>", "##s", "n't", "</w>", "lo</w>"]
    tokens += ["Ġw", "ä½", " x", " y "]
    for _ in range(300):
        some = [chosen.choice(tokens) for _ in range(chosen.randrange(1, 8))]
        assert "".join(ours(some)) == theirs.decode(some), some


@pytest.mark.parametrize("pattern", [r"(a)\1", r"\R", r"[[:nothing:]]", r"(?<x>a)\1", "a)", "[a", "(?m:.)"])
def test_patterns_that_cannot_be_translated_are_refused(pattern):
    with pytest.raises(TokenizerError, match="pattern"):
        compile_regex(pattern, "oniguruma")


@pytest.mark.parametrize("make", [normalizer_of, pre_tokenizer_of, decoder_of])
def test_an_unknown_component_is_named(make):
    with pytest.raises(TokenizerError, match="'Sorcery' is not known"):
        make({"type": "Sequence", "normalizers": [], "pretokenizers": [], "decoders": []} | {"type": "Sorcery"})


def test_broken_documents_say_what_is_wrong(tmp_path):
    broken = tmp_path / "tokenizer.json"
    broken.write_text('{"model": {"vocab": {"a": 0,')
    with pytest.raises(TokenizerError, match="line 1, column 29: not JSON"):
        read_document(broken)
    broken.write_bytes(b'{"model": "\xff"}')
    with pytest.raises(TokenizerError, match="not UTF-8 at byte 11"):
        read_document(broken)
    with pytest.raises(TokenizerError, match='no "model"'):
        document_of({"vocab": {}}, where="x")
    added = [{"content": "a", "id": 1}, {"content": "b", "id": 1}]
    with pytest.raises(TokenizerError, match="share the id 1"):
        document_of({"model": {}, "added_tokens": added}, where="x")


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_what_has_come_since_unicode_9_stands_for_itself(form):
    """Parts that compose now, marks between marks, and what Python takes apart."""
    theirs = getattr(normalizers, form)()
    for later in ("\U00011935\U00011930", "\u08ca", "\u32ff", "\U00010781", "\U00011938", "\ua7f2"):
        text = f"e\u0301{later}\u0301\u0323{later}a\u030a"
        assert normalized(text, form) == theirs.normalize_str(text), ascii(text)
