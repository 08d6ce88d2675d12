"""Tests of Satterthwaite and of Kenward & Roger, and the parametric bootstrap, against lmerTest, pbkrtest and closed forms."""

import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from regression_for_tests import DATA
from scipy import stats

from syntagm.cli import _lines
from syntagm.core import InputError, UsageError
from syntagm.stats import bootstrap, few_groups, linear, logistic
from syntagm.stats.mixed import fit

# lmerTest 3.1-3 and pbkrtest 0.5.2, by tests/data/regression/few_groups.R.
REFERENCE = pl.read_csv(DATA / "few_groups.csv")
DESIGNS = ("crossed", "sloped", "classes", "singular")


def design(name: str) -> tuple[pl.DataFrame, str, str]:
    """Return the data, the formula, and the smaller formula."""
    formula, smaller = REFERENCE.filter(design=name).select("formula", "smaller").row(0)
    return pl.read_csv(DATA / f"few_groups_{name}.csv"), formula, smaller


@pytest.mark.parametrize("name", DESIGNS)
def test_tests_of_coefficients_are_those_of_lmertest_and_pbkrtest(name: str) -> None:
    table, formula, _ = design(name)
    fit, rows = linear.fit(formula, table, reml=True), REFERENCE.filter(design=name).rows(named=True)
    for by, prefix in (("satterthwaite", ""), ("kenward-roger", "kr_")):
        tested = fit.tests(by)
        assert [effect.name for effect in tested] == [row["term"] for row in rows]
        for effect, row in zip(tested, rows, strict=True):
            assert (effect.estimate, effect.se) == pytest.approx((row["estimate"], row[f"{prefix}se"]), rel=1e-5)
            assert effect.df == pytest.approx(row[f"{prefix}df"], rel=1e-4)
            assert effect.p == pytest.approx(row[f"{prefix}p"], rel=1e-4, abs=1e-8)
            assert (effect.low > 0 or effect.high < 0) == (effect.p < 0.05)


@pytest.mark.parametrize("name", DESIGNS)
def test_the_f_test_is_that_of_pbkrtest(name: str) -> None:
    table, formula, smaller = design(name)
    found = few_groups.f_test(linear.fit(smaller, table), linear.fit(formula, table, reml=True))
    row = REFERENCE.filter(design=name).row(0, named=True)
    assert found.df == row["f_df"]
    assert (found.value, found.denominator, found.p) == pytest.approx(
        (row["f"], row["f_denominator"], row["f_p"]), rel=1e-4
    )


def test_without_groups_both_methods_are_students_t() -> None:
    table, _, _ = design("crossed")
    fit = linear.fit("score ~ class + size", table, reml=True)
    tested = [[(effect.se, effect.df) for effect in fit.tests(by)] for by in ("satterthwaite", "kenward-roger")]
    expected = [(effect.se, len(table) - 3) for effect in fit.coefficients]
    assert tested[1] == [pytest.approx(pair) for pair in expected]
    assert tested[0] == [pytest.approx(pair, rel=1e-4) for pair in expected]


def test_kenward_and_rogers_method_needs_restricted_likelihood_and_one_set_of_random_effects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table, formula, smaller = design("sloped")
    plain, restricted = linear.fit(formula, table), linear.fit(formula, table, reml=True)
    with pytest.raises(UsageError, match=r"a fit by ML; .*restricted likelihood. Fit with reml=True"):
        plain.tests("kenward-roger")
    with pytest.raises(UsageError, match="one of satterthwaite, kenward-roger"):
        plain.tests("wald")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="a fit by ML"):
        few_groups.f_test(linear.fit(smaller, table), plain)
    with pytest.raises(UsageError, match="different random effects"):
        few_groups.f_test(linear.fit("y ~ 1 + (1 | g)", table), restricted)
    monkeypatch.setattr(fit, "MAX_EFFECTS", 13)
    with pytest.raises(InputError, match="14 random effects"):
        restricted.tests("kenward-roger")


def test_in_a_balanced_design_they_are_those_of_the_analysis_of_variance() -> None:
    # Six groups of four: the grand mean has 5 degrees of freedom, its test is that of the groups' means.
    draw = np.random.default_rng(3)
    groups = np.repeat(np.arange(6), 4)
    table = pl.DataFrame({"y": draw.normal(0, 1, 6)[groups] + draw.normal(0, 0.5, 24) + 1, "g": groups.astype(str)})
    [mean] = linear.fit("y ~ 1 + (1 | g)", table, reml=True).tests()
    expected = stats.ttest_1samp(table.group_by("g", maintain_order=True).agg(pl.col("y").mean())["y"].to_numpy(), 0)
    assert mean.df == pytest.approx(5, rel=1e-3)
    assert mean.p == pytest.approx(expected.pvalue, rel=1e-3)


def test_a_logistic_model_has_a_normal_test() -> None:
    draw = np.random.default_rng(4)
    groups = np.repeat(np.arange(25), 8)
    x = draw.normal(size=200)
    chances = 1 / (1 + np.exp(-x - draw.normal(0, 1, 25)[groups]))
    table = pl.DataFrame({"y": (draw.random(200) < chances).astype(int), "x": x, "g": groups.astype(str)})
    effect = logistic.fit("y ~ x + (1 | g)", table).tests()[1]
    assert effect.df == np.inf
    assert effect.p == pytest.approx(2 * stats.norm.sf(abs(effect.t)))


