"""Linear mixed-effects models: against brute force, closed forms, lme4's output, and Hu et al.'s six models."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from regression_for_tests import DATA, dense_loglik, hu2020_scores
from scipy import stats

from syntagm.core import UsageError
from syntagm.stats import Fit, linear

SLOPES = " + (log(numwords) + architecture | suite) + (1 | instance)"
SIX = {  # model: fixed effects, parameters, AIC
    "full": ("log(numwords) + architecture", 29, -589.9036),
    "no_size": ("architecture", 28, -580.7053),
    "no_architecture": ("log(numwords)", 25, -573.5869),
    "circuit_full": ("log(numwords) * circuit + architecture * circuit", 59, -673.7186),
    "circuit_no_size": ("log(numwords) + architecture * circuit", 54, -654.0822),
    "circuit_no_architecture": ("log(numwords) * circuit + architecture", 39, -622.7017),
}


def random_table(seed: int, rows: int = 70) -> pl.DataFrame:
    """Two crossed groups, one nested in the first, a number, a factor, and a response that all of them move."""
    draw = np.random.default_rng(seed)
    g, h, f = draw.integers(0, 9, rows), draw.integers(0, 5, rows), draw.integers(0, 3, rows)
    x = draw.normal(size=rows)
    y = 2 + x - f + draw.normal(size=9)[g] * (1 + x) + draw.normal(size=5)[h] + draw.normal(size=rows)
    table = pl.DataFrame({"y": y, "x": x, "f": [f"f{n}" for n in f], "g": g, "h": [f"h{n}" for n in h]})
    return table.with_columns(part=draw.integers(0, 2, rows))


def effects(formula: str, table: pl.DataFrame) -> dict[str, NDArray[np.float64]]:
    """What varies, written down by hand: 1, x and the factor's contrasts."""
    one, x = np.ones(len(table)), table["x"].to_numpy()
    factor = {f"ff{n}": (table["f"] == f"f{n}").to_numpy().astype(float) for n in (1, 2)}
    return {"(Intercept)": one, "x": x} | factor


def covariance(found: Fit, table: pl.DataFrame, columns: dict[str, NDArray[np.float64]]) -> NDArray[np.float64]:
    """Of the rows: sigma^2 I + the sum over groups of Z G Z', row by row from what the fit tells."""
    total = found.sigma**2 * np.eye(len(table))
    for group in found.groups:
        z = np.column_stack([columns[name] for name in group.effects])
        between = np.outer(group.sd, group.sd) * np.nan_to_num(group.correlations)
        key = table.select(pl.concat_str(group.name.split(":"), separator=":")).to_series().to_numpy()
        total += (z @ between @ z.T) * (key[:, None] == key[None, :])
    return total


RANDOM = [
    "(1 | g)",
    "(x | g)",
    "(x || g) + (1 | h)",
    "(x + f | g) + (1 | h)",
    "(1 | g/part) + (x | h)",
    "(0 + x | g:part)",
]


@pytest.mark.parametrize("reml", [False, True])
@pytest.mark.parametrize(("seed", "random"), list(enumerate(RANDOM)))
def test_the_likelihood_is_that_of_the_dense_normal_distribution(seed: int, random: str, reml: bool) -> None:
    table = random_table(seed)
    found = linear.fit(f"y ~ x + f + {random}", table, reml=reml)
    columns = effects(random, table)
    fixed = np.column_stack(list(columns.values()))
    dense = covariance(found, table, columns)
    y = table["y"].to_numpy()
    assert found.loglik == pytest.approx(dense_loglik(y, fixed, dense, reml), abs=1e-7)
    inverse = np.linalg.inv(dense)
    errors = np.sqrt(np.diagonal(np.linalg.inv(fixed.T @ inverse @ fixed)))
    beta = np.linalg.solve(fixed.T @ inverse @ fixed, fixed.T @ inverse @ y)
    assert [one.se for one in found.coefficients] == pytest.approx(errors, rel=1e-7)
    assert [one.estimate for one in found.coefficients] == pytest.approx(beta, abs=1e-7)
    assert found.converged
    # No covariance matrix nearby is more likely.
    draw = np.random.default_rng(seed)
    for _ in range(20):
        blocks = [dense - found.sigma**2 * np.eye(len(y)), found.sigma**2 * np.eye(len(y))]
        near = sum(factor * block for factor, block in zip(draw.uniform(0.8, 1.2, 2), blocks, strict=True))
        assert dense_loglik(y, fixed, near, reml) < found.loglik


