"""matplotlib's SVG, made ready to stand inside a page: small, themed, and several to a document.

Inline styles become classes of one shared sheet (so that a content security policy can forbid them), the
house colours become the page's variables (so that a figure follows light and dark), ids become short and of
this figure alone, and coordinates lose the digits nobody can see.
"""

from __future__ import annotations

import io
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING

from tokbench.plots import style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = re.compile(r' style="([^"]*)"')
_NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]*>")
_EMPTY_GROUP = re.compile(r'<g id="[^"]*"\s*/>\s*|<g id="[^"]*">\s*</g>\s*')
_NAMED = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')
_DEAD_ID = re.compile(r'<g id="[^"]*">')
_TOLD = re.compile(rf'<g id="{style.TOLD}([0-9a-f]+)"')
_POINTS = 4 / 3  # CSS pixels in a point


def _themed() -> dict[str, str]:
    named = {
        style.INK: "ink", style.MUTED: "muted", style.FAINT: "faint", style.GRID: "line",
        style.PAPER: "paper", style.WARN: "warn",
    }  # fmt: skip
    series = {hue: f"series-{number}" for number, hue in enumerate(style.SERIES)}
    return {hue: f"var(--{name})" for hue, name in {**named, **series, style.ACCENT: "accent"}.items()}


def _rounded(match: re.Match[str]) -> str:
    """A coordinate to a tenth of a point."""
    return f"{float(match[0]):.1f}".removesuffix(".0")


def _told(match: re.Match[str]) -> str:
    """What a mark stands for (see `style.tell`) as attributes that the page's script reads."""
    tokenizer, said, points = json.loads(bytes.fromhex(match[1]))
    found = {"t": tokenizer, "v": said}
    if points:
        found["n"] = "\n".join(name for name, _ in points)
        found["v"] = "\n".join(value for _, value in points)
    return "<g" + "".join(f' data-{name}="{_attribute(text)}"' for name, text in found.items() if text)


def _attribute(text: str) -> str:
    return escape(text).replace("\n", "&#10;")


@dataclass(slots=True)
class SheetOfFigures:
    """The figures of one page, and the style sheet they share.

    Example:
        >>> from matplotlib.figure import Figure
        >>> sheet = SheetOfFigures()
        >>> sheet.add(Figure(), name="empty", title="Nothing & more").startswith("<svg ")
        True
    """

    classes: dict[str, str] = field(default_factory=dict)
    theme: Mapping[str, str] = field(default_factory=_themed)
    count: int = 0

    def add(self, figure: Figure, *, name: str, title: str, note: str = "") -> str:
        """The figure as an ``<svg>`` with a title and description for screen readers."""
        text = io.StringIO()
        figure.patch.set(facecolor="none", edgecolor="none")
        style.print_svg(figure, text)
        self.count += 1
        return self._clean(text.getvalue(), f"{name}-{self.count}", title, note)

    def css(self) -> str:
        """The rules of every class in use."""
        return "\n".join(f".{name}{{{rule}}}" for rule, name in self.classes.items())

    def _clean(self, svg: str, prefix: str, title: str, note: str) -> str:
        width, height = (float(part) for part in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2])
        body = svg[svg.index(">", svg.index("<svg ")) + 1 : svg.rindex("</svg>")]
        body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", body, flags=re.S)
        body = _STYLE.sub(lambda match: f' class="{self._class(match[1])}"', body)
        body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
        body = _TAG.sub(lambda tag: _NUMBER.sub(_rounded, tag[0]), body)
        body = _TOLD.sub(_told, body)
        while _EMPTY_GROUP.search(body):
            body = _EMPTY_GROUP.sub("", body)
        body = _DEAD_ID.sub("<g>", body)
        short: dict[str, str] = {}
        body = _NAMED.sub(
            lambda match: match[1] + short.setdefault(match[2], f"g{self.count}-{len(short)}"), body
        )
        body = body.replace('xlink:href="#', 'href="#')
        body = re.sub(r"\s*\n\s*", " ", body)
        box = f"{width:.0f} {height:.0f}"
        size = f'width="{width * _POINTS:.0f}" height="{height * _POINTS:.0f}"'
        words = f'<title id="{prefix}-t">{escape(title)}</title><desc id="{prefix}-d">{escape(note)}</desc>'
        return (
            f'<svg role="img" aria-labelledby="{prefix}-t {prefix}-d" viewBox="0 0 {box}" {size}>'
            f"{words}{body.strip()}</svg>"
        )

    def _class(self, rule: str) -> str:
        rule = re.sub(r"font-family: [^;]*;?\s*", "", rule)
        rule = re.sub(r"font: (?:(\w+) )?([\d.]+px) [^;]*", r"font-weight: \1; font-size: \2", rule)
        rule = re.sub(r"font-weight: ;\s*", "", rule)
        rule = re.sub(r"#[0-9a-f]{6}", lambda match: self.theme.get(match[0], match[0]), rule)
        rule = re.sub(r"\s*([:;,])\s*", r"\1", rule).strip(";")
        return self.classes.setdefault(rule, f"f{len(self.classes)}")
