"""What more text brings: accuracy on the logarithm of the training text, a straight line for each family and phenomenon.

The slope is the gain for each doubling of the text, by least squares over models (sizes and seeds). Its standard error is about
models drawn like these, not about items, and takes them for independent, though parts of one corpus share text.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

SCHEMA = {
    "family": pl.String, "phenomenon": pl.String, "slope": pl.Float64, "se": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "intercept": pl.Float64, "n": pl.Int64, "sizes": pl.Int64,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Line:
    """accuracy = intercept + slope * log2(words).

    Arguments:
        se: of the slope; nan with two models, or one size.
        low, high: 95 % interval of the slope, from Student's t with n - 2 degrees of freedom.
        n, sizes: how many models, and sizes of text.
    """

    slope: float
    se: float
    low: float
    high: float
    intercept: float
    n: int
    sizes: int

    def words_at(self, accuracy: float) -> float:
        """At how many words the line reaches an accuracy; infinite if it never does.

        >>> line([1, 2, 4], [0.5, 0.6, 0.7]).words_at(0.9)
        16.0
        """
        if not self.slope > 0:
            return math.nan if math.isnan(self.slope) else math.inf
        power = round((accuracy - self.intercept) / self.slope, 9)
        return math.inf if power > 1000 else 2.0**power


def line(words: ArrayLike, accuracy: ArrayLike) -> Line:
    """The line through the models; values that are nan are left out.

    >>> found = line([1, 2, 4, 8], [0.5, 0.6, 0.6, 0.7])  # (1.5 * 0.1 + 1.5 * 0.1) / 5
    >>> round(found.slope, 6), round(found.se, 6), found.n  # residuals 0.01 and 0.03, twice: sqrt(0.002 / 2 / 5)
    (0.06, 0.014142, 4)
    """
    from scipy.special import stdtrit

    x, y = np.log2(np.asarray(words, np.float64)), np.asarray(accuracy, np.float64)
    x, y = x[np.isfinite(y)], y[np.isfinite(y)]
    n, sizes = len(y), len(np.unique(x))
    if sizes < 2:
        return Line(*(math.nan,) * 5, n, sizes)
    spread = float(((x - x.mean()) ** 2).sum())
    slope = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    intercept = float(y.mean() - slope * x.mean())
    if n < 3:
        return Line(slope, math.nan, math.nan, math.nan, intercept, n, sizes)
    residual = float(((y - intercept - slope * x) ** 2).sum())
    se = math.sqrt(residual / (n - 2) / spread)
    reach = se * float(stdtrit(n - 2, 0.975))
    return Line(slope, se, slope - reach, slope + reach, intercept, n, sizes)


def slopes(accuracies: pl.DataFrame, phenomena: Sequence[str] | None = None) -> pl.DataFrame:
    """A row a family and phenomenon, with columns as in `SCHEMA`, in the order of first appearance.

    Arguments:
        accuracies: a row a model and phenomenon: family, phenomenon, words (of the training text), value.
        phenomena: only these.
    """
    kept = accuracies if phenomena is None else accuracies.filter(pl.col("phenomenon").is_in(phenomena))
    rows = []
    for (family, phenomenon), table in kept.group_by("family", "phenomenon", maintain_order=True):
        one = line(table["words"].to_numpy(), table["value"].to_numpy())
        rows.append((family, phenomenon, one.slope, one.se, one.low, one.high, one.intercept, one.n, one.sizes))
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")
