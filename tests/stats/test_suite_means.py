"""Means and differences over suites, and the three ways to ask, by pencil."""

from math import isnan

import numpy as np
import polars as pl
import pytest

from syntagm.evaluation import Group, Kind
from syntagm.stats import mean, score
from syntagm.views import methods

NAN = float("nan")
COLUMNS = ["model", "suite", "item", "measure", "value", "margin"]
TIE = 1e-4


def table(*rows: tuple[str, str, str, float]) -> pl.DataFrame:
    """Rows of suite, item, measure, margin, in bits."""
    full = [
        ("m", suite, item, kind, NAN if bits != bits else float(bits > TIE), bits) for suite, item, kind, bits in rows
    ]
    kinds = dict.fromkeys(COLUMNS, pl.String) | dict.fromkeys(COLUMNS[-2:], pl.Float64)
    return pl.DataFrame(full, schema=kinds, orient="row")


def test_a_mean_over_suites_is_that_of_their_accuracies() -> None:
    # 3 / 4 and 1 / 2, whatever their sizes; 4 + 2 items.
    one = mean([score.of_counts("s", 3, 4), score.of_counts("t", 1, 2)], Group(labels=(("over", "both"),)))
    assert (one.value, one.n) == (0.625, 6)
    assert 0 < one.low < 0.625 < one.high <= 1
    assert one.method == "mean of 2 suites; Wilson with t(1); random: suites, items; only 2 suites"


def test_counts_and_items_have_the_same_interval() -> None:
    counted, listed = (
        mean([sample], Group())
        for sample in (score.of_counts("s", 3, 4), score.of_values("s", Kind.VERDICT, [1, 0, 1, 1]))
    )
    assert (counted.low, counted.high) == (listed.low, listed.high)


def test_a_contrast_is_the_mean_of_differences_and_shares_what_stands_in_both() -> None:
    plain, noun, clause = (
        score.of_counts("plain", 9, 10),
        score.of_counts("noun", 5, 10),
        score.of_counts("clause", 3, 10),
    )
    # (0.9 - 0.5 + 0.9 - 0.3) / 2
    one = score.contrast([(plain, noun), (plain, clause)], Group())
    assert np.isclose(one.value, 0.5)
    assert one.n == 30
    # Wilson's limits: plain .596 to .982, noun .237 to .763, clause .108 to .603; plain has the weight 1, the others 1/2.
    below = ((0.9 - 0.596) ** 2 + (0.763 - 0.5) ** 2 / 4 + (0.603 - 0.3) ** 2 / 4) ** 0.5
    above = ((0.982 - 0.9) ** 2 + (0.5 - 0.237) ** 2 / 4 + (0.3 - 0.108) ** 2 / 4) ** 0.5
    assert (one.low, one.high) == pytest.approx((0.5 - below, 0.5 + above), abs=0.001)
    assert one.method == "difference, 2 pairs of suites; Newcombe; random: items; fixed: suites"


def test_a_contrast_of_two_suites_has_newcombes_interval() -> None:
    # Newcombe 1998, Table II, example (a): 56 / 70 and 48 / 80.
    one = score.contrast([(score.of_counts("s", 56, 70), score.of_counts("t", 48, 80))], Group())
    assert (one.low, one.high) == pytest.approx((0.0524, 0.3339), abs=1e-4)


def test_a_suite_of_one_item_adds_no_spread_and_says_so() -> None:
    one = score.contrast([(score.of_counts("s", 1, 1), score.of_counts("t", 2, 4))], Group())
    assert one.value == 0.5
    assert "no interval: fewer than two items" in one.method
    only = mean([score.of_counts("s", 1, 1)], Group())
    assert only.value == 1
    assert isnan(only.low)
    assert "no interval" in only.method


def test_a_suite_without_defined_items_makes_the_mean_undefined() -> None:
    results = table(
        ("s", "1", "full_sentence", NAN), ("t", "1", "full_sentence", 1.0), ("t", "2", "full_sentence", 0.0)
    )
    drawn = score.of_results(results, "full_sentence", Kind.VERDICT, TIE)
    assert list(drawn) == [("m", "s"), ("m", "t")]
    one = mean(list(drawn.values()), Group())
    assert isnan(one.value)
    assert isnan(one.low)
    assert (one.n, one.ties, one.undefined) == (2, 1, 1)


WHOLE, ONE = "full_sentence", "one_prefix"


def test_two_ways_to_ask_are_compared_item_by_item() -> None:
    # Item 1 holds under both, 2 under the first, 3 under the second, 4 is a tie under the second, 5 undefined under it.
    first = [("s", str(k), WHOLE, bits) for k, bits in enumerate((1.0, 1.0, -1.0, 1.0, 1.0), 1)]
    second = [("s", str(k), ONE, bits) for k, bits in enumerate((2.0, -2.0, 2.0, 0.0, NAN), 1)]
    found = score.of_differences(table(*first, *second, ("t", "1", WHOLE, 1.0)), WHOLE, ONE, Kind.VERDICT, TIE)
    # The suite t has one way only, and no difference.
    assert list(found) == [("m", "s")]
    sample = found["m", "s"]
    assert sample.values.tolist() == [0, 1, -1, 1]
    assert (sample.value, sample.ties, sample.undefined) == (0.25, 1, 1)


def test_items_that_share_an_id_are_told_apart_by_their_order() -> None:
    rows = [("s", "1", WHOLE, 1.0), ("s", "1", WHOLE, -1.0), ("s", "1", ONE, 1.0), ("s", "1", ONE, -1.0)]
    assert score.of_differences(table(*rows), WHOLE, ONE, Kind.VERDICT, TIE)["m", "s"].values.tolist() == [0, 0]


def test_differences_pair_answers_so_that_what_is_the_same_differs_little() -> None:
    rows = [("s", str(k), kind, (-1.0) ** k) for k in range(8) for kind in (WHOLE, ONE)]
    found = {one.group["label"]: one.difference for one in methods.differences(table(*rows), TIE, {"s": "agreement"})}
    assert list(found) == ["all", "agreement"]
    # Of as many independent items, the difference of two accuracies of 1/2 would have an interval of some +-0.5.
    assert (found["all"].value, found["all"].low, found["all"].n) == (0, pytest.approx(-0.324, abs=0.001), 8)
    assert found["agreement"].group["contrast"] == "agreement: one prefix, two words"


def test_without_prefix_methods_there_is_nothing_to_compare() -> None:
    assert methods.differences(table(("s", "1", WHOLE, 1.0)), TIE, {}) == []
    assert score.of_results(table(), WHOLE, Kind.VERDICT, TIE) == {}
