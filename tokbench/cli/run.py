"""`tokbench run`: the main job."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from tokbench.cli.options import (
    WEIGHTS_SHOWN,
    Address,
    AllowRemoteCode,
    DisabledPlugins,
    Jobs,
    PluginFiles,
    dataset_option,
    output_option,
)
from tokbench.wording import printable


def run(
    suite: Annotated[
        str | None, typer.Argument(metavar="SUITE.toml", help="A suite file, or the name of a shipped one.")
    ] = None,
    tokenizer: Annotated[
        list[str] | None, typer.Option("-t", "--tokenizer", metavar="SPEC", help="A tokenizer. Repeatable.")
    ] = None,
    dataset: Annotated[list[str] | None, dataset_option("A dataset. Repeatable.")] = None,
    metric: Annotated[
        list[str] | None, typer.Option("-m", "--metric", metavar="METRIC", help="Only this. Repeatable.")
    ] = None,
    train_on: Annotated[
        list[str] | None,
        typer.Option(metavar="DATASET", help="What tokenizers without a file are trained on. Repeatable."),
    ] = None,
    output: Annotated[
        str | None, output_option("The run's folder.", "DIR", show_default="reports/TIME-NAME")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace another run in DIR.")] = False,
    jobs: Jobs = None,
    engine: Annotated[
        str | None, typer.Option(metavar="NAME", help="Where cells are counted: local, dask, ray.")
    ] = None,
    address: Address = None,
    speed: Annotated[bool | None, typer.Option("--speed/--no-speed", help="Time them too.")] = None,
    timeout: Annotated[
        float | None, typer.Option(metavar="S", help="Seconds for one shard of a cell.", show_default="600")
    ] = None,
    memory_limit: Annotated[
        str | None, typer.Option(metavar="BYTES", help="Memory of one worker, as in 2G.")
    ] = None,
    baseline: Annotated[
        str | None, typer.Option(metavar="SPEC", help="What all others are compared with.")
    ] = None,
    diff: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="SPEC SPEC", help="Two of them whose ids the report compares."),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            metavar="LANGUAGE", help="What `premium` is relative to.", show_default="cheapest of each tokenizer"
        ),
    ] = None,
    prices: Annotated[
        str | None, typer.Option(metavar="FILE", help="A table of prices per million tokens.")
    ] = None,
    context_length: Annotated[
        str | None, typer.Option(metavar="N", help="Tokens of context, for `context_words`.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PRESET",
            help="A model to cost: gpt2, gpt2-medium, gpt2-large, gpt2-xl, llama-2-7b, llama-3-8b, "
            "llama-3.2-1b or qwen2-7b.",
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(metavar="NAME=W,…", help="Weights of the decision.", show_default=WEIGHTS_SHOWN),
    ] = None,
    exclude_lossy: Annotated[
        bool | None, typer.Option("--exclude-lossy", help="Leave tokenizers that lose text out of rankings.")
    ] = None,
    injection: Annotated[
        bool | None, typer.Option("--injection", help="Report what control strings in plain text become.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, metavar="N", help="Of the bootstrap.", show_default="0")
    ] = None,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Use no counts of other runs, and keep none for them.")
    ] = False,
    allow_remote_code: AllowRemoteCode = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write report.html, report.md and the plots.")
    ] = True,
    plugin: PluginFiles = None,
    disable_plugin: DisabledPlugins = None,
) -> None:
    """Compare tokenizers on text: a suite, or what the options name; without either, the bundled suite.

    Exit status: 0 all measured, 1 something failed, or a metric of -m has no figure, 2 a wrong request, 130
    interrupted.
    """
    from tokbench.cli.bars import Bars
    from tokbench.cli.headline import in_vain
    from tokbench.results.atomic import StorageError
    from tokbench.runner.run import Interrupted, RunError, run_suite

    options: dict[str, Any] = {
        "metrics": metric or None,
        "train_on": train_on or None,
        "jobs": jobs,
        "engine": engine,
        "address": address,
        "speed": speed,
        "timeout": timeout,
        "memory_limit": memory_limit,
        "baseline": baseline,
        "diff": diff and [diff],
        "reference": reference,
        "prices": prices,
        "context_length": context_length,
        "model": model,
        "weights": weights,
        "exclude_lossy": exclude_lossy,
        "injection": injection,
        "seed": seed,
        "cache": False if no_cache else None,
        "allow_remote_code": True if allow_remote_code else None,
        "plugins": plugin or None,
        "disable_plugins": disable_plugin or None,
    }

    try:
        wanted = (suite, tokenizer or None, dataset or None, output)
        done = run_suite(*wanted, display=Bars(), force=force, report=report, **options)
    except (StorageError, RunError) as error:
        print(f"error: {printable(str(error))}", file=sys.stderr)
        raise typer.Exit(1) from None
    except Interrupted as stopped:
        print(stopped, file=sys.stderr)
        raise typer.Exit(130) from None
    for failure in done.failures:
        if failure["tokenizer"] is None:
            print(printable(f"failed: {failure['kind']}: {failure['message']}"), file=sys.stderr)
    raise typer.Exit(1 if done.failures or any(in_vain(done, name) for name in metric or ()) else 0)
