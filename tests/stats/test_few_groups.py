"""Satterthwaite's degrees of freedom and the parametric bootstrap against lmerTest and pbkrtest, and by closed forms."""

import numpy as np
import polars as pl
import pytest
from regression_for_tests import DATA
from scipy import stats

from syntagm.errors import UsageError
from syntagm.stats.mixed import few_groups, linear, logistic

# lmerTest 3.1-3 and pbkrtest 0.5.2, by tests/data/regression/few_groups.R.
REFERENCE = pl.read_csv(DATA / "few_groups.csv")
DESIGNS = ("crossed", "sloped")


def design(name: str) -> tuple[pl.DataFrame, str, str]:
    """Return the data, the formula, and the smaller formula."""
    formula, smaller = REFERENCE.filter(design=name).select("formula", "smaller").row(0)
    return pl.read_csv(DATA / f"few_groups_{name}.csv"), formula, smaller


@pytest.mark.parametrize("name", DESIGNS)
def test_degrees_of_freedom_are_those_of_lmertest(name: str) -> None:
    table, formula, _ = design(name)
    tested = few_groups.coefficients(linear.fit(formula, table, reml=True))
    rows = REFERENCE.filter(design=name).rows(named=True)
    assert [effect.name for effect in tested] == [row["term"] for row in rows]
    for effect, row in zip(tested, rows, strict=True):
        assert (effect.estimate, effect.se) == pytest.approx((row["estimate"], row["se"]), rel=1e-5)
        assert effect.df == pytest.approx(row["df"], rel=1e-4)
        assert effect.p == pytest.approx(row["p"], rel=1e-4, abs=1e-8)
        # Kenward and Roger's are close in these designs; they are not computed.
        assert effect.df == pytest.approx(row["kr_df"], rel=0.2)
        assert (effect.low > 0 or effect.high < 0) == (effect.p < 0.05)


def test_in_a_balanced_design_they_are_those_of_the_analysis_of_variance() -> None:
    # Six groups of four: the grand mean has 5 degrees of freedom, its test is that of the groups' means.
    draw = np.random.default_rng(3)
    groups = np.repeat(np.arange(6), 4)
    table = pl.DataFrame({"y": draw.normal(0, 1, 6)[groups] + draw.normal(0, 0.5, 24) + 1, "g": groups.astype(str)})
    [mean] = few_groups.coefficients(linear.fit("y ~ 1 + (1 | g)", table, reml=True))
    expected = stats.ttest_1samp(table.group_by("g", maintain_order=True).agg(pl.col("y").mean())["y"].to_numpy(), 0)
    assert mean.df == pytest.approx(5, rel=1e-3)
    assert mean.p == pytest.approx(expected.pvalue, rel=1e-3)


def test_a_logistic_model_has_a_normal_test() -> None:
    draw = np.random.default_rng(4)
    groups = np.repeat(np.arange(25), 8)
    x = draw.normal(size=200)
    chances = 1 / (1 + np.exp(-x - draw.normal(0, 1, 25)[groups]))
    table = pl.DataFrame({"y": (draw.random(200) < chances).astype(int), "x": x, "g": groups.astype(str)})
    effect = few_groups.coefficients(logistic.fit("y ~ x + (1 | g)", table))[1]
    assert effect.df == np.inf
    assert effect.p == pytest.approx(2 * stats.norm.sf(abs(effect.t)))


def test_few_groups_are_said_and_bootstrapped() -> None:
    table, formula, smaller = design("sloped")
    fits = [linear.fit(each, table) for each in (smaller, formula)]
    assert "only 7 groups" in linear.compare(*fits).remark
    heard: list[int] = []
    found = few_groups.compare(*fits, draws=4, progress=lambda done, _: heard.append(done))
    assert found.remark == "parametric bootstrap(4, seed 1)"
    assert found.p * 5 == pytest.approx(round(found.p * 5))
    assert found.p == few_groups.compare(*fits, draws=4).p
    assert heard == list(range(1, 5))
    assert few_groups.compare(*fits, draws=0) == linear.compare(*fits)
    restricted = [linear.fit(each, table, reml=True) for each in ("y ~ x + (1 | g)", formula)]
    with pytest.raises(UsageError, match="restricted"):
        few_groups.compare(*restricted, draws=9)


def test_shares_of_variance_add_up_and_their_intervals_contain_them() -> None:
    table, _, _ = design("crossed")
    fit = linear.fit("score ~ 1 + (1 | run) + (1 | suite)", table, reml=True)
    found = {share.name: share for share in few_groups.shares(fit, draws=12)}
    variances = {group.name: group.sd[0] ** 2 for group in fit.groups} | {"residual": fit.sigma**2}
    assert found.pop("fixed effects").share == pytest.approx(0, abs=1e-12)
    total = sum(variances.values())
    assert {name: share.share for name, share in found.items()} == pytest.approx(
        {name: variance / total for name, variance in variances.items()}
    )
    assert all(share.low <= share.share <= share.high for share in found.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS)
def test_the_parametric_bootstrap_has_the_p_of_pbkrtest(name: str) -> None:
    table, formula, smaller = design(name)
    found = few_groups.compare(linear.fit(smaller, table), linear.fit(formula, table), draws=400)
    row = REFERENCE.filter(design=name).row(0, named=True)
    assert found.chi2 == pytest.approx(row["chi2"], rel=1e-5)
    # Theirs has 2,000 draws, ours 400: three standard errors of the difference.
    p = row["bootstrap_p"]
    assert found.p == pytest.approx(p, abs=3 * (p * (1 - p) * (1 / 400 + 1 / 2000)) ** 0.5)
