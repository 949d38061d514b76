"""What stands on the report's page, section by section; the templates say how it looks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from markupsafe import Markup

from tokbench.plots import data
from tokbench.plots.labels import dataset_label, language_label, run_labels
from tokbench.plots.losses import losses
from tokbench.reports import differences, tables, unmeasured, vocabularies
from tokbench.reports.chosen import asked, shown
from tokbench.reports.diffs import diff_table, passages_table
from tokbench.reports.findings import findings
from tokbench.reports.html import details
from tokbench.reports.html.assemble import assemble, asset
from tokbench.reports.html.diffs import divergences
from tokbench.reports.html.drawing import Drawings, Drawn
from tokbench.reports.html.heat import Heat
from tokbench.reports.html.samples import samples
from tokbench.reports.markdown import run_title
from tokbench.reports.speeds import measurements, speed_tables
from tokbench.reports.table import Table
from tokbench.results import Run
from tokbench.results.atomic import write_text
from tokbench.wording import counted, data_size, listed

TOKENS = "tokbench.reports.tokenview"
NOT_DRAWN = (
    f"No figures are drawn here: of fewer than {data.TELLING_TOKENIZERS} tokenizers on less than "
    f"{data_size(data.TELLING_TEXT)} of text they show no more than tables. tokbench plot draws them anyway."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One choice of a switch: a table or a heat map, and a note above it."""

    label: str
    table: Table | None = None
    heat: Heat | None = None
    note: str = ""


