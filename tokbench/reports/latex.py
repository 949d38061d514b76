r"""LaTeX tables for a paper: booktabs rules, siunitx columns, the best in bold with all its interval meets.

The file is to be ``\input``; it says at its top which packages it needs. What is not ASCII is written in a
form that pdfLaTeX sets without fonts of its own.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.plots import data
from tokbench.plots.labels import dataset_label
from tokbench.reports import tables
from tokbench.reports.table import Cell, Column, Table
from tokbench.results.atomic import write_bytes

if TYPE_CHECKING:
    from tokbench.results import Run

PREAMBLE = r"""% Needs in the preamble: \usepackage{booktabs,siunitx,longtable,graphicx}
% and: \sisetup{detect-weight=true, mode=text, table-align-text-post=false}
"""
_TO_TEX = {ord(","): None, ord("−"): "-"}
LONG = 45
"""Rows from which a table may break over pages."""
WIDE = 4
"""Columns from which headings stand upright."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}", "-": r"{-}", "†": r"\textsuperscript{\textdagger}", "–": "--", "×": r"$\times$",
    "α": r"$\alpha$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\to$", "…": r"\ldots{}", "·": r"$\cdot$",
}  # fmt: skip


def write(run: Run, path: Path) -> None:
    """Write the headline tables and the tables by language of a run as one LaTeX file."""
    write_bytes(path, document(run).encode("ascii"))


def document(run: Run) -> str:
    """Every table of the run's paper, one after the other."""
    parts = [PREAMBLE]
    for dataset in data.natural_datasets(run):
        table = tables.headline(run, dataset)
        caption = f"Tokenizers on {dataset_label(dataset)}, over all languages. {table.note}"
        parts.append(render(table, caption=caption, label=table.name))
    main = data.main_dataset(run)
    for metric in ("compression_ratio", "premium"):
        table = tables.by_language(run, metric, main)
        if table.rows:
            parts.append(render(table, caption=f"{table.title}. {table.note}", label=table.name))
    return "\n".join(parts)


def render(table: Table, *, caption: str, label: str) -> str:
    r"""One table as a ``table`` (or, when long, a ``longtable``) environment."""
    spec = "".join(_column(table, index) for index in range(len(table.columns)))
    upright = len(table.columns) > WIDE
    head = " & ".join(_heading(column, upright) for column in table.columns) + r" \\"
    body = [
        " & ".join(_cell(table, row, column) for column in range(len(table.columns))) + r" \\"
        for row in range(len(table.rows))
    ]
    title = rf"\caption{{{escape(caption)}}}\label{{tab:{label}}}"
    tight = rf"\{'scriptsize' if len(table.columns) > 10 else 'footnotesize'}\setlength{{\tabcolsep}}{{3pt}}"
    top = [r"\toprule", head, r"\midrule"]
    if len(table.rows) > LONG:
        start = [rf"\begin{{longtable}}{{{spec}}}", title + r"\\", *top, r"\endfirsthead"]
        again = [*top, r"\endhead", r"\bottomrule", r"\endfoot"]
        return "\n".join(["{" + tight, *start, *again, *body, r"\end{longtable}}", ""])
    start = [r"\begin{table}", r"\centering" + tight, title]
    start += [rf"\begin{{tabular}}{{{spec}}}", *top]
    return "\n".join([*start, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def escape(text: str) -> str:
    r"""Text that LaTeX sets as it is; characters beyond ASCII that it may lack as their code point.

    Example:
        >>> escape("a_b 100% \\input{x}"), escape("é"), escape("中")
        ('a\\_b 100\\% \\textbackslash{}input\\{x\\}', "\\'{e}", 'U+4E2D')
    """
    return "".join(_letter(letter) for letter in " ".join(text.split()))


_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u030c": "v", "\u030a": "r",
    "\u0327": "c", "\u0306": "u", "\u0304": "=", "\u0307": ".", "\u030b": "H",
}  # fmt: skip


def _letter(letter: str) -> str:
    if letter in _SPECIAL:
        return _SPECIAL[letter]
    if " " <= letter <= "~":
        return letter
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) == 2 and parts[0].isascii() and parts[0].isalpha() and parts[1] in _ACCENTS:
        return rf"\{_ACCENTS[parts[1]]}{{{parts[0]}}}"
    return f"U+{ord(letter):04X}"


def _column(table: Table, index: int) -> str:
    """``l`` for text; for figures an ``S`` with the digits that its longest figure takes."""
    if not table.columns[index].numeric:
        return "l"
    shown = [
        text for row in range(len(table.rows)) if (text := _plain(table, row, index)) and text[0] not in "<>"
    ]
    whole = max((len(text.partition(".")[0].lstrip("-")) for text in shown), default=1)
    sign = "-" if any(text.startswith("-") for text in shown) else ""
    return f"S[table-format={sign}{whole}.{table.places[index]}]"


def _heading(column: Column, upright: bool) -> str:
    text = escape(column.label) + (f" ({escape(column.shown_unit)})" if column.shown_unit else "")
    if not column.numeric:
        return text
    return rf"{{\rotatebox{{90}}{{{text}}}}}" if upright else f"{{{text}}}"


def _plain(table: Table, row: int, column: int) -> str:
    """A figure as siunitx reads it: no groups of thousands; nothing where there is none."""
    cell = table.rows[row].cells[column]
    if isinstance(cell, str) or cell.value is None:
        return ""
    return table.text(row, column).translate(_TO_TEX)


def _cell(table: Table, row: int, column: int) -> str:
    cell = table.rows[row].cells[column]
    if not isinstance(cell, Cell):
        return escape(cell)
    text = _plain(table, row, column)
    if not text:
        return "{--}"
    if text[0] in "<>":  # no number to siunitx
        return f"{{${text}$}}"
    return rf"\bfseries {text}" if (row, column) in table.best else text
