"""The steps of a trace as a figure: an SVG image, or an HTML page without external files.

Both show one row for each step: what happened, and the whole sequence after it with the new piece marked. All
text is escaped, and pieces that are not whole characters are shown as their bytes.
"""

from __future__ import annotations

import html
import json
import re
import unicodedata
from collections.abc import Mapping, Sequence

from tokbench.capabilities import Step
from tokbench.inspection.pieces import visible
from tokbench.tokenizer import whole_text
from tokbench.wording import counted, in_utf8, in_xml

_CELL = 8.4
"""Width of one character of the 14 px monospace font, in px."""
_ROW, _GAP, _PAD, _MARGIN = 26, 4, 6, 16
_NOTE, _NOTE_CELL = 12 * 1.5, 7.0
_WIDTH = 1100


def label(token: bytes) -> str:
    """A piece as it is shown: its characters with white space made visible, or else its bytes.

    Example:
        >>> label(b" the"), label(bytes([0xE2, 0x82])), label(b"")
        ('·the', '⟨E2 82⟩', '∅')
    """
    if not token:
        return "∅"
    text = whole_text(token)
    return f"⟨{token.hex(' ').upper()}⟩" if text is None else visible(text)


def cells(text: str) -> int:
    r"""How many columns a text takes in a monospace font: two for wide characters, none for combining ones.

    Example:
        >>> cells("ab"), cells("北京"), cells("e\u0301")
        (2, 4, 1)
    """
    widths = (
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )
    return max(1, sum(widths))


_MOST_CANDIDATES = 5


def weighed(step: Step) -> str:
    """The candidates of a step in one line, the best first: pieces, or scored pieces with their path's total.

    Example:
        >>> weighed(Step("match", (b"nt",), 0, detail={"candidates": ["##nte", "##nt"]}))
        'tried ##nte, ##nt'
        >>> two = [{"piece": "t", "score": -3.6, "total": -8.5}, {"piece": "▁st", "score": -6.0, "total": -6.0}]
        >>> weighed(Step("lattice", (b" st",), 0, detail={"candidates": two}))
        'log p ▁st −6.00, path −6.00 · t −3.60, path −8.50'
    """
    candidates = step.detail.get("candidates") or ()
    if not all(isinstance(candidate, Mapping) for candidate in candidates):
        return "tried " + ", ".join(_few([visible(str(each)) for each in candidates]))
    best = sorted(candidates, key=lambda candidate: -candidate["total"])
    shown = [
        f"{visible(each['piece'])} {_number(each['score'])}, path {_number(each['total'])}" for each in best
    ]
    return "log p " + " · ".join(_few(shown)) if shown else ""


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "−")


def _few(shown: list[str]) -> list[str]:
    left = len(shown) - _MOST_CANDIDATES
    return shown if left <= 0 else [*shown[:_MOST_CANDIDATES], f"{left} more"]


def _boxes(step: Step, top: float) -> tuple[list[str], float, float]:
    """The pieces of a step as boxes, wrapped at the figure's width; and their right and bottom ends."""
    drawn: list[str] = []
    x, y, right = float(_MARGIN), top, 0.0
    for index, text in enumerate(map(label, step.tokens)):
        width = cells(text) * _CELL + 2 * _PAD
        if x > _MARGIN and x + width > _WIDTH - _MARGIN:
            x, y = float(_MARGIN), y + _ROW + _GAP
        kind = "piece new" if index == step.changed else "piece"
        drawn.append(
            f'<rect class="{kind}" x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{_ROW}" rx="4"/>'
            f'<text class="text" x="{x + width / 2:.1f}" y="{y + 18:.1f}" text-anchor="middle">'
            f"{_xml(text)}</text>"
        )
        right = max(right, x + width)
        x += width + _GAP
    return drawn, right, y + _ROW


_SVG_STYLE = """
.ground{fill:#fff}.title{font:600 15px system-ui,sans-serif;fill:#1a1f29}
.note{font:12px system-ui,sans-serif;fill:#5a6372}
.piece{fill:#eef1f6;stroke:#c6cdd8}.new{fill:#ffd59e;stroke:#c77d12;stroke-width:1.5}
.text{font:14px ui-monospace,Menlo,Consolas,monospace;fill:#1a1f29}
@media (prefers-color-scheme:dark){.ground{fill:#14181f}.title{fill:#e8ecf3}.note{fill:#9aa5b5}
.piece{fill:#252c38;stroke:#465062}.new{fill:#7a4a08;stroke:#ffb454}.text{fill:#e8ecf3}}
""".replace("\n", "")


