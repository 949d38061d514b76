"""`tokbench convert`: writes a tokenizer in another file format; also how every command saves one."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.shared import Force, SpecArgument, elsewhere, loads_tokenizers
from tokbench.wording import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokbench.registry import Registry
    from tokbench.tokenizer import Tokenizer


@loads_tokenizers
def convert(
    registry: Registry,
    spec: SpecArgument,
    output: Annotated[
        Path, typer.Argument(metavar="FILE", help="Where it goes; its ending says in which format.")
    ],
    force: Force = False,
) -> None:
    """Write a tokenizer in another format: tokenizer.json, .tiktoken, vocab.txt, .model, GGUF, Tekken, folder.

    The in-house families open what others publish and write it again: `tokbench diff` proves that the ids are
    the same. A folder gets `vocab.json` and `merges.txt`; a .json with `tekken` in its name is Tekken's.
    """
    check_target(output, force=force)
    tokenizer = registry.load(spec)
    save(tokenizer, output, lambda: elsewhere(registry, spec))
    print(f"{output}: {counted(tokenizer.vocab_size, 'token')}")


def check_target(output: Path, *, force: bool) -> None:
    """Refuse, before any work, a target that exists or whose folder does not; raises `SpecError`."""
    from tokbench.errors import SpecError

    if output.exists() and not force:
        raise SpecError(f"{output} exists; name another file, or overwrite it with --force")
    if not output.parent.is_dir():
        raise SpecError(f"{output}: the folder {output.parent} does not exist")


def save(tokenizer: Tokenizer, output: Path, remedy: Callable[[], str]) -> None:
    """Write aside and rename, so that an interrupted call leaves no half file.

    Raises `TokenizerError` where the tokenizer cannot be saved, with what `remedy` says, or not there.
    """
    from tokbench.errors import TokenizerError
    from tokbench.tokenizer import Savable

    if not isinstance(tokenizer, Savable):
        raise TokenizerError(f"{tokenizer.name} cannot be saved; {remedy()}")
    with tempfile.TemporaryDirectory(prefix=".tokbench-", dir=output.parent) as folder:
        aside = Path(folder) / output.name
        try:
            tokenizer.save(aside)
            if aside.is_dir() and output.is_dir():
                for part in aside.iterdir():
                    part.replace(output / part.name)
            else:
                aside.replace(output)
        except OSError as error:
            raise TokenizerError(f"cannot write {output}: {error.strerror}") from error
