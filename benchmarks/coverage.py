"""Coverage of every interval and size of every test that Syntagm prints, by enumeration or seeded simulation.

    python -m benchmarks.coverage              # some minutes on one core; writes benchmarks/coverage.md
    python -m benchmarks.coverage --draws 500  # a trial

A row is a design: a number, how many units, and the worlds over which coverage is averaged. `mean` is the coverage
averaged over the worlds, `least` that of the worst of them; `size` is the largest rejection rate at the level .05 in a
world without a difference, `power` the rejection rate in a stated world with one. `remark` is what the product prints
beside such a number; a mean below .94 or a size above .06 must have one (`tests/test_coverage_study.py`). Sizes and
coverages of suites of up to 100 items are enumerated, the others are simulated; of 2,000 draws a coverage of .95 has
the standard error .005. Mixed models and planning have a study of their own, `benchmarks/coverage_models.py`.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import replace
from math import isnan, sqrt
from pathlib import Path

import numpy as np
from scipy import special, stats

from benchmarks.coverage_clusters import classes, clusters, crossed, pairs_of_classes, people, weighted
from benchmarks.coverage_rows import ITEMS, POPULATIONS, Numbers, Row, holds, page, rate, row
from syntagm.evaluation import Group, Kind
from syntagm.stats import (
    Resampling,
    association,
    bootstrap,
    holm,
    interval,
    logit,
    paired_intervals,
    score,
    suite_intervals,
    trajectory,
    using,
)
from syntagm.views import line

PAGE = Path(__file__).with_suffix(".md")


def accuracies(n: int) -> Row:
    """Wilson's interval, enumerated over 1,000 true accuracies."""
    p = np.linspace(0.0005, 0.9995, 1000)
    covered = np.zeros(len(p))
    for right in range(n + 1):
        found = interval.of_items(np.repeat([1.0, 0.0], [right, n - right]), Kind.VERDICT)
        covered += stats.binom.pmf(right, n, p) * ((found.low <= p) & (p <= found.high))
    return row("accuracy of a suite (Wilson)", f"{n} items", covered.tolist(), method=found.method)


def paired_differences(n: int) -> Iterator[Row]:
    """Tango's interval and McNemar's test, enumerated over shares of discordant items and their direction.

    The exact and the mid-p test are shown for comparison. The power is that at a difference of .2, with as many items
    discordant beside it.
    """
    b, c, chances = outcomes(n)
    ends = np.array([paired_intervals.tango(int(x), int(y), n) for x, y in zip(b, c, strict=True)])
    coverages = []
    for discordant in np.linspace(0.01, 0.99, 50):
        for direction in np.linspace(0, 1, 21):
            to_b, to_a = discordant * direction, discordant * (1 - direction)
            inside = (ends[:, 0] <= to_b - to_a + 1e-9) & (to_b - to_a - 1e-9 <= ends[:, 1])
            coverages.append(float(chances(to_b, to_a)[inside].sum()))
    score = np.array([paired_intervals.mcnemar(int(y), int(x), n) for x, y in zip(b, c, strict=True)])
    exact = np.minimum(1.0, 2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5))
    mid = exact - stats.binom.pmf(np.minimum(b, c), b + c, 0.5)
    mid[b == c] = 1 - 0.5 * stats.binom.pmf(b, b + c, 0.5)[b == c]
    method = paired_intervals.of_difference(np.repeat([1.0, 0.0], [1, n - 1]), Kind.VERDICT).method
    for name, p, covered in (
        ("difference on a suite (Tango; McNemar); power at .2", score, coverages),
        ("... the exact test, for comparison", exact, []),
        ("... the mid-p test, for comparison", mid, []),
    ):
        sizes = [float(chances(f / 2, f / 2)[p <= interval.LEVEL].sum()) for f in np.linspace(0.01, 0.99, 99)]
        yield row(name, f"{n} items", covered, sizes, float(chances(0.3, 0.1)[p <= interval.LEVEL].sum()), method)


