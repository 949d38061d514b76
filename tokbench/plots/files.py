"""Writes figures as files: SVG, PNG or PDF, the same bytes for the same figure."""

from __future__ import annotations

import io
import mimetypes
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING

from tokbench.errors import UnknownNameError
from tokbench.extension import Plot
from tokbench.plots import style
from tokbench.plots.widths import DPI
from tokbench.results import Run
from tokbench.results.atomic import replacing

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("svg", "png", "pdf")


def write_plots(
    run: Run,
    plots: Iterable[Plot],
    place: Path,
    *,
    formats: Sequence[str] = ("svg",),
    size: str = "page",
    on_missing: Callable[[Plot], None] = lambda plot: None,
) -> list[Path]:
    """Draw `plots` into the folder `place`, a file for each format; `on_missing` gets those without data.

    If `place` names a file (see `format_of`), `plots` must be a single one, which is written there.
    """
    own = format_of(place)
    kinds = [own] if own else [known_format(kind) for kind in formats]
    written: list[Path] = []
    for plot in plots:
        for kind in kinds:
            with style.house_style(size):
                figure = plot.drawn(run)  # drawn for each format, because saving changes the layout
                if figure is None:
                    on_missing(plot)
                    break
                written.append(place if own else place / f"{plot.name}.{kind}")
                save(figure, written[-1])
    return written


def format_of(place: Path) -> str | None:
    """The format by the ending of a file's name; None for an existing folder or a name without ending.

    Raises `UnknownNameError` for the ending of another kind of file.

    Example:
        >>> format_of(Path("figure.PNG")), format_of(Path("plots")), format_of(Path("plots.v2"))
        ('png', None, None)
    """
    if place.is_dir() or mimetypes.MimeTypes().guess_type(place.name)[0] is None:
        return None
    return known_format(place.suffix.lstrip("."))


def known_format(kind: str) -> str:
    """`kind` if figures can be written in it; else raises `UnknownNameError` with the nearest."""
    if kind.lower() not in FORMATS:
        raise UnknownNameError.of("figure format", kind, FORMATS)
    return kind.lower()


def save(figure: Figure, path: Path) -> None:
    """Write a figure as SVG, PNG or PDF, by the ending of `path`; the same figure gives the same bytes."""
    kind = known_format(path.suffix.lstrip("."))
    with replacing(path) as aside:
        if kind == "svg":
            print_svg(figure, aside)
        else:
            stamp = {"CreationDate": None} if kind == "pdf" else {}
            figure.savefig(aside, format=kind, dpi=DPI, metadata=stamp)


def print_svg(figure: Figure, to: Path | IO[str]) -> None:
    """Write a figure as SVG, drawn once; `Figure.savefig` draws twice, the first time for the layout."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    FigureCanvasSVG(figure).print_svg(to, metadata={"Date": None})


def as_svg(figure: Figure) -> str:
    """A figure as the text of an SVG file, letters drawn as outlines."""
    text = io.StringIO()
    with style.house_style():
        print_svg(figure, text)
    return text.getvalue()


def for_notebooks(figure: Figure) -> Figure:
    """The same figure, made so that a notebook shows it as it does figures of pyplot."""
    figure.__dict__["_repr_svg_"] = partial(as_svg, figure)
    return figure
