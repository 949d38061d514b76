"""The tokenizers behind the live page, and its requests: to encode a text, to trace it, to load one more.

A text is encoded in one of three modes: as content, with special tokens matched, or as a user's message in the
tokenizer's chat template. More tokenizers can be loaded from the page, chosen from a list made at the start:
nothing that a visitor sends is ever taken for a path.
"""

from __future__ import annotations

import contextlib
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, islice
from typing import Any, Literal, get_args

from tokbench.capabilities import Step, TokenEstimator, Traceable
from tokbench.errors import TokbenchError, TokenizerError, UnknownNameError, described
from tokbench.inspection.pieces import pieces
from tokbench.inspection.steps import label
from tokbench.lint.chat import render
from tokbench.lint.subject import Subject
from tokbench.reports.tokenview.quick import QuickSpans
from tokbench.reports.tokenview.render import rank_of
from tokbench.tokenizer import Tokenizer, checked_ids
from tokbench.wording import counted

Mode = Literal["text", "special", "chat"]
MODES: tuple[Mode, ...] = get_args(Mode)


@dataclass(frozen=True, slots=True)
class VisitorLimits:
    """How much a visitor may ask at once; `tokenizers` of a request, and to load from the page."""

    chars: int = 20_000
    tokenizers: int = 16
    trace_chars: int = 120
    trace_steps: int = 400
    body_bytes: int = 400_000


class RequestError(TokbenchError):
    """A request that cannot be served as it is; the message and the HTTP status go to the visitor."""

    def __init__(self, message: str, status: int = 400) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Seat:
    """A loaded tokenizer. `lock` keeps its calls apart: not every library's objects bear several threads.

    `name` is what visitors know it by: its spec, unless that would tell them of the server's files. `ranks`
    says how each id ranks by frequency, once that was counted. `subject` knows its chat template, and opens it
    with special tokens matched.
    """

    name: str
    label: str
    tokenizer: Tokenizer
    subject: Subject
    ranks: Mapping[int, int] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    @cached_property
    def spans(self) -> QuickSpans:
        """The spans of texts taken as content."""
        return QuickSpans(self.tokenizer)

    @cached_property
    def matching(self) -> QuickSpans | None:
        """The spans of texts in which special tokens are matched; None where that is not on offer."""
        found = self.subject.matching
        return None if found is None else QuickSpans(found)

    def taken(self, text: str, mode: Mode) -> tuple[str, QuickSpans]:
        """The text that is encoded in a mode, and what encodes it, else `TokenizerError`."""
        if mode == "text":
            return text, self.spans
        if self.matching is None:
            raise TokenizerError("matches no special tokens in text")
        if mode == "chat":
            text = render(self.subject, [{"role": "user", "content": text}], add_generation_prompt=True)
        return text, self.matching

    def told(self, error: Exception) -> str:
        """What visitors are told of an error, in which its file goes by the name that they know."""
        said = str(error) if isinstance(error, TokbenchError) else described(error)
        return without_folders(said.replace(self.subject.spec, self.name))

    def about(self) -> dict[str, Any]:
        """What the page needs to know of it."""
        return {
            "spec": self.name,
            "label": self.label,
            "vocab_size": int(self.tokenizer.vocab_size),
            "traceable": isinstance(self.tokenizer, Traceable),
        }


