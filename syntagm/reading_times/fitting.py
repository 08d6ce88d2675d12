"""Held-out fits of reading times: how much better a model predicts them with surprisal than without.

The gain of a model is the difference of the log-likelihoods of held-out rows, in nats per row (Goodkind & Bicknell 2018;
Wilcox et al. 2023). Rows aren't shuffled. Intervals are paired: they are those of the mean of the differences row by row, with
sentences (or texts, or else folds) as units, crossed with participants where there are several.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from math import isnan, nan
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, SyntagmError, UsageError, whole
from syntagm.evaluation import Kind
from syntagm.reading_times import observations as rows_of, regressions, slopes as costs
from syntagm.reading_times.observations import Added, Observations
from syntagm.reading_times.tables import Source
from syntagm.stats import Interval, cluster_intervals

KINDS = ("contiguous", "sentence", "text", "participant")
COLUMNS = ("model", "fold", "n", "loglik_baseline", "loglik", "gain")
Ints = NDArray[np.int64]
Numbers = NDArray[np.float64]


def read_folds(text: str) -> tuple[str, int]:
    """Read the option --folds: a kind and a number.

    Raises:
        UsageError: there is no such kind, or the number is not a whole number from 2.

    >>> read_folds("contiguous:10"), read_folds("sentence")
    (('contiguous', 10), ('sentence', 10))
    """
    kind, colon, number = text.partition(":")
    if kind not in KINDS:
        raise UsageError("--folds", repr(text), "one of " + ", ".join(f"{name}:K" for name in KINDS))
    return kind, whole("--folds", number, least=2) if colon else 10


def contiguous_folds(rows: int, count: int) -> Ints:
    """Cut rows into contiguous folds as R's `cut(1:n, K)` does, with its arithmetic; folds count from 1.

    The inner borders are `seq.int(1, n, length.out = K + 1)`; a row belongs to the part whose upper border it doesn't
    exceed.

    Raises:
        InputError: there are fewer rows than folds.

    >>> contiguous_folds(10, 4).tolist()
    [1, 1, 1, 2, 2, 3, 3, 4, 4, 4]
    """
    if rows < count:
        raise InputError("folds", f"{rows} complete rows", f"at least {count}, one for each fold")
    step = (float(rows) - 1.0) / count
    borders = 1.0 + np.arange(1, count, dtype=np.float64) * step
    numbers = np.arange(1, rows + 1, dtype=np.float64)
    return np.searchsorted(borders, numbers, "left").astype(np.int64) + 1


def group_folds(labels: Sequence[str], count: int, what: str) -> Ints:
    """Cut groups, such as sentences, into folds: contiguous parts of the groups in the order of their first rows.

    Arguments:
        labels: the group of each row.
        count: the number of folds.
        what: the groups, for messages.

    Raises:
        InputError: there are fewer groups than folds.

    >>> group_folds(["a", "a", "b", "c", "c", "c"], 3, "sentences").tolist()
    [1, 1, 2, 3, 3, 3]
    """
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    if len(order) < count:
        raise InputError(
            "folds",
            f"{len(order)} {what}",
            f"at least {count}, one for each fold",
            f"Use fewer folds: --folds {what.rstrip('s')}:{max(2, len(order))}.",
        )
    fold_of = contiguous_folds(len(order), count)
    found: Ints = fold_of[np.array([order[label] for label in labels])]
    return found


@dataclass(frozen=True, slots=True)
class Request:
    """What is fitted.

    Arguments:
        response: the column of the times.
        baseline: the columns of the baseline.
        added: the columns that each model adds.
        lags: the number of words before a word whose columns are predictors, too.
        model: `ols`, `loglinear`, `mixed` or `smooth`.
        folds: the kind of folds and their number.
        random: random terms, for `mixed`.
        given: role -> columns.
        where: conditions that rows must meet.
        by: a column, such as that of languages, whose values are fitted one by one; "" for one fit of all rows.
        missing: `COLUMN=NUMBER`, values that stand for missing ones.
    """

    response: str
    baseline: tuple[str, ...]
    added: tuple[Added, ...]
    lags: int = 0
    model: str = "ols"
    folds: tuple[str, int] = ("contiguous", 10)
    random: tuple[str, ...] = ()
    given: Mapping[str, tuple[str, ...]] | None = None
    where: tuple[str, ...] = ()
    by: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Gain:
    """The held-out gain of one model."""

    model: str  # its name
    folds: NDArray[np.int64]  # the fold of each row, from 1
    # `baseline`, `full`: the log density of each row under the baseline, and with the columns of the model
    baseline: Numbers
    full: Numbers
    lines: NDArray[np.int64]  # the line of each row in the file
    response: Numbers  # the time of each row
    interval: Interval  # of the mean gain
    clusters: Mapping[str, NDArray[np.int64]]  # the units of intervals: name -> the unit of each row

    @property
    def gains(self) -> Numbers:
        """The gain of each row, in nats."""
        return self.full - self.baseline

    @property
    def mean(self) -> float:
        """The mean gain per row, in nats."""
        return float(self.gains.mean())

    def by_fold(self) -> list[tuple[str, int, int, float, float, float]]:
        """List the folds: model, fold, n, the sums of log densities under both models, and the gain per row."""
        found = []
        for fold in np.unique(self.folds):
            own = self.folds == fold
            base, full, n = float(self.baseline[own].sum()), float(self.full[own].sum()), int(own.sum())
            found.append((self.model, int(fold), n, base, full, (full - base) / n))
        return found


@dataclass(frozen=True, slots=True)
class Difference:
    """The difference of the gains of two models on the same rows and folds."""

    first: str
    second: str
    value: float
    interval: Interval


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a fit.

    Arguments:
        request: what was fitted.
        gains: one for each model.
        differences: of each pair of models on the same rows.
        rows: the number of rows in the table.
        dropped: reason -> the number of rows dropped for it.
        notes: sentences about the rows and columns.
        observations: the rows of each model.
        slopes: those of each model, fitted to all rows; `left_out` has the reason where there are none.
    """

    request: Request
    gains: tuple[Gain, ...]
    differences: tuple[Difference, ...]
    rows: int
    dropped: Mapping[str, int]
    notes: tuple[str, ...]
    observations: Mapping[str, Observations]
    slopes: Mapping[str, costs.Slopes] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)

    def frame(self) -> pl.DataFrame:
        """Return the folds of all models: one row each, with the columns `COLUMNS`, and before them that of `request.by`."""
        return self._table([row for gain in self.gains for row in gain.by_fold()], COLUMNS)

    def slope_frame(self) -> pl.DataFrame:
        """Return the slopes of all models: one row each, with `slopes.COLUMNS`, and before them that of `request.by`."""
        return self._table([row for each in self.slopes.values() for row in each.cells()], costs.COLUMNS)

    def _table(self, rows: Sequence[tuple[Any, ...]], columns: Sequence[str]) -> pl.DataFrame:
        if not (by := self.request.by):
            return pl.DataFrame(rows, schema=list(columns), orient="row")
        divided = [(*row[0].partition("/")[::2], *row[1:]) for row in rows]
        return pl.DataFrame(divided, schema=[by, *columns], orient="row")


