"""The criteria of the decision between tokenizers, and their default weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from tokbench.errors import SpecError, UnknownNameError


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion: `weight` is its default weight; `lacking` says what is missing if it is unknown."""

    name: str
    what: str
    weight: float
    lacking: str


CRITERIA = (
    Criterion("price", "text for the same price", 3, "needs -m compression_ratio"),
    Criterion("fairness", "even cost of languages", 2, "needs gini, of parallel text in several languages"),
    Criterion("context", "text of the costliest language in a context", 1, "needs -m compression_ratio"),
    Criterion("lossless", "text comes back as it was", 1, "round trips were not measured"),
    Criterion("embedding", "parameters left beside embeddings and head", 1, "needs embedding_share: --model"),
    Criterion("speed", "speed of encoding", 0, "speed was not measured"),
)
NAMES = tuple(criterion.name for criterion in CRITERIA)
DEFAULTS: Mapping[str, float] = {criterion.name: criterion.weight for criterion in CRITERIA}


def weights_of(text: str | Mapping[str, float] | None) -> dict[str, float]:
    """Weights by criterion: the defaults, changed by those given, as ``price=3,speed=1`` or a mapping.

    Raises `SpecError` for invalid weights, and `UnknownNameError` for unknown criteria.

    Example:
        >>> weights_of("price=5,speed=1")["price"]
        5.0
    """
    given: dict[str, object] = {}
    if isinstance(text, str):
        for part in filter(None, (part.strip() for part in text.split(","))):
            criterion, sign, number = part.partition("=")
            if not sign:
                raise SpecError(f"weights: {part!r} is no NAME=NUMBER; as in price=3,fairness=2")
            if criterion.strip() in given:
                raise SpecError(f"weights: {criterion.strip()} is there twice")
            given[criterion.strip()] = number
    else:
        given = dict(text or {})
    weights = {name: float(weight) for name, weight in DEFAULTS.items()}
    for name, value in given.items():
        if name not in weights:
            raise UnknownNameError.of("criterion in weights:", name, weights)
        try:
            weights[name] = float(str(value))
        except ValueError:
            raise SpecError(f"weights: {name} takes a number, not {value!r}") from None
        if not 0 <= weights[name] < math.inf:
            raise SpecError(f"weights: {name} takes a number from 0 up, not {value!r}")
    if not any(weight for name, weight in weights.items() if name != "lossless"):
        raise SpecError("weights: one of them at least must be above 0, beside lossless")
    return weights