@dataclass(frozen=True, slots=True)
class Bench:
    """Tokenizers by name, in the order they were asked for, and those that could not be had, with why.

    `more` can be loaded from the page, by the name visitors see; `loaded` are those that were, for whoever
    names them: what one visitor loads is not put before the next. `typed` are the names of seats by what the
    server was asked for, paths left out. `examples` are offered to visitors; over `texts` ids are ranked (see
    `count_ranks`).
    """

    seats: dict[str, Seat]
    missing: Mapping[str, str] = field(default_factory=dict)
    more: Mapping[str, Callable[[], Seat]] = field(default_factory=dict)
    examples: Sequence[Mapping[str, str]] = ()
    texts: Sequence[str] = ()
    limits: VisitorLimits = VisitorLimits()
    loaded: dict[str, Seat] = field(default_factory=dict)
    typed: Mapping[str, str] = field(default_factory=dict)

    def about(self) -> dict[str, Any]:
        """Everything the page shows before anything is typed."""
        return {
            "tokenizers": [seat.about() for seat in self.seats.values()],
            "missing": [{"spec": spec, "why": why} for spec, why in self.missing.items()],
            "more": [name for name in self.more if name not in self.seats],
            "examples": list(self.examples),
            "limits": {"chars": self.limits.chars, "trace_chars": self.limits.trace_chars},
        }

    def call_once(self) -> None:
        """Have every tokenizer encode a word, so that no visitor waits for what a first call makes ready."""
        for seat in self.seats.values():
            _encoded(seat, "once")

    def load(self, name: str) -> dict[str, Any]:
        """Load one of `more`, and say what the page needs to know of it; other names are refused."""
        if name in self.seats or name in self.loaded:
            return self._seat(name).about()
        if name not in self.more:
            raise RequestError(str(UnknownNameError.of("tokenizer to load", name, self.more)))
        if len(self.loaded) >= self.limits.tokenizers:
            raise RequestError(f"{self.limits.tokenizers} were loaded from the page already: no more")
        try:
            seat = self.more[name]()
        except TokbenchError as error:
            raise RequestError(f"{name}: {without_folders(str(error))}") from error
        _encoded(seat, "once")  # what a first call makes ready is part of loading
        return self.loaded.setdefault(name, seat).about()

    def count_ranks(self) -> None:
        """Rank every tokenizer's ids by how often they occur in `texts`; takes a while, so best in a thread.

        Between two texts others may use the tokenizer; one that raises goes without ranks.
        """
        for seat in list(self.seats.values()):
            counts: Counter[int] = Counter()
            with contextlib.suppress(Exception):  # what a plugin may raise spoils its own ranks only
                for text in self.texts:
                    with seat.lock:
                        counts.update(checked_ids(seat.tokenizer, text))
                seat.ranks = {index: rank for rank, (index, _) in enumerate(counts.most_common(), start=1)}

    def encode(self, text: str, specs: Sequence[str], mode: Mode = "text") -> dict[str, Any]:
        """`text` as each of `specs` takes it apart in a mode; one that fails says so and spoils nothing."""
        if mode not in MODES:
            raise RequestError(f"mode {mode!r} is none of {', '.join(MODES)}")
        self._check(text, self.limits.chars)
        if len(specs) > self.limits.tokenizers:
            raise RequestError(f"{len(specs)} tokenizers asked for; at most {self.limits.tokenizers} at once")
        seats = [self._seat(spec) for spec in dict.fromkeys(specs)]
        return {
            "chars": len(text),
            "bytes": len(text.encode("utf-8")),
            "results": [_encoded(seat, text, mode) for seat in seats],
        }

    def trace(self, text: str, tokenizer: str) -> dict[str, Any]:
        """The steps of an algorithm on a short text."""
        self._check(text, self.limits.trace_chars)
        seat = self._seat(tokenizer)
        if not isinstance(seat.tokenizer, Traceable):
            raise RequestError(f"{seat.label} does not show its steps")
        try:
            with seat.lock:
                steps = list(islice(seat.tokenizer.trace(text), self.limits.trace_steps + 1))
        except Exception as error:
            raise RequestError(seat.told(error), 500) from error
        shown = steps[: self.limits.trace_steps]
        return {"spec": seat.name, "steps": [_shown(step) for step in shown], "cut": len(steps) > len(shown)}

    def _seat(self, spec: str) -> Seat:
        seat = self.seats.get(spec) or self.loaded.get(spec) or self.seats.get(self.typed.get(spec, ""))
        if seat is None:
            raise RequestError(str(UnknownNameError.of("tokenizer", spec, [*self.seats, *self.loaded])))
        return seat

    def _check(self, text: str, most: int) -> None:
        if len(text) > most:
            raise RequestError(f"{len(text):,} characters are too many: this takes at most {most:,}")
        broken = re.search("[\ud800-\udfff]", text)
        if broken is not None:
            raise RequestError(f"half a surrogate pair at character {broken.start() + 1}: not text")


def _encoded(seat: Seat, text: str, mode: Mode = "text") -> dict[str, Any]:
    begun = time.perf_counter()
    try:
        if isinstance(seat.tokenizer, TokenEstimator):
            return {"spec": seat.name, "error": _estimated(seat, seat.tokenizer, text)}
        with seat.lock:
            text, spans = seat.taken(text, mode)
            shown = spans.of(text)
            lossless = shown.exact or spans.tokenizer.decode(shown.ids) == text
            places = None if shown.exact else _places(spans.tokenizer, text, shown.ids)
    except Exception as error:  # a plugin may raise anything; the page shows it in that tokenizer's place
        return {"spec": seat.name, "error": seat.told(error)}
    size = len(text.encode("utf-8"))
    return {
        "spec": seat.name,
        "tokens": len(shown.ids),
        "bytes_per_token": round(size / len(shown.ids), 4) if shown.ids else None,
        "milliseconds": round(1000 * (time.perf_counter() - begun), 2),
        "spans": [(*span, [rank_of(index, seat.ranks) for index in span[1]]) for span in shown.spans],
        "sequence": shown.sequence,
        "exact": shown.exact,
        "places": places,
        "lossless": lossless,
    }


def _estimated(seat: Seat, tokenizer: TokenEstimator, text: str) -> str:
    """What is known of a text in the place of its tokens."""
    with seat.lock:
        n = int(tokenizer.count_tokens([text])[0])
    least, most = (round(n * bound) for bound in tokenizer.bounds)
    told = without_folders(tokenizer.estimated)
    return f"≈ {counted(n, 'token')} ({least:,}–{most:,}), {told}; which ones is not known"


def _places(tokenizer: Tokenizer, text: str, ids: Sequence[int]) -> list[tuple[int, int]]:
    """Where each token stands in the bytes of `text`, of tokens whose own bytes do not make it up."""
    ends = [0, *accumulate(len(character.encode("utf-8")) for character in text)]
    return [(ends[piece.start], ends[piece.end]) for piece in pieces(tokenizer, text, ids)]


def _shown(step: Step) -> dict[str, Any]:
    return {
        "kind": step.kind,
        "tokens": [label(token) for token in step.tokens],
        "changed": step.changed,
        "note": step.note,
        "detail": {str(key): _plain(value) for key, value in step.detail.items()},
    }


def _plain(value: Any) -> Any:
    """A value of a step's detail in JSON's types."""
    if isinstance(value, bytes):
        return label(value)
    if isinstance(value, Mapping):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in islice(value, 50)]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return str(value)
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def without_folders(message: str) -> str:
    """A message without the folders of this machine: visitors need not learn where files are."""
    return re.sub(r"(?<![\w/])(?:/[^\s/:,;'\"]+)+/", "", message)