def outcomes(n: int) -> tuple[Numbers, Numbers, Callable[[float, float], Numbers]]:
    """Return all numbers of items that only b and only a gets right, and their probabilities given both shares."""
    b, c = (axis.ravel() for axis in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    b, c = b[b + c <= n], c[b + c <= n]
    ways = special.gammaln(n + 1) - special.gammaln(b + 1) - special.gammaln(c + 1) - special.gammaln(n - b - c + 1)

    def chances(to_b: float, to_a: float) -> Numbers:
        rest = max(1 - to_b - to_a, 1e-300)
        return np.exp(ways + special.xlogy(b, to_b) + special.xlogy(c, to_a) + (n - b - c) * np.log(rest))

    return b, c, chances


def equivalences(n: int, bound: float) -> Row:
    """Two one-sided tests on a suite, enumerated: a difference of exactly the bound; power with 5% discordant items."""
    b, c, chances = outcomes(n)
    p = np.array([
        paired_intervals.equivalence(np.repeat([1.0, -1.0, 0.0], [int(x), int(y), n - int(x) - int(y)]), bound)
        for x, y in zip(b, c, strict=True)
    ])  # fmt: skip
    found = p <= interval.LEVEL
    sizes = [float(chances(bound + f, f)[found].sum()) for f in np.linspace(0, (1 - bound) / 2, 60)]
    power = float(chances(0.025, 0.025)[found].sum())
    found_row = row(f"equivalence within {bound:g} (Tango)", f"{n} items", [], sizes, power)
    # The notes of `table equivalence` say so.
    return replace(found_row, remark="approximate on a suite")


def equivalences_over_suites(draw: np.random.Generator, draws: int, count: int, bound: float) -> Row:
    """Two one-sided tests over random suites: a difference of exactly the bound; power with equal models."""
    rates: dict[tuple[float, float], float] = {}
    for spread in (0.02, 0.1, 0.2):
        for truth in (bound, 0.0):
            found = [
                suite_intervals.equivalence_over_suites(
                    paired_suites(draw, draw.normal(truth, spread, count), 0.1), bound
                )
                for _ in range(draws)
            ]
            rates[spread, truth] = rate([p <= interval.LEVEL for p in found])
    method = suite_intervals.over_suites(
        {"a": [1.0, 0], "b": [0.0, 0]} | {str(k): [0.0] for k in range(count - 2)}, Kind.VERDICT
    ).method
    sizes = [size for (_, truth), size in rates.items() if truth]
    name = f"equivalence within {bound:g} over suites (t)"
    return row(name, f"{count} suites of {ITEMS}", [], sizes, rates[0.02, 0.0], method)


def paired_suites(draw: np.random.Generator, truth: Numbers, balanced: float) -> dict[str, Numbers]:
    """Draw paired differences of verdicts in suites with these true differences and a share of balanced discordant items."""
    values = {}
    for k, difference in enumerate(np.clip(truth, balanced - 1, 1 - balanced)):
        outcome = draw.random(ITEMS)
        to_b = (balanced + abs(difference) + difference) / 2
        to_a = (balanced + abs(difference) - difference) / 2
        values[str(k)] = (outcome < to_b).astype(float) - (outcome > 1 - to_a)
    return values


def suites(draw: np.random.Generator, draws: int, count: int, fixed: bool) -> Row:
    """A score over suites: random ones, or these alone."""
    coverages = []
    for a, b in POPULATIONS.values():
        outcomes = []
        for _ in range(draws):
            p = draw.beta(a, b, count)
            values = {str(k): draw.random(ITEMS) < chance for k, chance in enumerate(p)}
            found = suite_intervals.over_suites(values, Kind.VERDICT)
            outcomes.append(holds(found, float(p.mean()) if fixed else a / (a + b)))
        coverages.append(rate(outcomes))
    name = f"score over suites, {'fixed' if fixed else 'random'}"
    return row(name, f"{count} suites of {ITEMS}", coverages, method=found.method)


def suite_differences(draw: np.random.Generator, draws: int, count: int, fixed: bool) -> Row:
    """Two models over suites: models that differ by suite, more or less, in hard and in easy suites."""
    coverages, sizes = [], []
    for spread in (0.0, 0.05, 0.2):
        for easy in (0.6, 0.95):
            outcomes, rejected = [], []
            for _ in range(draws):
                truth = np.clip(draw.normal(0, spread, count), -0.4, 0.4)
                p = draw.beta(8 * easy, 8 * (1 - easy), count)
                discordant = np.minimum(0.8 * p * (1 - p) + np.abs(truth), 1)
                values = {}
                for k in range(count):
                    outcome = draw.random(ITEMS)
                    to_b = (discordant[k] + truth[k]) / 2
                    values[str(k)] = (outcome < to_b).astype(float) - (outcome > 1 - (discordant[k] - to_b))
                found = suite_intervals.over_suites(values, Kind.VERDICT, difference=True)
                target = float(truth.mean()) if fixed else 0.0
                # Without any spread there is no interval and no claim: nothing is missed, nothing rejected.
                outcomes.append(isnan(found.low) or holds(found, target))
                if not fixed or not spread:
                    rejected.append(found.p <= interval.LEVEL)
            coverages.append(rate(outcomes))
            sizes += [rate(rejected)] if rejected else []
    name = f"difference over suites, {'fixed' if fixed else 'random'}"
    return row(name, f"{count} suites of {ITEMS}", coverages, sizes, method=found.method)


def means_of_bits(draw: np.random.Generator, draws: int, n: int) -> Row:
    """Draw mean bits: normal, skewed like surprisals (gamma, shape 4), exponential, or heavy-tailed (t, 3 df).

    The power is that of normal bits whose mean is 2.5 standard errors.
    """
    worlds: list[Callable[[], Numbers]] = [
        lambda: draw.normal(0, 3, n),
        lambda: draw.gamma(4.0, 1.5, n) - 6.0,
        lambda: draw.exponential(1.5, n) - 1.5,
        lambda: draw.standard_t(3, n),
    ]
    coverages, sizes = [], []
    for world in worlds:
        found = [interval.of_numbers(world()) for _ in range(draws)]
        coverages.append(rate([holds(one, 0.0) for one in found]))
        sizes.append(rate([one.p <= interval.LEVEL for one in found]))
    shifted = [interval.of_numbers(draw.normal(2.5 / sqrt(n), 1.0, n)).p <= interval.LEVEL for _ in range(draws)]
    name = "mean of bits (Student; from ten items on and Hall); power at 2.5 SE"
    return row(name, f"{n} items", coverages, sizes, rate(shifted), found[0].method)


def above_chance(draw: np.random.Generator, draws: int, items: int) -> Row:
    """The report's count of suites above chance, Holm over 34 suites: any suite of a model at chance counts as an error."""
    rights = draw.binomial(items, 0.5, (draws, 34))
    p = stats.binom.sf(rights - 1, items, 0.5)
    errors = [bool((np.array(holm(list(ps))) <= interval.LEVEL).any()) for ps in p]
    return row("any suite above chance (exact binomial, Holm)", f"34 suites of {items}", [], [rate(errors)])


def correlations(draw: np.random.Generator, draws: int, n: int, method: str) -> Row:
    """Fisher's interval; normal pairs, whose rank correlation is 6 / pi asin(r / 2)."""
    coverages, sizes = [], []
    for r in (0.0, 0.5, 0.9):
        truth = r if method == "Pearson" else 6 / np.pi * np.arcsin(r / 2)
        found = []
        for _ in range(draws):
            x = draw.normal(size=n)
            found.append(association(x, r * x + sqrt(1 - r * r) * draw.normal(size=n), method))
        # A rank correlation of 1 or -1 has no interval.
        coverages.append(rate([one.low <= truth <= one.high for one in found if not isnan(one.low)]))
        sizes += [rate([one.p <= interval.LEVEL for one in found])] if not r else []
    return row(f"correlation ({method})", f"{n} pairs", coverages, sizes, method=found[0].method)


def contrasts(draw: np.random.Generator, draws: int, n: int) -> Row:
    """Newcombe's interval of a difference between two suites."""
    coverages = []
    for p, q in ((0.5, 0.5), (0.9, 0.6), (0.98, 0.95), (0.3, 0.7)):
        outcomes = []
        for _ in range(draws):
            pair = [score.of_counts(name, int(draw.binomial(n, chance)), n) for name, chance in (("a", p), ("b", q))]
            found = score.contrast([(pair[0], pair[1])], Group())
            outcomes.append(found.low <= p - q + 1e-12 and p - q - 1e-12 <= found.high)
        coverages.append(rate(outcomes))
    return row("difference of two suites (Newcombe)", f"{n} items each", coverages)


def slopes(draw: np.random.Generator, draws: int, models: int) -> Row:
    """Student's interval of a gain for each doubling; runs are independent."""
    words = 2.0 ** np.arange(models)
    found = [line(words, 0.5 + 0.02 * np.arange(models) + draw.normal(0, 0.03, models)) for _ in range(draws)]
    return row("slope of a learning curve", f"{models} models", [rate([one.low <= 0.02 <= one.high for one in found])])


def predictors(draw: np.random.Generator, draws: int, count: int) -> Row:
    """A coefficient of the logistic regression; suites differ in level and in the predictor."""
    covered, rejected = [], []
    for _ in range(draws):
        level, mean = draw.normal(0.5, 1.0, count), draw.normal(0, 0.7, count)
        suite = np.repeat(np.arange(count), ITEMS)
        x = mean[suite] + draw.normal(size=len(suite))
        values = (draw.random(len(suite)) < special.expit(level[suite])).astype(float)
        fit = logit.fit(values, {"x": x}, suite.astype(str).tolist())
        if not fit.message:
            found = fit.coefficients[1]
            covered.append(abs(found.estimate) <= found.reach)
            rejected.append(found.p <= interval.LEVEL)
    few = f"only {count} suites" if count < bootstrap.FEW else ""
    name = "surface predictor (logistic, suites random)"
    return row(name, f"{count} suites of {ITEMS}", [rate(covered)], [rate(rejected)], method=few)


def areas(draw: np.random.Generator, draws: int, count: int) -> Iterator[Row]:
    """The bootstrap: mean height of a curve over three checkpoints, and where it reaches .5; suites random."""
    at, heights_covered, crossings_covered = (1.0, 2.0, 4.0), [], []
    for a, b in ((1.0, 1.0), (3.0, 2.0)):
        truths = [_of_three(rank, a, b) for rank in range(3)]
        truth, crossing = trajectory.mean_height(at, truths), trajectory.crossing(at, truths, 0.5).at
        of_height, of_crossing = [], []
        for number in range(draws):
            scores = np.sort(draw.beta(a, b, (count, 3)), axis=1)
            with using(Resampling(draws=400, seed=number)):
                curves = bootstrap.counts(count, "suites") @ scores / count
                heights = [trajectory.mean_height(at, curve) for curve in curves]
                crossings = [trajectory.crossing(at, curve, 0.5) for curve in curves]
                places = [-np.inf if drawn.before else drawn.at for drawn in crossings]
                for outcomes, drawn, true in ((of_height, heights, truth), (of_crossing, places, crossing)):
                    low, high = bootstrap.interval(drawn, count)
                    outcomes.append(low <= true <= high)
        heights_covered.append(rate(of_height))
        crossings_covered.append(rate(of_crossing))
    method = Resampling().method("suites", count)
    yield row("mean height of a curve (bootstrap)", f"{count} suites", heights_covered, method=method)
    yield row("where a curve reaches a level (bootstrap)", f"{count} suites", crossings_covered, method=method)


def _of_three(rank: int, a: float, b: float) -> float:
    """Return the expectation of the smallest, middle or largest of three draws from a beta distribution."""
    weight = lambda x: 3 * x * stats.binom.pmf(rank, 2, stats.beta.cdf(x, a, b))  # noqa: E731
    return float(stats.beta.expect(weight, (a, b)))


def study(draws: int) -> Iterator[Row]:
    """Yield all rows."""
    draw = np.random.default_rng(1)
    yield from map(accuracies, (2, 5, 10, 28, 100))
    for n in (5, 10, 20, 28, 100):
        yield from paired_differences(n)
    yield from (equivalences(n, bound) for n, bound in ((28, 0.2), (100, 0.1), (150, 0.1)))
    yield from (equivalences_over_suites(draw, draws // 2, count, 0.1) for count in (3, 5, 10, 31))
    for fixed in (False, True):
        with using(Resampling(suites="fixed" if fixed else "random")):
            yield from (suites(draw, draws, count, fixed) for count in (2, 3, 5, 10, 31, 67))
            yield from (
                suite_differences(draw, draws // 2 if fixed else 2 * draws, count, fixed) for count in (2, 3, 5, 10, 31)
            )
    yield from (means_of_bits(draw, draws, n) for n in (3, 5, 10, 20, 28, 100))
    yield from (clusters(draw, draws, count) for count in (3, 5, 10, 20))
    shapes = ((5, 7), (20, 7), (20, 50), (200, 30), (20, 300))
    yield from (crossed(draw, draws, *shape) for shape in shapes)
    yield from (weighted(draw, draws, *shape) for shape in shapes)
    yield from (classes(draw, draws, *shape) for shape in ((3, 3), (31, 2), (31, 3), (31, 5), (31, 12)))
    yield from (pairs_of_classes(draw, draws, *shape) for shape in ((5, 3), (10, 3), (31, 2), (31, 3), (31, 10)))
    for conditions in (False, True):
        yield from (
            people(draw, draws, shape, conditions) for shape in ((8, 8, 8), (12, 24, 12), (20, 24, 12), (40, 24, 12))
        )
    yield from (correlations(draw, draws, n, method) for method in ("Pearson", "Spearman") for n in (5, 8, 20, 41))
    yield from (contrasts(draw, draws, n) for n in (10, 28, 1000))
    yield from (slopes(draw, draws, models) for models in (4, 8))
    yield from (predictors(draw, draws, count) for count in (5, 13, 40))
    yield from (above_chance(draw, draws, items) for items in (10, 24, 100))
    for count in (3, 5, 10, 31):
        yield from areas(draw, max(100, draws // 5), count)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="draws of a world (default 2,000)")
    draws = parser.parse_args().draws
    text = page("Coverage and size", "benchmarks.coverage", study(draws), draws)
    if draws == parser.get_default("draws"):
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
