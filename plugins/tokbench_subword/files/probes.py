"""Texts on which a conversion is tested before it is written, each for a rule on which formats differ."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from tokbench.tokenizer import whole_text
from tokbench_subword.pipeline.added_tokens import AddedToken


class Probe(NamedTuple):
    """A text, and the rule that it tests."""

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
    """The texts for a vocabulary: fixed ones, its `symbols` at all places, and random rows of its `tokens`.

    `tokens` are spelled as in text. `symbols` are matched whole anywhere (added tokens, user-defined symbols).
    `tied` are tokens of equal score, between which only the position decides. No probe contains a text of
    `never`: these are special tokens, which each library handles in its own way.

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
    """The texts for a tokenizer with these tokens (skipping any that are not UTF-8) and `added` tokens.

    They include the text of special tokens, which counts as ordinary text: a format that has special tokens in
    its vocabulary may match one there.
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
    """Rows of tokens drawn evenly from the whole vocabulary, which test merges and scores."""
    drawn = random.Random(0)
    known = [token for token in tokens if token]
    for length in range(_WOVEN) if known else ():
        between = " " if length % 3 == 0 else ""
        row = drawn.choices(known, k=1 + length % _LONGEST)
        while len(row) > 1 and sum(map(len, row)) > _MOST_LETTERS:
            row.pop()
        yield between.join(row)
