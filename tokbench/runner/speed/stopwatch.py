"""The worker's side of the speed pass: one tokenizer in a fresh process, checked and timed.

The coordinator (`tokbench.runner.speed.turns`) calls `set_up` once, `time_part` for each part of a text never
seen, `settle` once, and then `time_round` many times, one tokenizer at a time across all of them. Nothing else
runs in the process, and garbage is not collected while the clock runs.
"""

from __future__ import annotations

import gc
import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from tokbench.batch import TokenBatch
from tokbench.capabilities import BatchEncoder, OffsetEncoder
from tokbench.collecting import uncollected
from tokbench.errors import TokenizerError
from tokbench.registry import registry_of
from tokbench.runner.picking import utf8_bytes
from tokbench.runner.recipe import Recipe
from tokbench.runner.speed.passages import Passage
from tokbench.runner.speed.timings import SetUp, Timing
from tokbench.tokenizer import Tokenizer, encode_batch
from tokbench.workers.calls import Begun, Emit
from tokbench.workers.memory import peak_memory

SHORTEST_ROUND = 0.004
"""Seconds; a form that is done sooner is repeated within a round until it takes as long."""

FIRST_TEXTS = ("The first call.", "And one more.")
"""What every tokenizer encodes before anything is timed on a passage."""

_CLOCKS = {"wall": time.perf_counter_ns, "cpu": time.process_time_ns}


@dataclass(slots=True)
class _Pass:
    """A passage in one shape, and how it is asked for; `loops` is 0 until it is known what a pass takes."""

    texts: Sequence[str]
    n_bytes: int
    call: Callable[[], Any]
    loops: int = 0


@dataclass(slots=True)
class _TimedTokenizer:
    """The tokenizer of this process and what it is timed on."""

    tokenizer: Tokenizer
    clock: str
    passages: dict[str, Passage]
    loading: SetUp
    n_tokens: dict[str, int] = field(default_factory=dict)
    forms: dict[tuple[str, str], _Pass] = field(default_factory=dict)


_timed_here: list[_TimedTokenizer] = []


def set_up(emit: Emit, recipe: Recipe, passages: Sequence[Passage], clock: str) -> None:
    """Load the tokenizer and time its first calls.

    `clock` is what latencies are read from: ``wall`` or ``cpu``.
    """
    registry_of(recipe.context)  # finding plugins is not the tokenizer's time
    bare = peak_memory()
    begun = time.perf_counter()
    tokenizer = recipe.load()
    load = time.perf_counter() - begun
    recipe.check_files()
    begun = time.perf_counter()
    tokenizer.encode(FIRST_TEXTS[0])
    first = time.perf_counter() - begun
    begun = time.perf_counter()
    _call(tokenizer, "batch", FIRST_TEXTS * 50)()  # so many that no tokenizer takes them one by one
    first_batch = time.perf_counter() - begun
    loading = SetUp(load, first, first_batch, bare, batches=isinstance(tokenizer, BatchEncoder))
    _timed_here[:] = [
        _TimedTokenizer(tokenizer, clock, {passage.dataset: passage for passage in passages}, loading)
    ]


def time_part(emit: Emit, dataset: str, number: int) -> Timing:
    """Encode one part of a passage, which this process has not seen, as a batch."""
    emit(Begun())
    own = _timed_here[0]
    texts = own.passages[dataset].parts[number]
    form = _Pass(texts, utf8_bytes(texts), _call(own.tokenizer, "batch", texts), loops=1)
    return _timed(form, -1, dataset, "batch", "cold")


def settle(emit: Emit) -> SetUp:
    """After the first passes: check that the tokenizer's ways of encoding agree, and on which ids."""
    own = _timed_here[0]
    peak = peak_memory()
    digest = hashlib.sha256()
    for passage in own.passages.values():
        emit(Begun())
        batch = verified(own.tokenizer, passage)
        digest.update(batch.ids.tobytes() + batch.offsets.tobytes())  # where documents end is part of the work
        own.n_tokens[passage.dataset] = len(batch.ids)
    gc.collect()
    gc.freeze()  # what libraries hold is looked through once, not before every round
    return replace(own.loading, peak_bytes=peak, digest=digest.hexdigest())


def verified(tokenizer: Tokenizer, passage: Passage) -> TokenBatch:
    """The ids of every document of a passage, the same each time and by every way of asking.

    Raises `TokenizerError` where the second call gives other ids than the first, or single calls other ids than
    the batch, on the passage's documents or on all of them as one.
    """
    import numpy as np

    batch = encode_batch(tokenizer, passage.documents)
    again = encode_batch(tokenizer, passage.documents)
    if not (np.array_equal(batch.ids, again.ids) and np.array_equal(batch.offsets, again.offsets)):
        raise TokenizerError(
            f"{tokenizer.name}: encoding {passage.dataset} twice gives other ids the second time; "
            f"a tokenizer that draws at random has no one speed"
        )
    _same_alone(tokenizer, passage, passage.documents, batch)
    _same_alone(tokenizer, passage, passage.long, encode_batch(tokenizer, passage.long))
    return batch


