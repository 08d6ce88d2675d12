"""Score deltas: by how much an instance's score on a suite is above what all models score on that suite.

Suites differ in difficulty; a delta takes the difficulty out. The mean of a suite weighs model classes and corpora alike,
however many seeds each has: seeds are averaged within each model and corpus first (Hu et al. 2020).
"""

import polars as pl


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
