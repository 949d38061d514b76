"""What `tools/fuzz_ids.py` found once, each as small as it gets."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tokbench_subword.bpe.tokenizer import BpeTokenizer
from tokbench_subword.pipeline.normal_forms import normalized
from tokbench_subword.unigram.json_tokenizer import JsonUnigramTokenizer
from tokbench_subword.wordpiece.tokenizer import WordPieceTokenizer
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers

from tests.plugins.subword.like_the_library import assert_same_ids_and_spans, content_of
from tokbench import TokenizerError


@pytest.mark.parametrize("decoder", [None, decoders.BPEDecoder(), decoders.Metaspace(), decoders.Fuse()])
def test_an_id_that_a_vocabulary_of_bpe_leaves_out_adds_nothing_to_text(decoder: Any) -> None:
    theirs = Tokenizer(models.BPE({"▁a": 0, "b</w>": 2, "c": 5}, []))
    if decoder is not None:
        theirs.decoder = decoder
    ours = BpeTokenizer.from_dict(content_of(theirs))
    for ids in ([0, 1], [1, 0, 2], [2, 3, 4, 5], [2, 1], [4], []):
        assert ours.decode(ids) == theirs.decode(ids), ids


@pytest.mark.parametrize("steps", [["Fuse", "ByteLevel"], ["ByteLevel", "ByteLevel"], ["ByteLevel", "Fuse"]])
def test_bytes_are_joined_only_where_the_decoder_does_no_more(steps: list[str]) -> None:
    """Fused text that is not all bytes stands for itself, and text may be taken for bytes once more."""
    letters = {letter: index for index, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    theirs = Tokenizer(models.BPE(letters | {"▁a": 256}, []))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.Sequence([getattr(decoders, step)() for step in steps])
    ours = BpeTokenizer.from_dict(content_of(theirs))
    for ids in (ours("é ü"), [256, letters["Ã"], letters["Ġ"]], []):
        assert ours.decode(ids) == theirs.decode(ids), ids
    assert ours.lossless == (steps == ["ByteLevel", "Fuse"])


def test_a_token_in_letters_that_stand_for_no_byte_is_decoded_and_kept_and_never_merged(tmp_path: Path) -> None:
    """No text gives it, so neither do its merges happen; it once let a kernel write out of bounds."""
    vocabulary = {letter: index for index, letter in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}
    theirs = Tokenizer(models.BPE(vocabulary | {"▁": 256, "a▁": 257, "ab": 258}, [("a", "▁"), ("a", "b")]))
    theirs.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = decoders.ByteLevel()
    ours = BpeTokenizer.from_dict(content_of(theirs))
    path = tmp_path / "tokenizer.json"
    ours.save(path)
    for mine in (ours, BpeTokenizer.from_file(path)):
        assert_same_ids_and_spans(mine, theirs, "ab▁", "a▁ ba", "▁")
        assert mine.decode([257, 256, 5]) == theirs.decode([257, 256, 5])
        assert mine.decode(np.array([257, 258] * 40)) == theirs.decode([257, 258] * 40)
        assert mine.convert_token_to_id("a▁") == 257
        assert mine.token_bytes(257) == "a▁".encode()
    again = Tokenizer.from_file(str(path))
    assert again.get_vocab() == theirs.get_vocab()
    assert again.encode("ab▁").ids == theirs.encode("ab▁").ids


def test_an_id_that_a_vocabulary_leaves_out_adds_nothing_to_text() -> None:
    theirs = Tokenizer(models.WordPiece({"[UNK]": 0, "a": 2, "##b": 5}, unk_token="[UNK]"))
    for decoder in (decoders.WordPiece(), decoders.WordPiece(cleanup=False), decoders.Fuse()):
        theirs.decoder = decoder
        ours = WordPieceTokenizer.from_dict(content_of(theirs))
        for ids in ([1, 2, 5], [2, 3, 5], [4], [0, 1, 2], [2, 1, 2], []):
            assert ours.decode(ids) == theirs.decode(ids, skip_special_tokens=False), ids


def test_a_whole_word_that_reads_like_a_token_with_its_affix_has_its_own_span() -> None:
    """``a_`` is ``a`` at the end of a word, and with `ignore_merges` the word ``a_`` too."""
    theirs = Tokenizer(
        models.BPE({"a": 0, "_": 1, "a_": 2, "__": 3}, [], end_of_word_suffix="_", ignore_merges=True)
    )
    theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    ours = BpeTokenizer.from_dict(content_of(theirs))
    assert_same_ids_and_spans(ours, theirs, "a_ a", "a aa a_a", "__ _", "_ a_")


def test_an_affix_that_is_a_letter_of_the_text_too_has_its_own_span() -> None:
    """``@@é`` is an ``é`` within a word, not its end; ``éé`` is one at the end, and a merge of two."""
    letters = ["a", "é", "@@a", "@@é", "éé", "@@aé", "@@éé", "aé"]
    vocabulary = {letter: index for index, letter in enumerate(letters)}
    affixes = {"continuing_subword_prefix": "@@", "end_of_word_suffix": "é"}
    for merges in ([], [("é", "@@é")]):
        theirs = Tokenizer(models.BPE(vocabulary, merges, **affixes))
        theirs.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
        ours = BpeTokenizer.from_dict(content_of(theirs))
        assert_same_ids_and_spans(ours, theirs, "aéa", "aééé aé", "é éé ééé", "éa a")


@pytest.mark.parametrize("byte_level", [True, False])
def test_what_a_vocabulary_lacks_and_drops_does_not_move_the_spans_of_what_follows(byte_level: bool) -> None:
    """`tokenizers` gives the true spans where an unknown token stands in the place of what is dropped."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet()) if byte_level else list("abcé中 ")
    known = [letter for letter in letters if letter not in ("q", "ɯ", "į")]
    merges = [("a", "b"), ("ab", "c"), ("Ã", "©")] if byte_level else [("a", "b"), ("ab", "c"), ("é", "é")]
    vocabulary = {one: index for index, one in enumerate([*known, *map("".join, merges), "<gap>"])}

    def of(**options: Any) -> Tokenizer:
        tokenizer = Tokenizer(models.BPE(vocabulary, merges, **options))
        if byte_level:
            tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        return tokenizer

    ours, dropping, with_gaps = BpeTokenizer.from_dict(content_of(of())), of(), of(unk_token="<gap>")
    moved = 0
    for text in (
        "qabc",
        "abqqabc q",
        "éé博é cab",
        "中ɍab\U0001f600ab",
        "ɍ",
        "qqq",
        "abc " * 40 + "q" + "abc" * 50,
    ):
        expected = with_gaps.encode(text)
        kept = [
            one for one in zip(expected.ids, expected.offsets, strict=True) if one[0] != vocabulary["<gap>"]
        ]
        assert ours(text) == dropping.encode(text).ids == [index for index, _ in kept]
        assert list(map(tuple, ours.offsets(text).tolist())) == [span for _, span in kept], text
        moved += dropping.encode(text).offsets != [span for _, span in kept]
    assert moved
    merged_across = ours.offsets("aqb").tolist()
    assert merged_across == [[0, 3]]
    assert list(ours.trace("cqab"))[-1].tokens == (b"c", b"ab")


