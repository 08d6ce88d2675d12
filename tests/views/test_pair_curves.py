"""What is shallow about pairs, curves in bins, and lines over training texts, by pencil."""

import math

import numpy as np
import polars as pl
import pytest

from syntagm.stats import cluster_intervals
from syntagm.views import learning_curve, surface

NAN = float("nan")


def test_properties_of_two_pairs() -> None:
    sentences = pl.DataFrame(
        {
            "item": ["1", "1", "2", "2"],
            "condition": ["good", "bad", "good", "bad"],
            "text": ["The dog barks.", "The dog has barked.", "Dogs bark.", "Dogs barks."],
            "bits": [[NAN, 2.0, 3.0, 1.0], [NAN, 2.0, 4.0, 5.0], [NAN, 2.0], [NAN, 2.5]],
        }
    )
    results = pl.DataFrame({"suite": ["s"] * 2, "item": ["1", "2"], "value": [1.0, 1.0], "margin": [5.0, 0.5]})
    made = surface.properties(sentences, results, scored_first=False)
    # 3 and 2 words; 2 + 3 + 1 = 6 bits against 11, and 2 against 2.5.
    assert made["words"].to_list() == [3, 2]
    assert made["more_words"].to_list() == [1, 0]
    assert made["bits"].to_list() == [6.0, 2.0]
    assert made["bits_per_word"].to_list() == [2.0, 1.0]
    assert made["confidence"].to_list() == [5.0, 0.5]
    # A model that should have scored the first token and did not: no number, rather than a smaller one.
    assert surface.properties(sentences, results)["bits"].is_nan().all()


def test_a_pair_that_lacks_a_sentence_has_no_numbers() -> None:
    sentences = pl.DataFrame({"item": ["1"], "condition": ["good"], "text": ["Dogs bark."], "bits": [[1.0, 2.0]]})
    results = pl.DataFrame({"suite": ["s"], "item": ["1"], "value": [NAN], "margin": [NAN]})
    assert surface.properties(sentences, results)["words"].to_list() == [None]


def frame(numbers: list[float], values: list[float], suites: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"model": "m", "suite": suites, "value": values, "words": numbers})


def test_two_bins_of_eight_pairs() -> None:
    # Lengths 1 to 4 hold in 4 of 4, 5 to 8 in 1 of 4.
    numbers, values = [float(k) for k in range(1, 9)], [1.0, 1, 1, 1, 0, 0, 0, 1]
    made = cluster_intervals.means_in_bins(frame(numbers, values, ["s", "t"] * 4), ["words"], 2)
    assert made.select("start", "end", "middle", "value", "n", "suites").rows() == [
        (1.0, 4.0, 2.5, 1.0, 4, 2),
        (4.0, 8.0, 6.5, 0.25, 4, 2),
    ]
    # As certain as two suites that are right: 1 / (1 + 3.84 / 2).
    assert (made["low"][0], made["high"][0]) == (pytest.approx(0.3424, abs=1e-4), 1)
    assert made["low"][1] < 0.25 < made["high"][1]


def test_suites_that_differ_make_wide_intervals() -> None:
    # All of s holds, nothing of t: half of 2,000 pairs, but of two suites only, which says nothing about others.
    suites = ["s", "t"] * 1000
    made = cluster_intervals.means_in_bins(
        frame([1.0] * 2000, [float(one == "s") for one in suites], suites), ["words"]
    )
    assert made.select("value", "low", "high", "n").row(0) == pytest.approx((0.5, 0.0015, 0.9985, 2000), abs=1e-4)


def test_one_suite_has_the_spread_of_its_pairs() -> None:
    made = cluster_intervals.means_in_bins(frame([1.0] * 400, [1.0, 0.0] * 200, ["s"] * 400), ["words"])
    # 1.96 times the root of 1/4 / 400: 0.049.
    assert abs(made["high"][0] - 0.549) < 0.01
    assert abs(made["low"][0] - 0.451) < 0.01


def test_bins_of_undefined_single_and_no_pairs() -> None:
    made = cluster_intervals.means_in_bins(frame([1.0, 2.0, 3.0], [1.0, NAN, 0.0], ["s"] * 3), ["words"], 2)
    assert made["n"].to_list() == [1, 1]
    assert made["low"].is_nan().all()
    assert cluster_intervals.means_in_bins(frame([], [], []), ["words"]).is_empty()


def test_a_line_without_a_residual_reaches_where_it_points() -> None:
    # Half at 2**10 words, a tenth more for each doubling: 0.9 after four more.
    line = learning_curve.line([2**10, 2**11, 2**12], [0.5, 0.6, 0.7])
    assert math.isclose(line.slope, 0.1)
    assert line.se < 1e-12
    assert line.words_at(0.9) == 2**14
    assert math.isinf(learning_curve.line([2, 4, 8], [0.5, 0.4, 0.3]).words_at(0.9))


def test_the_interval_of_a_slope_is_that_of_students_t() -> None:
    generator = np.random.default_rng(1)
    x = np.repeat(np.arange(10, 20), 3)
    y = 0.3 + 0.02 * x + generator.normal(size=30) * 0.01
    from scipy.stats import linregress, t

    line, known = learning_curve.line(2.0**x, y), linregress(x, y)
    assert math.isclose(line.slope, known.slope)
    assert math.isclose(line.se, known.stderr)
    assert math.isclose(line.high - line.slope, known.stderr * t.ppf(0.975, 28))
    assert (line.n, line.sizes) == (30, 10)


def test_two_models_have_a_slope_and_no_error_one_size_has_neither() -> None:
    two = learning_curve.line([2, 4], [0.5, 0.6])
    assert math.isclose(two.slope, 0.1)
    assert math.isnan(two.se)
    assert math.isnan(learning_curve.line([4, 4, 4], [0.5, 0.6, 0.7]).slope)
    assert learning_curve.line([2, 4, 8], [0.5, NAN, 0.7]).n == 2


def test_slopes_of_each_family_and_phenomenon() -> None:
    rows = [("lstm", "islands", 2**k, 0.4 + 0.01 * k) for k in range(4)]
    rows += [("ngram", "islands", 2**k, 0.5) for k in range(4)]
    table = pl.DataFrame(rows, schema=["family", "phenomenon", "words", "value"], orient="row")
    made = learning_curve.slopes(table)
    assert made.select("family", pl.col("slope").round(9), "n").rows() == [("lstm", 0.01, 4), ("ngram", 0.0, 4)]
