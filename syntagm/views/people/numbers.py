"""The numbers about people in runs of people: answers that count, agreement, and effects."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from math import isnan, nan

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import UsageError
from syntagm.evaluation import TABLE, Estimate, Group, Kind, People, SuiteRecord
from syntagm.runs import Run, named, titles
from syntagm.stats import Interval, crossed, interval, judgements
from syntagm.suites import Formula, parse

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
    """Return what the people of a run were asked for; see `tasks.people`."""
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
    majority: Estimate
    won: int  # the number of such items
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
    """Return the agreement about some suites of a run of people."""
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


def few(estimates: Sequence[Estimate | None]) -> bool:
    """Return whether an estimate has no interval."""
    return any(estimate is not None and isnan(estimate.low) for estimate in estimates)
