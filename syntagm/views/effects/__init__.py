"""Effects: the mean difference in bits between the two sides of each comparison, with interval and d.

A prediction is a comparison, or several joined by `&` or `|`; each comparison has its own effect. The effect is the
mean over items of the difference between its two sides within the item, computed so that a positive effect supports the
prediction: b - a for `a < b`, and a - b for `a > b`. For `a = b`, it is a - b, and 0 supports the prediction. For
formulas with sums, it is the difference of differences, such as the garden-path effect or the interaction in a 2x2
design.
"""

from syntagm.views.effects.chart import draw_figure
from syntagm.views.effects.table import make_table

__all__ = ["draw_figure", "make_table"]
