"""What the tests of the adapter share: loading without a registry."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from tokbench_transformers.family import TRANSFORMERS

from tokbench import LoadContext, Spec
from tokbench.spec import validate


def load(text: str, *, offline: bool = True, allow_remote_code: bool = False):
    spec = validate(Spec.parse(text), TRANSFORMERS.options)
    return TRANSFORMERS.load(spec, LoadContext(Path("unused"), offline, allow_remote_code))


loaded = cache(load)
"""The same of a vocabulary that no test changes, which takes up to a second to load: loaded once."""
