"""`tokenizer.json` of many makes: trained here by `tokenizers`, opened in-house, ids equal; and back again."""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest
from tokbench_subword.bpe.encoder import BpeEncoder
from tokbench_subword.bpe.model import BpeModel
from tokbench_subword.bpe.offsets import BpeOffsets
from tokbench_subword.bpe.preparation import BpePreparation
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.files.tokenizer_json import read_document
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, trainers
from tokenizers import pre_tokenizers as P

from tests.plugins.subword.strings import hard_strings
from tokbench import TokenBatch
from tokbench.errors import TokenizerError
from tokbench.kernels.utf8 import repaired

TEXTS = [
    "It's a long way to the hat, he said; 12345 or 99 times.  They'll go.",
    "Der naïve Bär läuft über die Straße – und zurück.",
    "नमस्ते दुनिया, यह एक परीक्षण है। مرحبا بالعالم",
    "これはテストです。今天天气很好，我们去公园。",
    "def f(x):\n    return x  # comment\n\n\tif x == 10:\n",
] * 30
ALPHABET = P.ByteLevel.alphabet()
PLAIN_BYTES = P.ByteLevel(add_prefix_space=False, use_regex=False)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CLIP = r"<\|endoftext\|>|'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
FALLBACK = [f"<0x{byte:02X}>" for byte in range(256)]


def _trained(model, pre_tokenizer, *, normalizer=None, decoder=None, added=(), **options):
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = decoder or decoders.ByteLevel()
    options = {"vocab_size": 700, "show_progress": False, **options}
    tokenizer.train_from_iterator(TEXTS, trainers.BpeTrainer(**options))
    for token in added:
        (tokenizer.add_special_tokens if token.special else tokenizer.add_tokens)([token])
    return tokenizer


