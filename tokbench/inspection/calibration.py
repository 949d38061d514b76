"""Closed tokenizers: estimates the token counts that an API reports from those of a local tokenizer.

``tokens ≈ overhead + factor of the kind × tokens of the local tokenizer``, by least squares of relative errors.
`overhead` is the cost of each request in addition to its text (a chat template), never below 0. The error is
measured on rows that the fit did not see (ten folds); it gives the interval, and selects among several local
tokenizers.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tokbench.errors import CorpusError, SpecError
from tokbench.wording import counted, reason

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

FOLDS = 10
LEAST = 10
"""With fewer rows nothing is fitted, because the error could not be measured."""
OWN = 5
"""A kind with at least so many rows has its own factor; kinds with fewer rows share one."""
SHARED = "other kinds"
DEFAULT = "text"
"""The kind of a text whose row states none."""
FORMAT = "tokbench-calibration"


@dataclass(frozen=True, slots=True)
class Observed:
    """One request: its text, the tokens that were reported for it, its kind of text, and its file, if any."""

    text: str
    tokens: int
    kind: str
    file: Path | None = None


def read_observed(path: Path) -> list[Observed]:
    """The rows of a CSV file with the columns `text` (or `file`, a path beside it), `tokens`, perhaps `kind`.

    Raises `CorpusError` with the line of a wrong row, for fewer than `LEAST` rows, for a kind whose texts are
    all blank, and for counts that do not vary.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            columns = set(reader.fieldnames or ())
            if "tokens" not in columns or not columns & {"text", "file"}:
                has = ", ".join(name[:40] for name in (reader.fieldnames or ())[:8]) or "nothing"
                raise CorpusError(
                    f"{path}: is read as CSV, and needs a first line that names the columns tokens, "
                    f"and text or file; it has: {has}"
                )
            rows = [_row(path, reader.line_num, entry) for entry in reader]
    except UnicodeDecodeError as error:
        raise CorpusError(f"{path}: not UTF-8 (byte {error.start}); save it as UTF-8") from error
    except (OSError, csv.Error) as error:
        raise CorpusError(f"{path}: cannot be read: {reason(error)}") from error
    if len(rows) < LEAST:
        few = counted(len(rows), "row")
        raise CorpusError(f"{path}: {few}; at least {LEAST} are needed to tell how good a fit is")
    kinds = dict.fromkeys(row.kind for row in rows)
    for kind in kinds.keys() - {row.kind for row in rows if row.text.strip()}:
        of = f" of kind {kind!r}" if len(kinds) > 1 else ""
        raise CorpusError(f"{path}: every text{of} is blank, so the counts say nothing of such text")
    if len({row.tokens for row in rows}) == 1:
        raise CorpusError(
            f"{path}: all {len(rows)} rows report {counted(rows[0].tokens, 'token')}, so nothing tells how the "
            f"number follows from the text; {_REMEDY}"
        )
    return rows


_REMEDY = "observe texts of different lengths"


