"""What tests of metrics share."""

from __future__ import annotations

import pytest

from tests.tokbench.metrics.measuring import TEXTS
from tokbench.corpus import Document
from tokbench.tally.collect import collect
from tokbench.tally.tally import Tally


@pytest.fixture(scope="session")
def tally(stand_ins) -> Tally:
    """The tally of `TEXTS`, of which tokens and bytes vary from document to document."""
    return collect(stand_ins.Pieces("ab"), map(Document, TEXTS))
