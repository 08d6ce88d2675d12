"""Class scores: the mean score over suites of each model class as a dot with its interval, and chance as a dashed line.

An instance is one trained model: a model class, a corpus and a seed. Tables of items have the columns model, corpus,
seed, suite, item and value (1, 0 or nan). The score of a suite is the proportion of its defined items with value 1.
Means over suites are unweighted, and nan if one of the suites has no defined item.

Suites differ in difficulty. A score delta is corrected for it: it is the score of an instance on a suite minus the mean
score of all models on that suite. That mean gives equal weight to all model classes and corpora, regardless of the
number of seeds, because seeds are first averaged within each model and corpus (Hu et al. 2020).
"""

from collections.abc import Mapping, Sequence
from math import isnan, nan

import polars as pl

from syntagm.drawing import axes, dots, panels
from syntagm.drawing.chart import Figure, finish
from syntagm.drawing.text import signed
from syntagm.runs.store import Run
from syntagm.views.scores.numbers import chance_of, scores

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
    """Average a column over the suites of each instance.

    Columns: model, corpus, seed, the averaged column, and suites (the number of suites).
    """
    return scores.group_by(INSTANCE, maintain_order=True).agg(pl.col(column).mean(), pl.len().alias("suites"))


def by_circuit(scores: pl.DataFrame, circuits: Mapping[str, str], column: str = "score") -> pl.DataFrame:
    """Average a column over the suites of each instance and circuit.

    Columns: model, corpus, seed, circuit, the averaged column, and suites (the number of suites).

    Arguments:
        circuits: suite -> circuit; suites without one are skipped.
    """
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
    """Average the scores of each suite over pairs of model and corpus, after averaging over seeds within each pair.

    Columns: suite, mean.

    Arguments:
        scores: the scores that `suite_scores` returns.
    """
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


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw the mean accuracy over all suites of each run."""
    estimates = [(estimate, chance_of(run, estimate).value) for run in runs for estimate in scores(run)]
    rows = [
        (estimate.group.model, "", estimate.value, estimate.low, estimate.high, estimate.n, estimate.method)
        for estimate, _ in estimates
    ]
    chances = {chance for _, chance in estimates}
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    subtitle = [
        "mean accuracy over suites (first prediction)",
        "95% interval; n: items",
    ]
    return draw(table, chances.pop() if len(chances) == 1 else nan, "Scores of models", subtitle)


def draw(table: pl.DataFrame, chance: float = nan, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw one panel for each kind of model, with the highest score first.

    Arguments:
        table: a table with the columns of `SCHEMA`. `kind` is the title of a panel; it is empty if all models are of
            the same kind.
        chance: the chance level of the score; nan if unknown.
    """
    ordered = table.sort(pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True)
    kinds = list(dict.fromkeys(table["kind"]))
    plots = []
    for kind in kinds:
        rows = [
            {**row, "name": row["model"], "series": kind, "note": f"{row['value']:.3f} (n = {row['n']})"}
            for row in ordered.filter(pl.col("kind") == kind).iter_rows(named=True)
        ]
        axis = axes.proportion("SG score" if kind == kinds[-1] else "")
        plots.append(dots.panel([{**row, "said": dots.describe(row)} for row in rows], axis, kind, chance, kinds))
    spec = panels.pile(plots, 14, resolve={"scale": {"color": "independent"}})
    line = [] if isnan(chance) else [f"dashed line: chance, {chance:.3f}"]
    numbers = ordered.select(list(SCHEMA)).with_columns(chance=pl.lit(chance))
    return Figure(finish(spec, title, [*subtitle, *line]), numbers)


def draw_deltas(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw score deltas: one panel for each value of `by`, rows in the order of the table.

    Arguments:
        table: a table with the columns of `DELTAS`; `by` is the title of a panel, `series` distinguishes rows with the
            same name.
    """
    axis = axes.difference("score delta", [*table["value"], *table["low"], *table["high"]], _DELTAS_WIDTH)
    plots = []
    for by in dict.fromkeys(table["by"]):
        rows = [
            {**row, "note": f"{signed(row['value'])} (n = {row['n']:,})", "said": dots.describe(row)}
            for row in table.filter(pl.col("by") == by).iter_rows(named=True)
        ]
        series = list(dict.fromkeys(str(row["series"]) for row in rows))
        plots.append(dots.panel(rows, axis, by, 0.0, series, _DELTAS_WIDTH, key=len(series) > 1))
    scales = {"color": "independent", "shape": "independent"}
    spec = panels.pile(plots, 18, resolve={"scale": scales, "legend": scales})
    return Figure(finish(spec, title, subtitle), table.select(list(DELTAS)))
