"""Curves of series of checkpoints: the score of each group of suites by training steps, words, tokens or model size.

Scores are unweighted means over the suites with the same content in all runs. The bootstrap resamples the same
items at all checkpoints and in all series, so differences between checkpoints and between series are paired.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import RunError, UsageError
from syntagm.runs.several import tags
from syntagm.runs.store import Run
from syntagm.stats import bootstrap, matching, score
from syntagm.stats.bootstrap import Resampling
from syntagm.views.options import Named, Reader
from syntagm.views.scores.numbers import chance_of_suite, predictions
from syntagm.views.trajectory.places import Places, Point, places

# Curves need fewer draws than a table: with 2,000, the ends of an interval vary by about 1/100 of its width.
DRAWS = 2000
METHOD = f"{Resampling(DRAWS).method('items within suites')}, the same draws at all positions"
_ITEM = ("item", "occurrence")


# Options of the views that show curves.
By = Annotated[str, Named("a tag of the suites, or `suite`; default: all suites together", tags, ("suite",))]
Scale = Annotated[Literal["log", "linear"], "scale of the horizontal axis"]
Level = float | Literal["chance"] | None


def read_level(text: str) -> Level:
    """Read a level from text: a number, `chance`, or None if empty.

    Raises:
        UsageError: the text is anything else.
    """
    if text == "chance" or not text:
        return "chance" if text else None
    try:
        return float(text)
    except ValueError:
        raise UsageError("level=", repr(text), "a number, or chance") from None


AtLevel = Annotated[Level, Reader("a level to reach: a number, for example human accuracy, or `chance`", read_level)]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The score of a group of suites along a series of checkpoints. Runs with the same position are averaged.

    Arguments:
        suites: the number of suites.
        at: the positions (steps, words, tokens or size), ascending. Shape (places,).
        values, low, high: the scores and their 95% intervals. Shape (places,).
        runs, n: the number of runs at each position, and the smallest number of defined items among them.
        draws: the bootstrap distribution of the scores. Shape (draws, places).
        each: the position and the score of each run, for slopes. Shapes (runs,).
        chance: the chance level of the score; nan if unknown.
    """

    series: str
    group: str
    suites: int
    at: tuple[float, ...]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    runs: tuple[int, ...]
    n: tuple[int, ...]
    draws: NDArray[np.float64]
    each: tuple[NDArray[np.float64], NDArray[np.float64]]
    chance: float


def curves(points: Sequence[Point], by: str = "", measure: str = "first") -> list[Curve]:
    """Compute a curve for each series and group of suites; groups are in the order of their first suite.

    Arguments:
        by: a tag of the suites, whose values are the groups; "suite" makes each suite a group; empty text makes one
            group of all suites.
        measure: "first", "all" or the name of a prediction.

    Raises:
        RunError: the runs share no suite with results.
        UsageError: no shared suite has the tag or the measure.
    """
    shared, _ = suites_of(points)
    groups = _groups(points[0].run, shared, by, measure)
    if not groups:
        raise UsageError("by=", f"no suite in all runs has {by or measure!r}", "a tag of the suites, or suite")
    matrices = _matrices(points, [suite for suites in groups.values() for suite in suites], measure)
    computed = []
    for group, suites in groups.items():
        values, draws, counts = _group([matrices[suite] for suite in suites], suites)
        chance = [chance_of_suite(points[0].run.suite(suite), measure).value for suite in suites]
        for series in dict.fromkeys(point.series for point in points):
            places = [k for k, point in enumerate(points) if point.series == series]
            at = [points[k].at for k in places]
            computed.append(
                _curve(series, group, len(suites), at, values[places], draws[:, places], counts[places], chance)
            )
    return computed


def curves_of(
    runs: Sequence[Run], x: str, series: Sequence[str], by: str, measure: str, scale: Scale
) -> tuple[Places, list[Curve]]:
    """Find the position of each run, and compute the curves. The arguments are the options of the view.

    Raises:
        UsageError: the position of a run is unknown, or is 0 on a logarithmic scale.
    """
    placed = places(runs, x, series)
    if scale == "log" and (zero := [point.model for point in placed.points if not point.at > 0]):
        raise UsageError("x=", f"0 on a logarithmic scale, {zero[0]}", "numbers above 0, or scale=linear")
    return placed, curves(placed.points, by, measure)


def level_of(level: Level, curve: Curve) -> float:
    """Return the level for a curve as a number; nan if there is none."""
    if level is None:
        return math.nan
    return curve.chance if level == "chance" else level


def about(placed: Places, scale: Scale) -> Iterator[str]:
    """Yield notes on the horizontal axis, on skipped suites, and on unfinished runs."""
    logarithmic = ", logarithmic" if scale == "log" else ""
    yield f"Horizontal axis: {placed.title}, {placed.source}{logarithmic}."
    _, skipped = suites_of(placed.points)
    if skipped:
        more = " ..." if len(skipped) > 5 else ""
        yield f"Skipped suites, not in all runs with the same content: {', '.join(skipped[:5])}{more}."
    if unfinished := [point.model for point in placed.points if not point.run.done]:
        yield f"Unfinished runs, whose items without results are skipped: {', '.join(unfinished)}."


