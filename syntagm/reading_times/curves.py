"""Curves of a fit: the partial effects of the words beside a word, and the shape of the effect of the first added column."""

import math

import numpy as np
import polars as pl

from syntagm.reading_times import regressions, splines
from syntagm.reading_times.observations import ROW, Observations
from syntagm.stats.interval import critical

_PLACES = 40
_LAGS = (-1, 0, 1, 2, 3)


def lag_effects(label: str, rows: Observations) -> dict[int, tuple[float, float, float, int]]:
    """Estimate the effects of a predictor at the next word, the word itself and words before it, beside each other.

    Returns:
        The number of words back (-1 is the next word) -> estimate, low, high, n.
    """
    name = str(rows.added[label][0][0].column)
    over = [f":{role}" for role in ("language", "participant", "text") if f":{role}" in rows.frame.columns]
    columns = []
    for lag in _LAGS:
        # Between two rows of a regression there may be words that were dropped.
        apart = pl.col(ROW) - pl.col(ROW).shift(lag)
        shifted = pl.when(apart == lag).then(pl.col(name).shift(lag))
        columns.append((shifted.over(over) if over else shifted).alias(f"lag{lag}"))
    frame = rows.frame.sort(ROW, maintain_order=True).with_columns(columns)
    names = [f"lag{lag}" for lag in _LAGS]
    frame = frame.select(rows.response, *names).drop_nulls()
    if frame.height < 10 * len(names):
        return {}
    matrix = np.column_stack([np.ones(frame.height), frame.select(names).to_numpy()])
    if not regressions.independent(matrix).all():
        return {}
    line = regressions.least_squares(matrix, frame[rows.response].to_numpy())
    errors = np.sqrt(np.diagonal(np.linalg.inv(matrix.T @ matrix)) * line.variance)
    reach = critical(line.freedom) * errors
    estimates = line.coefficients
    return {
        lag: (float(estimates[at]), float(estimates[at] - reach[at]), float(estimates[at] + reach[at]), frame.height)
        for at, lag in enumerate(_LAGS, 1)
    }


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
