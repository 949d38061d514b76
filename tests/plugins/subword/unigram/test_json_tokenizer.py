"""What a `JsonUnigramTokenizer` can do besides equal ids."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.files.sentencepiece_model import UNKNOWN, Piece, SpmModel
from tokbench_subword.pipeline.trie import VALUE_MASK, VALUE_SHIFT, build_trie, unit_of
from tokbench_subword.sentencepiece.tokenizer import SpmTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer

import tokbench
from tokbench.errors import TokenizerError
from tokbench.testing import check_tokenizer

A = [["<unk>", 0.0], ["a", -1.0]]


def content_of(vocab: list[list[Any]], *added: dict[str, Any], **parts: Any) -> dict[str, Any]:
    """A `tokenizer.json` of some pieces and added tokens, with all that `tokenizers` asks for."""
    flags = dict.fromkeys(("special", "single_word", "lstrip", "rstrip", "normalized"), False)
    model = {"type": "Unigram", "unk_id": 0, "vocab": vocab} | parts.pop("model", {})
    return {"version": "1.0", "model": model, "added_tokens": [flags | token for token in added], **parts}


def test_scores_whose_sums_overflow() -> None:
    from tokenizers import Tokenizer

    content = content_of([["<unk>", 0.0], ["字", -1e308], ["字字字字", -1.0]])
    text, theirs = "字" * 7, Tokenizer.from_str(json.dumps(content))
    ours = JsonUnigramTokenizer.from_dict(content)
    assert ours.encode_batch([text] * 20).to_lists() == [theirs.encode(text).ids] * 20


def test_pieces_with_a_nul_are_found_as_in_tokenizers() -> None:
    from tokenizers import Tokenizer

    vocab = [["<unk>", 0.0], ["\0", -2.0], ["a\0", -1.0], ["\0\0b", -1.5], ["é\0", -1.0], ["b", -3.0]]
    content = content_of(vocab)
    theirs, ours = Tokenizer.from_str(json.dumps(content)), JsonUnigramTokenizer.from_dict(content)
    texts = ["\0", "a\0b\0\0b", "é\0aé", "a\0" * 200, "b\0\0\0b a\0"]
    expected = [theirs.encode(text) for text in texts]
    for _ in range(2):
        assert ours.encode_batch(texts).to_lists() == [one.ids for one in expected]
    for text, one in zip(texts, expected, strict=True):
        assert list(map(tuple, ours.offsets(text).tolist())) == one.offsets
        assert ours.decode(one.ids) == theirs.decode(one.ids, skip_special_tokens=False)


def test_tokenizer_json_errors_name_the_component() -> None:
    for part, said in (
        ({"normalizer": {"type": "Surprise"}}, "Surprise"),
        ({"pre_tokenizer": {"type": "Surprise"}}, "Surprise"),
        ({"decoder": {"type": "Surprise"}}, "Surprise"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "!!"}}, "base 64"),
        ({"normalizer": {"type": "Precompiled", "precompiled_charsmap": "é"}}, "base 64"),
        (
            {"model": {"type": "BPE", "vocab": {}, "merges": []}},
            "; open it with bpe: or transformers:$",
        ),
        ({"model": {"type": "WordLevel", "vocab": {}}}, "is WordLevel, not Unigram; .* with transformers:$"),
        ({"model": {"type": "Unigram", "vocab": {}}}, "must be a list of pieces"),
        (
            {"model": {"vocab": [["<0x00>", 0.0], ["a", -1.0]], "byte_fallback": True}},
            "only 1 of the 256 byte pieces .'<0x01>'.*transformers:",
        ),
        ({"model": {"unk_id": 7}}, "unk_id"),
        ({"model": {"vocab": [["a"]]}}, "entry 0"),
        ({"model": {"vocab": [["a", "b"]]}}, "score"),
        ({"model": {"vocab": []}}, "unk_id|empty"),
    ):
        with pytest.raises(TokenizerError, match=said):
            JsonUnigramTokenizer.from_dict(content_of(A, **part))


@pytest.mark.parametrize("fallback", [False, True])
def test_without_an_unknown_token_bytes_are_not_fallen_back_to_as_in_tokenizers(fallback: bool) -> None:
    from tokenizers import Tokenizer

    vocab = [["a", -1.0], *([f"<0x{byte:02X}>", -3.0] for byte in range(256))]
    content = content_of(vocab, model={"unk_id": None, "byte_fallback": fallback})
    theirs, ours = Tokenizer.from_str(json.dumps(content)), JsonUnigramTokenizer.from_dict(content)
    assert ours("a") == theirs.encode("a").ids == [0]
    with pytest.raises(Exception, match="`unk_id` is missing"):
        theirs.encode("é")
    sample = partial(ours.sample, rng=np.random.default_rng(0), alpha=1)
    for encode in (ours, ours.encode, ours.offsets, sample):
        with pytest.raises(TokenizerError, match=r"there is no unknown token.*unk_id"):
            encode("aé")


def test_facts_say_which_stages_are_python() -> None:
    kernels = JsonUnigramTokenizer.from_dict(content_of(A)).facts()
    assert (kernels["normalizing"], kernels["cutting"]) == ("kernels", "kernels")
    atomic = {"type": "Split", "pattern": {"Regex": "(?>a|ab)c"}, "behavior": "Isolated", "invert": False}
    tokenizer = JsonUnigramTokenizer.from_dict(content_of(A, pre_tokenizer=atomic))
    assert str(tokenizer.facts()["cutting"]).startswith("Python: ")
    assert tokenizer("aab") == [1, 1, 0]
    assert tokenizer.facts()["split_patterns"] == ["(?>a|ab)c"]


def test_tokenizer_json_added_tokens_and_sampling() -> None:
    added = {"id": 4, "content": "<x>"}, {"id": 5, "content": "<y>", "special": True}
    tokenizer = JsonUnigramTokenizer.from_dict(content_of([*A, ["b", -1.0], ["ab", -2.5]], *added))
    assert tokenizer("a<x>b<y>") == [1, 4, 2, 0]
    assert tokenizer.offsets("a<x>b").tolist() == [[0, 1], [1, 4], [4, 5]]
    assert tokenizer.add_tokens("new") == [6]
    assert tokenizer("anewb") == [1, 6, 2]
    drawn = {tuple(tokenizer.sample("ab", np.random.default_rng(seed), 0.1)) for seed in range(50)}
    assert drawn == {(1, 2), (3,)}
    assert list(tokenizer.trace("ab"))[-1].tokens == (b"a", b"b")
    assert JsonUnigramTokenizer.from_dict(tokenizer.to_dict())("anewb") == [1, 6, 2]


def test_why_texts_may_not_come_back_is_said() -> None:
    spelled = [[f"<0x{byte:02X}>", -9.0] for byte in range(256)]
    fallback = content_of([*A, *spelled])
    fallback["model"]["byte_fallback"] = True
    for content, unknown in ((content_of(A), True), (fallback, False)):
        why = JsonUnigramTokenizer.from_dict(content).facts()["why_not_lossless"]
        assert ("characters outside the vocabulary become unknown" in why) is unknown


def test_added_tokens_are_numbered_behind_pieces_that_are_listed_twice() -> None:
    import tokenizers

    content = content_of([*A, ["a", -2.0]], {"id": 3, "content": "<x>"})
    library = tokenizers.Tokenizer.from_str(json.dumps(content))
    assert JsonUnigramTokenizer.from_dict(content)("a<x>") == library.encode("a<x>").ids == [2, 3]


@pytest.mark.long
@pytest.mark.parametrize(
    ("decoder", "joins"),
    [
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}, True),
        ({"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}, False),
        ({"type": "Replace", "pattern": {"String": "▁"}, "content": " "}, True),
        (None, False),
    ],
)
def test_decoding_joins_bytes_where_it_says_so(decoder: Any, joins: bool) -> None:
    marks = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "never"}
    unknown = {"id": 0, "content": "<unk>", "special": True}
    vocab = [["<unk>", 0.0], ["▁", -2.0], ["a", -1.0]]
    content = content_of(vocab, unknown, pre_tokenizer=marks, decoder=decoder)
    tokenizer = JsonUnigramTokenizer.from_dict(content)
    assert tokenizer.decode_joins_bytes == joins
    check_tokenizer(tokenizer)
    assert (tokenizer.decode([1, 2, 2]) == " aa") == joins


def test_special_tokens_are_matched_when_asked_for(tmp_path: Path) -> None:
    vocab = [["<unk>", 0.0], ["a", -1.0], ["<", -2.0], ["s", -2.0], [">", -2.0]]
    content = content_of(vocab, {"id": 5, "content": "<s>", "special": True})
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    assert tokbench.load(f"unigram:{path}").encode("<s>a").tolist() == [2, 3, 4, 1]
    matching = tokbench.load(f"unigram:{path},match_special=true")
    assert matching.encode("<s>a").tolist() == [5, 1]
    assert matching.offsets("<s>a").tolist() == [[0, 3], [3, 4]]  # type: ignore[attr-defined]
    model = tmp_path / "a.model"
    SpmTokenizer("a", SpmModel((Piece("<unk>", 0.0, UNKNOWN), Piece("a", -1.0)))).save(model)
    with pytest.raises(TokenizerError, match="match_special does not apply"):
        tokbench.load(f"unigram:{model},match_special=true")


MARK = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
BYTES = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
STEPS: list[list[dict[str, Any]]] = [
    [],
    [MARK],
    [MARK | {"split": False}],
    [{"type": "WhitespaceSplit"}, MARK],
    [{"type": "Punctuation", "behavior": "Isolated"}, MARK],
    [BYTES],
    [{"type": "Digits", "individual_digits": True}, BYTES | {"use_regex": False}],
]


@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("fallback", [False, True])
def test_words_long_and_short_are_as_in_tokenizers(steps: list[dict[str, Any]], fallback: bool) -> None:
    """Cut beforehand or not, whole or in parts, with unknown characters beside the unknown token's text."""
    from tokenizers import Tokenizer

    known = ["▁", "a", "b", "ab", "▁a", "ba", "Ġ", "Ġa", "aaa", "北京", "北", "京", "<", "<un"]
    vocab = [["<unk>", -9.0], *([piece, -1.0 - 0.1 * i] for i, piece in enumerate(known))]
    vocab += [[f"<0x{byte:02X}>", -0.5] for byte in range(256)] if fallback else []
    cuts = {"type": "Sequence", "pretokenizers": steps} if steps else None
    added = {"id": len(vocab), "content": "<x>"}
    content = content_of(vocab, added, model={"byte_fallback": fallback}, pre_tokenizer=cuts)
    theirs, ours = Tokenizer.from_str(json.dumps(content)), JsonUnigramTokenizer.from_dict(content)
    parts = ["a", "ab", " ", "<unk>", "é", "北", "京", "z", "<x>", "1", "!", "\u2581", "aaaa", "x" * 40]
    random = np.random.default_rng(5)
    texts = ["".join(random.choice(parts, size)) for size in [*range(12), 30, 60, 200] for _ in range(12)]
    for _ in range(2):  # cold and warm
        for text, ids in zip(texts, ours.encode_batch(texts), strict=True):
            assert ids.tolist() == theirs.encode(text).ids, (text, steps)


def test_tries_hold_ids_of_millions_of_pieces() -> None:
    last = (1 << 26) - 2
    unit = unit_of(build_trie({b"ab": last, b"a": 1 << 24}), b"ab")
    assert (unit >> VALUE_SHIFT & VALUE_MASK) - 1 == last
    with pytest.raises(TokenizerError, match="67,108,863 is too large"):
        build_trie({b"a": last + 1})


def test_fewest_tokens_are_told_only_where_every_path_of_as_many_pieces_scores_the_same() -> None:
    with pytest.raises(TokenizerError, match="only of byte-level pieces that all score the same"):
        JsonUnigramTokenizer.from_dict(content_of(A)).fewest_tokens(["a"])
