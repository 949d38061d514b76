"""`tokbench golden`: packs of reference ids for other implementations, made and checked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokbench import __version__
from tokbench.capabilities import Savable
from tokbench.cli import options as opt
from tokbench.cli.loading import files_read
from tokbench.cli.progress import progress
from tokbench.cli.writing import check_target, print_json
from tokbench.errors import SpecError, TokbenchError
from tokbench.tokenizer import Tokenizer
from tokbench.wording import counted, every, percent

if TYPE_CHECKING:
    from tokbench.golden.checking import Departure
    from tokbench.registry import Registry

_OTHER_TEXTS = 1000
app = typer.Typer(
    help="Packs of reference ids: make one, hold an implementation against it.", no_args_is_help=True
)


@app.command()
@opt.loads_tokenizers
def make(
    registry: Registry,
    spec: opt.SpecArgument,
    output: Annotated[Path, opt.output_option("Where the pack goes.", "DIR")],
    mutations: Annotated[
        int, opt.option("Merges and tokens changed to measure the pack; 0: none.", "N", min=0)
    ] = 12,
    force: Annotated[bool, opt.flag("Overwrite a pack in DIR.", "--force")] = False,
) -> None:
    """Write a golden pack: texts with ids, bytes, places and stages, at most 1 MB, for any language.

    The quality of the pack is measured: it must tell tokenizers with one change each from the original.
    """
    from tokbench.golden import pack as packs
    from tokbench.golden.making import make as make_pack
    from tokbench.golden.mutations import random_text, score

    if (output / packs.MANIFEST).exists() and not force:
        raise SpecError(f"{output} holds a pack; name another folder, or overwrite it with --force")
    if output.is_file():
        raise SpecError(f"{output} is a file, and a pack is a folder")
    check_target(output, force=True, read=files_read(registry, [spec]), may_be_folder=True)
    tokenizer = registry.load(spec)
    content = document_of(registry, spec, tokenizer)
    added = [
        token["content"] for token in (content or {}).get("added_tokens") or [] if not token.get("special")
    ]
    made, *files = make_pack(tokenizer, added=added[:12], tell=progress)
    measured: Any = "not measured: " + ("asked not to" if content else "it has no tokenizer.json to change")
    if mutations and content is not None:
        by, other = (lambda file: registry.load(f"transformers:{file}")), random_text(_OTHER_TEXTS)
        measured = score(made, content, by, other, drawn=mutations, tell=progress)
    about = {"made_by": f"tokbench {__version__}", "mutations": measured}
    packs.write(output, {**made.manifest, **about}, *files)
    progress(1.0, "done")
    size = sum(file.stat().st_size for file in output.iterdir())
    print(f"{output}: {counted(len(made.cases), 'case')}, {counted(len(made.rows), 'row')}, {size:,} bytes")
    print(f"  {made.manifest['tokens_covered']:,} of {counted(tokenizer.vocab_size, 'id')} occur in it")
    if isinstance(measured, str):
        print(f"  mutation score: {measured}")
        return
    share = "-" if measured["score"] is None else percent(measured["score"], 1)
    print(f"  mutation score: {share} ({measured['told']} of {measured['tried']} changes told)")
    for name in measured["missed"]:
        print(f"    not told: {name}")
    if without := measured["without_effect_on_other_text"]:
        print(f"  more changes, without effect on {_OTHER_TEXTS:,} other texts either: {len(without)}")


@app.command()
@opt.loads_tokenizers
def check(
    registry: Registry,
    folder: Annotated[Path, opt.argument("A golden pack.", "DIR")],
    spec: Annotated[str | None, opt.argument("A tokenizer.", "[SPEC]")] = None,
    command: Annotated[
        str | None, opt.option("A program: reads JSON strings, a line each; prints ids.", "CMD")
    ] = None,
    timeout: Annotated[
        float,
        opt.option("For the program.", "SECONDS", min=0.1, max=1e9, callback=opt.finite),
        opt.OnlyWith("command"),
    ] = 60.0,
    examples: Annotated[int, opt.option("Differences shown.", "N", min=0)] = 8,
    as_json: opt.JsonOutput = False,
) -> None:
    """Compare a tokenizer, or any program, with a golden pack; exit status 1 if any ids differ.

    For each text that differs, the first stage that differs is named. A program may print an object with `ids`
    and the stages it knows (`added tokens`, `normalizer`, `pre-tokenizer`), each a list of pieces.
    """
    from tokbench.golden import checking, pack

    if (spec is None) == (command is None):
        raise SpecError("name what to check: a SPEC, or a program with --command")
    found = pack.read(folder)
    if command is not None:
        implementation = checking.by_command(command, timeout=timeout)
    else:
        implementation = checking.by_tokenizer(registry.load(str(spec)))
    departures = list(checking.check(found, implementation))
    total = len(found.cases) + len(found.rows)
    if as_json:
        listed = [asdict(one) for one in departures[:examples]]
        content = {"texts": total, "departing": len(departures), "departures": listed}
        print_json(content)
    else:
        _show(departures, total, examples)
    if departures:
        raise typer.Exit(1)


def _show(departures: list[Departure], total: int, examples: int) -> None:

    if not departures:
        print(every(total, "text", "gets the ids of the pack", "get the ids of the pack"))
        return
    get = "gets" if len(departures) == 1 else "get"
    of = f"{len(departures):,} of {counted(total, 'text')}"
    print(f"{of} {get} other ids; the first stage that departs:")
    for stage, count in Counter(one.stage for one in departures).most_common():
        print(f"  {count:>6,} {stage}")
    for one in departures[:examples]:
        print(f"{one.stage}, token {one.position} of {one.text[:60]!r} ({one.rule})")
        print(f"  expected {list(one.expected)[:12]}\n  found    {list(one.found)[:12]}")


def document_of(registry: Registry, spec: str, tokenizer: Tokenizer) -> Mapping[str, Any] | None:
    """The content of a `tokenizer.json` that says what a tokenizer is: its file, or what it can be saved as."""
    from tokbench.lint.running import subject_of

    content = subject_of(registry, spec, {}).document
    if content is not None or not isinstance(tokenizer, Savable):
        return content
    with TemporaryDirectory(prefix="tokbench-golden-") as folder:
        path = Path(folder) / "tokenizer.json"
        try:
            tokenizer.save(path)
            return dict(json.loads(path.read_text(encoding="utf-8")))
        except (TokbenchError, OSError, ValueError):
            return None
