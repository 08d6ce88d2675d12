import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings, strategies as st
from scipy.special import stdtr

from syntagm.evaluation import Group, Kind
from syntagm.stats import Comparison, paired, paired_intervals, suite_intervals

NAN = float("nan")
TOLERANCES = (1e-4, 1e-4)


def compare(pairs: pl.DataFrame, tolerances: tuple[float, float]) -> list[Comparison]:
    return paired.by_suite(pairs, Kind.VERDICT, tolerances, margins=True)


def counts(found: Comparison) -> tuple[int, ...]:
    one = found.verdicts
    return one.both, one.only_a, one.only_b, one.neither


def results(**suites):
    """Suite -> margins of items 1, 2, ...; values follow from them."""
    rows = [
        ("m", suite, str(k), "0", NAN if margin != margin else float(margin > 1e-4), margin)
        for suite, margins in suites.items()
        for k, margin in enumerate(margins, 1)
    ]
    return pl.DataFrame(rows, schema=["model", "suite", "item", "measure", "value", "margin"], orient="row")


# Item:       1    2     3    4     5    6
A = results(s=[1.0, 2.0, -1.0, -2.0, 0.0, NAN])
B = results(s=[3.0, -1.0, 1.0, -5.0, 2.0, 1.0])


def test_two_models_on_six_items():
    [found] = compare(paired.pair(A, B), TOLERANCES)
    assert found.group == Group(suite="s", measure="0")
    # Item 6 is undefined under A. Both hold: 1; A alone: 2; B alone: 3 and 5; neither: 4.
    assert counts(found) == (1, 1, 2, 1)
    assert (found.n, found.verdicts.discordant, found.difference.undefined) == (5, 3, 1)
    assert (found.a.value, found.b.value) == (2 / 5, 3 / 5)
    assert found.difference.value == pytest.approx(3 / 5 - 2 / 5)
    # Margins, B - A: 2, -3, 2, -3, 2.
    assert found.margin.value == 0.0
    assert (found.verdicts.ties_a, found.verdicts.ties_b) == (1, 0)
    # z = (2 - 1) / sqrt(3) = 0.577.
    assert found.p == pytest.approx(0.5637, abs=1e-4)
    assert found.difference.method == f"Tango; random: items; only 5 items; {paired_intervals.UNDECIDED}, paired"


def test_flips_show_both_margins():
    assert paired.discordant(paired.pair(A, B)).rows() == [
        ("s", "2", "0", 1.0, 0.0, 2.0, -1.0),
        ("s", "3", "0", 0.0, 1.0, -1.0, 1.0),
        ("s", "5", "0", 0.0, 1.0, 0.0, 2.0),
    ]


def test_pairing_items_takes_out_what_they_share():
    # Each item gains 1 or 2 bits: the paired interval is narrow, though the margins themselves are spread widely.
    margins = np.linspace(-50, 50, 20)
    [found] = compare(paired.pair(results(s=margins), results(s=margins + np.tile([1, 2], 10))), TOLERANCES)
    assert found.margin.value == pytest.approx(1.5)
    # t(19) * 0.513 / sqrt(20) = 2.093 * 0.1147.
    assert (found.margin.low, found.margin.high) == pytest.approx((1.26, 1.74), abs=0.001)


def test_over_suites_each_suite_counts_alike():
    a = results(s=[1.0, -1.0, -1.0, -1.0], t=[-1.0, -1.0])
    b = results(s=[1.0, 1.0, 1.0, -1.0], t=[-1.0, 1.0])
    found = paired.over_suites(paired.pair(a, b), Kind.VERDICT, TOLERANCES)
    assert found.group == Group(measure="0")
    assert (found.a.value, found.b.value) == ((1 / 4 + 0) / 2, (3 / 4 + 1 / 2) / 2)
    assert found.difference.value == (2 / 4 + 1 / 2) / 2
    assert (found.n, found.verdicts.only_a, found.verdicts.only_b) == (6, 0, 3)
    # The suites happen to differ alike, so the spread is that of the items: differences 0, 1, 1, 0 and 0, 1.
    strata = suite_intervals.of_differences(np.array([2.0, 1]), np.zeros(2), np.array([4.0, 2]), np.full(2, 0.5))
    distance, spread = strata.test(0.0)
    assert found.p == pytest.approx(2 * float(stdtr(spread.freedom, -distance / spread.variance**0.5)))
    assert (found.difference.low, found.difference.high) == pytest.approx((strata.end(1), strata.end(-1)))
    assert found.difference.low < 0 < 0.05 < found.p
    assert found.difference.method == "mean of 2 suites; stratified score; random: suites, items; only 2 suites, paired"


