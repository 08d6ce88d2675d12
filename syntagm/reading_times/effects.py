"""From bits to milliseconds: effects of suites that a regression on a corpus predicts, beside those of people.

The slopes of surprisal are fitted on reading times of a corpus, or of fillers (van Schijndel & Linzen 2021; Huang et al.
2024). A word's predicted time changes by the slope of its own surprisal, and by those of the words before it. The predicted
effect in a region is the mean over its words, then the difference of two conditions, then the mean over items. Other
predictors count as equal in both conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan, sqrt

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import InputError, UsageError
from syntagm.reading_times.observations import Observations
from syntagm.reading_times.regressions import least_squares
from syntagm.reading_times.tables import Readings
from syntagm.stats.cluster_intervals import spread_of_clusters
from syntagm.stats.interval import Spread, critical

Numbers = NDArray[np.float64]
COLUMNS = (
    "model", "suite", "contrast", "region", "items", "bits", "people", "people_low", "people_high", "predicted",
    "predicted_low", "predicted_high", "ratio", "ratio_low", "ratio_high",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its variance, its degrees of freedom, and its 95% interval."""

    value: float
    variance: float = nan
    freedom: float = nan

    @property
    def ends(self) -> tuple[float, float]:
        """The interval; nan if there is none."""
        if isnan(self.variance) or not self.freedom > 0:
            return nan, nan
        reach = critical(self.freedom) * sqrt(self.variance)
        return self.value - reach, self.value + reach


@dataclass(frozen=True, slots=True, eq=False)
class Slopes:
    """What a bit costs: the slopes of the surprisal of a word, and of the words before it.

    Arguments:
        model: the language model.
        values: milliseconds per bit of the word itself, of the word before it, and so on.
        influences: the influence of each row of the corpus on each slope; empty if the slopes were given.
        clusters: the units of the corpus: name -> the unit of each row.
        n: the number of rows.
    """

    model: str
    values: Numbers
    influences: Numbers
    clusters: Mapping[str, NDArray[np.int64]]
    n: int

    def predict(self, bits: Numbers) -> Number:
        """Return the milliseconds of some bits, with the uncertainty of the slopes.

        Arguments:
            bits: the bits of the word itself, of the word before, and so on. Shape (slopes,).
        """
        value = float(self.values @ bits)
        spread = spread_of_clusters(self.influences @ bits, self.clusters) if len(self.influences) else None
        return Number(value) if spread is None else Number(value, spread.variance, spread.freedom)


def slopes(label: str, rows: Observations, clusters: Mapping[str, NDArray[np.int64]]) -> Slopes:
    """Fit the slopes of one added column and its lags by least squares, with cluster-robust uncertainty.

    Raises:
        UsageError: the model adds several columns, which can't be told from a word's bits.
        InputError: the columns determine each other.
    """
    added = rows.added[label]
    own = [term for term in added if len(term) == 1 and not term[0].function]
    first = own[0][0].column if own else ""
    wanted = [first, *(f"{first}_{lag}" for lag in range(1, len(added)))]
    if [term[0].column for term in own] != wanted or len(own) < len(added):
        raise UsageError("--add", label, "one column of bits, whose lags --lags adds")
    columns = rows.columns((*rows.baseline, *added)).values
    line = least_squares(columns, rows.times)
    if not line.kept[-len(added) :].all():
        raise InputError("effects", f"bits of {label} that other columns determine", "independent columns")
    kept = columns[:, line.kept]
    inverse = np.linalg.inv(kept.T @ kept)
    residual = rows.times - columns @ line.coefficients
    influences = (kept @ inverse[:, -len(added) :]) * residual[:, None]
    return Slopes(label, line.coefficients[-len(added) :], influences, clusters, len(residual))


@dataclass(frozen=True, slots=True)
class Contrast:
    """Two conditions whose difference is an effect: the first minus the second."""

    high: str
    low: str

    def __str__(self) -> str:
        return f"{self.high} - {self.low}"


