"""The content of the report's page, section by section; templates define the layout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from tokbench.plots import PLOTS, data
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.plots.losses import losses
from tokbench.reports import differences, tables, unmeasured, vocabularies
from tokbench.reports.chosen import asked, metrics_shown
from tokbench.reports.diffs import diff_table, passages_table
from tokbench.reports.findings import findings
from tokbench.reports.html import details
from tokbench.reports.html.assemble import assemble, asset
from tokbench.reports.html.drawing import Drawn, brought, figures_of
from tokbench.reports.html.heat import Heat
from tokbench.reports.html.passages import divergences, samples
from tokbench.reports.html.svg import SheetOfFigures
from tokbench.reports.markdown import run_title
from tokbench.reports.speeds import measurements, speed_tables
from tokbench.reports.table import Table
from tokbench.results import Run
from tokbench.results.atomic import write_text
from tokbench.wording import counted, data_size, listed

TOKENS = "tokbench.reports.tokenview"
NOT_DRAWN = (
    f"No figures are drawn here: with fewer than {data.TELLING_TOKENIZERS} tokenizers and less than "
    f"{data_size(data.TELLING_TEXT)} of text, they show no more than tables. tokbench plot draws them anyway."
)


@dataclass(frozen=True, slots=True)
class Section:
    """A section: paragraphs, figures, a switch of tables and heat maps, then ready markup."""

    id: str
    title: str
    notes: Sequence[str] = ()
    figures: Sequence[Drawn] = ()
    panels: Sequence[Table | Heat] = ()
    choose: str = "Show"
    html: Markup = field(default_factory=Markup)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show but paragraphs."""
        return not (self.figures or self.panels or self.html)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything the template needs.

    `findings` are sentences, each with its figure if it has one. `tokenizers` and `languages` are labels by
    spec and code, which readers can highlight in all figures. `baseline` is the spec of the tokenizer that the
    others are compared with when the page opens.
    """

    title: str
    answer: str
    scope: str
    tokenizers: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    baseline: str = ""
    decision: Markup = field(default_factory=Markup)
    headlines: Sequence[Table]
    findings: Sequence[tuple[str, Drawn | None]] = ()
    sections: Sequence[Section]


def write(run: Run, path: Path) -> None:
    """Write the report of a run to `path`."""
    write_text(path, render(run))


def render(run: Run) -> str:
    """The whole report as HTML."""
    sheet = SheetOfFigures()
    page = build(run, figures_of(run, sheet))
    return in_its_look(page, css=sheet.css(), scripts=("decision.js", "figures.js"))


def in_its_look(page: Page, *, css: str = "", scripts: Sequence[str] = ()) -> str:
    """A page as HTML in the style of the report, with additional styles and scripts."""
    styles = [asset("base.css"), asset("report.css"), asset("tokens.css", TOKENS), css]
    script = asset("tokens.js", TOKENS) + "".join(map(asset, ("report.js", *scripts)))
    return assemble("report.html", css="\n".join(styles), script=script, page=page)


def build(run: Run, figures: dict[str, Drawn | None]) -> Page:
    """The page of a run; each figure is used in one place."""
    main, said = data.main_dataset(run), findings(run)
    left = {name: figure for name, figure in figures.items() if figure is not None}
    undrawn = unmeasured.not_drawn([plot for plot in PLOTS if plot.name in figures and plot.name not in left])
    told = [
        (finding.sentence, left.pop(finding.plot, None))
        for finding in said
        if finding.plot in left or not (finding.plot and figures)
    ]
    sections = _sections(run, left, undrawn, None if figures else NOT_DRAWN)
    nothing = run.frame["value"].isna().all()
    none = "Nothing was measured." if nothing else "Compression, cost, fairness and speed were not measured."
    return Page(
        title=run_title(run),
        answer=said[0].gist or said[0].sentence if said else none,
        scope=_scope(run),
        tokenizers=run_labels(run),
        languages={code: language_label(code, data.kind(run, main)) for code in sorted(run.languages(main))},
        baseline=run.manifest.get("baseline") or "",
        decision=details.decision(run),
        headlines=[*tables.headlines(run).values()],
        findings=told,
        sections=[Section("answer", "The answer"), *(each for each in sections if not each.empty)],
    )


def _sections(run: Run, left: dict[str, Drawn], undrawn: Table, why_none: str | None) -> list[Section]:
    """The sections after the answer, which use the figures that are `left`."""
    main, lossy, everywhere = data.main_dataset(run), losses(run), metrics_shown(run, "languages")
    parallel = sorted(data.parallel_datasets(run), key=lambda name: name != main)
    there = [name for name in (main, *run.datasets) if len(run.languages(name)) > 1]
    heats = [
        Heat.of(table, lossy, data.kind(run, dataset))
        for dataset in dict.fromkeys(there)
        for metric in (dict.fromkeys((*everywhere, *asked(run))) if dataset == main else everywhere[:1])
        if (table := tables.by_language(run, metric, dataset)).rows
    ]

    def take(*names: str) -> list[Drawn]:
        return [left.pop(name) for name in names if name in left]

    return [
        Section(
            "languages",
            "Language by language",
            ["Sort by script or family to see which languages a vocabulary was trained for."],
            panels=heats,
            choose="Metric",
        ),
        Section(
            "fairness",
            "Fairness between languages",
            [
                "The premium of a language is its number of tokens divided by that of the reference language, "
                f"for the same content. Measured on {listed([dataset_label(run, name) for name in parallel])}, "
                "whose lines say the same in each language."
                + (" The figure is of the first." if len(parallel) > 1 else "")
            ],
            take("fairness"),
            _filled(*(tables.fairness(run, name) for name in parallel)),
            choose="Dataset",
        ),
        Section(
            "speed",
            "Compression and speed",
            figures=take("speed"),
            panels=_filled(*speed_tables(run), measurements(run)),
        ),
        Section("sizes", "Vocabulary size", figures=take("vocab_size", "model_cost")),
        Section("tokens", "The tokens themselves", figures=take("token_length", "zipf", "text_length")),
        Section(
            "differences",
            "Differences, and whether they are more than chance",
            [
                "Both tokenizers of a pair encode the same documents, so their difference is known more "
                "precisely than either figure. p is two-sided, and corrected for all comparisons on this text."
            ],
            take("differences"),
            _filled(*(differences.table(run, metric, main) for metric in metrics_shown(run, "differences"))),
            choose="Metric",
        ),
        Section(
            "vocabulary",
            "What is in the vocabularies",
            [
                "Unreachable: no text tried gives the token, alone or next to other text. "
                "Undecodable: the token alone is not valid UTF-8."
            ],
            panels=_filled(
                vocabularies.audit_table(run),
                vocabularies.script_table(run),
                vocabularies.overlap_table(run),
                vocabularies.injection_table(run),
            ),
        ),
        Section(
            "ids",
            "Who gives the same ids",
            ["One implementation can replace another if both give the same ids for every document."],
            panels=_filled(diff_table(run), passages_table(run)),
            choose="Compared on",
            html=divergences(run),
        ),
        Section(
            "samples",
            "Side by side",
            ["Point at a token, or move with the arrow keys, to see its id, bytes and rank."],
            html=samples(run),
        ),
        Section("extra", "More figures", figures=[*take(*left), *brought(run)]),
        Section(
            "everything",
            "Every measurement",
            ["Over all languages of each dataset.", *filter(None, [why_none])],
            panels=[tables.overall_metrics(run, name) for name in run.datasets],
            choose="Dataset",
        ),
        Section(
            "failures",
            "Failures and skips",
            ["What was not measured is listed here. In the data it is null, never zero."],
            panels=_filled(unmeasured.failures(run), unmeasured.undefined(run), undrawn),
            choose="List",
        ),
        Section("definitions", "How each figure is defined", html=details.definitions(run)),
        Section("provenance", "Provenance", html=details.provenance(run)),
    ]


def _filled(*found: Table) -> list[Table]:
    """The tables that have rows."""
    return [table for table in found if table.rows]


def _scope(run: Run) -> Markup:
    """How much was measured; a right-to-left title is isolated, so that numbers after it keep their place."""
    languages = {code for name in run.datasets for code in run.languages(name)}
    failed = len(run.failures)
    title = str(run.manifest.get("suite", {}).get("title") or "").rstrip(".: ")
    named = Markup("<bdi>{}</bdi>: ").format(title) if title else Markup("")
    return named + (
        f"{counted(len(run.tokenizers), 'tokenizer')}, {counted(len(run.datasets), 'dataset')}, "
        f"{counted(len(languages), 'language')}. "
        + (f"{counted(failed, 'failure')}, listed below. " if failed else "Nothing failed. ")
        + f"Figures in small type are {data.levels(run)} intervals, by bootstrap over documents."
    )
