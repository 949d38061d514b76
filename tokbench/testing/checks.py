"""The checks of the kit, and how one is run: `TEXT_CHECKS` on many texts, `WHOLE_CHECKS` on the tokenizer.

Each carries the remedy that its failure prints.
"""

from __future__ import annotations

from typing import Any

from tokbench.manager import PATIENCE, within
from tokbench.testing.capabilities import CAPABILITIES
from tokbench.testing.check import Problem, TextCheck, WholeCheck
from tokbench.testing.conduct import CONDUCT
from tokbench.testing.contract import CONTRACT, PROTOCOL
from tokbench.testing.encoding import ENCODES, ENCODING
from tokbench.tokenizer import Tokenizer

__all__ = ["ENCODES", "PROTOCOL", "TEXT_CHECKS", "WHOLE_CHECKS"]

TEXT_CHECKS = (*ENCODING, *CAPABILITIES)
WHOLE_CHECKS = (*CONTRACT, *CONDUCT)


def run_text_check(check: TextCheck, tokenizer: Tokenizer, text: str) -> Problem:
    """`check` on one text; an exception in anything but encode is a problem too."""
    try:
        with within(PATIENCE):
            return check.run(tokenizer, text)
    except (Exception, SystemExit) as error:
        if check is not ENCODES and ENCODES.run(tokenizer, text):
            return None  # reported once, by the check of encode itself
        return f"raised {type(error).__name__}: {error}"


def run_whole_check(check: WholeCheck, tokenizer: Any) -> Problem:
    """`check` on the tokenizer; an exception is a problem."""
    try:
        with within(PATIENCE):
            return check.run(tokenizer)
    except (Exception, SystemExit) as error:
        return f"raised {type(error).__name__}: {error}"