@pytest.mark.slow
def test_the_best_of_the_dense_likelihood_found_by_another_search() -> None:
    from scipy.optimize import minimize

    table = random_table(11)
    x, y = table["x"].to_numpy(), table["y"].to_numpy()
    fixed = np.column_stack([np.ones(len(y)), x])
    same = [np.equal.outer(table[name].to_numpy(), table[name].to_numpy()) for name in ("g", "h")]
    z = np.column_stack([np.ones(len(y)), x])

    def cost(place: NDArray[np.float64]) -> float:
        factor = np.array([[place[0], 0], [place[1], place[2]]])
        dense = (z @ factor @ factor.T @ z.T) * same[0] + place[3] ** 2 * same[1] + place[4] ** 2 * np.eye(len(y))
        return -dense_loglik(y, fixed, dense)

    best = minimize(cost, np.ones(5), method="Nelder-Mead", options={"maxfev": 4000, "xatol": 1e-6, "fatol": 1e-9})
    assert linear.fit("y ~ x + (x | g) + (1 | h)", table).loglik == pytest.approx(-best.fun, abs=1e-5)


def test_the_modes_are_the_conditional_means() -> None:
    table = random_table(3)
    found = linear.fit("y ~ x + f + (x | g) + (1 | h)", table)
    columns = effects("", table)
    y, fixed = table["y"].to_numpy(), np.column_stack(list(columns.values()))
    pull = np.linalg.solve(covariance(found, table, columns), y - fixed @ [one.estimate for one in found.coefficients])
    group = found.group("g")
    assert group.levels == tuple(str(n) for n in range(9))
    for level, modes in zip(group.levels, group.modes, strict=True):
        z = np.column_stack([columns[name] for name in group.effects]) * (table["g"].to_numpy() == int(level))[:, None]
        between = np.outer(group.sd, group.sd) * group.correlations  # E(b | y) = G Z' V^-1 (y - X beta)
        assert modes == pytest.approx(between @ z.T @ pull, abs=1e-7)


def test_a_balanced_one_way_design_has_a_closed_form() -> None:
    groups, each = 8, 5
    draw = np.random.default_rng(5)
    y = draw.normal(size=(groups, 1)) * 2 + draw.normal(size=(groups, each))
    table = pl.DataFrame({"y": y.ravel(), "g": np.repeat(np.arange(groups), each)})
    within = ((y - y.mean(axis=1, keepdims=True)) ** 2).sum() / (groups * (each - 1))
    between = each * ((y.mean(axis=1) - y.mean()) ** 2).sum()
    for reml, divisor in ((False, groups), (True, groups - 1)):
        found = linear.fit("y ~ (1 | g)", table, reml=reml)
        assert found.sigma == pytest.approx(np.sqrt(within))
        assert found.groups[0].sd[0] == pytest.approx(np.sqrt((between / divisor - within) / each))


def test_where_groups_do_not_differ_it_is_ordinary_least_squares_and_said_to_be_singular() -> None:
    # In each group the same residuals, 1 -1 -1 1, so nothing is left for the groups to explain.
    x = np.tile([0.0, 1.0, 2.0, 3.0], 5)
    table = pl.DataFrame({"y": 3 + 2 * x + np.tile([1.0, -1, -1, 1], 5), "x": x, "g": np.repeat(list("abcde"), 4)})
    found, plain = linear.fit("y ~ x + (1 | g)", table), linear.fit("y ~ x", table)
    assert found.singular
    assert found.converged
    assert found.messages == ("singular fit: no variance by g in (Intercept) (SD 0)",)
    assert found.groups[0].sd[0] == pytest.approx(0, abs=1e-6)
    assert found.loglik == pytest.approx(plain.loglik)
    assert plain.sigma == pytest.approx(1)  # root of the mean of 1 1 1 1
    assert [one.estimate for one in plain.coefficients] == pytest.approx([3, 2])
    # se of the slope: sigma / root of the sum of squares of x, 5 x 5
    assert plain.coefficient("x").se == pytest.approx(1 / 5)
    assert plain.loglik == pytest.approx(-20 / 2 * (1 + np.log(2 * np.pi)))
    assert (plain.k, plain.n, plain.groups) == (3, 20, ())


