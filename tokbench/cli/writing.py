"""What commands write: files that are whole or not there at all, JSON, and what else a program reads."""

from __future__ import annotations

import codecs
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress
from itertools import combinations
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, TextIO

from tokbench.capabilities import Savable, TellsUnsaid
from tokbench.errors import FormatError, SpecError, TokbenchError, TokenizerError
from tokbench.family import TokenizerFamily
from tokbench.spec import Spec
from tokbench.tokenizer import Tokenizer
from tokbench.wording import reason

if TYPE_CHECKING:
    from tokbench.registry import Registry

_outputs: list[TextIO] = []


@contextmanager
def output_for_programs() -> Iterator[None]:
    """In the block, standard output has what `put` writes and nothing else.

    What anything else prints, a plugin for one, be it from Python or from C, goes to standard error.
    """
    with _apart(sys.stdout) as output, redirect_stdout(sys.stderr):
        _outputs.append(output)
        try:
            yield
        finally:
            _outputs.pop()


@contextmanager
def _apart(stream: TextIO) -> Iterator[TextIO]:
    """A stream to where `stream` leads, whose own descriptor leads to standard error in the block.

    One that has no descriptor, as in a notebook, is given as it is.
    """
    import ctypes

    try:
        number, other = stream.fileno(), sys.stderr.fileno()
    except (AttributeError, OSError):
        number = other = -1
    if number < 0:  # not above, where whatever is raised in the block would seem to come of it
        yield stream
        return
    stream.flush()
    with os.fdopen(os.dup(number), "w", encoding=stream.encoding, errors=stream.errors) as apart:
        os.dup2(other, number)
        try:
            yield apart
        finally:
            with suppress(AttributeError, OSError, TypeError):  # Windows has no library of that name
                ctypes.CDLL(None).fflush(None)  # what C has printed and not written yet
            os.dup2(apart.fileno(), number)


def put(content: str | bytes) -> None:
    """Write what a program reads to standard output: a text with the end of its line, or bytes as they are."""
    stream = _outputs[-1] if _outputs else sys.stdout
    if isinstance(content, bytes):
        stream.buffer.write(content)
    else:
        stream.write(content + "\n")


def print_json(content: object) -> None:
    """Print what `--json` asks for; where output is no UTF-8, in ASCII, which any encoding has."""
    stream = _outputs[-1] if _outputs else sys.stdout
    encoding = codecs.lookup(stream.encoding or "utf-8").name
    put(json.dumps(content, ensure_ascii=encoding != "utf-8", indent=2))


def write_text(path: Path, content: str) -> None:
    """Write a page or a figure and print its name; for ``-`` print it."""
    from tokbench.results.atomic import write_bytes

    if str(path) == "-":
        put(content)
        return
    write_bytes(path, content.encode())
    print(path)


def check_apart(targets: Mapping[str, Path | None]) -> None:
    """Refuse, before any work, two options that write the same file, or one into the other's folder, where one
    would be lost; raises `SpecError`.
    """
    given = [(option, target.resolve()) for option, target in targets.items() if target is not None]
    for (one, first), (other, second) in combinations(given, 2):
        if first == second or first in second.parents or second in first.parents:
            raise SpecError(f"{one} and {other} both write {targets[other]}; give each a file of its own")


def check_target(output: Path, *, force: bool, read: Iterable[Path] = (), may_be_folder: bool = False) -> None:
    """Refuse, before any work, a target that exists, or whose folder does not or cannot be written to; raises
    `SpecError`.

    A folder is refused unless it `may_be_folder`; with `force`, too, one of the files that the command is to
    `read`, and a folder that holds one: which files are written into a folder is known only when they are.
    """
    if str(output) == "-":
        raise SpecError("- means standard output, which this command cannot write to; name a file")
    if output.is_dir() and not may_be_folder:
        raise SpecError(f"cannot write {output}: it is a folder; name a file")
    if (output.is_file() or output.is_dir()) and not force:
        raise SpecError(f"{output} exists; name another file, or overwrite it with --force")
    if not output.parent.is_dir():
        raise SpecError(f"{output}: the folder {output.parent} does not exist")
    file = output.is_file() or not output.exists()  # else a folder, or a device such as /dev/stdout
    if not os.access(output.parent if file else output, os.W_OK):
        raise SpecError(f"{output} cannot be written; name a place elsewhere")
    for each in read if output.exists() else ():
        if each.exists() and output.samefile(each):
            raise SpecError(f"{output} is what this command reads, and would be lost; name another file")
        if any(output.samefile(file.parent) for file in (each, each.resolve())):
            raise SpecError(f"{output} holds {each}, which this command reads; name another folder")


