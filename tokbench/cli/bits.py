"""`tokbench bpb` and `ngram`: bits per byte, from the losses of a model or of an n-gram model over ids."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokbench.cli import options as opt
from tokbench.cli.loading import load_trained
from tokbench.cli.progress import documents_done, overwrite
from tokbench.cli.tables import interval, plain_console, show_table
from tokbench.cli.writing import print_json
from tokbench.spec import Option
from tokbench.wording import counted, percent

if TYPE_CHECKING:
    from tokbench.metrics.bits import BitsAudit
    from tokbench.metrics.ngram_bits import NgramReading, RanksOverSplits
    from tokbench.registry import Registry


@opt.loads_tokenizers
def bpb(
    registry: Registry,
    spec: Annotated[str, opt.argument("The tokenizer whose tokens have losses.", "SPEC")],
    losses: Annotated[
        Path,
        opt.argument("A .jsonl or .parquet file, a document a row: nats, and ids or text (or both).", "LOSSES"),
    ],
    seed: opt.Seed = 0,
    as_json: opt.JsonOutput = False,
) -> None:
    """Compute bits per byte from the losses of tokens, and show how far off the usual short cuts are.

    The list `nats` has a loss for each token, null if there is none, and one entry less than tokens if the
    first is not predicted. Intervals are 95 %, by bootstrap over the documents.
    """
    from tokbench.metrics.bits import audit_bits
    from tokbench.metrics.lossfile import read_losses

    tokenizer = registry.load(spec)
    found = audit_bits(tokenizer, read_losses(losses), seed=seed, progress=documents_done)
    overwrite()
    if as_json:
        print_json(asdict(found))
    else:
        _show_losses(found)


@opt.loads_tokenizers
def ngram(
    registry: Registry,
    spec: opt.SpecArguments,
    train_on: Annotated[
        str,
        opt.option(
            "What the model is trained on, and a tokenizer without a file.", "DATASET", show_default=False
        ),
    ],
    dataset: Annotated[str, opt.dataset_option("The text to read.", show_default=False)],
    order: Annotated[int, opt.option("Ids seen at once, the predicted one too.", "N", min=1)] = 3,
    limit: Annotated[
        str, opt.option("Tokens to train on at most, 240 bytes of memory each at order 3, fewer above.", "N")
    ] = "20M",
    seed: opt.Seed = 0,
    splits: Annotated[
        int,
        opt.option(
            "Split the text N times, half to train on and half to read, and show how stable ranks are.",
            "N",
            min=0,
        ),
    ] = 0,
    as_json: opt.JsonOutput = False,
) -> None:
    """Train an n-gram model on each tokenizer's ids, and show its bits per byte on other text, with ranks.

    The model is interpolated modified Kneser-Ney; it predicts every id and the end of each document, and the
    bytes are those of the text. Documents of the training text are left out. It is not a measure of quality.
    Intervals are 95 %, by bootstrap over documents, and so are the ranges of ranks, from paired differences.
    With --splits the two datasets may be the same: each document is either trained on or read, by its text and
    the split.
    """
    from tokbench.metrics.ngram_bits import RanksOverSplits, ngram_bits
    from tokbench.metrics.ngram_metric import NO_QUALITY
    from tokbench.runner.training.train import training_corpus

    most = Option("limit", "int", least=1).parse(limit, where="tokbench ngram")
    text = registry.dataset(dataset)
    corpus = training_corpus(registry, train_on)
    tokenizers = {each: load_trained(registry, each, train_on) for each in dict.fromkeys(spec)}
    options: dict[str, Any] = {"order": order, "limit": most, "seed": seed, "progress": documents_done}
    if splits:
        readings = [
            ngram_bits(tokenizers, corpus, text, split=split, **options) for split in range(seed, seed + splits)
        ]
        _show_splits(RanksOverSplits.of(readings), as_json)
        return
    found = ngram_bits(tokenizers, corpus, text, **options)
    overwrite()
    if as_json:
        rows = [{**asdict(row), "bits_per_byte": row.bits_per_byte} for row in found.figures]
        whole = {**asdict(found), "figures": rows, "train_on": train_on, "dataset": dataset, "note": NO_QUALITY}
        print_json(whole)
    else:
        _show_ngrams(found)
        plain_console().print(NO_QUALITY)


def _show_losses(found: BitsAudit) -> None:
    console = plain_console()
    console.print(
        f"{found.tokenizer}: {counted(found.documents, 'document')}, {counted(found.tokens, 'token')} with a "
        f"loss ({found.special_tokens:,} special), {found.bytes:,} bytes",
        style="bold",
    )
    columns = ("counted by", "bits/byte", "95 %", "off by", "95 %", "")
    rows = []
    for figure in found.figures:
        off = "" if figure is found.figures[0] or figure.error is None else _off(figure.error)
        ends, off_ends = interval(figure.interval), interval(figure.error_interval, _off)
        rows.append((figure.name, f"{figure.value:.4f}", ends, off, off_ends, figure.how))
    show_table(columns, rows, right=("bits/byte", "95 %", "off by"))
    for number, what, told in (
        (found.unscored, "token", "without a loss, whose bytes are left out"),
        (
            found.left_out,
            "document",
            "left out: a token has no loss, and its bytes are not known, for the tokens do not spell the text",
        ),
        (found.from_ids, "document", "without text: the bytes are those of the decoded ids"),
    ):
        if number:
            console.print(f"{counted(number, what)} {told}")
    if found.rewritten:
        print(
            f"warning: documents that decode to other text than theirs: {found.rewritten:,}. The bytes are "
            "those of the text, and no figure holds where the ids are those of another tokenizer or row",
            file=sys.stderr,
        )


def _off(error: float) -> str:
    return percent(error, 2, signed=True)


def _show_ngrams(found: NgramReading) -> None:
    console = plain_console()
    console.print(
        f"order {found.order}, trained on {counted(found.training_documents, 'document')}, "
        f"{found.training_bytes:,} bytes",
        style="bold",
    )
    if found.excluded:
        console.print(f"{counted(found.excluded, 'document')} left out: in the training text too")
    numbers = ("bits/byte", "95 %", "rank", "documents", "tokens")
    rows = []
    for row in found.figures:
        rank = "" if row.rank is None else "–".join(map(str, dict.fromkeys(row.rank)))
        name = row.tokenizer + ("†" if row.lost else "")
        counts = f"{row.documents:,}", f"{row.tokens:,}"
        rows.append((row.language, name, f"{row.bits_per_byte:.4f}", interval(row.interval), rank, *counts))
    show_table(("language", "tokenizer", *numbers), rows, right=numbers)
    for row in found.figures:
        if row.lost and row.language == found.figures[0].language:
            console.print(
                f"† {row.tokenizer} does not give back {row.lost:,} of {counted(row.documents, 'document')}: "
                "its bits are of what it keeps, its bytes of all text, so it compares with no other"
            )
    for name, estimates in found.estimates.items():
        other = [f"order {n}: {how}" for n, how in enumerate(estimates, start=1) if how != "modified"]
        if other:
            console.print(f"{name}: too few counts for modified discounts ({', '.join(other)})")


def _show_splits(found: RanksOverSplits, as_json: bool) -> None:
    from tokbench.metrics.ngram_metric import NO_QUALITY

    n_splits = len(next(iter(found.ranks.values()), ()))
    if as_json:
        print_json({**asdict(found), "alike": found.n_alike, "splits": n_splits, "note": NO_QUALITY})
        return
    overwrite()
    console = plain_console()
    numbers = ("bits/byte", "least", "most")
    rows = []
    for name in found.order:
        bits = found.bits[name]
        figures = (f"{each:.4f}" for each in (sum(bits) / len(bits), min(bits), max(bits)))
        rows.append((name, *figures, " ".join(map(str, found.ranks[name]))))
    show_table(("tokenizer", *numbers, "rank in each split"), rows, right=numbers)
    if found.n_alike == n_splits:
        console.print(f"the order is the same in all {n_splits} splits")
    else:
        console.print(
            f"the order is not stable: only {found.n_alike} of {n_splits} splits give the order of the first"
        )
    console.print(NO_QUALITY)