MAKES = {
    "llama3": lambda: _trained(
        models.BPE(ignore_merges=True),
        P.Sequence([P.Split(Regex(LLAMA3), "isolated"), PLAIN_BYTES]),
        initial_alphabet=ALPHABET,
        special_tokens=["<|begin_of_text|>"],
    ),
    "deepseek": lambda: _trained(
        models.BPE(),
        P.Sequence(
            [
                P.Split(Regex("[\r\n]"), "isolated"),
                P.Split(Regex("\\s?[A-Za-zµÀ-ÖØ-öø-ƺʕ-ʯ]+"), "isolated"),
                P.Split(Regex("\\s?[!-/:-~！-／：-～‘-‟　-。]+"), "isolated"),
                P.Split(Regex(r"\s+$"), "isolated"),
                P.Split(Regex("[一-龥ࠀ-一가-퟿]+"), "isolated"),
                P.Digits(True),
                PLAIN_BYTES,
            ]
        ),
        initial_alphabet=ALPHABET,
    ),
    "neox": lambda: _trained(
        models.BPE(),
        P.ByteLevel(add_prefix_space=False),
        normalizer=normalizers.NFC(),
        initial_alphabet=ALPHABET,
        added=[AddedToken("    "), AddedToken("  "), AddedToken("<tab>")],
    ),
    "roberta": lambda: _trained(
        models.BPE(),
        P.ByteLevel(add_prefix_space=True),
        initial_alphabet=ALPHABET,
        added=[AddedToken("<mask>", lstrip=True, special=True, normalized=False)],
    ),
    "starcoder": lambda: _trained(
        models.BPE(),
        P.Sequence([P.Digits(True), P.ByteLevel(add_prefix_space=False)]),
        initial_alphabet=ALPHABET,
    ),
    "bloom": lambda: _trained(
        models.BPE(),
        P.Sequence([P.Split(Regex(r" ?[^(\s|[.,!?…。，、।۔،])]+"), "isolated"), PLAIN_BYTES]),
        initial_alphabet=ALPHABET,
    ),
    "falcon": lambda: _trained(
        models.BPE(),
        P.Sequence(
            [
                P.Punctuation("contiguous"),
                P.ByteLevel(add_prefix_space=False),
                P.Digits(False),
                P.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
            ]
        ),
        initial_alphabet=ALPHABET,
        added=[AddedToken(">>TITLE<<", special=True, normalized=False)],
    ),
    "few bytes, unknown": lambda: _trained(
        models.BPE(unk_token="[UNK]"), P.ByteLevel(add_prefix_space=False), special_tokens=["[UNK]"]
    ),
    "few bytes, dropped": lambda: _trained(models.BPE(), P.ByteLevel(add_prefix_space=False)),
    "metaspace": lambda: _trained(
        models.BPE(unk_token="<unk>", fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Metaspace(),
        special_tokens=["<unk>"],
    ),
    "metaspace first": lambda: _trained(
        models.BPE(unk_token="<unk>"),
        P.Metaspace(prepend_scheme="first", split=False),
        decoder=decoders.Metaspace(),
        special_tokens=["<unk>"],
        added=[AddedToken("the"), AddedToken("ab")],
    ),
    "llama2": lambda: _trained(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Sequence(
            [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)]
        ),
        special_tokens=["<unk>", *FALLBACK],
    ),
    "half a fallback": lambda: _trained(
        models.BPE(unk_token="<unk>", byte_fallback=True, fuse_unk=True),
        P.Metaspace(),
        decoder=decoders.Fuse(),
        special_tokens=["<unk>", *(text for text in FALLBACK if text not in ("<0x9F>", "<0xE4>"))],
    ),
    "clip": lambda: _trained(
        models.BPE(unk_token="<|endoftext|>", end_of_word_suffix="</w>"),
        P.Sequence([P.Split(Regex(CLIP), "removed", invert=True), PLAIN_BYTES]),
        normalizer=normalizers.Sequence(
            [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()]
        ),
        end_of_word_suffix="</w>",
        initial_alphabet=ALPHABET,
        special_tokens=["<|endoftext|>"],
    ),
    "sennrich": lambda: _trained(
        models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
        P.WhitespaceSplit(),
        decoder=decoders.BPEDecoder(),
        end_of_word_suffix="</w>",
        special_tokens=["<unk>"],
    ),
    "prefix": lambda: _trained(
        models.BPE(unk_token="<unk>", continuing_subword_prefix="##"),
        P.Whitespace(),
        decoder=decoders.Fuse(),
        continuing_subword_prefix="##",
        special_tokens=["<unk>"],
    ),
    "bert's pre-tokenizer": lambda: _trained(
        models.BPE(unk_token="<unk>"),
        P.BertPreTokenizer(),
        normalizer=normalizers.Sequence(
            [normalizers.NFD(), normalizers.StripAccents(), normalizers.Lowercase()]
        ),
        decoder=decoders.Fuse(),
        special_tokens=["<unk>"],
    ),
    "characters dropped": lambda: _trained(models.BPE(), P.Whitespace(), decoder=decoders.Fuse()),
}

HARD = hard_strings(700, seed=21)
INPUTS = [
    *TEXTS[:5],
    *(text.replace("\x00", "") for text in HARD),
    *("a <mask>b <mask>", "  a    b  ", "aa the ab", "", "a" * 300, "中" * 200, " ", "e\u0301x"),
]


@cache
def _made(make):
    """The `tokenizer.json` of a make, which is trained once."""
    return MAKES[make]().to_str(pretty=True)


def _theirs_and_its_file(make, folder):
    path = folder / "tokenizer.json"
    path.write_text(_made(make), encoding="utf-8")
    return Tokenizer.from_str(_made(make)), path