def test_unknown_characters_in_a_long_word_are_found_in_linear_time() -> None:
    theirs = Tokenizer(
        models.BPE({"a": 0, "b": 1, "ab": 2, "?": 3}, [("a", "b")], unk_token="?", fuse_unk=True)
    )
    ours = BpeTokenizer.from_dict(content_of(theirs))
    assert_same_ids_and_spans(ours, theirs, "ab中中a" * 50_000)


@pytest.mark.parametrize("form", ["NFC", "NFD", "NFKC", "NFKD"])
def test_a_long_run_of_marks_takes_a_normal_form_in_linear_time(form: str) -> None:
    """It took minutes: Python's own normal forms take the square of a run's length."""
    for marks in ("\u0301\u0327", "\u0f73\u0301\u0344", "\uff9e\u0301\u3099"):
        text = "x\u3131e" + marks * 50_000 + "é\u0323" + marks * 60
        start = time.process_time()
        found = normalized(text, form)
        assert time.process_time() - start < 5
        assert found == getattr(normalizers, form)().normalize_str(text)


def test_no_texts_have_no_spans() -> None:
    ours = BpeTokenizer.from_dict(content_of(Tokenizer(models.BPE({"a": 0}, []))))
    spans, limits = ours.offsets_batch([])
    assert spans.shape == (0, 2)
    assert limits.tolist() == [0]


N, P = normalizers, pre_tokenizers


@pytest.mark.parametrize(
    ("normalizer", "pre_tokenizer", "added"),
    [
        (N.Sequence([N.Prepend("▁"), N.Replace("x", "")]), P.Metaspace(prepend_scheme="first"), "x"),
        (N.Sequence([N.Prepend("ab"), N.Replace("x", "")]), P.Metaspace(prepend_scheme="first"), "x"),
        (N.BertNormalizer(), P.Metaspace(prepend_scheme="first"), " "),
        (N.NFD(), P.Metaspace(prepend_scheme="first"), "e"),
        (N.NFD(), P.Sequence([P.Split(Regex(r"\p{M}"), "isolated"), P.Metaspace(prepend_scheme="first")]), "x"),
    ],
)
def test_all_that_stands_where_the_text_begins_may_be_followed_by_a_first_word(
    normalizer: Any, pre_tokenizer: Any, added: str
) -> None:
    """An added token takes what was put in front, or a part of a character: the next word is first too."""
    letters = ["[UNK]", *"▁abcdehx中\u0301\u0302", "▁b", "▁中", "▁\u0301", "▁h"]
    for family, model in (
        (JsonUnigramTokenizer, models.Unigram([(one, -1.0 - i / 8) for i, one in enumerate(letters)], 0)),
        (
            WordPieceTokenizer,
            models.WordPiece({one: i for i, one in enumerate([*letters, "##b", "##h"])}, unk_token="[UNK]"),
        ),
        (BpeTokenizer, models.BPE({one: i for i, one in enumerate(letters)}, [], unk_token="[UNK]")),
    ):
        theirs = Tokenizer(model)
        theirs.normalizer, theirs.pre_tokenizer = normalizer, pre_tokenizer
        theirs.add_tokens([AddedToken(added), AddedToken("<raw>", normalized=False)])
        ours = family.from_dict(content_of(theirs))
        for text in (
            "bed",
            "中b",
            "éb",
            " bed",
            "hab",
            "abh",
            "e\u0301\u0302",
            "<raw>bed",
            "<raw>中b",
            "\u0301e",
            "bx",
        ):
            assert list(ours(text)) == theirs.encode(text).ids, (family, text)


