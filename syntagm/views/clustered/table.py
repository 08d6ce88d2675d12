"""Clustered: the accuracy of each suite with items that share a tag redrawn together, beside the plain interval."""

from collections.abc import Iterator, Sequence

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.clustered import FEW, Clustered, clustered
from syntagm.views.clustered.tags import labelled, tags_of
from syntagm.views.scores import compute as estimates

COLUMNS = (
    *("suite", "measure", "model", "score", "n", "low", "high"),
    *("clusters", "clustered low", "clustered high", "design effect", "ties", "undefined"),
)


def make_table(runs: Sequence[Run], by: str = "", suite: str = "", measure: str = "first") -> Table:
    """A row a suite and model.

    Arguments:
        by: the tag of the items that share something, e.g. `lemma`, `subject`; or `region:NAME`, the words of a region.
        suite: one suite only; all that have the tag unless given.
        measure: a prediction's name, `first` or `all`.

    Raises:
        UsageError: no suite has the tag.
    """
    rows = [row for model, run in named(runs) for row in _rows(run, model, by, suite, measure, titles(runs))]
    if not rows:
        known = sorted({tag for run in runs for one in run.suites for tag in tags_of(run, one.name)})
        raise UsageError("by=", f"{by!r}, which no item has", "one of " + ", ".join(known) if known else "a tag")
    notes = (
        f"low, high: 95% interval with items redrawn; clustered: with the values of {by} redrawn and items within them "
        "(two stages; 10,000 draws, seed 1). The design effect is the ratio of the two variances.",
        f"With fewer than {FEW} clusters the clustered interval is too narrow; crossed items have other clusters, too.",
        "Ties count as failures; undefined items, and those without the tag, are left out of n.",
    )
    return Table(f"Accuracy by suite, items clustered by {by}", COLUMNS, tuple(rows), notes=notes)


def _rows(
    run: Run, model: str, by: str, suite: str, measure: str, called: dict[tuple[str, str], str]
) -> Iterator[tuple[Cell, ...]]:
    for one in run.suites:
        if suite and one.name != suite:
            continue
        results = score.verdicts(
            run.results(one.name), {one.name: estimates.predictions(run, measure)[one.name]}, measure
        )
        table = labelled(run, one.name, results, by)
        if table is not None and len(table):
            yield (called[one.name, one.hash], measure, model, *_numbers(table, one.name, run.tolerance))


def _numbers(table: pl.DataFrame, suite: str, tolerance: float) -> tuple[Cell, ...]:
    found: Clustered = clustered(table["value"].to_numpy(), table["label"].to_list(), suite)
    defined = table.filter(pl.col("value").is_not_nan())
    ties = int((defined["margin"].abs() <= tolerance).sum())
    plain = (found.value, found.low, found.high, found.clustered_low, found.clustered_high, found.effect)
    value, low, high, c_low, c_high, effect = (None if one != one else one for one in plain)
    return (value, found.n, low, high, found.clusters, c_low, c_high, effect, ties, len(table) - len(defined))
