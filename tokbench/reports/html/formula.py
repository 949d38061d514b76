r"""Formulas as MathML, which browsers set themselves: the small part of LaTeX's mathematics that metrics use.

Anything outside it is left to the caller to show as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from markupsafe import Markup, escape

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.S)
_SIGNS = {
    r"\cap": "∩", r"\cup": "∪", r"\neq": "≠", r"\emptyset": "∅", r"\geq": "≥", r"\leq": "≤", r"\in": "∈",
    r"\approx": "≈", r"\cdot": "·", r"\times": "×", r"\{": "{", r"\}": "}", r"\_": "_", "|": "|", "-": "−",
    r"\to": "→", r"\mid": "|", r"\%": "%", r"\lfloor": "⌊", r"\rfloor": "⌋",
}  # fmt: skip
_LETTERS = {
    r"\alpha": "α", r"\beta": "β", r"\mu": "μ", r"\sigma": "σ", r"\ell": "ℓ", r"\lambda": "λ", r"\pi": "π",
}  # fmt: skip
_SPACES = {r"\,": "0.17em", r"\ ": "0.4em", r"\;": "0.28em", r"\quad": "1em"}
_FUNCTIONS = (r"\log", r"\ln", r"\max", r"\min", r"\exp")


class UnknownFormula(ValueError):
    """A formula that uses more of LaTeX than is read here."""


def mathml(formula: str) -> Markup:
    r"""The formula as a ``<math>`` element; raises `UnknownFormula` for what it does not read.

    Example:
        >>> mathml(r"\frac{a}{2}")
        Markup('<math displaystyle="true"><mfrac><mi>a</mi><mn>2</mn></mfrac></math>')
    """
    reader = _FormulaReader(_TOKEN.findall(formula))
    inner = reader.row(until=None)
    return Markup('<math displaystyle="true">{}</math>').format(inner)


def shown(formula: str) -> Markup:
    """The formula as MathML, or as it is written where that cannot be."""
    try:
        return mathml(formula)
    except UnknownFormula:
        return Markup("<code>{}</code>").format(formula)


@dataclass(slots=True)
class _FormulaReader:
    """Reads tokens one after the other; every method leaves off behind what it read."""

    tokens: list[str]
    place: int = 0

    def peek(self) -> str | None:
        while self.place < len(self.tokens) and self.tokens[self.place].isspace():
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> str:
        token = self.peek()
        if token is None:
            raise UnknownFormula("it ends too early")
        self.place += 1
        return token

    def row(self, until: str | None) -> Markup:
        parts: list[Markup] = []
        while (token := self.peek()) != until:
            if token is None or token == "}":
                raise UnknownFormula("braces do not match")
            # A function stands off from a factor before it and, behind its own scripts, from its argument.
            if token in _FUNCTIONS and parts and not parts[-1].endswith("</mo>"):
                parts.append(_space("0.17em"))
            parts.append(self.scripted())
            if token in _FUNCTIONS and self.peek() != until:
                parts.append(_space("0.17em"))
        if until is not None:
            self.take()
        return parts[0] if len(parts) == 1 else Markup("<mrow>{}</mrow>").format(Markup("").join(parts))

    def scripted(self) -> Markup:
        base = self.atom()
        below = above = None
        while self.peek() in ("_", "^"):
            if self.take() == "_":
                below = self.atom()
            else:
                above = self.atom()
        if below is not None and above is not None:
            return Markup("<msubsup>{}{}{}</msubsup>").format(base, below, above)
        if below is not None:
            return Markup("<msub>{}{}</msub>").format(base, below)
        return base if above is None else Markup("<msup>{}{}</msup>").format(base, above)

    def atom(self) -> Markup:
        token = self.take()
        if token == "{":
            return self.row(until="}")
        command = _COMMANDS.get(token)
        if command is not None:
            return command(self)
        if token in _SPACES:
            return _space(_SPACES[token])
        if token in _LETTERS or (token.isalpha() and len(token) == 1):
            return Markup("<mi>{}</mi>").format(_LETTERS.get(token, token))
        if token[0].isdigit():
            return Markup("<mn>{}</mn>").format(token)
        if token in _FUNCTIONS:
            return Markup("<mi>{}</mi>").format(token[1:])
        if token.startswith("\\") and token not in _SIGNS:
            raise UnknownFormula(token)
        # A bar encloses: without this it is set off like an operator between two terms.
        tight = Markup(' lspace="0" rspace="0"') if token == "|" else Markup("")
        return Markup('<mo stretchy="false"{}>{}</mo>').format(tight, _SIGNS.get(token, token))

    def words(self) -> str:
        """The plain text of a group, as the commands for upright text take it."""
        if self.take() != "{":
            raise UnknownFormula("text without braces")
        found: list[str] = []
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            if token == "}":
                return "".join(found)
            found.append({r"\ ": " ", r"\_": "_"}.get(token, token))
        raise UnknownFormula("braces do not match")


def _space(width: str) -> Markup:
    return Markup('<mspace width="{}"></mspace>').format(width)


def _fraction(reader: _FormulaReader) -> Markup:
    return Markup("<mfrac>{}{}</mfrac>").format(reader.atom(), reader.atom())


def _upright(reader: _FormulaReader) -> Markup:
    return Markup("<mtext>{}</mtext>").format(escape(reader.words().replace(" ", "\u00a0")))


def _bar(reader: _FormulaReader) -> Markup:
    return Markup("<mover>{}<mo>¯</mo></mover>").format(reader.atom())


def _sized(reader: _FormulaReader) -> Markup:
    return Markup("<mo>{}</mo>").format(reader.take())


_COMMANDS: dict[str, Callable[[_FormulaReader], Markup]] = {
    r"\frac": _fraction,
    r"\mathrm": _upright,
    r"\text": _upright,
    r"\bar": _bar,
    r"\Big": _sized,
    r"\sum": lambda reader: Markup("<mo>∑</mo>"),
}
