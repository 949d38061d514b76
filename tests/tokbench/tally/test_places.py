"""Where tokens lie in the text: exact, folded, around unknown tokens, by offsets, or not at all."""

from __future__ import annotations

import re
import unicodedata

import numpy as np
import pytest

from tokbench.corpus import Document
from tokbench.inspection.pieces import pieces
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.places import Aligner, Places
from tokbench.tally.prepare import prepare
from tokbench.tally.vocabulary import TokenTable
from tokbench.tokenizer import encode_batch


def place(tokenizer, *texts: str) -> tuple[Places, list[list[str]]]:
    """The places, and the text under each token, document by document."""
    [batch] = prepare(map(Document, texts))
    tokens = encode_batch(tokenizer, batch.texts)
    table = TokenTable(tokenizer)
    table.know(tokens.ids)
    places = Aligner(tokenizer, table).align(batch, tokens)
    data = batch.data.tobytes()
    under: list[list[str]] = [[] for _ in texts]
    for start, end in zip(places.tokens.start.tolist(), places.tokens.end.tolist(), strict=True):
        document = int(np.searchsorted(batch.starts, start, side="right")) - 1
        under[document].append(data[start:end].decode("utf-8", "replace"))
    return places, under


def test_exact(stand_ins) -> None:
    places, under = place(stand_ins.Pieces("ab", " c"), "ab c", "", "cab")
    assert under == [["ab", " c"], [], ["c", "ab"]]
    assert places.aligned.all()


def test_pieces_of_a_character_have_a_byte_each(stand_ins) -> None:
    places, _ = place(stand_ins.Pieces(), "é")
    assert list(zip(places.tokens.start, places.tokens.end, strict=True)) == [(0, 1), (1, 2)]


def test_folded(stand_ins) -> None:
    places, under = place(stand_ins.Lowering("cafe", " au"), "CAFÉ  Au lait", "plain")
    assert under[0][0] == "CAFÉ"
    assert under[0][1].strip() == "Au"
    assert under[0][-1] == "t"
    assert places.aligned.all()


def test_what_a_normaliser_composes_or_splits(stand_ins) -> None:
    class Composing(stand_ins.Pieces):
        def encode(self, text):
            return super().encode(unicodedata.normalize("NFKC", text))

    places, under = place(Composing("fi", "\u00e9"), "ﬁn e\u0301")
    assert places.aligned.all()
    assert under[0][:2] == ["ﬁ", "n"]
    assert under[0][-1].startswith("e")


def test_around_one_unknown_word(stand_ins) -> None:
    places, under = place(stand_ins.Words("good", "day"), "good xyz day", "good day")
    assert under == [["good", "xyz", "day"], ["good", "day"]]
    assert places.hidden.tolist() == [3, 0]


def test_two_ways_to_read_it_are_no_place(stand_ins) -> None:
    """The second "a" may be the known word or a part of the unknown one."""
    places, _ = place(stand_ins.Words("a"), "bab a bb")
    assert not places.aligned[0]
    assert places.hidden.tolist() == [5]  # five characters of seven are left over, wherever they are


def test_unknown_words_in_a_row_are_no_place_without_offsets(stand_ins) -> None:
    places, _ = place(stand_ins.Words("a"), "a xx yy a")
    assert not places.aligned[0]


def test_offsets_decide_where_bytes_cannot(stand_ins) -> None:
    places, under = place(stand_ins.Told("a"), "a xx yy a", "xaa xx")
    assert under == [["a", "xx", "yy", "a"], ["xaa", "xx"]]
    assert places.hidden.tolist() == [4, 5]


def test_offsets_that_end_before_they_begin_are_no_places(stand_ins) -> None:
    class Backwards(stand_ins.Told):
        def offsets(self, text):
            return super().offsets(text)[:, ::-1]

    places, _ = place(Backwards("a"), "a xx yy a", "a a")
    assert places.aligned.tolist() == [False, True]


def test_bytes_of_a_character_where_only_spaces_are_rewritten(stand_ins) -> None:
    places, under = place(stand_ins.Prefixing(" ab"), "ab 한é", "", " x")
    assert places.exact.all()
    assert places.leads.tolist() == [True, True, True]
    assert under[0][:2] == ["ab", " "]
    assert places.tokens.start.tolist()[2:7] == [3, 4, 5, 6, 7]
    assert places.tokens.end.tolist()[2:7] == [4, 5, 6, 7, 8]
    assert under[2] == [" ", "x"]  # the space before the text is none of it
    assert places.hidden.tolist() == [0, 0, 0]


def test_bytes_of_a_character_beside_what_is_rewritten(stand_ins) -> None:
    """Where a document is found by folded forms, a character that folds to itself is its bytes all the same."""

    class Joining(stand_ins.Pieces):
        def encode(self, text):
            return super().encode(" ".join(text.split()))

    places, _ = place(Joining(), "a  é")
    assert not places.exact.any()
    assert list(zip(places.tokens.start, places.tokens.end, strict=True)) == [(0, 1), (3, 4), (4, 5)]