@dataclass(slots=True, kw_only=True)
class Section:
    """A section: paragraphs, figures, a switch of panels, then ready markup."""

    id: str
    title: str
    notes: list[str] = field(default_factory=list)
    figures: list[Drawn] = field(default_factory=list)
    panels: list[Panel] = field(default_factory=list)
    choose: str = "Show"
    html: Markup = field(default_factory=Markup)

    @property
    def empty(self) -> bool:
        """Whether there is nothing to show but words."""
        return not (self.figures or self.panels or self.html)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFinding:
    """A sentence, with its figure where it has one."""

    sentence: str
    figure: Drawn | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Everything the template needs.

    `tokenizers` and `languages`, labels by spec and code, are those that can be followed through the figures;
    `baseline` is the spec of that with which the others are compared when the page opens.
    """

    title: str
    answer: str
    scope: str
    tokenizers: dict[str, str] = field(default_factory=dict)
    languages: dict[str, str] = field(default_factory=dict)
    baseline: str = ""
    decision: Markup = field(default_factory=Markup)
    headlines: list[Panel]
    findings: list[ShownFinding]
    sections: list[Section]


def write(run: Run, path: Path) -> None:
    """Write the report of a run to `path`."""
    write_text(path, render(run))


def render(run: Run) -> str:
    """The whole report as HTML."""
    drawings = Drawings(run)
    page = build(run, drawings)
    return in_its_look(page, css=drawings.css(), scripts=("decision.js", "figures.js"))


def in_its_look(page: Page, *, css: str = "", scripts: Sequence[str] = ()) -> str:
    """A page as HTML in the look of the report, with styles and scripts of its own besides."""
    styles = [asset("base.css"), asset("report.css"), asset("tokens.css", TOKENS), css]
    script = asset("tokens.js", TOKENS) + "".join(map(asset, ("report.js", *scripts)))
    return assemble("report.html", css="\n".join(styles), script=script, page=page)


def build(run: Run, drawings: Drawings) -> Page:
    """The page of a run, its figures drawn once each."""
    said = findings(run)
    told = [
        ShownFinding(sentence=finding.sentence, figure=drawn)
        for finding in said
        if (drawn := drawings.get(finding.plot)) is not None or not finding.plot or not drawings.worth
    ]
    sections = [section for section in _sections(run, drawings) if not section.empty]
    first, main = Section(id="answer", title="The answer"), data.main_dataset(run)
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
        headlines=[Panel(label=table.title, table=table) for table in tables.headlines(run).values()],
        findings=told,
        sections=[first, *sections],
    )


def _sections(run: Run, drawings: Drawings) -> list[Section]:
    main = data.main_dataset(run)
    parallel = sorted(data.parallel_datasets(run), key=lambda name: name != main)
    return [
        Section(
            id="languages",
            title="Language by language",
            notes=["Sort by script or family to see where a vocabulary was trained and where it was not."],
            panels=_heats(run),
            choose="Metric",
        ),
        Section(
            id="fairness",
            title="Fairness between languages",
            notes=[
                "What speakers pay for the same content: tokens for a language over tokens for the reference. "
                f"Measured on {listed([dataset_label(run, name) for name in parallel])}, whose lines say the "
                "same in each language." + (" The figure is of the first." if len(parallel) > 1 else "")
            ],
            figures=drawings.some("fairness"),
            panels=_tables(*(tables.fairness(run, name) for name in parallel)),
            choose="Dataset",
        ),
        Section(
            id="speed",
            title="Compression and speed",
            figures=drawings.some("speed"),
            panels=_tables(*speed_tables(run), measurements(run)),
        ),
        Section(id="sizes", title="Vocabulary size", figures=drawings.some("vocab_size", "model_cost")),
        Section(
            id="tokens",
            title="The tokens themselves",
            figures=drawings.some("token_length", "zipf", "text_length"),
        ),
        Section(
            id="differences",
            title="Differences, and whether they are more than chance",
            notes=[
                "Both tokenizers of a pair see the same documents, so their difference is surer than the two "
                "figures. p is two-sided, and corrected for everything compared on the text."
            ],
            figures=drawings.some("differences"),
            panels=_differences(run),
            choose="Metric",
        ),
        Section(
            id="vocabulary",
            title="What is in the vocabularies",
            notes=[
                "Unreachable: encoding the token's own text never gives it. "
                "Undecodable: not whole UTF-8 by itself."
            ],
            panels=_vocabularies(run),
        ),
        Section(
            id="ids",
            title="Who gives the same ids",
            notes=["One implementation can replace another where both give the same ids for every document."],
            panels=_tables(diff_table(run), passages_table(run)),
            choose="Compared on",
            html=divergences(run),
        ),
        Section(
            id="samples",
            title="Side by side",
            notes=["Point at a token, or walk with the arrow keys, for its id, bytes and rank."],
            html=samples(run),
        ),
        Section(id="extra", title="More figures", figures=[*drawings.rest(), *drawings.brought()]),
        Section(
            id="everything",
            title="Every measurement",
            notes=["Over all languages of each dataset.", *([] if drawings.worth else [NOT_DRAWN])],
            panels=[
                Panel(label=dataset_label(run, name), table=tables.overall_metrics(run, name))
                for name in run.datasets
            ],
            choose="Dataset",
        ),
        Section(
            id="failures",
            title="Failures and skips",
            notes=["What was not measured is listed here and is null in the data, never zero."],
            panels=_tables(
                unmeasured.failures(run), unmeasured.undefined(run), unmeasured.not_drawn(drawings.lacking())
            ),
            choose="List",
        ),
        Section(id="definitions", title="How each figure is defined", html=details.definitions(run)),
        Section(id="provenance", title="Provenance", html=details.provenance(run)),
    ]


def _heats(run: Run) -> list[Panel]:
    panels = []
    main, lossy = data.main_dataset(run), losses(run)
    for dataset in [main, *(name for name in run.datasets if name != main)]:
        if len(run.languages(dataset)) < 2:
            continue
        usual = shown(run, "languages")
        for metric in dict.fromkeys((*usual, *asked(run))) if dataset == main else usual[:1]:
            table = tables.by_language(run, metric, dataset)
            if table.rows:
                panels.append(
                    Panel(
                        label=table.title, heat=Heat.of(table, lossy, data.kind(run, dataset)), note=table.note
                    )
                )
    return panels


def _tables(*found: Table) -> list[Panel]:
    """A panel for each table that has rows."""
    return [Panel(label=table.title, table=table) for table in found if table.rows]


def _differences(run: Run) -> list[Panel]:
    main = data.main_dataset(run)
    return _tables(*(differences.table(run, metric, main) for metric in shown(run, "differences")))


def _vocabularies(run: Run) -> list[Panel]:
    audits = vocabularies.audit_table(run), vocabularies.script_table(run)
    return _tables(*audits, vocabularies.overlap_table(run), vocabularies.injection_table(run))


def _scope(run: Run) -> Markup:
    """How much was measured; a title from right to left stands apart, so that numbers behind it stay there."""
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
