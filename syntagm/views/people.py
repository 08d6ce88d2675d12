"""People: how far people agree with the predictions and with each other, by suite, with people and items random."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import nan
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, utf8
from syntagm.evaluation import ANSWERS, TABLE, Estimate, Group, Kind, People, SuiteRecord
from syntagm.runs import Run, named, open_run, titles
from syntagm.stats import Interval, Judgements, crossed, interval, judgements
from syntagm.suites import Formula, parse
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none

# What the difference of two conditions is, by what was asked for.
UNITS = {"pairs": "share", "verdicts": "share", "ratings": "points", "magnitudes": "log2", "times": "ms"}
_KINDS = {
    "pairs": Kind.VERDICT,
    "verdicts": Kind.VERDICT,
    "ratings": Kind.NUMBER,
    "magnitudes": Kind.NUMBER,
    "times": Kind.MS,
}


def of_people(runs: Sequence[Run], view: str) -> list[tuple[str, Run]]:
    """Return the runs of people among runs, with distinct names."""
    found = [(name, run) for name, run in named(runs) if run.task is People]
    if not found:
        raise UsageError(view, "no run of people", "a run of `syntagm experiment import`")
    return found


def asks(run: Run) -> str:
    asked: str = run.record["options"]["asks"]
    return asked


def answers(run: Run, suite: str) -> pl.DataFrame:
    """Return the answers about a suite that count, with the column `value`: 0 or 1, a rating, its logarithm, or ms."""
    # Of pairs, 1 is a choice of the favoured sentence. For times, there is a row for each region.
    kept = run.table(TABLE, suite).filter(pl.col("excluded") == "")
    match asks(run):
        case "pairs":
            favoured = pl.col("condition").str.split("/").list.first()
            return kept.with_columns(value=(pl.col("choice") == favoured).cast(pl.Float64))
        case "verdicts":
            return kept.with_columns(value=(pl.col("choice") == "yes").cast(pl.Float64))
        case "ratings":
            return kept.with_columns(value=pl.col("rating"))
        case "magnitudes":
            return kept.with_columns(value=pl.col("rating").log(2))
        case _:
            return kept.filter(pl.col("region") != "").with_columns(value=pl.col("ms"))


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far people agree about a suite, or about several."""

    suite: str
    model: str
    # Of pairs, the mean over items of the share of answers as predicted; None for other designs.
    individual: Estimate | None
    majority: Estimate  # the share of items whose majority is as predicted
    won: int  # the number of these items
    alpha: float  # Krippendorff's alpha; nan where all answers are the same, and for times
    alpha_interval: Interval  # its interval, for other people and other items
    people: int  # `people`, `answers`: how many people and answers count
    answers: int
    excluded: int  # how many people are excluded


def agreements(runs: Sequence[Run]) -> Iterator[Agreement]:
    """Yield the agreement about each suite of each run of people, and about all suites of a run with several."""
    names = titles(runs)
    for model, run in of_people(runs, "people"):
        for record in run.suites:
            yield agreement_over(run, [record], model, names[record.name, record.hash])
        if len(run.suites) > 1:
            yield agreement_over(run, run.suites, model, f"mean of {len(run.suites)} suites")


def agreement_over(run: Run, records: Sequence[SuiteRecord], model: str, title: str, pooled: bool = False) -> Agreement:
    rows = pl.concat([answers(run, record.name).with_columns(suite=pl.lit(record.name)) for record in records])
    results = pl.concat([_results(run, record) for record in records])
    asked, group = asks(run), Group(model, title)
    individual = _individual(rows, group, pooled) if asked == "pairs" else None
    defined = results.filter(pl.col("value").is_not_nan())
    parts = defined.with_columns(suite=pl.lit("")) if pooled else defined
    by_suite = parts.group_by("suite", maintain_order=True).agg(pl.col("value").mean())["value"]
    found = interval.of_items(defined["value"].to_numpy(), Kind.VERDICT)
    share = float(by_suite.mean()) if len(by_suite) else nan  # type: ignore[arg-type]  # of floats
    ties = int((defined["margin"].abs() <= run.tolerance).sum())
    majority = found.estimate(group, share, len(defined), ties=ties, undefined=len(results) - len(defined))
    units = rows.select(pl.struct("suite", "item", "condition").rank("dense").cast(pl.Int64) - 1).to_series()
    alpha, reach = nan, Interval(nan, nan, "no alpha")
    if asked != "times" and len(rows):
        values = rows["value"].to_numpy()
        alpha = judgements.krippendorff(values, units.to_numpy())
        reach = judgements.alpha_interval(values, units.to_numpy(), _codes(rows["person"]))
    excluded = int(run.record["people"].get("excluded people", 0))
    return Agreement(
        title, model, individual, majority, int(defined["value"].sum()), alpha, reach, rows["person"].n_unique(),
        rows.select("suite", "person", "trial").n_unique(), excluded,
    )  # fmt: skip


