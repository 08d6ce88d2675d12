"""Huang et al. 2024 (SAP), "Large-scale benchmark yields no evidence that language model surprisal explains syntactic
disambiguation difficulty": surprisals, effects of people, and what surprisal predicts in milliseconds.

From the published data: the differences in surprisal between ambiguous and unambiguous sentences, word by word from the critical
one; the effects of people, as differences of mean reading times with participants and items random; and the effects that
the authors fitted to people and predicted from surprisal, with the ratio of the two. The folder of data has
`items_SUBSET.MODEL.csv` (a row a word), `trials_SUBSET.csv.gz` (a row a reading time), and
`fitted/SUBSET.by_construction*.csv` and `by_item*.csv`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from pathlib import Path

import numpy as np
import polars as pl

from syntagm.core import InputError
from syntagm.evaluation import Kind
from syntagm.papers.paper import Paper, cited
from syntagm.reading_times import Contrast, Source, effects, tables
from syntagm.stats import interval
from syntagm.views import Cell, Figure, Panel, Table, curves, or_none, vega

MODELS = ("gpt2", "lstm")
# What times were predicted from, as the names of files say it; "" are the effects of people.
SOURCES = {"": "people", "_gpt2": "GPT-2", "_lstm": "LSTM", "_nosurp": "no surprisal"}
REGIONS = ("0", "1", "2")


@dataclass(frozen=True, slots=True)
class Effect:
    """A published effect."""

    subset: str  # the part of the benchmark that it belongs to
    construction: str  # its name here
    coefficient: str  # its name in the fitted effects
    contrast: Contrast  # the conditions of its items, the harder one first


EFFECTS = (
    Effect("ClassicGP", "MVRR", "GPE_MVRR", Contrast("MVRR_AMB", "MVRR_UAMB")),
    Effect("ClassicGP", "NPZ", "GPE_NPZ", Contrast("NPZ_AMB", "NPZ_UAMB")),
    Effect("ClassicGP", "NPS", "GPE_NPS", Contrast("NPS_AMB", "NPS_UAMB")),
    Effect("Agreement", "agreement", "Agr", Contrast("UNAGREE", "AGREE")),
    Effect("RelativeClause", "relative clause", "RC", Contrast("RC_Obj", "RC_Subj")),
    Effect("AttachmentAmbiguity", "attachment high", "GPE_high", Contrast("AttachHigh", "AttachMulti")),
    Effect("AttachmentAmbiguity", "attachment low", "GPE_low", Contrast("AttachLow", "AttachMulti")),
)  # fmt: skip
# The constructions in the reading times of Agreement: name -> the published effect, and the conditions.
TRIALS = {"NP/Z Agreement": "agreement", "NPZ": "NPZ"}
AMBIGUITY = Contrast("Amb", "Unamb")


@dataclass(frozen=True, slots=True)
class Published:
    """The published data of a folder; what is missing there is absent."""

    items: Mapping[tuple[str, str], Source]  # (subset, model) -> its words
    trials: Mapping[str, Source]  # subset -> its reading times
    # `constructions`, `by_item`: (subset, ending of the file) -> the fitted effects: ROI, coef, mean, lower, upper (and
    # item)
    constructions: Mapping[tuple[str, str], pl.DataFrame]
    by_item: Mapping[tuple[str, str], pl.DataFrame]


def read(folder: Path) -> Published:
    subsets = list(dict.fromkeys(effect.subset for effect in EFFECTS))
    items = {
        (subset, model): tables.open_table(path)
        for subset in subsets
        for model in MODELS
        if (path := folder / f"items_{subset}.{model}.csv").exists()
    }
    trials = {
        subset: tables.open_table(path)
        for subset in subsets
        for path in (folder / f"trials_{subset}.csv.gz", folder / f"trials_{subset}.csv")
        if path.exists()
    }
    fitted: list[dict[tuple[str, str], pl.DataFrame]] = [{}, {}]
    for number, kind in enumerate(("by_construction", "by_item")):
        for subset in subsets:
            for ending in SOURCES:
                path = folder / "fitted" / f"{subset}.{kind}{ending}.csv"
                if path.exists():
                    fitted[number][subset, ending] = _fitted(path, kind == "by_item")
    if not items and not trials and not any(fitted):
        expected = "items_SUBSET.MODEL.csv, trials_SUBSET.csv.gz or fitted/*.csv"
        raise InputError(str(folder), "none of the files of the benchmark", expected, "Give its folder.")
    return Published(items, trials, *fitted)


def _fitted(path: Path, with_items: bool) -> pl.DataFrame:
    source = tables.open_table(path)
    numbers = [source.numbers(name) for name in ("mean", "lower", "upper")]
    texts = [source.texts([name]) for name in (("ROI", "coef", "item") if with_items else ("ROI", "coef"))]
    names = ("ROI", "coef", "item") if with_items else ("ROI", "coef")
    columns = [text.str.strip_suffix(".0").alias(name) for name, text in zip(names, texts, strict=True)]
    return pl.DataFrame([*columns, *numbers])


def missing(published: Published) -> list[str]:
    """List what the folder lacks of the publication: the reading times of each subset, and those of fillers."""
    subsets = dict.fromkeys(effect.subset for effect in EFFECTS)
    lacking = [
        f"no surprisals of {subset} by {model}"
        for subset in subsets
        for model in MODELS
        if (subset, model) not in published.items
    ]
    lacking += [f"no reading times of {subset}" for subset in subsets if subset not in published.trials]
    lacking += [
        f"no effects of {subset} fitted to {name}"
        for subset in subsets
        for ending, name in SOURCES.items()
        if (subset, ending) not in published.constructions
    ]
    return [*lacking, "no reading times of fillers, so what a bit costs in ms can't be fitted again"]


def surprisals(source: Source) -> pl.DataFrame:
    """Return the surprisals of a file of items: item, condition, offset from the critical word, and bits."""
    # `word_pos` counts from 0, `disambPosition` and `targetPosition` from 1. So does `disambPosition_0idx` in files
    # that also have `disambPosition`, whatever its name says: there, both are the same number.
    name = next((name for name in ("disambPosition", "targetPosition") if name in source.names), "disambPosition_0idx")
    critical = source.numbers(name) - (0 if name == "disambPosition_0idx" else 1)
    columns = [
        source.texts(["item"]).alias("item"),
        source.texts(["condition"]).alias("condition"),
        (source.numbers("word_pos") - critical).cast(pl.Int64).alias("offset"),
        source.numbers("sum_surprisal_base2").alias("bits"),
    ]
    return pl.DataFrame(columns)


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
    upright = vega.quantity("value", "effect (ms)", {"zero": True})
    panels: Sequence[Panel] = [
        Panel(table.filter(pl.col("region") == region), "", f"region {region}", reference=0.0)
        for region in REGIONS
        if region in table["region"]
    ]
    return curves.draw(
        panels, upright, "Effects of people and of surprisal", ["bar: 95% interval, as published"], table
    )


PAPER = Paper((), from_raw=from_raw, read=read, missing=missing)
