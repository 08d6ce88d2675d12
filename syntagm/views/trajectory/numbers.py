"""Runs of checkpoints as series: which run stands at which step, words, tokens or size, and the score of each group of suites.

Scores are unweighted means over suites, by suites that all runs have with the same content. Items are redrawn alike at all
checkpoints and in all series, so that differences between places are paired.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import RunError, UsageError
from syntagm.runs.store import Run
from syntagm.stats import bootstrap, matching, score
from syntagm.stats.bootstrap import SEED
from syntagm.views.options import Reader
from syntagm.views.scores.numbers import chance_of_suite, predictions
from syntagm.views.trajectory.places import Places, Point, places

# Curves need fewer draws than a number in a table: the ends move by about a hundredth of the width.
DRAWS = 2000
METHOD = f"bootstrap(items within suites, {DRAWS}, seed {SEED}), the same draws at all places"
_ITEM = ("item", "occurrence")


# Options of the views that show curves.
By = Annotated[str, "a tag of the suites, or `suite`; all suites together unless given"]
Scale = Annotated[Literal["log", "linear"], "how places are counted"]
Level = float | Literal["chance"] | None


def read_level(text: str) -> Level:
    """Read the level that an option asks for: a number, `chance`, or none if empty.

    Raises:
        UsageError: it is neither.
    """
    if text == "chance" or not text:
        return "chance" if text else None
    try:
        return float(text)
    except ValueError:
        raise UsageError("level=", repr(text), "a number, or chance") from None


AtLevel = Annotated[Level, Reader("a level to reach: a number, say that of people, or `chance`", read_level)]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The score of a group of suites along a series; of several runs at one place their mean.

    Arguments:
        at, values, low, high: shape (places,), the places ascending.
        runs, n: how many runs at each place, and the least number of defined items among them.
        draws: the scores with items redrawn. Shape (draws, places).
        each: place and score of each run, for slopes. Shapes (runs,).
        chance: what chance gives in the group; nan if that isn't known.
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
    """A curve a series and group, groups in the order of their first suite.

    Arguments:
        by: a tag of the suites: a group a value; a suite alone if "suite"; all suites together if empty.
        measure: "first", "all" or the name of a prediction.

    Raises:
        RunError: the runs share no suite with results.
        UsageError: no shared suite has the tag or the measure.
    """
    shared, _ = suites_of(points)
    groups = _groups(points[0].run, shared, by, measure)
    if not groups:
        raise UsageError("by=", f"no suite that all runs share has {by or measure!r}", "a tag of theirs, or suite")
    matrices = _matrices(points, [suite for suites in groups.values() for suite in suites], measure)
    found = []
    for group, suites in groups.items():
        values, draws, counts = _group([matrices[suite] for suite in suites], suites)
        chance = [chance_of_suite(points[0].run.suite(suite), measure).value for suite in suites]
        for series in dict.fromkeys(point.series for point in points):
            places = [k for k, point in enumerate(points) if point.series == series]
            at = [points[k].at for k in places]
            found.append(
                _curve(series, group, len(suites), at, values[places], draws[:, places], counts[places], chance)
            )
    return found


def curves_of(
    runs: Sequence[Run], x: str, series: Sequence[str], by: str, measure: str, scale: Scale
) -> tuple[Places, list[Curve]]:
    """Put the runs at their places and make the curves; arguments are the options of the view.

    Raises:
        UsageError: a place that isn't known, or a place 0 on a logarithmic scale.
    """
    found = places(runs, x, series)
    if scale == "log" and (zero := [one.model for one in found.points if not one.at > 0]):
        raise UsageError("x=", f"0 on a logarithmic scale, {zero[0]}", "places above 0, or scale=linear")
    return found, curves(found.points, by, measure)


def level_of(level: Level, curve: Curve) -> float:
    """Find the level of a curve; nan if none is asked for."""
    if level is None:
        return math.nan
    return curve.chance if level == "chance" else level


def about(found: Places, scale: Scale) -> Iterator[str]:
    """Say what is counted, and the suites that are left out."""
    scaled = ", by logarithm" if scale == "log" else ""
    yield f"Places: {found.title}, {found.source}{scaled}."
    _, left_out = suites_of(found.points)
    if left_out:
        more = " ..." if len(left_out) > 5 else ""
        yield f"Left out, not in all runs with the same content: {', '.join(left_out[:5])}{more}."
    if unfinished := [one.model for one in found.points if not one.run.done]:
        yield f"Not finished, items without results are left out: {', '.join(unfinished)}."


def whole(at: float) -> int | float:
    """Write a place as people do: whole numbers without a point, and large ones rounded to them."""
    return round(at) if at == round(at) or at >= 1000 else at


def whole_draws(*found: Curve) -> NDArray[np.bool_]:
    """Which draws have a value at every place at which the curves have values. Shape (draws,).

    The others have no defined item at one of the places: numbers of whole curves leave them out.
    """
    drawn = np.hstack([one.draws for one in found])
    missing = np.isnan(drawn)
    whole: NDArray[np.bool_] = missing[:, ~missing.all(axis=0)].sum(axis=1) == 0
    return whole


def suites_of(points: Sequence[Point]) -> tuple[list[str], list[str]]:
    """The suites that all runs have with the same content, and the others.

    Raises:
        RunError: there is none.
    """
    hashes = [{suite.name: suite.hash for suite in point.run.suites} for point in points]
    names = list(dict.fromkeys(name for one in hashes for name in one))
    shared = [name for name in names if len({one.get(name) for one in hashes}) == 1]
    if not shared:
        raise RunError(points[0].run.place, "no suite that all runs have with the same content", "at least one")
    return shared, [name for name in names if name not in shared]


def _groups(run: Run, shared: Sequence[str], by: str, measure: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for suite in run.suites:
        label = {"": "all suites", "suite": suite.name}.get(by) or suite.tags.get(by, "")
        if suite.name in shared and suite.predictions_for(measure) and label:
            groups.setdefault(label, []).append(suite.name)
    return groups


def _matrices(points: Sequence[Point], suites: Sequence[str], measure: str) -> dict[str, NDArray[np.float64]]:
    """For each suite the values of its items under each run. Shapes (items, runs)."""
    tables = []
    for point in points:
        named: Mapping[str, Sequence[str]] = {
            name: one for name, one in predictions(point.run, measure).items() if name in suites
        }
        found = score.verdicts(point.run.results(), named, measure)
        tables.append(matching.numbered(found.select("suite", "item", "value"), "suite"))
    made = {}
    for suite in suites:
        sides = [
            one.filter(pl.col("suite") == suite).drop("suite").rename({"value": f"{k}"}) for k, one in enumerate(tables)
        ]
        joined = sides[0]
        for side in sides[1:]:
            joined = joined.join(side, on=_ITEM, how="full", coalesce=True, maintain_order="left_right")
        columns = [pl.col(f"{k}").fill_null(np.nan) for k in range(len(points))]
        made[suite] = joined.select(columns).to_numpy().astype(np.float64)
    return made


def _group(
    matrices: Sequence[NDArray[np.float64]], suites: Sequence[str]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Scores (runs,), scores redrawn (draws, runs) and defined items (runs,) of a group of suites."""
    means = np.array([_means(one) for one in matrices])
    defined = np.array([(~np.isnan(one)).sum(axis=0) for one in matrices])
    # A single item can't be redrawn: it stays as it is, beside suites of more.
    drawn = [
        np.where(many == 1, mean, bootstrap.column_means(one, suite, DRAWS))
        for one, suite, mean, many in zip(matrices, suites, means, defined, strict=True)
    ]
    draws: NDArray[np.float64] = np.mean(drawn, axis=0)
    draws[:, (defined < 2).all(axis=0)] = np.nan
    return means.mean(axis=0), draws, defined.sum(axis=0)


def _means(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean of each column, nan left out; nan where nothing else is."""
    defined = ~np.isnan(matrix)
    with np.errstate(invalid="ignore"):
        found: NDArray[np.float64] = np.where(defined, matrix, 0).sum(axis=0) / defined.sum(axis=0)
    return found


def _curve(
    series: str, group: str, suites: int, at: Sequence[float], values: NDArray[np.float64], draws: NDArray[np.float64],
    counts: NDArray[np.int64], chance: Sequence[float],
) -> Curve:  # fmt: skip
    places = sorted(set(at))
    at_place = [[k for k, one in enumerate(at) if one == place] for place in places]
    drawn = np.array([draws[:, ks].mean(axis=1) for ks in at_place]).T
    low, high = bootstrap.column_intervals(drawn)
    return Curve(
        series, group, suites, tuple(places),
        np.array([values[ks].mean() for ks in at_place]),
        low, high,
        tuple(map(len, at_place)), tuple(int(counts[ks].min()) for ks in at_place),
        drawn, (np.asarray(at, np.float64), values), float(np.mean(chance)),
    )  # fmt: skip
