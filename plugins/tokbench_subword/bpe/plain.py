"""BPE as the papers describe it, in plain Python: the reference for testing the kernels, and used by `trace`.

Lineage: Gage 1994; Sennrich et al. 2016; BPE-dropout, Provilkov et al. 2020. Limits: quadratic in the length
of a pre-token, and some hundred times slower than the encoder.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from tokbench_subword.bpe.model import BpeModel


class Symbol(NamedTuple):
    """A token, and the span of its bytes in the pre-token."""

    id: int
    start: int
    end: int


class Merge(NamedTuple):
    """A merge that was done: its rank, the index of its left symbol, and the symbols after it."""

    rank: int
    at: int
    symbols: tuple[Symbol, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """The rank of a pair's merge, and the resulting token."""

    rank: int
    result: int


@lru_cache(maxsize=8)
def rules_of(model: BpeModel) -> dict[tuple[int, int], Rule]:
    """The merges of a model by pair; if a pair is listed twice, the first entry counts."""
    rules: dict[tuple[int, int], Rule] = {}
    for (left, right, result), rank in zip(model.merges.tolist(), model.merge_ranks.tolist(), strict=True):
        rules.setdefault((left, right), Rule(rank, result))
    return rules


def first_symbols(model: BpeModel, pretoken: str | bytes) -> list[Symbol]:
    """The symbols that merging starts from: bytes, or characters, fallbacks and unknowns (see `BpeModel`)."""
    if model.level == "byte":
        data = pretoken.encode() if isinstance(pretoken, str) else pretoken
        units = [(bytes([byte]), 1) for byte in data]
    else:
        text = pretoken.decode() if isinstance(pretoken, bytes) else pretoken
        units = [
            (text_.encode(), len(c.encode())) for c, text_ in zip(text, _affixed(model, text), strict=True)
        ]
    symbols: list[Symbol] = []
    unknown: Symbol | None = None  # held back, since the next ones may be fused with it
    end = 0
    for token, size in units:
        start, end = end, end + size
        found = model.ids.get(token)
        if found is None and model.byte_fallback and model.level == "char":
            fallback = [model.ids.get(b"<0x%02X>" % byte) for byte in token]
            if len(token) == size and None not in fallback:
                symbols += [
                    Symbol(one, at, at + 1) for at, one in enumerate(fallback, start) if one is not None
                ]
                continue
        if unknown and not (found is None and model.fuse_unk):
            symbols.append(unknown)
            unknown = None
        if found is not None:
            symbols.append(Symbol(found, start, end))
        elif model.unk is not None:
            unknown = Symbol(model.unk, unknown.start if unknown else start, end)
    return [*symbols, unknown] if unknown else symbols


def _affixed(model: BpeModel, text: str) -> list[str]:
    """Each character with its prefix and suffix."""
    last = len(text) - 1
    return [
        (model.continuing_prefix if i else "") + character + (model.end_of_word if i == last else "")
        for i, character in enumerate(text)
    ]


def merges(
    model: BpeModel, symbols: list[Symbol], *, drop: Callable[[], bool] | None = None
) -> Iterator[Merge]:
    """The merges that are done, in order; each changes `symbols` in place.

    At every step, `drop` is called for each possible merge in order, until it returns False: that one is done.
    """
    rules = rules_of(model)
    while True:
        possible: list[tuple[int, int, int]] = []
        for at in range(len(symbols) - 1):
            rule = rules.get((symbols[at].id, symbols[at + 1].id))
            if rule is not None:
                possible.append((rule.rank, at, rule.result))
        best = next((one for one in sorted(possible) if drop is None or not drop()), None)
        if best is None:
            return
        rank, at, result = best
        symbols[at : at + 2] = [Symbol(result, symbols[at].start, symbols[at + 1].end)]
        yield Merge(rank, at, tuple(symbols))


def segment(model: BpeModel, pretoken: str | bytes, *, drop: Callable[[], bool] | None = None) -> list[Symbol]:
    """The tokens of one pre-token.

    Example:
        >>> import numpy as np
        >>> model = BpeModel(vocabulary=(b"a", b"b", b"ab"), merges=np.array([[0, 1, 2]]))
        >>> segment(model, "abb")
        [Symbol(id=2, start=0, end=2), Symbol(id=1, start=2, end=3)]
    """
    data = pretoken.encode() if isinstance(pretoken, str) else pretoken
    if model.whole_tokens and drop is None and data in model.ids:
        return [Symbol(model.ids[data], 0, len(data))]
    symbols = first_symbols(model, pretoken)
    for _ in merges(model, symbols, drop=drop):
        pass
    return symbols