class TestLme4:
    """lme4 1.1-31 in R 4.2.2, ten digits; data and sources in data/regression/README.md."""

    @pytest.mark.parametrize(
        ("reml", "loglik", "batch", "error"),
        [(False, -163.6635299, 37.260345, 17.6945534), (True, -159.8271384, 42.000595, 19.3834122)],
    )
    def test_dyestuff(self, reml: bool, loglik: float, batch: float, error: float) -> None:
        found = linear.fit("Yield ~ 1 + (1 | Batch)", pl.read_csv(DATA / "dyestuff.csv"), reml=reml)
        assert found.loglik == pytest.approx(loglik, abs=1e-6)
        assert found.aic == pytest.approx(-2 * loglik + 2 * 3, abs=1e-5)
        assert found.groups[0].sd[0] == pytest.approx(batch, abs=1e-5)
        assert found.sigma == pytest.approx(49.5101, abs=1e-5)
        assert found.coefficients[0].estimate == pytest.approx(1527.5)
        assert found.coefficients[0].se == pytest.approx(error, abs=1e-5)

    # lme4's standard deviations are those where its search stopped, hence four digits.
    @pytest.mark.parametrize(
        ("reml", "likelihood", "sd", "correlation", "errors"),
        [
            (
                False,
                (-875.9696722, 1763.939344, 1783.097086),
                (23.7798, 5.7168, 25.5919),
                0.0813,
                (6.6321, 1.5022),
            ),
            (
                True,
                (-871.814136, 1755.628272, 1774.786013),
                (24.7407, 5.9221, 25.5918),
                0.0656,
                (6.8246, 1.5458),
            ),
        ],
    )
    def test_sleepstudy(
        self,
        reml: bool,
        likelihood: tuple[float, ...],
        sd: tuple[float, ...],
        correlation: float,
        errors: tuple[float, ...],
    ) -> None:
        found = linear.fit("Reaction ~ Days + (Days | Subject)", pl.read_csv(DATA / "sleepstudy.csv"), reml=reml)
        assert (found.loglik, found.aic, found.bic) == pytest.approx(likelihood, abs=1e-5)
        assert (*found.groups[0].sd, found.sigma) == pytest.approx(sd, rel=5e-5)
        assert found.groups[0].correlations[1, 0] == pytest.approx(correlation, abs=1e-4)
        assert [one.estimate for one in found.coefficients] == pytest.approx([251.40510485, 10.46728596])
        assert [one.se for one in found.coefficients] == pytest.approx(errors, rel=5e-5)

    def test_independent_slopes_and_the_test_of_their_correlation(self) -> None:
        table = pl.read_csv(DATA / "sleepstudy.csv")
        smaller, larger = (linear.fit(f"Reaction ~ Days + (Days {bar} Subject)", table) for bar in ("||", "|"))
        assert smaller.loglik == pytest.approx(-876.0016276, abs=1e-6)
        found = linear.compare(smaller, larger)
        assert (found.chi2, found.df) == (pytest.approx(2 * (876.0016276 - 875.9696722), abs=1e-5), 1)
        assert "bound" in found.remark


