"""What a metric is: a small pure function of tallies, with everything a reader must know to trust it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

Better = Literal["higher", "lower", "parity", "none"]
Level = Literal["cell", "languages", "tokenizers", "vocabulary", "speed"]
Place = Literal["headline", "terminal", "languages", "differences"]


class Undefined(Exception):
    """Raised by a metric's `compute` where it has no value; the message is the reason shown.

    Example:
        >>> def words_a_sentence(t):
        ...     if not t.documents:
        ...         raise Undefined("no sentence was counted")
        ...     return t.words / t.documents
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure with its definition. What `compute` is given depends on `level`; see `tokbench.metrics.measure`.

    `needs` names what must be there for the figure to be defined: counters that must be above zero, and the
    conditions of `tokbench.metrics.needs`; where one is missing the row is null and says which. `formula` is
    LaTeX, `caveat` the pitfall a reader should know, `no_interval` why there is none where there can be none. A
    metric of level ``languages`` with `per_language` gives one number for each language, otherwise one for all
    of them together.

    At level ``cell``, `compute(t)` gets the `tokbench.Counts` of one tokenizer on one language (`t.bytes`,
    `t.chars`, `t.tokens`, `t.words` …); at level ``tokenizers``, those and the baseline's; at level
    ``vocabulary``, those that know a vocabulary only; at level ``languages``, the
    `tokbench.metrics.languages.Languages` of a dataset. Plain arithmetic on counts also works on bootstrap
    resamples, which is where the interval comes from. Raise `tokbench.Undefined` with the reason where there is
    no value; None or NaN means "not defined here".

    `shown` says where reports show the metric unasked: as a column of the ``headline``, in the ``terminal``, as
    a table by ``languages``, among the paired ``differences``; `order` is its place there, the least first, and
    `heading` a name for narrow columns. Metrics that are `always` measured are so whatever a run asks for: what
    a reader needs in order to trust the others.

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
    shown: tuple[Place, ...] = ()
    order: int = 1000
    heading: str = ""
    always: bool = False


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
