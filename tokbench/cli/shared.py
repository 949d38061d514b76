"""What the commands share: the plugin options, and the registry they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tokbench.registry import Registry

PluginFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--plugin", metavar="FILE.py", help="Load a plugin from a file, for this call only. Repeatable."
    ),
]
DisabledPlugins = Annotated[
    list[str] | None,
    typer.Option("--disable-plugin", metavar="NAME", help="Leave an installed plugin out. Repeatable."),
]
JsonOutput = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
AllowRemoteCode = Annotated[
    bool, typer.Option("--allow-remote-code", help="Let vocabularies from the hub bring code of their own.")
]


def open_registry(
    plugin: list[str] | None, disable_plugin: list[str] | None, *, allow_remote_code: bool = False
) -> Registry:
    """The registry that a command's plugin options ask for."""
    from tokbench.registry import build_registry, default_context

    return build_registry(
        disable=disable_plugin or (),
        plugin_files=plugin or (),
        context=default_context(allow_remote_code=allow_remote_code),
    )
