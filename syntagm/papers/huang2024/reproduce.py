"""Huang et al. 2024 (SAP), "Large-scale benchmark yields no evidence that language model surprisal explains syntactic
disambiguation difficulty": surprisals, effects of people, and what surprisal predicts in milliseconds.

From the published data: the differences in surprisal between ambiguous and unambiguous sentences, word by word from the critical
one; the effects of people, as differences of mean reading times with participants and items random; and the effects that
the authors fitted to people and predicted from surprisal, with the ratio of the two.
"""

from collections.abc import Mapping, Sequence
from math import isnan, nan

import numpy as np
import polars as pl

from syntagm.evaluation import Kind
from syntagm.papers.huang2024.raw import (
    AMBIGUITY,
    EFFECTS,
    MODELS,
    REGIONS,
    SOURCES,
    TRIALS,
    Effect,
    Published,
    missing,
    read,
    surprisals,
)
from syntagm.papers.paper import Paper, cited
from syntagm.reading_times import effects, tables
from syntagm.stats import interval
from syntagm.views import Cell, Figure, Panel, Table, axes, or_none
from syntagm.views.drawing import curves

NAME = "huang2024"


def from_raw(published: Published) -> dict[str, Table | Figure]:
    """Make the tables and the figure: file name -> table or figure."""
    outputs: dict[str, Table | Figure] = {}
    if published.items:
        outputs["surprisal"] = surprisal(published)
    if published.trials:
        outputs["people"] = people(published)
    if published.constructions:
        outputs["predicted"] = predicted(published)
        outputs["effects"] = figure(published)
    if published.by_item:
        outputs["items"] = by_item(published)
    return outputs


def surprisal(published: Published) -> Table:
    """Make the table of differences in surprisal, in bits, at the critical word (region 0) and the two after it."""
    printed = {line["construction"]: line for line in cited(NAME)["surprisal"]}
    rows: list[tuple[Cell, ...]] = []
    for effect in EFFECTS:
        for model in MODELS:
            if (effect.subset, model) not in published.items:
                continue
            words = surprisals(published.items[effect.subset, model])
            for region in REGIONS:
                values = _differences(words, effect, int(region))
                found = interval.of_items(values, Kind.BITS)
                quoted = printed.get(effect.construction, {}).get(model) if region == "0" else None
                mean = float(values.mean()) if len(values) else nan
                rows.append(
                    (
                        model,
                        effect.construction,
                        region,
                        len(values),
                        *map(or_none, (mean, found.low, found.high)),
                        quoted,
                    )
                )
    columns = ("model", "construction", "region", "items", "bits", "low", "high", "paper")
    notes = (
        "bits: surprisal in the harder condition minus the easier one; intervals are for other items.",
        f"paper: transcribed from {cited(NAME)['source']}",
    )
    return Table("Differences in surprisal", columns, tuple(rows), ("paper",), notes)


