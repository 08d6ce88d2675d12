"""Remarks on intervals, notes on how they were computed, and numbers that differ by rounding only."""

from math import isnan
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from syntagm.evaluation import FEW_NUMBERS, Kind, unseen
from syntagm.stats import difference, in_words, interval, paired_intervals, suite_intervals


def test_numbers_that_differ_by_rounding_have_no_interval() -> None:
    same = np.array([0.1 + 0.2, 0.3, 0.3, 0.3])  # 4e-17 apart
    found = interval.of_numbers(same)
    assert isnan(found.low)
    assert found.method.startswith("no interval: no spread")
    assert isnan(suite_intervals.over_suites({"a": same, "b": same[::-1], "c": same[:2] * 1}, Kind.BITS).low)
    # What is small is not rounding.
    assert interval.of_numbers(same * 1e-20 + np.arange(4) * 1e-25).low > 0


def test_differences_of_rounding_are_none() -> None:
    assert difference(np.array([50.3, 0.0, 1.0]), np.array([50.3 + 1e-14, 0.0, 1.0 + 1e-9])).tolist() == [
        0.0,
        0.0,
        pytest.approx(1e-9),
    ]


def test_few_discordant_items_are_remarked_on() -> None:
    # z = 4 / sqrt(4) = 2 rejects, and 3 / sqrt(3) = 1.73 doesn't.
    assert paired_intervals.of_difference([1.0] * 4 + [0.0] * 24, Kind.VERDICT).p == pytest.approx(0.0455, abs=1e-4)
    three = paired_intervals.of_difference([1.0] * 3 + [0.0] * 24, Kind.VERDICT)
    assert three.remarks == (paired_intervals.UNDECIDED,)
    assert three.p == pytest.approx(0.0833, abs=1e-4)
    assert paired_intervals.of_difference([1.0] * 4 + [0.0] * 24, Kind.VERDICT).remarks == ()


def test_suites_of_which_nearly_all_are_right_are_remarked_on() -> None:
    suites = {str(k): np.array([1.0] * 8) for k in range(10)}
    almost = suites | {"0": np.array([1.0] * 7 + [0.0]), "1": np.array([1.0] * 7 + [0.0])}
    assert suite_intervals.over_suites(almost, Kind.VERDICT).remarks == (
        "rests on 2 of 10 suites, as all items of the others are right",
    )
    three = almost | {"2": np.array([1.0] * 7 + [0.0])}
    assert not any("rests on" in remark for remark in suite_intervals.over_suites(three, Kind.VERDICT).remarks)


def test_notes_say_what_intervals_of_bits_do_not_know() -> None:
    of_bits = in_words.intervals([interval.of_numbers(np.arange(12.0)).method])
    assert of_bits == ("Intervals are 95%: Student's t, for other items of the kind.", unseen("items"), FEW_NUMBERS)
    for n, few in ((99, True), (100, False), (1001, False)):  # t(1e+03)
        assert (FEW_NUMBERS in in_words.intervals([interval.of_numbers(np.arange(float(n))).method])) is few
    assert in_words.intervals([interval.of_items(np.ones(12), Kind.VERDICT).method])[1:] == ()


def test_the_largest_size_of_the_exact_test_stands_on_the_page() -> None:
    # The exact binomial test of the discordant items alone, of 28 items, over all shares of discordant items.
    counts = np.arange(29)
    fewer = np.minimum(counts, counts[:, None] - counts)  # the fewer of k items, for each count in favour of one model
    exact = 2 * stats.binom.cdf(fewer, counts[:, None], 0.5)
    rejects = np.where(exact <= 0.05, stats.binom.pmf(counts, counts[:, None], 0.5), 0.0).sum(axis=1)
    size = max(float(stats.binom.pmf(counts, 28, share) @ rejects) for share in np.linspace(0.01, 1, 100))
    assert size == pytest.approx(0.0357, abs=1e-4)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "statistics.md").read_text("utf-8")
    assert f"at most .{size * 1000:03.0f} for 28 items" in page