def _same_alone(tokenizer: Tokenizer, passage: Passage, texts: tuple[str, ...], batch: TokenBatch) -> None:
    import numpy as np

    for index, text in enumerate(texts):
        if not np.array_equal(np.asarray(tokenizer.encode(text), np.int64), batch[index]):
            raise TokenizerError(
                f"{tokenizer.name}: encode and encode_batch disagree on {passage.dataset}, "
                f"document {index}: {text[:60]!r}; a speed of either would not be of the same work"
            )


def time_round(emit: Emit, dataset: str, form: str, number: int) -> Timing | None:
    """One round of one form, warm: the form has run before, and often enough to fill `SHORTEST_ROUND`.

    None where the tokenizer has no such form.
    """
    emit(Begun())
    own = _timed_here[0]
    if form == "offsets" and not isinstance(own.tokenizer, OffsetEncoder):
        return None
    known = _form(own, dataset, form)
    if not known.loops:
        known.loops = 1
        passes = [_timed(known, number, dataset, form, "warm").seconds for _ in range(2)]
        known.loops = max(1, round(SHORTEST_ROUND / max(min(passes), 1e-7)))
    n_tokens = None if form in ("long", "short") else own.n_tokens[dataset]
    timing = replace(_timed(known, number, dataset, form, "warm"), n_tokens=n_tokens)
    if form != "single":
        return timing
    p50, p95, p99 = _latencies(own.tokenizer, known.texts, own.clock)
    return replace(timing, p50=p50, p95=p95, p99=p99)


def _timed(known: _Pass, number: int, dataset: str, form: str, state: str) -> Timing:
    """Time `known.loops` passes; ids are not counted."""
    call = known.call
    gc.collect()
    with uncollected():
        wall, cpu = time.perf_counter(), time.process_time()
        for _ in range(known.loops):
            result = call()
        cpu = time.process_time() - cpu
        wall = time.perf_counter() - wall
    return Timing(
        round=number,
        dataset=dataset,
        form=form,
        state=state,
        seconds=wall,
        cpu_seconds=cpu,
        loops=known.loops,
        n_bytes=known.n_bytes,
        n_documents=len(known.texts),
        n_tokens=None,
        output=type(result).__name__,
    )


def _form(own: _TimedTokenizer, dataset: str, form: str) -> _Pass:
    if (dataset, form) not in own.forms:
        passage = own.passages[dataset]
        texts = passage.shape(form)
        own.forms[dataset, form] = _Pass(texts, utf8_bytes(texts), _call(own.tokenizer, form, texts))
    return own.forms[dataset, form]


def _call(tokenizer: Tokenizer, form: str, texts: Sequence[str]) -> Callable[[], Any]:
    """What is timed; it returns the last thing it got.

    Each tokenizer gets its own best form where it has one: a batch goes to `encode_batch`, or else to
    `encode` document by document. Nothing converts what it returns while the clock runs, but for `lists`, which
    is of ids as Python lists whoever gives them.
    """
    if form == "batch" and isinstance(tokenizer, BatchEncoder):
        native = tokenizer.encode_batch
        return lambda: native(texts)
    if form == "decode":
        return _each(tokenizer.decode, [list(map(int, tokenizer.encode(text))) for text in texts])
    if form == "offsets" and isinstance(tokenizer, OffsetEncoder):
        return _each(tokenizer.offsets, texts)
    if form == "lists":
        return _each(_listing(tokenizer, texts), texts)
    return _each(tokenizer.encode, texts)


def _listing(tokenizer: Tokenizer, texts: Sequence[str]) -> Callable[[str], list[int]]:
    """`encode` with a list for its result, at the least cost its own result allows."""
    encode: Callable[[str], Any] = tokenizer.encode
    result = encode(texts[0])
    if isinstance(result, list):
        return encode
    if hasattr(result, "tolist"):
        return lambda text: encode(text).tolist()
    return lambda text: list(encode(text))


def _each(function: Callable[[Any], Any], items: Sequence[Any]) -> Callable[[], Any]:
    def call() -> Any:
        for item in items:
            result = function(item)
        return result

    return call


def _latencies(tokenizer: Tokenizer, texts: Sequence[str], clock: str) -> tuple[float, float, float]:
    """Quantiles of the seconds of single calls."""
    import numpy as np

    encode, now = tokenizer.encode, _CLOCKS[clock]
    took = []
    gc.collect()
    with uncollected():
        for text in texts:
            begun = now()
            encode(text)
            took.append(now() - begun)
    p50, p95, p99 = np.quantile(np.array(took) / 1e9, [0.5, 0.95, 0.99]).tolist()
    return p50, p95, p99
