"""Figures drawn from a run: one module for each family of plots, all in one style.

`PLOTS` are those that tokbench offers through its own plugin. Importing this needs no matplotlib.
"""

from tokbench.extension import Plot
from tokbench.plots import compression, differences, fairness, heatmap, speed, tokens, vocabulary

PLOTS: tuple[Plot, ...] = (
    *compression.PLOTS,
    *differences.PLOTS,
    *fairness.PLOTS,
    *heatmap.PLOTS,
    *speed.PLOTS,
    *tokens.PLOTS,
    *vocabulary.PLOTS,
)
