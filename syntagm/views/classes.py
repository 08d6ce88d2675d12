"""Class scores: the mean score over suites of each model class with its interval, and how models of a class differ.

An instance is one trained model: a model class, a corpus and a seed. Tables of items have the columns model, corpus,
seed, suite, item and value (1, 0 or nan). The score of a suite is the proportion of its defined items with value 1.
Means over suites are unweighted, and nan if one of the suites has no defined item.

Suites differ in difficulty. A score delta is corrected for it: it is the score of an instance on a suite minus the mean
score of all models on that suite. That mean gives equal weight to all model classes and corpora, regardless of the
number of seeds, because seeds are first averaged within each model and corpus (Hu et al. 2020).
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import isnan, nan
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run, listed, named, unequal
from syntagm.stats import Interval, holm, in_words, interval, model_classes, suite_intervals
from syntagm.views.drawing import dots, vega
from syntagm.views.drawing.chart import Figure, finish
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import lines, or_none, remarks, remarks_on, signed
from syntagm.views.estimates import chance_of, mean_over_suites, of_models, shared_kind, shared_suites, values_of
from syntagm.views.options import Measure

INSTANCE = ("model", "corpus", "seed")
# The random units of the mean over suites and instances.
UNITS = {"suites": ("suite",), "models": INSTANCE}
ITEM = {
    "model": pl.String, "corpus": pl.String, "seed": pl.Int64, "suite": pl.String, "item": pl.String,
    "value": pl.Float64,
}  # fmt: skip
# Tables behind the figures of scores and of score deltas.
SCHEMA = {
    "model": pl.String, "kind": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
    "method": pl.String,
}  # fmt: skip
DELTAS = {
    "by": pl.String, "name": pl.String, "series": pl.String, "value": pl.Float64, "low": pl.Float64,
    "high": pl.Float64, "n": pl.Int64, "units": pl.Int64, "method": pl.String,
}  # fmt: skip
_DELTAS_WIDTH = 300
COLUMNS = ("class", "models", "suites", "n", "score", "low", "high", "sd", "least", "most", "p", "p Holm", "method")
# The end of a name that tells a seed: lstm-1, pythia-70m-seed3, random?seed=2.
_SEED = re.compile(r"(?:[-_.](?:seed)?[-_=]?|[?&]seed=)\d+$")


def suite_scores(items: pl.DataFrame) -> pl.DataFrame:
    """Compute the score of each instance and suite, in the order of first appearance.

    Columns: model, corpus, seed, suite, score, n, undefined.

    >>> rows = [("m", "xs", 1, "s", str(item), value) for item, value in enumerate((1.0, 0.0, 1.0, float("nan")))]
    >>> suite_scores(pl.DataFrame(rows, schema=ITEM, orient="row")).select("score", "n", "undefined").rows()
    [(0.6666666666666666, 3, 1)]
    """
    defined = pl.col("value").is_not_nan()
    return items.group_by(*INSTANCE, "suite", maintain_order=True).agg(
        pl.col("value").filter(defined).mean().fill_null(float("nan")).alias("score"),
        defined.sum().cast(pl.Int64).alias("n"),
        (~defined).sum().cast(pl.Int64).alias("undefined"),
    )


def over_suites(scores: pl.DataFrame, column: str = "score") -> pl.DataFrame:
    """Average a column over the suites of each instance."""
    # Columns: model, corpus, seed, the averaged column, and suites (the number of suites).
    return scores.group_by(INSTANCE, maintain_order=True).agg(pl.col(column).mean(), pl.len().alias("suites"))


def by_circuit(scores: pl.DataFrame, circuits: Mapping[str, str], column: str = "score") -> pl.DataFrame:
    """Average a column over the suites of each instance and circuit."""
    # Columns: model, corpus, seed, circuit, the averaged column, and suites (the number of suites).
    schema = {"suite": pl.String, "circuit": pl.String}
    named = pl.DataFrame({"suite": list(circuits), "circuit": list(circuits.values())}, schema=schema)
    joined = scores.join(named, on="suite", how="inner", maintain_order="left")
    keys = (*INSTANCE, "circuit")
    return joined.group_by(keys, maintain_order=True).agg(pl.col(column).mean(), pl.len().alias("suites"))


def by_vote(items: pl.DataFrame) -> pl.DataFrame:
    """Merge the seeds of each model and corpus by majority vote: an item is 1 if it is 1 under most of the seeds.

    The merged instance has seed 0. This is meant for models whose seeds only break ties. Undefined values don't vote.

    >>> rows = [("m", "xs", seed, "s", "1", float(seed > 1)) for seed in (1, 2, 3)]
    >>> by_vote(pl.DataFrame(rows, schema=ITEM, orient="row")).row(0)
    ('m', 'xs', 0, 's', '1', 1.0)
    """
    mean = pl.col("value").filter(pl.col("value").is_not_nan()).mean()
    return _pooled(items, pl.when(mean.is_null()).then(float("nan")).otherwise((mean > 0.5).cast(pl.Float64)))


def by_mean(items: pl.DataFrame) -> pl.DataFrame:
    """Merge the seeds of each model and corpus: the value of an item is its mean over seeds, and the seed is 0."""
    return _pooled(items, pl.col("value").filter(pl.col("value").is_not_nan()).mean().fill_null(float("nan")))


def _pooled(items: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    keys = ("model", "corpus", "suite", "item")
    pooled = items.group_by(keys, maintain_order=True).agg(value.alias("value"))
    return pooled.with_columns(seed=pl.lit(0, pl.Int64)).select(list(ITEM))


def suite_means(scores: pl.DataFrame) -> pl.DataFrame:
    """Average the scores of each suite over pairs of model and corpus, after averaging over seeds within each pair."""
    # Columns: suite, mean.
    cells = scores.group_by("suite", "model", "corpus", maintain_order=True).agg(pl.col("score").mean())
    return cells.group_by("suite", maintain_order=True).agg(pl.col("score").mean().alias("mean"))


def score_deltas(scores: pl.DataFrame) -> pl.DataFrame:
    """Add two columns to scores: `mean` (the mean of the suite) and `delta` (the score minus that mean).

    >>> rows = [("a", "xs", 1, "s", 1.0), ("a", "xs", 2, "s", 0.0), ("b", "xs", 1, "s", 1.0)]
    >>> deltas = score_deltas(pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row"))
    >>> deltas["mean"][0], deltas["delta"].to_list()  # (1/2 + 1) / 2 = 3/4, not 2/3
    (0.75, [0.25, -0.75, 0.25])
    """
    joined = scores.join(suite_means(scores), on="suite", how="left", maintain_order="left")
    return joined.with_columns(delta=pl.col("score") - pl.col("mean"))


def make_table(
    runs: Sequence[Run],
    classes: Annotated[
        tuple[str, ...],
        "the class of each run, in the order of the runs; default: names without a final number or seed",
    ] = (),
    measure: Measure = "first",
) -> Table:
    """Make one row for each class of models, and one for each difference between two classes.

    Raises:
        UsageError: the number of classes differs from the number of runs, or the runs have no suite with the measure.
        RunError: the runs have no suite in common.
    """
    names = [name for name, _ in named(runs)]
    if classes and len(classes) != len(runs):
        raise UsageError("classes=", f"{len(classes)} names for {len(runs)} runs", "one for each run, in order")
    of_runs = list(classes) or [_SEED.sub("", name) or name for name in names]
    shared, skipped = shared_suites(runs)
    values = values_of(runs, [suite for suite in shared if runs[0].suite(suite).predictions_for(measure)], measure)
    if not values:
        raise UsageError("measure=", f"{measure!r}, which no suite in all runs has", "a measure of these suites")
    members = {name: [k for k, own in enumerate(of_runs) if own == name] for name in dict.fromkeys(of_runs)}
    sides = {name: {suite: items[:, ks] for suite, items in values.items()} for name, ks in members.items()}
    kind = shared_kind(runs, measure)
    found = {name: suite_intervals.over_models(side, kind) for name, side in sides.items()}
    rows = [_row(name, side, found[name]) for name, side in sides.items()]
    pairs = list(combinations(sides.items(), 2))
    differences = [model_classes.difference(first, second, kind) for (_, first), (_, second) in pairs]
    tested = [of_pair.p for _, of_pair in differences if not isnan(of_pair.p)]
    adjusted = iter(holm(tested))
    for ((a, first), (b, second)), (value, of_pair) in zip(pairs, differences, strict=True):
        found[f"{b} - {a}"] = of_pair
        numbers = map(or_none, (value, of_pair.low, of_pair.high))
        n = _defined(list(model_classes.complete(first, second)[0].values()))
        p = (None, None) if isnan(of_pair.p) else (of_pair.p, next(adjusted))
        rows.append((f"{b} - {a}", None, len(values), n, *numbers, None, None, None, *p, of_pair.method))
    notes = (
        *(f"{name}: {', '.join(names[k] for k in ks)}." for name, ks in members.items()),
        "score: mean over models and suites; low, high: 95% interval; where a class has several models, also for other models "
        "of the class. sd, least, most: standard deviation and range of the scores of its models. p: of no "
        "difference. p Holm: adjusted over the pairs of classes by Holm's method (family-wise error rate). n: the smallest "
        "number of defined items of a model; of a difference, the number of items defined under all models of both classes, "
        "which it is about.",
        *in_words.intervals(of_row.method for of_row in found.values()),
        *remarks((name, of_row.remarks) for name, of_row in found.items()),
        *([f"Skipped: {listed(skipped)}, not in all runs with the same content."] if skipped else []),
    )
    return Table("Scores of classes of models", COLUMNS, tuple(rows), notes=notes)


def _row(name: str, values: Mapping[str, NDArray[np.float64]], found: Interval) -> tuple[Cell, ...]:
    scores = np.mean([interval.means(items, 0) for items in values.values()], axis=0)
    sd = float(scores.std(ddof=1)) if len(scores) > 1 else nan
    numbers = (float(scores.mean()), found.low, found.high, sd, float(scores.min()), float(scores.max()))
    counts = len(scores), len(values), _defined(list(values.values()))
    return (name, *counts, *map(or_none, numbers), None, None, found.method)


def _defined(values: Sequence[NDArray[np.float64]]) -> int:
    """Return the smallest number of defined items of a model."""
    return int(sum((~np.isnan(items)).sum(axis=0) for items in values).min())


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw the mean accuracy over all suites of each run."""
    estimates = [(estimate, chance_of(run, estimate).value) for run, estimate in of_models(runs)]
    rows = [(each.group.model, "", *each.numbers[:4], each.method) for each, _ in estimates]
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    kind = shared_kind(runs, "first")
    notes = [*unequal(runs), *remarks_on(estimate for estimate, _ in estimates)]
    chances = {estimate.group.model: chance for estimate, chance in estimates}
    return draw(
        table, chances, "Scores of models", [mean_over_suites(kind), "95% interval; n: items", *lines(notes)], kind
    )


def draw(
    table: pl.DataFrame, chance: Mapping[str, float] | float = nan, title: str = "", subtitle: Sequence[str] = (),
    kind: Kind = Kind.VERDICT,
) -> Figure:  # fmt: skip
    """Draw one panel for each kind of model, with the highest score first."""
    ordered = table.sort(pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True)
    of_rows = [chance if isinstance(chance, float) else chance[name] for name in ordered["model"]]
    levels = dict.fromkeys(f"{level:.3f}" for level in of_rows)
    level = of_rows[0] if len(levels) == 1 else nan
    panels_of = list(dict.fromkeys(table["kind"]))
    plots = []
    for panel in panels_of:
        rows = [
            {**row, "name": row["model"], "series": panel, "note": f"{row['value']:.3f} (n = {row['n']})"}
            for row in ordered.filter(pl.col("kind") == panel).iter_rows(named=True)
        ]
        axis = vega.mean(kind, "SG score" if panel == panels_of[-1] else "")
        plots.append(dots.panel([{**row, "said": dots.describe(row)} for row in rows], axis, panel, level, panels_of))
    spec = vega.pile(plots, 14, resolve={"scale": {"color": "independent"}})
    line = [] if isnan(level) else [f"dashed line: chance, {level:.3f}"]
    line += ["chance differs between models: the numbers as CSV have it"] if len(levels) > 1 else []
    numbers = ordered.select(list(SCHEMA)).with_columns(chance=pl.Series(of_rows, dtype=pl.Float64))
    return Figure(finish(spec, title, [*subtitle, *line]), numbers)


def draw_deltas(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw score deltas: one panel for each value of `by`, rows in the order of the table."""
    axis = vega.difference("score delta", [*table["value"], *table["low"], *table["high"]], _DELTAS_WIDTH)
    plots = []
    for by in dict.fromkeys(table["by"]):
        rows = [
            {**row, "note": f"{signed(row['value'])} (n = {row['n']:,})", "said": dots.describe(row)}
            for row in table.filter(pl.col("by") == by).iter_rows(named=True)
        ]
        series = list(dict.fromkeys(str(row["series"]) for row in rows))
        plots.append(dots.panel(rows, axis, by, 0.0, series, _DELTAS_WIDTH, key=len(series) > 1))
    scales = {"color": "independent", "shape": "independent"}
    spec = vega.pile(plots, 18, resolve={"scale": scales, "legend": scales})
    return Figure(finish(spec, title, subtitle), table.select(list(DELTAS)))
