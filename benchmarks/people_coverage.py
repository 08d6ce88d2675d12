"""Coverage of the intervals about people: how often they contain the true number, for other people and other items.

    python -m benchmarks.people_coverage means [STUDIES]      shares of choices, and differences of ratings and times
    python -m benchmarks.people_coverage others [STUDIES]     Krippendorff's alpha, and reliability
    python -m benchmarks.people_coverage logistic [STUDIES]   shares under a crossed logistic model

Worlds are those of Latin squares with two conditions, or of pairs: people and items vary, crossed, and answers vary around
both. The true number is that of the population of people and items; that of choices is integrated numerically, that of alpha
is the mean of six samples of 400 people and 400 items. The reliability is that of the same people over other items, of which
2,000 give it.
"""

import contextlib
import sys
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.evaluation import Kind
from syntagm.stats import Numbers, crossed, judgements

SIZES = ((10, 10), (20, 5), (20, 10), (20, 24), (40, 24), (60, 12))
# The standard deviations of people and items.
SPREADS = (0.3, 1.0)


def choices(generator: np.random.Generator, people: int, items: int, mean: float, spread: float) -> bool:
    """One study of pairs: whether the interval of `individual` contains the true share."""
    person, item = generator.normal(0, spread, people), generator.normal(0, spread, items)
    odds = mean + person[:, None] + item[None, :]
    values = (generator.random((people, items)) < 1 / (1 + np.exp(-odds))).astype(float).ravel()
    who, what = (codes.ravel() for codes in np.indices((people, items)))
    strata = np.zeros(len(values), np.int64)
    _, found = judgements.weighted(values, np.ones(len(values)), strata, Kind.VERDICT, who, what)
    return bool(found.low <= true_share(mean, spread) <= found.high)


def true_share(mean: float, spread: float) -> float:
    """The expected share of choices over people and items, by Gauss and Hermite."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(60)
    values = 1 / (1 + np.exp(-(mean + spread * np.sqrt(2) * nodes)))
    return float((weights * values).sum() / weights.sum())


def effect(generator: np.random.Generator, people: int, items: int, kind: str, spread: float) -> bool:
    """One Latin square of two conditions: whether the interval of the difference contains the true one."""
    who, what = np.indices((people, items))
    second = ((who + what) % 2).astype(float)
    size = 60.0 if kind == "ms" else 1.0
    slope = size * (1 + spread * (generator.normal(0, 1, people)[:, None] + generator.normal(0, 1, items)[None, :]))
    base = generator.normal(0, 1, people)[:, None] + generator.normal(0, 0.5, items)[None, :]
    if kind == "ms":
        noise = generator.normal(0, 0.35, (people, items))
        values = 350 * np.exp(0.2 * base + noise) + slope * second
    else:
        values = 4 + base + slope * second + generator.normal(0, 1.2, (people, items))
    value, found = _difference(values.ravel(), second.ravel(), who.ravel(), what.ravel())
    return bool(found.low <= size <= found.high) and np.isfinite(value)


def _difference(
    values: NDArray[np.float64], second: NDArray[np.float64], who: NDArray[np.int64], what: NDArray[np.int64]
) -> tuple[float, "judgements.Interval"]:
    """The difference of two conditions as `views.people.numbers` computes it."""
    means = values[second == 0].mean(), values[second == 1].mean()
    weights = np.where(second == 1, 1 / (second == 1).sum(), -1 / (second == 0).sum())
    influences = weights * (values - np.where(second == 1, means[1], means[0]))
    value = float(means[1] - means[0])
    return value, judgements.of_influences(value, influences, Kind.NUMBER, who, what)


def _chosen(
    generator: np.random.Generator, people: Numbers, items: Numbers, mean: float
) -> tuple[Numbers, NDArray[np.int64], NDArray[np.int64]]:
    """Choices of people about items, with the codes of both."""
    odds = mean + people[:, None] + items[None, :]
    values = (generator.random(odds.shape) < 1 / (1 + np.exp(-odds))).astype(float)
    who, what = (codes.ravel() for codes in np.indices(odds.shape))
    return values.ravel(), who, what


def logistic(generator: np.random.Generator, people: int, items: int, suites: int, spread: float) -> tuple[int, int]:
    """One study of several suites: of how many the profile interval contains the true share, and of how many suites."""
    means = 1.5 + generator.normal(0, 0.7, suites)
    who = generator.normal(0, spread, people)
    parts, inside = [], 0
    for suite, mean in enumerate(means):
        values, person, item = _chosen(generator, who, generator.normal(0, spread, items), float(mean))
        columns = {"value": values, "person": person.astype(str), "item": item.astype(str)}
        parts.append(pl.DataFrame(columns).with_columns(suite=pl.lit(str(suite))))
    found = crossed.shares(pl.concat(parts), [str(suite) for suite in range(suites)])
    for mean, share in zip(means, found, strict=True):
        inside += share.interval.low <= true_share(float(mean), spread) <= share.interval.high
    return inside, suites


def true_alpha(spread: float) -> float:
    """Krippendorff's alpha of many people and items, the mean of six samples."""
    found = []
    for sample in range(6):
        generator = np.random.default_rng([sample, int(10 * spread)])
        values, _, item = _chosen(generator, generator.normal(0, spread, 400), generator.normal(0, spread, 400), 1.0)
        found.append(judgements.krippendorff(values, item))
    return float(np.mean(found))


