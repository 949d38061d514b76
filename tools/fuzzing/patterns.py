r"""Random regular expressions, as Oniguruma (`tokenizers`) or Rust (tiktoken) read them.

Left out is what either reads in a way of its own: some sets within sets (Oniguruma), and flags that outlast
their group (Rust).
"""

from __future__ import annotations

import random

from fuzzing.texts import chance

_LETTERS = (*"aAsSkKtex1-_ é.,'", *"ßſﬁİ中", r"\n", r"\-", r"\.", r"\x41", r"\x{73}", r"\u0061", r"\e")
_CLASSES = (
    *(r"\p{L}", r"\P{Lu}", r"\p{^Ll}", r"\s", r"\S", r"\d", r"\D", r"\w", r"\W", r"\h", r"\p{Lu}"),
    *(r"\p{Han}", r"\p{N}", r"\p{Word}", r"\p{Lowercase}", r"\pL", r"\PN", r"\p{P}"),
)
_POSIX = ("[:alpha:]", "[:^upper:]", "[:punct:]", "[:lower:]", "[:space:]", "[:xdigit:]")
_RANGES = ("a-c", "A-Z", "a-z", "0-9", r"\x41-C", "+--", "À-ÿ", "一-龥", "s-ſ")
_PLACES = ("^", "$", r"\b", r"\B", r"\A", r"\z", r"\Z", "(?<=[ab])", "(?<!s)", r"(?<=\s)", r"(?!\S)")
_QUANTIFIERS = (
    *("?", "*", "+", "??", "*?", "+?", "?+", "*+", "++", "{2}", "{1,2}", "{2,}", "{,2}", "{1,2}?"),
    *("{1,2}+", "{2}?", "{1}", "{2}+", "{2}{1,2}"),
)
_GROUPS = ("(?:%s)", "(%s)", "(?=%s)", "(?!%s)", "(?>%s)", "(?i:%s)", "(?-i:%s)")


class _Writer:
    """Writes one expression; `ruby` for Oniguruma."""

    def __init__(self, rng: random.Random, ruby: bool) -> None:
        self._rng, self._ruby = rng, ruby

    def alternatives(self, depth: int = 0) -> str:
        return "|".join(self._sequence(depth) for _ in range(self._rng.choice((1, 1, 2, 3))))

    def _sequence(self, depth: int) -> str:
        parts = []
        for _ in range(self._rng.randint(1, 3)):
            part = self._part(depth)
            if chance(self._rng, 0.3) and not part.startswith(("(?=", "(?!")):
                part += self._rng.choice(_QUANTIFIERS)
            parts.append(part)
            if chance(self._rng, 0.08):
                parts.append(self._rng.choice(_PLACES))
            if not depth and chance(self._rng, 0.05):
                parts.append(self._rng.choice(("(?i)", "(?-i)")))
        return "".join(parts)

    def _part(self, depth: int) -> str:
        kind = self._rng.random()
        if kind < 0.45:
            return self._rng.choice(_LETTERS)
        if kind < 0.62:
            return self._rng.choice((*_CLASSES, ".", r"\N"))
        if kind < 0.8 or depth > 2:
            return self._set()
        return self._rng.choice(_GROUPS) % self.alternatives(depth + 1)

    def _set(self, depth: int = 0) -> str:
        members = ""
        for _ in range(self._rng.randint(1, 3)):
            kind = self._rng.random()
            if kind < 0.4:
                members += self._rng.choice([letter for letter in _LETTERS if letter != "-"])
            elif kind < 0.55:
                members += self._rng.choice(_RANGES)
            elif kind < 0.8 or depth:
                members += self._rng.choice(_CLASSES)
            else:
                members += self._rng.choice(_POSIX) if self._ruby else self._set(depth + 1)
        if chance(self._rng, 0.15) and not depth:
            members += self._rng.choice(("&&",) if self._ruby else ("&&", "--", "~~")) + self._set(depth + 1)
        return f"[{'^' * chance(self._rng, 0.3)}{members}]"


def pattern(rng: random.Random, *, ruby: bool) -> str:
    """Any expression, with hardly a chance to be refused by the library that it is for.

    Example:
        >>> pattern(random.Random(5), ruby=True) == pattern(random.Random(5), ruby=True)
        True
    """
    return "(?i)" * chance(rng, 0.3) + _Writer(rng, ruby).alternatives()
