r"""LaTeX tables for a paper: booktabs rules, siunitx columns, intervals beside figures, the best in bold.

The file is made for ``\input``; its first lines name the packages that it needs. Characters outside ASCII are
written so that pdfLaTeX needs no further fonts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tokbench.errors import SpecError, UnknownNameError
from tokbench.metrics.measurement import ALL
from tokbench.plots import data
from tokbench.plots.labels import dataset_label, run_labels
from tokbench.plots.losses import unmarked
from tokbench.reports import differences, tables
from tokbench.reports.table import Column, ShownCell, Table
from tokbench.results import Run
from tokbench.results.atomic import write_bytes
from tokbench.results.frames import why_unmeasured

PREAMBLE = r"""% Needs in the preamble: \usepackage{booktabs,siunitx,longtable,graphicx}
% and: \sisetup{detect-weight=true, mode=text, table-align-text-post=false}
"""
_TO_TEX = {ord(","): None, ord("−"): "-"}
LONG = 45
"""Tables with more rows may break over pages."""
WIDE = 4
"""In tables with more columns, headings are turned by 90°."""
MOST_WITH_INTERVALS = 8
"""Tables with more columns have no room for intervals."""

_SPECIAL = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}",
    ">": r"\textgreater{}", "|": r"\textbar{}", '"': r"\textquotedbl{}", "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}", "-": r"{-}", "†": r"\textsuperscript{\textdagger}",
    "‡": r"\textsuperscript{\textdaggerdbl}", "≈": r"\ensuremath{\approx}",
    "§": r"\textsuperscript{\S}", "¶": r"\textsuperscript{\P}", "–": "--", "×": r"$\times$",
    "α": r"$\alpha$", "≤": r"$\le$", "≥": r"$\ge$", "→": r"$\to$", "…": r"\ldots{}", "·": r"$\cdot$",
    "−": "$-$", "₁": "$_1$", "₂": "$_2$", "°": r"$^\circ$", "—": "---", "“": r"\textquotedblleft{}",
    "”": r"\textquotedblright{}", "‘": r"\textquoteleft{}", "’": r"\textquoteright{}", "ß": r"\ss{}",
    "æ": r"\ae{}", "Æ": r"\AE{}", "œ": r"\oe{}", "Œ": r"\OE{}", "ø": r"\o{}", "Ø": r"\O{}", "ł": r"\l{}",
    "Ł": r"\L{}", "ı": r"\i{}",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """What the tables of a paper show; empty fields mean the default.

    `datasets` have a headline table each, with `metrics` as columns and tokenizers as `rows`, in the order
    given. `labels` are names by spec or metric; `caption` replaces the headline's. A tokenizer is named by its
    spec, as the run was asked for it, or as tables call it (without marks).
    """

    datasets: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""


def write(run: Run, path: Path, choice: Choice | None = None) -> None:
    """Write the headline tables, those by language and the paired differences as one LaTeX file."""
    write_bytes(path, document(run, choice).encode("ascii"))


def document(run: Run, choice: Choice | None = None) -> str:
    """Every table of the run's paper, one after the other.

    With a `choice` of more than datasets, the headline tables alone. Raises `UnknownNameError` for a dataset,
    metric or tokenizer, also of `labels`, that the run does not have, and `SpecError` for a metric without a
    figure over all languages.
    """
    parts = [PREAMBLE]
    chosen = _by_spec(run, choice or Choice())
    datasets = chosen.datasets or data.natural_datasets(run)
    _check(run, chosen, datasets)
    for dataset in datasets:
        made = tables.headline(run, dataset, metrics=chosen.metrics, rows=chosen.rows)
        table = _labelled(made, chosen.labels)
        if table.rows and len(table.columns) > 1:  # none of the metrics may have a figure here
            usual = f"Tokenizers on {dataset_label(run, dataset)}, over all languages. {table.note}"
            parts.append(render(table, caption=chosen.caption or usual, label=table.name))
    if chosen == Choice(datasets=chosen.datasets):
        main = datasets[0] if datasets else ""
        for table in (
            *(tables.by_language(run, metric, main) for metric in ("compression_ratio", "premium")),
            differences.table(run, data.main_metric(run, main), main),
        ):
            if table.rows:
                parts.append(render(table, caption=f"{table.title}. {table.note}", label=table.name))
    return "\n".join(parts)


def _by_spec(run: Run, choice: Choice) -> Choice:
    """The same choice, with names of tokenizers replaced by their specs."""
    specs = {unmarked(label): spec for spec, label in run_labels(run).items()}
    specs |= {
        name: entry["spec"]
        for entry in run.manifest["tokenizers"]
        for name in (entry.get("typed"), *entry.get("also", ()))
    }
    rows = tuple(specs.get(name, name) for name in choice.rows)
    return replace(
        choice, rows=rows, labels={specs.get(name, name): each for name, each in choice.labels.items()}
    )


def _check(run: Run, choice: Choice, datasets: Sequence[str]) -> None:
    metrics = run.frame["metric"].unique().tolist()
    for what, names, known in (
        ("dataset of this run", choice.datasets, run.datasets),
        ("metric of this run", choice.metrics, metrics),
        ("tokenizer of this run", choice.rows, run.tokenizers),
        ("tokenizer or metric of this run, of a label", choice.labels, [*run.tokenizers, *metrics]),
    ):
        for name in names:
            if name not in known:
                raise UnknownNameError.of(what, name, known)
    found = run.frame[run.frame["value"].notna() & run.frame["dataset"].isin(["", *datasets])]
    for name in choice.metrics:
        if ALL not in [*found.loc[found["metric"] == name, "language"]]:
            why = (
                why_unmeasured(run.frame, name)
                or "it was measured only for single languages, or on other datasets"
            )
            raise SpecError(f"{name}: not in a table over all languages: {why}")


_MARKS = re.compile("(?: [†‡≈§¶])*$")


def _labelled(table: Table, labels: Mapping[str, str]) -> Table:
    """The table with the names that were given to its tokenizers and metrics; marks stay."""
    columns = [replace(column, label=labels.get(column.key, column.label)) for column in table.columns]
    rows = [
        replace(row, cells=(labels[row.key] + _MARKS.findall(str(row.cells[0]))[0], *row.cells[1:]))
        if row.key in labels
        else row
        for row in table.rows
    ]
    return replace(table, columns=tuple(columns), rows=tuple(rows))


def render(table: Table, *, caption: str, label: str) -> str:
    r"""One table as a ``table`` (or, when long, a ``longtable``) environment, with intervals."""
    many = len(table.columns)
    by_column = [[row[index] for row in table.shown] for index in range(many)]
    ranges = [many <= MOST_WITH_INTERVALS and any(cell.ends for cell in cells) for cells in by_column]
    spec = "".join(
        _column(cells, places) + (r"@{\,}l" if ranged else "")
        for cells, places, ranged in zip(by_column, table.places, ranges, strict=True)
    )
    upright = many > WIDE
    heads = [
        rf"\multicolumn{{2}}{{c}}{{{_heading(column, upright)}}}" if ranged else _heading(column, upright)
        for column, ranged in zip(table.columns, ranges, strict=True)
    ]
    head = " & ".join(heads) + r" \\"
    body = [" & ".join(map(_cell, row, ranges)) + r" \\" for row in table.shown]
    title = rf"\caption{{{escape(caption)}}}\label{{tab:{label}}}"
    tight = rf"\{'scriptsize' if many > 6 else 'footnotesize'}\setlength{{\tabcolsep}}{{3pt}}"
    top = [r"\toprule", head, r"\midrule"]
    if len(table.rows) > LONG:
        start = [rf"\begin{{longtable}}{{{spec}}}", title + r"\\", *top, r"\endfirsthead"]
        again = [*top, r"\endhead", r"\bottomrule", r"\endfoot"]
        return "\n".join(["{" + tight, *start, *again, *body, r"\end{longtable}}", ""])
    start = [r"\begin{table}", r"\centering" + tight, title]
    start += [rf"\begin{{tabular}}{{{spec}}}", *top]
    return "\n".join([*start, *body, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def escape(text: str) -> str:
    r"""Text escaped for LaTeX; characters that its fonts may lack become their code points.

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


