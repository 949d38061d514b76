"""The structure of code, by hand, and against a parser where one is installed."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tokbench.corpus import Document
from tokbench.tally import CorpusFacts, collect, prepare
from tokbench.tally.code import identifier_cuts
from tokbench.tally.grammar import installed, leaf_gaps, parser_of

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
    ],
)
def test_parts_of_identifiers(name: str, parts: list[str]) -> None:
    [batch] = prepare([Document(name)], facts=CODE)
    cuts = identifier_cuts(batch.data, batch.code["identifiers"])
    at = [0, *cuts.at[cuts.gold].tolist(), len(name)]
    assert [name[a:b] for a, b in pairwise(at)] == parts


def test_counts_by_hand(stand_ins) -> None:
    text = "if fooBar != x:\n    y += 1\n\n  # ü_x\n"
    tally = collect(stand_ins.Pieces("foo", "Bar", "!=", "    ", "if"), [Document(text)], facts=CODE)
    assert tally.count("identifiers") == 4  # if, fooBar, x, y; ü_x is not ASCII
    assert tally.count("operators") == 2
    assert tally.count("whole_operators") == 1
    assert tally.count("indents") == 2
    assert tally.count("indent_tokens") == 1 + 2
    assert tally.count("identifier_tokens") == 1 + 2 + 1 + 1
    assert (tally.count("identifier_cuts"), tally.count("identifier_hits")) == (1, 1)
    assert tally.count("parsed_documents") == 0


def test_prose_has_no_code(stand_ins) -> None:
    tally = collect(stand_ins.Pieces(), [Document("x == y")])
    assert tally.count("operators") == tally.count("identifiers") == 0


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
    assert tally.count("syntax_reach") == 5
    assert tally.count("syntax_hits") == 3
    assert (tally.count("syntax_cuts"), tally.count("syntax_right")) == (4, 3)
