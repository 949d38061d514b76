"""What the speed pass finds, as records: one for each timing, one for each process, and all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tokbench.results.failure import TaskFailure


@dataclass(frozen=True, slots=True)
class Timing:
    """One measurement: wall and CPU seconds of `loops` passes over a passage in one form.

    `round` is -1 for a first pass. `output` is the type in which the timed call hands over its result;
    `n_tokens` is None where ids were not counted.
    """

    round: int
    dataset: str
    form: str
    state: str
    seconds: float
    cpu_seconds: float
    loops: int
    n_bytes: int
    n_documents: int
    n_tokens: int | None
    output: str
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True)
class SetUp:
    """What loading took (seconds, with the library's import), and the first call; and what is known afterwards.

    `first_batch_seconds` is for the first batch, so that no passage pays for what batches need only once, such
    as imports and threads. `bare_bytes` is what the process held before it loaded the
    tokenizer, `peak_bytes` the most up to the end of its first passes. `digest` is one of all ids, to be
    compared with that of other processes and tokenizers.
    """

    load_seconds: float
    first_call_seconds: float
    first_batch_seconds: float
    bare_bytes: int
    batches: bool
    peak_bytes: int | None = None
    digest: str | None = None


@dataclass
class SpeedResult:
    """What the speed pass found: raw rows, one per timing; set-ups; failures by tokenizer.

    `clock` says what the figures are made of: ``wall`` or ``cpu`` seconds; the raw rows have both.
    """

    rounds: list[dict[str, Any]] = field(default_factory=list)
    set_ups: list[dict[str, Any]] = field(default_factory=list)
    failures: dict[str, TaskFailure] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    clock: str = "wall"
