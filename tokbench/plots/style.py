"""The house style of every figure: sizes, colours, type.

Colours are Okabe and Ito's, which stay apart for colour-blind readers, set darker for text on white. Where
more than a few series share a figure, they are told apart by labels and panels, never by colour alone.
"""

from __future__ import annotations

import json
import unicodedata
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from tokbench.errors import UnknownNameError
from tokbench.plots.widths import wrapped
from tokbench.wording import interval, sentences

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

INK = "#1c2024"
MUTED = "#5f6b76"
FAINT = "#c9d0d6"
GRID = "#e6eaed"
PAPER = "#ffffff"
ACCENT = "#0a5c8f"
WARN = "#b3480a"
SERIES = ("#0a5c8f", "#00785a", "#a0457d", "#7a6000", "#3f8fc7", "#4b4f56", "#5b4bb0")
"""Hues of curves; none is near `WARN`, which belongs to what loses something."""
SHADES = ("#f4f8fb", "#e2edf5", "#cbdfed", "#aecde3", "#8cb8d6", "#3377a6", "#256c9c", "#0f5788", "#0b3f66")
"""From low to high: the steps in which the report's page shades its tables (``--h0`` to ``--h8``), too."""

CLEARED = {"facecolor": PAPER, "edgecolor": "none", "pad": 1}
"""The box of a text that stands on the lines of a figure: on its grid, and on a page on the baseline's."""

_FONTS = ("Inter", "Source Sans 3", "Noto Sans", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans")
_OTHER_SCRIPTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans JP", "Noto Sans SC", "Noto Sans KR", "Source Han Sans",
    "Hiragino Sans", "PingFang SC", "Apple SD Gothic Neo", "Yu Gothic", "Microsoft YaHei", "Malgun Gothic",
    "WenQuanYi Zen Hei", "IPAGothic", "Droid Sans Fallback", "Noto Sans Thai", "Noto Sans Lao",
    "Noto Sans Ethiopic", "Leelawadee UI", "Nyala", "Arial Unicode MS",
)  # fmt: skip
"""Fonts for letters that those above lack, of scripts that are drawn letter by letter from left to right."""
_WIDEST = "DejaVu Sans"
_EVERYDAY = 8.5
"""The type that widths of lines and sizes of marks are given for."""


@dataclass(frozen=True, slots=True)
class Size:
    """Where a figure will stand: its width in inches, the size of its type in points, its greatest height."""

    width: float
    type: float
    height: float

    @property
    def narrow(self) -> bool:
        """Whether labels must be spared."""
        return self.width < 5


SIZES = {
    "column": Size(width=3.4, type=7.5, height=9.0),
    "page": Size(width=7.2, type=8.5, height=9.5),
    "slide": Size(width=12.0, type=14.0, height=6.6),
}
_size: ContextVar[Size] = ContextVar("size", default=SIZES["page"])
_lacking: ContextVar[dict[str, str] | None] = ContextVar("lacking", default=None)
"""The scripts of letters that no font has, by how they are written instead; None where no figure is drawn."""


def size() -> Size:
    """The size that the figure being drawn is meant for."""
    return _size.get()


@contextmanager
def house_style(name: str = "page", *, outlines: bool = True) -> Iterator[Size]:
    """Draw inside this: sets the size and matplotlib's settings, and puts them back.

    `outlines=False` is for pages that bring their own type: text stays text in SVG, with the room of a wide
    face, and notes are left out. What that face lacks is no warning then: it is the page that draws it.

    Example:
        >>> with house_style("column") as chosen:
        ...     chosen.width
        3.4
    """
    if name not in SIZES:
        raise UnknownNameError.of("figure size", name, SIZES)

    import matplotlib as mpl

    chosen = SIZES[name]
    token, lacking = _size.set(chosen), _lacking.set({})
    try:
        with mpl.rc_context(_settings(chosen, outlines)), warnings.catch_warnings():
            if not outlines:
                warnings.filterwarnings("ignore", r"Glyph \d+ .* missing from font")
            yield chosen
    finally:
        _size.reset(token)
        _lacking.reset(lacking)


