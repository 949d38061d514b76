"""`tokbench convert`: writes a tokenizer in another file format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.loading import files_read
from tokbench.cli.options import Force, SpecArgument, loads_tokenizers
from tokbench.cli.writing import check_target, elsewhere, save
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.registry import Registry


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
    check_target(output, force=force, read=files_read(registry, [spec]), may_be_folder=True)
    tokenizer = registry.load(spec)
    family = registry.tokenizers[registry.tokenizer_spec(spec).family]
    save(tokenizer, family, output, lambda: elsewhere(registry, spec))
    print(f"{output}: {counted(tokenizer.vocab_size, 'token')}")