def _differences(words: pl.DataFrame, effect: Effect, offset: int) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the difference of each item at a distance from the critical word."""
    own = words.filter(pl.col("offset") == offset)
    high, low = (own.filter(pl.col("condition") == name) for name in (effect.contrast.high, effect.contrast.low))
    both = high.join(low, on="item", suffix="_low", maintain_order="left")
    return (both["bits"] - both["bits_low"]).drop_nulls().to_numpy()


def people(published: Published) -> Table:
    """Make the table of the effects of people, as differences of plain means, beside the fitted ones of the authors."""
    by_construction = {effect.construction: effect for effect in EFFECTS}
    rows: list[tuple[Cell, ...]] = []
    for source in published.trials.values():
        given = {
            "suite": ("CONSTRUCTION",), "condition": ("AMBIG",), "region": ("ROI",), "text": ("CONSTRUCTION", "item", "AMBIG"),
        }  # fmt: skip
        times = tables.interpret(source, given)
        for (suite, region, _), number in effects.of_people(times, AMBIGUITY).items():
            own = times.frame.filter((pl.col("suite") == suite) & (pl.col("region") == region))
            fitted = _published(published, by_construction.get(TRIALS.get(suite, "")), "", region)
            inside = None if isnan(fitted[0]) else "yes" if fitted[1] <= number.value <= fitted[2] else "no"
            numbers = map(or_none, (number.value, *number.ends, *fitted))
            rows.append((suite, region, own["participant"].n_unique(), own.height, *numbers, inside))
    columns = (
        "construction", "region", "participants", "n", "ms", "low", "high", "fitted", "fitted low", "fitted high", "inside",
    )  # fmt: skip
    notes = (
        "ms: mean time of ambiguous sentences minus that of unambiguous ones; 95% intervals with participants and items random.",
        "fitted: the published effect of the authors' mixed model; inside: whether ours lies in its interval.",
        *(f"Not computed: {line}." for line in missing(published) if "reading times" in line),
    )
    return Table("Effects of people", columns, tuple(rows), (), notes)


def _published(published: Published, effect: Effect | None, ending: str, region: str) -> tuple[float, float, float]:
    """Return a published effect with its interval; nan if it is missing."""
    if effect is None or (effect.subset, ending) not in published.constructions:
        return nan, nan, nan
    rows = published.constructions[effect.subset, ending]
    rows = rows.filter((pl.col("coef") == effect.coefficient) & (pl.col("ROI") == region))
    return rows.select("mean", "lower", "upper").row(0) if rows.height else (nan, nan, nan)


def _all(published: Published) -> list[tuple[str, str, str, tuple[float, float, float], float]]:
    """List construction, region, source, published effect with interval, and its ratio to the effect of people."""
    found = []
    for effect in EFFECTS:
        for region in REGIONS:
            own = _published(published, effect, "", region)[0]
            for ending, name in SOURCES.items():
                numbers = _published(published, effect, ending, region)
                if not isnan(numbers[0]):
                    ratio = numbers[0] / own if ending and own else nan
                    found.append((effect.construction, region, name, numbers, ratio))
    return found


def predicted(published: Published) -> Table:
    """Make the table of published effects in ms: of people, and predicted from surprisal, with their ratio."""
    rows = [
        (construction, region, name, *numbers, or_none(ratio))
        for construction, region, name, numbers, ratio in _all(published)
    ]
    columns = ("construction", "region", "source", "ms", "low", "high", "ratio to people")
    notes = (
        "ms, low, high: as the authors fitted and predicted them, with their 95% intervals; nothing is fitted here.",
        "Not computed: what a bit costs in ms, since the data have no reading times of fillers.",
    )
    return Table("Effects predicted from surprisal", columns, tuple(rows), (), notes)


def by_item(published: Published) -> Table:
    """Make the table of correlations over items between the effects of people and the predicted ones."""
    rows: list[tuple[Cell, ...]] = []
    for effect in EFFECTS:
        own = published.by_item.get((effect.subset, ""))
        for ending, name in SOURCES.items():
            other = published.by_item.get((effect.subset, ending))
            if not ending or own is None or other is None:
                continue
            for region in REGIONS:
                both = _of(own, effect, region).join(_of(other, effect, region), on="item", suffix="_predicted")
                r = or_none(float(np.corrcoef(both["mean"], both["mean_predicted"])[0, 1])) if both.height > 2 else None
                rows.append((effect.construction, region, name, both.height, r))
    columns = ("construction", "region", "source", "items", "r")
    notes = ("r: Pearson's correlation of the fitted effects of items; both are shrunken, and rest on few items.",)
    return Table("Effects of items", columns, tuple(rows), (), notes)


def _of(table: pl.DataFrame, effect: Effect, region: str) -> pl.DataFrame:
    return table.filter((pl.col("coef") == effect.coefficient) & (pl.col("ROI") == region)).select("item", "mean")


def figure(published: Published) -> Figure:
    """Draw the effects of people and the predicted ones, a panel for each region."""
    schema: Mapping[str, type[pl.DataType]] = {
        "model": pl.String, "x": pl.String, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "n": pl.Int64,
        "region": pl.String,
    }  # fmt: skip
    sizes: dict[str, int] = {}
    for effect in EFFECTS:
        items = published.by_item.get((effect.subset, ""))
        sizes[effect.construction] = _of(items, effect, "1").height if items is not None else 0
    rows = [
        (name, construction, *numbers, sizes[construction], region)
        for construction, region, name, numbers, _ in _all(published)
    ]
    table = pl.DataFrame(rows, schema=dict(schema), orient="row")
    upright = axes.quantity("value", "effect (ms)", {"zero": True})
    panels: Sequence[Panel] = [
        Panel(table.filter(pl.col("region") == region), "", f"region {region}", reference=0.0)
        for region in REGIONS
        if region in table["region"]
    ]
    return curves.draw(
        panels, upright, "Effects of people and of surprisal", ["bar: 95% interval, as published"], table
    )


PAPER = Paper((), from_raw=from_raw, read=read, missing=missing)
