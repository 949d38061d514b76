"""How large the transformer is: as large as a fixed compute for each byte of text allows.

Operations of a forward pass are counted as in `docs/decide.md`: two for each weight of a matrix, and four for
each unit of a layer's width and each id attended to, on average half of the context. The operations for a byte
are those for a token times the tokens per byte of training text. Training takes three times as many. The head
counts in full: a large vocabulary leaves less for the rest, as in any model.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from tokbench import TokenizerError

BATCH_BYTES = 4096
"""Of text in a step, on average."""
HEADS = 2
STEP = 2 * HEADS
"""Widths are multiples of this: each head rotates pairs of numbers by their position."""
NARROWEST, WIDEST = 16, 4096


class Shape(NamedTuple):
    """The sizes of a decoder of `context` places that predicts `symbols`; embeddings and head are tied."""

    symbols: int
    layers: int
    width: int
    hidden: int
    context: int

    @property
    def parameters(self) -> int:
        """The number of trained parameters.

        Example:
            >>> Shape(symbols=10, layers=1, width=8, hidden=32, context=4).parameters
            872
        """
        layer = 4 * self.width**2 + 2 * self.width * self.hidden + 2 * self.width
        return self.symbols * self.width + self.layers * layer + self.width

    @property
    def operations(self) -> int:
        """The operations for a token in a forward pass.

        Example:
            >>> Shape(symbols=10, layers=1, width=8, hidden=32, context=4).operations
            1760
        """
        layer = 2 * (4 * self.width**2 + 2 * self.width * self.hidden) + 2 * self.width * self.context
        return self.layers * layer + 2 * self.width * self.symbols


class Course(NamedTuple):
    """How a model learns: windows of text in a step, steps, and the highest learning rate."""

    batch: int
    steps: int
    rate: float


class Budget(NamedTuple):
    """The same for every tokenizer: `operations` for a byte, `context` in bytes, `train_bytes` to train on."""

    operations: int = 500_000
    context: int = 256
    layers: int = 2
    train_bytes: int = 1_000_000
    rate: float = 4e-3

    @property
    def course(self) -> Course:
        """The course of training, the same for all tokenizers.

        Example:
            >>> Budget(context=512).course
            Course(batch=8, steps=245, rate=0.004)
        """
        batch = max(1, BATCH_BYTES // self.context)
        return Course(batch, math.ceil(self.train_bytes / batch / self.context), self.rate)


def fitted(name: str, symbols: int, tokens_per_byte: float, budget: Budget) -> Shape:
    """The widest shape within a budget whose hidden width is 4 times its own, for text of so many tokens.

    Since widths go in steps, the remaining operations go to the hidden width, so that tokenizers differ by less
    than 1 %. Raises `TokenizerError` if the head alone exceeds the budget.

    Example:
        >>> shape = fitted("bytes", symbols=258, tokens_per_byte=1.0, budget=Budget())
        >>> shape.width, shape.hidden, shape.operations
        (84, 383, 499632)
    """
    context = max(2, 2 * round(budget.context * tokens_per_byte / 2))
    operations = budget.operations / tokens_per_byte
    widths = range(NARROWEST, WIDEST + STEP, STEP)
    possible = (Shape(symbols, budget.layers, width, 4 * width, context) for width in widths)
    within = [shape for shape in possible if shape.operations <= operations]
    if not within:
        raise TokenizerError(
            f"{name}: {symbols:,} symbols to predict, for which a model of width {NARROWEST} takes more "
            f"than {budget.operations:,} operations a byte; allow more with --operations"
        )
    widest = within[-1]
    left = (operations - widest.operations) // (4 * budget.layers * widest.width)
    return widest._replace(hidden=widest.hidden + int(left))