class TestHu2020:
    """The numbers of the authors' script, from their raw data."""

    @pytest.mark.slow
    def test_full_and_the_two_ablations(self, shared: Path) -> None:
        table = hu2020_scores(shared / "data" / "hu2020")
        assert len(table) == 1271
        fits = {name: linear.fit(f"performance ~ {SIX[name][0]}{SLOPES}", table) for name in list(SIX)[:3]}
        for name, found in fits.items():
            assert (found.aic, found.k) == (pytest.approx(SIX[name][2], abs=5e-5), SIX[name][1])
            assert found.converged
        full = fits["full"]
        assert (full.loglik, full.bic) == pytest.approx((323.9518, -440.6244), abs=5e-5)
        assert not full.singular
        estimates = [(one.name, round(one.estimate, 6), round(one.se, 6), round(one.t, 4)) for one in full.coefficients]
        assert estimates == [
            ("(Intercept)", 0.474348, 0.054815, 8.6536),
            ("log(numwords)", 0.037631, 0.010630, 3.5402),
            ("architecturengram", -0.316112, 0.071483, -4.4222),
            ("architectureordered-neurons", -0.051501, 0.066393, -0.7757),
            ("architecturernng", -0.001798, 0.062546, -0.0287),
            ("architecturevanilla", -0.195286, 0.055317, -3.5303),
        ]
        suite = full.group("suite")
        assert suite.sd == pytest.approx([0.18573, 0.02443, 0.23600, 0.25427, 0.23364, 0.17371], abs=6e-6)
        assert (full.group("instance").sd[0], full.sigma) == pytest.approx((0.08106, 0.15637), abs=6e-6)
        below = [-0.1157, -0.2062, -0.4847, 0.0825, 0.3546, -0.2279, 0.0311, 0.5133, -0.1606, 0.8711]
        below += [0.2308, -0.4184, 0.2228, 0.5751, 0.4892]
        assert suite.correlations[np.tril_indices(6, -1)] == pytest.approx(below, abs=6e-5)
        size, architecture = linear.compare(fits["no_size"], full), linear.compare(fits["no_architecture"], full)
        assert (size.chi2, size.df, size.remark) == (pytest.approx(11.198, abs=6e-4), 1, "")
        assert (architecture.chi2, architecture.df) == (pytest.approx(24.317, abs=6e-4), 4)
        assert (size.p, architecture.p) == pytest.approx((0.00082, 6.9e-5), rel=0.01)

    @pytest.mark.slow
    def test_all_six(self, shared: Path) -> None:
        table = hu2020_scores(shared / "data" / "hu2020")
        fits = {name: linear.fit(f"performance ~ {fixed}{SLOPES}", table) for name, (fixed, _, _) in SIX.items()}
        assert {name: (round(one.aic, 4), one.k) for name, one in fits.items()} == {
            name: (aic, k) for name, (_, k, aic) in SIX.items()
        }
        assert [name for name, one in fits.items() if one.singular] == list(SIX)[3:]
        # Where lme4 1.1-31 stops at 344.83: see docs/reference/regression.md.
        assert fits["circuit_no_architecture"].loglik >= 350.35
        sizes = linear.compare(fits["circuit_no_size"], fits["circuit_full"])
        architectures = linear.compare(fits["circuit_no_architecture"], fits["circuit_full"])
        assert (sizes.chi2, sizes.df) == (pytest.approx(29.636, abs=6e-4), 5)
        assert (architectures.chi2, architectures.df) == (pytest.approx(91.017, abs=6e-4), 20)
        full = fits["circuit_full"]
        assert full.coefficient("(Intercept)").estimate == pytest.approx(0.254130, abs=1e-6)
        licensing = full.coefficient("circuitLicensing:architecturernng")
        assert licensing.estimate == pytest.approx(-0.281040, abs=1e-6)

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("left_out", "aics"),
        [
            (["ngram"], (-937.97, -931.29, -927.71)),
            (["gpt-2"], (-582.16, -570.50, -568.28)),
            (["ngram", "gpt-2"], (-936.84, -931.25, -924.04)),
        ],
    )
    def test_without_some_architectures(self, shared: Path, left_out: list[str], aics: tuple[float, ...]) -> None:
        """Footnote 7 of the paper."""
        table = hu2020_scores(shared / "data" / "hu2020").filter(~pl.col("architecture").is_in(left_out))
        found = [linear.fit(f"performance ~ {SIX[name][0]}{SLOPES}", table).aic for name in list(SIX)[:3]]
        assert found == pytest.approx(aics, abs=0.006)


class TestWhatDoesNotMatter:
    def test_the_order_of_rows_and_the_units(self) -> None:
        table = random_table(2)
        found = linear.fit("y ~ x + (x | g) + (1 | h)", table)
        turned = table.sample(fraction=1.0, shuffle=True, seed=1).with_columns(x=pl.col("x") / 1000, y=pl.col("y") * 50)
        other = linear.fit("y ~ x + (x | g) + (1 | h)", turned)
        # A density in units 1/50 as large: log-likelihood less n log 50.
        assert other.loglik == pytest.approx(found.loglik - len(table) * np.log(50), abs=1e-6)
        assert other.coefficient("x").estimate == pytest.approx(found.coefficient("x").estimate * 50 * 1000)
        assert other.group("g").sd == pytest.approx(np.multiply(found.group("g").sd, (50, 50_000)), rel=1e-5)

    @pytest.mark.slow
    def test_the_seed_and_the_number_of_starts(self) -> None:
        table = random_table(4)
        fits = [linear.fit("y ~ x + (x + f | g) + (1 | h)", table, seed=seed, starts=seed + 1) for seed in range(4)]
        assert np.ptp([one.loglik for one in fits]) < 1e-8

    def test_the_reference_level_changes_names_not_the_likelihood(self) -> None:
        table = random_table(6)
        found, other = linear.fit("y ~ f + (1 | g)", table), linear.fit("y ~ f + (1 | g)", table, reference={"f": "f2"})
        assert [one.name for one in other.coefficients] == ["(Intercept)", "ff0", "ff1"]
        assert other.coefficient("ff0").estimate == pytest.approx(-found.coefficient("ff2").estimate)
        assert other.loglik == pytest.approx(found.loglik)


