"""Worlds in which intervals and tests fail, and mild ones beside them: coverage, size and remarks, by seeded simulation.

    python -m benchmarks.coverage_worlds              # some minutes on one core; writes benchmarks/coverage_worlds.md
    python -m benchmarks.coverage_worlds --draws 200  # a trial

A row is a world: where the numbers come from, and how many there are. `wrong` is the proportion of draws whose 95%
interval misses the true number, or whose test at the level .05 rejects a true hypothesis. `earlier: wrong` is the same for
plain methods on the same draws: Wilson's and Student's intervals with the variance of the suites or items, Fisher's interval,
and McNemar's test as it is. `remarked` is the proportion of draws with a remark that isn't about few units, `unremarked` that
of draws that are wrong without any remark. `wider` is the mean width of the interval, divided by the earlier one. The last
column is what every table, caption and page says of such a number, whatever the data.

In a mild world, at most 7% of intervals and 6% of tests should be wrong, and fewer than 10% of the draws be remarked on; in
a hard one the same, or what the data can't show is said (`tests/test_coverage_study.py`). The second part draws data sets
of all kinds, and counts those in which interval and test disagree.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import atanh, inf, isnan, nan, sqrt
from pathlib import Path
from time import process_time

import numpy as np
from scipy import stats
from scipy.special import expit, logit

from benchmarks import commit_and_machine
from benchmarks.coverage_rows import ITEMS, Numbers
from syntagm.evaluation import Kind
from syntagm.stats import (
    FEW,
    LEVEL,
    Interval,
    Resampling,
    Spread,
    alike,
    association,
    evident,
    interval,
    judgements,
    model_classes,
    paired_intervals,
    suite_intervals,
    using,
)
from syntagm.suites import few_words

PAGE = Path(__file__).with_suffix(".md")
HEADER = (
    "| number | world | units | earlier: wrong | wrong | remarked | unremarked | wider | always said |\n"
    "|---|---|---|---|---|---|---|---|---|"
)
ABSENT = "kinds that are absent"


@dataclass(frozen=True, slots=True)
class Drawn:
    """A draw: whether the earlier method and the present one are wrong, the remark, and both widths."""

    earlier: bool
    now: bool
    remarks: tuple[str, ...] = ()
    widths: tuple[float, float] = (nan, nan)


def judged(truth: float, earlier: Interval, now: Interval) -> Drawn:
    """Compare two intervals with the true number; none counts as missing it, unless the earlier method had none either."""
    wrong = [not found.low - 1e-9 <= truth <= found.high + 1e-9 for found in (earlier, now)]
    if isnan(earlier.low) and isnan(now.low):
        wrong = [False, False]
    return Drawn(wrong[0], wrong[1], now.remarks, (earlier.high - earlier.low, now.high - now.low))


def line(number: str, world: str, units: str, draws: Sequence[Drawn], said: str = "") -> str:
    """Return the row of a world."""
    beyond_few = [any(not remark.startswith("only") for remark in drawn.remarks) for drawn in draws]
    widths = np.array([drawn.widths for drawn in draws])
    defined = np.isfinite(widths).all(axis=1)
    wider = widths[defined, 1].mean() / widths[defined, 0].mean() if defined.any() else nan
    rates = [
        np.mean([drawn.earlier for drawn in draws]),
        np.mean([drawn.now for drawn in draws]),
        np.mean(beyond_few),
        np.mean([drawn.now and not drawn.remarks for drawn in draws]),
    ]
    shown = " | ".join(f"{rate:.3f}" for rate in rates)
    return f"| {number} | {world} | {units} | {shown} | {'' if isnan(wider) else f'{wider:.2f}'} | {said} |"


# The earlier methods.


def earlier_score(samples: Sequence[Numbers]) -> Interval:
    """Return Wilson's interval over suites; over fixed ones, with the variance of their items."""
    return interval.score(mean(samples), earlier_spread(samples))


def earlier_difference(samples: Sequence[Numbers]) -> Interval:
    """Return Student's interval over suites; over fixed ones the normal one, with the variance of their items."""
    return interval.student(mean(samples), earlier_spread(samples)).clipped(-1.0)


def earlier_spread(samples: Sequence[Numbers]) -> Spread:
    spread = suite_intervals.spread_over_suites(samples)
    return spread if not spread.fixed else Spread(spread.variance, inf, spread.units)


