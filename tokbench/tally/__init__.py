"""Counting: documents in, tallies out; a tally is everything a metric may ask, and tallies add up."""

from tokbench.tally.collect import Collector, collect, collect_many, get_ready
from tokbench.tally.prepare import prepare
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.tally.text import CorpusFacts, TextBatch

__all__ = [
    "TALLY_VERSION",
    "Collector",
    "CorpusFacts",
    "Tally",
    "TextBatch",
    "collect",
    "collect_many",
    "get_ready",
    "prepare",
]
