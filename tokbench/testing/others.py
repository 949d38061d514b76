"""Checks of datasets, metrics, plots, report formats and engines."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from tokbench.corpus import Dataset, Document, Shard, TextBlock, read_text
from tokbench.errors import Undefined
from tokbench.extension import Engine, Plot, ReportWriter
from tokbench.metrics import Metric
from tokbench.metrics.metric import ALL, CellKey, Measurement
from tokbench.results import Run
from tokbench.spec import LoadContext
from tokbench.tally import CorpusFacts, Tally
from tokbench.testing.check import ConformanceCheck, Problem
from tokbench.testing.texts import EDGE_CASES, PROSE


def dataset_checks(dataset: Dataset) -> tuple[list[ConformanceCheck], list[ConformanceCheck]]:
    """The checks of a loaded dataset: those without which nothing can be read, and those of what is read."""

    def first() -> Iterator[Shard]:
        return (shard for language in dataset.languages for shard in list(dataset.shards(language))[:3])

    @ConformanceCheck.of("languages", "languages is a fixed sequence of tags, each once.")
    def languages() -> Problem:
        found = list(dataset.languages)
        if not found or any(not isinstance(each, str) or not each for each in found):
            return f"languages is {found}; name at least one"
        if found != list(dataset.languages) or len(set(found)) < len(found):
            return f"languages is {found}: each once, in a fixed order"
        return None

    @ConformanceCheck.of("shards", "shards(language) gives the shards of that language, always the same.")
    def shards() -> Problem:
        for language in dataset.languages:
            wrong = [shard for shard in dataset.shards(language) if shard.language != language]
            if wrong:
                return f"shards({language!r}) has one of {wrong[0].language!r}"
            if list(dataset.shards(language)) != list(dataset.shards(language)):
                return f"shards({language!r}) is not the same twice"
        return None

    @ConformanceCheck.of("documents", "read(shard) yields tokbench.Document with the text as str.")
    def documents() -> Problem:
        there = False
        for shard in first():
            for document in dataset.read(shard):
                if not isinstance(document, Document) or not isinstance(document.text, str):
                    text = getattr(document, "text", None)
                    of = f" of {type(text).__name__}" if isinstance(document, Document) else ""
                    return f"read yields {type(document).__name__}{of}, not a Document of str"
                there = True
        return None if there else "there is no document in the first shards of any language"

    @ConformanceCheck.of(
        "words", "gold words are (start, end) in code points of the text, in order, without overlap."
    )
    def words() -> Problem:
        from tokbench.tally.prepare import gold_words

        for shard in first():
            for document in dataset.read(shard):
                list(gold_words(document))
        return None

    @ConformanceCheck.of("again", "read and digest depend on nothing but the shard.")
    def again() -> Problem:
        for shard in first():
            if list(dataset.read(shard)) != list(dataset.read(shard)):
                return f"read gives other documents the second time, for {shard.source}"
            if not isinstance(dataset.digest(shard), str) or not dataset.digest(shard):
                return f"digest gives {dataset.digest(shard)!r}, not a hash of the text as str"
            if dataset.digest(shard) != dataset.digest(shard):
                return f"digest is not the same twice, for {shard.source}"
        return None

    @ConformanceCheck.of("digest", "digest is a hash of what read yields.")
    def digests() -> Problem:
        seen: dict[str, list[str]] = {}
        for shard in first():
            texts = [document.text for document in dataset.read(shard)]
            if seen.setdefault(dataset.digest(shard), texts) != texts:
                return "two shards of different text have one digest: cached counts of one would be the other's"
        return None

    @ConformanceCheck.of("blocks", "read_blocks gives the documents of read, or None.")
    def blocks() -> Problem:
        for shard in first():
            one = [document.text for document in dataset.read(shard)]
            many: list[str] = []
            for part in read_text(dataset, shard):
                many += part.texts() if isinstance(part, TextBlock) else [part.text]
            if one != many:
                return f"read_blocks gives {len(many)} documents that are not the {len(one)} of read"
        return None

    @ConformanceCheck.of(
        "parallel", "give each document its line, the same in every language, or say parallel = False."
    )
    def lines() -> Problem:
        if not dataset.parallel:
            return None
        found = {
            language: [each.line for shard in dataset.shards(language) for each in dataset.read(shard)]
            for language in dataset.languages
        }
        bare = next((name for name, own in found.items() if None in own), None)
        if bare is not None:
            return f"parallel, but a document of {bare} has no line"
        other = next((name for name, own in found.items() if own != next(iter(found.values()))), None)
        return f"parallel, but the lines of {other} are not those of the first language" if other else None

    return [languages, shards, documents], [words, again, digests, blocks, lines]


def metric_checks(metric: Metric) -> list[ConformanceCheck]:
    """The checks of a metric: on prose, by a tokenizer of single bytes."""
    answers: set[str] = set()

    def compute(*given: Any) -> Any:
        try:
            return metric.compute(*given)
        except Undefined:
            answers.add("declined")
            raise
        finally:
            answers.add("called")

    tried = replace(metric, compute=compute)

    @ConformanceCheck.of(
        "counts",
        "count must give a whole number for each document, by the names in `counters` where it gives several.",
    )
    def counts() -> Problem:
        rows = [*_measured(metric, *_LINES), *_measured(metric, "")]
        return next((row.status for row in rows if row.status.startswith(_COUNT)), None)

    @ConformanceCheck.of("computes", "compute must give a number, or raise tokbench.Undefined with the reason.")
    def computes() -> Problem:
        found = _measured(tried, *_LINES)
        failed = [row for row in found if _fails(row)]
        if not failed and answers == {"called"} and all(row.value is None for row in found):
            failed = found  # where `needs` are not met it is not called
        return failed[0].status if failed else None

    @ConformanceCheck.of("empty", "name in `needs` what must be there, or raise tokbench.Undefined.")
    def empty() -> Problem:
        failed = [row for row in _measured(metric, "") if _fails(row)]
        return f"on an empty document: {failed[0].status}" if failed else None

    @ConformanceCheck.of(
        "interval", "use plain arithmetic on counts, or say in `no_interval` why there is none."
    )
    def intervals() -> Problem:
        rows = _measured(metric, *_LINES)
        measured = [row for row in rows if row.value is not None and row.language == ALL]
        if metric.level != "cell" or metric.no_interval:
            return None
        if any(row.ci_low is not None for row in measured) or not measured:
            return None
        values = {_measured(metric, line)[-1].value for line in _LINES[:20]}
        found = "it varies between documents, and no interval came of it"
        return found if len(values - {None}) > 1 else None

    @ConformanceCheck.of("adds_up", "count each document by itself: batches are cut anywhere.")
    def adds_up() -> Problem:
        whole, parts = _counted(metric, *_LINES).own, [_counted(metric, line).own.totals() for line in _LINES]
        for name, total in whole.totals().items():
            if total != sum(part.get(name, 0) for part in parts):
                counter = name.rpartition(".")[2]
                return f"{counter} of all documents together is {total}, of one after the other something else"
        return None

    return [
        *([counts] if metric.count else []),
        computes,
        empty,
        intervals,
        *([adds_up] if metric.count else []),
    ]


_COUNT = "failed: count: "
"""How the status of a row begins where `count` failed, and `compute` was not asked."""


def _fails(row: Measurement) -> bool:
    return row.status.startswith("failed") and not row.status.startswith(_COUNT)


def no_value(metric: Metric) -> str:
    """Why a metric has no value on the text of its checks, so that its numbers are not tried; else empty."""
    rows = _measured(metric, *_LINES)
    return (
        "" if any(row.value is not None for row in rows) else next((row.status for row in rows), "not measured")
    )


_LINES = [line for line in PROSE.splitlines() if line] * 3 + list(EDGE_CASES)


def _counted(metric: Metric, *texts: str) -> Tally:
    from tokbench.tally.collect import collect

    own = metric.counting
    documents = [Document(text, line=number) for number, text in enumerate(texts)]
    facts = CorpusFacts(language="eng_Latn", parallel=metric.level == "languages")
    return collect(_PlainBytes(), documents, counting=[own] if own else [], facts=facts)


def _measured(metric: Metric, *texts: str) -> list[Measurement]:
    from tokbench.metrics.context import MeasureContext
    from tokbench.metrics.cost import PriceTable
    from tokbench.metrics.measure import measure
    from tokbench.metrics.model import PRESETS

    names = ("eng_Latn", "jpn_Jpan") if metric.level == "languages" else ("eng_Latn",)
    cells = {CellKey("bytes", "prose", name): _counted(metric, *texts) for name in names}
    known = MeasureContext(
        vocab_sizes={"bytes": 256},
        parallel={"prose": True},
        baseline="bytes",
        context_length=1000,
        prices=PriceTable("EUR", {"bytes": 1.0}),
        model=next(iter(PRESETS.values())),
    )
    return measure(cells, [metric], context=known)


class _PlainBytes:
    name, vocab_size = "bytes", 256

    def encode(self, text: str) -> list[int]:
        return list(text.encode("utf-8", "surrogatepass"))

    def decode(self, ids: object) -> str:
        return bytes(ids).decode("utf-8", "surrogatepass")  # type: ignore[call-overload,no-any-return]

    def token_bytes(self, token_id: int) -> bytes:
        return bytes([token_id])


def sample_runs(folder: Path, context: LoadContext) -> tuple[Run, Run]:
    """Two small runs, with the plugins of a context: one of two tokenizers on prose and on parallel text, with
    every metric; one that measured next to nothing.
    """
    from tokbench.runner.run import run_suite

    prose, letter = folder / "prose.txt", folder / "letter.txt"
    prose.write_text(PROSE, encoding="utf-8")
    letter.write_text("a", encoding="utf-8")
    texts = [f"text:{prose}", "bundled:parallel,languages=eng_Latn+jpn_Jpan"]
    options: dict[str, Any] = {"plugins": context.plugins, "disable_plugins": context.disable}
    options |= {"speed": False, "jobs": 1, "cache": False}
    whole = run_suite(None, ["bytes", "chars"], texts, folder / "whole", **options)
    bare = run_suite(None, ["bytes"], [f"text:{letter}"], folder / "bare", metrics=["tokens"], **options)
    return whole, bare


def plot_checks(plot: Plot) -> list[ConformanceCheck]:
    """The checks of a plot, each given the `sample_runs`."""

    def drawn(run: Run) -> Problem:
        figure = plot.drawn(run)
        if figure is None:
            return None if plot.needs else "it drew nothing, and `needs` does not say what it lacks"
        figure.savefig(io.BytesIO(), format="svg")
        return None

    return _of_both_runs(
        drawn,
        ("draws", "draw(run) gives a matplotlib Figure, or None for what `needs` says."),
        ("draws_bare", "return None where the run lacks the data, and say which in `needs`."),
    )


def report_checks(writer: ReportWriter) -> list[ConformanceCheck]:
    """The checks of a report format, each given the `sample_runs`."""

    def written(run: Run) -> Problem:
        path = run.path / f"as_asked{writer.suffix}"
        writer.written(run, path)
        return None if path.stat().st_size else "write(run, path) wrote an empty file"

    return _of_both_runs(
        written,
        ("writes", "write(run, path) writes the report to that path."),
        ("writes_bare", "write what the run has: figures may be missing, and null."),
    )


def _of_both_runs(
    tried: Callable[[Run], Problem], on_whole: tuple[str, str], on_bare: tuple[str, str]
) -> list[ConformanceCheck]:
    """Two checks, of names and remedies, that try something on each of the `sample_runs`."""

    def tried_on_bare(whole: Run, bare: Run) -> Problem:
        found = tried(bare)
        return f"of a run of one letter, with no metric but `tokens`: {found}" if found else None

    return [
        ConformanceCheck(*on_whole, lambda whole, bare: tried(whole)),
        ConformanceCheck(*on_bare, tried_on_bare),
    ]


def engine_checks(engine: Engine) -> list[ConformanceCheck]:
    """The checks of an engine that opens without an address."""

    @ConformanceCheck.of("works", "open(jobs, address) gives a concurrent.futures.Executor.")
    def works() -> Problem:
        with engine.open(2, None) as executor:
            found = list(executor.map(_square, range(20)))
        return None if found == [n * n for n in range(20)] else f"twenty tasks gave {found}"

    @ConformanceCheck.of("shared", "say shared=True where workers are processes of their own.")
    def says_where() -> Problem:
        with engine.open(1, None) as executor:
            elsewhere = executor.submit(os.getpid).result() != os.getpid()
        if elsewhere == engine.shared:
            return None
        return f"tasks run in {'other processes' if elsewhere else 'this process'}; shared is {engine.shared}"

    @ConformanceCheck.of("errors", "what a task raises must be its future's exception.")
    def raises() -> Problem:
        with engine.open(1, None) as executor:
            error = executor.submit(_fail).exception()
        return None if isinstance(error, ZeroDivisionError) else f"a task that fails gave {error!r}"

    return [works, says_where, raises]


def _square(number: int) -> int:
    return number * number


def _fail() -> None:
    raise ZeroDivisionError
