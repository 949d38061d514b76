"""`tokbench count`: the distinct pre-tokens of text with their counts, to train tokenizers from."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.loading import files_read
from tokbench.cli.options import Address, Force, Jobs, Languages, dataset_option, output_option, with_registry
from tokbench.cli.progress import bar
from tokbench.cli.writing import check_target

if TYPE_CHECKING:
    from tokbench.registry import Registry


@with_registry
def count(
    registry: Registry,
    output: Annotated[Path, output_option("Where the counts go.", show_default=False)],
    dataset: Annotated[list[str] | None, dataset_option("The text. Repeatable.")] = None,
    wanted: Annotated[
        str, typer.Option("--for", metavar="SPEC", help="What will be trained: it says how text is cut.")
    ] = "bpe",
    merge: Annotated[
        list[Path] | None,
        typer.Option("--merge", metavar="FILE", help="Add up files of counts instead. Repeatable."),
    ] = None,
    language: Languages = None,
    jobs: Jobs = None,
    engine: Annotated[
        str, typer.Option(metavar="NAME", help="Where shards are counted: local, dask, ray.")
    ] = "local",
    address: Address = None,
    force: Force = False,
) -> None:
    """Count the distinct pre-tokens of text, per language and source, to train from: counts:FILE.

    Memory is bounded, whatever the text. Counts of parts add up: --merge.
    """
    from tokbench.errors import SpecError
    from tokbench.kernels.threads import usable_cores
    from tokbench.runner.pretokens import count_pretokens, merge_counts
    from tokbench.training_corpus import shares
    from tokbench.wording import counted

    if bool(dataset) == bool(merge):
        raise SpecError("name what to count with -d DATASET, or files to add up with --merge FILE: one of both")
    check_target(output, force=force, read=merge or files_read(registry, [], dataset or ()))
    if merge:
        head, rows = merge_counts(merge, output)
    else:
        with bar(f"counting for {wanted}") as progress:
            head, rows = count_pretokens(
                registry,
                wanted,
                dataset or [],
                output,
                languages=language or (),
                engine=engine,
                address=address,
                jobs=jobs or usable_cores(),
                progress=progress,
            )
    sizes: dict[str, int] = {}
    for text in head.texts:
        sizes[text.language] = sizes.get(text.language, 0) + text.bytes
    print(f"text of {shares(sizes)}")
    print(f"{output}: {counted(rows, 'row')}; train from it as counts:{output}")
