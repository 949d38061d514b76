"""What text costs at a price per token, and how much of it fits in a context.

Prices come from a TOML table that the user supplies; tokbench has none, because they change::

    currency = "EUR"

    [prices]                       # per million tokens, by tokenizer spec or by its family
    "tiktoken:o200k_base" = 2.5    # an example, not anybody's price
    "bpe" = 0.8
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from tokbench.errors import SpecError
from tokbench.metrics.metric import catalogued
from tokbench.wording import reason


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices per million tokens, by tokenizer spec or, failing that, by family.

    `names` are those in the file, in its order; `notes` are remarks on them for the user.

    Example:
        >>> table = PriceTable("EUR", {"tiktoken": 2.0, "tiktoken:o200k_base": 3.0})
        >>> table.of("tiktoken:o200k_base"), table.of("tiktoken:gpt2"), table.of("bytes")
        (3.0, 2.0, None)
    """

    currency: str = ""
    prices: Mapping[str, float] = field(default_factory=dict)
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def of(self, tokenizer: str) -> float | None:
        """The price of a million tokens, or None if the table has none."""
        price = self.prices.get(tokenizer)
        return self.prices.get(tokenizer.partition(":")[0]) if price is None else price

    @classmethod
    def open(cls, path: Path) -> PriceTable:
        """The table in a TOML file; raises `SpecError` that says what is wrong with it."""
        where = f"price table {path}"
        try:
            data = tomllib.loads(path.read_text("utf-8-sig"))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise SpecError(f"{where}: {reason(error)}") from error
        prices = data.get("prices")
        unknown = sorted(set(data) - {"currency", "prices"})
        if unknown or not isinstance(prices, Mapping):
            raise SpecError(
                f"{where}: expected `currency` and a table `prices` of prices per million tokens"
                + (f"; found {', '.join(unknown)}" if unknown else "")
            )
        for name, price in prices.items():
            if isinstance(price, bool) or not isinstance(price, int | float) or not 0 <= price < float("inf"):
                raise SpecError(f"{where}: the price of {name!r} must be a number from 0 up, not {price!r}")
        currency = data.get("currency", "")
        if not isinstance(currency, str):
            raise SpecError(f'{where}: `currency` is a text, as in "USD", not {currency!r}')
        known = {str(name): float(price) for name, price in prices.items()}
        return cls(currency, known, tuple(known))


_of_cost = partial(catalogued, group="cost")

METRICS = (
    _of_cost(
        "cost", "currency", "lower",
        "Price of encoding this text, at the user's price per million tokens.",
        r"\frac{\mathrm{price}}{10^6} \sum_d \mathrm{tokens}(d)", lambda t: t.tokens * t.price / 1e6,
        needs=("prices",), shown=("headline",), order=22,
        no_interval="The price of these very documents; nothing is estimated.",
        caveat=(
            "As current as the price table. Documents are priced as they were read: line ends between them "
            "count only with unit=file, which reads whole files. The answers of models, which differ in "
            "length, are not included."
        ),
    ),
    _of_cost(
        "cost_per_million_words", "currency per million words", "lower",
        "Price of a million words of this text, at the user's price per million tokens.",
        r"\mathrm{price} \cdot \frac{\sum_d \mathrm{tokens}(d)}{\sum_d \mathrm{words}(d)}",
        lambda t: t.price * t.tokens / t.words,
        needs=("prices", "words", "one_word"),
        caveat="All tokens count, also those of spaces and punctuation. The unit says what a word is.",
    ),
    _of_cost(
        "context_words", "words", "higher",
        "Words of this text that fit in a context of the given number of tokens.",
        r"N \cdot \frac{\sum_d \mathrm{words}(d)}{\sum_d \mathrm{tokens}(d)}",
        lambda t: t.context_length * t.words / t.tokens,
        needs=("context_length", "words", "tokens", "one_word"),
        caveat="An average over the text; no room is set aside for prompts and answers.",
    ),
    _of_cost(
        "context_chars", "chars", "higher",
        "Characters of this text that fit in a context of the given number of tokens.",
        r"N \cdot \frac{\sum_d \mathrm{chars}(d)}{\sum_d \mathrm{tokens}(d)}",
        lambda t: t.context_length * t.chars / t.tokens,
        needs=("context_length", "tokens"),
        caveat="Use this one for scripts written without spaces.",
    ),
)  # fmt: skip
