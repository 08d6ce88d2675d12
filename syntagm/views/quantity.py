"""A quantity of items: one number for each model, suite and item, and what items are grouped or placed by.

    items = quantity.tagged(runs, "distance,lemma")        tags of the items, or words of their regions: tag1, tag2
    items = quantity.of_items(runs, "first", properties)   any other properties
    rows = items.estimates("suite", "model", "tag1")       a mean with its interval for each group

The kind of the numbers is the recorded one, and decides the interval. What is random follows from the group: the items
of a suite, or suites with their items (`stats.cluster_intervals.of_items`).
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import InputError, RunError, UsageError, csv, utf8
from syntagm.evaluation import Kind, group_of
from syntagm.runs import Run, named, titles
from syntagm.stats import cluster_intervals, interval
from syntagm.suites import COLUMNS
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.estimates import chance_of_suite, shared_kind, verdicts

REGION = "region:"
EXPOSURE = "exposure:"
ESTIMATES: Mapping[str, Any] = {
    "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "ties": pl.Int64, "undefined": pl.Int64,
    "suites": pl.Int64, "method": pl.String,
}  # fmt: skip
# A function from a run and a suite to the properties of its items, in order: name -> a value for each item, or None.
Properties = Callable[[Run, str], Mapping[str, Sequence[Any]]]
_NUMBER = re.compile(r"-?\d+(\.\d+)?")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number for each item under each model."""

    # A table with the columns of results, whose model and suite are those of titles, chance (nan if unknown), tolerance
    # (bits), and a column for each property.
    rows: pl.DataFrame
    kind: Kind  # the kind of the values
    properties: tuple[str, ...] = ()  # the names of the properties

    @property
    def margins(self) -> "Quantity":
        """The margins in bits; items without a value, or without a finite margin, are undefined."""
        kept = pl.col("value").is_not_nan() & pl.col("margin").is_finite()
        value = pl.when(kept).then("margin").otherwise(float("nan"))
        return replace(self, rows=self.rows.with_columns(value=value), kind=Kind.BITS)

    def groups(self, *by: str) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
        # A property whose values in the group are numbers is in their order, others are in that of their first item.
        yield from _groups(self.rows, by)

    def estimates(self, *by: str) -> pl.DataFrame:
        """Estimate the mean of each group: a table with the columns `by` and those of `ESTIMATES`."""
        rows = [(*values, *_estimate(rows, self.kind)) for values, rows in self.groups(*by)]
        return pl.DataFrame(rows, schema={**{name: self.rows.schema[name] for name in by}, **ESTIMATES}, orient="row")


def of_items(runs: Sequence[Run], measure: str, properties: Properties, suites: Sequence[str] = ()) -> Quantity:
    """Collect the values of a measure with properties of the items; items without one of the properties are left out."""
    names = titles(runs)
    tables, present = [], dict[str, None]()
    for model, run in named(runs):
        for record in run.suites:
            if (suites and record.name not in suites) or not record.predictions_for(measure):
                continue
            results = verdicts(run, measure, record.name)
            if not len(results) or not (found := properties(run, record.name)):
                continue
            for values in found.values():
                if len(values) != len(results):
                    place, count = f"{run.place}, suite {record.name}", f"{len(results)} results of {len(values)} items"
                    raise RunError(place, count, "one for each item and measure")
            placed = results.with_columns(
                model=pl.lit(model),
                suite=pl.lit(names[record.name, record.hash]),
                chance=pl.lit(chance_of_suite(record, measure).value),
                tolerance=pl.lit(run.tolerance),
            )
            present |= dict.fromkeys(found)
            tables.append(
                placed.hstack([_column(name, values) for name, values in found.items()]).drop_nulls(list(found))
            )
    if not tables:
        raise UsageError(
            "measure", f"{measure!r}, of which no item has results and the properties", "another, or other runs"
        )
    return Quantity(pl.concat(tables, how="diagonal_relaxed"), shared_kind(runs, measure), tuple(present))


def tagged(runs: Sequence[Run], by: str, measure: str = "first", suites: Sequence[str] = (), most: int = 2) -> Quantity:
    """Collect the values of a measure with tags of the items, of the suites that have them; see `labels`."""

    def properties(run: Run, suite: str) -> Mapping[str, Sequence[Any]]:
        found = {f"tag{place}": labels(run, suite, tag) for place, tag in enumerate(by.split(","), 1)}
        return found if all(any(values) for values in found.values()) else {}

    if by.count(",") >= most:
        raise UsageError("by=", repr(by), "one tag of the items" + (", or two" if most > 1 else ""))
    known = dict.fromkeys(suite.name for run in runs for suite in run.suites)
    if odd := next((name for name in suites if name not in known), ""):
        raise UsageError("suite=", f"{odd!r}, which no run has", "one of " + ", ".join(known))
    try:
        return of_items(runs, measure, properties, suites)
    except UsageError:
        raise unknown(runs, by, suites) from None


def tabulated(title: str, rows: pl.DataFrame, notes: Sequence[str], optional: Sequence[str] = ()) -> Table:
    empty = [name for name in optional if all(or_none(value) in ("", None) for value in rows[name])]
    kept = rows.drop(empty)
    cells: list[tuple[Cell, ...]] = [tuple(map(or_none, row)) for row in kept.iter_rows()]
    return Table(title, tuple(kept.columns), tuple(cells), notes=tuple(notes))


