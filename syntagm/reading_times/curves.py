"""Curves of a fit: the effect of the next word, and the shape of the effect of the first added column."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from syntagm.core import SyntagmError
from syntagm.reading_times import fitting, regressions, slopes, splines
from syntagm.reading_times.observations import ROW, Observations
from syntagm.reading_times.slopes import Slopes
from syntagm.stats import Variable, critical

_PLACES = 40


def next_word(label: str, rows: Observations, model: str, random: Sequence[str]) -> Slopes | None:
    """Fit a regression again with the first added column of the next word beside the others; its slope is the last."""
    # Times spill over to later words only, so a slope of the next word is a sign that times belong to another word.
    term = rows.added[label][0]
    over = [f":{role}" for role in ("language", "participant", "text") if f":{role}" in rows.frame.columns]
    columns = []
    for each in term:
        # Between two rows of a regression there may be words that were dropped.
        following = pl.when(pl.col(ROW).shift(-1) - pl.col(ROW) == 1).then(pl.col(each.column).shift(-1))
        columns.append((following.over(over) if over else following).alias(f"{each.column} (next)"))
    frame = rows.frame.sort(ROW, maintain_order=True).with_columns(columns)
    frame = frame.drop_nulls([f"{each.column} (next)" for each in term])
    later = tuple(Variable(f"{each.column} (next)", each.function) for each in term)
    terms = (*rows.added[label], later)
    if frame.height < 10 * (len(rows.baseline) + len(terms) + 1):
        return None
    wider = replace(rows, frame=frame, added={**rows.added, label: terms})
    try:
        return slopes.fit(label, wider, fitting.clusters(wider), model, random)
    except SyntagmError:
        return None


def shape(label: str, rows: Observations) -> list[tuple[str, float, float, float, float, int]]:
    """Compute the curve of the first added column: model, place, difference in ms from the median, low, high, n."""
    added = rows.added[label]
    straight = rows.columns((*rows.baseline, *added))
    values = regressions.smoothed(rows, added)
    bases = [splines.basis(column, name) for name, column in values.items()]
    curve = regressions.smooth(
        straight.values, [base.at(column) for base, column in zip(bases, values.values(), strict=True)], rows.times
    )
    first = next(iter(values))
    own = values[first]
    low, high = (float(np.quantile(own, share)) for share in (0.005, 0.995))
    places = np.linspace(low, high, _PLACES)
    centre = np.array([np.median(own)])
    at = straight.names.index(first)
    width = bases[0].parts.shape[1]
    start = straight.values.shape[1]

    def columns(
        at_values: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
        found = np.zeros((len(at_values), len(curve.coefficients)))
        found[:, at] = at_values
        found[:, start : start + width] = bases[0].at(at_values)
        return found

    differences = columns(places) - columns(centre)
    estimates = differences @ curve.coefficients
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", differences, curve.covariance, differences), 0))
    reach = critical(math.inf) * errors
    return [
        (label, float(place), float(value), float(value - wide), float(value + wide), len(own))
        for place, value, wide in zip(places, estimates, reach, strict=True)
    ]