def _row(path: Path, line: int, entry: Mapping[str, str | None]) -> Observed:
    said, text = (entry["tokens"] or "").strip(), entry.get("text")
    tokens = int(said) if said.isdecimal() and len(said) < 16 else 0
    if tokens <= 0:
        raise CorpusError(f"{path}, line {line}: tokens takes a whole number above 0, not {said!r}")
    file = None
    if text is None:
        file = path.parent / str(entry["file"])
        try:
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise CorpusError(f"{path}, line {line}: {file}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise CorpusError(f"{path}, line {line}: {file} is not UTF-8 (byte {error.start})") from error
    return Observed(text, tokens, entry.get("kind") or DEFAULT, file)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The fit that turns the counts of a local tokenizer into estimates of another's.

    `factors` are by kind; kinds without one have that of `SHARED`. `error` is the mean held-out error as a
    share of the reported count; `low` and `high` contain 95 % of ``reported / estimated``. `rows` is the number
    of rows fitted, `kinds` their kinds.
    """

    spec: str
    overhead: float
    factors: Mapping[str, float]
    error: float
    low: float
    high: float
    rows: int
    kinds: tuple[str, ...]

    def kind_of(self, asked: str | None) -> str:
        """The kind of text asked for; without a name the only one observed, or else ``text``.

        Raises `SpecError` for a kind that was never observed.
        """
        kind = asked or (self.kinds[0] if len(self.kinds) == 1 else DEFAULT)
        if kind not in self.kinds:
            raise SpecError(
                f"no text of kind {kind!r} was observed; the kinds that were: {', '.join(self.kinds)}"
            )
        return kind

    def estimate(self, count: float, kind: str, requests: int = 1) -> float:
        """The estimated tokens of texts with `count` local tokens, sent in so many requests."""
        return self.overhead * requests + self.factors.get(kind, self.factors[SHARED]) * count

    def to_json(self) -> dict[str, Any]:
        """The calibration in JSON's types; `of_json` reads it."""
        return {
            "format": FORMAT,
            "estimated": True,
            "spec": self.spec,
            "overhead": self.overhead,
            "factors": dict(self.factors),
            "held_out_error": self.error,
            "interval_95": [self.low, self.high],
            "rows": self.rows,
            "kinds": list(self.kinds),
        }

    @classmethod
    def of_json(cls, content: Any, *, where: str) -> Calibration:
        """The calibration that `to_json` wrote; raises `SpecError` for anything else."""
        if not isinstance(content, Mapping) or content.get("format") != FORMAT:
            raise SpecError(
                f"{where}: is no calibration; tokbench calibrate --observed FILE.csv SPEC -o FIT.json makes one"
            )
        try:
            low, high = map(float, content["interval_95"])
            factors = {str(kind): float(factor) for kind, factor in content["factors"].items()}
            numbers = float(content["overhead"]), factors, float(content["held_out_error"]), low, high
            found = cls(str(content["spec"]), *numbers, int(content["rows"]), tuple(map(str, content["kinds"])))
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise SpecError(f"{where}: is a calibration that is damaged: {error}") from error
        if SHARED not in factors:
            raise SpecError(f"{where}: is a calibration that is damaged: it has no factor of {SHARED!r}")
        return found


def calibrate(spec: str, counts: Sequence[int], observed: Sequence[Observed]) -> Calibration:
    """The calibration of one local tokenizer, whose `counts` are those of the observed texts.

    Raises `SpecError` if the counts do not vary within any kind of text, so that overhead and factor cannot be
    separated; if a kind has no token; and if the reported counts of a kind fall as the local ones rise.

    Example:
        >>> rows = [Observed("x", 7 + 2 * n, "text") for n in range(1, 31)]
        >>> fit = calibrate("chars", list(range(1, 31)), rows)
        >>> round(fit.overhead, 3), round(fit.factors["text"], 3), fit.error < 1e-6
        (7.0, 2.0, True)
    """
    import numpy as np

    local, reported = np.asarray(counts, float), np.array([row.tokens for row in observed], float)
    kinds = [row.kind for row in observed]
    shared = _sharing(kinds)
    if len({*zip(shared, counts, strict=True)}) == len({*shared}):
        whose = "" if len({*shared}) == 1 else " of a kind"
        raise SpecError(
            f"{spec}: gives all texts{whose} the same number of tokens, so the cost of the text cannot be "
            f"separated from the fixed cost of a request; {_REMEDY}, or leave this tokenizer out"
        )
    if none := sorted({*shared} - {kind for kind, count in zip(shared, counts, strict=True) if count}):
        raise SpecError(
            f"{spec}: by it no text of kind {none[0]!r} has a token, so nothing tells what such text costs; "
            "leave its rows or this tokenizer out"
        )
    folds = np.random.default_rng(0).permutation(len(observed)) % FOLDS
    predicted = np.empty(len(observed))
    for fold in range(FOLDS):
        seen, unseen = folds != fold, folds == fold
        overhead, factors = _fit(local[seen], reported[seen], [kinds[i] for i in np.flatnonzero(seen)])
        for index in np.flatnonzero(unseen):
            predicted[index] = overhead + factors.get(kinds[index], factors[SHARED]) * local[index]
    overhead, factors = _fit(local, reported, kinds)
    if falling := [kind for kind in dict.fromkeys(shared) if factors[kind] <= 0]:
        raise SpecError(
            f"{spec}: the more tokens a text of kind {falling[0]!r} has by it, the fewer were reported, so "
            "nothing can be estimated; do texts and counts belong together?"
        )
    low, high = np.quantile(reported / np.maximum(predicted, 1e-9), [0.025, 0.975])
    error = float(np.mean(np.abs(predicted - reported) / reported))
    told = (len(observed), tuple(sorted({*kinds})))
    return Calibration(spec, overhead, factors, error, float(low), float(high), *told)


def _sharing(kinds: Sequence[str]) -> list[str]:
    """The kind whose factor each row has: its own if that is frequent enough, else `SHARED`."""
    frequent = Counter(kinds)
    return [kind if frequent[kind] >= OWN else SHARED for kind in kinds]


def _fit(
    local: NDArray[np.float64], reported: NDArray[np.float64], kinds: Sequence[str]
) -> tuple[float, dict[str, float]]:
    """The overhead and factors with the least relative errors; the overhead is 0 if it would be negative."""
    import numpy as np

    own = sorted({*_sharing(kinds)} - {SHARED})
    columns = [np.array([kind == one for kind in kinds]) * local for one in own]
    rest = local * np.array([kind not in own for kind in kinds])
    weights = 1.0 / reported
    for constant in (True, False):
        used = [*([np.ones_like(local)] if constant else []), *columns, *([rest] if rest.any() else [])]
        solved = np.linalg.lstsq(np.stack(used, 1) * weights[:, None], reported * weights, rcond=None)[0]
        if not constant or solved[0] >= 0:
            break
    overhead = float(solved[0]) if constant else 0.0
    values = [float(value) for value in solved[constant:]]
    factors = dict(zip(own, values, strict=False))
    above = max(0.0, float((reported - overhead).sum()))
    factors[SHARED] = values[len(own)] if rest.any() else above / max(1.0, float(local.sum()))
    return overhead, factors
