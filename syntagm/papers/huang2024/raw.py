"""Reader of the published data of Huang et al. 2024: surprisals of items, reading times, and fitted effects.

The folder has `items_SUBSET.MODEL.csv` (a row a word), `trials_SUBSET.csv.gz` (a row a reading time), and
`fitted/SUBSET.by_construction*.csv` and `by_item*.csv`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from syntagm.core import InputError
from syntagm.reading_times import Contrast, Source, tables

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
    """Read what a folder has of the published data."""
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
