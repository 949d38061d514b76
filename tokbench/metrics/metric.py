"""What a metric is: a small pure function of tallies, with everything a reader must know to trust it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, get_args

from tokbench.errors import PluginError, SpecError, nearest
from tokbench.spec import Option, OptionValue, Spec, validate, with_defaults

if TYPE_CHECKING:
    from tokbench.tally.own import OwnCounting

Better = Literal["higher", "lower", "parity", "none"]
Level = Literal["cell", "languages", "tokenizers", "vocabulary", "speed"]
Place = Literal["headline", "terminal", "languages", "differences"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Metric:
    """A figure with its definition. What `compute` is given depends on `level`; see `tokbench.metrics.measure`.

    `needs` names what must be there for the figure to be defined: counters that must be above zero, and the
    conditions of `tokbench.metrics.needs`; where one is missing the row is null and says which. `formula` is
    LaTeX, `caveat` the pitfall a reader should know, `no_interval` why there is none where there can be none. A
    metric of level ``languages`` with `per_language` gives one number for each language, otherwise one for all
    of them together; one of level ``cell`` with `per_language` has none for all of them together.

    At level ``cell``, `compute(t)` gets the `tokbench.Counts` of one tokenizer on one language (`t.bytes`,
    `t.chars`, `t.tokens`, `t.words` …); at level ``tokenizers``, those and the baseline's; at level
    ``vocabulary``, those that know a vocabulary only; at level ``languages``, the
    `tokbench.metrics.languages.Languages` of a dataset. Plain arithmetic on counts also works on bootstrap
    resamples, which is where the interval comes from. Raise `tokbench.Undefined` with the reason where there is
    no value; None or NaN means "not defined here".

    `shown` says where reports show the metric unasked: as a column of the ``headline``, in the ``terminal``, as
    a table by ``languages``, among the paired ``differences``; `order` is its place there, the least first, and
    `heading` a name for narrow columns. Metrics that are `always` measured are so whatever a run asks for: what
    a reader needs in order to trust the others. Those `on_request` are measured only where a run names them:
    what they count costs more than the rest together.

    What tokbench does not count, a metric counts itself (level ``cell`` or ``tokenizers``): `counters`
    names its counters and says what each counts, and `count` is given the documents of a batch and returns
    whole numbers, 0 or more, one for each document: a sequence if there is one counter, else a mapping by
    counter. Its parameters may be any of `texts` (strings), `batch` (the `tokbench.TokenBatch` of their ids),
    `tokenizer`, `language` and `options`. `t` has the sums by name, on resamples too, for intervals.

    `options` are what a spec may set (``-m name:option=…``); `t.options` has every one with its value.
    `check(options)` raises a `TokbenchError` for those with which nothing can be counted: before any work.
    Raises `PluginError` for an impossible definition: an unknown level, a need that nothing meets.

    Example:
        >>> metric = Metric(name="tokens_per_byte", unit="tokens/byte", better="lower",
        ...                 summary="Tokens for each byte of UTF-8.", compute=lambda t: t.tokens / t.bytes)
        >>> metric.level
        'cell'
        >>> capitals = Metric(name="capitals", unit="share", better="none", summary="Capital letters.",
        ...                   counters={"capitals": "capital letters"},
        ...                   count=lambda texts: [sum(map(str.isupper, text)) for text in texts],
        ...                   compute=lambda t: t.capitals / t.chars)
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
    on_request: bool = False
    counters: Mapping[str, str] = field(default_factory=dict, hash=False)
    count: Callable[..., Any] | None = None
    options: tuple[Option, ...] = ()
    given: Mapping[str, OptionValue] = field(default_factory=dict, hash=False)
    check: Callable[[Mapping[str, Any]], None] | None = None

    def __post_init__(self) -> None:
        problem = _problem_of(self)
        if problem is not None:
            raise PluginError(f"metric {self.name!r}: {problem}")

    def asked_as(self, spec: Spec) -> Metric:
        """The metric with the options of a spec; raises `SpecError` for what it has not."""
        if spec.variant is not None:
            raise SpecError(
                f"{spec}: a metric has options, as in {self.name}:option=value, and no variant; several "
                "metrics are named one by one"
            )
        spec = validate(spec, self.options)
        return replace(self, name=str(spec), given=spec.options)

    @property
    def settings(self) -> dict[str, Any]:
        """Every option with its value: what was given, or its default."""
        return with_defaults(self.options, self.given)

    @property
    def counting(self) -> OwnCounting | None:
        """How it counts for itself, if it does."""
        from tokbench.tally.own import OwnCounting

        if self.count is None:
            return None
        return OwnCounting(self.name, tuple(self.counters), self.count, self.settings)


def catalogued(
    name: str, unit: str, better: Better, summary: str, formula: str, compute: Callable[..., Any], **more: Any
) -> Metric:
    """A metric of the catalogue: what each has in this order, as columns of a table, the rest by name."""
    told: dict[str, Any] = {"name": name, "unit": unit, "better": better, "summary": summary}
    return Metric(**told, formula=formula, compute=compute, **more)


_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*(?::.*)?", re.S)


def _problem_of(metric: Metric) -> str | None:
    """What is wrong with a metric, or None."""
    from tokbench.metrics.needs import NEEDS

    if not isinstance(metric.name, str) or not _NAME.fullmatch(metric.name):
        return "a name is letters, digits, '_', '.' and '-', and begins with a letter"
    if not callable(metric.compute):
        return f"compute is {type(metric.compute).__name__}, nothing that can be called"
    for what in ("shown", "needs", "options"):
        if isinstance(value := getattr(metric, what), str):
            return f"{what} is {value!r}; give a tuple, as in ({value!r},)"
    for what, value, known in (
        ("better", metric.better, get_args(Better)),
        ("level", metric.level, get_args(Level)),
        *(("shown", place, get_args(Place)) for place in metric.shown),
        *(("needs", need, (*NEEDS, *metric.counters)) for need in metric.needs),
    ):
        if value not in known:
            near = nearest(str(value), known)
            guess = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(sorted(known))}"
            return f"{what}: {value!r} is none{guess}"
    if bool(metric.counters) != (metric.count is not None):
        return "counters and count go together: one names what the other gives"
    if metric.count is None:
        return None
    if metric.level not in ("cell", "tokenizers"):
        return f"counters of its own are for levels 'cell' and 'tokenizers', not {metric.level!r}"
    taken = [name for name in metric.counters if name in NEEDS or not name.isidentifier()]
    if taken:
        return f"counters: {taken[0]!r} is no name for one, or is what a built-in is called"
    from tokbench.tally.own import problem_of

    return problem_of(metric.count)
