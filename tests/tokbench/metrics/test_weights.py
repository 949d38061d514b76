"""Weights of criteria, as they are written."""

from __future__ import annotations

import pytest

from tokbench.cli.options import WEIGHTS_SHOWN
from tokbench.errors import SpecError, UnknownNameError
from tokbench.metrics.weights import DEFAULTS, weights_of
from tokbench.runner.planning.suite import load_suite


def test_weights() -> None:
    assert weights_of(None) == DEFAULTS
    assert ", ".join(f"{name}={weight:g}" for name, weight in DEFAULTS.items()) == WEIGHTS_SHOWN
    assert weights_of("price=0.5, speed=2") == {**DEFAULTS, "price": 0.5, "speed": 2}
    for wrong, message in (
        ("price", "no NAME=NUMBER"),
        ("price=x", "takes a number"),
        ("price=-1", "from 0 up"),
    ):
        with pytest.raises(SpecError, match=message):
            weights_of(wrong)
    with pytest.raises(UnknownNameError, match="price"):
        weights_of("prize=1")
    with pytest.raises(SpecError, match="must be above 0"):
        weights_of(dict.fromkeys(DEFAULTS, 0))
    base = {"tokenizers": ["bytes"], "datasets": ["bundled:prose"]}
    assert load_suite(None, {**base, "weights": {"speed": 1}}).weights["speed"] == 1
    with pytest.raises(SpecError, match="table of weights"):
        load_suite(None, {**base, "weights": 3})
