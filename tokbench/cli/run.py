"""`tokbench run`: the main job."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from tokbench.cli import options as opt
from tokbench.errors import DiskFullError, StorageError
from tokbench.wording import beginning, printable


def run(
    suite: Annotated[
        str | None, opt.argument("A suite file, or the name of a shipped one.", "SUITE.toml")
    ] = None,
    tokenizers: Annotated[
        opt.Several,
        opt.option("A tokenizer, in place of the suite's. Repeatable.", "SPEC", "-t", "--tokenizer"),
    ] = None,
    datasets: Annotated[
        opt.Several, opt.dataset_option("A dataset, in place of the suite's. Repeatable.")
    ] = None,
    metrics: Annotated[opt.Several, opt.option("Only this. Repeatable.", "METRIC", "-m", "--metric")] = None,
    train_on: Annotated[
        opt.Several, opt.option("What tokenizers without a file are trained on. Repeatable.", "DATASET")
    ] = None,
    output: Annotated[
        str | None, opt.output_option("The run's folder.", "DIR", show_default="reports/TIME-NAME")
    ] = None,
    force: Annotated[bool, opt.flag("Replace another run in DIR.", "--force")] = False,
    jobs: opt.Jobs = None,
    engine: Annotated[str | None, opt.option("Where cells are counted: local, dask, ray.", "NAME")] = None,
    address: opt.Address = None,
    speed: Annotated[bool | None, opt.flag("Measure speed, too.", "--speed/--no-speed")] = None,
    timeout: Annotated[
        float | None, opt.option("Seconds for one shard of a cell.", "S", show_default="600")
    ] = None,
    memory_limit: Annotated[str | None, opt.option("Memory of one worker, as in 2G.", "BYTES")] = None,
    baseline: Annotated[str | None, opt.option("The tokenizer to compare all others with.", "SPEC")] = None,
    diff: Annotated[
        tuple[str, str] | None,
        opt.option("Two of the tokenizers whose ids are compared.", "SPEC SPEC"),
    ] = None,
    reference: Annotated[
        str | None,
        opt.option(
            "The language that `premium` is relative to.", "LANGUAGE", show_default="cheapest of each tokenizer"
        ),
    ] = None,
    prices: Annotated[str | None, opt.option("A table of prices per million tokens.", "FILE")] = None,
    context_length: Annotated[str | None, opt.option("Tokens of context, for `context_words`.", "N")] = None,
    model: Annotated[
        str | None,
        opt.option(
            "A model to cost: gpt2, gpt2-medium, gpt2-large, gpt2-xl, llama-2-7b, llama-3-8b, "
            "llama-3.2-1b or qwen2-7b.",
            "PRESET",
        ),
    ] = None,
    weights: Annotated[
        str | None, opt.option("Weights of the decision.", "NAME=W,…", show_default=opt.WEIGHTS_SHOWN)
    ] = None,
    exclude_lossy: Annotated[
        bool | None, opt.flag("Leave tokenizers that lose text out of rankings.", "--exclude-lossy")
    ] = None,
    injection: Annotated[
        bool | None, opt.flag("Report which control strings in plain text become control ids.", "--injection")
    ] = None,
    seed: Annotated[int | None, opt.option("Of the bootstrap.", "N", min=0, show_default="0")] = None,
    no_cache: Annotated[bool, opt.flag("Neither read nor write the cache of counts.", "--no-cache")] = False,
    allow_remote_code: opt.AllowRemoteCode = False,
    report: Annotated[
        bool, opt.flag("Write report.html, report.md and the plots.", "--report/--no-report")
    ] = True,
    plugin: opt.PluginFiles = None,
    disable_plugin: opt.DisabledPlugins = None,
) -> None:
    """Compare tokenizers on text: a suite, or what the options name; without either, the bundled suite.

    Exit status: 0 all measured, 1 something failed, or a metric of -m has no figure, 2 a wrong request, 130
    interrupted.
    """
    asked: dict[str, Any] = {name: None if value == [] else value for name, value in locals().items()}
    asked |= {"plugins": asked.pop("plugin"), "disable_plugins": asked.pop("disable_plugin")}
    asked |= {"cache": False if asked.pop("no_cache") else None, "diff": diff and [diff]}
    from tokbench.cli.bars import Bars
    from tokbench.cli.headline import in_vain
    from tokbench.runner.run import Interrupted, RunError, run_suite

    try:
        done = run_suite(**asked, display=Bars(), named_by="--plugin")
    except (StorageError, RunError) as error:
        resumes = ", it resumes" if isinstance(error, DiskFullError) else ""
        print(f"error: {printable(str(error))}{resumes}", file=sys.stderr)
        raise typer.Exit(1) from None
    except Interrupted as stopped:
        print(stopped, file=sys.stderr)
        raise typer.Exit(130) from None
    for failure in done.failures:
        if failure["tokenizer"] is None:
            print(printable(f"failed: {failure['kind']}: {beginning(failure['message'])}"), file=sys.stderr)
    asked_for = done.manifest["suite"]["metrics"] if metrics else ()
    raise typer.Exit(1 if done.failures or any(in_vain(done, name) for name in asked_for) else 0)
