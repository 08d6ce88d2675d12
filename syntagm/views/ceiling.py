"""Ceiling: how well models predict what people do with items, beside the best that any model could.

What people do with an item is the share of answers as predicted (pairs), or the margin of the first prediction over
their mean ratings, times or verdicts. People who disagree can't be predicted: the ceiling is the square root of the
reliability of these numbers, by split halves.
"""

from collections.abc import Sequence
from math import isnan
from typing import Annotated

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import TABLE, People, SuiteRecord, item_values
from syntagm.runs import Run, listed, named, same_items, titles
from syntagm.stats import Reliability, association, judgements
from syntagm.suites import parse
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.people import asks, of_people

COLUMNS = (
    "suite", "people", "model", "items", "r", "low", "high", "rho", "ceiling", "reliability",
    "reliability_low", "reliability_high", "share",
)  # fmt: skip
Splits = Annotated[int, "number of random splits of people into halves"]


def make_table(runs: Sequence[Run], splits: Splits = 200) -> Table:
    """Make one row for each suite, run of people, and other run of the same items; and one over all suites.

    Raises:
        UsageError: there is no run of people, or there are too few splits.
    """
    if not 10 <= splits <= 10_000:
        raise UsageError("splits=", str(splits), "10 to 10000")
    groups = of_people(runs, "ceiling")
    names = titles([run for _, run in groups])
    notes: list[str] = []
    rows: list[tuple[Cell, ...]] = []
    for people, run in groups:
        others = [(name, other) for name, other in named(runs) if other is not run and other.task is not People]
        # The reliability beside a model is that of its own suites.
        pooled: dict[str, list[tuple[NDArray[np.float64], _Part]]] = {name: [] for name, _ in others}
        parts: list[_Part] = []
        lacking: dict[str, list[str]] = {}
        for record in run.suites:
            items, whole, reliability, halves = _of_suite(run, record, splits)
            parts.append((whole, halves))
            title, before = names[record.name, record.hash], len(rows)
            for name, other in others:
                if (margins := _margins(other, run, record, items)) is None:
                    lacking.setdefault(name, []).append(record.name)
                else:
                    pooled[name].append((margins, (whole, halves)))
                    rows.append(_row(title, people, name, margins, whole, reliability))
            if len(rows) == before:
                rows.append(_row(title, people, "", None, whole, reliability))
        notes += [
            f"{name} lacks items that {people} saw, or their prediction, in {listed(suites)}."
            for name, suites in lacking.items()
        ]
        if len(parts) > 1:
            several = [(name, own) for name, own in pooled.items() if len(own) > 1] or [("", [])]
            for name, own in several:
                of_model = [part for _, part in own] or parts
                count = "all" if len(of_model) == len(parts) else f"{len(of_model)} of"
                margins = np.concatenate([of_suite for of_suite, _ in own]) if own else None
                everything = np.concatenate([whole for whole, _ in of_model])
                reliability = _reliability_of_all(run, of_model, splits)
                rows.append(_row(f"{count} {len(parts)} suites", people, name, margins, everything, reliability))
    explained = (
        "r, rho: Pearson's and Spearman's correlation of the model's margins with what people do with the items; low, high: 95% "
        "interval of r, for other items (Fisher's, or the jackknife's where it is wider).",
        f"reliability: mean correlation of two random halves of the people over {splits} splits, for all people by Spearman and "
        "Brown's formula; reliability_low, reliability_high: its 95% interval for other items and these people (jackknife); "
        "halves that agree less than by chance count as a reliability of 0. "
        "ceiling: its square root, the correlation of a perfect predictor. share: r divided by the ceiling.",
        "share has no interval: the uncertainty of r and that of the reliability add up in it.",
    )
    return Table("Models beside the ceiling of people", COLUMNS, tuple(rows), notes=(*explained, *notes))