def _settings(chosen: Size, outlines: bool) -> dict[str, Any]:
    from cycler import cycler
    from matplotlib import font_manager

    there = {font.name for font in font_manager.fontManager.ttflist}
    fonts, base = [name for name in (*_FONTS, *_OTHER_SCRIPTS) if name in there], chosen.type
    return {
        "font.family": fonts if outlines else [_WIDEST],
        "font.size": base,
        "text.parse_math": False,
        "text.color": INK,
        "axes.labelcolor": MUTED,
        "axes.labelsize": base,
        "axes.titlesize": base + 0.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.titlepad": 6,
        "axes.edgecolor": FAINT,
        "axes.linewidth": 0.7,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.axisbelow": True,
        "axes.grid": False,
        "axes.prop_cycle": cycler(color=list(SERIES)),
        "axes.unicode_minus": True,
        "grid.color": GRID,
        "grid.linewidth": 0.7,
        **{f"{axis}tick.color": MUTED for axis in "xy"},
        **{f"{axis}tick.labelsize": base - 0.5 for axis in "xy"},
        **{f"{axis}tick.{kind}.size": 0 for axis in "xy" for kind in ("major", "minor")},
        "legend.frameon": False,
        "legend.fontsize": base - 0.5,
        "lines.linewidth": 1.4 * base / _EVERYDAY,
        "lines.markersize": 4.5 * base / _EVERYDAY,
        "figure.facecolor": PAPER,
        "axes.facecolor": "none",
        "savefig.facecolor": PAPER,
        "figure.constrained_layout.use": True,
        "figure.constrained_layout.h_pad": 0.04,
        "figure.constrained_layout.w_pad": 0.04,
        "figure.dpi": 100,
        "svg.fonttype": "path" if outlines else "none",
        "svg.hashsalt": "tokbench",
        "pdf.fonttype": 42,
    }


def drawable(letter: str) -> bool:
    """Whether the figure being drawn has a font for a letter; what it lacks is told in its caption.

    Where no figure is drawn, or one whose text a page sets, it is. Scripts from right to left are not: their
    letters would stand apart and in reverse.
    """
    lacking = _lacking.get()
    if lacking is None or letter.isascii() or not outlined():
        return True
    import matplotlib as mpl

    from tokbench.inspection.scripts import script_of

    there = ord(letter) in _letters(tuple(mpl.rcParams["font.family"]))
    if there and unicodedata.bidirectional(letter) not in ("R", "AL"):
        return True
    lacking[escaped(letter)] = script_of(letter).replace("_", " ")
    return False


def escaped(letter: str) -> str:
    r"""How a letter that cannot be drawn is written instead, as ``\u4e2d``."""
    return letter.encode("unicode_escape").decode("ascii")


@lru_cache(maxsize=4)
def _letters(families: tuple[str, ...]) -> frozenset[int]:
    """The code points of all letters in some fonts, regular and bold."""
    from matplotlib.font_manager import FontProperties, findfont, get_font

    found: set[int] = set()
    for family in families:
        both = [findfont(FontProperties(family=family, weight=weight)) for weight in ("normal", "bold")]
        regular, bold = (set(get_font(path).get_charmap()) for path in both)
        found |= regular & bold
    return frozenset(found)


def outlined() -> bool:
    """Whether text is drawn as outlines, or left as text to a page with type of its own."""
    import matplotlib as mpl

    return bool(mpl.rcParams["svg.fonttype"] != "none")


def tell(artist: Artist, tokenizer: str, said: str, points: Sequence[tuple[str, str]] = ()) -> None:
    """Let a page know what `artist` stands for: a tokenizer's spec, and what to say where the pointer is.

    `points` are the names and values of the places of a path, in order, where it has several. A figure that is
    drawn for a file tells nothing.
    """
    if not outlined():
        artist.set_gid(TOLD + json.dumps([tokenizer, said, points], ensure_ascii=False).encode().hex())


TOLD = "told-"
"""How the ids begin by which matplotlib hands on what `tell` was given."""