@pytest.mark.slow
def test_few_groups_are_said_and_bootstrapped(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    table, formula, smaller = design("sloped")
    fits = [linear.fit(each, table) for each in (smaller, formula)]
    plain = linear.compare(*fits)
    assert (plain.method, "only 7 groups" in plain.remark) == ("chi-squared", True)
    assert few_groups.compare(*fits, draws=0) == plain
    monkeypatch.setattr(few_groups, "DRAWS", 60)
    monkeypatch.setattr(_lines, "_INTERVAL", 0.0)
    with bootstrap.using(None, _lines.Lines()):
        found = few_groups.compare(*fits)
    # It stops at the third of 60 ratios that is larger, because p is then at least .05.
    count = int(re.fullmatch(r"parametric bootstrap\((\d+) of 60, seed 1\)", found.method)[1])  # type: ignore[index]
    assert (found.p, found.remark, found.least) == (3 / count, "", 0.0)
    assert few_groups.compare(*fits, draws=60) == found
    said = capsys.readouterr().out.splitlines()
    assert said[0] == f"Likelihood-ratio test: up to 60 simulated responses of {smaller}"
    assert [line.split(", ")[0] for line in said[1:]] == [f"{n} of 60 simulated responses" for n in range(1, count + 1)]
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        assert few_groups.compare(*fits) == plain
    with bootstrap.using(bootstrap.Resampling(seed=2)):
        assert few_groups.compare(*fits).method.endswith("of 60, seed 2)")
    with pytest.raises(UsageError, match="at least 100, or 0"):
        bootstrap.Resampling(simulated=99)
    restricted = [linear.fit(each, table, reml=True) for each in ("y ~ x + (1 | g)", formula)]
    with pytest.raises(UsageError, match="restricted"):
        few_groups.compare(*restricted, draws=9)


@pytest.mark.parametrize("name", ["classes", "singular"])
def test_a_simulated_response_has_the_deviance_of_a_fit_from_scratch(name: str) -> None:
    table, formula, smaller = design(name)
    for each in (smaller, formula):
        fit = linear.fit(each, table)
        response = np.random.default_rng(7).normal(size=len(table))
        again = linear.fit_design(replace(fit.design, response=response), False, 3, 1)
        assert linear.deviance_of(fit, response) == pytest.approx(again.deviance, abs=1e-6)


@pytest.mark.slow
def test_a_logistic_model_is_bootstrapped_from_its_own_estimates(monkeypatch: pytest.MonkeyPatch) -> None:
    draw = np.random.default_rng(5)
    groups = np.repeat(np.arange(8), 10)
    x = draw.normal(size=80)
    chances = 1 / (1 + np.exp(-x - draw.normal(0, 1, 8)[groups]))
    table = pl.DataFrame({"y": (draw.random(80) < chances).astype(int), "x": x, "g": groups.astype(str)})
    fits = [logistic.fit(each, table) for each in ("y ~ 1 + (1 | g)", "y ~ x + (1 | g)")]
    response = (draw.random(80) < 0.4).astype(float)
    again = logistic.fit_design(replace(fits[1].design, response=response), 2, 1)
    assert logistic.deviance_of(fits[1], response) == pytest.approx(again.deviance, abs=1e-6)
    found = few_groups.compare(*fits, draws=19)
    assert (found.p, found.least, found.method) == (1 / 20, 1 / 20, "parametric bootstrap(19, seed 1)")
    # Its fits take long: the number of the design is for linear models, except for 0.
    monkeypatch.setattr(few_groups, "LOGISTIC_DRAWS", 3)
    for simulated, method in ((5000, "parametric bootstrap(3, seed 1)"), (0, "chi-squared")):
        with bootstrap.using(bootstrap.Resampling(simulated=simulated)):
            assert few_groups.compare(*fits).method == method


@pytest.mark.slow
@pytest.mark.parametrize("name", DESIGNS[:2])
def test_the_parametric_bootstrap_has_the_p_of_pbkrtest(name: str) -> None:
    table, formula, smaller = design(name)
    found = few_groups.compare(linear.fit(smaller, table), linear.fit(formula, table), draws=2000)
    row = REFERENCE.filter(design=name).row(0, named=True)
    assert found.chi2 == pytest.approx(row["chi2"], rel=1e-5)
    # Theirs has 2,000 draws; ours stops at the hundredth larger ratio. Three standard errors of the difference.
    p = row["bootstrap_p"]
    assert found.p == pytest.approx(p, abs=3 * p * ((1 - p) * (1 / 100 + 1 / (2000 * p))) ** 0.5)


@pytest.mark.parametrize(("factor", "denominator"), [(-0.4, 3.0), (0.9, -9.864), (0.9, float("nan"))])
def test_an_approximation_out_of_its_range_is_no_test(
    monkeypatch: pytest.MonkeyPatch, factor: float, denominator: float
) -> None:
    table, formula, smaller = design("classes")
    fits = linear.fit(smaller, table), linear.fit(formula, table, reml=True)
    monkeypatch.setattr(fit.Adjusted, "test", lambda self, contrasts: (factor, denominator))
    with pytest.raises(InputError, match=r"F = .* denominator df; expected more groups"):
        few_groups.f_test(*fits)
