"""The items of a suite that a report shows with every token: a few, chosen so that they teach most."""

import math
import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from syntagm.align import align
from syntagm.question import Surprisals
from syntagm.report.numbers import Column, Subject
from syntagm.suite import Region, Sentence

LIMIT, SEED = 50, 1
SHARES = {"flip": 15, "undefined": 5, "tie": 10, "extreme": 10}
# An item's id may occur twice in a suite; the occurrences are told apart by their order.
Key = tuple[str, int]
_KEY = ("item", "occurrence")


def choose(verdicts: Sequence[pl.DataFrame], tolerance: float, name: str, limit: int = LIMIT) -> dict[Key, str]:
    """Items with the reason why each is chosen, the most telling first; at most `limit`.

    Chosen are items that models judge differently, undefined ones, ties, extremes, and a sample for the rest.

    Arguments:
        verdicts: the results on the suite, one table a model, columns item, measure, value, margin.
        tolerance: margins within this many bits are ties.
        name: seeds the sample, with `SEED`.

    If all items fit, the reasons tell the same things and the others are "shown".
    """
    order = _order(verdicts)
    table = pl.concat(_keyed(one).with_columns(model=pl.lit(index)) for index, one in enumerate(verdicts))
    candidates = _candidates(table, tolerance)
    reasons: dict[Key, str] = {}
    for reason, keys in candidates.items():
        fresh = [key for key in keys if key not in reasons]
        share = len(fresh) if len(order) <= limit else SHARES[reason]
        reasons |= dict.fromkeys(fresh[:share], reason)
    rest = [key for key in order if key not in reasons]
    if len(order) > limit:
        rest = random.Random(f"{SEED} {name}").sample(rest, max(0, min(len(rest), limit - len(reasons))))
        reasons |= dict.fromkeys(rest, "sample")
    else:
        reasons |= dict.fromkeys(rest, "shown")
    return dict(list(reasons.items())[:limit])


def _candidates(table: pl.DataFrame, tolerance: float) -> dict[str, list[Key]]:
    """Reason -> items, the most telling first."""
    defined, tied = table.filter(pl.col("value").is_not_nan()), pl.col("margin").abs() <= tolerance
    differing = defined.group_by(*_KEY, "measure", maintain_order=True).agg(
        flips=pl.col("value").n_unique() > 1, spread=pl.col("margin").max() - pl.col("margin").min()
    )
    flips = differing.filter("flips").sort("spread", descending=True, maintain_order=True)
    first = table.filter((pl.col("measure") == table["measure"].first()) & (pl.col("model") == 0))
    ranked = first.filter(pl.col("margin").is_finite()).sort("margin", maintain_order=True).select(_KEY).rows()
    # Lowest, highest, second lowest, second highest ...
    extremes = [key for pair in zip(ranked, reversed(ranked), strict=True) for key in pair][: SHARES["extreme"]]
    found = {
        "flip": flips.select(_KEY).rows(),
        "undefined": table.filter(pl.col("value").is_nan()).select(_KEY).rows(),
        "tie": defined.filter(tied).select(_KEY).rows(),
        "extreme": extremes,
    }
    return {reason: list(dict.fromkeys((str(item), int(at)) for item, at in rows)) for reason, rows in found.items()}


def shown(subject: Subject, limit: int = LIMIT) -> list[dict[str, Any]]:
    """The chosen items of a suite in its order, with the verdicts and every token of each model.

    Each is {id, why, rank, verdicts: [[column, measure, value, margin]], sentences: [[column, condition, [region of each
    token], [token], [bits]]]}. rank: 0 is the most telling. Columns, conditions and regions are indices, a region -1 is
    none; regions are those of `region_names`. nan is None; an end symbol is an empty token.
    """
    tables = [column.run.results(subject.name) for column in subject.columns]
    reasons = choose(tables, max(column.run.tolerance for column in subject.columns), subject.name, limit)
    found: dict[Key, dict[str, Any]] = {
        key: {"id": key[0], "why": why, "rank": rank, "verdicts": [], "sentences": []}
        for rank, (key, why) in enumerate(reasons.items())
    }
    for index, (column, table) in enumerate(zip(subject.columns, tables, strict=True)):
        chosen = _chosen(_keyed(table), reasons)
        for item, at, measure, value, margin in chosen.select(*_KEY, "measure", "value", "margin").iter_rows():
            found[item, at]["verdicts"].append([index, measure, _number(value), _number(margin)])
        for key, sentence in _sentences(subject, column, index, reasons):
            found[key]["sentences"].append(sentence)
    order = {key: place for place, key in enumerate(_order(tables))}
    return [found[key] for key in sorted(found, key=order.__getitem__)]


def region_names(subject: Subject) -> list[str]:
    """The names of the regions of a suite, in order of first appearance."""
    lists = [
        column.run.sentences(subject.name)["region_names"].unique(maintain_order=True) for column in subject.columns
    ]
    return list(dict.fromkeys(name for names in lists for one in names for name in one))


def _sentences(
    subject: Subject, column: Column, index: int, reasons: Mapping[Key, str]
) -> Iterator[tuple[Key, list[Any]]]:
    regions = {name: place for place, name in enumerate(region_names(subject))}
    conditions = {name: place for place, name in enumerate(subject.record.conditions)}
    table = column.run.sentences(subject.name)
    table = _chosen(table.with_columns(occurrence=pl.int_range(pl.len()).over("item", "condition")), reasons)
    for row in table.iter_rows(named=True):
        spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
        sentence = Sentence(row["text"], tuple(Region(*span) for span in spans))
        starts = np.array(row["starts"], np.int32)
        # Only for the eye: a token over a border is shown where it begins, whatever the run's rule makes of it.
        home = align(
            sentence, Surprisals(row["text"], starts, np.array(row["bits"]), np.array(row["known"], bool)), "start"
        )
        places = [regions[sentence.regions[one].name] if one >= 0 else -1 for one in home.tolist()]
        tokens = [row["text"][start:end] for start, end in pairwise([*row["starts"], len(row["text"])])]
        bits = [_number(one) for one in row["bits"]]
        yield (
            (row["item"], row["occurrence"]),
            [index, conditions.setdefault(row["condition"], len(conditions)), places, tokens, bits],
        )


def _keyed(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(occurrence=pl.int_range(pl.len()).over("item", "measure"))


def _order(tables: Sequence[pl.DataFrame]) -> list[Key]:
    rows = [row for table in tables for row in _keyed(table).select(*_KEY).iter_rows()]
    return list(dict.fromkeys((str(item), int(at)) for item, at in rows))


def _chosen(table: pl.DataFrame, keys: Mapping[Key, str]) -> pl.DataFrame:
    wanted = pl.DataFrame(list(keys), schema={"item": pl.String, "occurrence": pl.Int64}, orient="row")
    return table.join(wanted, on=list(_KEY), how="semi", maintain_order="left")


def _number(value: float) -> float | None:
    return round(value, 3) if math.isfinite(value) else None
