"""From bits to milliseconds: effects of suites that a regression on a corpus predicts, beside those of people.

The slopes of surprisal, and of other predictors that are added to the baseline, are fitted on reading times of a corpus or of
fillers (van Schijndel & Linzen 2021; Huang et al. 2024), by least squares or with a mixed-effects model. A word's predicted
time changes by the slopes of its own predictors, and by those of the words before it. The predicted effect in a region is the
mean over its words, or their sum where people's times are those of regions; then the difference of two conditions, then the
mean over items. Predictors of the baseline count as equal in both conditions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan, sqrt
from unicodedata import normalize

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, counted
from syntagm.reading_times.alarms import letters
from syntagm.reading_times.observations import Observations
from syntagm.reading_times.slopes import Number, Slopes, fit
from syntagm.reading_times.tables import MISSING, Readings, keys, refuse_absurd
from syntagm.stats import critical, spread_of_clusters

Numbers = NDArray[np.float64]
COLUMNS = (
    "model", "suite", "contrast", "region", "items", "bits", "people", "people_low", "people_high", "predicted",
    "predicted_low", "predicted_high", "ratio", "ratio_low", "ratio_high", "times",
)  # fmt: skip
# What the numbers of a region are about; files of earlier versions lack the column `times`.
UNITS = {
    "words": "times words: bits, people's and predicted times are means over the words of a region.",
    "regions": "times regions: bits, people's and predicted times are sums over the words of a region.",
    "": "unit unknown: an earlier version predicted means over words, and compared them with times of words or of whole "
    "regions. Repeat the command with --times.",
}


def unit_of(chosen: str, people: Readings | None) -> str:
    """Return whether times are those of `words` or of `regions`: as the user says, or else the column `times` of people's."""
    frame = people.frame if people else pl.DataFrame()
    place = str(people.source.path) if people else ""
    own = frame["times"].cast(pl.String).drop_nulls().unique().to_list() if "times" in frame.columns else []
    own = sorted(set(own) - {*MISSING})
    if len(own) > 1 or not {*own} <= {"words", "regions"}:
        raise InputError(f"{place}, column times", " and ".join(map(repr, own)), "words, or regions, in all rows")
    if own and chosen and own != [chosen]:
        raise UsageError(f"--times {chosen}", f"{own[0]} in the column times of {place}", "the same", "Omit --times.")
    unit = chosen or "".join(own)
    if not unit:
        raise UsageError(
            "reading effects", f"no --times{f', and no column times in {place}' if people else ''}", "one of the two",
            "--times words: each time is that of one word, or the mean of a region's words; predictions are means over them. "
            "--times regions: each time is that of a whole region; predictions are sums over its words.",
        )  # fmt: skip
    return unit


def included(times: Readings) -> Readings:
    """Return people's times without rows that their column `excluded` gives a reason for, as that of exports does."""
    if "excluded" not in times.frame.columns:
        return times
    reason = pl.col("excluded").cast(pl.String).str.strip_chars()
    none = reason.is_null() | reason.is_in(MISSING) | reason.str.to_lowercase().is_in(["false", "f", "0", "no"])
    return replace(times, frame=times.frame.filter(none))


def of_regions(times: Readings, unit: str) -> Readings:
    """Return people's times with one for each region that a person read in an item: of words, the mean."""
    # Without columns for participants and items, times stay as they are.
    by = keys(times.frame, "suite", "participant", "item", "condition", "region")
    if not {"participant", "item", "region"} <= {*by}:
        return times
    known = times.frame.filter(pl.col("time").is_not_null() & pl.col("region").is_not_null())
    several = known.filter(known.select(by).is_duplicated())
    if not several.height:
        return times
    if unit == "regions":
        raise InputError(
            f"{times.source.path}, line {several['line'][0]}", "several times of one person in one region of an item",
            "one, of the whole region", "Give --times words if they are those of its words; else delete doubled rows.",
        )  # fmt: skip
    return replace(
        times, frame=known.group_by(by, maintain_order=True).agg(pl.col("time").mean(), pl.col("line").first())
    )