def mean(samples: Sequence[Numbers]) -> float:
    return float(np.mean([values.mean() for values in samples]))


def halls(values: Numbers) -> Interval:
    """Return the wider of Student's and Hall's interval, with the skewness of the sample as it is."""
    n = len(values)
    deviations = values - values.mean()
    skewness = float((deviations**3).mean() / (deviations**2).mean() ** 1.5) / sqrt(n) if n >= 10 else 0.0
    return interval.student(
        float(values.mean()), Spread(float(values.var(ddof=1)) / n, n - 1.0, (("items", n),), skewness=skewness)
    )


# Worlds of suites.


def verdicts(draw: np.random.Generator, accuracies: Numbers, sizes: Sequence[int]) -> list[Numbers]:
    """Draw verdicts of suites with these true accuracies."""
    return [(draw.random(n) < p).astype(float) for p, n in zip(np.clip(accuracies, 0, 1), sizes, strict=True)]


def differences(
    draw: np.random.Generator, truth: Numbers, sizes: Sequence[int], balanced: float | Numbers
) -> list[Numbers]:
    """Draw differences of verdicts of suites with these true differences, and a share of items discordant beside them."""
    samples = []
    for difference, share, n in zip(truth, np.broadcast_to(balanced, truth.shape), sizes, strict=True):
        aimed = float(np.clip(difference, share - 1, 1 - share))
        discordant = min(share + abs(aimed), 1.0)
        outcome = draw.random(n)
        to_b = (discordant + aimed) / 2
        samples.append((outcome < to_b).astype(float) - (outcome > 1 - (discordant - to_b)))
    return samples


def named(samples: Sequence[Numbers]) -> dict[str, Numbers]:
    return {str(k): values for k, values in enumerate(samples)}


MIXED = [24] * 31 + [1000] * 67
FIXED: dict[str, tuple[list[int], float]] = {
    "10 and 1,000 items, both .9": ([10, 1000], 0.9),
    "28 and 1,000 items, both .9": ([28, 1000], 0.9),
    "5 and 3 x 500 items, all .9": ([5, 500, 500, 500], 0.9),
    "10 and 1,000 items, both .98": ([10, 1000], 0.98),
    "31 x 24 and 67 x 1,000 items, all .9": (MIXED, 0.9),
    "31 x 3 items, all .9": ([3] * 31, 0.9),
    "5 x 6 items, all .7": ([6] * 5, 0.7),
}