def _column(cells: Sequence[ShownCell], places: int) -> str:
    """The column type: ``l`` for text, or an ``S`` with the digits of the longest figure."""
    if not cells[0].column.numeric:
        return "l"
    shown = [text for cell in cells if (text := _plain(cell)) and text[0] not in "<>"]
    whole = max((len(text.partition(".")[0].lstrip("-")) for text in shown), default=1)
    sign = "-" if any(text.startswith("-") for text in shown) else ""
    return f"S[table-format={sign}{whole}.{places}]"


def _heading(column: Column, upright: bool) -> str:
    text = escape(column.heading)
    if not column.numeric:
        return text
    return rf"{{\rotatebox{{90}}{{{text}}}}}" if upright else f"{{{text}}}"


def _plain(cell: ShownCell) -> str:
    """A figure as siunitx reads it, without groups of thousands; empty without a figure."""
    return cell.text.translate(_TO_TEX) if cell.measured else ""


def _cell(cell: ShownCell, ranged: bool) -> str:
    """The text of a cell; in a `ranged` column, its interval follows in small type."""
    text = _plain(cell)
    if isinstance(cell.content, str):
        text = escape(cell.text)
    elif not text:
        text = "{--}"
    elif text[0] in "<>":  # siunitx does not read it as a number
        text = f"{{${text}$}}"
    elif cell.best:
        text = rf"\bfseries {text}"
    ends = rf"{{\tiny [{escape(cell.ends)}]}}" if cell.ends else ""
    return f"{text} & {ends}" if ranged else text