def test_the_other_way_round_the_signs_change():
    [there], [back] = compare(paired.pair(A, B), TOLERANCES), compare(paired.pair(B, A), TOLERANCES)
    assert back.difference.value == -there.difference.value
    assert (back.verdicts.only_a, back.verdicts.only_b, back.p) == (
        there.verdicts.only_b,
        there.verdicts.only_a,
        there.p,
    )
    assert back.difference.low == pytest.approx(-there.difference.high)


def test_items_that_one_model_lacks_are_left_out_and_counted():
    [found] = compare(paired.pair(A.head(2), B), TOLERANCES)
    assert (found.n, found.difference.undefined) == (2, 4)


def test_nothing_in_common_is_undefined():
    [found] = compare(paired.pair(results(s=[NAN, 1.0]), results(s=[1.0, NAN])), TOLERANCES)
    assert np.isnan(
        [found.a.value, found.b.value, found.difference.value, found.difference.low, found.margin.high]
    ).all()
    assert (found.n, found.difference.undefined) == (0, 2)
    assert np.isnan([found.p, found.holm, found.benjamini_hochberg]).all()
    assert not found.tested
    assert found.margin.method == "no interval: no defined items in s, paired"


def test_items_of_one_name_stay_apart():
    twice = [results(s=margins).with_columns(item=pl.lit("same")) for margins in ([1.0, -1.0], [1.0, 1.0])]
    [found] = compare(paired.pair(*twice), TOLERANCES)
    assert (found.n, found.verdicts.both, found.verdicts.only_b) == (2, 1, 1)


def test_infinite_margins_count_as_verdicts_and_leave_the_mean_margin_undefined():
    inf = float("inf")
    [found] = compare(paired.pair(results(s=[inf, -inf, 1.0]), results(s=[-inf, inf, 1.0])), TOLERANCES)
    assert counts(found)[:3] == (1, 1, 1)
    assert found.difference.value == 0.0
    assert np.isnan([found.margin.value, found.margin.low, found.margin.high]).all()


def test_each_side_has_its_own_tolerance():
    [found] = compare(paired.pair(results(s=[0.5, 0.5]), results(s=[0.5, 0.5])), (1e-4, 1.0))
    assert (found.verdicts.ties_a, found.verdicts.ties_b) == (0, 2)


@pytest.mark.slow
@settings(max_examples=25)
@given(st.lists(st.tuples(st.floats(-9, 9), st.floats(-9, 9)), min_size=2, max_size=20), st.randoms())
def test_the_order_of_the_items_makes_no_difference(margins, random):
    a, b = (results(s=side) for side in zip(*margins, strict=True))
    order = random.sample(range(len(margins)), len(margins))
    [found], [shuffled] = compare(paired.pair(a, b), TOLERANCES), compare(paired.pair(a[order], b), TOLERANCES)
    assert found.difference == shuffled.difference
    assert found.margin.value == pytest.approx(shuffled.margin.value)
    ends = [(comparison.margin.low, comparison.margin.high) for comparison in (found, shuffled)]
    assert ends[0] == pytest.approx(ends[1], nan_ok=True)
    assert sum(counts(found)) == found.n == len(margins)


def test_a_comparison_has_the_numbers_on_each_suite_and_over_suites():
    pairs = paired.pair(results(s=[1.0, 2.0, -1.0, NAN], t=[1.0, -2.0]), results(s=[-1.0, 2.0, 1.0, 1.0], t=[1.0, 1.0]))
    of_suites, over_all = paired.compare(pairs, Kind.VERDICT, TOLERANCES)
    assert repr(of_suites) == repr(paired.by_suite(pairs, Kind.VERDICT, TOLERANCES))
    assert repr(over_all) == repr(paired.over_suites(pairs, Kind.VERDICT, TOLERANCES))
