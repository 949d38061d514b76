r"""Formulas as MathML, which browsers render: the small part of LaTeX's mathematics that metrics use.

For other formulas the caller shows the source.
"""

from __future__ import annotations

import re

from markupsafe import Markup

_TOKEN = re.compile(r"\\(?:text|mathrm)\{[^{}]*\}|\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\S")
"""A command for upright text is one token with its group, whose spaces count; other spaces do not."""
_SIGNS = {
    r"\cap": "∩", r"\cup": "∪", r"\neq": "≠", r"\emptyset": "∅", r"\geq": "≥", r"\leq": "≤", r"\in": "∈",
    r"\approx": "≈", r"\cdot": "·", r"\times": "×", r"\{": "{", r"\}": "}", r"\_": "_", "|": "|", "-": "−",
    r"\to": "→", r"\mid": "|", r"\%": "%", r"\lfloor": "⌊", r"\rfloor": "⌋",
}  # fmt: skip
_LETTERS = {
    r"\alpha": "α", r"\beta": "β", r"\mu": "μ", r"\sigma": "σ", r"\ell": "ℓ", r"\lambda": "λ", r"\pi": "π",
}  # fmt: skip
_THIN = "0.17em"
_SPACES = {r"\,": _THIN, r"\ ": "0.4em", r"\;": "0.28em", r"\quad": "1em"}
_FUNCTIONS = (r"\log", r"\ln", r"\max", r"\min", r"\exp")


class UnknownFormula(ValueError):
    """A formula that uses LaTeX which this module does not know."""


def mathml(formula: str) -> Markup:
    r"""The formula as a ``<math>`` element; raises `UnknownFormula` for unknown LaTeX.

    Example:
        >>> mathml(r"\frac{a}{2}")
        Markup('<math displaystyle="true"><mfrac><mi>a</mi><mn>2</mn></mfrac></math>')
    """
    tokens = _TOKEN.findall(formula)[::-1]  # the next one is the last
    return Markup('<math displaystyle="true">{}</math>').format(_row(tokens, until=None))


def formula_markup(formula: str) -> Markup:
    """The formula as MathML, or its source if that is not possible."""
    try:
        return mathml(formula)
    except UnknownFormula:
        return Markup("<code>{}</code>").format(formula)


def _row(tokens: list[str], until: str | None) -> Markup:
    """The MathML of the tokens up to the end or a closing brace, which is removed, too."""
    parts: list[Markup] = []
    while (token := _next(tokens)) != until:
        if token is None or token == "}":
            raise UnknownFormula("braces do not match")
        # A function stands off from a factor before it and, behind its own scripts, from its argument.
        if token in _FUNCTIONS and parts and not parts[-1].endswith("</mo>"):
            parts.append(_space(_THIN))
        parts.append(_scripted(tokens))
        if token in _FUNCTIONS and _next(tokens) != until:
            parts.append(_space(_THIN))
    if until is not None:
        tokens.pop()
    return parts[0] if len(parts) == 1 else _element("mrow", *parts)


def _scripted(tokens: list[str]) -> Markup:
    """An atom with its subscript and superscript."""
    base, scripts = _atom(tokens), dict[str, Markup]()
    while _next(tokens) in ("_", "^"):
        sign = tokens.pop()
        scripts[sign] = _atom(tokens)
    below, above = scripts.get("_"), scripts.get("^")
    if below is not None and above is not None:
        return _element("msubsup", base, below, above)
    if below is not None:
        return _element("msub", base, below)
    return base if above is None else _element("msup", base, above)


def _atom(tokens: list[str]) -> Markup:
    if not tokens:
        raise UnknownFormula("it ends too early")
    token = tokens.pop()
    command, brace, words = token.partition("{")
    if command in (r"\text", r"\mathrm") and brace:
        for written, meant in ((r"\ ", " "), (r"\_", "_"), (" ", "\u00a0")):
            words = words.replace(written, meant)
        return _element("mtext", words.removesuffix("}"))
    if token == "{":
        return _row(tokens, until="}")
    if token == r"\frac":
        return _element("mfrac", _atom(tokens), _atom(tokens))
    if token == r"\bar":
        return _element("mover", _atom(tokens), _element("mo", "¯"))
    if token == r"\sum":
        return _element("mo", "∑")
    if token == r"\Big" and tokens:
        return _element("mo", tokens.pop())
    if token in _SPACES:
        return _space(_SPACES[token])
    if token in _LETTERS or (token.isalpha() and len(token) == 1):
        return _element("mi", _LETTERS.get(token, token))
    if token[0].isdigit():
        return _element("mn", token)
    if token in _FUNCTIONS:
        return _element("mi", token[1:])
    if token.startswith("\\") and token not in _SIGNS:
        raise UnknownFormula(token)
    # A bar encloses: without this it is set off like an operator between two terms.
    tight = Markup(' lspace="0" rspace="0"') if token == "|" else Markup("")
    return Markup('<mo stretchy="false"{}>{}</mo>').format(tight, _SIGNS.get(token, token))


def _next(tokens: list[str]) -> str | None:
    return tokens[-1] if tokens else None


def _element(tag: str, *parts: str) -> Markup:
    return Markup(f"<{tag}>{{}}</{tag}>").format(Markup().join(parts))


def _space(width: str) -> Markup:
    return Markup('<mspace width="{}"></mspace>').format(width)