@pytest.mark.parametrize("make", MAKES, ids=str)
def test_ids_text_and_saved_form_are_those_of_tokenizers(make, tmp_path):
    theirs, path = _theirs_and_its_file(make, tmp_path)
    again = tmp_path / "again.json"
    theirs.encode_special_tokens = True
    ours = BpeTokenizer.from_file(path)
    ours.save(again)
    reopened = Tokenizer.from_file(str(again))
    reopened.encode_special_tokens = True
    for text, ids in zip(INPUTS, ours.encode_batch(INPUTS), strict=True):
        want = theirs.encode(text, add_special_tokens=False).ids
        assert ids.tolist() == want, ascii(text)
        assert ours.decode(ids) == theirs.decode(want, skip_special_tokens=False), ascii(text)
        assert ours.sample(text, None, 0.0) == want, ascii(text)
        assert reopened.encode(text, add_special_tokens=False).ids == want, ascii(text)
    assert ours.vocab_size == theirs.get_vocab_size()


@pytest.mark.long
@pytest.mark.parametrize("make", MAKES, ids=str)
def test_spans_of_many_texts_are_those_of_the_general_path(make, tmp_path):
    _, path = _theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)
    general = BpeOffsets(ours.model, BpePreparation.of(read_document(path)), BpeEncoder(ours.model))
    spans, limits = ours.offsets_batch(INPUTS)
    assert limits.tolist() == ours.encode_batch(INPUTS).offsets.tolist()
    for index, text in enumerate(INPUTS):
        found = spans[limits[index] : limits[index + 1]].tolist()
        assert found == general.of(repaired(text)).tolist() == ours.offsets(text).tolist(), ascii(text)


@pytest.mark.parametrize("make", MAKES, ids=str)
def test_any_ids_are_decoded_as_by_tokenizers(make, tmp_path):
    """Bytes that are no UTF-8 among them, spaces at the beginning, and nothing at all."""
    theirs, path = _theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)
    chosen = np.random.default_rng(5)
    many = [chosen.integers(0, min(ours.vocab_size, most), 6).tolist() for most in (20, 300, 10_000) * 60]
    many += [[], *([index] for index in range(0, ours.vocab_size, 7))]
    expected = [theirs.decode(ids, skip_special_tokens=False) for ids in many]
    assert [ours.decode(ids) for ids in many] == expected
    assert ours.decode_batch(TokenBatch.of(many)) == expected


def test_special_tokens_are_matched_only_when_asked(tmp_path):
    theirs, path = _theirs_and_its_file("llama3", tmp_path)
    text = "<|begin_of_text|>hat"
    ordinary, special = BpeTokenizer.from_file(path), BpeTokenizer.from_file(path, match_special=True)
    assert special.encode(text).tolist() == theirs.encode(text, add_special_tokens=False).ids
    assert ordinary.encode(text)[0] != special.encode(text)[0]
    assert ordinary.decode(ordinary.encode(text)) == text


CTC = {"type": "CTC", "pad_token": "<pad>", "word_delimiter_token": "|", "cleanup": True}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": {"type": "Unigram", "vocab": []}}, "Unigram, not BPE; open it with .*unigram:"),
        ({"normalizer": {"type": "Unheard"}}, "normalizer 'Unheard'"),
        ({"pre_tokenizer": {"type": "UnicodeScripts"}}, "pre-tokenizer 'UnicodeScripts'"),
        ({"decoder": CTC, "pre_tokenizer": None}, "decoder 'CTC'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [["a", "b"]]}}, "merge 0 of 'a' and 'b'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b c"]}}, "merge 0 is 'a b c'"),
        ({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}}, "share the id 0"),
        ({"model": {"type": "BPE", "vocab": {"a": -1}, "merges": []}}, "whole number from 0 on"),
        ({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": [], "unk_token": "u"}}, "'u' is not in"),
    ],
)
def test_what_is_wrong_or_unknown_is_named(change, message):
    content = {
        "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []},
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True},
    }
    with pytest.raises(TokenizerError, match=message):
        BpeTokenizer.from_dict({**content, **change})


N = normalizers


