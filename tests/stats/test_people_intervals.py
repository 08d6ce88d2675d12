"""Intervals about people: shares under a crossed logistic model, Krippendorff's alpha, reliability, and planned numbers."""

import math

import numpy as np
import polars as pl
import pytest

from syntagm.core import InputError, UsageError
from syntagm.evaluation import Kind
from syntagm.stats import Judgements, People, bootstrap, crossed, judgements, people_for


def answers(right: np.ndarray) -> pl.DataFrame:
    """A table of answers. Shape (people, suites, items)."""
    who, where, what = (codes.ravel().astype(str) for codes in np.indices(right.shape))
    return pl.DataFrame({"value": right.ravel().astype(float), "person": who, "suite": where, "item": what})


@pytest.mark.slow
def test_a_suite_borrows_the_spread_of_items_from_the_others() -> None:
    generator = np.random.default_rng(2)
    odds = 1.0 + generator.normal(0, 1, (12, 1, 1)) + generator.normal(0, 1, (1, 6, 4))
    right = generator.random((12, 6, 4)) < 1 / (1 + np.exp(-odds))
    right[:, 0] = True
    found = crossed.shares(answers(right), [str(suite) for suite in range(6)])
    # All answers are right: the share is 1, and the interval has a lower limit though the suite alone shows no spread.
    assert found[0].value == found[0].interval.high == 1
    assert 0.6 < found[0].interval.low < 0.99
    for suite, share in enumerate(found[1:], 1):
        assert share.interval.low < share.value < share.interval.high
        assert abs(share.value - right[:, suite].mean()) < 0.05
    assert 0.5 < found[0].items < 1.6
    with pytest.raises(InputError):
        crossed.shares(answers(np.ones((4, 1, 4))), ["0"])


def test_a_person_without_spread_leaves_the_binomial_likelihood() -> None:
    # Standard deviations of 0: the deviance is that of 15 of 20 at log odds b, and the share is 3/4.
    table = answers(np.array([[[True, True, True, False]]] * 5)).with_columns(item=pl.lit("1") + pl.col("item"))
    profile = crossed._Profile(table, {"person": 0.0, "item": 0.0})
    assert profile.best() == pytest.approx(math.log(3), abs=1e-4)
    by_hand = -2 * (15 * math.log(0.75) + 5 * math.log(0.25))
    assert profile.deviance(math.log(3)) == pytest.approx(by_hand)


def test_the_interval_of_alpha_is_a_jackknife_over_people_and_items() -> None:
    people, units = np.divmod(np.arange(60), 12)
    values = (units % 5 + people % 2).astype(float)
    value, found = judgements.krippendorff(values, units), judgements.alpha_interval(values, units, people)

    def turned(alpha: float) -> float:
        return math.log((1 + 4 * alpha) / (1 - alpha)) / 2  # five judgements of each unit

    variance = 0.0
    for codes, count in ((people, 5), (units, 12)):
        without = [turned(judgements.krippendorff(values[codes != one], units[codes != one])) for one in range(count)]
        variance += (count - 1) / count * sum((each - np.mean(without)) ** 2 for each in without)
    half = (turned(found.high) - turned(found.low)) / 2
    assert found.low < value < found.high
    # The quantile is one of 4 to 15 degrees of freedom.
    assert 2.131 < half / math.sqrt(variance) < 2.777
    assert math.isnan(judgements.alpha_interval(np.ones(60), units, people).low)


def test_reliability_has_an_interval_over_items() -> None:
    generator = np.random.default_rng(1)
    truth, noise = generator.normal(0, 1, 30), generator.normal(0, 1, (20, 30))

    def of(half: np.ndarray) -> np.ndarray:
        return truth + noise[half].mean(axis=0)

    found = judgements.split_halves(20, of, 50, 1)
    # The variance of items is 1, that of the mean of 20 people 1/20: the reliability is 20/21 = 0.952.
    assert found.low < 20 / 21 < found.high
    assert found.low < found.value < found.high < 1
    assert math.isnan(judgements.split_halves(20, lambda half: of(half)[:4], 50, 1).low), "four items are too few"


def test_a_reliability_is_from_0_to_1() -> None:
    # Each half of the people says the opposite of the other: a correlation near -1, of which 2 r / (1 + r) is far below 0.
    truth, noise = np.arange(12.0), np.random.default_rng(1).normal(0, 4, 12)

    def of(half: np.ndarray) -> np.ndarray:
        return (truth if half[0] else -truth) + noise

    found = judgements.split_halves(8, of, 20, 1)
    assert (found.value, found.low) == (0.0, 0.0)
    assert 0 <= found.high <= 1
    assert judgements.ceiling(found.value) == 0.0


@pytest.mark.slow
def test_so_many_people_as_the_precision_wants() -> None:
    generator = np.random.default_rng(3)
    people, items = (codes.ravel() for codes in np.indices((12, 10)))
    odds = 1.5 + generator.normal(0, 0.5, 12)[people] + generator.normal(0, 0.5, 10)[items]
    values = (generator.random(120) < 1 / (1 + np.exp(-odds))).astype(float)
    pilot = People(Judgements(people, items, values, Kind.VERDICT), 0.5)
    with bootstrap.using(bootstrap.Resampling(seed=1)):
        count = people_for(pilot, 0.08, 40, most=60)
        assert pilot.reach(40, count, 40) <= 0.08 < pilot.reach(40, count - 1, 40)
        with pytest.raises(UsageError, match="Add items"):
            people_for(pilot, 0.005, 10, most=30)


def test_cells_are_subtracted_from_the_degrees_of_freedom() -> None:
    from syntagm.stats import spread_of_clusters

    people, items = (codes.ravel() for codes in np.indices((6, 4)))
    generator = np.random.default_rng(1)
    values = generator.normal(0, 1, 24) + generator.normal(0, 1, 6)[people]
    influences = (values - values.mean()) / 24
    clusters = {"people": people, "items": items}
    plain, net = spread_of_clusters(influences, clusters), spread_of_clusters(influences, clusters, net=True)
    assert plain is not None
    assert net is not None
    assert net.variance == plain.variance
    assert 3 <= net.freedom < plain.freedom