def test_the_table_of_a_fit() -> None:
    found = linear.fit("Reaction ~ Days + (Days | Subject)", pl.read_csv(DATA / "sleepstudy.csv"))
    table = found.table()
    assert table["part"].to_list() == ["fixed", "fixed", "sd", "sd", "correlation", "residual"]
    days = table.row(1, named=True)
    assert (days["low"] + days["high"]) / 2 == pytest.approx(days["estimate"])
    # One method for interval and p: Student's t with the degrees of freedom of the row.
    assert (days["high"] - days["low"]) / days["se"] == pytest.approx(2 * stats.t.ppf(0.975, days["df"]))
    assert days["p"] == pytest.approx(2 * stats.t.sf(days["t"], days["df"]))
    assert table["low"].is_null().to_list() == [False, False, True, True, True, True]
    assert table["term"].to_list()[4] == "(Intercept), Days"


def test_progress_counts_the_starts() -> None:
    told: list[tuple[int, int]] = []
    linear.fit("y ~ (1 | g)", random_table(0), starts=3, progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 3), (2, 3), (3, 3)]


class TestCompare:
    def test_refusals(self) -> None:
        table = random_table(1)
        small, large = linear.fit("y ~ x + (1 | g)", table), linear.fit("y ~ x + f + (x | g)", table)
        assert linear.compare(small, large).df == 4  # two contrasts, a variance and a covariance
        cases = [
            (large, small, "the smaller model first"),
            (small, linear.fit("y ~ f + x:f + (1 | h)", table), "random effects by g"),
            (linear.fit("y ~ h + (1 | g)", table), linear.fit("y ~ x * f + (x | g)", table), "can't express"),
            (small, linear.fit("y ~ x + f + (1 | g)", random_table(2)), "different responses"),
            (small, linear.fit("y ~ x + f + (1 | g)", table, reml=True), "ML and REML"),
            (
                linear.fit("y ~ x + (1 | g)", table, reml=True),
                linear.fit("y ~ x + f + (1 | g)", table, reml=True),
                "restricted",
            ),
        ]
        for smaller, larger, message in cases:
            with pytest.raises(UsageError, match=message):
                linear.compare(smaller, larger)

    def test_another_coding_of_the_same_effects_is_nested(self) -> None:
        table = random_table(1)
        small, large = linear.fit("y ~ (1 | g)", table), linear.fit("y ~ x + (0 + f | g)", table)
        assert linear.compare(small, large).df == 1 + 6 - 1

    def test_restricted_likelihoods_depend_on_units(self) -> None:
        # They hold log |X'X|: with x in thousandths the deviance is larger by 2 log(1000), which is no evidence of anything.
        table = random_table(1).with_columns(big=1000 * pl.col("x"), above=pl.col("x") + 5)
        small, big, above = (linear.fit(f"y ~ {x} + (1 | g)", table, reml=True) for x in ("x", "big", "above"))
        large = linear.fit("y ~ x + (1 | g) + (1 | h)", table, reml=True)
        assert big.deviance - small.deviance == pytest.approx(2 * np.log(1000), abs=1e-5)
        with pytest.raises(UsageError, match="fixed effects in different units"):
            linear.compare(big, large)
        # Another origin, and a factor's means in place of differences, leave the determinant as it is.
        assert linear.compare(above, large).chi2 == pytest.approx(linear.compare(small, large).chi2, abs=1e-5)
        means = linear.fit("y ~ 0 + f + (1 | g)", table, reml=True)
        assert linear.compare(means, linear.fit("y ~ f + (1 | g) + (1 | h)", table, reml=True)).df == 1

    def test_a_smaller_model_may_have_no_random_effects(self) -> None:
        table = random_table(1)
        none, line, groups = (linear.fit(f"y ~ {terms}", table) for terms in ("1", "x", "x + (1 | g)"))
        # -2 log-likelihood of least squares is n log RSS and a constant: the constant falls out of the difference.
        y, x = table["y"].to_numpy(), table["x"].to_numpy()
        ratio = ((y - y.mean()) ** 2).sum() / ((y - np.polyval(np.polyfit(x, y, 1), x)) ** 2).sum()
        found = linear.compare(none, line)
        assert (found.chi2, found.df, found.remark) == (pytest.approx(len(y) * np.log(ratio)), 1, "")
        found = linear.compare(line, groups)
        assert (found.chi2, found.df) == (pytest.approx(2 * (groups.loglik - line.loglik)), 1)
        assert "bound" in found.remark
        with pytest.raises(UsageError, match="random effects by g that the larger model lacks"):
            linear.compare(groups, linear.fit("y ~ x + f", table))
