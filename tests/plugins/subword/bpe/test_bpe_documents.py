"""`tokenizer.json` of many makes: trained here by `tokenizers`, opened in-house, ids equal; and back again."""

from __future__ import annotations

import json

import numpy as np
import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers
from tokenizers import pre_tokenizers as P

from tests.plugins.subword.bpe.makes import ALPHABET, INPUTS, MAKES, PLAIN_BYTES, theirs_and_its_file, trained
from tokbench import TokenBatch


@pytest.mark.parametrize("make", MAKES, ids=str)
def test_ids_text_and_saved_form_are_those_of_tokenizers(make, tmp_path):
    theirs, path = theirs_and_its_file(make, tmp_path)
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


@pytest.mark.parametrize("make", MAKES, ids=str)
def test_any_ids_are_decoded_as_by_tokenizers(make, tmp_path):
    """Bytes that are no UTF-8 among them, spaces at the beginning, and nothing at all."""
    theirs, path = theirs_and_its_file(make, tmp_path)
    ours = BpeTokenizer.from_file(path)
    chosen = np.random.default_rng(5)
    many = [chosen.integers(0, min(ours.vocab_size, most), 6).tolist() for most in (20, 300, 10_000) * 60]
    many += [[], *([index] for index in range(0, ours.vocab_size, 7))]
    expected = [theirs.decode(ids, skip_special_tokens=False) for ids in many]
    assert [ours.decode(ids) for ids in many] == expected
    assert ours.decode_batch(TokenBatch.of(many)) == expected


def test_special_tokens_are_matched_only_when_asked(tmp_path):
    theirs, path = theirs_and_its_file("llama3", tmp_path)
    text = "<|begin_of_text|>hat"
    ordinary, special = BpeTokenizer.from_file(path), BpeTokenizer.from_file(path, match_special=True)
    assert special.encode(text).tolist() == theirs.encode(text, add_special_tokens=False).ids
    assert ordinary.encode(text)[0] != special.encode(text)[0]
    assert ordinary.decode(ordinary.encode(text)) == text


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
    theirs = trained(models.BPE(), PLAIN_BYTES, initial_alphabet=ALPHABET)
    theirs.decoder = decoder
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    ids = theirs.encode("it's naïve").ids
    assert ours.decode(ids) == theirs.decode(ids)
    assert not ours.lossless


BYTES = P.ByteLevel(add_prefix_space=False)


@pytest.mark.parametrize(
    ("cuts", "lossless"),
    [
        (BYTES, True),
        (P.Sequence([P.Digits(individual_digits=True), BYTES]), True),
        (P.Sequence([P.Punctuation(), BYTES, P.Digits()]), True),
        (P.Sequence([P.Split(Regex(r"\d{1,3}|[a-z]+"), "isolated"), BYTES]), True),
        (P.Sequence([P.Split(Regex(r"[a-z]+"), "merged_with_next"), P.FixedLength(3), BYTES]), True),
        (P.Sequence([P.Digits(), P.ByteLevel()]), False),
        (P.Sequence([P.Split(Regex(r"\d+"), "removed"), BYTES]), False),
        (P.Sequence([P.Split(Regex(r"\d+|\s+|[a-z]"), "removed", invert=True), BYTES]), False),
        (P.Sequence([P.Split(Regex(r" ?\w+|\s+(?!\S)|\s+|[^\s\w]"), "removed", invert=True), BYTES]), True),
        (P.Sequence([P.Split(Regex(r"(?:\S\s)*\S"), "removed", invert=True), BYTES]), False),
        (P.Sequence([P.Split(Regex(r"\S+|\s+(?!\S)"), "removed", invert=True), BYTES]), False),
        (P.Sequence([P.WhitespaceSplit(), BYTES]), False),
    ],
)
def test_a_tokenizer_is_lossless_whose_pieces_are_the_text(cuts, lossless):
    theirs = Tokenizer(models.BPE({letter: index for index, letter in enumerate(sorted(ALPHABET))}, []))
    theirs.pre_tokenizer, theirs.decoder = cuts, decoders.ByteLevel()
    theirs.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    assert ours.lossless == lossless
    assert [ours.decode(ours(text)) for text in INPUTS] == list(INPUTS) or not lossless
    matching = BpeTokenizer.from_dict(json.loads(theirs.to_str()), match_special=True)
    assert not matching.lossless  # the mask takes the spaces before it


@pytest.mark.parametrize(
    ("steps", "lossless"), [([], True), ([normalizers.Sequence([])], True), ([normalizers.NFC()], False)]
)
def test_a_normalizer_of_no_steps_loses_nothing(steps, lossless):
    theirs = Tokenizer(models.BPE({letter: index for index, letter in enumerate(sorted(ALPHABET))}, []))
    theirs.normalizer = normalizers.Sequence(steps)
    theirs.pre_tokenizer, theirs.decoder = BYTES, decoders.ByteLevel()
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    reason = "text is normalised" if any(isinstance(step, normalizers.NFC) for step in steps) else None
    facts = ours.facts()
    assert (ours.lossless, facts["lossless"], facts["why_not_lossless"]) == (not reason, not reason, reason)


def test_an_added_token_that_decoding_takes_for_bytes_is_not_lossless():
    theirs = Tokenizer(models.BPE({letter: index for index, letter in enumerate(sorted(ALPHABET))}, []))
    theirs.pre_tokenizer, theirs.decoder = BYTES, decoders.ByteLevel()
    theirs.add_tokens(["naïve"])
    ours = BpeTokenizer.from_dict(json.loads(theirs.to_str()))
    assert ours.decode(ours("naïve")) != "naïve"
    assert not ours.lossless


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
