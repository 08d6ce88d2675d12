"""Score intervals over fixed suites: against maximisation by a general optimiser, and in the worlds where variances fail."""

from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize, stats

from syntagm.evaluation import Kind
from syntagm.stats import LEVEL, Resampling, interval, paired_intervals, suite_intervals, using

FIXED = Resampling(suites="fixed")


def equal(count: int) -> np.ndarray:
    return np.full(count, 1 / count)


@pytest.mark.filterwarnings("ignore:Values in x were outside bounds")  # scipy before 1.16
def test_the_likelihood_is_that_of_a_general_optimiser() -> None:
    """Three suites with differences of verdicts: the most likely probabilities if the mean difference is 0."""
    gained, lost, sizes = np.array([5.0, 2, 9]), np.array([1.0, 2, 3]), np.array([10.0, 6, 40])
    strata = suite_intervals.of_differences(gained, lost, sizes, equal(3))
    same = sizes - gained - lost

    def unlikely(p: np.ndarray) -> float:
        b, c = p[:3], p[3:]
        return -float((gained * np.log(b) + lost * np.log(c) + same * np.log(np.maximum(1 - b - c, 1e-9))).sum())

    found = optimize.minimize(
        unlikely, np.full(6, 0.2), bounds=[(1e-4, 0.8)] * 6, method="SLSQP", tol=1e-12,
        constraints=[{"type": "eq", "fun": lambda p: (p[:3] - p[3:]).mean()}],
    )  # fmt: skip
    b, c = found.x[:3], found.x[3:]
    parts = (b + c - (b - c) ** 2) / sizes / 9
    shares = parts / parts.sum()
    expected = parts * sizes / (sizes - 1 + shares)
    distance, spread = strata.test(0.0)
    assert distance == pytest.approx(((gained - lost) / sizes).mean())
    assert spread.variance == pytest.approx(expected.sum(), rel=1e-4)
    assert spread.freedom == pytest.approx(
        expected.sum() ** 2 / (((1 - shares) * expected) ** 2 / (sizes - 1)).sum(), rel=1e-3
    )


@pytest.mark.parametrize(
    ("right", "sizes", "weights"),
    [((10, 900), (10, 1000), (0.5, 0.5)), ((0, 7), (3, 20), (0.5, 0.5)), ((4, 5), (5, 12), (0.2, 0.8))],
)
def test_limits_are_those_of_direct_maximisation(
    right: tuple[int, int], sizes: tuple[int, int], weights: tuple[float, float]
) -> None:
    """Two suites: for each supposed mean, the likelihood is maximised along the line of accuracies that have it."""
    x, n, w = np.array(right, float), np.array(sizes, float), np.array(weights)

    def variance_and_freedom(mean: float) -> tuple[float, float]:
        def at(first: float) -> np.ndarray:
            return np.array([first, (mean - w[0] * first) / w[1]])

        def unlikely(first: float) -> float:
            p = np.clip(at(first), 1e-15, 1 - 1e-15)
            return -float((x * np.log(p) + (n - x) * np.log(1 - p)).sum())

        bounds = max(0.0, (mean - w[1]) / w[0]), min(1.0, mean / w[0])
        p = at(optimize.minimize_scalar(unlikely, bounds=bounds, method="bounded", options={"xatol": 1e-12}).x)
        parts = w**2 * p * (1 - p) / n
        shares = parts / parts.sum()
        parts = parts * n / (n - 1 + shares)
        return float(parts.sum()), float(parts.sum() ** 2 / (((1 - shares) * parts) ** 2 / (n - 1)).sum())

    def beyond(mean: float) -> float:
        variance, freedom = variance_and_freedom(mean)
        return abs(value - mean) / sqrt(variance) - float(stats.t.ppf(0.975, freedom))

    value = float((w * x / n).sum())
    strata = suite_intervals.of_means(x / n, n, w)
    expected = [optimize.brentq(beyond, outer, value + shift) for outer, shift in ((1e-3, -1e-6), (1 - 1e-3, 1e-6))]
    assert (strata.end(1), strata.end(-1)) == pytest.approx(expected, abs=2e-5)


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(0, 40), st.integers(0, 40)), min_size=1, max_size=5), st.data()
)
def test_each_limit_is_a_mean_that_is_just_not_rejected(
    counts: list[tuple[int, int, int]], data: st.DataObject
) -> None:
    sizes = np.array([float(sum(of_suite)) for of_suite in counts])
    gained, lost = (np.array([float(of_suite[k]) for of_suite in counts]) for k in (1, 2))
    strata = suite_intervals.of_differences(gained, lost, sizes, equal(len(counts)))
    for sign in (1, -1):
        end = strata.end(sign)
        distance, spread = strata.test(end)
        if -1 + 1e-6 < end < 1 - 1e-6 and spread.variance > 1e-12:
            quantile = stats.t.ppf(0.975, spread.freedom) if spread.freedom < 1e6 else 1.959964
            assert abs(distance) / sqrt(spread.variance) == pytest.approx(quantile, rel=1e-3)
    assert strata.end(1) == pytest.approx(
        -suite_intervals.of_differences(lost, gained, sizes, equal(len(counts))).end(-1)
    )


