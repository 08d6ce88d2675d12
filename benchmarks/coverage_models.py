"""Size and coverage of mixed models with few groups, and predicted against true power, by seeded simulation.

    python -m benchmarks.coverage_models              # some minutes on one core; writes benchmarks/coverage_models.md
    python -m benchmarks.coverage_models --draws 50   # a trial

The models are those of classes of training runs: `score ~ class + (1 | suite) + (1 | run)`, runs crossed with 12 suites,
half of the runs in each class. The worlds differ in how much runs differ. For the parametric bootstrap, each simulated
study has one bootstrap sample, and its likelihood ratio is compared with the bootstrapped ratios of all studies (the
warp-speed method of Giacomini, Politis & White 2013), because 500 samples for each of 500 studies take hours.

A prediction of power is made from a pilot that is drawn from a world, for a stated difference, and compared with the power
of studies that are drawn from this world itself.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from math import sqrt
from pathlib import Path

import numpy as np
import polars as pl
from scipy import special

from benchmarks.coverage_rows import ITEMS, Numbers, Row, page, rate, row
from syntagm.evaluation import Kind
from syntagm.stats import (
    By,
    Fit,
    Judgements,
    People,
    Pilot,
    TwoClasses,
    TwoModels,
    few_groups,
    interval,
    judgements,
    linear,
    logistic,
    model_classes,
    planning,
    suite_intervals,
    variance_shares,
)

PAGE = Path(__file__).with_suffix(".md")
SUITES = 12
# How much runs differ, beside suites with the standard deviation 1 and a residual of 0.5.
OF_RUNS = (0.2, 1.0)
STUDIES = 100


def table(draw: np.random.Generator, runs: int, of_runs: float, binomial: bool) -> pl.DataFrame:
    """Draw a study in which the classes do not differ: the score, or the number of correct items, of each suite."""
    run, suite = np.divmod(np.arange(runs * SUITES), SUITES)
    level = draw.normal(0, 1, SUITES)[suite] + draw.normal(0, of_runs, runs)[run]
    values = draw.binomial(ITEMS, special.expit(level)) if binomial else level + draw.normal(0, 0.5, len(run))
    columns = {"value": values, "run": run, "suite": suite, "items": np.full(len(run), ITEMS)}
    names = pl.col("run", "suite").cast(pl.String)
    return pl.DataFrame(columns).with_columns(names).with_columns(kind=pl.Series(np.where(run % 2, "a", "b")))


def fitted(formula: str, data: pl.DataFrame, binomial: bool, reml: bool = False) -> Fit:
    if binomial:
        return logistic.fit(formula, data, trials="items", starts=1)
    return linear.fit(formula, data, reml=reml, starts=1)


def coefficients(draw: np.random.Generator, draws: int, runs: int, binomial: bool, by: By = "satterthwaite") -> Row:
    """The coefficient of the class: Student's t by Satterthwaite or by Kenward and Roger; Wald's z in binomial models."""
    coverages, sizes = [], []
    for of_runs in OF_RUNS:
        covered, rejected = [], []
        for _ in range(draws):
            fit = fitted("value ~ kind + (1 | suite) + (1 | run)", table(draw, runs, of_runs, binomial), binomial, True)
            effect = fit.tests(by)[1]
            covered.append(effect.low <= 0 <= effect.high)
            rejected.append(effect.p <= interval.LEVEL)
        coverages.append(rate(covered))
        sizes.append(rate(rejected))
    name = "class, binomial mixed model (Wald)" if binomial else f"class, linear mixed model ({by.title()})"
    few = "; ".join(fit.messages) if binomial else ""
    return row(name, f"{runs} runs, {SUITES} suites", coverages, sizes, method=few)


def ratios(draw: np.random.Generator, draws: int, runs: int, binomial: bool) -> Iterator[Row]:
    """The likelihood-ratio test of the class, by parametric bootstrap and, for comparison, by chi-squared."""
    small, large = "value ~ 1 + (1 | suite) + (1 | run)", "value ~ kind + (1 | suite) + (1 | run)"
    by_bootstrap, by_chi2 = [], []
    for of_runs in OF_RUNS:
        observed, simulated = [], []
        for _ in range(draws):
            data = table(draw, runs, of_runs, binomial)
            smaller = fitted(small, data, binomial)
            observed.append(smaller.deviance - fitted(large, data, binomial).deviance)
            again = data.with_columns(value=pl.Series(few_groups.simulate(smaller, draw)))
            simulated.append(fitted(small, again, binomial).deviance - fitted(large, again, binomial).deviance)
        order = np.sort(simulated)
        p = 1 - np.searchsorted(order, np.array(observed) - 1e-9) / len(order)
        by_bootstrap.append(rate((p <= interval.LEVEL).tolist()))
        by_chi2.append(rate((special.chdtrc(1, np.maximum(observed, 0)) <= interval.LEVEL).tolist()))
    kind = "binomial" if binomial else "linear"
    units = f"{runs} runs, {SUITES} suites"
    yield row(f"class, {kind} mixed model, likelihood ratio (parametric bootstrap)", units, [], by_bootstrap)
    yield row("... compared with chi-squared", units, [], by_chi2, method=f"only {runs} groups")


# Standard deviations between classes, sizes, runs and suites, of their interactions with suites, and of the residual. Items
# add .1.
OF_PARTS = (
    (0.15, 0.05, 0.05, 0.2, 0.1, 0.05, 0.1),
    (0.05, 0.1, 0.02, 0.2, 0.15, 0, 0.05),
    (0, 0, 0.1, 0.2, 0.1, 0.1, 0.1),
)


def shares(draw: np.random.Generator, draws: int, sizes: tuple[int, int, int, int]) -> Iterator[Row]:
    """The shares of variance of each part, with so many classes, sizes, seeds and suites."""
    count = int(np.prod(sizes))
    a, b, seed, suite = np.unravel_index(np.arange(count), sizes)
    run = (a * sizes[1] + b) * sizes[2] + seed
    levels = {"class": a, "size": b, "training run": run, "suite": suite}
    levels |= {"class by suite": a * sizes[3] + suite, "size by suite": b * sizes[3] + suite}
    groups = {name: index.tolist() for name, index in levels.items()}
    covered: dict[str, list[list[bool]]] = {}
    remarks: dict[str, str] = {}
    for of_parts in OF_PARTS:
        *_, residual = of_parts
        variances = dict(zip(levels, np.square(of_parts), strict=False)) | {"items": 0.01, "residual": residual**2}
        outcomes: dict[str, list[bool]] = {}
        for _ in range(draws):
            values = draw.normal(0, 0.1, count) + draw.normal(0, residual, count)
            for index, sd in zip(levels.values(), of_parts, strict=False):
                values += draw.normal(0, sd, index.max() + 1)[index]
            for share in variance_shares.split(values, groups, [0.01] * count).shares():
                true = variances[share.name] / sum(variances.values())
                outcomes.setdefault(share.name, []).append(share.low - 1e-12 <= true <= share.high + 1e-12)
                remarks[share.name] = share.remark
        for name, found in outcomes.items():
            covered.setdefault(name, []).append(found)
    units = "{} classes, {} sizes, {} seeds, {} suites".format(*sizes)
    for name, worlds in covered.items():
        yield row(f"share of variance: {name}", units, [rate(world) for world in worlds], method=remarks[name])


def study(draws: int) -> Iterator[Row]:
    """Yield the rows of mixed models."""
    draw = np.random.default_rng(1)
    yield from (coefficients(draw, draws, runs, False) for runs in (4, 6, 8, 12))
    yield from (coefficients(draw, draws // 2, runs, True) for runs in (4, 12, 24))
    for runs in (4, 6, 10):
        yield from ratios(draw, 5 * draws, runs, False)
    yield from ratios(draw, draws // 2, 6, True)
    for runs in (4, 12):
        yield coefficients(np.random.default_rng(2), 4 * draws, runs, False, "kenward-roger")
    yield from shares(np.random.default_rng(3), draws, (3, 2, 2, 10))
    yield from shares(np.random.default_rng(3), draws, (5, 4, 2, 31))


def power_of(simulate: Callable[[], float], studies: int) -> float:
    return rate([simulate() <= interval.LEVEL for _ in range(studies)])


def predicted(pilots: Sequence[Pilot], difference: float, **sizes: int) -> Numbers:
    """Return the power that each pilot predicts."""
    source = np.random.default_rng(2)
    return np.array([
        power_of(lambda pilot=pilot: pilot.simulate(source, difference, **sizes), STUDIES) for pilot in pilots  # type: ignore[misc]
    ])  # fmt: skip


def line(what: str, planned: str, true: float, powers: Numbers) -> str:
    low, high = np.percentile(powers, (10, 90))
    return f"| {what} | {planned} | {true:.3f} | {powers.mean():.3f} | {low:.3f} to {high:.3f} |"


def models(draw: np.random.Generator, pilots: int, suites: int) -> str:
    """Two models over suites: pilots of 24 items for studies of 20 suites of 24; suites differ by .15."""

    def world(count: int) -> list[Numbers]:
        truth = np.clip(draw.normal(0.1, 0.15, count), -0.8, 0.8)
        to_b, to_a = (0.15 + np.abs(truth) + truth) / 2, (0.15 + np.abs(truth) - truth) / 2
        outcome = draw.random((count, ITEMS))
        return list((outcome < to_b[:, None]).astype(float) - (outcome > 1 - to_a[:, None]))

    def study() -> float:
        return suite_intervals.over_suites(
            {str(k): v for k, v in enumerate(world(20))}, Kind.VERDICT, difference=True
        ).p

    found = predicted([TwoModels(world(suites)) for _ in range(pilots)], 0.1, suites=20, items=ITEMS)
    return line(f"two models, {suites} suites", "20 suites", power_of(study, 2000), found)


def seeds(draw: np.random.Generator, pilots: int, count: int) -> str:
    """Two classes of models: pilots of 31 suites of 24 items for studies with 5 models of each class."""

    def world(each: int) -> list[dict[str, Numbers]]:
        level, contrast = draw.uniform(0.3, 0.7, (31, 1)), draw.normal(0.08, 0.05, (31, 1))
        sides = []
        for sign in (-0.5, 0.5):
            p = level + sign * contrast + draw.normal(0, 0.05, each) + draw.normal(0, 0.03, (31, each))
            sides.append(dict(enumerate_named((draw.random((ITEMS, 31, each)) < np.clip(p, 0, 1)).astype(float))))
        return sides

    def study() -> float:
        return model_classes.difference(*world(5), Kind.VERDICT)[1].p

    found = predicted([TwoClasses(*world(count)) for _ in range(pilots)], 0.08, suites=31, items=ITEMS, models=5)
    return line(f"two classes, {count} models of each", "5 models of each", power_of(study, 1000), found)


def enumerate_named(values: Numbers) -> Iterator[tuple[str, Numbers]]:
    """Yield the values of each suite, from an array of items, suites and models."""
    yield from ((str(k), values[:, k]) for k in range(values.shape[1]))


def judged(draw: np.random.Generator, pilots: int, people: int) -> str:
    """People: pilots of 24 items, 12 each, for studies of 24 items with 10 judgements of each."""

    def world(count: int) -> Judgements:
        person, item = np.divmod(np.arange(count * 12), 12)
        item = (item + 12 * person) % 24
        odds = centre + draw.normal(0, 0.7, count)[person] + draw.normal(0, 0.8, 24)[item]
        return Judgements(person, item, (draw.random(len(odds)) < special.expit(odds)).astype(float), Kind.VERDICT)

    centre = planning.log_odds(0.62, sqrt(0.7**2 + 0.8**2))
    found = predicted([People(world(people)) for _ in range(pilots)], 0.12, items=24, each=10)
    true = power_of(lambda: judgements.estimate(world(20), 0.5)[1].p, 2000)
    return line(f"{people} people, 24 items", "20 people, 24 items", true, found)


def plans(pilots: int) -> Iterator[str]:
    """Yield the rows of planning."""
    draw = np.random.default_rng(1)
    yield from (models(draw, pilots, suites) for suites in (3, 5, 10, 34))
    yield from (seeds(draw, pilots, count) for count in (2, 3, 10))
    yield from (judged(draw, pilots, people) for people in (6, 10, 40))


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage_models", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=400, help="studies of a world (default 400; more where a study is quick)"
    )
    draws = parser.parse_args().draws
    text = page("Mixed models with few groups", "benchmarks.coverage_models", study(draws), draws)
    pilots = max(10, draws // 10)
    lines = [
        f"\n## Predicted power\n\n{pilots} pilots, {STUDIES} studies from each; the difference is stated, not taken from the "
        "pilot.\n",
        "| pilot | planned study | true power | predicted, mean | 10% to 90% of pilots |\n|---|---|---|---|---|",
    ]
    for found in plans(pilots):
        lines.append(found)
        print(found, flush=True)
    if draws == parser.get_default("draws"):
        PAGE.write_text(text + "\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
