"""Two-stage resampling, deltas, votes, circuits, modifiers and correlations, by pencil and against other ways to compute them."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy import stats

from syntagm.evaluation import Kind
from syntagm.stats import Association, association, cluster_intervals
from syntagm.views import ITEM, by_circuit, by_mean, by_vote, classes, modifier_stability, suite_means

NAN = float("nan")


def items(*rows: tuple[str, str, int, str, str, float]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=ITEM, orient="row")


def test_means_of_groups_say_how_they_were_made() -> None:
    table = pl.DataFrame({"g": ["x", "x", "x", "y"], "corpus": ["a", "a", "b", "a"], "score": [0.0, 1.0, 1.0, 0.5]})
    found = cluster_intervals.means(table, ["g"], "score", Kind.SHARE, {"corpora": ["corpus"]}).rows(named=True)
    assert [(row["g"], row["value"], row["n"], row["units"]) for row in found] == [("x", 2 / 3, 3, 2), ("y", 0.5, 1, 1)]
    assert found[0]["method"] == "Wilson with t(1); random: corpora; only 2 corpora"
    assert found[1]["method"] == "no interval: fewer than two rows"
    assert math.isnan(found[1]["low"])
    plain = cluster_intervals.means(table, ["g"], "score", Kind.VERDICT).rows(named=True)[0]
    assert plain["method"] == "Wilson; random: rows; only 3 rows"


def test_suites_and_models_are_crossed() -> None:
    # Three suites under two models that differ by nothing: the spread is that of the suites alone.
    rows = [(suite, seed, score) for suite, score in (("s", 0.2), ("t", 0.5), ("u", 0.9)) for seed in (1, 2)]
    table = pl.DataFrame(rows, schema=["suite", "seed", "score"], orient="row").with_columns(g=1)
    [found] = cluster_intervals.means(
        table, ["g"], "score", Kind.SHARE, {"suites": ["suite"], "models": ["seed"]}
    ).rows(named=True)
    alone = cluster_intervals.of_clusters([0.2, 0.5, 0.9], Kind.SHARE, {"suites": ["s", "t", "u"]})
    assert (found["low"], found["high"]) == pytest.approx((alone.low, alone.high))


def test_scores_of_suites_and_of_instances() -> None:
    made = classes.suite_scores(
        items(("m", "xs", 1, "s", "1", 1.0), ("m", "xs", 1, "s", "2", NAN), ("m", "xs", 1, "t", "1", 0.0))
    )
    assert made.select("suite", "score", "n", "undefined").rows() == [("s", 1.0, 1, 1), ("t", 0.0, 1, 0)]
    # Suites weigh alike: (1 + 0) / 2.
    assert classes.over_suites(made).rows() == [("m", "xs", 1, 0.5, 2)]
    assert by_circuit(made, {"s": "A"}).rows() == [("m", "xs", 1, "A", 1.0, 1)]
    empty = classes.suite_scores(items(("m", "xs", 1, "s", "1", NAN), ("m", "xs", 1, "t", "1", 1.0)))
    assert math.isnan(classes.over_suites(empty)["score"][0])


def test_votes_of_seeds() -> None:
    # Item 1: two of three; item 2: one of two, which is not more than half; item 3: nobody has a vote.
    rows = [("1", (1.0, 1.0, 0.0)), ("2", (1.0, 0.0, NAN)), ("3", (NAN, NAN, NAN))]
    table = items(*[("m", "xs", seed, "s", item, value) for item, values in rows for seed, value in enumerate(values)])
    voted, averaged = by_vote(table)["value"].to_list(), by_mean(table)["value"].to_list()
    assert voted[:2] == [1.0, 0.0]
    assert averaged[:2] == [2 / 3, 1 / 2]
    assert math.isnan(voted[2])
    assert math.isnan(averaged[2])


def test_deltas_weigh_cells_alike() -> None:
    rows = [("a", "xs", 1, "s", 1.0), ("a", "xs", 2, "s", 0.0), ("a", "lg", 1, "s", 1.0), ("b", "xs", 1, "s", 0.25)]
    scores = pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row")
    # (1/2 + 1 + 1/4) / 3 = 7/12.
    assert suite_means(scores).rows() == [("s", pytest.approx(7 / 12))]
    assert classes.score_deltas(scores)["delta"].to_list() == pytest.approx([5 / 12, -7 / 12, 5 / 12, -1 / 3])


def test_pairs_of_which_one_is_missing_are_left_out() -> None:
    rows = [("a", "xs", 1, suite, 0.5) for suite in ("s", "s_mod", "t", "u_mod")]
    scores = pl.DataFrame(rows, schema=["model", "corpus", "seed", "suite", "score"], orient="row")
    found = modifier_stability(scores)
    assert found.select("pair", "modifier").rows() == [("s", "no modifier"), ("s", "with modifier")]


@pytest.mark.parametrize(("method", "other"), [("Pearson", stats.pearsonr), ("Spearman", stats.spearmanr)])
def test_correlations_are_those_of_scipy(method: str, other: Callable[..., Any]) -> None:
    source = np.random.default_rng(3)
    x = source.normal(size=30)
    y = 0.5 * x + source.normal(size=30)
    r, p = other(x, y)
    found = association(x, y, method)
    assert found.value == pytest.approx(r, abs=1e-12)
    # That of the jackknife, which Pearson's r has, too, is larger here.
    assert found.p == pytest.approx(p, abs=1e-9) if method == "Spearman" else p < found.p < 0.02
    assert 0 < found.low < found.value < found.high


def test_an_outlier_widens_the_interval_of_pearsons_r() -> None:
    source = np.random.default_rng(3)
    x, y = source.normal(size=(2, 30))
    x[0], y[0] = 9, 9
    found, z = association(x, y), math.atanh(np.corrcoef(x, y)[0, 1])
    others = [math.atanh(np.corrcoef(np.delete(x, k), np.delete(y, k))[0, 1]) for k in range(30)]
    reach = stats.t.ppf(0.975, 28) * math.sqrt(29 / 30 * sum((one - np.mean(others)) ** 2 for one in others))
    assert (found.low, found.high) == pytest.approx((math.tanh(z - reach), math.tanh(z + reach)))
    assert found.low < 0 < math.tanh(z - 1.96 / math.sqrt(27))
    assert found.p > 0.05 > stats.pearsonr(x, y)[1]


def test_p_of_few_pairs_is_exact() -> None:
    # Three pairs: of the 3! = 6 orders two have |rho| = 1, and four have 1/2 or more beside them: 6 of 6.
    assert association([1, 2, 3], [2, 5, 9], "Spearman").p == pytest.approx(2 / 6)
    assert association([1, 2, 3], [2, 9, 5], "Spearman").p == 1
    # Four: rho = 1 - 6 d / 60 of d squared differences; 0.8 or more: d <= 2, the order itself and three swaps of
    # neighbours; as many turned round: 8 of 24.
    assert association([1, 2, 3, 4], [1, 3, 2, 4], "Spearman").p == pytest.approx(8 / 24)
    # With ties: of four places the 1 stands in, one gives r = 1, none r = -1.
    assert association([0, 0, 0, 1], [0, 0, 0, 1]).p == pytest.approx(1 / 4)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["Pearson", "Spearman"])
def test_exact_p_is_that_of_all_permutations(method: str) -> None:
    x, y = np.array([1.0, 2, 2, 5, 7, 11]), np.array([3.0, 1, 4, 4, 9, 2])
    of = stats.pearsonr if method == "Pearson" else stats.spearmanr
    found = [abs(of(one, y)[0]) for one in itertools.permutations(x)]
    expected = np.mean(np.array(found) >= abs(of(x, y)[0]) - 1e-9)
    assert association(x, y, method).p == pytest.approx(expected, abs=1e-12)


def test_p_of_pairs_on_one_line() -> None:
    ten = np.arange(10)
    # Upwards and downwards, 2 of 10! orders; squares are not their own mirror image: 1 of 10!.
    assert association(ten, 3 * ten + 1).p == pytest.approx(2 / math.factorial(10))
    assert association(ten**2, -(ten**2)).p == pytest.approx(1 / math.factorial(10))
    # One of ten stands out in both: it does in 9! of 10! orders.
    assert association(ten == 9, ten == 9).p == pytest.approx(1 / 10)
    assert math.isnan(association(ten, 2 * ten, given=[ten**2]).p)


def test_partial_correlations_by_the_textbook() -> None:
    source = np.random.default_rng(4)
    z, w = source.normal(size=(2, 40))
    x, y = z + w + source.normal(size=40), z - w + source.normal(size=40)
    (xy, xz, yz) = (np.corrcoef(a, b)[0, 1] for a, b in ((x, y), (x, z), (y, z)))
    one = (xy - xz * yz) / math.sqrt((1 - xz**2) * (1 - yz**2))
    assert association(x, y, given=[z]).value == pytest.approx(one, abs=1e-12)
    # Two held constant: minus the normalised entry of the inverse of the correlation matrix.
    inverse = np.linalg.inv(np.corrcoef([x, y, z, w]))
    two = -inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1])
    assert association(x, y, given=[z, w]).value == pytest.approx(two, abs=1e-12)


def numbers(found: Association) -> tuple[float, ...]:
    return found.value, found.low, found.high, found.p


def test_correlations_that_are_not_defined() -> None:
    assert math.isnan(association([1, 1, 1], [1, 2, 3]).value)
    assert math.isnan(association([], []).value)
    # A correlation has no unit: that of very small numbers is the same.
    small = association([1e-9, 2e-9, 4e-9], [1e-9, 3e-9, 2e-9])
    assert small.value == pytest.approx(association([1, 2, 4], [1, 3, 2]).value, abs=1e-9)
    # On a line through two points there is nothing to see, whatever the points are.
    assert all(map(math.isnan, numbers(association([1, 2], [3, 4]))))
    assert all(map(math.isnan, numbers(association([1], [3]))))
    # Nor in four points less a plane through three of them: 4 - 2 - 2 = 0 degrees of freedom.
    z, w = [1, 0, 2, 5], [0, 1, 1, 3]
    assert all(map(math.isnan, numbers(association([1, 2, 3, 5], [1, 4, 2, 2], given=[z, w]))))
    assert not math.isnan(association([1, 2, 3, 5], [1, 4, 2, 2], given=[z]).value)
    assert math.isnan(association([1, 2, 3], [1, 3, 2], given=[[1, 2, 3]]).value)
