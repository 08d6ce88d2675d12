"""Clustered: accuracy of each suite with intervals for other clusters of items, and for other items.

Items belong to the same cluster if they have the same value of a tag, or the same words in a region. With two tags, the
two kinds of cluster are crossed.
"""

import json
from collections.abc import Iterator, Sequence
from typing import Annotated

import polars as pl

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import RunError, UsageError
from syntagm.result import Kind
from syntagm.runs.several import named, titles
from syntagm.runs.store import Run
from syntagm.stats.bootstrap import FEW
from syntagm.stats.clustered import Clustered, clustered
from syntagm.views.options import Measure
from syntagm.views.scores.numbers import verdicts

COLUMNS = (
    *("suite", "measure", "model", "score", "n", "low", "high"),
    *("clusters", "clustered low", "clustered high", "design effect", "ties", "undefined"),
)
REGION = "region:"
By = Annotated[str, "a tag of the items (`lemma`, `subject`, ...), or `region:NAME` for the words of a region"]
Both = Annotated[str, "a tag of the items, or `region:NAME`; two with a comma between are crossed"]
OneSuite = Annotated[str, "name of a suite; default: all suites with the tag"]


def tags_of(run: Run, suite: str) -> list[str]:
    """List the tags of the first item of a suite, and `region:NAME` for each of its regions."""
    first = run.sentences(suite).head(1)
    if not len(first):
        return []
    regions = [REGION + name for name in first["region_names"][0].to_list()]
    return [*json.loads(first["tags"][0]), *regions]


def labels(run: Run, suite: str, by: str) -> list[str | None]:
    """Return the label of each item of a suite, in order; None for an item without one.

    Arguments:
        by: a tag of the items, or `region:NAME` for the words of that region in the first condition, in lower case and
            without surrounding punctuation.
    """
    record = run.suite(suite)
    table = run.sentences(suite)
    if not len(table):
        return []
    first = table.filter(pl.col("condition") == record.conditions[0])
    if not by.startswith(REGION):
        return [_text(json.loads(text).get(by)) for text in first["tags"]]
    name = by.removeprefix(REGION)
    columns = ("text", "region_names", "region_starts", "region_ends")
    return [_content(name, *row) for row in first.select(columns).iter_rows()]


def labelled(run: Run, suite: str, results: pl.DataFrame, by: str) -> pl.DataFrame | None:
    """Add the column `label` to the results of one suite and measure, and remove items without a label.

    Returns:
        The table, or None if no item has a label.

    Raises:
        RunError: results and sentences don't belong to the same items.
    """
    values = labels(run, suite, by)
    if not any(values):
        return None
    if len(values) != len(results):
        place = f"{run.place}, suite {suite}"
        raise RunError(place, f"{len(results)} results of {len(values)} items", "one for each item and measure")
    return results.with_columns(label=pl.Series(values, dtype=pl.String)).filter(pl.col("label").is_not_null())


def unknown(runs: Sequence[Run], by: str, suites: Sequence[str] = ()) -> UsageError:
    """Return the error for a tag or region that no item has, with those that the items of the suites do have.

    Arguments:
        suites: the names of the suites that count; all by default.
    """
    known = sorted({
        tag for run in runs for suite in run.suites if not suites or suite.name in suites
        for tag in tags_of(run, suite.name) if any(labels(run, suite.name, tag))
    })  # fmt: skip
    return UsageError("by=", f"{by!r}, which no item has", "one of " + ", ".join(known) if known else "a tag")


def _text(value: object) -> str | None:
    return str(value) if value not in (None, "") else None


def _content(name: str, text: str, names: list[str], starts: list[int], ends: list[int]) -> str | None:
    if name not in names:
        return None
    place = names.index(name)
    return text[starts[place] : ends[place]].strip(" .,;:?!").lower() or None


def spoken_by(by: str) -> str:
    """Return how titles name what items are grouped by.

    >>> spoken_by("lemma"), spoken_by("verb,region:critical")
    ('lemma', 'verb and words of the region critical')
    """
    return " and ".join(
        f"words of the region {name.removeprefix(REGION)}" if name.startswith(REGION) else name for name in by.split(",")
    )


def make_table(runs: Sequence[Run], by: Both = "", suite: OneSuite = "", measure: Measure = "first") -> Table:
    """Make one row for each suite and model.

    Raises:
        UsageError: no suite has the tag.
    """
    rows = [row for model, run in named(runs) for row in _rows(run, model, by, suite, measure, titles(runs))]
    if not rows:
        raise unknown(runs, by)
    notes = (
        "low, high: 95% interval if the items were independent (Wilson's); clustered low, clustered high: 95% interval for "
        f"other values of {by}, with the items of each (cluster-robust variance, Student's t). The design effect is the "
        "ratio of the two variances.",
        f"An interval from fewer than {FEW} clusters rests on few. If items are crossed (for example, each verb with each "
        "subject), name both: by=verb,subject.",
        "Ties count as failures; n does not include undefined items and items without the tag.",
    )
    return Table(f"Accuracy by suite, items clustered by {spoken_by(by)}", COLUMNS, tuple(rows), notes=notes)


def _rows(
    run: Run, model: str, by: str, suite: str, measure: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[Cell, ...]]:
    for record in run.suites:
        if suite and record.name != suite:
            continue
        table: pl.DataFrame | None = verdicts(run, measure, record.name)
        for tag in by.split(","):
            found = labelled(run, record.name, table, tag) if table is not None else None
            table = found.rename({"label": f"{_KIND}{tag}"}) if found is not None else None
        if table is not None and len(table):
            yield (names[record.name, record.hash], measure, model, *_numbers(table, run.kind(measure), run.tolerance))


_KIND = "kind:"


def _numbers(table: pl.DataFrame, kind: Kind, tolerance: float) -> tuple[Cell, ...]:
    clusters = {name.removeprefix(_KIND): table[name].to_list() for name in table.columns if name.startswith(_KIND)}
    estimate: Clustered = clustered(table["value"].to_numpy(), kind, clusters)
    defined = table.filter(pl.col("value").is_not_nan())
    ties = int((defined["margin"].abs() <= tolerance).sum())
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
