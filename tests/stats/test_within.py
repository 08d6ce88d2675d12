"""Intervals of condition means within items."""

from math import isnan, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from syntagm.stats import paired_intervals


def test_by_the_definition_of_cousineau_and_morey() -> None:
    values = np.random.default_rng(3).normal(size=(6, 4)) + np.linspace(0, 60, 6)[:, None]
    normalised = values - values.mean(axis=1, keepdims=True) + values.mean()
    errors = normalised.std(axis=0, ddof=1) / sqrt(6) * sqrt(4 / 3)
    reach = stats.t.ppf(0.975, 5) * errors
    assert paired_intervals.within_items(values) == [pytest.approx((-half, half)) for half in reach]


def test_of_two_conditions_the_difference_is_wider_by_the_root_of_two() -> None:
    values = np.array([[10.0, 12.5], [20.0, 21.0], [35.0, 36.0], [50.0, 54.0]])
    low, high = stats.ttest_1samp(values[:, 1] - values[:, 0], 0).confidence_interval()
    assert [sqrt(2) * (ends[1] - ends[0]) for ends in paired_intervals.within_items(values)] == pytest.approx(
        [high - low] * 2
    )


def test_items_that_lack_a_condition_do_not_count() -> None:
    values = np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 3.0], [nan, 9.0], [np.inf, 9.0]])
    assert paired_intervals.within_items(values) == paired_intervals.within_items(values[:3])


@pytest.mark.parametrize("values", [[[1.0], [2.0]], [[1.0, 2.0]], [[1.0, 3.0], [2.0, 4.0]]])
def test_without_conditions_to_compare_items_or_differences_there_is_none(values: list[list[float]]) -> None:
    assert all(isnan(end) for ends in paired_intervals.within_items(np.array(values)) for end in ends)
