"""Matching of rows about the same items: numbering items with the same id, and joining two tables."""

from collections.abc import Sequence

import polars as pl

OCCURRENCE = "occurrence"


def numbered(table: pl.DataFrame, *within: str, item: str = "item") -> pl.DataFrame:
    """Add the column `occurrence`, which numbers rows with the same item id from 0, in order.

    Arguments:
        within: the columns within which an id normally occurs once, such as suite and measure.
        item: the column with the id.

    >>> numbered(pl.DataFrame({"item": ["1", "2", "1"]}))["occurrence"].to_list()
    [0, 0, 1]
    """
    once = pl.col(item).n_unique() == pl.len()
    # Checking that all ids occur once, as they usually do, takes a tenth of the time of numbering them.
    checked = table.group_by(within).agg(once=once) if within else table.select(once=once)
    count = pl.lit(0, pl.Int64) if checked["once"].all() else pl.int_range(pl.len()).over(*within, item)
    return table.with_columns(count.alias(OCCURRENCE))


def joined(first: pl.DataFrame, second: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Join two tables: the rows of the first, then those that only the second has, with null where a table lacks a row.

    Arguments:
        on: the columns that identify a row uniquely; the other columns of the tables have different names.

    >>> a, b = pl.DataFrame({"item": ["1", "2"], "a": [1, 2]}), pl.DataFrame({"item": ["3", "1"], "b": [3, 4]})
    >>> joined(a, b, ["item"]).rows()
    [('1', 1, 4), ('2', 2, None), ('3', None, 3)]
    """
    if first.select(on).equals(second.select(on)):
        # Usually both tables have the same rows, because both runs have the same suites.
        return first.hstack(second.drop(on))
    return first.join(second, on=on, how="full", coalesce=True, maintain_order="left_right")
