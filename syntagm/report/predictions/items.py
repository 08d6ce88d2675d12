"""The items of a suite that a report shows with every token: a few, chosen so that they teach most."""

import math
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl

from syntagm.answers import Surprisals
from syntagm.io.json import finite
from syntagm.report.numbers import Subject
from syntagm.runs.store import Run
from syntagm.stats import matching
from syntagm.suite import Region, Sentence
from syntagm.tasks.align import align

LIMIT, SEED = 50, 1
SHARES = {"flip": 15, "undefined": 5, "tie": 10, "extreme": 10}
Key = tuple[str, int]
_KEY = ("item", "occurrence")
_VERDICT = ("measure", "value", "margin")


@dataclass(frozen=True, slots=True)
class Shown:
    """The items of a suite that a report shows, how many the suite has, and its regions.

    Arguments:
        ranks: of the items, in the order of the suite; 0 is the most telling.
        keys, reasons: of the items, by rank.
        verdicts, sentences: their rows with their ranks, a table a model.
    """

    ranks: tuple[int, ...]
    of: int
    regions: tuple[str, ...]
    keys: tuple[Key, ...]
    reasons: tuple[str, ...]
    verdicts: tuple[pl.DataFrame, ...]
    sentences: tuple[pl.DataFrame, ...]
    conditions: Mapping[str, int]

    def items(self, first: int, last: int) -> dict[int, dict[str, Any]]:
        """Return the items of rank `first` up to, not including, `last`, by rank, with every token.

        Each is {id, why, rank, verdicts: [[column, measure, value, margin]], sentences: [[column, condition, [region of each
        token], [token], [bits]]]}. Columns, conditions and regions are indices, a region -1 is none. nan is None; an end
        symbol is an empty token.
        """
        found: dict[int, dict[str, Any]] = {
            rank: {"id": self.keys[rank][0], "why": self.reasons[rank], "rank": rank, "verdicts": [], "sentences": []}
            for rank in range(first, min(last, len(self.keys)))
        }
        places = {name: place for place, name in reversed(list(enumerate(self.regions)))}
        # Models that cut a sentence alike share the work.
        cut = cache(partial(_cut, places))
        within = pl.col("rank").is_between(first, last, closed="left")
        for index, (verdicts, table) in enumerate(zip(self.verdicts, self.sentences, strict=True)):
            for rank, measure, value, margin in verdicts.filter(within).select("rank", *_VERDICT).iter_rows():
                found[rank]["verdicts"].append([index, measure, _number(value), _number(margin)])
            for row in table.filter(within).iter_rows(named=True):
                if row["condition"] in self.conditions:
                    spans = zip(row["region_names"], row["region_starts"], row["region_ends"], strict=True)
                    homes, tokens = cut(row["text"], tuple(spans), tuple(row["starts"]))
                    bits = _numbers(row["bits"])
                    sentence = [index, self.conditions[row["condition"]], homes, tokens, bits]
                    found[row["rank"]]["sentences"].append(sentence)
        return found


def choose(
    order: Sequence[Key], verdicts: Sequence[pl.DataFrame], tolerance: float, name: str, limit: int = LIMIT
) -> dict[Key, str]:
    """Items with the reason why each is chosen, the most telling first; at most `limit`.

    Chosen are items that models judge differently, undefined ones, ties, extremes, and a sample for the rest.

    Arguments:
        order: all items of the suite.
        verdicts: the results on the suite, one table a model, columns item, measure, value, margin.
        tolerance: margins within this many bits are ties.
        name: seeds the sample, with `SEED`.

    If all items fit, the reasons tell the same things and the others are "shown".
    """
    table = pl.concat(_keyed(one).with_columns(model=pl.lit(index)) for index, one in enumerate(verdicts))
    all_fit = len(order) <= limit
    reasons: dict[Key, str] = {}
    for reason, keys in _candidates(table, tolerance).items():
        fresh = [key for key in keys if key not in reasons]
        # Where all items fit none is there for being extreme; it only comes earlier.
        named = "shown" if all_fit and reason == "extreme" else reason
        reasons |= dict.fromkeys(fresh if all_fit else fresh[: SHARES[reason]], named)
    rest = [key for key in order if key not in reasons]
    if all_fit:
        return reasons | dict.fromkeys(rest, "shown")
    sample = random.Random(f"{SEED} {name}").sample(rest, max(0, min(len(rest), limit - len(reasons))))
    return dict(list((reasons | dict.fromkeys(sample, "sample")).items())[:limit])