def save(
    registry: Registry,
    tokenizer: Tokenizer,
    family: TokenizerFamily,
    output: Path,
    remedy: Callable[[], str],
) -> None:
    """Write a family's tokenizer aside and rename, so that an interrupted call leaves no half file.

    An ending that the family does not name among those of all its tokenizers is one of this tokenizer's where
    the family knows what was written for its own, as sentencepiece's BPE has `.model` and no other BPE does.
    Raises `FormatError` where the tokenizer cannot be saved so, with what `remedy` says, and `TokenizerError`
    where it cannot be written there.
    """
    if not isinstance(tokenizer, Savable):
        raise FormatError(f"{getattr(tokenizer, 'name', tokenizer)} cannot be saved; {remedy()}")
    try:
        with tempfile.TemporaryDirectory(prefix=".tokbench-", dir=output.parent) as folder:
            aside = Path(folder) / output.name
            tokenizer.save(aside)
            if not aside.exists():
                raise TokenizerError(f"{tokenizer.name}: save({output.name!r}) wrote nothing there")
            why = family.unwritable(output)  # here, as its own refusal knows more of what it holds
            if why and (family.recognises is None or family not in registry.recognising(aside)):
                raise FormatError(f"{tokenizer.name} {why}")
            if aside.is_dir() and output.is_dir():
                for part in aside.iterdir():
                    part.replace(output / part.name)
            else:
                aside.replace(output)
    except FormatError as error:
        raise FormatError(f"{error}; {remedy()}") from error
    except OSError as error:
        raise TokenizerError(f"cannot write {output}: {reason(error)}") from error


def elsewhere(registry: Registry, spec: str, *, able: str) -> str:
    """The remedy for a tokenizer that lacks a capability: the specs by which other families open its file.

    Without any, the families that are `able` in general.
    """
    found = [quote(other) for other, why in other_openers(registry, spec).items() if not why]
    return f"other families open the same file: {' or '.join(found)}" if found else able


def other_openers(registry: Registry, spec: str) -> dict[str, str]:
    """The specs by which other families open a file of a tokenizer; with each, empty or why it does not do."""
    parsed = registry.tokenizer_spec(spec)
    own = registry.tokenizers[parsed.family]
    unsaid = own.unsaid(parsed, registry.context) if own.unsaid is not None else {}
    for path in own.files_of(parsed, registry.context):
        found = {}
        for family in registry.recognising(path):
            options = {option.name: unsaid[option.name] for option in family.options if option.name in unsaid}
            if family is not own:
                other = str(Spec(family.name, str(path), options))
                _, found[other] = _opened(registry, other)
        if found:
            return found
    return {}


def _opened(registry: Registry, spec: str) -> tuple[Tokenizer | None, str]:
    """What a spec opens; or None, and why not, as where it lacks what its format leaves to be said."""
    try:
        return registry.load(spec), ""
    except TokbenchError as error:
        return None, str(error)


def use_of(registry: Registry, spec: str, tokenizer: Tokenizer) -> str:
    """How to open what `tokenizer` was written to: as `spec`, or with options that its format leaves unsaid,
    as a `.tiktoken` does how text is cut and a `vocab.txt` how it is prepared.
    """
    from tokbench.lint.samples import ROUND_TRIPS

    family, path = spec.split(":", 1)
    if isinstance(tokenizer, TellsUnsaid):
        spec = str(Spec(family, path, dict(tokenizer.unsaid_in(path))))
    written, why = _opened(registry, spec)
    if written is None:
        return f"its spec needs more options before it can be used. {why}"
    for text in ROUND_TRIPS:
        with suppress(TokbenchError):  # a text that either cannot encode tells nothing
            if list(tokenizer.encode(text)) != list(written.encode(text)):
                return (
                    f"opened as {spec} it gives other ids for {text!r}: this format does not say all of how "
                    f"text is encoded. Add the options that do (`tokbench list tokenizers {family}`), if there "
                    "are any; docs/formats.md says what a format cannot express"
                )
    return f"use it as {quote(spec)}"
