"""Libraries that may not be there."""

from __future__ import annotations

import importlib
from types import ModuleType

from tokbench import TokenizerError


def need(module: str, *, extra: str) -> ModuleType:
    """Import `module`, or say which extra of tokbench brings it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise TokenizerError(
            f"the family {extra!r} needs {error.name or module}, which is not installed: "
            f"pip install 'tokbench[{extra}]'"
        ) from error