def _row(
    suite: str, people: str, model: str, margins: NDArray[np.float64] | None, whole: NDArray[np.float64], reliability: Reliability
) -> tuple[Cell, ...]:  # fmt: skip
    best = judgements.ceiling(reliability.value)
    rows_of = (reliability.value, reliability.low, reliability.high)
    if margins is None:
        count = int((~np.isnan(whole)).sum())
        return (suite, people, None, count, *(None,) * 4, or_none(best), *map(or_none, rows_of), None)
    both = np.isfinite(margins) & np.isfinite(whole)
    plain = association(margins[both], whole[both])
    ranks = association(margins[both], whole[both], "Spearman")
    share = plain.value / best if not isnan(best) and best > 0 else float("nan")
    cells = (plain.value, plain.low, plain.high, ranks.value, best, *rows_of, share)
    return (suite, people, model, int(both.sum()), *map(or_none, cells))


_Halves = list[tuple[NDArray[np.float64], NDArray[np.float64]]]
_Part = tuple[NDArray[np.float64], _Halves]


def _of_suite(
    run: Run, record: SuiteRecord, splits: int
) -> tuple[list[str], NDArray[np.float64], Reliability, _Halves]:
    """Return the items, what people do with them, its reliability, and the same from the halves of each split."""
    # Excluded times don't count, but tell which regions a sentence has.
    table = run.table(TABLE, record.name)
    rows = table.filter(pl.col("excluded") == "")
    first = next(iter(record.predictions_for("first")), "")
    formula = parse(record.predictions[first])
    items = run.results(record.name).filter(pl.col("measure") == first)["item"].to_list()
    asked = asks(run)
    whole = np.array(item_values(table, items, asked, formula))
    everyone = _everyone(run)
    codes = rows["person"].replace_strict(everyone, list(range(len(everyone))), return_dtype=pl.Int64)
    place = codes.to_numpy() if len(rows) else np.empty(0, np.int64)
    collected: list[NDArray[np.float64]] = []
    excluded = [table.filter(pl.col("excluded") != "")]

    def of_half(half: NDArray[np.bool_]) -> NDArray[np.float64]:
        others = rows.filter(pl.Series(~half[place], dtype=pl.Boolean)).with_columns(excluded=pl.lit("the other half"))
        counted = rows.filter(pl.Series(half[place], dtype=pl.Boolean))
        collected.append(np.array(item_values(pl.concat([counted, *excluded, others]), items, asked, formula)))
        return collected[-1]

    reliability = judgements.split_halves(len(everyone), of_half, splits, judgements.seed())
    return items, whole, reliability, list(zip(collected[::2], collected[1::2], strict=True))


def _everyone(run: Run) -> list[str]:
    """Return all people whose answers count, in one order for all suites, so that each split is the same for all."""
    people = pl.concat([run.table(TABLE, record.name).filter(pl.col("excluded") == "") for record in run.suites])
    return sorted(set(people["person"]))


def _reliability_of_all(run: Run, parts: Sequence[_Part], splits: int) -> Reliability:
    """Return the reliability over the items of all suites, from the same splits."""
    joined = [
        tuple(np.concatenate([halves[split][side] for _, halves in parts]) for side in (0, 1))
        for split in range(min(len(halves) for _, halves in parts))
    ]
    found = iter(joined)
    current: list[NDArray[np.float64]] = []

    def next_half(half: NDArray[np.bool_]) -> NDArray[np.float64]:
        if not current:
            current.extend(next(found))
        return current.pop(0)

    return judgements.split_halves(len(_everyone(run)), next_half, len(joined), judgements.seed())


def _margins(other: Run, run: Run, record: SuiteRecord, items: Sequence[str]) -> NDArray[np.float64] | None:
    """Return the margins of a model for the items that people saw; None if it lacks an item or the first prediction."""
    # The prediction has another name in a suite of another format.
    first = record.predictions[next(iter(record.predictions_for("first")))]
    same = same_items(run, record.name, other)
    own = other.suite(record.name).predictions if same else {}
    names = [name for name, formula in own.items() if formula == first]
    found = other.results(record.name).filter(pl.col("measure").is_in(names)) if names else pl.DataFrame()
    margins = dict(found.select("item", "margin").iter_rows()) if len(found) else {}
    return np.array([margins.get(same[item], np.nan) for item in items]) if margins else None
