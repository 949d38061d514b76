"""How a run comes by its plots and reports: what draws and writes stands above runs, and is put here for them.

`tokbench.api`, which comes with every import of tokbench, does that; `tokbench.results.Run` asks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.api import PluginPresenter

presenters: list[PluginPresenter] = []
"""The one that draws and writes runs."""