def slopes(
    label: str, rows: Observations, clusters: Mapping[str, NDArray[np.int64]], random: Sequence[str] = ()
) -> Slopes:
    if any(len(term) > 1 or term[0].function for term in rows.added[label]):
        cure = "Put logarithms and interactions into the baseline, or into columns."
        raise UsageError("--add", label, "columns", cure)
    found = fit(label, rows, clusters, "mixed" if random else "ols", random)
    if found.places[0].back:
        raise UsageError("--add", f"{rows.added[label][0][0]} first", "the surprisal of the word itself first")
    return found


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
    text = normalize("NFC", text)
    for at, sign in enumerate(text):
        high, low = text[:at].strip(), text[at + 1 :].strip()
        if sign == "-" and high in conditions and low in conditions and high != low:
            return Contrast(high, low)
    raise UsageError("--contrast", repr(text), f"CONDITION-CONDITION, of {', '.join(map(str, conditions))}")


def region_amounts(words: Readings, model: str | None, found: Slopes, times: str = "words") -> pl.DataFrame:
    """Return the means or sums of the predictors of the words of each region, and of the words before them."""
    words.require("item", "condition", "region", "bits")
    frame = words.frame if model is None else words.frame.filter(pl.col("model") == model)
    if "suite" not in frame.columns:
        frame = frame.with_columns(suite=pl.lit(""))
    if "length" not in frame.columns and "word" in frame.columns:
        frame = frame.with_columns(length=letters(frame["word"]).cast(pl.Float64))
    by = ["suite", "item", "condition"]
    order = [*by, "position"] if "position" in frame.columns else by
    frame = frame.sort(order, maintain_order=True)
    columns = {name: _column(words, frame, name, name == found.predictors[0]) for name in found.predictors}
    refuse_absurd(pl.DataFrame(columns), columns, frame["line"], f"{words.source.path}, ")
    frame = frame.with_columns(column.alias(f":{name}") for name, column in columns.items())
    lagged = [
        pl.col(f":{place.predictor}").shift(place.back, fill_value=0.0).over(by).alias(str(number))
        for number, place in enumerate(found.places)
    ]
    # The empty region of a word outside all regions is none.
    frame = frame.with_columns(lagged).filter(pl.col("region").is_not_null())
    return frame.group_by([*by, "region"], maintain_order=True).agg(
        _defined(str(number), times) for number in range(len(found.places))
    )


def _column(words: Readings, frame: pl.DataFrame, name: str, first: bool) -> pl.Series:
    """Return a predictor of the words: the column of its name, of its name without that of a model, or the bits."""
    for written in (name, *(["bits"] if first else []), name.partition("_")[0]):
        if written in frame.columns:
            column = frame[written]
            if not column.dtype.is_numeric():
                shifted = column.cast(pl.Float64, strict=False)
                lost = shifted.is_null() & column.is_not_null() & ~column.is_in(MISSING)
                if lost.any():
                    place = words.source.place_of_line(frame["line"][int(lost.arg_max() or 0)])
                    raise InputError(place, f"{column.filter(lost)[0]!r} in column {written}", "a number")
                return shifted
            return column.cast(pl.Float64)
    cure = "Its slope needs the value of each word: add the column, or put it into the baseline."
    raise InputError(str(words.source.path), f"no column {name}", f"{name} of each word", cure)


def _defined(column: str, times: str) -> pl.Expr:
    """Return the mean or sum of a column in a group; null if a value is missing."""
    values = pl.col(column)
    return pl.when(values.is_not_null().all()).then(values.sum() if times == "regions" else values.mean()).alias(column)


