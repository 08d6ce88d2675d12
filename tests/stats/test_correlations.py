"""Correlations of models over suites, by pencil, and their order."""

import math

import numpy as np

from syntagm.stats import correlation, correlations

NAN = float("nan")


def rows(**models: list[float]) -> dict[str, dict[str, float]]:
    return {name: {f"s{k}": value for k, value in enumerate(values)} for name, values in models.items()}


def test_pearson_and_spearman_of_four_suites() -> None:
    # Deviations -.3 -.1 .1 .3 and -.2 -.1 -.1 .4: .18 / sqrt(.2 * .22). Ranks 1 2 3 4 and 1 2.5 2.5 4: 4.5 / sqrt(5 * 4.5).
    table = correlations(rows(a=[0.2, 0.4, 0.6, 0.8], b=[0.2, 0.3, 0.3, 0.8]))
    assert math.isclose(table["r"][0], 0.18 / math.sqrt(0.2 * 0.22))
    assert math.isclose(table["r"][1], 4.5 / math.sqrt(5 * 4.5))
    assert table["n"].to_list() == [4, 4]


def test_only_suites_that_are_defined_under_both_count() -> None:
    table = correlations(
        {"a": {"s": 0.1, "t": 0.2, "u": 0.3, "v": NAN}, "b": {"s": 1.0, "t": 0.9, "u": 0.7, "v": 0.5, "w": 1.0}}
    )
    assert table["n"].to_list() == [3, 3]
    assert table["r"][1] == -1


def test_two_suites_and_equal_values_have_no_correlation() -> None:
    assert correlations(rows(a=[0.1, 0.2], b=[0.3, 0.4]))["r"].is_nan().all()
    assert correlations(rows(a=[0.1, 0.2, 0.3], b=[0.4, 0.4, 0.4]))["r"].is_nan().all()
    assert correlations(rows(a=[0.1, 0.2])).is_empty()


def test_like_stands_by_like() -> None:
    generator = np.random.default_rng(1)
    first, second = generator.random(30), generator.random(30)

    def near(values: np.ndarray) -> list[float]:
        return [float(one) for one in values + 0.05 * generator.random(30)]

    made = rows(a=near(first), b=near(second), c=near(first), d=near(second))
    table = correlations(made)
    assert correlation.order(table, list(made)) in (
        ["a", "c", "b", "d"],
        ["a", "c", "d", "b"],
        ["c", "a", "b", "d"],
        ["c", "a", "d", "b"],
    )
    assert np.allclose(
        correlation.matrix(table, list(made), "Pearson"), np.corrcoef([list(one.values()) for one in made.values()])
    )


def test_models_without_correlations_keep_their_places() -> None:
    made = rows(a=[0.1, 0.2], b=[0.3, 0.4], c=[0.1, 0.3])
    assert sorted(correlation.order(correlations(made), list(made))) == ["a", "b", "c"]
    assert correlation.order(correlations(rows(a=[0.1])), ["a"]) == ["a"]
