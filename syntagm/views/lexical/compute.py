"""Accuracy by lexical item, and whether frequent words do better: rank correlation of accuracy and frequency over words.

The correlation is Spearman's, so that it is the same for frequency and its logarithm. Its n is the number of words whose
frequency is known, not of items: with the seven verbs of a suite only a near-perfect order differs from none. Words of unknown
frequency are left out and counted.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from syntagm.result import Estimate
from syntagm.stats import score
from syntagm.stats.association import Association, association

LEAST = 3


def by_label(rows: pl.DataFrame, tolerance: float, suite: str) -> dict[str, Estimate]:
    """The accuracy of each label, in the order of the labels.

    Arguments:
        rows: results of one model, suite and measure with the column `label`.
        suite: whose items these are; the random numbers depend on it and on the label.
    """
    ordered = rows.sort("label", maintain_order=True).with_columns(suite=pl.lit(f"{suite}/") + pl.col("label"))
    labels = ordered["label"].unique(maintain_order=True).to_list()
    return dict(zip(labels, score.accuracy(ordered, tolerance), strict=True))


def with_frequency(
    accuracies: Mapping[str, Estimate], frequencies: Mapping[str, float], key: str
) -> tuple[Association | None, list[str]]:
    """Spearman's correlation of accuracy with frequency, and the labels left out of it: of unknown frequency, or undefined.

    None where fewer than three labels are left.

    >>> from syntagm.result import Group
    >>> scores = {"be": 0.9, "swim": 0.5, "smile": 0.6, "x": 1}
    >>> found = {name: Estimate(Group(), value, 0, 1, 9, "") for name, value in scores.items()}
    >>> association, missing = with_frequency(found, {"be": 9000, "swim": 30, "smile": 70}, "agreement")
    >>> association.value, association.n, missing
    (1.0, 3, ['x'])
    """
    kept = [label for label, one in accuracies.items() if label in frequencies and not np.isnan(one.value)]
    missing = [label for label in accuracies if label not in kept]
    if len(kept) < LEAST:
        return None, missing
    x: Sequence[float] = [frequencies[label] for label in kept]
    y: Sequence[float] = [accuracies[label].value for label in kept]
    return association(x, y, "Spearman", key=key), missing
