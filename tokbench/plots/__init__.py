"""Figures drawn from a run: one module a family of plots, all in one house style.

`PLOTS` is what tokbench offers through its own plugin. Importing this draws nothing and needs no matplotlib.
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
