"""Why something was not measured: a cell, a metric, a plot, the training of a tokenizer."""

from __future__ import annotations

from dataclasses import dataclass

from tokbench.wording import printable


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """Why something was not measured, in the user's terms.

    `kind` is one word: ``raised``, ``timeout``, ``memory``, ``crashed``, ``train``, ``load`` …; `message` says
    what happened, its control characters spelt out, `remedy` what to do about it, `traceback` where (may be
    empty), and `output` holds the end of what the tokenizer printed meanwhile.
    """

    kind: str
    message: str
    remedy: str = ""
    traceback: str = ""
    output: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", printable(self.message))

    @property
    def status(self) -> str:
        """The status of the rows of this cell.

        Example:
            >>> TaskFailure("timeout", "no answer within 5 s").status
            'failed: timeout: no answer within 5 s'
        """
        first = self.message.strip().splitlines()[0] if self.message.strip() else "no message"
        return f"failed: {self.kind}: {first}"
