"""The command `tokbench probe`: how well tiny transformers of equal compute predict text in tokenizers' ids.

They run in separate processes with JAX on the CPU (the extra ``probe``). JAX is not imported before the command
is called.
"""

from __future__ import annotations

from collections.abc import Iterable

from tokbench import Command, hookimpl


@hookimpl
def tokbench_commands() -> Iterable[Command]:
    """The command; its options are typer's, and light."""
    from tokbench_probe.command import probe

    return [
        Command(
            name="probe",
            summary="Train a tiny transformer on each tokenizer's ids, at equal compute.",
            run=probe,
        )
    ]
