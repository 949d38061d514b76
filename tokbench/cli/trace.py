"""`tokbench trace`: the steps by which an algorithm tokenizes a text, in the terminal or as a figure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from tokbench.capabilities import Step, Traceable
from tokbench.cli import options as opt
from tokbench.cli.loading import files_read, read_text
from tokbench.cli.tables import plain_console
from tokbench.cli.writing import check_apart, check_target, elsewhere, print_json, write_text
from tokbench.errors import TokenizerError
from tokbench.tokenizer import Tokenizer
from tokbench.wording import counted

if TYPE_CHECKING:
    from rich.text import Text

    from tokbench.registry import Registry

_MOST_CHARACTERS = 10_000
"""A longer text is refused: a trace holds the whole sequence at every step."""


@opt.loads_tokenizers
def trace(
    registry: Registry,
    spec: opt.SpecArgument,
    text: opt.TextArgument,
    html: Annotated[Path | None, opt.option("Write a page instead; - for stdout.", "FILE")] = None,
    svg: Annotated[Path | None, opt.option("Write a figure instead; - for stdout.", "FILE")] = None,
    force: opt.Force = False,
    as_json: opt.JsonOutput = False,
) -> None:
    """Show how a tokenizer cuts a text: BPE merge by merge, WordPiece match by match, Unigram's lattice."""
    from tokbench.inspection.steps import html_page, svg_figure

    check_apart({"--html": html, "--svg": svg, "--json": Path("-") if as_json else None})
    for target in (html, svg):
        if target is not None and str(target) != "-":
            check_target(target, force=force, read=files_read(registry, [spec]))
    text = read_text(text)
    tokenizer = registry.load(spec)
    if not isinstance(tokenizer, Traceable):
        remedy = elsewhere(registry, spec, able="the families bpe, wordpiece and unigram do")
        raise TokenizerError(f"{tokenizer.name} does not show how it works; {remedy}")
    if len(text) > _MOST_CHARACTERS:
        raise TokenizerError(
            f"a text of {len(text)} characters is too long to trace; the most is {_MOST_CHARACTERS}"
        )
    steps = list(tokenizer.trace(text))
    if html is not None:
        write_text(html, html_page(tokenizer.name, text, steps))
    if svg is not None:
        write_text(svg, svg_figure(tokenizer.name, text, steps))
    if as_json:
        print_json([_json(step) for step in steps])
    elif html is None and svg is None:
        _show(tokenizer, steps)


def _json(step: Step) -> dict[str, object]:
    plain = {field.name: getattr(step, field.name) for field in fields(step)}
    return {**plain, "tokens": [token.hex() for token in step.tokens], "detail": dict(step.detail)}


def _show(tokenizer: Tokenizer, steps: Sequence[Step]) -> None:
    """Of each step its number, what happened, and the sequence with what is new in it marked."""
    from rich.text import Text

    from tokbench.inspection.steps import label, weighed
    from tokbench.inspection.terminal import colored

    console = plain_console()
    color = colored(console)
    room = console.width - len(_MARGIN)
    for number, step in enumerate(steps):
        console.print(Text(f"{number:>4}  {step.kind:<8} ", style="dim"), Text(step.note), sep="")
        tokens = []
        for index, piece in enumerate(map(label, step.tokens)):
            new = index == step.changed
            shown = piece if color or not new else f"[{piece}]"
            between = "|" if index + 1 < len(step.tokens) else ""
            tokens.append(Text.assemble((shown, "bold reverse" if new else ""), (between, "dim")))
        chosen_from = weighed(step)
        choice = Text(chosen_from, style="dim").wrap(console, room) if chosen_from else ()
        for line in (*_lines(tokens, room), *choice):
            console.print(Text(_MARGIN), line, sep="", soft_wrap=True)
    count = len(steps[-1].tokens) if steps else 0
    console.print(
        f"{tokenizer.name}: {counted(len(steps), 'step')}, {counted(count, 'token')}",
        style="bold",
        soft_wrap=True,
    )


_MARGIN = " " * 6


def _lines(tokens: Sequence[Text], room: int) -> list[Text]:
    """The tokens end to end, in lines of so many columns: none is cut, be it wider than that."""
    lines: list[Text] = []
    for token in tokens:
        if lines and lines[-1].cell_len + token.cell_len <= room:
            lines[-1].append_text(token)
        else:
            lines.append(token)
    return lines
