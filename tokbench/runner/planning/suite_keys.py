"""The keys of a suite: what each takes, and what it is where nobody says.

Every key is optional but `tokenizers` and `datasets`. A tokenizer or dataset is a spec, or a table of a
family (or a whole spec) with options; where an option is a list, the entry stands for every combination::

    tokenizers = ["tiktoken:o200k_base", { family = "bpe", vocab_size = [4000, 8000] }]
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PrivateAttr,
    ValidationInfo,
    field_validator,
)

from tokbench.metrics.model import Model, model_of
from tokbench.spec import Option, Spec, parse_size

T = TypeVar("T")
Form = Literal["batch", "single", "long", "short", "lists", "offsets", "decode"]
Whole = Annotated[int, Field(strict=True)]
Number = Annotated[float, Field(strict=True, allow_inf_nan=False)]
Flag = Annotated[bool, Field(strict=True)]
"""Numbers and truths as such: true is no 1, "4" and "no" are texts."""


def _written(value: Any, info: ValidationInfo) -> Any:
    name = str(info.field_name)
    return Option(name, "int").parse(value, where=_where(info)) if isinstance(value, str) else value


LEAST_MEMORY = 100_000_000
"""Bytes below which no worker gets as far as a tokenizer: with what it imports, it holds about 200 MB."""


def _memory(value: Any, info: ValidationInfo) -> Any:
    n_bytes = parse_size(value, str(info.field_name), where=_where(info)) if isinstance(value, str) else value
    if type(n_bytes) is int and n_bytes < LEAST_MEMORY:
        raise ValueError(
            f"a worker holds about 200 MB before it counts anything, so {value!r} lets none live; say 2G"
        )
    return n_bytes


def _where(info: ValidationInfo) -> str:
    """What is at fault for a wrong value: the suite's file, or the options laid over it."""
    return str((info.context or {}).get("where", "the suite"))


def _if_text(meant: Callable[[str], Any]) -> BeforeValidator:
    """What a text stands for, where something else may be written out."""
    return BeforeValidator(lambda value: meant(value) if isinstance(value, str) else value)


def _name(value: Any) -> Any:
    if isinstance(value, str) and (not value or re.search(r"[/\\\x00-\x1f]", value)):
        raise ValueError(f"a run's folder is called by it, so it takes a word without slashes, not {value!r}")
    return value


def _once(values: list[T]) -> list[T]:
    """A list without what it names again."""
    return [*dict.fromkeys(values)]


def _some(values: list[T]) -> list[T]:
    """The list; raises ValueError for one that names nothing."""
    if not values:
        raise ValueError("names none; leave it out, or time nothing with speed = false")
    return values


def _label(value: Any) -> Any:
    if isinstance(value, str) and not value.strip():
        raise ValueError(f"a label is a name to show; leave out what has none, instead of {value!r}")
    return value


def _color(value: Any) -> Any:
    if not re.fullmatch("#[0-9a-fA-F]{6}", str(value)):
        raise ValueError(f"a colour is written as in #0a5c8f, not {value!r}")
    return value


