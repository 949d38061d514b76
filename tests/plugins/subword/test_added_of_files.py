"""Added tokens of files, in all families: their ids and places are those of `tokenizers`. Found by fuzzing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.plugins.subword.like_the_library import assert_same_ids_and_spans, content_of
from tokbench.errors import TokenizerError


def test_an_added_token_may_share_an_id_with_one_that_is_matched() -> None:
    """`tokenizers` numbers added tokens from the size of the vocabulary on, whatever ids there are."""
    theirs = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 2, "##bcd": 3}, unk_token="[UNK]"))
    theirs.pre_tokenizer = pre_tokenizers.Whitespace()
    theirs.add_tokens(["<new>"])
    ours = WordPieceTokenizer.from_dict(content_of(theirs))
    assert_same_ids_and_spans(ours, theirs, "abcd", "a<new>abcd", "<new> bcd")


def test_a_token_of_bytes_that_is_added_too_stays_the_bytes_it_spells() -> None:
    """``İ`` is a letter of the byte alphabet (0x8E), which a file may list among its added tokens."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    theirs = Tokenizer(models.BPE({letter: index for index, letter in enumerate(alphabet)}, []))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    theirs.add_tokens([AddedToken("İ"), AddedToken("<new>")])
    ours = BpeTokenizer.from_dict(content_of(theirs))
    for text in ("Î", "aÎİb", "x<new>y"):
        ids = theirs.encode(text).ids
        assert ours(text) == ids
        assert ours.decode(ids) == theirs.decode(ids), text
    assert ours.token_bytes(alphabet.index("İ")) == b"\x8e"


def test_an_added_token_is_found_where_surrogates_spell_it() -> None:
    for family, model in (
        (JsonUnigramTokenizer, models.Unigram([("<unk>", -9.0), ("▁", -1.0), ("a", -2.0)], 0)),
        (WordPieceTokenizer, models.WordPiece({"[UNK]": 0, "a": 1}, unk_token="[UNK]")),
        (BpeTokenizer, models.BPE({"▁": 0, "a": 1}, [])),
    ):
        theirs = Tokenizer(model)
        theirs.pre_tokenizer = (
            pre_tokenizers.BertPreTokenizer() if family is WordPieceTokenizer else pre_tokenizers.Metaspace()
        )
        theirs.add_tokens([AddedToken("\U0001f600", normalized=False)])
        ours = family.from_dict(content_of(theirs))
        assert list(ours("a\ud83d\ude00a")) == theirs.encode("a\U0001f600a").ids


@pytest.mark.parametrize("family", [BpeTokenizer, WordPieceTokenizer, JsonUnigramTokenizer])
@pytest.mark.parametrize("marks", ["", " q\u0307\u0323"])
def test_an_added_token_within_white_space_that_another_takes_has_its_own_span(family: Any, marks: str) -> None:
    """And so have the parts of a character one of which is an added token. Texts with marks that change places
    take the plain form.
    """
    theirs = Tokenizer(
        {
            BpeTokenizer: models.BPE({"?": 0, "a": 1, "b": 2}, [], unk_token="?"),
            WordPieceTokenizer: models.WordPiece({"?": 0, "a": 1, "b": 2}, unk_token="?"),
            JsonUnigramTokenizer: models.Unigram([("?", -9.0), ("a", -1.0), ("b", -2.0)], 0),
        }[family]
    )
    theirs.normalizer = normalizers.Sequence([normalizers.NFKD(), normalizers.Replace("x", "ab")])
    theirs.pre_tokenizer = pre_tokenizers.Split(" ", "isolated")
    theirs.add_tokens([AddedToken(",", rstrip=True), AddedToken("\t"), AddedToken("\u1100")])
    ours = family.from_dict(content_of(theirs))
    text = "xa,\t\r\nbx각각x" + marks
    expected = theirs.encode(text)
    spans, _ = ours.offsets_batch([text, "x"])
    count = len(theirs.encode(text.removesuffix(marks)).ids)
    assert ours(text) == expected.ids
    assert list(map(tuple, spans[:count].tolist())) == expected.offsets[:count]


@pytest.mark.parametrize(("ids", "new"), [({"u": 0, "b": 10}, 2), ({"u": 0, "b": 9, "c": 2}, 3)])
def test_new_added_tokens_are_numbered_from_the_size_of_a_vocabulary_with_holes(
    ids: dict[str, int], new: int
) -> None:
    """They once went on behind the id of an added token that is in the vocabulary."""
    theirs = Tokenizer(models.WordPiece(ids, unk_token="u"))
    theirs.add_tokens(["x", "y"])
    content = content_of(theirs)
    content["added_tokens"].insert(0, {**content["added_tokens"][0], "id": ids["b"], "content": "b"})
    theirs, ours = Tokenizer.from_str(json.dumps(content)), WordPieceTokenizer.from_dict(content)
    assert theirs.token_to_id("x") == new
    for text in ("b", "x", "y", "axbyu"):
        expected = theirs.encode(text).ids
        assert ours(text) == expected
        assert ours.decode(expected) == theirs.decode(expected)


@pytest.mark.parametrize("family", [BpeTokenizer, WordPieceTokenizer])
def test_an_id_that_no_token_has_is_no_token(family: Any) -> None:
    """WordPiece once called it the unknown token. A Unigram model has no such ids: its vocabulary is a list."""
    vocab = {"u": 0, "a": 2, "b": 5}
    of_bpe = family is BpeTokenizer
    theirs = Tokenizer(
        models.BPE(vocab, [], unk_token="u") if of_bpe else models.WordPiece(vocab, unk_token="u")
    )
    ours = family.from_dict(content_of(theirs))
    for index in range(6):
        token = theirs.id_to_token(index) or ""
        assert ours.convert_id_to_token(index) == ours.decode([index]) == token
        assert ours.token_bytes(index).decode() == token or index == 0
    with pytest.raises(TokenizerError, match=r"outside 0\.\.5"):
        ours.convert_id_to_token(6)


@pytest.mark.parametrize(
    ("model", "text", "others"),
    [
        (models.WordPiece({"u": 0, "a": 3, "##c": 4}, unk_token="u"), "abc", [0]),
        (models.BPE({"u": 0, "a": 3, "b": 4}, [], unk_token="u", ignore_merges=True), "ab", [3, 4]),
        (models.BPE({"u": 0, "a": 3, "c": 4}, [], unk_token="u"), "b", [0]),
    ],
)
def test_added_tokens_that_the_model_would_give_once_saved_are_not_saved(
    model: Any, text: str, others: list[int], tmp_path: Path
) -> None:
    """A vocabulary with holes names tokens added behind them, since `tokenizers` would number them itself."""
    family = WordPieceTokenizer if isinstance(model, models.WordPiece) else BpeTokenizer
    ours: Any = family.from_dict(content_of(Tokenizer(model)))
    path = tmp_path / "tokenizer.json"
    assert ours.add_tokens("<new>") == [5]
    ours.save(path)
    assert Tokenizer.from_file(str(path)).encode("<new>a").ids == ours("<new>a") == [5, 3]
    assert ours.to_dict() == json.loads(path.read_text(encoding="utf-8"))
    ours.add_tokens(text[:2], special=True)
    assert ours(text) == others
    for save in (lambda: ours.save(path), ours.to_dict):
        with pytest.raises(TokenizerError, match="would change ids"):
            save()
