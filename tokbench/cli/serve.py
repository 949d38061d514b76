"""`tokbench serve`: a web page where text is tokenized as it is typed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from tokbench.cli.options import TrainOn, with_registry
from tokbench.wording import counted, printable, without_name

if TYPE_CHECKING:
    from tokbench.registry import Registry


@with_registry
def serve(
    registry: Registry,
    tokenizers: Annotated[
        list[str] | None,
        typer.Option("--tokenizer", "-t", metavar="SPEC", help="Repeatable; by default, the bundled suite's."),
    ] = None,
    train_on: TrainOn = None,
    load_from: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR",
            help="A folder whose tokenizers the page may load; `names` for models of known names. Repeatable.",
            show_default="names, on loopback alone",
        ),
    ] = None,
    host: Annotated[str, typer.Option("--host", help="Where to listen; loopback by default.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="The port.")] = 8321,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Another name the page answers to. Repeatable."),
    ] = None,
    root_path: Annotated[
        str, typer.Option("--root-path", metavar="PATH", help="The path a proxy serves the page under.")
    ] = "",
) -> None:
    """Serve a page where text is tokenized as you type. Stop it with Ctrl-C."""
    from tokbench.errors import TokbenchError
    from tokbench.live.headers import LOOPBACK
    from tokbench.live.opening import open_bench
    from tokbench.live.server import require_address, require_stack
    from tokbench.live.server import serve as run
    from tokbench.runner.suite import load_suite

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
