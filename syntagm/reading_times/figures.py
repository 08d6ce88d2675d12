"""Figures of fits of reading times, declared in one place: the gain of models, effects by lag, and the shape of the effect."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from syntagm.drawing import axes, curves
from syntagm.drawing.chart import Figure
from syntagm.drawing.curves import Panel
from syntagm.errors import InputError, UsageError
from syntagm.reading_times import regressions, splines
from syntagm.reading_times.fitting import Gain, Outcome
from syntagm.reading_times.observations import ROW, Observations
from syntagm.reading_times.tables import open_table
from syntagm.stats.interval import critical

_SCHEMA = {
    "model": pl.String, "x": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
}  # fmt: skip
_PLACES = 40
_LAGS = (-1, 0, 1, 2, 3)


@dataclass(frozen=True, slots=True)
class View:
    """A figure of a fit.

    Arguments:
        summary: what it shows.
        draw: a function from a fit, and from the numbers that models are placed by, to the figure.
    """

    summary: str
    draw: Callable[[Outcome, "Against | None"], Figure]


@dataclass(frozen=True, slots=True)
class Against:
    """Numbers of models, such as perplexities: model -> number, and what they are."""

    name: str
    of: Mapping[str, float]


def read_against(path: Path) -> Against:
    """Read a table with the column `model`, and one column of numbers.

    Raises:
        InputError: the table has other columns, or a model twice.
    """
    source = open_table(path)
    others = [name for name in source.names if name != "model"]
    if "model" not in source.names or len(others) != 1:
        raise InputError(str(path), "the columns " + ", ".join(source.names), "model, and one column of numbers")
    models, numbers = source.texts(["model"]).to_list(), source.numbers(others[0]).to_list()
    if len(set(models)) < len(models) or None in models or None in numbers:
        raise InputError(str(path), "a model twice, or a missing cell", "a number for each model")
    return Against(others[0], dict(zip(models, numbers, strict=True)))


def draw(name: str, outcome: Outcome, against: Against | None = None) -> Figure:
    """Draw a figure by its name.

    Raises:
        UsageError: there is no such figure.
    """
    if name not in VIEWS:
        raise UsageError("--figure", repr(name), "one of " + ", ".join(VIEWS))
    return VIEWS[name].draw(outcome, against)


def _gain(outcome: Outcome, against: Against | None) -> Figure:
    rows = [_of_gain(gain, against) for gain in outcome.gains]
    kind = pl.String if against is None else pl.Float64
    table = pl.DataFrame(rows, schema={**_SCHEMA, "x": kind}, orient="row")
    upright = axes.quantity("value", "gain (nats per observation)", {"zero": True})
    across = "model" if against is None else against.name
    subtitle = [
        f"held-out log-likelihood against the baseline, {outcome.request.model}",
        f"bar: 95% interval; {outcome.gains[0].interval.method}",
    ]
    return curves.draw([Panel(table, across, reference=0.0)], upright, "Gain of surprisal", subtitle, table)


def _of_gain(gain: Gain, against: Against | None) -> tuple[object, ...]:
    if against is not None and gain.model not in against.of:
        raise UsageError("--against", f"no number for {gain.model}", "one for each model")
    place = gain.model if against is None else against.of[gain.model]
    return gain.model, place, gain.mean, gain.interval.low, gain.interval.high, len(gain.gains)


def _lag(outcome: Outcome, _: Against | None) -> Figure:
    """Draw the effects of the bits of the next word, the word itself and words before it, beside each other."""
    rows = []
    for label, found in outcome.observations.items():
        rows += [(label, float(lag), *numbers) for lag, numbers in lag_effects(label, found).items()]
    if not rows:
        raise InputError("figure lag", "too few rows with words around them", "texts of several words")
    table = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    upright = axes.quantity("value", "ms per unit of the predictor", {"zero": True})
    subtitle = [
        "partial effects on the time of word 0; -1 is the next word",
        "bar: 95% interval of least squares, rows as independent",
    ]
    panel = Panel(table, "words back", reference=0.0)
    return curves.draw([panel], upright, "Effects by lag", subtitle, table)


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
    frame = rows.frame.with_columns(columns)
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


def _shape(outcome: Outcome, _: Against | None) -> Figure:
    rows = [row for label, found in outcome.observations.items() for row in shape(label, found)]
    table = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    name = next(iter(outcome.observations.values())).added[next(iter(outcome.observations))][0][0]
    upright = axes.quantity("value", "difference in ms from the median", {"zero": True})
    subtitle = [
        "penalised natural cubic spline beside the other predictors",
        "bar: 95% interval at each place, rows as independent",
    ]
    return curves.draw([Panel(table, str(name), reference=0.0)], upright, "Shape of the effect", subtitle, table)


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


VIEWS: Mapping[str, View] = {
    "gain": View("the gain of each model with its interval; with --against, over perplexity or another number", _gain),
    "lag": View("the effects of the next word, the word itself and words before it", _lag),
    "shape": View("the shape of the effect of the first added column", _shape),
}