@pytest.mark.parametrize(("right", "n"), [(0, 5), (3, 5), (10, 10), (27, 28)])
def test_one_suite_has_wilsons_interval(right: int, n: int) -> None:
    values = np.repeat([1.0, 0.0], [right, n - right])
    strata = suite_intervals.of_samples([values], Kind.VERDICT, False)
    wilson = interval.of_items(values, Kind.VERDICT)
    assert (strata.end(1), strata.end(-1)) == pytest.approx((wilson.low, wilson.high), abs=1e-6)


@pytest.mark.parametrize(("only_b", "only_a", "n"), [(0, 0, 10), (4, 1, 10), (7, 0, 28), (6, 6, 12)])
def test_one_suite_has_tangos_interval(only_b: int, only_a: int, n: int) -> None:
    values = np.repeat([1.0, -1.0, 0.0], [only_b, only_a, n - only_b - only_a])
    strata = suite_intervals.of_samples([values], Kind.VERDICT, True)
    assert (strata.end(1), strata.end(-1)) == pytest.approx(paired_intervals.tango(only_b, only_a, n), abs=1e-5)


def test_a_small_suite_that_is_all_right_is_not_certain() -> None:
    small, large = np.ones(10), np.repeat([1.0, 0.0], [900, 100])
    with using(FIXED):
        found = suite_intervals.over_suites({"small": small, "large": large}, Kind.VERDICT)
    # Wilson's of 10 of 10 is [.722, 1]: the mean may be (.722 + .9) / 2 at least; that of a variance of 0 would be +-.0095.
    assert found.low == pytest.approx((0.722 + 0.9) / 2, abs=0.01)
    assert found.high == pytest.approx(0.95 + 0.5 * 1.96 * sqrt(0.9 * 0.1 / 1000), abs=0.002)


def test_suites_of_one_item_are_taken_together() -> None:
    draw = np.random.default_rng(1)
    single = {str(k): (draw.random(1) < 0.7).astype(float) for k in range(20)}
    many = {"many": np.repeat([1.0, 0.0], [80, 20])}
    pooled = np.concatenate(list(single.values()))
    with using(FIXED):
        found = suite_intervals.over_suites(single | many, Kind.VERDICT)
    weights = np.array([1 / 21, 20 / 21])
    strata = suite_intervals.of_means(np.array([0.8, pooled.mean()]), np.array([100.0, 20.0]), weights)
    assert (found.low, found.high) == pytest.approx((strata.end(1), strata.end(-1)))
    assert found.remarks == ("one item, taken together: 0, 1, 2 ...",)


def test_equivalence_agrees_with_the_interval() -> None:
    """Two one-sided tests at .025 find a difference within a bound where the 95% interval lies within it."""
    draw = np.random.default_rng(2)
    values = {str(k): draw.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.85, 0.05]) for k, n in enumerate((10, 24, 200))}
    with using(FIXED):
        found = suite_intervals.over_suites(values, Kind.VERDICT, difference=True)
        furthest = max(-found.low, found.high)
        assert suite_intervals.equivalence_over_suites(values, furthest + 1e-6) == pytest.approx(LEVEL / 2, rel=1e-3)
        assert suite_intervals.equivalence_over_suites(values, furthest + 0.05) < LEVEL / 2
        assert isnan(suite_intervals.equivalence_over_suites({"a": [1.0], "b": [0.0]}, 0.1))


def test_shares_have_the_variance_of_their_values() -> None:
    shares = [np.array([0.4, 0.5, 0.6, 0.5]), np.array([0.7, 0.9, 0.8, 0.8, 0.8])]
    strata = suite_intervals.of_samples(shares, Kind.SHARE, False)
    # As many verdicts as have the variance of the mean: .25 n / s**2.
    assert strata.sizes[0] == pytest.approx(4 * 0.25 / shares[0].var(ddof=1))
    assert strata.at(0.0)[1].variance > sum(values.var(ddof=1) / len(values) for values in shares) / 4
    assert strata.end(-1) - strata.end(1) < 0.2
