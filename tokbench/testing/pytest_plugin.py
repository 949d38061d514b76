"""Fixtures for the tests of plugins; pytest finds them wherever tokbench is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tokbench.registry import Registry


@pytest.fixture(scope="session")
def tokbench_registry() -> Registry:
    """A registry over every installed plugin."""
    from tokbench.registry import build_registry

    return build_registry()


@pytest.fixture(scope="session")
def check_tokenizer() -> Callable[..., None]:
    """`tokbench.testing.check_tokenizer`."""
    from tokbench.testing import check_tokenizer

    return check_tokenizer
