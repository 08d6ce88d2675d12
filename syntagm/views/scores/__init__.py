"""Scores: the accuracy of each model on each suite, with its interval, n, ties and what chance would give.

Of a measure whose values are shares (`equal_weight`, `model_weight` of a fill run): its mean.
"""

from syntagm.views.scores.chart import draw_figure
from syntagm.views.scores.table import make_table

__all__ = ["draw_figure", "make_table"]