def _candidates(table: pl.DataFrame, tolerance: float) -> dict[str, list[Key]]:
    """Reason -> items, the most telling first."""
    defined, tied = table.filter(pl.col("value").is_not_nan()), pl.col("margin").abs() <= tolerance
    # Of verdicts: numbers always differ.
    judged = defined.filter(pl.col("value").is_in([0.0, 1.0]))
    differing = judged.group_by(*_KEY, "measure", maintain_order=True).agg(
        flips=pl.col("value").n_unique() > 1, spread=pl.col("margin").max() - pl.col("margin").min()
    )
    flips = differing.filter("flips").sort("spread", descending=True, maintain_order=True)
    first = table.filter((pl.col("measure") == pl.col("measure").first()) & (pl.col("model") == 0))
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


def shown(subject: Subject[Run], limit: int = LIMIT, sentences: Sequence[pl.DataFrame] | None = None) -> Shown:
    """Choose at most `limit` items of a suite.

    Arguments:
        sentences: of the suite, a table a column, if they are at hand.
    """
    verdicts = [_keyed(column.run.results(subject.name)) for column in subject.columns]
    found_sentences = sentences or [column.run.sentences(subject.name) for column in subject.columns]
    sentences = [_sentences(table) for table in found_sentences]
    order = _order(sentences)
    tolerance = max(column.run.tolerance for column in subject.columns)
    reasons = choose(order, verdicts, tolerance, subject.name, limit)
    ranks = {key: rank for rank, key in enumerate(reasons)}
    named = pl.concat(table["region_names"].explode().drop_nulls() for table in sentences)
    return Shown(
        tuple(ranks[key] for key in order if key in ranks),
        len(order),
        tuple(named.unique(maintain_order=True).to_list()),
        tuple(reasons),
        tuple(reasons.values()),
        tuple(_chosen(table, ranks) for table in verdicts),
        tuple(_chosen(table, ranks) for table in sentences),
        {name: place for place, name in enumerate(subject.record.conditions)},
    )


def _cut(
    regions: Mapping[str, int], text: str, spans: tuple[tuple[str, int, int], ...], starts: tuple[int, ...]
) -> tuple[list[int], list[str]]:
    """The region of each token of a sentence, -1 for none, and the tokens."""
    sentence = Sentence(text, tuple(Region(*span) for span in spans))
    nothing = np.zeros(len(starts))
    answer = Surprisals(text, np.array(starts, np.int32), nothing, nothing == 0)
    # Only for the eye: a token over a border is shown where it begins, whatever the run's rule makes of it.
    home = align(sentence, answer, "start").tolist()
    homes = [regions[sentence.regions[one].name] if one >= 0 else -1 for one in home]
    return homes, [text[start:end] for start, end in pairwise([*starts, len(text)])]


def _keyed(table: pl.DataFrame) -> pl.DataFrame:
    return matching.numbered(table, "measure")


def _sentences(table: pl.DataFrame) -> pl.DataFrame:
    return matching.numbered(table, "condition")


def _order(sentences: Sequence[pl.DataFrame]) -> list[Key]:
    keys = pl.concat(table.select(pl.col("item"), pl.col("occurrence").cast(pl.Int64)) for table in sentences)
    return [(str(item), int(at)) for item, at in keys.unique(maintain_order=True).iter_rows()]


def _chosen(table: pl.DataFrame, ranks: Mapping[Key, int]) -> pl.DataFrame:
    rows = [(*key, rank) for key, rank in ranks.items()]
    schema = {"item": pl.String, "occurrence": pl.Int64, "rank": pl.Int64}
    return table.join(pl.DataFrame(rows, schema=schema, orient="row"), on=list(_KEY), maintain_order="left")


def _number(value: float) -> float | None:
    number: float | None = finite(round(value, 3))
    return number


def _numbers(values: Sequence[float]) -> list[float | None]:
    # A sum is finite only if all of them are, which is the rule.
    if math.isfinite(sum(values)):
        return [round(value, 3) for value in values]
    return [_number(value) for value in values]
