"""Metrics. Importing this package is cheap; the catalogue is in `tokbench.metrics.catalogue`."""

from tokbench.metrics.measurement import CellKey, Measurement
from tokbench.metrics.metric import Metric

__all__ = ["CellKey", "Measurement", "Metric"]
