"""Timing in a process of its own: what a fresh worker does for the speed pass.

The coordinator calls `set_up` once and `time_round` many times, one tokenizer at a time across all of them.
Nothing else runs in the process, and garbage is not collected while the clock runs.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from tokbench.errors import TokenizerError
from tokbench.runner.memory import peak_memory
from tokbench.runner.passages import Passage, utf8_bytes
from tokbench.runner.recipe import Recipe, open_registry
from tokbench.runner.worker import Emit
from tokbench.tokenizer import Tokenizer, encode_batch

SHORTEST_ROUND = 0.004
"""Seconds; a form that is done sooner is repeated within a round until it takes as long."""


@dataclass(frozen=True, slots=True)
class Timing:
    """One measurement: wall and CPU seconds of `loops` passes over a passage in one form."""

    dataset: str
    form: str
    state: str
    seconds: float
    cpu_seconds: float
    loops: int
    n_bytes: int
    n_documents: int
    n_tokens: int
    output: str
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None


@dataclass(frozen=True, slots=True)
class SetUp:
    """What loading took (seconds, with the library's import), the first call, and the process's peak memory.

    `digest` is of all ids, to compare with the same tokenizer in other processes; `cold` the first passes.
    """

    load_seconds: float
    first_call_seconds: float
    peak_bytes: int
    bare_bytes: int
    digest: str
    batches: bool
    cold: tuple[Timing, ...]


_state: dict[str, Any] = {}


def set_up(emit: Emit, recipe: Recipe, passages: Sequence[Passage]) -> SetUp:
    """Load the tokenizer, time its first calls, and check that its ways of encoding agree."""
    open_registry(recipe.plugins, recipe.context)  # finding plugins is not the tokenizer's time
    bare = peak_memory()
    begun = time.perf_counter()
    tokenizer = recipe.load()
    load = time.perf_counter() - begun
    begun = time.perf_counter()
    tokenizer.encode("The first call.")
    first = time.perf_counter() - begun
    _state.update(tokenizer=tokenizer, passages={passage.dataset: passage for passage in passages}, ids={})
    cold = []
    digest = hashlib.sha256()
    for passage in passages:
        emit(("begin", passage.dataset))
        first_pass = _timed(tokenizer, passage, "batch", "cold", loops=1)
        digest.update(_verified(tokenizer, passage))
        cold.append(replace(first_pass, n_tokens=_tokens(passage)))
    return SetUp(load, first, peak_memory(), bare, digest.hexdigest(), _has_batch(tokenizer), tuple(cold))


def time_round(emit: Emit, dataset: str, form: str) -> Timing:
    """One round of one form, warm: the form has run before, and often enough to fill `SHORTEST_ROUND`."""
    emit(("begin", dataset, form))
    tokenizer: Tokenizer = _state["tokenizer"]
    passage: Passage = _state["passages"][dataset]
    loops = _state.setdefault("loops", {})
    if (dataset, form) not in loops:
        warm_up = _timed(tokenizer, passage, form, "warm", loops=1)
        again = _timed(tokenizer, passage, form, "warm", loops=1)
        quickest = max(min(warm_up.seconds, again.seconds), 1e-7)
        loops[dataset, form] = max(1, round(SHORTEST_ROUND / quickest))
    return _timed(tokenizer, passage, form, "warm", loops=loops[dataset, form])


def _timed(tokenizer: Tokenizer, passage: Passage, form: str, state: str, *, loops: int) -> Timing:
    texts = passage.shape(form)
    call = _call(tokenizer, passage, form, texts)
    quantiles: tuple[float | None, float | None, float | None] = (None, None, None)
    with _undisturbed():
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(loops):
            call()
        cpu = time.process_time() - cpu
        wall = time.perf_counter() - wall
    if form == "single" and state == "warm":
        quantiles = _latencies(tokenizer, texts)
    return Timing(
        dataset=passage.dataset,
        form=form,
        state=state,
        seconds=wall,
        cpu_seconds=cpu,
        loops=loops,
        n_bytes=utf8_bytes(texts),
        n_documents=len(texts),
        n_tokens=_tokens(passage) if texts is passage.documents else 0,
        output=_output(tokenizer, form, texts),
        p50=quantiles[0],
        p95=quantiles[1],
        p99=quantiles[2],
    )


def _call(tokenizer: Tokenizer, passage: Passage, form: str, texts: Sequence[str]) -> Callable[[], None]:
    """What is timed.

    Each tokenizer gets its own best form where it has one: a batch goes to `encode_batch`, or else to
    `encode` document by document. Nothing converts what it returns while the clock runs.
    """
    if form == "batch":
        if _has_batch(tokenizer):
            native = tokenizer.encode_batch  # type: ignore[attr-defined]
            return lambda: native(texts)
    elif form == "decode":
        return _each(tokenizer.decode, _ids(tokenizer, passage))
    return _each(tokenizer.encode, texts)


def _each(function: Callable[[Any], Any], items: Sequence[Any]) -> Callable[[], None]:
    def call() -> None:
        for item in items:
            function(item)

    return call


def _latencies(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[float, float, float]:
    """Quantiles of the seconds of single calls."""
    import numpy as np

    encode, clock = tokenizer.encode, time.perf_counter_ns
    took = []
    with _undisturbed():
        for text in texts:
            begun = clock()
            encode(text)
            took.append(clock() - begun)
    p50, p95, p99 = np.quantile(np.array(took) / 1e9, [0.5, 0.95, 0.99]).tolist()
    return p50, p95, p99


@contextmanager
def _undisturbed() -> Iterator[None]:
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _verified(tokenizer: Tokenizer, passage: Passage) -> bytes:
    """A digest of the ids of every document; raises where two ways or two times of encoding disagree."""
    import numpy as np

    batch = encode_batch(tokenizer, passage.documents)
    again = encode_batch(tokenizer, passage.documents)
    if not (np.array_equal(batch.ids, again.ids) and np.array_equal(batch.offsets, again.offsets)):
        raise TokenizerError(
            f"{tokenizer.name}: encoding {passage.dataset} twice gives other ids the second time; "
            f"a tokenizer that draws at random has no one speed"
        )
    total = 0
    for index, text in enumerate(passage.documents):
        alone = np.asarray(tokenizer.encode(text), np.int64)
        if not np.array_equal(alone, batch[index]):
            raise TokenizerError(
                f"{tokenizer.name}: encode and encode_batch disagree on {passage.dataset}, "
                f"document {index}: {text[:60]!r}; a speed of either would not be of the same work"
            )
        total += len(alone)
    _state.setdefault("tokens", {})[passage.dataset] = total
    return hashlib.sha256(batch.ids.tobytes() + batch.offsets.tobytes()).digest()


def _ids(tokenizer: Tokenizer, passage: Passage) -> list[Any]:
    kept = _state["ids"]
    if passage.dataset not in kept:
        kept[passage.dataset] = [list(map(int, tokenizer.encode(text))) for text in passage.documents]
    found: list[Any] = kept[passage.dataset]
    return found


def _tokens(passage: Passage) -> int:
    return int(_state.get("tokens", {}).get(passage.dataset, 0))


def _has_batch(tokenizer: Tokenizer) -> bool:
    return callable(getattr(tokenizer, "encode_batch", None))


def _output(tokenizer: Tokenizer, form: str, texts: Sequence[str]) -> str:
    """In what form the timed call hands over its result."""
    if form == "decode":
        return "str"
    if form == "batch" and _has_batch(tokenizer):
        return "TokenBatch"
    return type(tokenizer.encode(texts[0])).__name__
