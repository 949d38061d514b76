"""`tokbench cache`: what is kept between runs."""

from __future__ import annotations

import shutil
from typing import Annotated

import typer

from tokbench.cli.options import JsonOutput, flag
from tokbench.cli.writing import print_json
from tokbench.wording import counted, data_size

app = typer.Typer(help="Kept tallies and trained tokenizers: info, clear.", no_args_is_help=True)


@app.command("info")
def info(as_json: JsonOutput = False) -> None:
    """Show where the cache is and what it holds."""
    from tokbench.registry import cache_dir
    from tokbench.runner.cache import TallyCache, cache_limit

    home, limit = cache_dir(), cache_limit()
    sizes = TallyCache(home / "tallies").sizes()
    trained = [path.stat().st_size for path in (home / "trained").glob("*/*") if path.name != "info.json"]
    if as_json:
        print_json(
            {
                "folder": str(home),
                "tallies": len(sizes),
                "tally_bytes": sum(sizes),
                "limit_bytes": limit,
                "trained": len(trained),
                "trained_bytes": sum(trained),
            }
        )
        return
    print(f"folder   {home}  (another: $TOKBENCH_CACHE_DIR)")
    print(f"tallies  {len(sizes):,}, {data_size(sum(sizes))} of {data_size(limit)}")
    print(f"trained  {counted(len(trained), 'tokenizer')}, {data_size(sum(trained))}")


@app.command("clear")
def clear(
    trained: Annotated[bool, flag("Remove trained tokenizers, too.", "--trained/--no-trained")] = True,
) -> None:
    """Empty the cache; the next run counts and trains again."""
    from tokbench.registry import cache_dir
    from tokbench.runner.cache import TallyCache

    TallyCache(cache_dir() / "tallies").clear()
    if trained:
        shutil.rmtree(cache_dir() / "trained", ignore_errors=True)
    print(f"cleared {cache_dir()}")
