"""How wide text is when it is drawn, and where it is broken into lines."""

from __future__ import annotations

from bisect import bisect_right

DPI = 200
"""Pixels per inch of a PNG."""


def text_width(text: str, points: float) -> float:
    """The width of a line of type of so many points, in points too, as drawn on a screen or written to a file.

    Letters keep to whole pixels, so that small type is wider or narrower than its design, by the resolution.
    """
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import RendererAgg
    from matplotlib.font_manager import FontProperties

    def at(dpi: float) -> float:
        renderer = RendererAgg(1, 1, dpi)
        width, _, _ = renderer.get_text_width_height_descent(text, FontProperties(size=points), ismath=False)
        return float(width) * 72 / dpi

    return max(at(float(mpl.rcParams["figure.dpi"])), at(DPI))


def wrapped(text: str, width: float, points: float) -> str:
    """`text` in type of so many points, broken between words into lines of at most `width` points.

    A word that is wider is broken too, behind a sign such as ``/`` or ``_`` where it has one.
    """
    lines = [""]
    for word in text.replace(" %", "\N{NO-BREAK SPACE}%").split(" "):
        longer = f"{lines[-1]} {word}".lstrip()
        if text_width(longer, points) > width:
            lines = [line for line in lines if line] + _broken(word, width, points)
        else:
            lines[-1] = longer
    return "\n".join(lines)


def _broken(word: str, width: float, points: float) -> list[str]:
    """A word in parts of at most `width` points."""
    parts = []
    while len(word) > 1 and text_width(word, points) > width:
        longer = range(2, len(word))
        room = 1 + bisect_right(longer, width, key=lambda end: text_width(word[:end], points))
        behind = max(word.rfind(sign, 0, room) for sign in "+,/=_-.") + 1
        parts.append(word[: behind or room])
        word = word.removeprefix(parts[-1])
    return [*parts, word]
