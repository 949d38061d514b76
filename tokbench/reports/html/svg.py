"""Prepares matplotlib's SVG for a page: small, with the page's theme, and several in one document.

Inline styles become classes of one shared sheet, so that a content security policy can forbid them. The
standard colours become the page's variables, so that a figure follows light and dark. Ids become short and
unique to the figure, and coordinates lose digits that nobody can see. Shapes that many panels share, such as
the range of all curves, and the names of places that many curves share are stored once.
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
from tokbench.plots.files import print_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STYLE = re.compile(r' style="([^"]*)"')
_NUMBER = re.compile(r"(?<![\w#.])-?\d+\.\d{2,}")
_TAG = re.compile(r"<[^>]*>")
_EMPTY = re.compile(r'<g id="[^"]*"\s*/>\s*|<g id="[^"]*">\s*</g>\s*|<defs>\s*</defs>\s*')
_NAMED = re.compile(r'(\bid="|url\(#|href="#)([^")]+)')
_DEAD_ID = re.compile(r'<g id="[^"]*">')
_TOLD = re.compile(rf'<g id="{style.TOLD}([0-9a-f]+)"')
_LONE_GROUP = re.compile(r"<g>(<(?:path|use)\b[^>]*/>|<text\b[^>]*>[^<]*</text>)</g>")
_PATH = re.compile(r' d="[^"]*"')
_SPACED = re.compile(r" ?([MLCQz]) ?")
_SHAPE = re.compile(r'<path id="([^"]+)" d="([^"CQ]+)"/>')
_PLACE = re.compile(r"-?[\d.]+ -?[\d.]+")
_USE = re.compile(r'<use xlink:href="#([^"]+)" x="([^"]+)" y="([^"]+)"')
_LARGE = 16
"""A polygon with more corners is not a marker, of which the page's script reads the place."""
_BETWEEN = "\n\n"
_POINTS = 4 / 3  # CSS pixels in a point


def _themed() -> dict[str, str]:
    named = {
        style.INK: "ink", style.MUTED: "muted", style.FAINT: "faint", style.GRID: "line",
        style.PAPER: "paper", style.WARN: "warn",
    }  # fmt: skip
    series = {hue: f"series-{number}" for number, hue in enumerate(style.SERIES)}
    return {hue: f"var(--{name})" for hue, name in {**named, **series, style.ACCENT: "accent"}.items()}


def _tenths(value: float) -> str:
    """A coordinate to a tenth of a point.

    Example:
        >>> _tenths(-0.04), _tenths(12.34)
        ('0', '12.3')
    """
    return f"{round(10 * value) / 10:g}" if abs(value) < 1e5 else f"{value:.0f}"


def _told(match: re.Match[str], names: dict[str, int]) -> str:
    """The data of a mark (see `style.tell`) as attributes that the page's script reads.

    Names of places are stored in `names` and replaced by their number there; the common unit of all values is
    stated once.
    """
    tokenizer, said, points = json.loads(bytes.fromhex(match[1]))
    found = {"t": tokenizer, "v": said}
    if points:
        values = [value.partition(" ") for _, value in points]
        if len({unit for *_, unit in values}) == 1:
            found["u"] = values[0][2]
        found["v"] = "\n".join(number if "u" in found else "".join((number, *rest)) for number, *rest in values)
        found["n"] = str(names.setdefault("\n".join(name for name, _ in points), len(names)))
    return "<g" + "".join(f' data-{name}="{_attribute(text)}"' for name, text in found.items() if text)


def _shared(body: str) -> str:
    """The drawing with each of its large polygons defined once, and moved to where it is used."""
    moved: dict[str, tuple[str, float, float]] = {}
    known: dict[str, str] = {}

    def define(match: re.Match[str]) -> str:
        name, places = match[1], [tuple(map(float, place.split())) for place in _PLACE.findall(match[2])]
        if len(places) < _LARGE:
            return match[0]
        (x, y), left = places[0], iter(places)

        def told(_: re.Match[str]) -> str:
            right, down = next(left)
            return f"{_tenths(right - x)} {_tenths(down - y)}"

        shape = _PLACE.sub(told, match[2])
        there = known.setdefault(shape, name)
        moved[name] = there, x, y
        return f'<path id="{name}" d="{shape}"/>' if there == name else ""

    def use(match: re.Match[str]) -> str:
        name, x, y = moved.get(match[1], (match[1], 0.0, 0.0))
        return f'<use xlink:href="#{name}" x="{float(match[2]) + x}" y="{float(match[3]) + y}"'

    return _USE.sub(use, _SHAPE.sub(define, body))


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
        print_svg(figure, text)
        self.count += 1
        return self._clean(text.getvalue(), f"{name}-{self.count}", title, note)

    def css(self) -> str:
        """The rules of every class in use."""
        return "\n".join(f".{name}{{{rule}}}" for rule, name in self.classes.items())

    def _clean(self, svg: str, prefix: str, title: str, note: str) -> str:
        width, height = (float(part) for part in re.findall(r'(?:width|height)="([\d.]+)pt"', svg)[:2])
        body = svg[svg.index(">", svg.index("<svg ")) + 1 : svg.rindex("</svg>")]
        body = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", body, flags=re.S)
        body = _shared(re.sub(r"\s*\n\s*", " ", body))
        body = _STYLE.sub(lambda match: f' class="{self._class(match[1])}"', body)
        body = re.sub(r' transform="rotate\(-0 [^"]*"', "", body)
        body = _TAG.sub(lambda tag: _NUMBER.sub(lambda number: _tenths(float(number[0])), tag[0]), body)
        names: dict[str, int] = {}
        body = _TOLD.sub(lambda match: _told(match, names), body)
        while _EMPTY.search(body):
            body = _EMPTY.sub("", body)
        body = _DEAD_ID.sub("<g>", body)
        short: dict[str, str] = {}
        body = _NAMED.sub(
            lambda match: match[1] + short.setdefault(match[2], f"g{self.count}-{len(short)}"), body
        )
        body = body.replace('xlink:href="#', 'href="#')
        body = _PATH.sub(lambda path: _SPACED.sub(r"\1", path[0]), re.sub(r">\s+<", "><", body))
        while _LONE_GROUP.search(body):
            body = _LONE_GROUP.sub(r"\1", body)
        places = f' data-names="{_attribute(_BETWEEN.join(names))}"' if names else ""
        box = f"{width:.0f} {height:.0f}"
        size = f'width="{width * _POINTS:.0f}" height="{height * _POINTS:.0f}"'
        words = f'<title id="{prefix}-t">{escape(title)}</title><desc id="{prefix}-d">{escape(note)}</desc>'
        return (
            f'<svg role="img" aria-labelledby="{prefix}-t {prefix}-d" viewBox="0 0 {box}" {size}{places}>'
            f"{words}{body.strip()}</svg>"
        )

    def _class(self, rule: str) -> str:
        rule = re.sub(r"font-family: [^;]*;?\s*", "", rule)
        rule = re.sub(r"font: (?:(\w+) )?([\d.]+px) [^;]*", r"font-weight: \1; font-size: \2", rule)
        rule = re.sub(r"font-weight: ;\s*", "", rule)
        rule = re.sub(r"#[0-9a-f]{6}", lambda match: self.theme.get(match[0], match[0]), rule)
        rule = re.sub(r"\s*([:;,])\s*", r"\1", rule).strip(";")
        return self.classes.setdefault(rule, f"f{len(self.classes)}")
