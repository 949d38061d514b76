"""Texts on which a conversion is tried before it is written: each for a rule that formats say differently."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tokbench.tokenizer import whole_text
from tokbench_subword.pipeline.added_tokens import AddedToken


class Probe(NamedTuple):
    """A text, and the rule that it is there for."""

    rule: str
    text: str


_WOVEN = 400
_LONGEST = 12
_MOST_LETTERS = 2000
"""Of some tokens in a row, where it is not one alone: `tokenizers` takes minutes over runs of long ones."""
_MOST_SYMBOLS = 64


def probes(
    tokens: Sequence[str], *, symbols: Iterable[str] = (), tied: Iterable[str] = (), never: Iterable[str] = ()
) -> list[Probe]:
    """The texts for a vocabulary: the fixed ones, its `symbols` in all places, and its `tokens` woven together.

    `tokens` are as text has them. `symbols` are matched whole wherever they stand (added tokens, user-defined
    symbols), `tied` are tokens that nothing but their place decides between. No probe holds one of `never`:
    special tokens, whose text is a matter of each library's own.

    Example:
        >>> found = probes(["a"], symbols=["<x>"])
        >>> [probe.text for probe in found if probe.rule == "symbols matched whole"][:3]
        ['<x>', 'a<x>b', 'a <x> b']
    """
    from tokbench.testing.texts import RULE_TEXTS  # with the whole kit, which loading a tokenizer does not need

    found = [Probe(rule, text) for rule, texts in RULE_TEXTS.items() for text in texts]
    found += [Probe("symbols matched whole", text) for text in _around(sorted(set(symbols)))]
    found += [Probe("tokens side by side", text) for text in _woven(tokens)]
    found += [Probe("tokens of one score", text) for text in _woven(sorted(set(tied)))]
    apart = [text for text in never if text]
    return [probe for probe in found if not any(text in probe.text for text in apart)]


def probes_of(tokens: Iterable[bytes], added: Sequence[AddedToken]) -> list[Probe]:
    """The texts for a tokenizer of some tokens, those not counted that are no text alone, and `added` ones.

    The text of special tokens is among them, which is ordinary text: a format that has these in its vocabulary
    may find one there.
    """
    special = sorted(token.content for token in added if token.special)
    texts = [text for text in map(whole_text, tokens) if text is not None]
    return [
        *probes(texts, symbols=[token.content for token in added if not token.special]),
        *(Probe("the text of special tokens", text) for text in _around(special)),
    ]


def _around(symbols: Sequence[str]) -> Iterator[str]:
    if len(symbols) > _MOST_SYMBOLS:
        symbols = [*symbols[: _MOST_SYMBOLS // 2], *symbols[-_MOST_SYMBOLS // 2 :]]
    for index, one in enumerate(symbols):
        other = symbols[index - 1]
        for text in ("{0}", "a{0}b", "a {0} b", "a  {0}  b", " {0}", "{0} ", "{0}{0}", "{0} {1}", "{1}{0}c"):
            yield text.format(one, other)
        yield from (one.upper(), f"{one.lower()}x", one[:-1], one[1:])


def _woven(tokens: Sequence[str]) -> Iterator[str]:
    """Tokens drawn evenly from the whole vocabulary, in a row: what merges and scores decide between."""
    drawn = random.Random(0)
    known = [token for token in tokens if token]
    for length in range(_WOVEN) if known else ():
        between = " " if length % 3 == 0 else ""
        row = drawn.choices(known, k=1 + length % _LONGEST)
        while len(row) > 1 and sum(map(len, row)) > _MOST_LETTERS:
            row.pop()
        yield between.join(row)
