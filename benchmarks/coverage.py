"""Coverage of every interval and size of every test that Syntagm prints, by enumeration or seeded simulation.

    python -m benchmarks.coverage              # two minutes on one core; writes benchmarks/coverage.md
    python -m benchmarks.coverage --draws 500  # a trial

A row is a design: a number, how many units, and the worlds over which coverage is averaged. `mean` is the coverage
averaged over the worlds, `least` that of the worst of them; `size` is the largest rejection rate at the level .05 in a
world without a difference. Sizes and coverages of suites of up to 100 items are enumerated, the others are simulated;
of 2,000 draws a coverage of .95 has the standard error .005.
"""

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from math import erf, isnan, sqrt
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import special, stats

from syntagm.result import Group
from syntagm.stats import bootstrap, interval, logit, suite_means, trajectory
from syntagm.stats.association import association
from syntagm.stats.bootstrap import Resampling, using
from syntagm.stats.interval import Interval
from syntagm.views.learning_curve import line

Row = tuple[str, str, float, float, float]
Numbers = NDArray[np.float64]
# Suites whose accuracies differ in every way: a and b of a beta distribution.
POPULATIONS = {
    "even": (1.0, 1.0),
    "middling": (3.0, 2.0),
    "high": (8.0, 1.5),
    "near 1": (20.0, 1.0),
    "0 or 1": (0.4, 0.3),
}
ITEMS = 24
PAGE = Path(__file__).with_suffix(".md")


def holds(found: Interval, truth: float) -> bool:
    """Whether an interval contains the true number; none counts as missing it."""
    return found.low - 1e-12 <= truth <= found.high + 1e-12


def rate(outcomes: Sequence[bool]) -> float:
    return float(np.mean(outcomes))


def row(what: str, units: str, coverages: Sequence[float], sizes: Sequence[float] = ()) -> Row:
    return what, units, float(np.mean(coverages)), float(np.min(coverages)), float(np.max(sizes)) if sizes else np.nan


def accuracies(n: int) -> Row:
    """Wilson's interval, enumerated over 1,000 true accuracies."""
    p = np.linspace(0.0005, 0.9995, 1000)
    covered = np.zeros(len(p))
    for right in range(n + 1):
        found = interval.of_items(np.repeat([1.0, 0.0], [right, n - right]))
        covered += stats.binom.pmf(right, n, p) * ((found.low <= p) & (p <= found.high))
    return row("accuracy of a suite (Wilson)", f"{n} items", covered.tolist())


