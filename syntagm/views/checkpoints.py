"""Series of checkpoints: their positions, from training records, from names, or given by the user, and their curves of scores.

x=step      training steps, from names with step3000, step_3000 or checkpoint-3000
x=words     training words, from the records of a controlled experiment (folder `perplexity` next to `runs`), or from
            names with 10M or chck_100M
x=tokens    training tokens, from `training.json` of such an experiment, or from names with 2B or 300B
x=size      parameters, from names with 70m or 1.4b
x=1e6,1e7   numbers in the order of the runs; or NAME=NUMBER pairs by folder or model, separated by commas
"""

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray

from syntagm.core import Reader, UsageError
from syntagm.evaluation import Kind, unseen
from syntagm.runs import Run, group_of, named, tags, trained_on
from syntagm.stats import bootstrap, in_words, interval, suite_intervals
from syntagm.views.drawing.text import IN_FIGURE, MOST, remarks
from syntagm.views.estimates import TAGS, chance_of_suite, shared_kind, shared_suites, values_of
from syntagm.views.options import Named

AXES = ("step", "words", "tokens", "size")
TITLES = {
    "step": "training steps",
    "words": "words of training text",
    "tokens": "tokens of training",
    "size": "parameters",
}
X = Annotated[
    str, "`step`, `words`, `tokens`, `size`, or numbers in the order of the runs; default: the first known for all runs"
]
Names = Annotated[tuple[str, ...], "name of the curve of each run, in the order of the runs, separated by commas"]
_STEP = re.compile(r"(?:step|checkpoint|global_step)[-_= ]?(\d+)", re.IGNORECASE)
_AMOUNT = re.compile(r"(?<![A-Za-z0-9.])(?:chck_)?(\d+(?:\.\d+)?)([kmbt])(?![A-Za-z0-9])", re.IGNORECASE)
_TIMES = {"k": 1e3, "m": 1e6, "b": 1e9, "t": 1e12}
_HASH = re.compile(r"@[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True)
class Point:
    """A run with its position in a series."""

    model: str  # the name of the model
    run: Run
    series: str  # the name of the curve
    at: float  # the position: steps, words, tokens or size


@dataclass(frozen=True, slots=True)
class Places:
    """Runs with their positions."""

    points: list[Point]  # one point for each run
    title: str  # the unit of the positions, for example "training steps"
    source: str  # the source of the positions


def places(runs: Sequence[Run], x: str = "", series: Sequence[str] = ()) -> Places:
    # `series` names the curve of each run. The default is the model family in a controlled experiment, otherwise
    # the name of the model without the number.
    positions = _from_option(runs, x) if x and x not in AXES else _from_runs(runs, x)
    labels = list(series) or [_with_group(run, label) for run, (_, label) in zip(runs, positions.places, strict=True)]
    if len(labels) != len(runs):
        raise UsageError("series=", f"{len(labels)} names", f"{len(runs)}, one for each run, separated by commas")
    points = [
        Point(model, run, label, at)
        for (model, run), label, (at, _) in zip(named(runs), labels, positions.places, strict=True)
    ]
    return Places(points, positions.title, positions.source)


@dataclass(frozen=True, slots=True)
class _Positions:
    places: list[tuple[float, str]]
    title: str
    source: str


def _from_option(runs: Sequence[Run], x: str) -> _Positions:
    unit, colon, rest = x.partition(":")
    title, listed = (TITLES[unit], rest) if colon and unit in AXES else ("x", x)
    parts = [text.strip() for text in listed.split(",")]
    pairs = dict(text.rsplit("=", 1) for text in parts if "=" in text)
    if pairs:
        parts = [pairs.get(run.label, pairs.get(run.model, "")) for run in runs]
    try:
        numbers = [float(text.replace("_", "")) for text in parts]
    except ValueError:
        numbers = []
    if len(numbers) != len(runs) or not all(0 <= number < float("inf") for number in numbers):
        expected = f"{len(runs)} numbers, NAME=NUMBER for each run, or one of " + ", ".join(AXES)
        raise UsageError("x=", repr(x), expected)
    return _Positions([(at, _without_digits(run)) for at, run in zip(numbers, runs, strict=True)], title, "as given")


def _from_runs(runs: Sequence[Run], x: str) -> _Positions:
    unknown = ""
    for unit in [x] if x else AXES:
        places = [_position(run, unit) for run in runs]
        known = [position for position in places if position is not None]
        if len(known) == len(runs):
            recorded = unit in ("words", "tokens") and all(trained_on(run, unit) for run in runs)
            source = "from the records of the experiment" if recorded else "read from the names"
            return _Positions(known, TITLES[unit], source)
        unknown = unknown or next(run.label for run, position in zip(runs, places, strict=True) if position is None)
    option = f"x={x}" if x else "x="
    raise UsageError(option, f"unknown for {unknown}", "x=NUMBER,NUMBER,... in the order of the runs")


def _position(run: Run, unit: str) -> tuple[float, str] | None:
    if unit == "step":
        return _in_name(run, _STEP, lambda match: float(match[1]))
    recorded = trained_on(run, unit) if unit in ("words", "tokens") else None
    return recorded or _in_name(run, _AMOUNT, lambda match: float(match[1]) * _TIMES[match[2].lower()])


def _in_name(run: Run, pattern: re.Pattern[str], number: Callable[[re.Match[str]], float]) -> tuple[float, str] | None:
    """Return the position in the name of the model or of the folder, and the name of the series; None if there is none."""
    # A series has the name that the run was given, without the number. If that name has no such number, it is the name
    # with the number.
    for name in (run.model, run.label):
        if match := pattern.search(name):
            at, given = number(match), pattern.search(run.name)
            if given and number(given) == at:
                name, match = run.name, given
            rest = _HASH.sub("", name[: match.start()] + name[match.end() :])
            return at, rest.strip("-_@/:=, ") or run.model.partition(":")[0]
    return None


def _with_group(run: Run, label: str) -> str:
    """Return the name of a series after that of its group, so that models of different groups stay apart."""
    group = group_of(run.name)
    return label if label.startswith(group) else f"{group}: {label}"


def _without_digits(run: Run) -> str:
    return re.sub(r"[-_]?\d+", "", _HASH.sub("", run.model)).strip("-_@/:= ") or "series"


_ITEM = ("item", "occurrence")


By = Annotated[str, Named("a tag of the suites, or `suite`; default: all suites together", tags, ("suite", ""))]
Panels = Annotated[
    str,
    Named(
        f"a tag of the suites, `suite`, or `auto`: the first of {', '.join(TAGS)} that suites have; empty, or without any: "
        "all suites together",
        tags,
        ("suite", "auto", ""),
    ),
]
Scale = Annotated[Literal["log", "linear"], "scale of the horizontal axis"]
Level = float | Literal["chance"] | None


def read_level(text: str) -> Level:
    """Read a level from text: a number, `chance`, or None if empty."""
    if text == "chance" or not text:
        return "chance" if text else None
    try:
        return float(text)
    except ValueError:
        raise UsageError("level=", repr(text), "a number, or 'chance'") from None


AtLevel = Annotated[Level, Reader("a level to reach: a number, for example human accuracy, or `chance`", read_level)]


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The score of a group of suites along a series of checkpoints. Runs with the same position are averaged."""

    series: str
    group: str
    suites: int  # the number of suites
    at: tuple[float, ...]  # the positions (steps, words, tokens or size), ascending. Shape (places,).
    values: NDArray[np.float64]  # `values`, `low`, `high`: the scores and their 95% intervals. Shape (places,).
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    sd: NDArray[np.float64]
    # `runs`, `n`: the number of runs at each position, and the smallest number of defined items among them
    runs: tuple[int, ...]
    n: tuple[int, ...]
    draws: NDArray[np.float64]  # the bootstrap distribution of the scores. Shape (draws, places).
    units: int  # the number of units that the bootstrap resamples
    method: str  # the bootstrap, and the units
    each: tuple[NDArray[np.float64], NDArray[np.float64]]  # position and score of each run, for slopes. Shapes (runs,).
    chance: float  # the score by chance; nan if unknown
    kind: Kind  # the kind of the values whose means the scores are
    remarks: tuple[tuple[str, ...], ...] = ()  # the remarks on the score at each position. Shape (places,).


def score_curves(points: Sequence[Point], by: str = "", measure: str = "first") -> list[Curve]:
    """Compute a curve for each series and group of suites; groups are in the order of their first suite."""
    # Scores are unweighted means over the suites with the same content in all runs. Their intervals are those of any
    # score; where several runs have one position, runs are random, too. For crossings and areas, the bootstrap resamples
    # the same suites (or items) everywhere, so that differences between checkpoints and between series are paired.
    shared, _ = shared_suites([point.run for point in points])
    groups = _groups(points[0].run, shared, by, measure)
    if not groups:
        raise UsageError("by=", f"no suite in all runs has {by or measure!r}", "a tag of the suites, or 'suite'")
    matrices = values_of(
        [point.run for point in points], [suite for suites in groups.values() for suite in suites], measure
    )
    kind = shared_kind([point.run for point in points], measure)
    computed = []
    for group, suites in groups.items():
        of_group = {suite: matrices[suite] for suite in suites}
        chance = [chance_of_suite(points[0].run.suite(suite), measure).value for suite in suites]
        for series in dict.fromkeys(point.series for point in points):
            places = [k for k, point in enumerate(points) if point.series == series]
            at = [points[k].at for k in places]
            computed.append(_curve(series, group, at, places, of_group, chance, kind))
    return computed


def curves_of(
    runs: Sequence[Run], x: str, series: Sequence[str], by: str, measure: str, scale: Scale
) -> tuple[Places, list[Curve]]:
    placed = places(runs, x, series)
    if scale == "log" and (zero := [point.model for point in placed.points if not point.at > 0]):
        raise UsageError("x=", f"0 on a logarithmic scale, {zero[0]}", "numbers above 0, or scale=linear")
    return placed, score_curves(placed.points, by, measure)


def panels_by(runs: Sequence[Run], by: str) -> str:
    """Return the tag by which suites are grouped: that of an option, of which `auto` is the first that shared suites have."""
    if by != "auto":
        return by
    shared, _ = shared_suites(runs)
    suites = [suite for suite in runs[0].suites if suite.name in shared]
    return next((tag for tag in TAGS if any(suite.group(tag) for suite in suites)), "")


def level_of(level: Level, curve: Curve) -> float:
    """Return the level for a curve as a number; nan if there is none."""
    if level is None:
        return math.nan
    return curve.chance if level == "chance" else level


def about(placed: Places, scale: Scale) -> Iterator[str]:
    """Yield notes on the horizontal axis, on skipped suites, and on unfinished runs."""
    logarithmic = ", logarithmic" if scale == "log" else ""
    yield f"Horizontal axis: {placed.title}, {placed.source}{logarithmic}."
    _, skipped = shared_suites([point.run for point in placed.points])
    if skipped:
        more = " ..." if len(skipped) > 5 else ""
        yield f"Skipped suites, not in all runs with the same content: {', '.join(skipped[:5])}{more}."
    if unfinished := [point.model for point in placed.points if not point.run.done]:
        yield f"Unfinished runs, whose items without results are skipped: {', '.join(unfinished)}."


def intervals(curves: Sequence[Curve]) -> Iterator[str]:
    """Yield notes on the intervals of curves and of the numbers computed from them."""
    yield in_words.over_suites() + (
        " Where several runs have one position, they are for other runs, too; elsewhere not for other training runs."
    )
    yield from _remarks(curves)
    methods = dict.fromkeys(curve.method for curve in curves)
    yield f"Intervals of positions, areas and mean heights: {'; '.join(methods)}."


def limits(curves: Sequence[Curve]) -> tuple[str, ...]:
    """Return what limits the scores of a figure as sentences: remarks, and what intervals for other suites don't know."""
    return (*_remarks(curves, IN_FIGURE), *([unseen("suites")] if _over_random_suites(curves) else []))


def _over_random_suites(curves: Sequence[Curve]) -> bool:
    return bootstrap.current().suites == "random" and max(curve.suites for curve in curves) > 1


def _remarks(curves: Sequence[Curve], most: int = MOST) -> tuple[str, ...]:
    named = (
        (f"{curve.group}, {curve.series} at {at:,.10g}", found)
        for curve in curves
        for at, found in zip(curve.at, curve.remarks, strict=False)
    )
    return remarks(named, most)


def band(curves: Sequence[Curve]) -> str:
    """Say what the intervals of the scores are for."""
    several = max(max(curve.runs) for curve in curves) > 1
    if not _over_random_suites(curves):
        units = "other items"
    else:
        units = "other suites" + (" (of one suite: other items)" if min(curve.suites for curve in curves) == 1 else "")
    return f"95% interval, for {units}" + (" and training runs, where there are several" if several else "")


def whole(at: float) -> int | float:
    """Round a position for display: integers lose the decimal point, and numbers of 1000 or more become integers."""
    return round(at) if at == round(at) or at >= 1000 else at


def whole_draws(*curves: Curve) -> NDArray[np.bool_]:
    """Return whether each draw has a value at every position of the curves that has values. Shape (draws,)."""
    # The other draws have no defined item at some position, and are not used for numbers about whole curves.
    draws = np.hstack([curve.draws for curve in curves])
    missing = np.isnan(draws)
    complete: NDArray[np.bool_] = missing[:, ~missing.all(axis=0)].sum(axis=1) == 0
    return complete


def _groups(run: Run, shared: Sequence[str], by: str, measure: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for suite in run.suites:
        label = {"": "all suites", "suite": suite.name}.get(by) or suite.group(by)
        if suite.name in shared and suite.predictions_for(measure) and label:
            groups.setdefault(label, []).append(suite.name)
    return groups


def _curve(
    series: str, group: str, at: Sequence[float], runs: Sequence[int],
    matrices: Mapping[str, NDArray[np.float64]], chance: Sequence[float], kind: Kind,
) -> Curve:  # fmt: skip
    places = sorted(set(at))
    at_place = [[k for k, position in enumerate(at) if position == place] for place in places]
    # A copy of the values of many models would take much memory.
    whole = list(runs) == list(range(next(iter(matrices.values())).shape[1]))
    own = matrices if whole else {suite: matrix[:, runs] for suite, matrix in matrices.items()}
    values = np.mean([interval.means(matrix, 0) for matrix in own.values()], axis=0)
    counts = np.sum([(~np.isnan(matrix)).sum(axis=0) for matrix in own.values()], axis=0)
    intervals = [
        suite_intervals.over_models({suite: matrix[:, ks] for suite, matrix in own.items()}, kind) for ks in at_place
    ]
    draws, units, method = _draws(own, at_place, series, group)
    return Curve(
        series, group, len(own), tuple(places),
        np.array([values[ks].mean() for ks in at_place]),
        np.array([found.low for found in intervals]), np.array([found.high for found in intervals]),
        np.array([values[ks].std(ddof=1) if len(ks) > 1 else np.nan for ks in at_place]),
        tuple(map(len, at_place)), tuple(int(counts[ks].min()) for ks in at_place),
        draws, units, method, (np.asarray(at, np.float64), values), float(np.mean(chance)), kind,
        tuple(found.remarks for found in intervals),
    )  # fmt: skip


def _draws(
    matrices: Mapping[str, NDArray[np.float64]], at_place: Sequence[Sequence[int]], series: str, group: str
) -> tuple[NDArray[np.float64], int, str]:
    """Return bootstrapped scores (draws, places), the number of resampled units, and the method."""
    resampling = bootstrap.current()
    if len(matrices) > 1 and resampling.suites == "random":
        units, names = len(matrices), "suites"
        scores = (
            bootstrap.counts(units, group)
            @ np.array([interval.means(matrix, 0) for matrix in matrices.values()])
            / units
        )
    else:
        units, names = max(map(len, matrices.values())), "items" if len(matrices) == 1 else "items within suites"
        scores = np.mean([_of_items(matrix, suite) for suite, matrix in matrices.items()], axis=0)
    draws = np.empty((resampling.draws, len(at_place)))
    for place, ks in enumerate(at_place):
        weights = bootstrap.counts(len(ks), f"{series}/{group}/{place}") / len(ks)
        draws[:, place] = (scores[:, ks] * weights).sum(axis=1)
    runs = ", runs" if max(map(len, at_place)) > 1 else ""
    return draws, units, f"{resampling.method(names + runs, units)}; the same draws at all positions"


def _of_items(matrix: NDArray[np.float64], suite: str) -> NDArray[np.float64]:
    """Return bootstrapped means of each column without nan. Shape (draws, columns)."""
    defined = ~np.isnan(matrix)
    counts = bootstrap.counts(len(matrix), suite)
    with np.errstate(invalid="ignore"):
        sampled = (counts @ np.where(defined, matrix, 0.0)) / (counts @ defined)
    # A single item can't be resampled: it stays constant beside larger suites.
    means: NDArray[np.float64] = np.where(defined.sum(axis=0) == 1, interval.means(matrix, 0), sampled)
    return means
