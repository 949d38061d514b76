"""The Python API: `load` a tokenizer, `load_dataset` its text, `run` a comparison."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import ResultsError, SpecError
from tokbench.presenting import presenters

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from tokbench.corpus import Dataset
    from tokbench.extension import ReportWriter
    from tokbench.registry import Registry
    from tokbench.results import Run
    from tokbench.tokenizer import Tokenizer


def load(
    spec: str | os.PathLike[str],
    *,
    train_on: str | os.PathLike[str] | Sequence[str] | None = None,
    plugins: Sequence[str] = (),
    disable: Iterable[str] = (),
) -> Tokenizer:
    """Load the tokenizer that a spec or path names; one that must be trained is trained on `train_on` first.

    `train_on` is a dataset spec, several joined by " + ", or a sequence of texts. Raises `SpecError` for a
    wrong spec and `TokenizerError` where the tokenizer cannot be had.

    Example:
        >>> load("bytes").vocab_size
        256
    """
    from tokbench.registry import build_registry

    registry = build_registry(disable=disable, plugin_files=plugins)
    if train_on is None:
        return registry.load(spec)
    from tokbench.runner.training.train import train

    return train(registry, spec, train_on)


def load_dataset(
    spec: str | os.PathLike[str], *, plugins: Sequence[str] = (), disable: Iterable[str] = ()
) -> Dataset:
    """The dataset that a spec or path names; raises `SpecError` or `CorpusError` where it cannot be had.

    Example:
        >>> "hin_Deva" in load_dataset("bundled:parallel").languages
        True
    """
    from tokbench.registry import build_registry

    return build_registry(disable=disable, plugin_files=plugins).dataset(spec)


Asked = str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | None
"""Specs or paths: one, several, or those of the suite."""


def run(
    tokenizers: Asked = None,
    datasets: Asked = None,
    *,
    suite: str | os.PathLike[str] | None = None,
    output: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Run:
    """Run a comparison and return its `Run`; with no arguments, the bundled suite.

    `tokenizers` and `datasets` are specs, one or several; left out, they are the suite's. `suite` is a TOML
    file or the name of a shipped one; `options` are the suite's own keys: `metrics`, `train_on`, `jobs`,
    `engine`, `speed`, `timeout`, `baseline` … (see docs/suites.md). Raises `SpecError` for a wrong request,
    before anything runs; a tokenizer that fails while it is measured is among the `failures` of the run.
    """
    from tokbench.runner.run import run_suite

    wanted, texts = _listed("tokenizers", tokenizers), _listed("datasets", datasets)
    return run_suite(suite, wanted, texts, output, **{name: _plain(value) for name, value in options.items()})


def _plain(value: Any) -> Any:
    """An option as a suite writes it: paths as text, alone or in a list."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def _listed(what: str, specs: Asked) -> list[str] | None:
    """A spec by itself as a list of one; raises `SpecError` for a list of none, which asks for nothing."""
    if specs is None:
        return None
    found = []
    for each in [specs] if isinstance(specs, str | os.PathLike) or not isinstance(specs, Iterable) else specs:
        if not isinstance(each, str | os.PathLike):
            kind = type(each).__name__
            raise SpecError(
                f"{what}: {kind} is no spec; name each as text, as in 'bytes', or by its path; one of your own "
                "comes in by a plugin, which may be one file: plugins=['mine.py']"
            )
        found.append(os.fspath(each))
    if not found:
        raise SpecError(f"{what}: an empty list; name some, or leave it out for those of the suite")
    return found


class PluginPresenter:
    """Draws and writes runs with the plots and writers of plugins."""

    def plot(self, run: Run, name: str, plugins: Sequence[str]) -> Figure:
        """See `Run.plot`."""
        from tokbench.plots.files import for_notebooks
        from tokbench.plots.style import house_style
        from tokbench.registry import build_registry

        registry = build_registry(plugin_files=plugins)
        plot = registry.pick(registry.plots, name, "plot")
        with house_style():
            figure = plot.drawn(run)
        if figure is None:
            raise ResultsError(f"{run.path}: no data for the plot {name!r}: {plot.needs or 'not measured'}")
        return for_notebooks(figure)

    def report(
        self, run: Run, path: str | os.PathLike[str] | None, format: str | None, plugins: Sequence[str]
    ) -> Path:
        """See `Run.report`."""
        from tokbench.registry import build_registry

        registry = build_registry(plugin_files=plugins)
        if not isinstance(path, str | os.PathLike | None):
            raise SpecError(f"{path!r} is no file: report(path) takes its path, as text or as a pathlib.Path")
        if format is None and path is not None and os.fspath(path) in registry.report_writers:
            raise SpecError(f"{os.fspath(path)!r} is a format, not a file: report(format={os.fspath(path)!r})")
        chosen = format or format_of(path, registry)
        writer = registry.pick(registry.report_writers, chosen, "report format")
        if path is not None:
            check_ending(path, writer, registry)
        target = Path(path) if path is not None else run.path / f"report{writer.suffix}"
        writer.written(run, target)
        run.folder.remember([target])
        return target

    def notebook(self, run: Run) -> str:
        """See `tokbench.reports.html.notebook`."""
        from tokbench.reports.html.notebook import notebook

        return notebook(run)


presenters.append(PluginPresenter())


def format_of(path: str | os.PathLike[str] | None, registry: Registry) -> str:
    """The report format whose files end as `path` does, the longest ending first; ``html`` where it has none.

    Raises `SpecError` for an ending that no format has.
    """
    writers = registry.report_writers
    name = "" if path is None else Path(path).name.lower()
    found = [writer for writer in writers.values() if name.endswith(writer.suffix)]
    if found:
        return max(found, key=lambda writer: len(writer.suffix)).name
    if not Path(name).suffix:
        return "html"
    known = ", ".join(f"{writer.suffix} ({format})" for format, writer in writers.items())
    remedy = "name the format, or give the file one of these endings"
    said = f"{path}: no report format has the ending {Path(name).suffix!r}; {remedy}: {known}"
    raise SpecError(registry.host.explained(said))


def check_ending(path: str | os.PathLike[str], writer: ReportWriter, registry: Registry) -> None:
    """Raise `SpecError` for a file whose ending says another report format than is to be written there.

    An ending that no format has says nothing, nor does a part of one: a `.card.md` may be called `README.md`.
    """
    own, *others = (
        f".{each.suffix.rpartition('.')[2]}" for each in (writer, *registry.report_writers.values())
    )
    ending = Path(path).suffix.lower()
    if ending != own and ending in others:
        said = f"{path} is {format_of(path, registry)} by its ending, and the format asked for is {writer.name}"
        raise SpecError(f"{said} ({writer.suffix}): give one of both")