@pytest.mark.parametrize(
    "normalizer",
    [
        N.Strip(),
        N.StripAccents(),
        N.BertNormalizer(),
        N.Nmt(),
        N.Replace("ab", "x"),
        N.Replace(Regex("^a"), ""),
        N.Sequence([N.Strip(), N.Prepend("x")]),
        N.NFKD(),
    ],
)
def test_metaspace_first_is_of_what_the_input_begins_with(normalizer):
    """A text whose first character the normalizer took away has no mark put in front."""
    theirs = Tokenizer(models.BPE({c: i for i, c in enumerate("▁abcdex\u0301 ")}, []))
    theirs.normalizer, theirs.pre_tokenizer = normalizer, P.Metaspace(prepend_scheme="first")
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    for text in ("abc", " abc", "\u0301abc", "\x01abc", "aabc", "á", "\u0301", "", "\U0001e6e3\u0301a"):
        assert ours(text) == theirs.encode(text).ids, ascii(text)


@pytest.mark.parametrize("decoder", [None, decoders.Fuse(), decoders.Metaspace(), decoders.WordPiece()])
def test_the_decoder_of_the_file_decodes_at_byte_level_too(decoder):
    theirs = _trained(models.BPE(), PLAIN_BYTES, initial_alphabet=ALPHABET)
    theirs.decoder = decoder
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    ids = theirs.encode("it's naïve").ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert not ours.lossless


@pytest.mark.parametrize("part", [{"end_of_word_suffix": "</w>"}, {"continuing_subword_prefix": "##"}, {}])
def test_byte_fallback_whose_bytes_are_not_those_of_the_text_is_refused(part):
    tokenizer = Tokenizer(models.BPE({"a": 0, "<0x62>": 1}, [], byte_fallback=True, **part))
    tokenizer.pre_tokenizer = PLAIN_BYTES if not part else None
    with pytest.raises(TokenizerError, match=r"from_dict: byte_fallback together with .*transformers:"):
        BpeTokenizer.from_dict(json.loads(tokenizer.to_str()))
    level = "char" if part else "byte"
    names = {"end_of_word_suffix": "end_of_word", "continuing_subword_prefix": "continuing_prefix"}
    affixes = {names[name]: affix for name, affix in part.items()}
    merges = np.zeros((0, 3), np.int32)
    with pytest.raises(TokenizerError, match="byte_fallback together with"):
        BpeModel(vocabulary=(b"a", b"<0x62>"), merges=merges, level=level, byte_fallback=True, **affixes)


def test_a_setting_out_of_range_names_the_file():
    content = json.loads(Tokenizer(models.BPE({"a": 0}, [])).to_str())
    content["model"]["dropout"] = 2.0
    with pytest.raises(TokenizerError, match="from_dict: dropout must lie between 0 and 1"):
        BpeTokenizer.from_dict(content)


def test_what_is_refused_names_the_file(tmp_path):
    tokenizer = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer.pre_tokenizer = P.UnicodeScripts()
    tokenizer.save(str(tmp_path / "t.json"))
    with pytest.raises(TokenizerError, match=r"t\.json: the pre-tokenizer 'UnicodeScripts'.*transformers:"):
        BpeTokenizer.from_file(tmp_path / "t.json")


def test_merges_with_the_unknown_token_keep_long_text_whole() -> None:
    vocabulary = {token: index for index, token in enumerate(["<unk>", "a", "b", "<unk>a"])}
    content = {"version": "1.0", "added_tokens": []}
    content["model"] = {"type": "BPE", "unk_token": "<unk>", "vocab": vocabulary, "merges": ["<unk> a"]}
    theirs = Tokenizer.from_str(json.dumps(content))
    for text in ("b日a", "b日a" * 30, "日" * 40 + "a"):
        assert BpeTokenizer.from_dict(content)(text) == theirs.encode(text).ids