def prepare(source: Source, request: Request, excluded: pl.Series | None = None) -> dict[str, Observations]:
    """Choose the rows of each model: its name -> rows. A table with a column `model` has rows for each."""
    # With `request.by`, each value has rows of its own, and names are `VALUE/NAME`.
    grouping = regressions.grouping_columns(request.random, request.response)
    rows = rows_of.observations(
        source, request.response, request.baseline, request.added, request.lags, request.given, request.where, grouping,
        excluded, request.by, request.missing,
    )  # fmt: skip
    parts = rows_of.by_value(rows) if request.by else {"": rows}
    found: dict[str, Observations] = {}
    for value, part in parts.items():
        within = f"{value}/" if request.by else ""
        if len(request.added) == 1 and part.label("model") is not None:
            found |= rows_of.by_model(part, within + request.added[0].label, within)
        else:
            found |= {within + added.label: part for added in request.added}
    return found


def fit(
    source: Source,
    request: Request,
    excluded: pl.Series | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Outcome:
    """Fit a table of reading times on training folds, and compute the gain on held-out folds."""
    parts = prepare(source, request, excluded)
    gains, baselines, warned = [], dict[int, Numbers](), list[str]()
    found, left_out = dict[str, costs.Slopes](), dict[str, str]()
    for label, rows in parts.items():
        fold_of = _folds(rows, request.folds)
        warned += [warning for warning in _without_coefficients(rows, label, fold_of) if warning not in warned]
        if id(rows) not in baselines:
            baselines[id(rows)], said = _held_out(rows, None, request, fold_of, "baseline", progress)
            warned += said
        full, said = _held_out(rows, label, request, fold_of, label, progress)
        warned += said
        try:
            found[label] = costs.fit(label, rows, clusters(rows), request.model, request.random)
            warned += [f"warning: {label}, all rows: {said}" for said in found[label].messages]
        except SyntagmError as error:
            left_out[label] = str(error)
        units = clusters(rows, fold_of)
        base = baselines[id(rows)]
        lines = rows.frame[rows_of.LINE].to_numpy()
        interval = _interval(full - base, units)
        gains.append(Gain(label, fold_of, base, full, lines, rows.times, interval, units))
    # Rows with other values of --by are others, even if their times should be the same.
    pairs = [
        _difference(first, second)
        for first, second in combinations(gains, 2)
        if not request.by or first.model.partition("/")[0] == second.model.partition("/")[0]
    ]
    first = next(iter(parts.values()))
    notes = [*first.notes, *([f"random effects: {_random(request, parts)}"] if request.random else []), *warned]
    if len(gains) > 1 and None in pairs and not request.by:
        notes.append("differences of models are left out where their rows aren't the same")
    return Outcome(
        request, tuple(gains), tuple(pair for pair in pairs if pair), first.rows, first.dropped, tuple(notes), parts, found,
        left_out,
    )  # fmt: skip


def _without_coefficients(rows: Observations, label: str, fold_of: NDArray[np.int64]) -> list[str]:
    """Say which columns have no coefficient: on all rows, or on the training rows of a fold, as of a level that it lacks."""
    columns = rows.columns((*rows.baseline, *rows.added[label]))
    names = np.array(columns.names)
    said = [
        f"warning: {name} has no coefficient, as the columns before it determine it"
        for name in names[~regressions.independent(columns.values)]
    ]
    for fold in range(1, int(fold_of.max()) + 1):
        train = fold_of != fold
        unseen = ~columns.values[train].any(axis=0) & columns.values[~train].any(axis=0)
        said += [
            f"warning: {name} is 0 in all training rows of fold {fold}, so its effect on the others counts as 0"
            for name in names[unseen]
        ]
    return said


def _held_out(
    rows: Observations,
    added: str | None,
    request: Request,
    fold_of: NDArray[np.int64],
    name: str,
    progress: Callable[[str, int, int], None] | None,
) -> tuple[Numbers, list[str]]:
    """Return the log density of each row, when its fold is held out, and what the fits said of themselves."""
    messages = list[str]()
    density = regressions.densities(request.model, rows, added, request.random, messages)
    values = np.empty(len(fold_of))
    count = int(fold_of.max())
    for fold in range(1, count + 1):
        held_out = fold_of == fold
        values[held_out] = density(~held_out)
        if progress:
            progress(name, fold, count)
    said = Counter(messages).items()
    return values, [f"warning: {name}, {number} of {count} folds: {each}" for each, number in said]


def _folds(rows: Observations, chosen: tuple[str, int]) -> NDArray[np.int64]:
    kind, count = chosen
    if kind == "contiguous":
        return contiguous_folds(rows.frame.height, count)
    labels = rows.label(kind)
    if labels is None:
        raise InputError("--folds", f"no column for the {kind}", "such a column", f"Name it: --columns {kind}=COLUMN.")
    if None in labels:
        count_without = sum(label is None for label in labels)
        raise InputError("--folds", f"{count_without:,} rows without {kind}", f"a {kind} in each row")
    return group_folds([str(label) for label in labels], count, f"{kind}s")


def clusters(rows: Observations, fold_of: NDArray[np.int64] | None = None) -> dict[str, NDArray[np.int64]]:
    """Return the units of intervals: sentences, or else texts, or else folds; and participants where there are several."""
    found: dict[str, NDArray[np.int64]] = {}
    for role in ("sentence", "text"):
        if (labels := rows.label(role)) and len(set(labels)) > 1:
            found[f"{role}s"] = np.unique([str(label) for label in labels], return_inverse=True)[1]
            break
    else:
        own = contiguous_folds(rows.frame.height, min(10, rows.frame.height)) if fold_of is None else fold_of
        found["tenths of the table" if fold_of is None else "folds"] = own
    if (people := rows.label("participant")) and len(set(people)) > 1:
        found["participants"] = np.unique([str(label) for label in people], return_inverse=True)[1]
    return found


def _interval(values: Numbers, clusters: Mapping[str, NDArray[np.int64]]) -> Interval:
    return cluster_intervals.of_clusters(values, Kind.NUMBER, clusters)


def _difference(first: Gain, second: Gain) -> Difference | None:
    """Compare two models on the same rows and folds; None if they have others."""
    if len(first.response) != len(second.response) or not np.array_equal(first.response, second.response):
        return None
    if not np.array_equal(first.folds, second.folds):
        return None
    values = second.gains - first.gains
    return Difference(first.model, second.model, float(values.mean()), _interval(values, first.clusters))


@dataclass(frozen=True, slots=True)
class Linearity:
    """The test of a straight effect against a natural cubic spline (an F test of least squares on all rows)."""

    model: str  # `model`, `column`: the model and its column
    column: str
    f: float  # `f`, `first`, `second`, `p`: the statistic, its degrees of freedom and its p-value
    first: int
    second: int
    p: float
    edf: float  # the effective degrees of freedom of the penalised smooth; 1 is a straight line


DEPENDENT = (
    "linearity: rows count as independent although participants have several, so p is too small; the gain of --model smooth "
    "over ols on held-out rows does not depend on this"
)


def linearity(label: str, rows: Observations) -> list[Linearity]:
    # Each column is compared with an unpenalised natural cubic spline with five knots (four degrees of freedom), beside
    # the other columns. Rows count as independent, so with several participants p is too small.
    from scipy.special import fdtrc

    from syntagm.reading_times import regressions

    added = rows.added[label]
    straight = rows.columns((*rows.baseline, *added)).values
    values = regressions.smoothed(rows, added)
    blocks = [regressions.basis(column, name).at(column) for name, column in values.items()]
    curve = regressions.smooth(straight, blocks, rows.times)
    simple = regressions.least_squares(straight, rows.times)
    rss = simple.variance * simple.freedom
    found = []
    for (name, column), edf in zip(values.items(), curve.edf, strict=True):
        bent = regressions.basis(column, name, 5).at(column)
        larger = regressions.least_squares(np.column_stack([straight, bent / np.abs(bent).max(axis=0)]), rows.times)
        difference = int(simple.freedom - larger.freedom)
        if not difference:
            found.append(Linearity(label, name, nan, 0, int(larger.freedom), nan, edf))
            continue
        f = max(0.0, (rss - larger.variance * larger.freedom) / difference / larger.variance)
        p = float(fdtrc(difference, larger.freedom, f))
        found.append(Linearity(label, name, f, difference, int(larger.freedom), p, edf))
    return found


def read_added(written: Sequence[Sequence[str]], names: Sequence[str]) -> tuple[Added, ...]:
    """Read the option --add, given once for each model: columns, with a name or without one (`NAME=COLUMN ...`).

    Raises:
        UsageError: an option has no column.

    >>> read_added([["gpt2=bits.gpt2"], ["bits,entropy"]], [])
    (Added(label='gpt2', columns=('bits.gpt2',)), Added(label='bits+entropy', columns=('bits', 'entropy')))
    """
    found = []
    for words in written:
        first, equals, rest = words[0].partition("=")
        label = first.strip() if equals and words[0] not in names else ""
        columns = [rest, *words[1:]] if label else list(words)
        split = [
            part.strip()
            for column in columns
            for part in ([column] if column in names else column.split(","))
            if part.strip()
        ]
        if not split:
            raise UsageError("--add", repr(" ".join(words)), "one or more columns")
        found.append(Added(label or "+".join(split), tuple(split)))
    return tuple(found)


def lines(outcome: Outcome) -> list[str]:
    """Say the gains, their intervals, the differences between models, and the slopes."""
    said = [
        f"{gain.model}: mean gain {gain.mean:.6f} nats per observation{_bounds(gain.interval)}, n = {len(gain.gains):,}"
        for gain in outcome.gains
    ]
    said += [
        f"{pair.second} - {pair.first}: {pair.value:.6f}{_bounds(pair.interval)}, p = {pair.interval.p:.3g}"
        for pair in outcome.differences
    ]
    said += costs.lines(outcome.slopes.values())
    return said + [f"no slopes of {label}: {reason}" for label, reason in outcome.left_out.items()]


_CROSSED = ", crossed [@cameron-etal-2011-robust]"
_MODELS = {
    "ols": "linear regressions by least squares, with a normal density and the residual variance of the training rows",
    "loglinear": "linear regressions of log reading times by least squares, with the density of the untransformed times",
    "mixed": "linear mixed-effects models by restricted maximum likelihood [@bates-etal-2015-fitting]",
    "smooth": "additive models with natural cubic splines of the added predictors, smoothed by restricted likelihood "
    "[@wood-2011-fast]",
}


def methods(outcome: Outcome) -> str:
    """Draft a methods paragraph about a fit, with citations in Pandoc's form: `[@key]`, of `core/bibliography/references.bib`."""
    request = outcome.request
    kind, count = request.folds
    cut_as = "contiguous parts of the rows" if kind == "contiguous" else f"whole {kind}s"
    kept = outcome.rows - sum(outcome.dropped.values())
    dropped = "; ".join(f"{number:,} {reason}" for reason, number in outcome.dropped.items())
    later = f", each for the word and the {request.lags} words before it" if request.lags else ""
    added = "; ".join(f"{each.label}: {', '.join(each.columns)}" for each in request.added)
    apart = f", with a fit for each value of {request.by}" if request.by else ""
    crossed = any(len(gain.clusters) > 1 for gain in outcome.gains)
    random = f" Random effects were {_random(request, outcome.observations)}." if request.random else ""
    how = " and ".join(dict.fromkeys(each.method for each in outcome.slopes.values()))
    each_slope = "; ".join(map(str, outcome.slopes.values()))
    slopes = f" Slopes were fitted to all rows by {how}: {each_slope}." if how else ""
    return (
        f"We measured how much surprisal [@hale-2001-probabilistic; @levy-2008-expectation] improves the prediction of "
        f"{request.response} on held-out data [@goodkind-bicknell-2018-predictive; @wilcox-etal-2023-testing]. "
        f"{kept:,} of {outcome.rows:,} observations were used{f' (dropped: {dropped})' if dropped else ''}{apart}. In "
        f"{count}-fold cross-validation with {cut_as} as folds and no shuffling, we fitted {_MODELS[request.model]}. "
        f"The baseline had the predictors {', '.join(request.baseline) or 'none'}"
        f"{later}; added were {added}.{random} The gain is the difference of the held-out log-likelihoods in nats per "
        f"observation; intervals are 95% ({outcome.gains[0].interval.method}{_CROSSED if crossed else ''}).{slopes}"
    )


def _random(request: Request, parts: Mapping[str, Observations]) -> str:
    """Say the random effects of each model; random slopes of added columns are in models with these columns alone."""
    bars = regressions.random_terms(request.random, request.response)
    terms = {}
    for label, rows in parts.items():
        for name, added in (("the baseline", ()), (label, rows.added[label])):
            terms[name] = " + ".join(regressions.mixed_formula(rows, added, bars)[1]) or "none"
    return "; ".join(f"{own} in {name}" for name, own in terms.items())


def _bounds(interval: Interval) -> str:
    if isnan(interval.low):
        return f" ({interval.method})"
    return f" [{interval.low:.6f}, {interval.high:.6f}]"
