"""Logistic regression against closed forms and a general optimiser, and what it says where there is no maximum."""

import math

import numpy as np
import polars as pl
import pytest
from scipy.optimize import minimize

from syntagm.core import InputError
from syntagm.stats import logit
from syntagm.views import surface


def test_two_groups_have_the_log_odds_of_their_counts() -> None:
    # 6 of 8 against 2 of 10: log 3, and log(1/4) - log 3; errors are roots of sums of 1 / count.
    values = np.repeat([1.0, 0, 1, 0], [6, 2, 2, 8])
    made = logit.fit(values, {"second": np.repeat([0.0, 1], [8, 10])})
    intercept, second = made.coefficients
    assert math.isclose(intercept.estimate, math.log(3), rel_tol=1e-9)
    assert math.isclose(second.estimate, math.log(1 / 4) - math.log(3), rel_tol=1e-9)
    assert math.isclose(intercept.se, math.sqrt(1 / 6 + 1 / 2), rel_tol=1e-9)
    assert math.isclose(second.se, math.sqrt(1 / 6 + 1 / 2 + 1 / 2 + 1 / 8), rel_tol=1e-9)
    assert math.isclose(made.loglik_null, 8 * math.log(8 / 18) + 10 * math.log(10 / 18), rel_tol=1e-12)
    assert math.isnan(second.se_clustered)


@pytest.mark.parametrize("seed", range(4))
def test_estimates_are_those_of_a_general_optimiser(seed: int) -> None:
    generator = np.random.default_rng(seed)
    design = np.column_stack([np.ones(300), generator.normal(size=(300, 3)) * [1, 5, 0.1]])
    odds = design @ generator.normal(size=4)
    values = (generator.random(300) < 1 / (1 + np.exp(-odds))).astype(float)

    def loss(found: np.ndarray) -> float:
        return float(np.logaddexp(0, design @ found).sum() - values @ design @ found)

    slowly = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8})
    made = logit.fit(values, {str(k): design[:, k] for k in (1, 2, 3)})
    assert np.allclose([one.estimate for one in made.coefficients], slowly.x, atol=1e-4)
    assert math.isclose(made.loglik, -slowly.fun, rel_tol=1e-8)
    assert 0 < made.explained < 1


def test_clusters_that_repeat_an_item_count_once() -> None:
    # Each item ten times over: errors of 400 independent items are too small by the root of ten.
    generator = np.random.default_rng(1)
    x = generator.normal(size=40)
    values = (generator.random(40) < 0.5).astype(float)
    single = logit.fit(values, {"x": x}, [str(k) for k in range(40)])
    often = logit.fit(np.repeat(values, 10), {"x": np.repeat(x, 10)}, [str(k) for k in range(40) for _ in range(10)])
    assert often.clusters == 40
    one, ten = single.coefficients[1], often.coefficients[1]
    assert math.isclose(ten.se, one.se / math.sqrt(10), rel_tol=1e-9)
    assert math.isclose(ten.se_clustered, one.se_clustered, rel_tol=1e-9)
    assert ten.p > math.erfc(abs(ten.estimate) / ten.se / math.sqrt(2))


@pytest.mark.parametrize("values", [[0.0, 0, 0, 1, 1, 1], [0.0, 0, 0, 0, 0, 1]])
def test_separation_is_said(values: list[float]) -> None:
    # Wholly, and in part: at x = 1 there are both, at x = 0 there is 0 only.
    x = np.array([0.0, 0, 0, 1, 1, 1])
    made = logit.fit(np.array(values), {"x": x})
    assert "no maximum" in made.message
    assert all(math.isnan(one.estimate) for one in made.coefficients)


def test_one_value_only_is_said() -> None:
    assert logit.fit(np.ones(5), {"x": np.arange(5.0)}).message == "all values are 1"


@pytest.mark.parametrize(
    ("values", "predictors", "said"),
    [
        ([], {"x": []}, "no values"),
        ([0.0, 0.5], {"x": [1.0, 2.0]}, "other than 0 and 1"),
        ([0.0, 1.0], {"x": [1.0, math.inf]}, "not finite"),
        ([0.0, 1.0, 1.0], {"x": [1.0, 2, 3], "y": [2.0, 4, 6]}, "linearly dependent"),
        ([0.0, 1.0, 1.0], {"x": [4.0, 4, 4]}, "linearly dependent"),
    ],
)
def test_what_can_not_be_fitted_is_refused(values: list[float], predictors: dict[str, list[float]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        logit.fit(np.array(values), {name: np.array(one) for name, one in predictors.items()})


def pairs(rows: int, seed: int = 1) -> pl.DataFrame:
    """Pairs whose odds fall by 1 for each standard deviation of length, and that are all of the same surprisal."""
    generator = np.random.default_rng(seed)
    words = generator.integers(3, 15, rows)
    odds = -(words - 8.5) / 3.452  # of 3 to 14, each as often
    return pl.DataFrame(
        {
            "model": ["m"] * rows,
            "suite": [f"s{k % 20}" for k in range(rows)],
            "item": [str(k) for k in range(rows)],
            "occurrence": [0] * rows,
            "value": (generator.random(rows) < 1 / (1 + np.exp(-odds))).astype(float),
            "margin": generator.normal(size=rows),
            "words": words,
            "bits_per_word": np.full(rows, 7.0),
        }
    )


def test_a_predictor_that_does_not_vary_is_left_out_and_named() -> None:
    made = surface.regressions(pairs(4000), ("words", "bits_per_word"))
    rows = {row["predictor"]: row for row in made.iter_rows(named=True)}
    # Of 4,000 pairs the error is some 0.04.
    assert abs(rows["words"]["log_odds"] + 1) < 0.15
    assert rows["words"]["low"] < -1 < rows["words"]["high"]
    assert (rows["words"]["n"], rows["words"]["suites"], rows["words"]["remark"]) == (4000, 20, "")
    assert math.isnan(rows["bits_per_word"]["log_odds"])
    assert rows["bits_per_word"]["remark"] == "the same for all pairs"


def test_pairs_without_a_number_are_counted_and_a_model_without_a_fit_is_said() -> None:
    table = pairs(50).with_columns(value=pl.when(pl.int_range(50) < 10).then(math.nan).otherwise("value"))
    made = surface.regressions(table, ("words",))
    assert made["n"].to_list() == [40, 40]
    assert made["left_out"].to_list() == [10, 10]
    alone = surface.regressions(pairs(1), ("words",))
    assert alone["remark"][0].startswith("all values are")
    assert surface.regressions(pairs(0), ("words",)).is_empty()


def test_the_margin_of_another_model_stands_beside_but_not_beside_its_own() -> None:
    both = pl.concat([pairs(3), pairs(3).with_columns(model=pl.lit("ngram"), margin=pl.Series([1.0, 2.0, 3.0]))])
    made = surface.with_margin_of(both, "ngram")
    assert made[surface.margin_of("ngram")].to_list() == [1.0, 2.0, 3.0, None, None, None]
