"""Coverage of the intervals about people: how often they contain the true number, for other people and other items.

    python -m benchmarks.people_coverage [STUDIES] > benchmarks/people_coverage.md

Worlds are those of Latin squares with two conditions, or of pairs: people and items vary, crossed, and answers vary around
both. The true number is that of the population of people and items; that of choices is integrated numerically.
"""

import sys

import numpy as np
from numpy.typing import NDArray

from syntagm.result import Kind
from syntagm.stats import agreement

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
    _, found = agreement.weighted(values, np.ones(len(values)), strata, Kind.VERDICT, who, what)
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
) -> tuple[float, "agreement.Interval"]:
    """The difference of two conditions as `views.people.numbers` computes it."""
    means = values[second == 0].mean(), values[second == 1].mean()
    weights = np.where(second == 1, 1 / (second == 1).sum(), -1 / (second == 0).sum())
    influences = weights * (values - np.where(second == 1, means[1], means[0]))
    value = float(means[1] - means[0])
    return value, agreement.of_influences(value, influences, Kind.NUMBER, who, what)


def main(studies: int) -> None:
    """Print the shares of studies whose interval contains the true number."""
    print(
        f"# Coverage of intervals about people\n\n`python -m benchmarks.people_coverage {studies}`: {studies:,} studies for each"
    )
    print("number, whose standard error is at most", f"{np.sqrt(0.05 * 0.95 / studies):.3f}.\n")
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
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000)
