"""`tokbench bytes`: how many bytes of text each id stands for, checked on text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tokbench.cli import options as opt
from tokbench.cli.loading import documents_of, files_read, load_trained
from tokbench.cli.progress import documents_done, overwrite, progress
from tokbench.cli.tables import plain_console
from tokbench.cli.writing import check_target, print_json
from tokbench.errors import SpecError
from tokbench.wording import counted

if TYPE_CHECKING:
    from tokbench.inspection.bytetable import ByteTable, Proof
    from tokbench.registry import Registry


@opt.loads_tokenizers
def token_bytes(
    registry: Registry,
    spec: opt.SpecArgument,
    output: Annotated[Path | None, opt.output_option("A .npy, .json or .parquet file.")] = None,
    dataset: Annotated[opt.Several, opt.dataset_option("Prove the table on this text. Repeatable.")] = None,
    documents: opt.Documents = None,
    train_on: opt.TrainOn = None,
    force: opt.Force = False,
    as_json: opt.JsonOutput = False,
) -> None:
    """Count the bytes that each id adds to the decoded text, after other tokens and as the first of a document.

    Special tokens add 0; tokens that are parts of a character add their own bytes. With -d every document
    is encoded, decoded as a whole and compared with the sum over its ids; exit status 1 if any differs.
    """
    from tokbench.inspection.bytetable import ENDINGS, byte_table, prove

    if output is not None and output.suffix not in ENDINGS:
        raise SpecError(f"{output}: tables are written as {', '.join(ENDINGS)}, by the file's ending")
    if output is not None:
        both = [*(dataset or ()), *(train_on.split(" + ") if train_on else ())]
        check_target(output, force=force, read=files_read(registry, [spec], both))
    tokenizer = load_trained(registry, spec, train_on)
    table = replace(byte_table(tokenizer, progress), tokenizer=str(registry.tokenizer_spec(spec)))
    texts = documents_of(registry, dataset or (), documents)
    proof = prove(table, tokenizer, texts, documents_done) if dataset else None
    overwrite()
    if output is not None:
        table.write(output)
    if as_json:
        print_json({**_summary(table), "proof": proof and proof.as_json()})
    else:
        _show(table, proof, output)
    if proof is not None and not proof.holds:
        raise typer.Exit(1)


def _summary(table: ByteTable) -> dict[str, Any]:
    import numpy as np

    from tokbench.inspection.bytetable import UNTOLD, IdKind

    found = np.bincount(table.kind, minlength=len(IdKind)).tolist()
    return {
        "tokenizer": table.tokenizer,
        "vocab_size": len(table),
        "kinds": {kind.name.lower(): count for kind, count in zip(IdKind, found, strict=True)},
        "other_at_start": int((table.first != table.after).sum()),
        "untold": int((table.after == UNTOLD).sum()),
    }


def _show(table: ByteTable, proof: Proof | None, output: Path | None) -> None:
    console, known = plain_console(), _summary(table)
    console.print(f"{table.tokenizer}: {counted(len(table), 'id')}", style="bold")
    kinds = {"partial": "parts of a character", "special": "special (0 bytes)"}
    counts = known["kinds"].items()
    console.print(", ".join(f"{kinds.get(name, name)} {count:,}" for name, count in counts if count))
    if known["other_at_start"]:
        console.print(f"ids that add other bytes at the start of a document: {known['other_at_start']:,}")
    if known["untold"]:
        console.print(f"ids that are parts of characters of bytes unknown: {known['untold']:,}")
    if proof is None:
        console.print("not proved on text: name some with -d DATASET")
    elif not proof.documents:
        console.print("no documents: nothing was proved")
    else:
        console.print(
            f"{proof.exact:,} of {counted(proof.documents, 'document')} exact: decoded "
            f"{counted(proof.decoded, 'byte')}, the sum "
            f"over {counted(proof.tokens, 'id')} {proof.table:,}; the text itself {proof.text:,}"
        )
        for name, decoded, total in proof.examples:
            console.print(f"  {name}: decoded {decoded:,} bytes, the sum over its ids {total:,}")
    if output is not None:
        console.print(str(output))
