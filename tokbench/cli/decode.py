"""`tokbench decode`: the text that ids stand for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.loading import read_text
from tokbench.cli.options import SpecArgument, loads_tokenizers
from tokbench.cli.writing import put

if TYPE_CHECKING:
    from tokbench.registry import Registry
    from tokbench.tokenizer import Tokenizer


@loads_tokenizers
def decode(
    registry: Registry,
    spec: SpecArgument,
    ids: Annotated[
        list[str],
        typer.Argument(metavar="ID", help="Ids, apart by spaces or commas; - reads lines of standard input."),
    ],
) -> None:
    """Print the text that ids stand for: the way back from `tokbench encode --ids`, line by line."""
    tokenizer = registry.load(spec)
    lines = read_text("-").splitlines() if ids == ["-"] else [" ".join(ids)]
    texts = [tokenizer.decode(_ids(tokenizer, line)) for line in lines]
    for text in texts:
        # A vocabulary may hold halves of characters; what has no UTF-8 is shown as a replacement.
        put(text.encode("utf-8", "replace").decode("utf-8"))


def _ids(tokenizer: Tokenizer, line: str) -> list[int]:
    """The ids of one line; raises `SpecError` for what is no id of this vocabulary."""
    from tokbench.errors import SpecError

    found: list[int] = []
    for word in re.split(r"[\s,]+", line.strip(" \t[],")):
        if not word:
            continue
        if not (word.isascii() and word.isdigit()):
            raise SpecError(f"{word!r} is no id; ids are whole numbers, as `tokbench encode --ids` prints them")
        if int(word) >= tokenizer.vocab_size:
            raise SpecError(
                f"{tokenizer.name} has no id {word}; its {tokenizer.vocab_size:,} ids end at "
                f"{tokenizer.vocab_size - 1}"
            )
        found.append(int(word))
    return found
