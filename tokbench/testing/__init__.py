"""The conformance kit: checks that a tokenizer does what tokbench and its users rely on.

Example:
    >>> import tokbench
    >>> from tokbench.testing import check_tokenizer
    >>> check_tokenizer(tokbench.load("bytes"))
"""

from tokbench.testing.check import Failure
from tokbench.testing.kit import ConformanceError, check_tokenizer, failures_of

__all__ = ["ConformanceError", "Failure", "check_tokenizer", "failures_of"]