def _results(run: Run, record: SuiteRecord) -> pl.DataFrame:
    first = next(iter(record.predictions_for("first")), "")
    return run.results(record.name).filter(pl.col("measure") == first)


def _individual(rows: pl.DataFrame, group: Group, pooled: bool) -> Estimate:
    """Estimate the mean over suites (or over all items) of the mean over items of the share of answers as predicted."""
    if not len(rows):
        return Estimate(group, nan, nan, nan, 0, "no answers")
    counted = rows.with_columns(
        weight=1.0 / pl.len().over("suite", "item").cast(pl.Float64),
        key=pl.struct("suite", "item").rank("dense"),
        stratum=pl.lit("") if pooled else pl.col("suite"),
    )
    people, items, strata = (_codes(counted[column]) for column in ("person", "key", "stratum"))
    values, weights = (counted[column].to_numpy() for column in ("value", "weight"))
    value, found = judgements.weighted(values, weights, strata, Kind.VERDICT, people, items)
    return found.estimate(group, value, len(rows))


def _codes(column: pl.Series) -> NDArray[np.int64]:
    return np.unique(column.to_numpy(), return_inverse=True)[1].astype(np.int64)


def logistic(run: Run, model: str) -> dict[str, Estimate]:
    """Return the share of answers as predicted of each suite under one crossed logistic model of all: suite -> estimate."""
    parts = [
        answers(run, record.name).select(
            "person", "value", item=pl.concat_str("item", "condition", separator="/"), suite=pl.lit(record.name)
        )
        for record in run.suites
    ]
    names = [record.name for record in run.suites]
    found = crossed.shares(pl.concat(parts), names)
    return {
        name: share.interval.estimate(Group(model, name), share.value, len(part))
        for name, share, part in zip(names, found, parts, strict=True)
    }


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of a comparison on what people do."""

    measure: str  # the prediction
    comparison: Formula
    region: str  # for times, the region; otherwise ""
    compared: bool  # whether the prediction compares this region
    unit: str  # the unit; see `UNITS`
    # The difference between the two sides, positive if the comparison holds; n is the number of answers.
    estimate: Estimate
    people: int  # `people`, `items`: how many count
    items: int


def effects(runs: Sequence[Run], suite: str = "") -> Iterator[Effect]:
    """Yield the effects of each run of people: of each comparison of the predictions, for times in each region."""
    # The mean of each condition is one over answers; the effect is their sum with the signs of the comparison.
    # Intervals are for other people and other items. More of a rating or of a share of acceptance is less surprising,
    # so their signs are turned round.
    names, count = titles(runs), 0
    for model, run in of_people(runs, "people_effects"):
        if asks(run) == "pairs":
            continue
        for record in run.suites:
            if suite in ("", record.name):
                for effect in _of_suite(run, record, Group(model, names[record.name, record.hash])):
                    count += 1
                    yield effect
    if not count:
        raise UsageError(
            "people_effects", "no comparison of single sentences", "runs of another design than forced-choice",
            "`syntagm table people` has what pairs tell.",
        )  # fmt: skip


def _of_suite(run: Run, record: SuiteRecord, group: Group) -> Iterator[Effect]:
    rows, asked = answers(run, record.name), asks(run)
    for name in record.predictions_for(""):
        if not (text := record.predictions[name]):
            continue
        for comparison in parse(text).comparisons():
            signs = signs_of(comparison)
            if not signs or comparison.tree.operator == "=":
                continue
            regions = list(dict.fromkeys(rows["region"])) if asked == "times" else [""]
            compared = {reference.region for reference in comparison.references()}
            if asked == "times" and "*" in compared:
                regions.append("*")
            for region in regions:
                chosen = whole(rows, run.table(TABLE, record.name)) if region == "*" else rows.filter(region=region)
                found = _effect(chosen, signs, replace(group, measure=name), asked)
                if found is not None:
                    estimate, people, items = found
                    is_compared = region in compared or asked != "times"
                    yield Effect(name, comparison, region, is_compared, UNITS[asked], estimate, people, items)


def whole(rows: pl.DataFrame, everything: pl.DataFrame) -> pl.DataFrame:
    """Return the times of whole sentences, as sums over their regions."""
    # A reading of which a region is excluded has none: the sum of the others would be that of a shorter sentence.
    sentence = ["item", "condition"]
    regions = everything.filter(pl.col("region") != "").group_by(sentence).agg(regions=pl.col("region").n_unique())
    sums = rows.group_by("person", *sentence, maintain_order=True).agg(pl.col("value").sum(), read=pl.len())
    return sums.join(regions, on=sentence, maintain_order="left").filter(pl.col("read") == pl.col("regions"))


def signs_of(comparison: Formula) -> dict[str, int]:
    """Return the sign of each condition in the effect; empty if a condition has several in one region."""
    by_place: dict[tuple[str, str], int] = {}
    for sign, reference in comparison.terms():
        if by_place.setdefault((reference.condition, reference.region), sign) != sign:
            return {}
    signs: dict[str, int] = {}
    for (condition, _), sign in by_place.items():
        if signs.setdefault(condition, sign) != sign:
            return {}
    return signs


def _effect(rows: pl.DataFrame, signs: dict[str, int], group: Group, asked: str) -> tuple[Estimate, int, int] | None:
    turned = 1 if asked == "times" else -1
    chosen = rows.filter(pl.col("condition").is_in(list(signs)) & pl.col("value").is_not_nan())
    present = set(chosen["condition"])
    if present != signs.keys():
        return None
    means = {condition: float(chosen.filter(condition=condition)["value"].mean()) for condition in signs}  # type: ignore[arg-type]
    counts = {condition: int((chosen["condition"] == condition).sum()) for condition in signs}
    value = turned * sum(sign * means[condition] for condition, sign in signs.items())
    conditions = chosen["condition"].to_list()
    weights = np.array([turned * signs[each] / counts[each] for each in conditions])
    influences = weights * (chosen["value"].to_numpy() - np.array([means[each] for each in conditions]))
    people, items = _codes(chosen["person"]), _codes(chosen["item"])
    # A difference has no bounds, even one of shares.
    found = judgements.of_influences(value, influences, Kind.NUMBER, people, items)
    return found.estimate(group, value, len(chosen)), int(people.max()) + 1, int(items.max()) + 1


COLUMNS = (
    "suite", "model", "individual", "low", "high", "majority", "majority_low", "majority_high", "won", "items", "ties",
    "undefined", "accepted", "alpha", "alpha_low", "alpha_high", "people", "answers", "excluded",
)  # fmt: skip
Accepted = Annotated[int, "how many items the majority must judge as predicted, as BLiMP asks for 4 of 5; 0: not asked"]


Intervals = Annotated[
    Literal["clusters", "logistic"],
    "of single answers: crossed clusters of each suite alone, or one crossed logistic model of all suites",
]
_METHODS = {
    "clusters": "individual: of pairs, the mean over items of the share of answers as predicted; low, high: its 95% interval for "
    "other people and other items of these suites (crossed clusters, Wilson's form).",
    "logistic": "individual: of pairs, the share of answers as predicted in the population of people and items, by a "
    "logistic model of all suites with people, suites and items random; low, high: its 95% interval for other people and "
    "other items (profile likelihood of the suite, with the standard deviations of the model). Of the mean of suites: crossed "
    "clusters.",
}


def make_table(runs: Sequence[Run], accepted: Accepted = 0, intervals: Intervals = "clusters") -> Table:
    """Make one row for each suite and run of people.

    Raises:
        UsageError: there is no run of people, the number is negative, or `intervals` concerns other designs than pairs.
        InputError: the logistic model can't be fitted.
    """
    if accepted < 0:
        raise UsageError("accepted=", str(accepted), "at least 0")
    found = list(agreements(runs))
    modelled: dict[tuple[str, str], Estimate] = {}
    if intervals == "logistic":
        shown_names = titles(runs)
        for name, run in of_people(runs, "people"):
            if asks(run) != "pairs":
                raise UsageError("intervals=", "logistic for another design", "choices between two sentences")
            by_suite = logistic(run, name)
            modelled |= {(name, shown_names[record.name, record.hash]): by_suite[record.name] for record in run.suites}
    rows: list[tuple[Cell, ...]] = []
    for row in found:
        numbers_of = modelled.get((row.model, row.suite), row.individual)
        mean = row.suite.startswith("mean of ")
        cells: tuple[Cell, ...] = (None,) * 3
        if numbers_of is not None:
            cells = tuple(map(or_none, (numbers_of.value, numbers_of.low, numbers_of.high)))
        majority = tuple(map(or_none, (row.majority.value, row.majority.low, row.majority.high)))
        verdict = None if not accepted or mean else "yes" if row.won >= accepted else "no"
        rows.append((
            row.suite, row.model, *cells, *majority, row.won, row.majority.n, row.majority.ties, row.majority.undefined,
            verdict, *map(or_none, (row.alpha, row.alpha_interval.low, row.alpha_interval.high)), row.people, row.answers,
            row.excluded,
        ))  # fmt: skip
    notes = [
        _METHODS[intervals],
        "majority: the share of items that the people together judge as the first prediction says; a tie doesn't hold. "
        "majority_low, majority_high: its 95% interval for other items, and these people.",
        "alpha: Krippendorff's alpha, of choices for names, of ratings for intervals. It is low where nearly all answers are "
        "the same, however much people agree. alpha_low, alpha_high: its 95% interval for other people and other "
        "items (jackknife).",
        "excluded: people who were excluded by the rules of the plan; all other columns are without them.",
    ]
    least = min((min(row.people, row.majority.n) for row in found), default=judgements.FEW)
    if least < judgements.FEW:
        notes.append(f"Intervals from fewer than {judgements.FEW} people or items rest on few.")
    shown = [place for place, name in enumerate(COLUMNS) if accepted or name != "accepted"]
    columns = tuple(COLUMNS[place] for place in shown)
    kept = tuple(tuple(row[place] for place in shown) for row in rows)
    return Table("Agreement of people, by suite", columns, kept, notes=tuple(notes))


__all__ = ["COLUMNS", "make_table"]


def read_judgements(path: Path) -> Judgements:
    """Read judgements: a run of people, or a CSV file with the columns person, item, value and optionally condition."""
    if path.is_dir():
        return judgements_of(open_run(path))
    header = utf8.beginning(path, 1000).split(b"\n")[0].decode(errors="replace").strip() if path.is_file() else ""
    if header == ",".join(ANSWERS):
        cure = f"Give a run of them: syntagm experiment import {path} --plan STUDY -o RUN, then syntagm power --people RUN."
        raise InputError(str(path), "answers without the plan that says what is predicted", "a run of people", cure)
    return judgements.read(path)


def judgements_of(run: Run) -> Judgements:
    # Of pairs, a judgement is 1 if the favoured sentence was chosen. In other designs, the first comparison of each
    # first prediction has two conditions; the second one is that with the larger expected value, which for times is the
    # time of the compared regions together.
    if run.task is not People:
        cure = "Runs of models plan studies of models: `syntagm power DIR DIR`. Simulated people make a pilot, too."
        raise UsageError(
            "--people", f"a run of {run.model}", "a run of `syntagm experiment import`, or a CSV file", cure
        )
    asked = asks(run)
    parts = [_judged_of_suite(run, record, asked) for record in run.suites]
    rows = pl.concat([part for part, _ in parts])
    people, items = (_codes(rows[column]) for column in ("person", "key"))
    if min(len(set(people)), len(set(items))) < 2:
        raise UsageError("--people", f"{len(set(people))} people and {len(set(items))} items", "at least two of each")
    values = rows["value"].to_numpy()
    kind = Kind.VERDICT if asked in ("pairs", "verdicts") else Kind.NUMBER
    if asked == "pairs":
        return Judgements(people, items, values, kind)
    names = {names for _, names in parts}
    named = names.pop() if len(names) == 1 else ("smaller", "larger")
    return Judgements(people, items, values, kind, rows["second"].to_numpy(), named)


def _judged_of_suite(run: Run, record: SuiteRecord, asked: str) -> tuple[pl.DataFrame, tuple[str, str]]:
    """Return the columns person, key, value and second of a suite, and the names of the two conditions."""
    rows = answers(run, record.name)
    if asked == "pairs":
        keyed = rows.with_columns(
            key=pl.concat_str(pl.lit(record.name), "item", "condition", separator="/"), second=pl.lit(value=True)
        )
        return keyed.select("person", "key", "value", "second"), ("", "")
    comparison = _comparison(record)
    turned = 1 if asked == "times" else -1
    signs = {condition: turned * sign for condition, sign in signs_of(comparison).items()}
    if sorted(signs.values()) != [-1, 1]:
        cure = "Plan with a table of the columns person, item, value and condition."
        raise UsageError("--people", f"{len(signs)} conditions in {comparison}", "a comparison of two conditions", cure)
    low, high = (next(name for name, own in signs.items() if own == sign) for sign in (-1, 1))
    rows = rows.filter(pl.col("condition").is_in([low, high]) & pl.col("value").is_not_nan())
    if asked == "times":
        regions = {reference.region for reference in comparison.references()}
        if "*" in regions:
            rows = whole(rows, run.table(TABLE, record.name))
        else:
            grouped = rows.filter(pl.col("region").is_in(list(regions))).group_by(
                "person", "item", "condition", maintain_order=True
            )
            rows = grouped.agg(pl.col("value").sum(), read=pl.len()).filter(pl.col("read") == len(regions))
    keyed = rows.with_columns(
        key=pl.concat_str(pl.lit(record.name), "item", separator="/"), second=pl.col("condition") == high
    )
    return keyed.select("person", "key", "value", "second"), (low, high)


def _comparison(record: SuiteRecord) -> Formula:
    first = next(iter(record.predictions_for("first")), "")
    if not (text := record.predictions.get(first, "")):
        raise UsageError("--people", f"suite {record.name} without a prediction", "a comparison of two conditions")
    return parse(text).comparisons()[0]
