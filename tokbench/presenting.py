"""How a run comes by its plots and reports: what draws and writes stands above runs, and is put here for them.

`tokbench.api`, which comes with every import of tokbench, does that; `tokbench.results.Run` asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.api import PluginPresenter

_presenters: list[PluginPresenter] = []


def present_by(presenter: PluginPresenter) -> None:
    """Have runs drawn and written by `presenter` from now on."""
    _presenters[:] = [presenter]


def presenter() -> PluginPresenter:
    """What draws and writes runs."""
    return _presenters[0]
