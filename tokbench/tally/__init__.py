"""Counting: documents in, tallies out; a tally is everything a metric may ask, and tallies add up."""

from tokbench.tally.collect import Collector, collect, collect_many, get_ready
from tokbench.tally.facts import CorpusFacts
from tokbench.tally.tally import TALLY_VERSION, Tally
from tokbench.tally.text import TextBatch, prepare

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