def test_pieces_in_another_order_are_not_as_good_where_sums_are_rounded() -> None:
    """`tokenizers` reads -9.091020584106445 as the float beside it, and so prefers one of many equal orders."""
    pieces = [
        ("<unk>", 0.0),
        ("▁", -2.4126505851745605),
        ("ab" * 8, -9.091020584106445),
        ("ab" * 7, -9.975353240966797),
    ]
    theirs = Tokenizer(models.Unigram(pieces, 0))
    theirs.pre_tokenizer = P.Metaspace()
    content = content_of(theirs)
    content["model"]["vocab"] = pieces
    theirs = Tokenizer.from_str(json.dumps(content))
    ours = JsonUnigramTokenizer.from_dict(content)
    for count in range(100):
        assert ours("ab" * count) == theirs.encode("ab" * count).ids, count


def test_a_long_word_that_only_the_plain_path_can_take_is_located_in_linear_time() -> None:
    """It took minutes, since for each token all characters before it were counted."""
    theirs = Tokenizer(models.Unigram([("<unk>", -9.0), ("é", -1.0), ("éé中", -2.0), ("中", -1.5)], 0))
    theirs.pre_tokenizer = P.Split("x", "isolated")
    theirs.add_tokens(["<new>"])
    ours = JsonUnigramTokenizer.from_dict(content_of(theirs))
    text = "<new>" + "éé中é中" * 40_000
    expected = theirs.encode(text)
    assert ours(text) == expected.ids
    assert list(map(tuple, ours.offsets(text).tolist())) == expected.offsets


def test_text_that_is_replaced_by_itself_has_the_span_of_all_of_it() -> None:
    theirs = Tokenizer(models.BPE({"a": 0, "b": 1}, []))
    theirs.normalizer = normalizers.Replace("ab", "ab")
    ours = BpeTokenizer.from_dict(content_of(theirs))
    assert ours.offsets("aab").tolist() == [[0, 1], [1, 3], [1, 3]]
    assert ours._offsets.of("aab").tolist() == [[0, 1], [1, 3], [1, 3]]


def test_a_merge_whose_second_token_lacks_the_prefix_is_read_as_the_library_reads_it() -> None:
    """It can never be made; as many bytes as the prefix has are taken off its text, were they half a word."""
    letters = ["a", "##a", "é", "aé", "aa", "a</w>", "é</w>", "a</w>"]
    vocabulary = {letter: index for index, letter in enumerate(dict.fromkeys(letters))}
    merges = [("a", "é</w>"), ("a", "##a")]  # the first makes a</w>
    theirs = Tokenizer(models.BPE(vocabulary, merges, continuing_subword_prefix="##", unk_token="é"))
    ours = BpeTokenizer.from_dict(content_of(theirs))
    assert_same_ids_and_spans(ours, theirs, "aa", "aaé", "éa")


def test_a_piece_that_the_unknown_token_spells_is_refused() -> None:
    """`tokenizers` looks up the text of a run of unknown tokens, and gives the piece, however bad its score."""
    for piece, refused in (("xx", True), ("xé", True), ("xa", False), ("ax", False)):
        theirs = Tokenizer(models.Unigram([("x", 20.0), (piece, -9.0), ("a", -1.0)], unk_id=0))
        if refused:
            assert theirs.encode(piece).ids == [1]
            with pytest.raises(TokenizerError, match=f"form the piece '{piece}'"):
                JsonUnigramTokenizer.from_dict(content_of(theirs))
        else:
            ours = JsonUnigramTokenizer.from_dict(content_of(theirs))
            for text in (piece, f"é{piece}x", "xxa"):
                assert list(ours.encode(text)) == theirs.encode(text).ids


def test_a_word_of_a_dropped_character_is_not_the_token_that_is_as_long_with_its_prefix() -> None:
    """Where whole words are tokens as they are written, "##é" is one, and "aé" of as many bytes is not."""
    model = models.BPE({"##é": 0, "x": 1}, [], continuing_subword_prefix="##", ignore_merges=True)
    ours = BpeTokenizer.from_dict(content_of(Tokenizer(model)))
    for text, spans in {"##é": [(0, 3)], "üé": [(1, 2)], "é": [], "xé": [(0, 1), (1, 2)]}.items():
        assert ours.encode(text).tolist() == Tokenizer(model).encode(text).ids
        assert [tuple(span) for span in ours.offsets(text).tolist()] == spans, text
