from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from syntagm.stats.bootstrap import interval, mean_over_suites, resampled_means

NUMBERS = st.lists(st.floats(-100, 100), min_size=2, max_size=40)


def test_the_means_of_three_items_have_the_probabilities_that_counting_gives():
    # 0, 0, 1 redrawn: k ones among three draws with probability 1/3 each.
    expected = {k / 3: comb(3, k) * (1 / 3) ** k * (2 / 3) ** (3 - k) for k in range(4)}
    means = resampled_means([0, 0, 1], "suite")
    assert len(means) == 10_000
    for value, probability in expected.items():
        # Four standard errors of a frequency over 10,000 draws, at most 4 * 0.5 / 100.
        assert np.isclose(means, value).mean() == pytest.approx(probability, abs=0.02)


def test_the_means_of_distinct_numbers_have_the_mean_of_the_items_and_their_deviation_over_the_root_of_n():
    # More than eight distinct values are redrawn item by item. Of nine items, the root of n is 3.
    values = np.array([0, 1, 2, 3, 5, 8, 13, 21, 34.5])
    means = resampled_means(values, "suite")
    assert means.mean() == pytest.approx(values.mean(), abs=4 * values.std() / 3 / 100)
    assert means.std() == pytest.approx(values.std() / 3, rel=0.03)


def test_drawing_counts_and_drawing_items_have_one_distribution():
    few = np.repeat([0.0, 1.0], [30, 70])
    # The same numbers, told apart by less than matters: more than eight distinct ones are drawn item by item.
    many = few + np.arange(100) * 1e-12
    by_counts, by_items = resampled_means(few, "suite"), resampled_means(many, "suite")
    # Two samples of 10,000 from one distribution: the largest distance of their distribution functions is below
    # 1.95 * sqrt(2 / 10,000) = 0.028 in 99.9 of 100 cases.
    grid = np.arange(101)[:, None] / 100 + 0.005
    distance = np.abs((by_counts < grid).mean(1) - (by_items < grid).mean(1)).max()
    assert distance < 0.028
    assert interval(by_counts) == pytest.approx(interval(by_items), abs=0.011)


def test_an_interval_of_a_binomial_is_that_of_its_quantiles():
    # binomial(400, 0.75): mean 300, standard deviation 8.66; 300 -+ 1.96 * 8.66 = 283 and 317.
    low, high = interval(resampled_means(np.repeat([0, 1], [100, 300]), "suite"))
    assert low == pytest.approx(283 / 400, abs=1 / 400)
    assert high == pytest.approx(317 / 400, abs=1 / 400)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, np.inf], [1.0, np.nan], [*range(20), -np.inf]])
def test_fewer_than_two_items_or_numbers_without_end_have_no_interval(values):
    assert np.isnan(interval(resampled_means(values, "suite"))).all()


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1])
def test_items_that_agree_have_an_interval_without_width(value):
    assert interval(resampled_means([value] * 7, "suite")) == pytest.approx((value, value))


@settings(max_examples=25, deadline=None)
@given(NUMBERS)
def test_the_interval_brackets_the_mean_and_lies_within_the_values(values):
    low, high = interval(resampled_means(values, "suite", draws=2000))
    tiny = 1e-9 * (1 + max(map(abs, values)))
    assert min(values) - tiny <= low <= np.mean(values) + tiny
    assert np.mean(values) - tiny <= high <= max(values) + tiny


@settings(max_examples=25, deadline=None)
@given(NUMBERS, st.randoms())
def test_the_order_of_the_items_makes_no_difference(values, random):
    shuffled = random.sample(values, len(values))
    assert (resampled_means(values, "suite", draws=200) == resampled_means(shuffled, "suite", draws=200)).all()


def test_seed_and_key_name_the_draw():
    values = np.repeat([0, 1], [20, 30])
    again, other_key, other_seed = (resampled_means(values, *rest) for rest in (("a",), ("b",), ("a", 10_000, 2)))
    assert (resampled_means(values, "a") == again).all()
    assert (again != other_key).any()
    assert (again != other_seed).any()
    # Different keys are independent: 4 / sqrt(10,000) bounds a correlation of 0.
    assert abs(np.corrcoef(again, other_key)[0, 1]) < 0.04


def test_chunks_draw_all_that_was_asked_for():
    # 700,000 items leave room for one draw in a chunk.
    values = np.arange(700_000, dtype=float)
    means = resampled_means(values, "suite", draws=3)
    assert means.shape == (3,)
    # Standard deviation of a mean: 700,000 / sqrt(12) / sqrt(700,000) = 242.
    assert np.abs(means - 349_999.5).max() < 5 * 242


def test_the_mean_over_suites_averages_draw_by_draw():
    a, b = [0.0, 1.0, 1.0], [3.0, 5.0]
    expected = (resampled_means(a, "a") + resampled_means(b, "b")) / 2
    np.testing.assert_array_equal(mean_over_suites({"a": a, "b": b}), expected)
    assert np.isnan(interval(mean_over_suites({}))).all()


def test_a_suite_of_one_item_adds_no_spread_and_one_of_none_leaves_no_interval():
    alone = resampled_means([0.0, 1.0], "a")
    np.testing.assert_array_equal(mean_over_suites({"a": [0.0, 1.0], "b": [1.0]}), (alone + 1) / 2)
    for values in ({"a": [0.0, 1.0], "b": []}, {"a": [1.0], "b": [0.0]}):
        assert np.isnan(mean_over_suites(values)).all()


def test_the_interval_of_two_suites_is_exact_for_small_ones():
    # Two suites of items 0 and 1: each mean is 0, 1/2, 1 with 1/4, 1/2, 1/4, hence the mean of both 0 with 1/16 = 6.25
    # %.
    means = mean_over_suites({"a": [0, 1], "b": [0, 1]})
    weights = {0.0: 0.25, 0.5: 0.5, 1.0: 0.25}
    for value in (0, 0.25, 0.5, 0.75, 1):
        expected = sum(weights[x] * weights[y] for x, y in product(weights, weights) if (x + y) / 2 == value)
        assert (means == value).mean() == pytest.approx(expected, abs=0.02)
    assert interval(means) == (0.0, 1.0)
