"""What code has beside words: identifiers, operators, indentation, and the tokens of a parser."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from tokbench.tally.facts import CorpusFacts
from tokbench.tally.grammar import leaf_gaps, parser_of
from tokbench.tally.text import Cuts, Spans, TextBatch

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Ints = NDArray[np.int64]

# ASCII names; one that touches a letter of another script is part of a word of prose
_IDENTIFIER = re.compile(rb"(?<![\w\x80-\xff])[A-Za-z_][A-Za-z0-9_]*(?![\x80-\xff])")
_OPERATOR = re.compile(
    rb">>>=|<<=|>>=|>>>|===|!==|\*\*=|//=|&&=|\|\|=|\?\?=|\.\.\.|<=>|->|=>|==|!=|<=|>=|&&|\|\||\?\?|\?\."
    rb"|\+\+|--|\+=|-=|\*=|/=|%=|&=|\|=|\^=|<<|>>|::|:=|\*\*|//|\.\."
)
_INDENT = re.compile(rb"(?m)^[ \t]+(?=\S)")


def with_code(batch: TextBatch, facts: CorpusFacts) -> TextBatch:
    """`batch` with the structure of code found and counted."""
    import numpy as np

    joined = batch.data.tobytes()
    spans = {
        "identifiers": _found(_IDENTIFIER, joined, batch),
        "operators": _found(_OPERATOR, joined, batch),
        "indents": _found(_INDENT, joined, batch),
    }
    cuts = identifier_cuts(batch.data, spans["identifiers"])
    n = len(batch)
    counts = {name: np.bincount(found.document, minlength=n).astype(np.int64) for name, found in spans.items()}
    counts["identifier_gold"] = np.bincount(cuts.document[cuts.gold], minlength=n).astype(np.int64)
    syntax = _syntax(batch, joined, facts)
    if syntax is not None:
        counts["parsed_documents"] = np.ones(n, np.int64)
        counts["syntax_gold"] = np.bincount(syntax.document, minlength=n).astype(np.int64)
    return replace(batch, counts={**batch.counts, **counts}, code=spans, identifier_cuts=cuts, syntax=syntax)


def _found(pattern: re.Pattern[bytes], joined: bytes, batch: TextBatch) -> Spans:
    import numpy as np

    pairs = np.array([match.span() for match in pattern.finditer(joined)], np.int64).reshape(-1, 2)
    return Spans(pairs[:, 0], pairs[:, 1], np.searchsorted(batch.starts, pairs[:, 0], side="right") - 1)


def identifier_cuts(data: NDArray[np.uint8], identifiers: Spans) -> Cuts:
    """Every place inside an identifier, with whether a camelCase or snake_case part begins or ends there."""
    import numpy as np

    lengths = identifiers.end - identifiers.start
    inner = (lengths - 1).clip(0)
    first = np.cumsum(inner) - inner
    at = np.arange(inner.sum()) - np.repeat(first - identifiers.start - 1, inner)
    before, here = data[at - 1], data[at]
    end = np.repeat(identifiers.end, inner)
    after = np.where(at + 1 < end, data[np.minimum(at + 1, len(data) - 1)], 0)
    underscore = (before == ord("_")) != (here == ord("_"))
    camel = _upper(here) & ~_upper(before)
    acronym = _upper(before) & _upper(here) & _lower(after)  # HTTP|Server
    gold = underscore | (camel & (before != ord("_"))) | acronym
    return Cuts(at, np.repeat(identifiers.document, inner), gold)


def _upper(letters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (letters >= ord("A")) & (letters <= ord("Z"))
    return flags


def _lower(letters: NDArray[np.uint8]) -> NDArray[np.bool_]:
    flags: NDArray[np.bool_] = (letters >= ord("a")) & (letters <= ord("z"))
    return flags


def _syntax(batch: TextBatch, joined: bytes, facts: CorpusFacts) -> Spans | None:
    """The gaps between the parser's tokens, or None without a grammar for the language."""
    import numpy as np

    parser = parser_of(facts.language)
    if parser is None:
        return None
    rows = [
        (start + offset, end + offset, index)
        for index, (offset, stop) in enumerate(zip(batch.starts.tolist(), batch.ends.tolist(), strict=True))
        for start, end in leaf_gaps(parser, joined[offset:stop])
    ]
    table = np.array(rows, np.int64).reshape(-1, 3)
    return Spans(table[:, 0], table[:, 1], table[:, 2])