def test_of_a_merge_that_is_listed_twice_the_last_counts() -> None:
    vocabulary = {token: index for index, token in enumerate(["a", "b", "c", "ab", "bc"])}
    for merges in (["a b", "b c", "a b"], [["b", "c"], ["a", "b"], ["b", "c"]], ["a b", "a b", "b c"]):
        content = {"version": "1.0", "added_tokens": []}
        content["model"] = {"type": "BPE", "vocab": vocabulary, "merges": merges}
        theirs = Tokenizer.from_str(json.dumps(content))
        assert BpeTokenizer.from_dict(content)("abc") == theirs.encode("abc").ids, merges


@pytest.mark.parametrize("unknown", [None, "[UNK]"])
def test_added_tokens_that_share_ids_with_others_are_saved_as_they_were(unknown, tmp_path):
    """`tokenizers` numbers added tokens from the size of the vocabulary on, whatever ids there are."""
    vocabulary = {"a": 0, "b": 2, "ab": 9, "[UNK]": 4}
    theirs = Tokenizer(models.BPE(vocabulary, [("a", "b")], unk_token=unknown))
    theirs.add_special_tokens(["<s>", "</s>"])
    theirs.add_tokens(["<new>"])
    content = json.loads(theirs.to_str())
    assert [one["id"] for one in content["added_tokens"]] == [4, 5, 6]
    ours = BpeTokenizer.from_dict(content)
    ours.save(tmp_path / "saved.json")
    saved = json.loads((tmp_path / "saved.json").read_text("utf-8"))
    assert saved["model"] == content["model"]
    assert saved["added_tokens"] == content["added_tokens"]
    again = BpeTokenizer.from_file(tmp_path / "saved.json")
    for text in ("abx", "a<new>xb", "b"):
        assert ours(text) == again(text) == Tokenizer.from_file(str(tmp_path / "saved.json")).encode(text).ids


def test_spans_of_long_text_do_not_take_the_quadratic_form(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where a token may be of several sizes: whole words that are tokens as they are, suffix and all."""
    tokens = ["a", "b", "b</w>", "ab", "</w>", "<unk>", "aé", "aé</w>"]
    model = models.BPE(
        {token: index for index, token in enumerate(tokens)},
        [("a", "b")],
        unk_token="<unk>",
        end_of_word_suffix="</w>",
        ignore_merges=True,
    )
    theirs = Tokenizer(model)
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))

    def never(*_: object, **__: object) -> None:
        raise AssertionError("the plain form is quadratic in the length of a pre-token")

    monkeypatch.setattr("tokbench_subword.bpe.plain.merges", never)
    for text in ("abxab" * 4000, "aé" * 2000, "ab</w>", "</w>"):
        assert [tuple(span) for span in ours.offsets(text).tolist()] == theirs.encode(text).offsets


@pytest.mark.parametrize("make", ["falcon", "clip"])
def test_spans_of_tokens_of_letters_take_kernels(make, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where bytes are spelled as letters before the model, in the midst of cutting or behind it."""
    theirs, path = _theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)

    def never(*_: object) -> None:
        raise AssertionError("the plain form takes a hundred times as long")

    monkeypatch.setattr(BpeOffsets, "of", never)
    texts = [*TEXTS[:3], "", "the  THE, the"]
    spans, limits = ours.offsets_batch(texts)
    for text, start, end in zip(texts, limits[:-1], limits[1:], strict=True):
        expected = theirs.encode(text, add_special_tokens=False).offsets
        assert [tuple(span) for span in spans[start:end].tolist()] == expected, text


def test_what_encoding_was_prepared_for_cannot_be_set_afterwards() -> None:
    """A copy in another process would be prepared for it, and give other ids."""
    ours = BpeTokenizer.from_dict(json.loads(Tokenizer(models.BPE({"a": 0}, [])).to_str()))
    with pytest.raises(AttributeError):
        ours.match_special = True
    with pytest.raises(AttributeError):
        ours.vocab_size = 9