def of_fixed(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Scores and differences over fixed suites."""
    for world, (sizes, p) in FIXED.items():
        found = []
        for _ in range(draws if len(sizes) < 40 else draws // 4):
            samples = verdicts(draw, np.full(len(sizes), p), sizes)
            found.append(judged(p, earlier_score(samples), suite_intervals.over_suites(named(samples), Kind.VERDICT)))
        yield line("score, fixed suites", world, f"{len(sizes)} suites", found)
    for count in (2, 5, 31):
        for shape in ((1.0, 1.0), (20.0, 1.0)):
            found = []
            for _ in range(draws):
                p = draw.beta(*shape, count)
                samples = verdicts(draw, p, [ITEMS] * count)
                now = suite_intervals.over_suites(named(samples), Kind.VERDICT)
                found.append(judged(float(p.mean()), earlier_score(samples), now))
            yield line("score, fixed suites", f"mild: accuracies beta{shape}", f"{count} suites of {ITEMS}", found)
    worlds: dict[str, tuple[list[int], float]] = {
        "5 x 2 items, 60% discordant": ([2] * 5, 0.6),
        "10 x 3 items, 60% discordant": ([3] * 10, 0.6),
        "10 x 4 items, 60% discordant": ([4] * 10, 0.6),
        "31 x 3 items, 30% discordant": ([3] * 31, 0.3),
        "5 and 3 x 500 items, 50% discordant": ([5, 500, 500, 500], 0.5),
        "10 and 1,000 items, 20% discordant": ([10, 1000], 0.2),
        "mild: 10 x 24 items, 20% discordant": ([ITEMS] * 10, 0.2),
        "mild: 31 x 24 items, 20% discordant": ([ITEMS] * 31, 0.2),
    }
    for world, (sizes, share) in worlds.items():
        found = []
        for _ in range(draws):
            samples = differences(draw, np.zeros(len(sizes)), sizes, share)
            now = suite_intervals.over_suites(named(samples), Kind.VERDICT, difference=True)
            found.append(judged(0.0, earlier_difference(samples), now))
        yield line("difference, fixed suites", world, f"{len(sizes)} suites", found)


def of_random_differences(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Differences over random suites, and equivalence within .1 if the difference is exactly that."""

    def rare(count: int) -> Numbers:
        return np.where(draw.random(count) < 0.1, 0.6, -0.6 / 9)

    def lognormal(count: int) -> Numbers:
        return 0.1 * (np.exp(draw.normal(0, 1, count)) - np.exp(0.5))

    def one(count: int) -> Numbers:
        return np.where(np.arange(count) == 0, draw.choice((-0.6, 0.6)), 0.0)

    worlds: dict[str, tuple[Callable[[int], Numbers], str]] = {
        "mild: normal, sd .1": (lambda count: draw.normal(0, 0.1, count), ""),
        "mild: normal, sd .2": (lambda count: draw.normal(0, 0.2, count), ""),
        "mild: uniform, +-.3": (lambda count: draw.uniform(-0.3, 0.3, count), ""),
        "10% of suites +.6, the others -.067": (rare, ABSENT),
        "lognormal, times .1": (lognormal, ABSENT),
        "one suite +-.6, the others 0": (one, ABSENT),
    }
    for world, (drawn, said) in worlds.items():
        for count in (10, 20, 31, 67):
            found, tested = [], []
            for _ in range(draws):
                truth = drawn(count)
                samples = differences(draw, truth, [ITEMS] * count, 0.1)
                now = suite_intervals.over_suites(named(samples), Kind.VERDICT, difference=True)
                found.append(judged(0.0, earlier_difference(samples), now))
                # Two one-sided tests of a difference that is the bound, on the side of the long tail.
                shifted = differences(draw, truth + 0.1, [ITEMS] * count, 0.1)
                spread = earlier_spread(shifted)
                size = (mean(shifted) - 0.1) / sqrt(spread.variance) if spread.variance else 0.0
                earlier = stats.t.cdf(size, spread.freedom) <= LEVEL
                p = suite_intervals.equivalence_over_suites(named(shifted), 0.1)
                remarks = suite_intervals.over_suites(named(shifted), Kind.VERDICT, difference=True).remarks
                tested.append(Drawn(bool(earlier), bool(p <= LEVEL), remarks))
            units = f"{count} suites of {ITEMS}"
            yield line("difference, random suites", world, units, found, said)
            yield line("equivalence within .1, random suites", world, units, tested, said)


def of_random_scores(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Scores over random suites."""
    tail = np.random.default_rng(0).normal(0, 1.2, 2_000_000)
    worlds: dict[str, tuple[Callable[[int], Numbers], float, str]] = {
        "mild: beta(1, 1)": (lambda count: draw.beta(1, 1, count), 0.5, ""),
        "mild: beta(8, 1.5)": (lambda count: draw.beta(8, 1.5, count), 8 / 9.5, ""),
        "mild: beta(20, 1)": (lambda count: draw.beta(20, 1, count), 20 / 21, ""),
        "10% of suites .3, the others .97": (
            lambda count: np.where(draw.random(count) < 0.1, 0.3, 0.97), 0.1 * 0.3 + 0.9 * 0.97, ABSENT
        ),
        "10% of suites .9, the others .3": (lambda count: np.where(draw.random(count) < 0.1, 0.9, 0.3), 0.36, ABSENT),
        "beta(.2, .02)": (lambda count: draw.beta(0.2, 0.02, count), 0.2 / 0.22, ABSENT),
        "1 - lognormal": (
            lambda count: 1 - np.minimum(0.05 * np.exp(draw.normal(0, 1.2, count)), 1),
            float(1 - np.minimum(0.05 * np.exp(tail), 1).mean()), ABSENT,
        ),
    }  # fmt: skip
    for world, (drawn, truth, said) in worlds.items():
        for count in (10, 20, 31, 67):
            found = []
            for _ in range(draws):
                samples = verdicts(draw, drawn(count), [ITEMS] * count)
                found.append(
                    judged(truth, earlier_score(samples), suite_intervals.over_suites(named(samples), Kind.VERDICT))
                )
            yield line("score, random suites", world, f"{count} suites of {ITEMS}", found, said)


def of_bits(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Mean bits of items."""
    worlds: dict[str, tuple[Callable[[int], Numbers], str]] = {
        "mild: normal": (lambda n: draw.normal(0, 1, n), ""),
        "mild: gamma of shape 4": (lambda n: draw.gamma(4.0, 1, n) - 4, ""),
        "exponential": (lambda n: draw.exponential(1, n) - 1, ""),
        "t with 3 degrees of freedom": (lambda n: draw.standard_t(3, n), ""),
        "lognormal": (lambda n: np.exp(draw.normal(0, 1, n)) - np.exp(0.5), ABSENT),
        "lognormal, sd 1.5": (lambda n: np.exp(draw.normal(0, 1.5, n)) - np.exp(1.125), ABSENT),
        "normal, 5% of items with sd 10": (
            lambda n: draw.normal(0, 1, n) * np.where(draw.random(n) < 0.05, 10, 1),
            ABSENT,
        ),
        "normal, 5% of items 5 higher": (lambda n: draw.normal(0, 1, n) + 5 * (draw.random(n) < 0.05) - 0.25, ABSENT),
        "normal, 5% of items 10 higher": (lambda n: draw.normal(0, 1, n) + 10 * (draw.random(n) < 0.05) - 0.5, ABSENT),
    }
    for world, (drawn, said) in worlds.items():
        for n in (10, 12, 20, 28, 100):
            found = [
                judged(0.0, halls(values), interval.of_numbers(values)) for values in (drawn(n) for _ in range(draws))
            ]
            yield line("mean of bits", world, f"{n} items", found, said)


def of_mcnemar() -> Iterator[str]:
    """McNemar's test, enumerated: the largest size over all shares of discordant items, and with all items discordant."""
    for n in (6, 8, 10, 11, 16, 21, 24, 26, 31, 50, 100):
        counts = np.arange(n + 1)
        sizes = []
        for test in (_asymptotic, paired_intervals.mcnemar):
            # By the number of discordant items: the probability to reject, given it.
            given = [
                sum(stats.binom.pmf(less, k, 0.5) for less in range(k + 1) if test(less, k - less, n) <= LEVEL)
                for k in counts
            ]
            shares = np.concatenate([np.linspace(0.02, 0.94, 47), np.linspace(0.95, 1, 11)])
            sizes.append(max(float(stats.binom.pmf(counts, n, share) @ given) for share in shares))
            sizes.append(float(given[-1]))
        few = f"only {n} items" if n < FEW else ""
        for world, at in (("any share of discordant items", 0), ("all items discordant", 1)):
            yield f"| McNemar | {world} | {n} items | {sizes[at]:.3f} | {sizes[at + 2]:.3f} |  |  |  | {few} |"
        # With few discordant items, the test can hardly reject; where it can't, the remark says so.
        of_five = stats.binom.pmf(counts, n, 0.05)
        said = [bool(paired_intervals.of_difference([1.0] * k + [0.0] * (n - k), Kind.VERDICT).remarks) for k in counts]
        size, remarked = float(of_five @ given), float(of_five @ said)
        rates = f"{size:.3f} | {size:.3f} | {remarked:.3f} | {size:.3f}"
        yield f"| McNemar | 5% of items discordant | {n} items | {rates} |  | {few} |"


def _asymptotic(only_a: int, only_b: int, n: int) -> float:
    return float(2 * stats.norm.sf(abs(only_b - only_a) / sqrt(only_a + only_b))) if only_a != only_b else 1.0


# Values of the tag, items with each, and the standard deviation of their log odds; 0: they are unrelated.
SHARED = {
    "mild: 20 words, unrelated": (20, 6, 0.0),
    "mild: 56 words, unrelated": (56, 18, 0.0),
    "4 words, unrelated": (4, 35, 0.0),
    "4 words, sd 1": (4, 35, 1.0),
    "7 words, sd .5": (7, 20, 0.5),
    "14 words, sd 1": (14, 2, 1.0),
    "14 words, sd 1, ten items each": (14, 10, 1.0),
    "20 words, sd 1": (20, 6, 1.0),
    "56 words, sd .5": (56, 18, 0.5),
}


def of_shared_words(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Scores and differences of items that share words, whose intervals and tests are for other items."""
    far = np.random.default_rng(0).normal(0, 1, 1_000_000)
    for world, (count, items, sd) in SHARED.items():
        tags = {"lemma": [str(k) for k in range(count) for _ in range(items)]}
        few, n, said = few_words(tags), count * items, f"only {count} words" if few_words(tags) else ""
        for middle in (0.5, 0.9):
            truth = float(expit(logit(middle) + sd * far).mean())
            found = []
            for _ in range(draws):
                p = expit(logit(middle) + draw.normal(0, sd, count)) if sd else np.full(count, middle)
                values = (draw.random((count, items)) < p[:, None]).astype(float).ravel()
                remarks = tuple(each.tag for each in evident([alike("", values, Kind.VERDICT, tags, few)]))
                now = replace(interval.of_items(values, Kind.VERDICT), remarks=remarks)
                found.append(judged(truth, now, now))
            yield line("score, items share words", f"{world}, {middle} right", f"{n} items", found, said)
        tested = []
        for _ in range(draws):
            # Of three items one is discordant; words differ in which model it favours.
            to_b = np.repeat(expit(draw.normal(0, sd, count)) if sd else np.full(count, 0.5), items)
            values = np.where(draw.random(n) < 1 / 3, np.where(draw.random(n) < to_b, 1.0, -1.0), 0.0)
            wrong = paired_intervals.of_difference(values, Kind.VERDICT).p <= LEVEL
            remarks = tuple(each.tag for each in evident([alike("", values, Kind.NUMBER, tags, few)]))
            tested.append(Drawn(wrong, wrong, remarks))
        yield line("difference, items share words", world, f"{n} items", tested, said)
    found = []
    tags = {"lemma": [str(k) for k in range(20) for _ in range(6)]}
    for _ in range(draws // 4):
        right = draw.uniform(0.5, 0.98, 31)
        suites = [alike("", (draw.random(120) < p).astype(float), Kind.VERDICT, tags) for p in right]
        found.append(Drawn(False, False, tuple(each.tag for each in evident(suites))))
    yield line("table of scores, items share words", "mild: 20 words, unrelated", "31 suites of 120", found)


def of_classes(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Differences of two classes with different numbers of seeds; suites random."""
    for models in ((2, 5), (3, 5), (5, 5)):
        found = []
        for _ in range(draws):
            level, sides = draw.uniform(0.3, 0.7, (31, 1)), []
            for count in models:
                p = level + draw.normal(0, 0.05, count) + draw.normal(0, 0.03, (31, count))
                sides.append(named(list((draw.random((31, ITEMS, count)) < p[:, None]).astype(float))))
            _, of_pair = model_classes.difference(sides[0], sides[1], Kind.VERDICT)
            found.append(judged(0.0, of_pair, of_pair))
        yield line(
            "difference of two classes", "models differ by .05", f"{models[0]} and {models[1]} models, 31 suites", found
        )


def of_correlations(draw: np.random.Generator, draws: int) -> Iterator[str]:
    """Pearson's r: normal pairs, and monotone transformations of them."""
    transformed: dict[str, Callable[[Numbers], Numbers]] = {
        "mild: normal": lambda z: z,
        "near 1, beta(20, 1)": lambda z: np.asarray(stats.beta.ppf(stats.norm.cdf(z), 20, 1)),
        "lognormal": np.exp,
    }
    far = np.random.default_rng(0).normal(size=(2, 400_000))
    for world, function in transformed.items():
        for rho in (0.0, 0.5, 0.9):
            pair = function(far[0]), function(rho * far[0] + sqrt(1 - rho**2) * far[1])
            truth = float(np.corrcoef(*pair)[0, 1]) if rho else 0.0
            for n in (12, 20, 34):
                found = []
                for _ in range(draws // 2):
                    z = draw.normal(size=(2, n))
                    x, y = function(z[0]), function(rho * z[0] + sqrt(1 - rho**2) * z[1])
                    now = association(x, y)
                    reach = 1.959964 / sqrt(n - 3)
                    ends = (np.tanh(atanh(now.value) + sign * reach) for sign in (-1, 1))
                    earlier = Interval(*map(float, ends), "")
                    found.append(judged(truth, earlier, Interval(now.low, now.high, "")))
                yield line("Pearson's r", f"{world}, r = {truth:.2f}", f"{n} pairs", found)


def disagreements(draw: np.random.Generator, count: int) -> Iterator[str]:
    """Data sets of all kinds: those in which p is at most .05 and the interval contains 0, or the other way round."""
    names = ("suites random", "suites fixed", "pairs of numbers", "classes of models", "judgements of people")
    seen, wrong = dict.fromkeys(names, 0), dict.fromkeys(names, 0)
    for number in range(count):
        name = names[number % len(names)]
        fixed = name == "suites fixed" or (name == "classes of models" and number % 2)
        with using(Resampling(suites="fixed" if fixed else "random")):
            low, high, p = _tested(draw, name)
        if not isnan(low) and not isnan(p):
            seen[name] += 1
            wrong[name] += (low > 0 or high < 0) != (p <= LEVEL)
    yield from (f"| {name} | {seen[name]:,} | {wrong[name]} |" for name in seen)


def _tested(draw: np.random.Generator, name: str) -> tuple[float, float, float]:
    if name == "pairs of numbers":
        n = int(draw.integers(3, 40))
        x = np.exp(draw.normal(0, draw.random() * 2, n)) if draw.random() < 0.5 else draw.integers(0, 5, n)
        y = draw.normal(0, 1, n) + draw.random() * (x - x.mean())
        of_pairs = association(x, y, ("Pearson", "Spearman")[draw.integers(2)])
        return of_pairs.low, of_pairs.high, of_pairs.p
    if name == "judgements of people":
        count = draw.integers(2, 15, 2)
        people, items = np.divmod(np.arange(count.prod()), count[1])
        values = draw.normal(draw.normal(0, 0.5), 1, len(people)) + draw.normal(0, 1, count[0])[people]
        judged_by = judgements.Judgements(
            people, items, values, Kind.NUMBER, items % 2 == 1 if draw.random() < 0.5 else None
        )
        of_people = judgements.estimate(judged_by)[1]
        return of_people.low, of_people.high, of_people.p
    suites = int(draw.choice([1, 2, 3, 5, 12, 20]))
    if name == "classes of models":
        sides = [
            named([(draw.random((8, count)) < draw.random()).astype(float) for _ in range(suites)])
            for count in draw.integers(1, 5, 2)
        ]
        of_pair = model_classes.difference(sides[0], sides[1], Kind.VERDICT)[1]
        return of_pair.low, of_pair.high, of_pair.p
    kind = (Kind.VERDICT, Kind.SHARE, Kind.BITS)[draw.integers(3)]
    sizes = draw.choice([1, 2, 3, 6, 10, 24, 100], suites)
    if kind is Kind.VERDICT:
        truth = draw.normal(draw.normal(0, 0.1), 0.2 * draw.random(), suites)
        samples = differences(draw, truth, sizes.tolist(), draw.random(suites) ** 2)
    else:
        samples = [draw.choice([draw.normal(0, 1, n), draw.exponential(1, n) - 1]) + draw.normal(0, 0.3) for n in sizes]
        samples = [np.clip(values / 3, -1, 1) if kind is Kind.SHARE else values for values in samples]
    found = suite_intervals.over_suites(named(samples), kind, difference=True)
    return found.low, found.high, found.p


def study(draws: int) -> Iterator[str]:
    """Yield the rows of all worlds."""
    with using(Resampling(suites="fixed")):
        yield from of_fixed(np.random.default_rng(1), draws // 2)
    yield from of_random_differences(np.random.default_rng(2), draws // 2)
    yield from of_random_scores(np.random.default_rng(3), draws // 2)
    yield from of_bits(np.random.default_rng(4), draws)
    yield from of_mcnemar()
    yield from of_classes(np.random.default_rng(5), draws // 2)
    yield from of_correlations(np.random.default_rng(6), draws)
    yield from of_shared_words(np.random.default_rng(8), draws // 2)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.coverage_worlds", description=__doc__)
    parser.add_argument(
        "--draws", type=int, default=2000, help="draws of a world (default 2,000; half where they are slow)"
    )
    draws = parser.parse_args().draws
    start, lines = process_time(), [HEADER]
    for row in study(draws):
        lines.append(row)
        print(row, flush=True)
    agreeing = ["| data | with interval and test | disagreeing |\n|---|---|---|"]
    for row in disagreements(np.random.default_rng(7), 10 * draws):
        agreeing.append(row)
        print(row, flush=True)
    seconds = process_time() - start
    head = (
        "# Worlds in which intervals and tests fail\n\n`python -m benchmarks.coverage_worlds`: "
        f"{draws:,} draws of a world, half where they are slow; {seconds:.0f} CPU-seconds. {commit_and_machine()}\n\n"
    )
    text = head + "\n".join(lines) + "\n\n## Intervals and tests that agree\n\n" + "\n".join(agreeing) + "\n"
    if draws == parser.get_default("draws"):
        PAGE.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