def read_contrast(text: str, conditions: Sequence[str]) -> Contrast:
    """Read a contrast, such as `ambiguous-unambiguous`.

    Raises:
        UsageError: it is not made of two of the conditions.

    >>> read_contrast("amb-unamb", ["amb", "unamb"])
    Contrast(high='amb', low='unamb')
    """
    for at, sign in enumerate(text):
        high, low = text[:at].strip(), text[at + 1 :].strip()
        if sign == "-" and high in conditions and low in conditions and high != low:
            return Contrast(high, low)
    raise UsageError("--contrast", repr(text), f"CONDITION-CONDITION, of {', '.join(map(str, conditions))}")


def region_bits(words: Readings, model: str | None, count: int) -> pl.DataFrame:
    """Return the mean bits of the words of each region, and of the words before them.

    Arguments:
        words: a row per word: suite, item, condition, region, position, bits (`export --as words`).
        model: the model whose rows are used; None for all rows.
        count: the number of slopes.

    Returns:
        The columns suite, item, condition, region, and bits_0, bits_1, ... Words before the first one have 0 bits. A mean
        is null if the bits of one of its words are undefined.
    """
    words.require("item", "condition", "region", "bits")
    frame = words.frame if model is None else words.frame.filter(pl.col("model") == model)
    if "suite" not in frame.columns:
        frame = frame.with_columns(suite=pl.lit(""))
    by = ["suite", "item", "condition"]
    order = [*by, "position"] if "position" in frame.columns else by
    frame = frame.sort(order, maintain_order=True)
    lagged = [pl.col("bits").shift(lag, fill_value=0.0).over(by).alias(f"bits_{lag}") for lag in range(count)]
    # The empty region of a word outside all regions is none.
    frame = frame.with_columns(lagged).filter(pl.col("region").is_not_null())
    return frame.group_by([*by, "region"], maintain_order=True).agg(
        *(_defined_mean(f"bits_{lag}") for lag in range(count))
    )


