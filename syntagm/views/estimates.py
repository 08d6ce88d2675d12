"""Estimates of a run: the accuracy of each suite and measure, scores over suites, and chance levels."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import FormulaError, RunError, UsageError, public
from syntagm.evaluation import Chance, Estimate, Kind, SuiteRecord, chance_level
from syntagm.runs import TIES, Run, by_suite, named, run_of, tie_value, whole
from syntagm.stats import Resampling, matching, score, using
from syntagm.suites import parse
from syntagm.views import gaps
from syntagm.views.drawing.table import Listing, Table, cells

_NUMBERS = ("value", "low", "high", "n", "ties", "undefined")
TAGS = ("circuit", "phenomenon", "field", "linguistics_term")
LANGUAGE = "language"


@public(name="estimate")
def estimates(run: Run | str | Path, resampling: Resampling | None = None) -> Listing[Estimate]:
    """Compute all accuracies, the score over all suites, and the score of each group of suites (`grouping`).

    The groups of the estimates differ. An accuracy has a suite and a measure, a score over suites has a rule, and a
    score over the suites with one value of a tag has a rule and a label.

    Arguments:
        run: the run, or its run directory.
        resampling: which units are random; see `stats.bootstrap.Resampling`.
    """
    run = run_of(run)
    with using(resampling):
        computed = [*accuracies(run), *scores(run)]
        for tag in grouping_tags([run]):
            computed += scores(run, "first", tag)
    return Listing(computed, tabulated)


def tabulated(estimates: Sequence[Estimate]) -> Table:
    """Return estimates as a table, without the columns that would be empty."""
    groups = [estimate.group for estimate in estimates]
    names = dict.fromkeys(name for group in groups for name, _ in (*group.labels, *group.counts))
    about = ("model", "suite", "measure", "rule")
    rows = [
        {name: getattr(estimate.group, name) for name in about}
        | dict(estimate.group.labels)
        | dict(estimate.group.counts)
        | dict(zip(_NUMBERS, cells(estimate), strict=True))
        | {"method": estimate.method}
        for estimate in estimates
    ]
    columns = [name for name in (*about, *names) if any(row.get(name, "") != "" for row in rows)]
    columns += [*_NUMBERS, "method"]
    return Table("Estimates", tuple(columns), tuple(tuple(row.get(name, "") for name in columns) for row in rows))


def accuracies(run: Run, rule: str = "") -> list[Estimate]:
    computed = score.accuracies(tally(run, rule), run.kind)
    if not gaps.over_gaps(run):
        return computed
    # The intervals of fill runs know contexts and lemmas.
    of_gaps = {(estimate.group.suite, estimate.group.measure): estimate for estimate in gaps.estimates(run)}
    estimates = []
    for estimate in computed:
        suite, measure = estimate.group.suite, estimate.group.measure
        same = of_gaps[suite, next(iter(run.suite(suite).predictions_for(measure)), measure)]
        estimates.append(replace(estimate, low=same.low, high=same.high, method=same.method, remarks=same.remarks))
    return estimates


def tally(run: Run, rule: str = "") -> pl.DataFrame:
    refuse_conjunction(run, rule)
    return run.tally(rule)


def verdicts(run: Run, rule: str, suite: str | None = None) -> pl.DataFrame:
    selected = predictions(run, rule)
    of_suite = selected if suite is None else {suite: selected[suite]}
    return score.verdicts(run.results(suite), of_suite, rule)


def scores(run: Run, rule: str = "first", tag: str = "", names: Collection[str] | None = None) -> list[Estimate]:
    """Compute the mean accuracy over all suites, or over the suites with each value of a tag."""
    chosen = [suite for suite in run.suites if names is None or suite.name in names]
    labels = {suite.name: label for suite in chosen if (label := suite.group(tag))} if tag else None
    return score.scores(tally(run, rule), predictions(run, rule), run.kind(rule), rule, tag, labels)


def called(name: str, estimates: Sequence[Estimate]) -> list[Estimate]:
    """Return estimates of one model under the name that it has beside others (`runs.several.named`)."""
    return [replace(estimate, group=replace(estimate.group, model=name)) for estimate in estimates]


def of_models(runs: Sequence[Run], rule: str = "first", tag: str = "") -> Iterator[tuple[Run, Estimate]]:
    """Yield the scores of runs, each with its run; the names of the models in their groups are distinct."""
    for name, run in named(runs):
        for estimate in called(name, scores(run, rule, tag)):
            yield run, estimate


@dataclass(frozen=True, slots=True)
class Ties:
    """The ties of pairs of sentences, and the score if they counted otherwise."""

    ties: int  # `ties`, `pairs`: how many of how many pairs tie
    pairs: int
    tie: float  # the value of a tie: 0, 0.5 or 1
    score: float  # the mean accuracy over suites
    otherwise: float  # the same if ties counted as hits, or as failures if they are hits

    def __str__(self) -> str:
        others = TIES[0.0 if self.tie == 1 else 1.0]
        tools = "" if self.tie else ", as lm-evaluation-harness counts them, and BabyLM until April 2026"
        return (
            f"{self.ties:,} of {self.pairs:,} pairs of sentences tie and count as {TIES[self.tie]}: "
            f"mean accuracy {self.score:.4f}. If they counted as {others}{tools}, it would be {self.otherwise:.4f}"
        )


def ties_of_pairs(run: Run) -> Ties | None:
    """Count the ties of the first predictions that compare two whole sentences; None if there are none."""
    # Suites without such a prediction are left out of both means. If ties count otherwise in some suites, there is no
    # other way.
    means, others, ties, pairs = list[float](), list[float](), 0, 0
    conventions = by_suite(run)
    values = {tie_value(conventions[suite.name]) for suite in run.suites}
    for suite in run.suites if len(values) == 1 and run.task.conjoins else ():
        first = suite.predictions_for("first")
        if not set(first) & whole(run, suite.name).keys():
            continue
        rows = run.results(suite.name).filter(pl.col("measure").is_in(first) & pl.col("value").is_not_nan())
        tied = rows["margin"].abs() <= run.tolerance
        if len(rows):
            ties, pairs = ties + int(tied.sum()), pairs + len(rows)
            means.append(float(rows["value"].to_numpy().mean()))
            turned = rows.select(pl.when(tied).then(float(values != {1.0})).otherwise("value")).to_series()
            others.append(float(turned.to_numpy().mean()))
    return Ties(ties, pairs, values.pop(), sum(means) / len(means), sum(others) / len(others)) if ties else None


def grouping_tags(runs: Sequence[Run]) -> list[str]:
    """Return the tags in `TAGS` that suites have, omitting a tag whose groups are among those of an earlier one."""
    # Languages are a grouping if there are several.
    chosen: dict[frozenset[tuple[str, str]], str] = {}
    for tag in (*TAGS, LANGUAGE):
        groups = frozenset((suite.name, label) for run in runs for suite in run.suites if (label := suite.group(tag)))
        if tag == LANGUAGE and len({label for _, label in groups}) < 2:
            continue
        if groups and not any(groups <= earlier for earlier in chosen):
            chosen[groups] = tag
    return list(chosen.values())


def mean_name(run: Run) -> str:
    """Return the name of the mean accuracy over suites: `SG score` for suites in circuits, as in Hu et al. 2020."""
    in_circuits = all("circuit" in suite.tags and "linguistics_term" not in suite.tags for suite in run.suites)
    return "SG score" if in_circuits else "mean accuracy"


def refuse_conjunction(run: Run, rule: str) -> None:
    """Refuse the rule "all" if the measures of the run are not predictions about the same items."""
    if rule == "all" and not run.task.conjoins:
        raise UsageError(
            "measure",
            "'all' for a fill run, whose measures are not predictions",
            "'first', or one of the run's measures",
        )


def chance_of(run: Run, estimate: Estimate) -> Chance:
    """Compute the chance level for an estimate of a run; for a score over suites, the mean of their chance levels."""
    group = estimate.group
    if group.suite:
        return chance_of_suite(run.suite(group.suite), group.measure)
    return chance_level.mean(
        [
            chance_of_suite(suite, group.rule)
            for suite in run.suites
            if suite.predictions_for(group.rule) and all(suite.group(tag) == value for tag, value in group.labels)
        ]
    )


def chance_of_suite(suite: SuiteRecord, rule: str) -> Chance:
    """Compute the chance level of a suite from its formulas; nan if unknown, with the reason as method."""
    if not (selected := suite.predictions_for(rule)):
        return chance_level.unknown(f"no chance level: {suite.name} has no prediction {rule}")
    formulas = [suite.predictions[name] for name in selected]
    if not all(formulas):
        return chance_level.unknown("no chance level: a measure without a formula")
    return _chance(tuple(formulas))


@lru_cache(maxsize=1024)
def _chance(formulas: tuple[str, ...]) -> Chance:
    try:
        return chance_level.known(*map(parse, formulas))
    except FormulaError as error:  # records are untrusted input
        return chance_level.unknown(f"no chance level: {error}")


def predictions(run: Run, rule: str = "") -> dict[str, Sequence[str]]:
    """Map each suite to the names of its predictions in order, or of those that a rule selects."""
    return {suite.name: suite.predictions_for(rule) for suite in run.suites}


def panel_tag(runs: Sequence[Run]) -> str:
    """Return the tag that divides the suites of a view: the first in `grouping` with fewer values than suites, or ""."""
    records = {suite.name: suite for run in runs for suite in run.suites}.values()
    for tag in grouping_tags(runs):
        if 1 < len({record.group(tag) for record in records}) < len(records):
            return tag
    return ""


def mean_over_suites(kind: Kind) -> str:
    return (
        "mean accuracy over suites (first prediction)" if kind is Kind.VERDICT else "mean over suites (first measure)"
    )


def by_group(scores: Mapping[str, Sequence[float]], groups: Mapping[str, str]) -> dict[str, list[str]]:
    """Sort suites into groups, those with the highest mean first: the groups, and the suites of each group.

    Arguments:
        scores: suite -> its score under each model; nan is ignored, and suites without a score come last.
        groups: suite -> its group.

    >>> by_group({"a": [0.1], "b": [0.9], "c": [0.6, 0.8], "d": [float("nan")]}, {"a": "x", "b": "x", "c": "y", "d": "x"})
    {'y': ['c'], 'x': ['b', 'a', 'd']}
    """

    def mean(values: Iterable[float]) -> float:
        defined = [value for value in values if value == value]
        return sum(defined) / len(defined) if defined else -1.0

    members: dict[str, list[str]] = {}
    for suite in scores:
        members.setdefault(groups[suite], []).append(suite)
    means = {group: mean(mean(scores[suite]) for suite in suites) for group, suites in members.items()}
    ordered = sorted(members, key=lambda group: -means[group])
    return {group: sorted(members[group], key=lambda suite: -mean(scores[suite])) for group in ordered}


_ITEM = ("item", "occurrence")
_EMPTY = pl.DataFrame(schema={"item": pl.String, "occurrence": pl.Int64, "value": pl.Float64})


def shared_suites(runs: Sequence[Run]) -> tuple[list[str], list[str]]:
    """Return the suites with the same content in all runs, and the other suites."""
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in runs]
    names = list(dict.fromkeys(name for suites in hashes for name in suites))
    shared = [name for name in names if len({suites.get(name) for suites in hashes}) == 1]
    if not shared:
        raise RunError(runs[0].place, "no suite has the same content in all runs", "at least one")
    return shared, [name for name in names if name not in shared]


def shared_kind(runs: Sequence[Run], measure: str) -> Kind:
    """Return the kind of the values of a measure, which must be the same in all runs that have it."""
    kinds = {run.kind(measure): run for run in runs if any(suite.predictions_for(measure) for suite in run.suites)} or {
        runs[0].kind(measure): runs[0]
    }
    if len(kinds) > 1:
        found = ", ".join(f"{kind.described} in {run.place}" for kind, run in kinds.items())
        cure = "If their conventions differ, --convention judges all by one."
        raise RunError(f"measure {measure}", found, "values of one kind in all runs", cure)
    return next(iter(kinds))


def values_of(runs: Sequence[Run], suites: Sequence[str], measure: str) -> dict[str, NDArray[np.float64]]:
    """Return the values of each suite's items under each run; nan is undefined. Shapes (items, runs)."""
    # Runs are read one after the other, so that only the values of all of them are in memory together.
    rows: dict[str, dict[tuple[Any, ...], int]] = {suite: {} for suite in suites}
    matrices = {suite: np.empty((0, len(runs))) for suite in suites}
    latest: dict[str, tuple[pl.DataFrame, NDArray[np.intp]]] = {}
    for column, run in enumerate(runs):
        chosen = {name: names for name, names in predictions(run, measure).items() if name in rows}
        verdicts = score.verdicts(run.results(), chosen, measure).select("suite", "item", "value")
        of_suite = matching.numbered(verdicts, "suite").partition_by("suite", as_dict=True)
        for suite in suites:
            table = of_suite.get((suite,), _EMPTY)
            items = table.select(_ITEM)
            # Nearly always, all runs have the same items in the same order.
            if suite not in latest or not items.equals(latest[suite][0]):
                places = [rows[suite].setdefault(item, len(rows[suite])) for item in items.iter_rows()]
                latest[suite] = items, np.array(places, np.intp)
                matrices[suite] = _grown(matrices[suite], len(rows[suite]))
            matrices[suite][latest[suite][1], column] = table["value"].to_numpy()
    return matrices


def _grown(matrix: NDArray[np.float64], rows: int) -> NDArray[np.float64]:
    """Return a matrix with nan in the rows that it lacks."""
    grown = np.full((rows, matrix.shape[1]), np.nan, order="F")
    grown[: len(matrix)] = matrix
    return grown
