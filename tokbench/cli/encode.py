"""`tokbench encode`, `decode` and `compare`: a text's tokens, by one tokenizer or several, and the way back."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from tokbench.capabilities import Sampler
from tokbench.cli import options as opt
from tokbench.cli.loading import read_text
from tokbench.cli.tables import plain_console, show_table
from tokbench.cli.writing import print_json, put
from tokbench.errors import SpecError, TokenizerError
from tokbench.tokenizer import Tokenizer, checked_ids, first_difference
from tokbench.wording import counted, in_utf8

if TYPE_CHECKING:
    from tokbench.inspection.pieces import TextPiece
    from tokbench.registry import Registry


@opt.loads_tokenizers
def encode(
    registry: Registry,
    spec: opt.SpecArgument,
    text: opt.TextArgument,
    as_json: opt.JsonOutput = False,
    ids: Annotated[bool, opt.flag("Print the ids alone, separated by spaces.", "--ids")] = False,
    sample: Annotated[int | None, opt.option("Draw N segmentations at random instead.", "N", min=1)] = None,
    alpha: Annotated[
        float,
        opt.option("Of --sample: BPE-dropout's rate, or Unigram's smoothing.", callback=opt.finite),
        opt.OnlyWith("sample"),
    ] = 0.1,
    seed: Annotated[int, opt.option("Of --sample.", "N", min=0, show_default="0"), opt.OnlyWith("sample")] = 0,
) -> None:
    """Show the tokens of a text: coloured pieces, ids, bytes; with --sample, segmentations drawn at random."""
    from tokbench.inspection.pieces import as_json as pieces_json

    if ids and as_json:
        raise SpecError("--ids and --json are two forms of the same; give one (the JSON has the ids)")
    tokenizer = registry.load(spec)
    text = read_text(text)
    drawn = None if sample is None else _draw(tokenizer, text, sample, alpha, seed)
    if ids:
        for found in drawn or [checked_ids(tokenizer, text)]:
            put(" ".join(map(str, found)))
    elif as_json:
        sampled = [pieces_json(tokenizer, text, found) for found in drawn or ()]
        print_json(sampled or pieces_json(tokenizer, text))
    elif drawn is None:
        _show_one(tokenizer, text)
    else:
        _show_drawn(tokenizer, text, drawn)
        print(f"{len(drawn)} drawn with alpha {alpha:g}, seed {seed}")


@opt.loads_tokenizers
def decode(
    registry: Registry,
    spec: opt.SpecArgument,
    ids: Annotated[
        list[str], opt.argument("Ids, apart by spaces or commas; - reads lines of standard input.", "ID")
    ],
) -> None:
    """Print the text that ids stand for: the way back from `tokbench encode --ids`, line by line."""
    tokenizer = registry.load(spec)
    lines = read_text("-").splitlines() if ids == ["-"] else [" ".join(ids)]
    for text in [tokenizer.decode(_ids(tokenizer, line)) for line in lines]:
        put(in_utf8(text))  # a vocabulary may hold halves of characters


@opt.loads_tokenizers
def compare(
    registry: Registry,
    arguments: Annotated[
        list[str], opt.argument("Tokenizers, then the text (- for stdin).", "SPEC SPEC… TEXT")
    ],
    as_json: opt.JsonOutput = False,
) -> None:
    """Show the tokens that several tokenizers give for a text, one below the other."""
    from tokbench.inspection.pieces import as_json as pieces_json

    *specs, text = arguments
    if len(specs) < 2:
        raise SpecError("compare takes two tokenizers or more, then the text: tokbench compare SPEC SPEC TEXT")
    tokenizers = [registry.load(spec) for spec in specs]
    text = read_text(text)
    if as_json:
        print_json([pieces_json(tokenizer, text) for tokenizer in tokenizers])
    else:
        _show_many(tokenizers, text)


def _ids(tokenizer: Tokenizer, line: str) -> list[int]:
    """The ids of one line; raises `SpecError` for what is no id of this vocabulary."""
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


def _show_one(tokenizer: Tokenizer, text: str) -> None:
    from tokbench.inspection.pieces import groups, pieces
    from tokbench.inspection.terminal import colored, label, render

    console = plain_console()
    found = pieces(tokenizer, text)
    rows = []
    for group in groups(found):
        for number, piece in enumerate(group.pieces, start=1):
            part = f" {number}/{len(group.pieces)}" if len(group.pieces) > 1 else ""
            shown = label(group) + part + ("" if piece.kind == "token" else f" ({piece.kind})")
            rows.append((str(piece.id), shown, piece.bytes.hex(" "), f"{piece.start}–{piece.end}"))
    if found:
        console.print(render(found, color=colored(console)))
        show_table(("id", "token", "bytes", "characters"), rows)
    console.print(_figures(text, found))
    back = tokenizer.decode([piece.id for piece in found])
    if back != text:
        at = first_difference(text, back)
        here, there = (each[max(0, at - 10) : at + 10] for each in (text, back))
        said = f"decoding gives another text: at character {at}, {there!r} for {here!r}"
        console.print(said, style="bold red", soft_wrap=True)


def _draw(tokenizer: Tokenizer, text: str, n: int, alpha: float, seed: int) -> list[list[int]]:
    import numpy as np

    if not isinstance(tokenizer, Sampler):
        raise TokenizerError(
            f"{tokenizer.name} does not draw segmentations; bpe, unigram, pathpiece and sentencepiece do"
        )
    generator = np.random.default_rng(seed)
    return [[int(index) for index in tokenizer.sample(text, generator, alpha)] for _ in range(n)]


def _show_drawn(tokenizer: Tokenizer, text: str, drawn: Sequence[Sequence[int]]) -> None:
    """Each segmentation once, with how often it was drawn, the most frequent first."""
    from tokbench.inspection.pieces import pieces
    from tokbench.inspection.terminal import colored, render

    color = colored(plain_console())
    rows = (
        (f"{count}×", str(len(found)), render(pieces(tokenizer, text, found), color=color))
        for found, count in Counter(map(tuple, drawn)).most_common()
    )
    show_table(("drawn", "tokens", "segmentation"), rows)


def _show_many(tokenizers: Sequence[Tokenizer], text: str) -> None:
    from tokbench.inspection.pieces import pieces
    from tokbench.inspection.terminal import colored, render

    console = plain_console()
    for tokenizer in tokenizers:
        found = pieces(tokenizer, text)
        lossy = tokenizer.decode([piece.id for piece in found]) != text
        console.print(f"{tokenizer.name}  ({_figures(text, found)}{', lossy' if lossy else ''})", style="bold")
        if found:
            console.print(render(found, color=colored(console)))
            console.print(" ".join(str(piece.id) for piece in found), style="dim")


def _figures(text: str, found: Sequence[TextPiece]) -> str:
    unknown = sum(piece.kind == "unknown" for piece in found)
    tokens = counted(len(found), "token") + (f" ({unknown:,} unknown)" if unknown else "")
    if not text:
        return f"{tokens}: the text is empty"
    size = len(text.encode("utf-8", "surrogatepass"))
    ratio = f", {size / len(found):.2f} bytes/token" if found else ""
    return f"{tokens}, {counted(len(text), 'character')}, {counted(size, 'byte')}{ratio}"