def whole(at: float) -> int | float:
    """Round a position for display: integers lose the decimal point, and numbers of 1000 or more become integers."""
    return round(at) if at == round(at) or at >= 1000 else at


def whole_draws(*curves: Curve) -> NDArray[np.bool_]:
    """Return whether each draw has a value at every position of the curves that has values. Shape (draws,).

    The other draws have no defined item at some position, and are not used for numbers about whole curves.
    """
    draws = np.hstack([curve.draws for curve in curves])
    missing = np.isnan(draws)
    complete: NDArray[np.bool_] = missing[:, ~missing.all(axis=0)].sum(axis=1) == 0
    return complete


def suites_of(points: Sequence[Point]) -> tuple[list[str], list[str]]:
    """Return the suites with the same content in all runs, and the other suites.

    Raises:
        RunError: there is no such suite.
    """
    hashes = [{suite.name: suite.hash for suite in point.run.suites} for point in points]
    names = list(dict.fromkeys(name for suites in hashes for name in suites))
    shared = [name for name in names if len({suites.get(name) for suites in hashes}) == 1]
    if not shared:
        raise RunError(points[0].run.place, "no suite has the same content in all runs", "at least one")
    return shared, [name for name in names if name not in shared]


def _groups(run: Run, shared: Sequence[str], by: str, measure: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for suite in run.suites:
        label = {"": "all suites", "suite": suite.name}.get(by) or suite.group(by)
        if suite.name in shared and suite.predictions_for(measure) and label:
            groups.setdefault(label, []).append(suite.name)
    return groups


def _matrices(points: Sequence[Point], suites: Sequence[str], measure: str) -> dict[str, NDArray[np.float64]]:
    """Return the values of each suite's items under each run. Shapes (items, runs)."""
    tables = []
    for point in points:
        chosen: Mapping[str, Sequence[str]] = {
            name: names for name, names in predictions(point.run, measure).items() if name in suites
        }
        verdicts = score.verdicts(point.run.results(), chosen, measure)
        tables.append(matching.numbered(verdicts.select("suite", "item", "value"), "suite"))
    matrices = {}
    for suite in suites:
        sides = [
            table.filter(pl.col("suite") == suite).drop("suite").rename({"value": f"{k}"})
            for k, table in enumerate(tables)
        ]
        joined = sides[0]
        for side in sides[1:]:
            joined = joined.join(side, on=_ITEM, how="full", coalesce=True, maintain_order="left_right")
        columns = [pl.col(f"{k}").fill_null(np.nan) for k in range(len(points))]
        matrices[suite] = joined.select(columns).to_numpy().astype(np.float64)
    return matrices


def _group(
    matrices: Sequence[NDArray[np.float64]], suites: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Return scores (runs,), their bootstrap draws (draws, runs) and numbers of defined items (runs,) of a group of suites."""
    means = np.array([_means(matrix) for matrix in matrices])
    defined = np.array([(~np.isnan(matrix)).sum(axis=0) for matrix in matrices])
    # A single item can't be resampled: it stays constant beside larger suites.
    drawn = [
        np.where(count == 1, mean, bootstrap.column_means(matrix, suite, DRAWS))
        for matrix, suite, mean, count in zip(matrices, suites, means, defined, strict=True)
    ]
    draws: NDArray[np.float64] = np.mean(drawn, axis=0)
    draws[:, (defined < 2).all(axis=0)] = np.nan
    return means.mean(axis=0), draws, defined.sum(axis=0)


def _means(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of each column, ignoring nan; nan for a column without other values."""
    defined = ~np.isnan(matrix)
    with np.errstate(invalid="ignore"):
        means: NDArray[np.float64] = np.where(defined, matrix, 0).sum(axis=0) / defined.sum(axis=0)
    return means


def _curve(
    series: str, group: str, suites: int, at: Sequence[float], values: NDArray[np.float64], draws: NDArray[np.float64],
    counts: NDArray[np.int64], chance: Sequence[float],
) -> Curve:  # fmt: skip
    places = sorted(set(at))
    at_place = [[k for k, position in enumerate(at) if position == place] for place in places]
    draws_at_place = np.array([draws[:, ks].mean(axis=1) for ks in at_place]).T
    low, high = bootstrap.column_intervals(draws_at_place)
    return Curve(
        series, group, suites, tuple(places),
        np.array([values[ks].mean() for ks in at_place]),
        low, high,
        tuple(map(len, at_place)), tuple(int(counts[ks].min()) for ks in at_place),
        draws_at_place, (np.asarray(at, np.float64), values), float(np.mean(chance)),
    )  # fmt: skip
