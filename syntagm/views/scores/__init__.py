"""Scores: the accuracy of each model on each suite, with its interval, n, ties and the chance level.

For a measure whose values are not verdicts (such as `equal_weight` and `model_weight` of a fill run), the score is the
mean.
"""

from syntagm.views.scores.chart import draw_figure
from syntagm.views.scores.table import make_table

__all__ = ["draw_figure", "make_table"]
