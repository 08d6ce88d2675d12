"""Clustered: accuracy of each suite with intervals for other clusters of items, and for other items.

Items belong to the same cluster if they have the same value of a tag, or the same words in a region. With two tags, the
two kinds of cluster are crossed.
"""

from collections.abc import Sequence
from typing import Annotated

import polars as pl

from syntagm.evaluation import Kind
from syntagm.runs import Run, ties_of
from syntagm.stats import FEW, Clustered, clustered
from syntagm.views import quantity
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.options import Measure

COLUMNS = (
    *("suite", "measure", "model", "score", "n", "low", "high"),
    *("clusters", "clustered low", "clustered high", "design effect", "ties", "undefined"),
)
By = Annotated[str, "a tag of the items (`lemma`, `subject`, ...), or `region:NAME` for the words of a region"]
Both = Annotated[str, "a tag of the items, or `region:NAME`; two with a comma between are crossed"]
OneSuite = Annotated[str, "name of a suite; default: all suites with the tag"]


def make_table(runs: Sequence[Run], by: Both = "", suite: OneSuite = "", measure: Measure = "first") -> Table:
    """Make one row for each suite and model.

    Raises:
        UsageError: no suite has the tag.
    """
    items = quantity.tagged(runs, by, measure, [suite] if suite else [])
    rows = [
        (name, measure, model, *_numbers(table, items.kind, items.properties))
        for (model, name), table in items.groups("model", "suite")
    ]
    notes = (
        "low, high: 95% interval if the items were independent; clustered low, clustered high: 95% interval for "
        f"other values of {by}, with the items of each (cluster-robust variance, Student's t). The design effect is the "
        "ratio of the two variances.",
        f"An interval from fewer than {FEW} clusters rests on few. If items are crossed (for example, each verb with each "
        "subject), name both: by=verb,subject.",
        f"Ties count as {ties_of(runs, measure, suite)}; n does not include undefined items and items without the tag.",
    )
    return Table(f"Accuracy by suite, items clustered by {quantity.spoken_by(by)}", COLUMNS, tuple(rows), notes=notes)


def _numbers(table: pl.DataFrame, kind: Kind, tags: Sequence[str]) -> tuple[Cell, ...]:
    estimate: Clustered = clustered(table["value"].to_numpy(), kind, {tag: table[tag].to_list() for tag in tags})
    defined = table.filter(pl.col("value").is_not_nan())
    ties = int((defined["margin"].abs() <= defined["tolerance"]).sum())
    plain = (
        estimate.value,
        estimate.items.low,
        estimate.items.high,
        estimate.clusters.low,
        estimate.clusters.high,
        estimate.effect,
    )
    value, low, high, c_low, c_high, effect = map(or_none, plain)
    return (value, estimate.n, low, high, estimate.count, c_low, c_high, effect, ties, len(table) - len(defined))
