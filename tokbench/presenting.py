"""Connects runs with plots and reports, which import `tokbench.results` and so cannot be imported by it.

`tokbench.api`, which every import of tokbench loads, registers a presenter; `tokbench.results.Run` uses it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokbench.api import PluginPresenter

presenters: list[PluginPresenter] = []
"""The presenter of runs; empty until `tokbench.api` registers it."""