def alpha(generator: np.random.Generator, people: int, items: int, spread: float, true: float) -> tuple[int, int]:
    """One study: whether the interval of alpha contains the true one."""
    values, person, item = _chosen(
        generator, generator.normal(0, spread, people), generator.normal(0, spread, items), 1.0
    )
    found = judgements.alpha_interval(values, item, person)
    return int(found.low <= true <= found.high), int(np.isfinite(found.low))


def reliability(generator: np.random.Generator, people: int, items: int, spread: float) -> tuple[int, int]:
    """One study: whether the interval of the reliability contains that of the same people over other items."""
    who = generator.normal(0, spread, people)
    found = []
    for count in (items, 2000):
        values, _, _ = _chosen(generator, who, generator.normal(0, spread, count), 1.0)
        table = values.reshape(people, count)
        found.append(judgements.split_halves(people, lambda half, table=table: table[half].mean(axis=0), 50, 1))
        if count == items and not np.isfinite(found[0].low):
            return 0, 0
    return int(found[0].low <= found[1].value <= found[0].high), 1


def others(studies: int) -> None:
    """Print the coverage of the intervals of alpha and of reliability."""
    print(
        f"`python -m benchmarks.people_coverage others {studies}`: {studies:,} studies each; in brackets how many have no"
    )
    print("interval.\n\n| people | items | spread | alpha | reliability |\n|---|---|---|---|---|")
    for people, items in SIZES:
        for spread in SPREADS:
            true = true_alpha(spread)
            found = []
            for place, study in enumerate(
                (
                    lambda g, p=people, i=items, s=spread, t=true: alpha(g, p, i, s, t),
                    lambda g, p=people, i=items, s=spread: reliability(g, p, i, s),
                )
            ):
                generator = np.random.default_rng([people, items, int(10 * spread), 10 + place])
                found.append(_share([study(generator) for _ in range(studies)]))
            print(f"| {people} | {items} | {spread} |", " | ".join(found), "|", flush=True)


def crossed_model(studies: int) -> None:
    """Print the coverage of the intervals of the logistic model, which take longest."""
    print(
        f"`python -m benchmarks.people_coverage logistic {studies}`: {studies:,} studies of one suite, a sixth of them of six."
    )
    print("\n| people | items | spread | 1 suite | 6 suites |\n|---|---|---|---|---|")
    for people, items in ((20, 5), (20, 10)):
        for spread in SPREADS:
            found = []
            for suites, count in ((1, studies), (6, studies // 6)):
                generator = np.random.default_rng([people, items, int(10 * spread), suites])
                results = []
                for _ in range(count):
                    with contextlib.suppress(InputError):  # all answers are the same
                        results.append(logistic(generator, people, items, suites, spread))
                found.append(_share(results))
            print(f"| {people} | {items} | {spread} |", " | ".join(found), "|", flush=True)


def _share(results: Sequence[tuple[int, int]]) -> str:
    inside, of = (sum(column) for column in zip(*results, strict=True))
    without = sum(1 for _, number in results if not number)
    return f"{inside / of:.3f}" + (f" ({without})" if without else "")


def means(studies: int) -> None:
    """Print the shares of studies whose interval contains the true number."""
    print(
        f"`python -m benchmarks.people_coverage means {studies}`: {studies:,} studies for each number, whose standard error"
    )
    print(f"is at most {np.sqrt(0.05 * 0.95 / studies):.3f}.\n")
    columns = [
        ("choices, log odds 1", lambda g, p, i, s: choices(g, p, i, 1.0, s)),
        ("choices, log odds 2.5", lambda g, p, i, s: choices(g, p, i, 2.5, s)),
        ("difference of ratings", lambda g, p, i, s: effect(g, p, i, "points", s)),
        ("difference in ms", lambda g, p, i, s: effect(g, p, i, "ms", s)),
    ]
    print("| people | items | spread |", " | ".join(name for name, _ in columns), "|")
    print("|---|---|---|" + "---|" * len(columns))
    for people, items in SIZES:
        for spread in SPREADS:
            cells = []
            for place, (_, study) in enumerate(columns):
                generator = np.random.default_rng([people, items, int(10 * spread), place])
                cells.append(f"{np.mean([study(generator, people, items, spread) for _ in range(studies)]):.3f}")
            print(f"| {people} | {items} | {spread} |", " | ".join(cells), "|", flush=True)


if __name__ == "__main__":
    {"means": means, "others": others, "logistic": crossed_model}[sys.argv[1]](
        int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    )