def svg_figure(name: str, text: str, steps: Sequence[Step]) -> str:
    """The steps as an SVG image, light and dark by the viewer's preference.

    Example:
        >>> svg_figure("demo", "ab", [Step("merge", (b"<b>",), 0, "a + b")]).count("&lt;b&gt;")
        1
    """
    title = f"{name}: {_short(text)}"
    parts: list[str] = []
    width = _MARGIN + cells(title) * _CELL
    y = _MARGIN + 34.0
    for number, step in enumerate(steps):
        parts.append(f'<text class="note" x="{_MARGIN}" y="{y:.1f}">{_xml(_heading(number, step))}</text>')
        boxes, right, bottom = _boxes(step, y + _NOTE - 8)
        parts += boxes
        lines = (_heading(number, step), _apart(weighed(step)))
        width = max(width, right, *(_MARGIN + cells(line) * _NOTE_CELL for line in lines))
        y = bottom + _NOTE + 4
        if line := lines[1]:
            parts.append(f'<text class="note" x="{_MARGIN}" y="{y - 2:.1f}">{_xml(line)}</text>')
            y += _NOTE + 4
    height = y + _MARGIN - _NOTE
    width += _MARGIN
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="{_xml(title)}"><style>{_SVG_STYLE}</style>'
        f'<rect class="ground" width="100%" height="100%"/>'
        f'<text class="title" x="{_MARGIN}" y="{_MARGIN + 8}">{_xml(title)}</text>{"".join(parts)}</svg>\n'
    )


_PAGE_STYLE = """
:root{color-scheme:light dark;--ground:#fff;--ink:#1a1f29;
--soft:#5a6372;--piece:#eef1f6;--edge:#c6cdd8;--new:#ffd59e;
--new-edge:#c77d12}
@media (prefers-color-scheme:dark){:root{--ground:#14181f;--ink:#e8ecf3;
--soft:#9aa5b5;--piece:#252c38;--edge:#465062;
--new:#7a4a08;--new-edge:#ffb454}}
*{box-sizing:border-box}body{margin:0 auto;max-width:72rem;padding:1.5rem 1rem 4rem;background:var(--ground);
color:var(--ink);font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.3rem;margin:0 0 .25rem;overflow-wrap:anywhere}
.source{white-space:pre-wrap;overflow-wrap:anywhere;color:var(--soft);margin:0 0 1.5rem}
ol{list-style:none;margin:0;padding:0}li{padding:.6rem 0;border-top:1px solid var(--edge)}
.note{color:var(--soft);font-size:.9rem;margin:0 0 .35rem;overflow-wrap:anywhere}.note b{color:var(--ink)}
.pieces{display:flex;flex-wrap:wrap;gap:4px;font:14px/1.5 ui-monospace,Menlo,Consolas,monospace}
.pieces span{background:var(--piece);border:1px solid var(--edge);border-radius:4px;padding:1px 6px;
white-space:pre-wrap;overflow-wrap:anywhere}
.pieces .new{background:var(--new);border-color:var(--new-edge);font-weight:600}
details{font-size:.85rem;color:var(--soft);margin-top:.35rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;margin:.25rem 0}
""".replace("\n", "")


def html_page(name: str, text: str, steps: Sequence[Step]) -> str:
    """The steps as one HTML page without scripts and external files.

    Example:
        >>> "<script" in html_page("demo", "<script>", [Step("start", (b"<script>",))])
        False
    """
    items: list[str] = []
    for number, step in enumerate(steps):
        pieces = "".join(
            f"<span{' class=new' if index == step.changed else ''}><bdi>{html.escape(shown)}</bdi></span>"
            for index, shown in enumerate(map(label, step.tokens))
        )
        detail = ""
        if step.detail:
            content = json.dumps(dict(step.detail), ensure_ascii=False, indent=1, default=str)
            detail = f"<details><summary>what was weighed</summary><pre>{html.escape(content)}</pre></details>"
        note = f"<b>{number} · {html.escape(step.kind)}</b> {html.escape(_apart(step.note))}"
        line = f"<p class=note>{html.escape(_apart(weighed(step)))}</p>" if weighed(step) else ""
        items.append(f"<li><p class=note>{note}</p><div class=pieces>{pieces}</div>{line}{detail}</li>")
    title = html.escape(f"{name}: {_short(text)}")
    count = len(steps[-1].tokens) if steps else 0
    page = (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_PAGE_STYLE}</style></head>"
        f"<body><main><h1>{html.escape(name)}</h1><p class=source><bdi>{html.escape(text)}</bdi></p>"
        f"<p>{counted(len(steps), 'step')}, {counted(count, 'token')}</p>"
        f"<ol>{''.join(items)}</ol></main></body></html>\n"
    )
    return in_utf8(page)


_RIGHT_TO_LEFT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]+"
)


def _apart(line: str) -> str:
    """A line of words with marks that keep right-to-left text from reordering the text around it.

    Without the marks a browser shows ``merge ש + ל → של`` from right to left, the arrow pointing at what was
    merged, and ``'של': 2 symbols`` with the number before the piece.
    """
    return _RIGHT_TO_LEFT.sub("\u2068\\g<0>\u2069", line)


def _heading(number: int, step: Step) -> str:
    return f"{number} · {step.kind}" + (f" · {_apart(step.note)}" if step.note else "")


def _short(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= 80 else shown[:79] + "…"


def _xml(text: str) -> str:
    """The text escaped, without characters that XML forbids."""
    return html.escape(in_xml(text))
