"""`tokbench serve`: a web page where text is tokenized as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.options import TrainOn, option, with_registry
from tokbench.errors import TokbenchError
from tokbench.wording import counted, printable, without_name

if TYPE_CHECKING:
    from tokbench.registry import Registry


@with_registry
def serve(
    registry: Registry,
    tokenizers: Annotated[
        list[str] | None, option("Repeatable; by default, the bundled suite's.", "SPEC", "--tokenizer", "-t")
    ] = None,
    train_on: TrainOn = None,
    load_from: Annotated[
        list[str] | None,
        option(
            "A folder whose tokenizers the page may load; `names` for models of known names. Repeatable.",
            "DIR",
            show_default="names, on loopback alone",
        ),
    ] = None,
    host: Annotated[str, option("Where to listen; loopback by default.")] = "127.0.0.1",
    port: Annotated[int, option("The port.", min=1, max=65535)] = 8321,
    allow_host: Annotated[
        list[str] | None, option("Another name the page answers to. Repeatable.", "NAME")
    ] = None,
    root_path: Annotated[str, option("The path a proxy serves the page under.", "PATH")] = "",
) -> None:
    """Serve a page where text is tokenized as you type. Stop it with Ctrl-C."""
    from tokbench.live.headers import LOOPBACK
    from tokbench.live.opening import open_bench
    from tokbench.live.server import require_address, require_stack
    from tokbench.live.server import serve as run
    from tokbench.runner.planning.suite import load_suite

    require_stack()
    require_address(host, port)
    root_path = root_path and "/" + root_path.strip("/")
    suite = load_suite(None)
    specs = tokenizers or [*suite.tokenizers, *suite.optional]
    typer.echo(f"loading {counted(len(specs), 'tokenizer')} …", err=True)
    private = host in LOOPBACK and not allow_host
    offered = load_from or (["names"] if private else [])
    bench = open_bench(registry, specs, train_on=train_on or " + ".join(suite.train_on), load_from=offered)
    for spec, why in bench.missing.items():
        typer.echo(printable(f"without {spec}: {without_name(why, spec)}"), err=True)
    if not bench.seats:
        raise TokbenchError("no tokenizer could be loaded; name some with -t")
    bench.call_once()
    typer.echo(
        f"http://{host}:{port}{root_path}/   {counted(len(bench.seats), 'tokenizer')}; Ctrl-C stops it",
        err=True,
    )
    run(bench, host=host, port=port, hosts=allow_host or (), root_path=root_path)
