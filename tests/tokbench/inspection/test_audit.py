"""The vocabulary audit: each status proven on vocabularies made for it, and known figures of real ones."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tokbench
from tokbench.inspection.audit import Status, VocabularyAudit, audit
from tokbench.inspection.bytestrings import ByteStrings
from tokbench.inspection.overlap import jaccard, lacking_matrix, overlap_matrix, surplus
from tokbench.inspection.scripts import script_of
from tokbench.lint.subject import Subject


class Made:
    """Bytes 0–255, then: a word, the same word again, a part of a character, a special token, a gap."""

    name, vocab_size, special_ids = "made", 261, frozenset({259})
    extra = dict(enumerate([b"cat", b"cat", b"\xe4\xbd", b""], start=256))  # noqa: RUF012

    def encode(self, text):
        data, ids = text.encode(), []
        while data:
            word = data.startswith(b"cat")
            ids.append(256 if word else data[0])
            data = data[3:] if word else data[1:]
        return ids

    def decode(self, ids):
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token_id):
        return bytes([token_id]) if token_id < 256 else self.extra[token_id]


class WordStarts:
    """Words begin with a capital; the rest of a word is in lower-case letters only the middle has."""

    name, vocab_size = "starts", 5
    pieces = ("▁a", "b", "▁", "ba", " ")

    def encode(self, text):
        ids, rest = [], "▁" + text.replace(" ", "▁")
        while rest:
            best = max((piece for piece in self.pieces[:3] if rest.startswith(piece)), key=len, default=None)
            if best is None:
                rest = rest[1:]
                continue
            ids.append(self.pieces.index(best))
            rest = rest[len(best) :]
        return ids

    def decode(self, ids):
        return "".join(self.pieces[index] for index in ids).replace("▁", " ").removeprefix(" ")

    def token_bytes(self, token_id):
        return self.pieces[token_id].replace("▁", " ").encode()


def test_every_status_is_found_and_proven():
    found = audit(Made())
    assert found.counts == {"OK": 129, "UNDECODABLE": 129, "UNREACHABLE": 1, "SPECIAL": 1, "UNASSIGNED": 1}
    assert found.reencoded == {257: (256,)}
    assert found.ids(Status.SPECIAL) == [259]
    assert found.ids(Status.UNASSIGNED) == [260]
    assert found.duplicates == {b"cat": (256, 257)}
    assert found.text(258) is None
    assert found.share("UNREACHABLE") == 1 / 261
    assert sum(found.counts.values()) == found.vocab_size


def test_tokens_from_within_words_are_tried_within_words():
    found = audit(WordStarts())
    assert found.in_context == {1: "zqb", 2: "zq "}
    assert found.reencoded == {3: (2, 1), 4: (2, 2)}  # a space is tried as one, though it decodes to nothing


def test_json_there_and_back():
    found = audit(Made())
    again = VocabularyAudit.from_json(json.loads(json.dumps(found.to_json())))
    assert np.array_equal(again.status, found.status)
    assert list(again.tokens) == list(found.tokens)
    assert (again.reencoded, again.scripts, again.vocab_size) == (found.reencoded, found.scripts, 261)


def test_a_tokenizer_that_refuses_a_text_costs_that_id_alone():
    class Fussy(Made):
        def encode(self, text):
            if "q" in text:
                raise ValueError("no q")
            return super().encode(text)

    assert audit(Fussy()).reencoded == {ord("q"): (), 257: (256,)}


class Ends(Made):
    """Characters, of which the last of each word is marked; two tokens join only where a word goes on."""

    letters = "0123456789ab"
    name, vocab_size, special_ids = "ends", 2 * 12 + 100, frozenset()
    pairs = tuple(a + b for a in "0123456789" for b in "0123456789")

    def encode(self, text):
        ids = []
        for word in text.split():
            rest = "".join(letter for letter in word if letter in self.letters)
            while len(rest) > 2 and rest[:2] in self.pairs and rest[:2] != "77":
                ids.append(24 + self.pairs.index(rest[:2]))
                rest = rest[2:]
            ids += [self.letters.index(letter) for letter in rest[:-1]]
            ids += [12 + self.letters.index(letter) for letter in rest[-1:]]
        return ids

    def decode(self, ids):
        return "".join(self.token_bytes(index).decode() for index in ids)

    def token_bytes(self, token_id):
        return (self.letters * 2)[token_id].encode() if token_id < 24 else self.pairs[token_id - 24].encode()


def test_tokens_that_need_text_after_them_or_characters_of_their_script_are_reached():
    found = audit(Ends())
    assert {found.text(index) for index in found.reencoded} == {"77"}
    for index, text in found.in_context.items():
        assert index in Ends().encode(text)


def test_a_token_that_some_text_uses_is_not_unreachable():
    found = audit(Made())
    counts = np.zeros(261, np.int64)
    assert found.with_used(counts).counts == found.counts
    counts[257] = 3
    used = found.with_used(counts)
    assert (used.counts["UNREACHABLE"], used.counts["OK"], used.reencoded) == (0, 130, {})
    assert found.counts["UNREACHABLE"] == 1

    class Capital(Made):
        def encode(self, text):
            return [257] if text == "Cat" else super().encode(text)

    assert Subject("", Capital()).audit.reencoded == {257: (256,)}
    assert Subject("", Capital(), texts={"en": ["Cat", "Hat"]}).audit.reencoded == {}


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("tiktoken:gpt2", {"OK": 49912, "UNDECODABLE": 344, "UNREACHABLE": 0, "SPECIAL": 1, "UNASSIGNED": 0}),
        ("sentencepiece:{}/t5-base/spiece.model", {"UNREACHABLE": 2, "SPECIAL": 3}),
        ("sentencepiece:{}/llama-2/tokenizer.model", {"UNREACHABLE": 96, "UNDECODABLE": 128}),
    ],
)
def test_known_vocabularies(spec, expected, test_data):
    tokenizer = tokbench.load(spec.format(test_data / "vocabs"))
    found = audit(tokenizer)
    assert expected.items() <= found.counts.items()
    for index, ids in list(found.reencoded.items())[:50]:
        assert tuple(tokenizer.encode(tokenizer.decode([index]))) == ids != (index,)


@pytest.mark.slow
def test_unreachable_tokens_of_o200k(test_data):
    o200k = tokbench.load("tiktoken:o200k_base")
    found = audit(o200k)
    assert found.counts["UNREACHABLE"] == 1
    assert len(found.in_context) == 11  # these and the one are what Land and Bartolo count
    for index, text in found.in_context.items():
        assert index in o200k.encode(text)
    assert {found.text(index) for index in found.reencoded} == {" I'"}


def test_kinds_of_tokens():
    found = audit(Made())
    assert [found.tokens[index] for index in found.longest(1)] == [b"cat"]
    assert {found.text(index) for index in found.whitespace} >= {" ", "\n", "\t"}
    assert [found.text(index) for index in found.digits] == list("0123456789")


@pytest.mark.parametrize(
    ("text", "script"),
    [
        ("Ünïcode", "Latin"),
        (" слово", "Cyrillic"),
        ("東京タワー", "Han"),
        ("ไทย", "Thai"),
        ("→", "symbols"),
        ("\u00a0", "white space"),
        (" 12", "digits"),
        ("µ", "other"),
    ],
)
def test_scripts(text, script):
    assert script_of(text) == script


def test_token_tables_keep_empty_strings():
    tokens = [b"", b"ab", b"", b"\xff"]
    table = ByteStrings.of(tokens)
    assert list(table) == tokens
    assert table.lengths().tolist() == [0, 2, 0, 1]


def test_overlap_and_surplus():
    a, b = audit(Made()), audit(tokbench.load("bytes"))
    matrix = overlap_matrix([a, b])
    assert matrix[0, 1] == matrix[1, 0] == pytest.approx(256 / 258)
    assert matrix[0, 0] == 1
    extra = surplus(a, b)
    assert extra.tokens == (b"cat", b"\xe4\xbd")
    assert extra.by_script == {"Latin": 1, "part of a character": 1}
    assert extra.by_length == {2: 1, 3: 1}
    assert json.loads(json.dumps(extra.as_json()))["n"] == 2
    assert surplus(b, a).tokens == ()
    assert lacking_matrix([a, b]).tolist() == [[0, 2], [0, 0]]
    assert np.isnan(jaccard(frozenset(), frozenset()))


def test_each_id_is_decoded_once():
    asked = []

    class Plain:
        name, vocab_size = "plain", 26

        def encode(self, text):
            return [ord(char) - 97 for char in text]

        def decode(self, ids):
            asked.append(list(ids))
            return "".join(chr(97 + index) for index in ids)

    audit(Plain())
    assert asked[:26] == [[index] for index in range(26)]