def _pair(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise ValueError(f'takes pairs of specs, as in [["bytes", "chars"]], not {value!r}')
    return value


Size = Annotated[Whole, BeforeValidator(_written)]
"""A whole number that may be written as in 8k or 2M."""
Memory = Annotated[Whole, BeforeValidator(_memory)]
"""Bytes that may be written as in 2GB."""
Several = Annotated[list[str], _if_text(lambda text: [text])]
Positive = Annotated[Whole, Field(ge=1)]


class SpeedSettings(BaseModel):
    """How the speed pass measures; see `tokbench.runner.speed`.

    About `first_pass_bytes` of all datasets together are encoded once, unseen before (cold); `passage_bytes` of
    each dataset are then encoded again and again, once a round in each form (warm). `datasets` are those to
    time on, by default all of the suite's. `clock` times one thread: in ``wall`` seconds, or in ``cpu`` seconds
    where others use the machine; several threads are timed by the wall.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    datasets: list[str] = []
    processes: Positive = 1
    rounds: Positive = 5
    threads: Annotated[list[Positive], AfterValidator(_some), AfterValidator(_once)] = [1]
    first_pass_bytes: Size = Field(default=8_000_000, ge=1)
    passage_bytes: Size = Field(default=100_000, ge=1)
    forms: Annotated[list[Form], AfterValidator(_some), AfterValidator(_once)] = ["batch", "single", "decode"]
    clock: Literal["wall", "cpu"] = "wall"


class GoldSettings(BaseModel):
    """A file of gold segmentations of one language; see `tokbench.metrics.gold` for the formats."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    format: Literal["morphscore", "sigmorphon", "morphynet", "unimorph"] = "morphscore"


class ModelSettings(BaseModel):
    """The model whose costs are computed: a preset, one with changes, or a whole shape; see `Model`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    preset: str | None = None
    layers: Positive | None = None
    width: Positive | None = None
    heads: Positive | None = None
    kv_heads: Positive | None = None
    ffn: Positive | None = None
    context: Positive | None = None
    tied: Flag | None = None
    precision: str | None = None
    gated: Flag | None = None
    biases: Literal["all", "qkv", "none"] | None = None
    positions: Flag | None = None


_HOW = {"jobs", "engine", "address", "timeout", "memory_limit", "cache", "title", "labels", "colors"}
"""Keys that say how a suite is computed and shown, not what is measured."""


class Suite(BaseModel):
    """A validated suite. Specs are text still: the plan resolves them against the loaded plugins."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Annotated[str, BeforeValidator(_name)] = "run"
    title: str = ""
    tokenizers: list[str] = []
    optional: list[str] = []
    labels: dict[str, Annotated[str, BeforeValidator(_label)]] = {}
    colors: dict[str, Annotated[str, BeforeValidator(_color)]] = {}
    datasets: list[str] = []
    metrics: Several = []
    train_on: Several = []
    baseline: str | None = None
    reference: str | None = None
    exclude_lossy: Flag = False
    prices: str | None = None
    morphology: dict[str, GoldSettings] = {}
    context_length: Size | None = Field(default=None, ge=1)
    model: Annotated[ModelSettings, _if_text(lambda text: {"preset": text})] | None = None
    weights: dict[str, float] = {}
    renyi_alphas: Annotated[list[Annotated[float, Field(strict=True, ge=0)]], AfterValidator(_once)] = []
    seed: Whole = Field(default=0, ge=0)
    replicates: Whole = Field(default=1000, ge=0, le=100_000)
    confidence: Number = Field(default=0.95, gt=0, lt=1)
    jobs: Whole | None = Field(default=None, ge=1)
    engine: str = "local"
    address: str | None = None
    timeout: Number = Field(default=600.0, gt=0, le=1e9)
    memory_limit: Memory | None = Field(default=None, le=2**63 - 1)
    speed: Flag | SpeedSettings = True
    audit: Flag = True
    injection: Flag = False
    samples: Whole = Field(default=8, ge=0)
    diff: list[Annotated[tuple[str, str], BeforeValidator(_pair)]] = []
    cache: Flag = True
    allow_remote_code: Flag = False
    plugins: Several = []
    disable_plugins: Several = []
    _replaced: Mapping[str, list[str]] = PrivateAttr({})
    _left_untimed: bool = PrivateAttr(False)

    @field_validator("tokenizers", "optional", "datasets", mode="before")
    @classmethod
    def _specs(cls, value: Any) -> Any:
        if not isinstance(value, list):
            raise ValueError("takes a list of specs")
        return [spec for entry in value for spec in expand(entry)]

    @field_validator("weights", mode="before")
    @classmethod
    def _weights(cls, value: Any) -> Any:
        from tokbench.metrics.weights import weights_of

        if not isinstance(value, str | Mapping):
            raise ValueError("takes a table of weights, or a text as in price=3,fairness=2")
        for name, weight in value.items() if isinstance(value, Mapping) else ():
            if isinstance(weight, str):
                raise ValueError(f"{name} takes a number, not {weight!r}")
        return weights_of(value) if value else {}

    @property
    def shape(self) -> Model | None:
        """The model whose costs are computed; raises `SpecError` for an impossible one."""
        return None if self.model is None else model_of(self.model.model_dump())

    @property
    def request(self) -> dict[str, Any]:
        """What is asked for, not how it is computed: an unfinished run goes on if the request is the same."""
        return self.model_dump(exclude=_HOW)

    @property
    def replaced(self) -> Mapping[str, list[str]]:
        """The suite's own tokenizers and texts that others stand in place of, by key that may tell of them."""
        return self._replaced

    @property
    def left_untimed(self) -> bool:
        """Whether a suite of a file is run without the timing that its metrics may ask for."""
        return self._left_untimed

    @property
    def speed_settings(self) -> SpeedSettings | None:
        """How speed is measured, or None where it is not."""
        if isinstance(self.speed, SpeedSettings):
            return self.speed
        return SpeedSettings() if self.speed else None


def expand(entry: object) -> list[str]:
    """The specs that one entry stands for.

    Example:
        >>> expand({"family": "bpe", "vocab_size": [4000, 8000], "pattern": "gpt2"})
        ['bpe:pattern=gpt2,vocab_size=4000', 'bpe:pattern=gpt2,vocab_size=8000']
    """
    if isinstance(entry, str):
        return [entry]
    if not isinstance(entry, Mapping):
        raise ValueError(f"a spec or a table with 'family', not {entry!r}")
    options = dict(entry)
    head = options.pop("family", None) or options.pop("spec", None)
    if not isinstance(head, str):
        raise ValueError(f"a table must name its 'family' (or a 'spec'): {dict(entry)!r}")
    base = Spec.parse(head)
    for name, value in options.items():
        if value == []:
            raise ValueError(f"{name} of {head} is an empty list: no value, so nothing would be compared")
    choices = [value if isinstance(value, list) else [value] for value in options.values()]
    return [
        str(Spec(base.family, base.variant, {**base.options, **dict(zip(options, values, strict=True))}))
        for values in itertools.product(*choices)
    ]
