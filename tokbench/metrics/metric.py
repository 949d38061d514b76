"""What a metric is: a small pure function of tallies, with everything a reader must know to trust it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Better = Literal["higher", "lower", "parity", "none"]
Level = Literal["cell", "languages", "tokenizers", "vocabulary", "speed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure with its definition. What `compute` is given depends on `level`; see `tokbench.metrics.measure`.

    `needs` names what must be there for the figure to be defined: counters that must be above zero, and the
    conditions of `tokbench.metrics.needs`; where one is missing the row is null and says which. `formula` is
    LaTeX, `caveat` the pitfall a reader should know, `no_interval` why there is none where there can be none. A
    metric of level ``languages`` with `per_language` gives one number for each language, otherwise one for all
    of them together.

    At level ``cell``, `compute(t)` gets the counts of one tokenizer on one language, as attributes (`t.bytes`,
    `t.chars`, `t.tokens`, `t.words` …). Plain arithmetic on them also works on bootstrap resamples, which is
    where the interval comes from. None or NaN means "not defined here".

    Example:
        >>> metric = Metric(name="tokens_per_byte", unit="tokens/byte", better="lower",
        ...                 summary="Tokens for each byte of UTF-8.", compute=lambda t: t.tokens / t.bytes)
        >>> metric.level
        'cell'
    """

    name: str
    unit: str
    better: Better
    summary: str
    compute: Callable[..., Any]
    level: Level = "cell"
    formula: str = ""
    source: str = ""
    caveat: str = ""
    no_interval: str = ""
    needs: tuple[str, ...] = ()
    per_language: bool = False
    group: str = ""


class CellKey(NamedTuple):
    """What a cell is about: canonical tokenizer spec, canonical dataset spec, language ("all" for the sum)."""

    tokenizer: str
    dataset: str
    language: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of the results. `value` is None where nothing was measured, and `status` then says why.

    `status` is ``ok``, or begins with ``undefined:``, ``skipped:`` or ``failed:`` and a reason.
    """

    tokenizer: str
    dataset: str
    language: str
    metric: str
    value: float | None
    ci_low: float | None
    ci_high: float | None
    unit: str
    n_documents: int
    status: str = "ok"
