"""What commands are given: tokenizers, the text of datasets or of standard input, folders of runs."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tokbench.errors import CorpusError, ResultsError, TokbenchError, TokenizerError, described
from tokbench.family import variant_file
from tokbench.tokenizer import Tokenizer
from tokbench.wording import printable

if TYPE_CHECKING:
    from tokbench.manager import Host
    from tokbench.registry import Registry
    from tokbench.results import Run


def load_trained(registry: Registry, spec: str, train_on: str | None) -> Tokenizer:
    """The tokenizer of a spec, trained on the dataset `train_on` where one is named."""
    if train_on is None:
        parsed = registry.tokenizer_spec(spec)
        if registry.tokenizers[parsed.family].trains(parsed):
            raise TokenizerError(
                f"{parsed} must be trained first: name the text here (--train-on DATASET), or train it once "
                f"(tokbench train {parsed.family} -d DATASET -o FILE) and name the file ({parsed.family}:FILE)"
            )
        return registry.load(parsed)
    from tokbench.runner.training.train import train

    return train(registry, spec, train_on)


def documents_of(
    registry: Registry, datasets: Iterable[str], most: int | None = None
) -> Iterator[tuple[str, str]]:
    """The (name, text) of every document; the name says dataset, language and number."""
    for spec in datasets:
        for language, texts in _languages(registry, spec, most):
            for number, text in enumerate(texts, start=1):
                yield f"{spec} {language} {number}", text


def texts_of(registry: Registry, datasets: Iterable[str], most: int | None = None) -> dict[str, list[str]]:
    """The documents of each language of some datasets."""
    found: dict[str, list[str]] = {}
    for spec in datasets:
        for language, texts in _languages(registry, spec, most):
            found.setdefault(language, []).extend(texts)
    return found


def _languages(registry: Registry, spec: str, most: int | None) -> Iterator[tuple[str, Iterator[str]]]:
    """Each language of a dataset with its first so many documents."""
    dataset = registry.dataset(spec)
    for language in dataset.languages:
        texts = (document.text for shard in dataset.shards(language) for document in dataset.read(shard))
        yield language, islice(texts, min(most or sys.maxsize, sys.maxsize))  # no more can be counted


def files_read(registry: Registry, specs: Iterable[str], datasets: Iterable[str] = ()) -> Iterator[Path]:
    """The files and folders that tokenizers, datasets and plugins are read from."""
    from tokbench.corpora.dataset import files_of

    yield from map(Path, registry.context.plugins)
    for text in specs:
        spec = registry.tokenizer_spec(text)
        family = registry.tokenizers[spec.family]
        if not family.trains(spec):
            yield from (*variant_file(spec, registry.context), *family.files_of(spec, registry.context))
        elif family.training_files is not None:
            yield from family.training_files(spec)
    for text in datasets:
        dataset = registry.dataset(text)
        shards = (shard for language in dataset.languages for shard in dataset.shards(language))
        yield from (Path(part.source) for shard in shards for part in files_of(shard))


def read_text(argument: str) -> str:
    """The text that an argument gives, or for ``-`` standard input, as it is: line ends are not rewritten.

    Raises `CorpusError`, with the place, for bytes that are not UTF-8: they would be counted as other bytes;
    and where standard input is closed.
    """
    if argument != "-" and os.path.isfile(argument):  # noqa: PTH113  where a text is too long for a path, pathlib raises
        print(f"{argument} is taken as the text; for what is in the file: - < {argument}", file=sys.stderr)
    where = "standard input" if argument == "-" else "the text"
    if argument == "-" and sys.stdin is None:
        raise CorpusError("standard input is closed: there is no text to read")
    content = sys.stdin.buffer.read() if argument == "-" else argument.encode("utf-8", "surrogateescape")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise CorpusError(
            f"{where}, byte offset {error.start}: byte 0x{byte:02x} is not UTF-8 ({error.reason}); convert it "
            "first, as by iconv -f LATIN1 -t UTF-8"
        ) from None


_SHOWING = {"tokbench_plots": "plots", "tokbench_report_writers": "report formats"}
"""Hooks by which a plugin has a part in what is made of a finished run: what they bring."""


def open_run(registry: Registry, path: str | Path) -> Run:
    """A finished run; plugins that had plots or report formats for it, and are not loaded now, are named."""
    import typer

    from tokbench.results import Run

    run = Run.open(path)
    with reading(path):
        for plugin in run.manifest.get("plugins", ()):
            now, origin = registry.host.plugins.get(plugin["name"]), plugin["distribution"]
            brought = [what for hook, what in _SHOWING.items() if hook in plugin["hooks"]]
            if plugin["status"] != "loaded" or not brought:
                continue
            if now is not None and now.status == "loaded":
                continue
            remedy = f"--plugin {origin}" if origin.endswith(".py") else f"pip install {origin}"
            why = f"{remedy} brings them back" if now is None else f"the plugin is {now.status}"
            what = f"the plugin {plugin['name']}, whose {' and '.join(brought)} are missing now"
            typer.echo(printable(f"{path}: made with {what}: {why}"), err=True)
    return run


@contextmanager
def reading(*runs: str | Path, host: Host | None = None) -> Iterator[None]:
    """Read from run folders; raises `ResultsError` where what lies in them is not what tokbench writes there,
    and `PluginError` where a plugin of `host` failed at it.

    Every part of a report rests on other keys of the manifest, and a file that was edited may lack any of them.
    """
    try:
        yield
    except TokbenchError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        if host is not None and (fault := host.at_fault(error)):
            raise fault from error
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise ResultsError(
            f"{' and '.join(map(str, runs))}: not as tokbench writes a run ({described(error)}; "
            f"{Path(place.filename).name}, line {place.lineno}). Run the suite again if a file in it was "
            "changed; else this is a fault of tokbench, or of a plugin: report it"
        ) from error
