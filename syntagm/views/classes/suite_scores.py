"""From items to the scores of model instances: by suite, over suites, and by circuit, that is, by group of suites.

An instance is one trained model: a model class on a corpus with a seed. Tables of items have the columns model, corpus, seed,
suite, item and value (1, 0 or nan); a suite's score is the share of its defined items that are 1. Means over suites weigh
all suites alike. A mean over an instance's suites is nan if one of them has no defined item.
"""

from collections.abc import Mapping

import polars as pl

INSTANCE = ("model", "corpus", "seed")
ITEM = {
    "model": pl.String, "corpus": pl.String, "seed": pl.Int64, "suite": pl.String, "item": pl.String,
    "value": pl.Float64,
}  # fmt: skip


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
    named = pl.DataFrame({"suite": list(circuits), "circuit": list(circuits.values())}, schema=_NAMED)
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


_NAMED = {"suite": pl.String, "circuit": pl.String}
