"""One row of the results, and the cell that it is of."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import NamedTuple

ALL = "all"
"""The language of figures that are of all languages of a dataset together."""


class CellKey(NamedTuple):
    """What a cell is about: canonical tokenizer spec, canonical dataset spec, language (or `ALL`)."""

    tokenizer: str
    dataset: str
    language: str


@dataclass(frozen=True, slots=True)
class Measurement:
    """One row of the results. `value` is None where nothing was measured, and `status` then says why.

    `status` is ``ok``, or begins with ``undefined:``, ``skipped:`` or ``failed:`` and a reason.

    Example:
        >>> row = Measurement(*CellKey("bytes", "", ALL), "load_time", unit="s", value=0.5)
        >>> row.value, row.ci_low, row.status
        (0.5, None, 'ok')
    """

    tokenizer: str
    dataset: str
    language: str
    metric: str
    _: KW_ONLY
    value: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None
    unit: str
    n_documents: int = 0
    status: str = "ok"
