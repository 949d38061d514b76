"""What commands share: options, the registry that the plugin options lead to, the text they are given."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from inspect import Parameter, Signature, signature
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from tokbench.family import Progress
    from tokbench.registry import Registry
    from tokbench.tokenizer import Tokenizer

WEIGHTS_SHOWN = "price=3, fairness=2, context=1, lossless=1, embedding=1, speed=0"
"""The default weights of the decision (`tokbench.metrics.weights`), for `--help`."""

SpecArgument = Annotated[str, typer.Argument(metavar="SPEC", help="A tokenizer.", show_default=False)]
Seed = Annotated[int, typer.Option(min=0, metavar="N", help="Of the bootstrap.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite FILE.")]
Languages = Annotated[
    list[str] | None,
    typer.Option(
        "-l", "--language", metavar="LANGUAGE", help="Only this language. Repeatable.", show_default="all"
    ),
]
Address = Annotated[str | None, typer.Option(metavar="URL", help="The scheduler of a shared engine.")]
Jobs = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Worker processes.", show_default="one per core")
]
TextArgument = Annotated[
    str, typer.Argument(metavar="TEXT", help="The text; - reads standard input.", show_default=False)
]
Documents = Annotated[
    int | None, typer.Option(metavar="N", min=1, help="Only the first N documents of each language.")
]
TrainOn = Annotated[
    str | None, typer.Option(metavar="DATASET", help="What a tokenizer without a file is trained on.")
]
JsonOutput = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AllowRemoteCode = Annotated[
    bool, typer.Option("--allow-remote-code", help="Let vocabularies from the hub bring code of their own.")
]
PluginFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin", metavar="FILE.py", help="Load a plugin from a file, for this call only. Repeatable."
    ),
]
DisabledPlugins = Annotated[
    list[str] | None,
    typer.Option("--disable-plugin", metavar="NAME", help="Leave an installed plugin out. Repeatable."),
]
_OPENING = {
    "allow_remote_code": (AllowRemoteCode, False),
    "plugin": (PluginFiles, None),
    "disable_plugin": (DisabledPlugins, None),
}
"""The options of `open_registry`, each with its type and default."""

Command = Callable[..., None]


def with_registry(command: Command) -> Command:
    """A command whose first parameter is the registry: users give the options of plugins in its place."""
    return _with_options(command, ["plugin", "disable_plugin"])


def loads_tokenizers(command: Command) -> Command:
    """As `with_registry`, for a command that loads tokenizers: with --allow-remote-code as well."""
    return _with_options(command, ["allow_remote_code", "plugin", "disable_plugin"])


def _with_options(command: Command, names: Sequence[str]) -> Command:
    """`command` as typer is to see it: it reads options off a function's signature."""
    hints = get_type_hints(command, localns={"Registry": object}, include_extras=True)
    _, *own = signature(command).parameters.values()
    seen = [each.replace(kind=Parameter.KEYWORD_ONLY, annotation=hints[each.name]) for each in own]
    for name in names:
        kind, default = _OPENING[name]
        seen.append(Parameter(name, Parameter.KEYWORD_ONLY, annotation=kind, default=default))

    def run(**given: Any) -> None:
        registry = open_registry(**{name: given.pop(name) for name in names})
        command(registry, **given)

    run.__signature__ = Signature(seen)  # type: ignore[attr-defined]
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run


def open_registry(
    plugin: list[str] | None = None, disable_plugin: list[str] | None = None, allow_remote_code: bool = False
) -> Registry:
    """The registry that a command's plugin options ask for; raises `UnknownNameError` for no plugin's name."""
    from tokbench.errors import UnknownNameError
    from tokbench.registry import build_registry, default_context

    registry = build_registry(
        disable=disable_plugin or (),
        plugin_files=plugin or (),
        context=default_context(allow_remote_code=allow_remote_code),
    )
    for name in disable_plugin or ():
        if name not in registry.host.plugins:
            raise UnknownNameError.of("plugin", name, registry.host.plugins)
    return registry


def print_json(content: object) -> None:
    """Print what `--json` asks for."""
    print(json.dumps(content, ensure_ascii=False, indent=2))


def load_trained(registry: Registry, spec: str, train_on: str | None) -> Tokenizer:
    """The tokenizer of a spec, trained on the dataset `train_on` where one is named."""
    if train_on is None:
        return registry.load(spec)
    from tokbench.runner.training import train

    return train(registry, spec, train_on)


def documents_of(registry: Registry, spec: str, most: int | None) -> Iterator[tuple[str, str]]:
    """The (name, text) of every document; the name says dataset, language and number."""
    dataset = registry.dataset(spec)
    for language in dataset.languages:
        texts = (document.text for shard in dataset.shards(language) for document in dataset.read(shard))
        for number, text in enumerate(islice(texts, most), start=1):
            yield f"{spec} {language} {number}", text


@contextmanager
def reading(*runs: str | Path) -> Iterator[None]:
    """Read from run folders; raises `ResultsError` where what lies in them is not what tokbench writes there.

    Every part of a report rests on other keys of the manifest, and a file that was edited may lack any of them.
    """
    from tokbench.errors import ResultsError, TokbenchError

    try:
        yield
    except TokbenchError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, RecursionError) as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        raise ResultsError(
            f"{' and '.join(map(str, runs))}: not as tokbench writes a run ({type(error).__name__}: {error}; "
            f"{Path(place.filename).name}, line {place.lineno}). Run the suite again if a file in it was "
            "changed; else this is a fault of tokbench, or of a plugin: report it"
        ) from error


def read_text(argument: str) -> str:
    """The text that an argument gives, or for ``-`` standard input, as it is: line ends are not rewritten.

    Raises `CorpusError`, with the place, for bytes that are not UTF-8: they would be counted as other bytes.
    """
    from tokbench.errors import CorpusError

    where = "standard input" if argument == "-" else "the text"
    content = sys.stdin.buffer.read() if argument == "-" else argument.encode("utf-8", "surrogateescape")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = content[error.start]
        raise CorpusError(
            f"{where}, byte offset {error.start}: byte 0x{byte:02x} is not UTF-8 ({error.reason})"
        ) from None


def elsewhere(registry: Registry, spec: str) -> str:
    """What to do where a tokenizer lacks what another family may have: the families that open its files too."""
    parsed = registry.tokenizer_spec(spec)
    own = registry.tokenizers[parsed.family]
    for path in own.files(parsed, registry.context) if own.files is not None else ():
        others = [family.name for family in registry.recognising(path) if family is not own]
        if others:
            return "other families open the same file: " + " or ".join(f"{name}:{path}" for name in others)
    return "`tokbench show SPEC` names a tokenizer's files, `tokbench list tokenizers` the families there are"


def overwrite(line: str = "") -> None:
    """A line on stderr in place of the last one, where somebody watches; without text the last one goes."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def progress(done: float, word: str) -> None:
    """How far something is, and what it is at."""
    overwrite(f"{done:4.0%} {word}" if done < 1 else "")


def documents_done(documents: int) -> None:
    """How many documents have been seen."""
    overwrite(f"{documents:,} documents")


@contextmanager
def bar(title: str) -> Iterator[Progress]:
    """A progress bar on stderr, which shows what is going on and the time left; in a pipe, nothing."""
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
    from rich.progress import TimeRemainingColumn as TimeLeft

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeLeft(),
    )
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task(escape(title), total=1.0)

        def report(fraction: float, what: str) -> None:
            bars.update(task, completed=fraction, description=escape(f"{title}: {what}"))

        yield report
