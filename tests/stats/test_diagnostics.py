"""Diagnostics of logistic mixed models: what is planted is found, and closed forms where there are any."""

import numpy as np
import polars as pl
import pytest

from syntagm.core import UsageError
from syntagm.stats import linear, logistic


def answers(interaction: float = 0.0, odd: float = 0.0) -> pl.DataFrame:
    """Eight models of two classes answer ten suites of twelve items; m3 may be another kind of model."""
    draw = np.random.default_rng(3)
    of_models, of_suites, of_both = draw.normal(0, 0.5, 8), draw.normal(0, 1, 10), draw.normal(0, 1, (8, 10))
    rows = [
        (f"m{model}", f"s{suite}", "ab"[model % 2], int(draw.random() < 1 / (1 + np.exp(-eta))))
        for model in range(8)
        for suite in range(10)
        for eta in [of_models[model] + of_suites[suite] + interaction * of_both[model, suite] + odd * (model == 3)]
        for _ in range(12)
    ]
    return pl.DataFrame(rows, schema=["model", "suite", "class", "correct"], orient="row")


FORMULA = "correct ~ class + (1 | suite) + (1 | model)"


@pytest.mark.slow
def test_dispersion_finds_a_missing_interaction() -> None:
    found = [logistic.dispersion(logistic.fit(FORMULA, answers(each)), ("suite", "model")) for each in (0.0, 1.0)]
    # Below 1, because the effects of ten suites and eight models are fitted to these cells.
    assert (found[0].ratio, found[0].df) == (pytest.approx(62 / 76, abs=0.2), 80 - 4)
    assert found[0].p > 0.05
    assert found[1].ratio > 1.8
    assert found[1].p < 1e-4


def test_dispersion_of_counts_without_groups_is_pearsons_statistic() -> None:
    table = pl.DataFrame({"hits": [3, 7, 9, 4], "n": [10, 10, 10, 10]})
    found = logistic.dispersion(logistic.fit("hits ~ 1", table, trials="n"))
    p = 23 / 40
    expected = sum((hits - 10 * p) ** 2 for hits in table["hits"]) / (10 * p * (1 - p))
    assert (found.ratio, found.df) == (pytest.approx(expected / 3), 3)
    three = logistic.fit(FORMULA, answers().filter(pl.col("model").is_in(["m0", "m1", "m2"])))
    with pytest.raises(UsageError, match="3 cells for 4 parameters; expected more cells"):
        logistic.dispersion(three, ("model",))


def test_residuals_add_up_and_lie_in_their_band() -> None:
    table = answers()
    found = logistic.residuals(logistic.fit(FORMULA, table), bins=20)
    assert found.columns == ["fitted", "observed", "residual", "low", "high", "n"]
    assert found["n"].sum() == len(table)
    assert (found["observed"] * found["n"]).sum() == pytest.approx(table["correct"].sum())
    assert found["fitted"].is_sorted()
    assert ((found["residual"] > found["low"]) & (found["residual"] < found["high"])).mean() >= 0.85


def test_without_variance_the_change_is_that_of_a_logistic_regression() -> None:
    # Groups that are more alike than chance allows.
    hits = [(2, 4), (3, 4), (2, 4), (2, 3), (2, 4), (3, 3)]
    rows = [
        (f"g{group}", x, int(n < count))
        for group, pair in enumerate(hits)
        for x, count in enumerate(pair)
        for n in range(5)
    ]
    table = pl.DataFrame(rows, schema=["g", "x", "y"], orient="row")
    fit, plain = logistic.fit("y ~ x + (1 | g)", table), logistic.fit("y ~ x", table)
    assert fit.singular
    found = {row["level"]: row for row in logistic.influence(fit, "g").iter_rows(named=True)}
    for level, row in found.items():
        without = logistic.fit("y ~ x", table.filter(pl.col("g") != level))
        changes = [b.estimate - a.estimate for a, b in zip(plain.coefficients, without.coefficients, strict=True)]
        errors = [one.se for one in plain.coefficients]
        assert [row["(Intercept)"], row["x"]] == pytest.approx(np.array(changes) / errors, abs=1e-3)
        expected = np.array(changes) @ np.linalg.inv(plain.covariance) @ np.array(changes) / 2
        assert row["distance"] == pytest.approx(expected, rel=0.01, abs=1e-5)


@pytest.mark.slow
def test_the_odd_model_is_the_most_influential() -> None:
    fit = logistic.fit(FORMULA, answers(odd=3.0))
    found = logistic.influence(fit, "model")
    assert found.columns == ["level", "distance", "(Intercept)", "classb"]
    assert found["level"][0] == "m3"
    assert found["distance"][0] > 2 * found["distance"][1]
    # Without the better of the b models, b is worse.
    assert found["classb"][0] < -0.5


@pytest.mark.slow
def test_what_cannot_be_estimated_without_a_level_is_nan() -> None:
    table = answers().with_columns(pl.when(pl.col("model") == "m7").then(pl.lit("c")).otherwise("class").alias("class"))
    found = logistic.influence(logistic.fit(FORMULA, table), "model")
    assert np.isnan(found.filter(level="m7")["distance"][0])
    assert found.filter(pl.col("level") != "m7")["distance"].is_not_nan().all()


@pytest.mark.slow
def test_linear_models_and_unknown_groups_are_refused() -> None:
    table = answers()
    for function in (logistic.dispersion, logistic.residuals):
        with pytest.raises(UsageError, match="a linear model; expected a logistic one"):
            function(linear.fit(FORMULA, table))
    with pytest.raises(UsageError, match="no group item"):
        logistic.influence(logistic.fit(FORMULA, table), "item")
