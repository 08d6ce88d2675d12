"""Corrections for several tests, and which suites separate two models."""

import math

import polars as pl
import pytest
from hypothesis import given, strategies as st

from syntagm.evaluation import Kind
from syntagm.stats import Resampling, holm, paired, using
from syntagm.stats.adjust import benjamini_hochberg

PS = st.lists(st.floats(0, 1), min_size=1, max_size=30)


def test_the_fifteen_tests_of_the_paper() -> None:
    # Benjamini and Hochberg 1995, section 3.1: of these p, four are rejected at 0.05 and by Bonferroni or Holm three.
    p = [
        0.0001,
        0.0004,
        0.0019,
        0.0095,
        0.0201,
        0.0278,
        0.0298,
        0.0344,
        0.0459,
        0.3240,
        0.4262,
        0.5719,
        0.6528,
        0.7590,
        1.0,
    ]
    assert sum(one <= 0.05 for one in benjamini_hochberg(p)) == 4
    assert sum(one <= 0.05 for one in holm(p)) == 3
    # 0.0095 is the fourth of fifteen.
    assert benjamini_hochberg(p)[3] == pytest.approx(0.0095 * 15 / 4)


@given(PS)
def test_it_rejects_what_the_step_up_procedure_rejects(p: list[float]) -> None:
    # The definition: the largest k with p_(k) <= 0.05 k / m; the k smallest are rejected.
    ranked = sorted(p)
    k = max((rank for rank, one in enumerate(ranked, 1) if one * (len(p) / rank) <= 0.05), default=0)
    assert sum(one <= 0.05 for one in benjamini_hochberg(p)) == k or (k and ranked[k - 1] == ranked[min(k, len(p) - 1)])


@given(PS)
def test_adjusted_p_are_ordered_and_between_p_and_holm(p: list[float]) -> None:
    found = benjamini_hochberg(p)
    for one, adjusted, strict in zip(p, found, holm(p), strict=True):
        assert one <= adjusted <= 1
        assert adjusted <= strict or math.isclose(adjusted, strict)


def pairs(**suites: list[tuple[float, float]]) -> pl.DataFrame:
    rows = [(suite, str(k), "first", a, b, a, b) for suite, values in suites.items() for k, (a, b) in enumerate(values)]
    return pl.DataFrame(rows, schema=paired.PAIR_COLUMNS, orient="row")


def test_p_is_adjusted_over_the_tested_suites() -> None:
    nan = math.nan
    table = pairs(
        apart=[(0.0, 1.0)] * 8 + [(1.0, 1.0)] * 2,  # z = sqrt(8), p = 0.00468
        alike=[(0.0, 1.0), (1.0, 0.0), (1.0, 1.0)],  # one flip each way: p = 1
        empty=[(nan, 1.0), (0.0, nan)],  # no item has both: no test
    )
    apart, alike, empty = paired.by_suite(table, Kind.VERDICT, (0.0, 0.0))
    assert (apart.p, apart.holm, apart.benjamini_hochberg) == pytest.approx((0.004678, 0.009355, 0.009355), abs=1e-6)
    assert (alike.p, alike.holm, alike.benjamini_hochberg) == (1.0, 1.0, 1.0)
    assert math.isnan(empty.p)
    assert math.isnan(empty.holm)
    assert (empty.difference.n, empty.difference.undefined) == (0, 2)
    assert math.isnan(paired.over_suites(table, Kind.VERDICT, (0.0, 0.0)).holm)


def test_a_suite_of_one_item_is_not_tested_and_leaves_the_others_their_p() -> None:
    table = pairs(one=[(1.0, 0.0)], apart=[(0.0, 1.0)] * 8 + [(1.0, 1.0)] * 2, alike=[(0.0, 1.0), (1.0, 0.0)])
    one, apart, alike = paired.by_suite(table, Kind.VERDICT, (0.0, 0.0))
    assert not one.tested
    assert math.isnan(one.holm)
    # Two tests, as without the suite of one item.
    assert (apart.holm, apart.benjamini_hochberg) == pytest.approx((0.009355, 0.009355), abs=1e-6)
    assert (alike.holm, alike.benjamini_hochberg) == (1.0, 1.0)


def test_each_score_has_its_own_interval() -> None:
    table = pairs(one=[(0.0, 1.0), (1.0, 1.0)] * 10, two=[(1.0, 0.0)] * 4)
    one, two = paired.by_suite(table, Kind.VERDICT, (0.0, 0.0))
    # Ten of twenty: the standard error is sqrt(.25 / 20) = .112; .5 - 1.96 * .112 = .28, and one item is .05.
    assert (one.a.value, one.a.n) == (0.5, 20)
    assert one.a.low == pytest.approx(0.28, abs=0.05)
    assert one.a.high == pytest.approx(0.72, abs=0.05)
    # Twenty of twenty: 1 / (1 + 3.84 / 20).
    assert (one.b.value, one.b.low, one.b.high) == (1.0, pytest.approx(0.839, abs=0.001), 1.0)
    assert (two.a.value, two.b.value, two.b.n) == (1.0, 0.0, 4)
    overall = paired.over_suites(table, Kind.VERDICT, (0.0, 0.0))
    a, b = overall.a, overall.b
    assert (a.value, b.value, a.n) == ((0.5 + 1) / 2, (1 + 0) / 2, 24)
    # Two suites that differ by .5 say little of other suites: t(1) is 12.7.
    assert a.high - a.low > 0.9
    with using(Resampling(suites="fixed")):
        fixed = paired.over_suites(table, Kind.VERDICT, (0.0, 0.0)).a
    # The four items that are all right may as well be half right: 1 / (1 + 3.84 / 4) = .51, less what the twenty can be.
    assert (0.51 + 0.28) / 2 < fixed.low < (0.51 + 0.5) / 2 + 0.05
    assert fixed.high - fixed.low < a.high - a.low
    assert b.value - a.value == overall.difference.value


def test_the_mean_over_suites_is_undefined_if_a_suite_has_no_item() -> None:
    table = pairs(one=[(0.0, 1.0), (1.0, 1.0)], two=[(0.0, 0.0), (1.0, 0.0)])
    assert paired.over_suites(table, Kind.VERDICT, (0.0, 0.0)).difference.value == (0.5 - 0.5) / 2
    assert math.isnan(
        paired.over_suites(
            pairs(one=[(0.0, 1.0)] * 3, two=[(math.nan, 1.0)]), Kind.VERDICT, (0.0, 0.0)
        ).difference.value
    )