def _defined_mean(column: str) -> pl.Expr:
    """Return the mean of a column in a group; null if a value is missing."""
    return pl.when(pl.col(column).is_not_null().all()).then(pl.col(column).mean()).otherwise(None).alias(column)


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect in a region.

    Arguments:
        model, suite, contrast, region: what it is about; `item` is empty for the mean over items.
        items: the number of items with both conditions.
        bits: the mean difference of the surprisal in the region.
        people, predicted: in milliseconds.
        ratio: predicted divided by people's, with Fieller's interval.
    """

    model: str
    suite: str
    contrast: str
    region: str
    items: int
    bits: float
    people: Number
    predicted: Number
    ratio: tuple[float, float, float]
    item: str = ""

    @property
    def row(self) -> tuple[object, ...]:
        """The cells of the table."""
        return (
            self.model, self.suite, self.contrast, self.region, self.items, self.bits, self.people.value, *self.people.ends,
            self.predicted.value, *self.predicted.ends, *self.ratio,
        )  # fmt: skip


def of_people(times: Readings, contrast: Contrast, by_item: bool = False) -> dict[tuple[str, str, str], Number]:
    """Compute the effects of people: (suite, region, item) -> mean time under the first condition minus under the second.

    These are differences of plain means. Participants and items are random, and crossed. The item is "" unless `by_item`.
    """
    times.require("time", "condition", "region")
    frame = times.frame.filter(pl.col("time").is_not_null() & pl.col("condition").is_in([contrast.high, contrast.low]))
    if "suite" not in frame.columns:
        frame = frame.with_columns(suite=pl.lit(""))
    by = ["suite", "region", *(["item"] if by_item else [])]
    found = {}
    for key, part in frame.group_by(by, maintain_order=True):
        high = (part["condition"] == contrast.high).to_numpy()
        values = part["time"].to_numpy()
        if high.all() or not high.any():
            continue
        means = float(values[high].mean()), float(values[~high].mean())
        influences = np.where(high, (values - means[0]) / high.sum(), -(values - means[1]) / (~high).sum())
        clusters = {
            f"{role}s": np.unique(part[role].cast(pl.String).fill_null("").to_numpy(), return_inverse=True)[1]
            for role in ("participant", "item")
            if role in part.columns and not (by_item and role == "item")
        }
        spread = spread_of_clusters(influences, clusters) if clusters else None
        suite, region, *item = map(str, key)
        found[suite, region, item[0] if item else ""] = _number(means[0] - means[1], spread)
    return found


def _number(value: float, spread: Spread | None) -> Number:
    return Number(value) if spread is None else Number(value, spread.variance, spread.freedom)


def effects(
    found: Slopes,
    bits: pl.DataFrame,
    contrast: Contrast,
    people: Mapping[tuple[str, str, str], Number],
    by_item: bool = False,
) -> list[Effect]:
    """Predict the effect of each region of each suite, and put it beside that of people.

    Arguments:
        bits: from `region_bits`.
        people: from `of_people`; empty without times of people.
        by_item: whether to give a row for each item instead of means over items.

    Raises:
        InputError: no item has both conditions.
    """
    columns = [name for name in bits.columns if name.startswith("bits_")]
    sides = [bits.filter(pl.col("condition") == name).drop("condition") for name in (contrast.high, contrast.low)]
    both = sides[0].join(sides[1], on=["suite", "item", "region"], suffix="_low", maintain_order="left")
    if not both.height:
        raise InputError(f"contrast {contrast}", "no item with both conditions in one region", "items with both")
    both = both.with_columns((pl.col(name) - pl.col(f"{name}_low")).alias(name) for name in columns)
    rows = []
    by = ["suite", "region", *(["item"] if by_item else [])]
    for key, part in both.group_by(by, maintain_order=True):
        part = part.filter(
            pl.all_horizontal(pl.col(name).is_not_nan() & pl.col(name).is_not_null() for name in columns)
        )
        if not part.height:
            continue
        differences = part.select(columns).to_numpy()
        mean = differences.mean(axis=0)
        predicted = found.predict(mean)
        if not by_item and part.height > 1:
            of_items = differences @ found.values
            variance = float(of_items.var(ddof=1)) / part.height
            predicted = _sum(predicted, Number(0.0, variance, part.height - 1.0))
        suite, region, *item = map(str, key)
        name = item[0] if item else ""
        own = people.get((suite, region, name), Number(nan))
        rows.append(
            Effect(
                found.model,
                suite,
                str(contrast),
                region,
                part.height,
                float(mean[0]),
                own,
                predicted,
                fieller(predicted, own),
                name,
            )
        )
    return rows


def _sum(first: Number, second: Number) -> Number:
    """Add two independent numbers; the degrees of freedom are those of Satterthwaite (1946)."""
    if isnan(first.variance):
        return Number(first.value + second.value, second.variance, second.freedom)
    variance = first.variance + second.variance
    freedom = (
        variance**2 / (first.variance**2 / first.freedom + second.variance**2 / second.freedom) if variance else nan
    )
    return Number(first.value + second.value, variance, freedom)


def fieller(top: Number, bottom: Number) -> tuple[float, float, float]:
    """Return the ratio of two independent numbers with Fieller's interval (1954); nan where it has no ends.

    >>> [round(number, 3) for number in fieller(Number(8.6, 1.0, 1e9), Number(150.2, 100.0, 1e9))]
    [0.057, 0.043, 0.073]
    """
    if isnan(bottom.value) or bottom.value == 0:
        return nan, nan, nan
    ratio = top.value / bottom.value
    if isnan(top.variance) or isnan(bottom.variance):
        return ratio, nan, nan
    square = critical(min(top.freedom, bottom.freedom)) ** 2
    a = bottom.value**2 - square * bottom.variance
    b = top.value * bottom.value
    c = top.value**2 - square * top.variance
    if a <= 0 or b * b - a * c < 0:
        return ratio, nan, nan
    root = sqrt(b * b - a * c)
    return ratio, (b - root) / a, (b + root) / a