@dataclass(frozen=True, slots=True)
class Effect:
    """An effect in a region."""

    model: str  # `model`, `suite`, `contrast`, `region`: what it is about; `item` is empty for the mean over items
    suite: str
    contrast: str
    region: str
    items: int  # the number of items with both conditions
    bits: float  # the mean difference of the first predictor, the surprisal, in the region
    people: Number  # `people`, `predicted`: in milliseconds
    predicted: Number
    ratio: tuple[float, float, float]  # predicted divided by people's, with Fieller's interval
    item: str = ""
    times: str = "words"  # `words` if the numbers are means over the words of a region, `regions` if they are sums

    @property
    def row(self) -> tuple[object, ...]:
        return (
            self.model, self.suite, self.contrast, self.region, self.items, self.bits, self.people.value, *self.people.ends,
            self.predicted.value, *self.predicted.ends, *self.ratio, self.times,
        )  # fmt: skip


def shared(amounts: pl.DataFrame, times: Readings, contrast: Contrast) -> tuple[pl.DataFrame, pl.DataFrame | None, str]:
    """Restrict both effects in a region to the same items: those with both conditions, bits and times."""
    if "item" not in times.frame.columns:
        said = "the items of --people are not known: its effects may be about others than the predicted ones"
        return amounts, None, said
    place = ["suite", "region", "item"]
    columns = [name for name in amounts.columns if name.isdecimal()]
    defined = amounts.filter(
        pl.all_horizontal(pl.col(name).is_not_null() & pl.col(name).is_not_nan() for name in columns)
    )
    of_words, own = (
        frame.select(place).unique(maintain_order=True)
        for frame in (_with_both(defined, place, contrast), compared(times, contrast, by_item=True))
    )
    items = of_words.join(own, on=place, how="semi", maintain_order="left")
    regions = items.select("suite", "region").unique().with_columns(pl.lit(True).alias(":region"))
    marked = amounts.join(items.with_columns(pl.lit(True).alias(":item")), on=place, how="left", maintain_order="left")
    marked = marked.join(regions, on=["suite", "region"], how="left", maintain_order="left")
    kept = marked.filter(pl.col(":item").is_not_null() | pl.col(":region").is_null()).drop(":item", ":region")
    lost = [
        frame.join(regions, on=["suite", "region"], how="semi").join(items, on=place, how="anti")
        for frame in (amounts.filter(_sides(contrast)).select(place), _of_contrast(times, contrast).select(place))
    ]
    numbers = [frame.drop_nulls().select("suite", "item").n_unique() for frame in lost]
    said = " and ".join(
        f"{counted(number, 'item')} of {name}"
        for number, name in zip(numbers, ("--words", "--people"), strict=True)
        if number
    )
    why = "left out of one region or more, as not both have them under both conditions"
    return kept, items, f"{why}: {said}" if said else ""


def _sides(contrast: Contrast) -> pl.Expr:
    return pl.col("condition").is_in([contrast.high, contrast.low])


def _with_both(frame: pl.DataFrame, by: Sequence[str], contrast: Contrast) -> pl.DataFrame:
    """Return the rows under both conditions of groups that have both."""
    return frame.filter(_sides(contrast)).filter(pl.col("condition").n_unique().over(by) == 2)


def _of_contrast(times: Readings, contrast: Contrast) -> pl.DataFrame:
    """Return the times under both conditions, with a column for the suite."""
    frame = times.frame.filter(pl.col("time").is_not_null() & _sides(contrast))
    return frame if "suite" in frame.columns else frame.with_columns(suite=pl.lit(""))


