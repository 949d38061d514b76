"""The structure of code, by hand, and against a parser where one is installed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tokbench.corpus import Document
from tokbench.tally.code import identifier_cuts
from tokbench.tally.collect import collect
from tokbench.tally.counters import CorpusFacts
from tokbench.tally.grammar import installed, leaf_gaps, parser_of
from tokbench.tally.prepare import prepare

CODE = CorpusFacts(kind="code", language="nosuchlanguage")


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("plain", ["plain"]),
        ("fooBar", ["foo", "Bar"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("snake_case", ["snake", "_", "case"]),
        ("_private", ["_", "private"]),
        ("x", ["x"]),
        ("MAX", ["MAX"]),
        ("utf8Name", ["utf8", "Name"]),
        ("größeÄndern", ["größe", "Ändern"]),
        ("ÜBERName", ["ÜBER", "Name"]),
    ],
)
def test_parts_of_identifiers(name: str, parts: list[str]) -> None:
    [batch] = prepare([Document(name)], facts=CODE)
    cuts = identifier_cuts(batch.data, batch.spans["identifiers"])
    at = [0, *cuts.at[cuts.gold].tolist(), len(name.encode())]
    assert [name.encode()[a:b].decode() for a, b in pairwise(at)] == parts


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Tomás = Größe(x9, 9x)", ["Tomás", "Größe", "x9"]),  # 9x begins with a digit: no name
        ("e\u0301t\u00e9 _ä", ["e\u0301t\u00e9", "_ä"]),
        ("# 中文 комментарий", ["комментарий"]),  # a sentence in Chinese is no name
    ],
)
def test_identifiers_of_any_script(text: str, names: list[str]) -> None:
    [batch] = prepare([Document("first"), Document(text)], facts=CODE)
    found, data = batch.spans["identifiers"], batch.data.tobytes()
    spans = zip(found.start.tolist(), found.end.tolist(), strict=True)
    assert [data[start:end].decode() for start, end in spans] == ["first", *names]
    assert found.document.tolist() == [0] + [1] * len(names)


@pytest.mark.parametrize(
    ("language", "text", "wanted"),
    [
        ("c", "a->b--; // c == d\n/* e++ */ f<-1", ["->", "--"]),
        ("python", 'a //= b ** c  # -> d\ns = \'== // --\' + """x\n!="""\n', ["//=", "**"]),
        ("sql", "SELECT a || b -- <>\nWHERE c >= 'it''s != d'", ["||", ">="]),
        ("lua", "a = b .. c -- d == e\n--[[ f\n== ]] g ~= h", [".."]),
        ("r", "x <- y |> f() # <-", ["<-", "|>"]),
        ("go", "ch <- v; a := `x == \n y`", ["<-", ":="]),
        ("rust", "fn f<'a>(x: &'a str) -> char { '=' /* => */ }", ["->"]),
        ("javascript", "const u = 'http://a' ?? `${b}`; // =>", ["??"]),
        ("haskell", "f x = x >>= g -- <-\n{- == -} <- h", [">>=", "<-"]),
        ("css", "--main: 1px; /* == */", []),
        ("nosuchlanguage", "a == b // c -- d", ["=="]),  # comments, in some language
    ],
)
def test_operators_outside_of_comments_and_strings(language: str, text: str, wanted: list[str]) -> None:
    facts = CorpusFacts(kind="code", language=language)
    [batch] = prepare([Document('"/* not ended'), Document(text)], facts=facts)
    found, data = batch.spans["operators"], batch.data.tobytes()
    spans = zip(found.start.tolist(), found.end.tolist(), strict=True)
    assert [data[start:end].decode() for start, end in spans] == wanted


def test_counts_by_hand(stand_ins) -> None:
    text = "if fooBar != x:\n    y += 1\n\n  # ü_x\n"
    tally = collect(stand_ins.Pieces("foo", "Bar", "!=", "    ", "if"), [Document(text)], facts=CODE)
    assert tally.totals["identifiers"] == 5  # if, fooBar, x, y, ü_x
    assert tally.totals["operators"] == 2
    assert tally.totals["whole_operators"] == 1
    assert tally.totals["indents"] == 2
    assert tally.totals["indent_tokens"] == 1 + 2
    assert tally.totals["identifier_tokens"] == 1 + 2 + 1 + 1 + 4
    assert (tally.totals["identifier_cuts"], tally.totals["identifier_hits"]) == (1 + 3, 1 + 2)
    assert tally.totals["parsed_documents"] == 0


def test_prose_has_no_code(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), [Document("x == y")])
    assert tally.totals["operators"] == tally.totals["identifiers"] == 0


def test_a_grammar_that_is_not_there() -> None:
    assert installed("nosuchlanguage") == ""
    assert installed(None) == ""
    assert parser_of("nosuchlanguage") is None


def test_gaps_between_the_tokens_of_the_parser(stand_ins) -> None:
    pytest.importorskip("tree_sitter_python", reason="needs tree-sitter and tree-sitter-python")
    text = "x = foo(1)\n"
    gaps = list(leaf_gaps(parser_of("python"), text.encode()))
    assert gaps == [(1, 2), (3, 4), (7, 7), (8, 8), (9, 9)]
    facts = CorpusFacts(kind="code", language="python")
    tally = collect(stand_ins.Pieces(" =", " foo", "(1", "x ="), [Document(text)], facts=facts)
    # "x =", " foo", "(1", ")", "\n": three boundaries in gaps, and one before the line feed
    assert tally.totals["syntax_reach"] == 5
    assert tally.totals["syntax_hits"] == 3
    assert tally.totals["syntax_cuts"] == 4
    spaced = collect(stand_ins.Pieces("x", "=", "foo(1)"), [Document("x  =  foo(1)\n")], facts=facts)
    # x|.|.|=|.|.|foo(1)|\n: three boundaries in each of two gaps, of which one each counts
    assert (spaced.totals["syntax_hits"], spaced.totals["syntax_cuts"]) == (2, 7)


def test_a_gap_is_found_once(stand_ins, monkeypatch) -> None:
    """x|.|.|=|.|.|foo|\\n, with a parser that sees x, = and foo: of three boundaries in a gap one counts."""
    monkeypatch.setattr("tokbench.tally.code.parser_of", lambda language: "a parser")
    monkeypatch.setattr("tokbench.tally.code.leaf_gaps", lambda parser, text: [(1, 3), (4, 6)])
    tally = collect(stand_ins.Pieces("foo"), [Document("x  =  foo\n")], facts=CODE)
    assert (tally.totals["syntax_hits"], tally.totals["syntax_reach"], tally.totals["syntax_cuts"]) == (2, 2, 7)
