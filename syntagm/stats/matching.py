"""Rows about the same items: items of one id told apart by their order, and two tables joined item by item."""

from collections.abc import Sequence

import polars as pl

OCCURRENCE = "occurrence"


def numbered(table: pl.DataFrame, *within: str, item: str = "item") -> pl.DataFrame:
    """The table with a column `occurrence`: an item's id may occur several times; the occurrences are counted from 0, in order.

    Arguments:
        within: the columns that say where an id should occur once, such as suite and measure.
        item: the column of the id.

    >>> numbered(pl.DataFrame({"item": ["1", "2", "1"]}))["occurrence"].to_list()
    [0, 0, 1]
    """
    once = pl.col(item).n_unique() == pl.len()
    # Ids that occur once, which is the rule, are told from others in a tenth of the time that numbering takes.
    checked = table.group_by(within).agg(once=once) if within else table.select(once=once)
    count = pl.lit(0, pl.Int64) if checked["once"].all() else pl.int_range(pl.len()).over(*within, item)
    return table.with_columns(count.alias(OCCURRENCE))


def joined(first: pl.DataFrame, second: pl.DataFrame, on: Sequence[str]) -> pl.DataFrame:
    """Two tables side by side: the rows of the first, then those that only the second has; null where a table lacks a row.

    Arguments:
        on: the columns that name a row, each row once; the other columns have different names.

    >>> a, b = pl.DataFrame({"item": ["1", "2"], "a": [1, 2]}), pl.DataFrame({"item": ["3", "1"], "b": [3, 4]})
    >>> joined(a, b, ["item"]).rows()
    [('1', 1, 4), ('2', 2, None), ('3', None, 3)]
    """
    if first.select(on).equals(second.select(on)):
        # As of two runs of the same suites: there is nothing to join.
        return first.hstack(second.drop(on))
    return first.join(second, on=on, how="full", coalesce=True, maintain_order="left_right")
