"""Class scores: the mean score over suites of each model class as a dot with its interval, and chance as a dashed line.

An instance is one trained model: a model class on a corpus with a seed. Tables of items have the columns model, corpus, seed,
suite, item and value (1, 0 or nan); a suite's score is the share of its defined items that are 1. Means over suites weigh
all suites alike. A mean over an instance's suites is nan if one of them has no defined item.

Suites differ in difficulty; a score delta takes the difficulty out: by how much an instance's score on a suite is above what
all models score on it. The mean of a suite weighs model classes and corpora alike, however many seeds each has: seeds are
averaged within each model and corpus first (Hu et al. 2020).
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
ITEM = {
    "model": pl.String, "corpus": pl.String, "seed": pl.Int64, "suite": pl.String, "item": pl.String,
    "value": pl.Float64,
}  # fmt: skip
# What is drawn: scores, and score deltas.
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
    """A row an instance and suite, in the order of first appearance: model, corpus, seed, suite, score, n, undefined.

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
    """A row an instance: model, corpus, seed, the mean of a column over its suites, and how many suites they are."""
    return scores.group_by(INSTANCE, maintain_order=True).agg(pl.col(column).mean(), pl.len().alias("suites"))


def by_circuit(scores: pl.DataFrame, circuits: Mapping[str, str], column: str = "score") -> pl.DataFrame:
    """A row an instance and circuit: model, corpus, seed, circuit, the mean of a column over its suites, suites.

    Arguments:
        circuits: suite -> circuit; suites without one are left out.
    """
    schema = {"suite": pl.String, "circuit": pl.String}
    named = pl.DataFrame({"suite": list(circuits), "circuit": list(circuits.values())}, schema=schema)
    joined = scores.join(named, on="suite", how="inner", maintain_order="left")
    keys = (*INSTANCE, "circuit")
    return joined.group_by(keys, maintain_order=True).agg(pl.col(column).mean(), pl.len().alias("suites"))


def by_vote(items: pl.DataFrame) -> pl.DataFrame:
    """The seeds of each model and corpus as one instance of seed 0: an item is 1 if more than half of the seeds say so.

    For models whose seeds only break ties. Undefined values have no vote.

    >>> rows = [("m", "xs", seed, "s", "1", float(seed > 1)) for seed in (1, 2, 3)]
    >>> by_vote(pl.DataFrame(rows, schema=ITEM, orient="row")).row(0)
    ('m', 'xs', 0, 's', '1', 1.0)
    """
    mean = pl.col("value").filter(pl.col("value").is_not_nan()).mean()
    return _pooled(items, pl.when(mean.is_null()).then(float("nan")).otherwise((mean > 0.5).cast(pl.Float64)))


def by_mean(items: pl.DataFrame) -> pl.DataFrame:
    """The seeds of each model and corpus as one instance of seed 0, the mean of its seeds standing for each item."""
    return _pooled(items, pl.col("value").filter(pl.col("value").is_not_nan()).mean().fill_null(float("nan")))


def _pooled(items: pl.DataFrame, value: pl.Expr) -> pl.DataFrame:
    keys = ("model", "corpus", "suite", "item")
    pooled = items.group_by(keys, maintain_order=True).agg(value.alias("value"))
    return pooled.with_columns(seed=pl.lit(0, pl.Int64)).select(list(ITEM))


def suite_means(scores: pl.DataFrame) -> pl.DataFrame:
    """A row a suite: suite, mean. The mean over cells, that is, over models on a corpus, of the means over their seeds.

    Arguments:
        scores: as `suite_scores` makes them.
    """
    cells = scores.group_by("suite", "model", "corpus", maintain_order=True).agg(pl.col("score").mean())
    return cells.group_by("suite", maintain_order=True).agg(pl.col("score").mean().alias("mean"))


def score_deltas(scores: pl.DataFrame) -> pl.DataFrame:
    """The scores with two more columns: the mean of the suite, and delta, the score minus that mean.

    >>> rows = [("a", "xs", 1, "s", 1.0), ("a", "xs", 2, "s", 0.0), ("b", "xs", 1, "s", 1.0)]
    >>> made = score_deltas(pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row"))
    >>> made["mean"][0], made["delta"].to_list()  # (1/2 + 1) / 2 = 3/4, not 2/3
    (0.75, [0.25, -0.75, 0.25])
    """
    joined = scores.join(suite_means(scores), on="suite", how="left", maintain_order="left")
    return joined.with_columns(delta=pl.col("score") - pl.col("mean"))


def draw_figure(runs: Sequence[Run]) -> Figure:
    """Draw the mean of the accuracies of all suites of some runs, one model each; items are redrawn within suites."""
    found = [(one, chance_of(run, one).value) for run in runs for one in scores(run)]
    rows = [(one.group.model, "", one.value, one.low, one.high, one.n, one.method) for one, _ in found]
    chances = {chance for _, chance in found}
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row")
    subtitle = [
        "mean of the suites' accuracies (first prediction)",
        "95% interval: items redrawn within suites; n: items",
    ]
    return draw(table, chances.pop() if len(chances) == 1 else nan, "Scores of models", subtitle)


def draw(table: pl.DataFrame, chance: float = nan, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw a panel a kind of model, in each the highest score first.

    Arguments:
        table: columns as in `SCHEMA`. `kind` is the heading of a panel; empty where all models are of one kind.
        chance: what independent draws would score; nan where it isn't known.
    """
    ordered = table.sort(pl.col("value").fill_nan(None), descending=True, nulls_last=True, maintain_order=True)
    kinds = list(dict.fromkeys(table["kind"]))
    parts = []
    for kind in kinds:
        rows = [
            {**row, "name": row["model"], "series": kind, "note": f"{row['value']:.3f} (n = {row['n']})"}
            for row in ordered.filter(pl.col("kind") == kind).iter_rows(named=True)
        ]
        axis = axes.proportion("SG score" if kind == kinds[-1] else "")
        parts.append(dots.panel([{**row, "said": dots.said(row)} for row in rows], axis, kind, chance, kinds))
    spec = panels.pile(parts, 14, resolve={"scale": {"color": "independent"}})
    line = [] if isnan(chance) else [f"dashed line: chance, {chance:.3f}"]
    numbers = ordered.select(list(SCHEMA)).with_columns(chance=pl.lit(chance))
    return Figure(finish(spec, title, [*subtitle, *line]), numbers)


def draw_deltas(table: pl.DataFrame, title: str = "", subtitle: Sequence[str] = ()) -> Figure:
    """Draw score deltas: a panel for each value of `by`, rows in the order given.

    Arguments:
        table: columns as in `DELTAS`; `by` is the heading of a panel, `series` tells rows of one name apart.
    """
    axis = axes.difference("score delta", [*table["value"], *table["low"], *table["high"]], _DELTAS_WIDTH)
    parts = []
    for by in dict.fromkeys(table["by"]):
        rows = [
            {**row, "note": f"{signed(row['value'])} (n = {row['n']:,})", "said": dots.said(row)}
            for row in table.filter(pl.col("by") == by).iter_rows(named=True)
        ]
        series = list(dict.fromkeys(str(row["series"]) for row in rows))
        parts.append(dots.panel(rows, axis, by, 0.0, series, _DELTAS_WIDTH, key=len(series) > 1))
    scales = {"color": "independent", "shape": "independent"}
    spec = panels.pile(parts, 18, resolve={"scale": scales, "legend": scales})
    return Figure(finish(spec, title, subtitle), table.select(list(DELTAS)))