@pytest.mark.parametrize("last_has_all", [False, True], ids=["each has all", "the last has all"])
def test_bytes_of_a_character_are_parted_where_offsets_give_them_all_of_it(stand_ins, last_has_all) -> None:
    """One rewritten character must not hide that others of its document are cut."""

    class Composing(stand_ins.Pieces):
        def encode(self, text):
            return super().encode(unicodedata.normalize("NFC", text))

        def offsets(self, text):
            characters = [match.span() for match in re.finditer("[\u1100-\u11ff]+|.\u0301?", text)]
            sizes = [len(unicodedata.normalize("NFC", text[start:end]).encode()) for start, end in characters]
            spans = []
            for (start, end), size in zip(characters, sizes, strict=True):
                spans += [(start, start if last_has_all else end)] * (size - 1) + [(start, end)]
            return np.array(spans)

    text = "e\u0301x한" + unicodedata.normalize("NFD", "한")
    places, _ = place(Composing(), text)
    assert places.aligned.all()
    assert not places.exact.any()
    starts = [0, 2, 3, 4, 5, 6, 7, 8, 9]  # é's second byte: U+0301 begins at 1, goes on at 2
    assert places.tokens.start.tolist() == starts
    assert places.tokens.end.tolist() == [*starts[1:], 16]
    counted = collect(Composing(), [Document(text)])
    assert counted.totals["cut_chars"] == 5  # of é one, of each syllable two


def test_offsets_of_known_tokens_hide_nothing(stand_ins) -> None:
    class Told(stand_ins.Pieces):
        def encode(self, text):
            return super().encode(text[::-1])

        def offsets(self, text):
            return np.array([(i, i + 1) for i in reversed(range(len(text)))])

    places, _ = place(Told(), "abc")
    assert places.aligned.all()
    assert places.hidden.tolist() == [0]


def test_offsets_that_do_not_fit_are_not_believed(stand_ins) -> None:
    class Wrong(stand_ins.Words):
        def offsets(self, text):
            return np.array([[0, 99]])

    assert not place(Wrong("a"), "a xx yy a")[0].aligned.any()


def test_a_tokenizer_that_says_something_else_is_not_aligned(stand_ins) -> None:
    class Reversing(stand_ins.Pieces):
        def encode(self, text):
            return super().encode(text[::-1])

    places, _ = place(Reversing(), "abc", "aba")
    assert places.aligned.tolist() == [False, True]


def test_counts_of_a_tokenizer_that_puts_a_space_before_the_text(stand_ins) -> None:
    """▁|i|f| |x|:|\\n|▁▁▁▁|y|é|é: five tokens in the indent and its line, one cut inside a character."""
    facts = CorpusFacts(kind="code", language="nosuchlanguage")
    documents = [Document("if x:\n    yé"), Document("  é")]
    tally = collect(stand_ins.Prefixing("if", "    "), documents, facts=facts)
    # " ", "if", " ", "x", ":", "\n", "    ", "y", 0xC3, 0xA9 and " ", " ", " ", 0xC3, 0xA9
    assert tally.tokens == 10 + 5
    assert tally.totals["boundaries"] == 8 + 3  # the token of the space before a text is none of it
    assert tally.totals["cut_chars"] == tally.totals["cut_graphemes"] == 2
    assert tally.totals["indent_tokens"] == 1 + 2
    assert tally.totals["word_tokens"] == 1 + 1 + 3 + 2


@pytest.mark.parametrize(
    "spec", ["sentencepiece:{}/llama-2/tokenizer.model", "transformers:{}/llama-2/hf/tokenizer.json"]
)
def test_places_are_those_that_encode_shows(spec: str, test_data) -> None:
    import tokbench

    tokenizer = tokbench.load(spec.format(test_data / "vocabs"))
    texts = ["def f(x):\n    return x\n", " ", "é", ""]
    for language in ("zho_Hant", "tha_Thai", "deu_Latn"):
        texts += (test_data / f"corpora/pud/{language}.txt").read_text("utf-8").split("\n")[:20]
    texts += ["家", "👩", "กำ", "x"]
    [batch] = prepare(map(Document, texts))
    tokens, table = encode_batch(tokenizer, batch.texts), TokenTable(tokenizer)
    places = Aligner(tokenizer, table).align(batch, tokens)
    assert places.exact.all()
    for document, text in enumerate(texts):
        byte_of = np.cumsum([0, *(len(character.encode()) for character in text)])
        shown = [piece for piece in pieces(tokenizer, text) if piece.end > piece.start]
        first, last = places.tokens.limits[document : document + 2]
        begin = places.tokens.start[first:last] - batch.starts[document]
        end = places.tokens.end[first:last] - batch.starts[document]
        assert len(shown) == len(begin)
        # encode shows whole characters: those that the bytes of a token are in
        assert [piece.start for piece in shown] == (np.searchsorted(byte_of, begin, "right") - 1).tolist()
        assert [piece.end for piece in shown] == np.searchsorted(byte_of, end).tolist()