def paired_differences(n: int) -> Row:
    """Tango's interval and McNemar's test, enumerated over shares of discordant items and their direction."""
    b, c = (axis.ravel() for axis in np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij"))
    b, c = b[b + c <= n], c[b + c <= n]
    ways = special.gammaln(n + 1) - special.gammaln(b + 1) - special.gammaln(c + 1) - special.gammaln(n - b - c + 1)
    ends = np.array([interval.tango(int(x), int(y), n) for x, y in zip(b, c, strict=True)])
    p = np.array([interval.mcnemar(int(y), int(x)) for x, y in zip(b, c, strict=True)])

    def chances(to_b: float, to_a: float) -> Numbers:
        rest = max(1 - to_b - to_a, 1e-300)
        return np.exp(ways + special.xlogy(b, to_b) + special.xlogy(c, to_a) + (n - b - c) * np.log(rest))

    coverages, sizes = [], []
    for discordant in np.linspace(0.01, 0.99, 50):
        sizes.append(float(chances(discordant / 2, discordant / 2)[p <= interval.LEVEL].sum()))
        for direction in np.linspace(0, 1, 21):
            to_b, to_a = discordant * direction, discordant * (1 - direction)
            inside = (ends[:, 0] <= to_b - to_a + 1e-9) & (to_b - to_a - 1e-9 <= ends[:, 1])
            coverages.append(float(chances(to_b, to_a)[inside].sum()))
    return row("difference on a suite (Tango; McNemar)", f"{n} items", coverages, sizes)


def suites(draw: np.random.Generator, draws: int, count: int, fixed: bool) -> Row:
    """A score over suites: random ones, or these alone."""
    coverages = []
    for a, b in POPULATIONS.values():
        outcomes = []
        for _ in range(draws):
            p = draw.beta(a, b, count)
            values = {str(k): draw.random(ITEMS) < chance for k, chance in enumerate(p)}
            outcomes.append(holds(interval.over_suites(values), float(p.mean()) if fixed else a / (a + b)))
        coverages.append(rate(outcomes))
    return row(f"score over suites, {'fixed' if fixed else 'random'}", f"{count} suites of {ITEMS}", coverages)


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
                found = interval.over_suites(values, verdicts=True, difference=True)
                target = float(truth.mean()) if fixed else 0.0
                # Without any spread there is no interval and no claim: nothing is missed, nothing rejected.
                outcomes.append(isnan(found.low) or holds(found, target))
                if not fixed or not spread:
                    rejected.append(found.p <= interval.LEVEL)
            coverages.append(rate(outcomes))
            sizes += [rate(rejected)] if rejected else []
    name = f"difference over suites, {'fixed' if fixed else 'random'}"
    return row(name, f"{count} suites of {ITEMS}", coverages, sizes)


def means_of_bits(draw: np.random.Generator, draws: int, n: int) -> Row:
    """Student's interval and test of mean bits: normal, and skewed as surprisals are (gamma of shape 4)."""
    worlds: list[Callable[[], Numbers]] = [lambda: draw.normal(0, 3, n), lambda: draw.gamma(4.0, 1.5, n) - 6.0]
    coverages, sizes = [], []
    for world in worlds:
        found = [interval.of_numbers(world()) for _ in range(draws)]
        coverages.append(rate([holds(one, 0.0) for one in found]))
        sizes.append(rate([one.p <= interval.LEVEL for one in found]))
    return row("mean of bits (Student)", f"{n} items", coverages, sizes)


def clusters(draw: np.random.Generator, draws: int, count: int) -> Row:
    """Accuracy with words as clusters of unequal size."""
    coverages = []
    for a, b in POPULATIONS.values():
        outcomes = []
        for _ in range(draws):
            sizes = draw.integers(5, 40, count)
            labels = np.repeat(np.arange(count), sizes)
            values = draw.random(len(labels)) < draw.beta(a, b, count)[labels]
            outcomes.append(holds(interval.of_clusters(values, {"words": labels}), a / (a + b)))
        coverages.append(rate(outcomes))
    return row("accuracy, words random", f"{count} words", coverages)


def crossed(draw: np.random.Generator, draws: int, rows: int, columns: int) -> Row:
    """Equal weight: the share of lemmas that win, over contexts; both kinds vary on the probit scale."""
    coverages = []
    for middle in (0.0, 1.0, 2.0):
        for of_lemmas in (0.3, 1.0):
            outcomes = []
            # P(z > 0) of a normal with the mean `middle` and the variance 1 + .5**2 + of_lemmas**2.
            truth = 0.5 * (1 + erf(middle / sqrt(2 * (1 + 0.25 + of_lemmas**2))))
            for _ in range(draws):
                z = middle + draw.normal(0, 0.5, (rows, 1)) + draw.normal(0, of_lemmas, (1, columns))
                won = draw.normal(z, 1.0) > 0
                contexts = interval.spread_of_items(won.mean(axis=1), "contexts")
                lemmas = interval.spread_of_ratio(won.sum(axis=0), np.full(columns, float(rows)), "lemmas")
                both = interval.combined([contexts.variance, lemmas.variance], [contexts.units[0], lemmas.units[0]])
                outcomes.append(holds(interval.score(float(won.mean()), both), truth))
            coverages.append(rate(outcomes))
    return row("equal weight, contexts and lemmas random", f"{rows} contexts, {columns} lemmas", coverages)


def classes(draw: np.random.Generator, draws: int, count: int, models: int) -> Row:
    """A class of models: suites crossed with runs that differ little or much."""
    coverages = []
    for of_models in (0.0, 0.15, 0.5):
        outcomes = []
        truth = 0.5 * (1 + erf(0.3 / sqrt(2 * (2 + of_models**2 + 0.3**2))))
        for _ in range(draws):
            z = 0.3 + draw.normal(0, 1.0, (count, 1)) + draw.normal(0, of_models, (1, models))
            p = special.ndtr(z + draw.normal(0, 0.3, z.shape))
            values = {str(k): (draw.random((ITEMS, models)) < p[k]).astype(float) for k in range(count)}
            outcomes.append(holds(interval.over_models(values), truth))
        coverages.append(rate(outcomes))
    return row("score of a class, suites and models random", f"{count} suites, {models} models", coverages)


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
    return row(f"correlation ({method})", f"{n} pairs", coverages, sizes)


def contrasts(draw: np.random.Generator, draws: int, n: int) -> Row:
    """Newcombe's interval of a difference between two suites."""
    coverages = []
    for p, q in ((0.5, 0.5), (0.9, 0.6), (0.98, 0.95), (0.3, 0.7)):
        outcomes = []
        for _ in range(draws):
            pair = [
                suite_means.of_counts(name, int(draw.binomial(n, chance)), n) for name, chance in (("a", p), ("b", q))
            ]
            found = suite_means.contrast([(pair[0], pair[1])], Group())
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
    return row(
        "surface predictor (logistic, suites random)", f"{count} suites of {ITEMS}", [rate(covered)], [rate(rejected)]
    )


def areas(draw: np.random.Generator, draws: int, count: int) -> Row:
    """The bootstrap: mean height of a curve over three checkpoints, suites random."""
    at, coverages = (1.0, 2.0, 4.0), []
    for a, b in ((1.0, 1.0), (3.0, 2.0)):
        first, middle, last = (_of_three(rank, a, b) for rank in range(3))
        truth, outcomes = (first + 2 * middle + last) / 4, []
        for number in range(draws):
            scores = np.sort(draw.beta(a, b, (count, 3)), axis=1)
            with using(Resampling(draws=400, seed=number)):
                curves = bootstrap.counts(count, "suites") @ scores / count
                heights = [trajectory.mean_height(at, curve) for curve in curves]
                low, high = bootstrap.interval(heights, count)
            outcomes.append(low <= truth <= high)
        coverages.append(rate(outcomes))
    return row("mean height of a curve (bootstrap)", f"{count} suites", coverages)


def _of_three(rank: int, a: float, b: float) -> float:
    """Return the expectation of the smallest, middle or largest of three draws from a beta distribution."""
    weight = lambda x: 3 * x * stats.binom.pmf(rank, 2, stats.beta.cdf(x, a, b))  # noqa: E731
    return float(stats.beta.expect(weight, (a, b)))


def study(draws: int) -> Iterator[Row]:
    """Yield all rows."""
    draw = np.random.default_rng(1)
    yield from map(accuracies, (2, 5, 10, 28, 100))
    yield from map(paired_differences, (5, 10, 28, 100))
    for fixed in (False, True):
        with using(Resampling(suites="fixed" if fixed else "random")):
            yield from (suites(draw, draws, count, fixed) for count in (2, 3, 5, 10, 31, 67))
            yield from (suite_differences(draw, draws, count, fixed) for count in (2, 3, 5, 10, 31))
    yield from (means_of_bits(draw, draws, n) for n in (3, 5, 10, 28))
    yield from (clusters(draw, draws, count) for count in (3, 5, 10, 20))
    yield from (crossed(draw, draws, *shape) for shape in ((5, 7), (20, 7), (20, 50), (200, 30)))
    yield from (classes(draw, draws, *shape) for shape in ((3, 3), (31, 2), (31, 3), (31, 5), (31, 12)))
    yield from (correlations(draw, draws, n, method) for method in ("Pearson", "Spearman") for n in (5, 8, 20, 41))
    yield from (contrasts(draw, draws, n) for n in (10, 28, 1000))
    yield from (slopes(draw, draws, models) for models in (4, 8))
    yield from (predictors(draw, draws, count) for count in (5, 13, 40))
    yield from (areas(draw, max(100, draws // 5), count) for count in (3, 5, 10, 31))


def page(draws: int) -> str:
    """Return the table in Markdown, with the time that it took."""
    start = time.process_time()
    lines = ["| number (method) | units | coverage, mean | least | size, largest |", "|---|---|---|---|---|"]
    for what, units, mean, least, size in study(draws):
        shown = "" if isnan(size) else f"{size:.3f}"
        lines.append(f"| {what} | {units} | {mean:.3f} | {least:.3f} | {shown} |")
        print(lines[-1], flush=True)
    seconds = time.process_time() - start
    head = f"# Coverage\n\n`python -m benchmarks.coverage`: {draws:,} draws, seed 1, {seconds:.0f} CPU-seconds.\n\n"
    return head + "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage", description=__doc__)
    parser.add_argument("--draws", type=int, default=2000, help="draws of a world (default 2,000)")
    draws = parser.parse_args().draws
    text = page(draws)
    if draws == parser.get_default("draws"):
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