def compared(
    times: Readings, contrast: Contrast, by_item: bool = False, items: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Return the times of people that effects are made of: those of regions, or of items in them, with both conditions."""
    times.require("time", "condition", "region", *(["item"] if by_item else []))
    frame = _of_contrast(times, contrast)
    refuse_absurd(frame, ["time"], frame["line"], f"{times.source.path}, ")
    if items is not None:
        frame = frame.join(items, on=["suite", "region", "item"], how="semi", maintain_order="left")
    return _with_both(frame, ["suite", "region", *(["item"] if by_item else [])], contrast)


def of_people(
    times: Readings, contrast: Contrast, by_item: bool = False, items: pl.DataFrame | None = None
) -> dict[tuple[str, str, str], Number]:
    """Compute the effects of people: (suite, region, item) -> mean time under the first condition minus under the second."""
    # These are differences of plain means. Participants and items are random, and crossed. The item is "" unless
    # `by_item`.
    frame = compared(times, contrast, by_item, items)
    by = ["suite", "region", *(["item"] if by_item else [])]
    found = {}
    for key, part in frame.group_by(by, maintain_order=True):
        high = (part["condition"] == contrast.high).to_numpy()
        values = part["time"].to_numpy()
        means = float(values[high].mean()), float(values[~high].mean())
        influences = np.where(high, (values - means[0]) / high.sum(), -(values - means[1]) / (~high).sum())
        clusters = {
            f"{role}s": np.unique(part[role].cast(pl.String).fill_null("").to_numpy(), return_inverse=True)[1]
            for role in ("participant", "item")
            if role in part.columns and not (by_item and role == "item")
        }
        spread = spread_of_clusters(influences, clusters) if clusters else None
        suite, region, *item = map(str, key)
        own = (spread.variance, spread.freedom) if spread else ()
        found[suite, region, item[0] if item else ""] = Number(means[0] - means[1], *own)
    return found


def effects(
    found: Slopes,
    amounts: pl.DataFrame,
    contrast: Contrast,
    people: Mapping[tuple[str, str, str], Number],
    by_item: bool = False,
    times: str = "words",
) -> list[Effect]:
    columns = [str(number) for number in range(len(found.places))]
    sides = [amounts.filter(pl.col("condition") == name).drop("condition") for name in (contrast.high, contrast.low)]
    both = sides[0].join(sides[1], on=["suite", "item", "region"], suffix="_low", maintain_order="left")
    if not both.height:
        raise InputError(f"contrast {contrast}", "no item with both conditions in one region", "items with both")
    both = both.with_columns(pl.col(name) - pl.col(f"{name}_low") for name in columns)
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
        place, bits, ratio = (found.model, suite, str(contrast), region), float(mean[0]), fieller(predicted, own)
        rows.append(Effect(*place, part.height, bits, own, predicted, ratio, name, times))
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


def methods(found: Sequence[Slopes], contrast: Contrast, people: bool, times: str) -> str:
    """Draft a methods paragraph about effects in milliseconds, with citations in Pandoc's form."""
    fitted = [one for one in found if one.uncertainty]
    each = "; ".join(map(str, found))
    how = {one.method: None for one in fitted}
    source = (
        f"The slopes were fitted to reading times by {' and '.join(map(_method, how))}."
        if fitted
        else "The slopes were given."
    )
    beside = (
        " The effects of people are differences of mean times; their intervals are for other participants and items, crossed "
        "[@cameron-etal-2011-robust], and those of ratios are Fieller's [@fieller-1954-problems]."
        if people
        else ""
    )
    return (
        "We predicted effects in milliseconds from surprisal [@hale-2001-probabilistic; @levy-2008-expectation]: the difference "
        f"between the conditions {contrast.high} and {contrast.low} in the predictors of each word and of the words before it, "
        f"times their slopes, {'summed' if times == 'regions' else 'averaged'} over the words of a region "
        f"[@schijndel-linzen-2021-single; @huang-etal-2024-large]. {source} Slopes: {each}. Intervals of "
        f"predicted effects are 95%, for other items and with the uncertainty of the slopes.{beside}"
    )


def _method(method: str) -> str:
    if method.startswith("least squares"):
        return f"{method} [@cameron-etal-2011-robust]"
    return f"{method} [@bates-etal-2015-fitting; @satterthwaite-1946-approximate]"