def value_text(value: float, unit: str, low: float | None = None, high: float | None = None) -> str:
    """A figure as a page says it at the pointer.

    Example:
        >>> value_text(1.3456, "bytes per token", 1.3, 1.4), value_text(0.5, "×", None, None)
        ('1.35 bytes per token (interval 1.3–1.4)', '0.5 ×')
        >>> value_text(-1e-5, "bytes per token apart", -0.3, 0.1)
        '−1e-05 bytes per token apart (interval −0.3 to 0.1)'
    """
    said = f"{_figure(value)} {unit}"
    if low is not None and high is not None and low == low and high == high:
        said += f" (interval {interval(low, high, _figure)})"
    return said


def _figure(value: float) -> str:
    """A figure in three digits; the sign of an exponent is left as the page's script reads it."""
    return f"{'−' if value < 0 else ''}{abs(value):.3g}"


def figure(height: float, *, rows: int = 1, columns: int = 1, **options: Any) -> tuple[Figure, Any]:
    """A figure as wide as the size asks and `height` inches high, with its axes; unknown to pyplot.

    Returns the figure and what `Figure.subplots` returns.
    """
    from matplotlib.figure import Figure

    made = Figure(figsize=(size().width, max(height, 0.8)), layout="constrained")
    return made, made.subplots(rows, columns, **options)


def row_height() -> float:
    """Inches that one labelled row of a chart takes."""
    return size().type * 1.75 / 72


def stroke(width: float) -> float:
    """A line's width in points, in proportion to the type."""
    return width * size().type / _EVERYDAY


def lines(number: float) -> float:
    """Inches that so many lines of type take: what titles, axis labels and notes need beside the data."""
    return number * size().type / 72


def dot(
    axes: Axes, x: float, y: float, told: tuple[str, str], *, hue: str, hollow: bool = False, shape: str = "o"
) -> None:
    """A mark at a point; `told` are the tokenizer's spec and what to say of it, for `tell`."""
    (drawn,) = axes.plot([x], [y], shape, color=hue, mfc=PAPER if hollow else hue, mew=1.2, zorder=3)
    tell(drawn, *told)


def bar(axes: Axes, low: float, high: float, row: float, told: tuple[str, str], *, hue: str) -> None:
    """An interval on a row; `told` as for `dot`."""
    (drawn,) = axes.plot([low, high], [row, row], color=hue, lw=stroke(2.4), solid_capstyle="butt", zorder=2)
    tell(drawn, *told)


def ticks(axes: Axes, values: Mapping[str, float], row: float, *, colour: str, told: tuple[str, str]) -> None:
    """A short upright stroke at each of `values` by language on a row; one path, however many there are.

    `told` are the tokenizer's spec and the unit of the values, for `tell`.
    """
    found = [float(value) for value in values.values()]
    xs = [x for value in found for x in (value, value, float("nan"))]
    ys = [row - 0.27, row + 0.27, float("nan")] * len(found)
    (path,) = axes.plot(xs, ys, color=colour, lw=stroke(0.9), zorder=1)
    tokenizer, unit = told
    tell(path, tokenizer, "", [(name, value_text(float(value), unit)) for name, value in values.items()])


def grid(axes: Axes) -> None:
    """Faint upright lines to read the values of rows by, and no frame."""
    axes.grid(True, axis="x")
    axes.spines[:].set_visible(False)


def caption(figure: Figure, *said: str, later: Collection[str] = ()) -> None:
    """A note under a figure, of the sentences given: what is drawn, what the marks mean, over how much text.

    It is the figure's label too; a page that sets text itself draws without it (see `house_style`). It names
    the scripts of letters written as escapes in what is drawn by now, or is `later`.
    """
    from matplotlib.text import Text

    if not (text := sentences(*said)):
        return
    figure.set_label(text)
    if not outlined():
        return
    texts = [text, *later, *(one.get_text() for one in figure.findobj(Text) if isinstance(one, Text))]
    there = " ".join(texts).replace("\n", "")
    lacking = {script: None for code, script in (_lacking.get() or {}).items() if code in there}
    if lacking:
        text += f" No font here draws {', '.join(lacking)}: a missing letter is shown as \\u and its code."
    points = size().type - 1
    note = wrapped(text, size().width * 72 * 0.97, points)
    figure.supxlabel(note, x=0.01, ha="left", fontsize=points, color=MUTED)
