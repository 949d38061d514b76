"""`tokbench calibrate`: estimates the token counts of a closed tokenizer from those of one at hand."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from tokbench.cli import options as opt
from tokbench.cli.loading import files_read, texts_of
from tokbench.cli.tables import interval, plain_console, show_table
from tokbench.cli.writing import check_target, print_json
from tokbench.errors import SpecError
from tokbench.tokenizer import encode_batch
from tokbench.wording import counted, percent

if TYPE_CHECKING:
    from tokbench.inspection.calibration import Calibration
    from tokbench.registry import Registry


@opt.loads_tokenizers
def calibrate(
    registry: Registry,
    specs: Annotated[opt.Several, opt.argument("Local tokenizers to fit.", "[SPEC…]")] = None,
    observed: Annotated[
        Path | None, opt.option("Counts that were reported: text (or file), tokens, kind.", "FILE.csv")
    ] = None,
    output: Annotated[Path | None, opt.output_option("Where to save the best fit.", "FILE.json")] = None,
    fit: Annotated[Path | None, opt.option("A saved fit, to estimate the datasets with.", "FILE.json")] = None,
    dataset: Annotated[opt.Several, opt.dataset_option("What to estimate. Repeatable.")] = None,
    kind: Annotated[
        str | None,
        opt.option(
            "The kind of text that the datasets are.",
            "KIND",
            show_default="text, or the only kind that was observed",
        ),
    ] = None,
    price: Annotated[
        float | None,
        opt.option(
            "Price of a million tokens, to estimate what the datasets cost.", "P", min=0, callback=opt.finite
        ),
    ] = None,
    force: opt.Force = False,
    as_json: opt.JsonOutput = False,
) -> None:
    """Fit local tokenizers to token counts that an API reported, and estimate with the best of them.

    With --observed and SPECs, each SPEC is fitted; errors are measured on rows that the fit did not see. With
    --fit and -d, the tokens of datasets are estimated, one request for each document, and with --price their
    cost. All output is marked as estimated.
    """
    from tokbench.results.atomic import write_bytes

    if observed is not None and specs and fit is None:
        estimating = {"-d": dataset, "--kind": kind, "--price": price}
        if vain := [name for name, given in estimating.items() if given not in (None, [])]:
            raise SpecError(
                f"{', '.join(vain)}: one call either fits or estimates: save the fit first "
                "(-o FILE.json), then estimate with it (--fit FILE.json -d DATASET)"
            )
        if output is not None:
            read = chain([observed], _texts_beside(observed), files_read(registry, specs))
            check_target(output, force=force, read=read)
        found = _fitted(registry, [*dict.fromkeys(specs)], observed)
        if output is not None:
            write_bytes(output, json.dumps(found[0].to_json(), indent=1).encode() + b"\n")
        if as_json:
            print_json([one.to_json() for one in found])
        else:
            _show_fits(found)
    elif fit is not None and dataset and observed is None and not specs:
        if output is not None:
            raise SpecError(
                f"-o {output}: it keeps a fit, and --fit {fit} makes none; --json prints the estimates"
            )
        rows = _estimates(registry, fit, dataset, kind, price)
        if as_json:
            print_json(rows)
        else:
            _show_estimates(rows)
    else:
        raise SpecError(
            "name reported counts and tokenizers (--observed FILE.csv SPEC…), or a fit and datasets (--fit, -d)"
        )


def _texts_beside(observed: Path) -> Iterator[Path]:
    """The files of text that reported counts name."""
    from tokbench.inspection.calibration import read_observed

    yield from (row.file for row in read_observed(observed) if row.file is not None)


def _fitted(registry: Registry, specs: list[str], observed: Path) -> list[Calibration]:
    from tokbench.inspection.calibration import calibrate as fit_one
    from tokbench.inspection.calibration import read_observed

    rows = read_observed(observed)
    found = []
    for spec in specs:
        batch = encode_batch(registry.load(spec), [row.text for row in rows])
        found.append(fit_one(spec, [len(ids) for ids in batch], rows))
    return sorted(found, key=lambda one: one.error)


def _show_fits(found: list[Calibration]) -> None:
    told = f"estimated from {counted(found[0].rows, 'reported count')}, the nearest first"
    plain_console().print(told, style="bold")
    numbers = ("held-out error", "reported / estimated, 95 %", "overhead")
    rows = []
    for one in found:
        factors = ", ".join(f"{kind} {factor:.3f}" for kind, factor in one.factors.items())
        bounds = interval((one.low, one.high), "{:.3f}".format)
        rows.append((one.spec, percent(one.error, 1), bounds, f"{one.overhead:.1f}", factors))
    show_table(("tokenizer", *numbers, "factors"), rows, right=numbers)


def _show_estimates(rows: list[dict[str, Any]]) -> None:
    first, priced = rows[0], "cost" in rows[0]
    told = f"estimated from {first['estimated_from']}, kind of text: {first['kind']}"
    plain_console().print(told, style="bold")
    numbers = ("requests", "tokens", "95 %", *(("cost", "95 %") if priced else ()))
    shown = []
    for row in rows:
        cells = [f"{row['requests']:,}", f"{row['tokens']:,}", interval(row["tokens_interval"], "{:,}".format)]
        if priced:
            cells += [f"{row['cost']:.4g}", interval(row["cost_interval"], "{:.4g}".format)]
        shown.append((row["dataset"], row["language"], *cells))
    show_table(("dataset", "language", *numbers), shown, right=numbers)


def _estimates(
    registry: Registry, fit: Path, datasets: list[str], kind: str | None, price: float | None
) -> list[dict[str, Any]]:
    from tokbench.inspection.calibrated import read_fit

    known = read_fit(fit)
    try:
        chosen = known.kind_of(kind)
    except SpecError as error:
        raise SpecError(f"{fit}: {error}") from error
    tokenizer = registry.load(known.spec)
    rows = []
    for name in datasets:
        documents = texts_of(registry, [name], None)
        if not any(text.strip() for texts in documents.values() for text in texts):
            raise SpecError(f"{name}: no text in it, so there is nothing to estimate")
        for language, texts in documents.items():
            count = len(encode_batch(tokenizer, texts).ids)
            tokens = known.estimate(count, chosen, len(texts))
            bounds = tokens * known.low, tokens * known.high
            row: dict[str, Any] = {
                "dataset": name,
                "language": language,
                "kind": chosen,
                "estimated_from": known.spec,
                "requests": len(texts),
                "tokens": round(tokens),
                "tokens_interval": [round(bound) for bound in bounds],
            }
            if price is not None:
                row["cost"] = tokens * price / 1e6
                row["cost_interval"] = [bound * price / 1e6 for bound in bounds]
            rows.append(row)
    return rows
