"""Metrics. Importing this package is cheap; the catalogue is in `tokbench.metrics.catalogue`."""

from tokbench.metrics.metric import CellKey, Measurement, Metric

__all__ = ["CellKey", "Measurement", "Metric"]