def tags_of(run: Run, suite: str) -> list[str]:
    """List the tags of the first item of a suite and of the suite, and `region:NAME` for each of its regions."""
    first = run.sentences(suite).head(1)
    if not len(first):
        return []
    regions = [REGION + name for name in first["region_names"][0].to_list()]
    return [*dict.fromkeys((*json.loads(first["tags"][0]), *run.suite(suite).tags)), *regions]


def labels(run: Run, suite: str, by: str) -> list[str | None]:
    """Return the label of each item of a suite, in order; None for an item without one."""
    record = run.suite(suite)
    table = run.sentences(suite)
    if not len(table):
        return []
    first = table.filter(pl.col("condition") == record.conditions[0])
    if by.startswith(EXPOSURE):
        counts = _exposure(by.removeprefix(EXPOSURE), suite)
        return [counts.get(item) for item in first["item"]]
    if not by.startswith(REGION):
        return [group_of(by, {**record.tags, **json.loads(text)}) or None for text in first["tags"]]
    name = by.removeprefix(REGION)
    columns = ("text", "region_names", "region_starts", "region_ends")
    return [_content(name, *row) for row in first.select(columns).iter_rows()]


def _exposure(file: str, suite: str) -> Mapping[str, str]:
    """Return the exposure of each item of a suite: 0, or the power of ten below the count of its rarest bigram."""
    path = Path(file)
    least = _rarest(path, path.stat().st_mtime_ns if path.is_file() else 0).get(suite, {})
    return {item: str(10 ** (len(str(count)) - 1) if count else 0) for item, count in least.items()}


# The file is asked for once for each suite; a file that was written again has another time.
@lru_cache(maxsize=2)
def _rarest(path: Path, _: int) -> Mapping[str, Mapping[str, int]]:
    """Read the counts of the rarest bigrams: suite -> item -> count."""
    least: dict[str, dict[str, int]] = {}
    for line, (suite, item, unit, _text, count) in csv.under(COLUMNS, utf8.read(path), path, blanks=True):
        if not count.isdecimal():
            raise InputError(
                f"{path}, line {line}, count", repr(count), "a whole number", "Run `syntagm exposure` again."
            )
        if unit == "bigram":
            counts = least.setdefault(suite, {})
            counts[item] = min(counts.get(item, int(count)), int(count))
    return least


def unknown(runs: Sequence[Run], by: str, suites: Sequence[str] = ()) -> UsageError:
    """Return the error for a tag or region that no item has, with those that the items of the suites do have."""
    known = sorted({
        tag for run in runs for suite in run.suites if not suites or suite.name in suites
        for tag in tags_of(run, suite.name) if any(labels(run, suite.name, tag))
    })  # fmt: skip
    found = f"{by!r}, which no item has" if by else "nothing"
    return UsageError("by=", found, "one of " + ", ".join(known) if known else "a tag")


def spoken_by(by: str) -> str:
    """Return how titles name what items are grouped by.

    >>> spoken_by("lemma"), spoken_by("verb,region:critical")
    ('lemma', 'verb and words of the region critical')
    """
    return " and ".join(
        f"words of the region {name.removeprefix(REGION)}"
        if name.startswith(REGION)
        else "exposure to the rarest bigram"
        if name.startswith(EXPOSURE)
        else name
        for name in by.split(",")
    )


def numeric(values: Sequence[Any]) -> bool:
    """Return whether values are numbers, or texts of numbers."""
    return all(isinstance(value, int | float) or _NUMBER.fullmatch(value) for value in values)


def _column(name: str, values: Sequence[Any]) -> pl.Series:
    """Return values as a column; those of an array, which a series would share, are copied."""
    return pl.Series(name, values.copy() if isinstance(values, np.ndarray) else values)


def _groups(rows: pl.DataFrame, by: Sequence[str]) -> Iterator[tuple[tuple[Any, ...], pl.DataFrame]]:
    if not by:
        yield (), rows
        return
    first, *rest = by
    values = rows[first].unique(maintain_order=True).to_list()
    if first not in ("model", "suite") and numeric(values):
        values.sort(key=float)
    for value in values:
        for others, group in _groups(rows.filter(pl.col(first) == value), rest):
            yield (value, *others), group


def _estimate(rows: pl.DataFrame, kind: Kind) -> tuple[Any, ...]:
    defined = rows.filter(pl.col("value").is_not_nan())
    values, suites = defined["value"].to_numpy(), defined["suite"].to_list()
    found = cluster_intervals.of_items(values, kind, suites)
    ties = int((defined["margin"].abs() <= defined["tolerance"]).sum())
    mean = interval.mean_of(values) if len(values) else float("nan")
    return (
        mean, found.low, found.high, len(defined), ties, len(rows) - len(defined), len(set(suites)), found.method,
    )  # fmt: skip


def _content(name: str, text: str, names: list[str], starts: list[int], ends: list[int]) -> str | None:
    if name not in names:
        return None
    place = names.index(name)
    return text[starts[place] : ends[place]].strip(" .,;:?!").lower() or None
