"""Items of the same id in one suite, told apart by their order."""

import polars as pl


def occurrence(*keys: str) -> pl.Expr:
    """Number the rows with the same keys from 0, as the column `occurrence`: an item's id may occur twice in a suite."""
    return pl.int_range(pl.len()).over(*keys).alias("occurrence")
