"""Logistic mixed-effects models: against the definition of Laplace's approximation, lme4's output, and closed forms."""

from math import erfc
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from numpy.typing import NDArray
from regression_for_tests import DATA, hu2020_items
from scipy.optimize import minimize
from scipy.stats import binom

from syntagm.core import UsageError
from syntagm.stats import Fit, linear, logistic


def crossed(seed: int = 3, rows: int = 300) -> pl.DataFrame:
    """Yes and no by a number, two crossed groups and one of four levels."""
    draw = np.random.default_rng(seed)
    g, h, k = draw.integers(0, 12, rows), draw.integers(0, 9, rows), draw.integers(0, 4, rows)
    x = draw.normal(size=rows)
    eta = 0.5 + x * (0.7 + draw.normal(size=12)[g]) + draw.normal(size=12)[g] + draw.normal(size=9)[h]
    trials = draw.integers(1, 4, rows)
    chance = 1 / (1 + np.exp(-eta - draw.normal(size=4)[k]))
    table = pl.DataFrame({"x": x, "g": g, "h": h, "k": k, "correct": draw.random(rows) < chance})
    return table.with_columns(trials=trials, hits=draw.binomial(trials, chance))


def by_definition(found: Fit, table: pl.DataFrame, trials: NDArray[np.float64], hits: NDArray[np.float64]) -> float:
    """log of the integral over b of p(hits | b) p(b), as a normal curve around the most probable b."""
    x = table["x"].to_numpy()
    columns = {"(Intercept)": np.ones(len(x)), "x": x}
    blocks, roots = [], []
    for group in found.groups:
        key = np.searchsorted(np.array(group.levels, int), table[group.name].to_numpy())
        between = np.outer(group.sd, group.sd) * np.nan_to_num(group.correlations)
        values, vectors = np.linalg.eigh(between)
        for level in range(len(group.levels)):
            blocks.append(np.column_stack([columns[name] * (key == level) for name in group.effects]))
            roots.append(vectors * np.sqrt(np.maximum(values, 0)))
    z = np.column_stack([block @ root for block, root in zip(blocks, roots, strict=True)])
    fixed = sum(one.estimate * columns[one.name] for one in found.coefficients)

    def cost(u: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        p = 1 / (1 + np.exp(-fixed - z @ u))
        return -binom.logpmf(hits, trials, p).sum() + u @ u / 2, z.T @ (trials * p - hits) + u

    best = minimize(cost, np.zeros(z.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-9})
    p = 1 / (1 + np.exp(-fixed - z @ best.x))
    hessian = z.T @ (z * (trials * p * (1 - p))[:, None]) + np.eye(z.shape[1])
    return float(-best.fun - np.linalg.slogdet(hessian)[1] / 2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Desired error not necessarily achieved")
@pytest.mark.parametrize("random", ["(1 | g)", "(x | g) + (1 | h)", "(x || g) + (x | h) + (1 | k)"])
@pytest.mark.parametrize("counts", [False, True])
def test_the_likelihood_is_laplaces(random: str, counts: bool) -> None:
    table = crossed()
    if counts:
        found = logistic.fit(f"hits ~ x + {random}", table, trials="trials")
        trials, hits = table["trials"].to_numpy().astype(float), table["hits"].to_numpy().astype(float)
    else:
        found = logistic.fit(f"correct ~ x + {random}", table)
        trials, hits = np.ones(len(table)), table["correct"].to_numpy().astype(float)
    if "||" in random:  # the definition below wants one entry a group
        assert [group.name for group in found.groups] == ["g", "h", "k"]
    assert found.loglik == pytest.approx(by_definition(found, table, trials, hits), abs=1e-6)
    assert found.converged
    assert found.gradient < 1e-5


def test_the_gradient_is_exact() -> None:
    from syntagm.stats import formula, logistic
    from syntagm.stats.mixed import deviance
    from syntagm.stats.mixed.design import design_of

    model = formula.parse("hits ~ x + (x | g) + (x | h) + (1 | k)")
    design = design_of(model, crossed(), trials="trials")
    given = logistic.laplace_problem(design.groupings, design.fixed.values, design.response, design.trials)

    def objective(place: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        lower = deviance.triangles(place[:7], design.groupings)
        value, slopes, others = logistic.laplace_deviance(given, lower, place[7:])
        return value, np.concatenate([deviance.gathered(slopes, design.groupings), others])

    place = np.concatenate([deviance.starting_point(design.groupings, 1, 2), [0.3, 0.5]])
    steps = 1e-5 * np.eye(9)
    numeric = [(objective(place + step)[0] - objective(place - step)[0]) / 2e-5 for step in steps]
    assert objective(place)[1] == pytest.approx(np.array(numeric), abs=1e-4)


class TestLme4:
    """glmer of lme4 1.1-31 in R 4.2.2 with tolPwrss=1e-10 and bobyqa's rhoend=1e-9; its defaults stop at logLik
    -92.02657. On items its defaults are precise enough."""

    def test_cbpp(self) -> None:
        table = pl.read_csv(DATA / "cbpp.csv", schema_overrides={"period": pl.String})
        found = logistic.fit("incidence ~ period + (1 | herd)", table, trials="size")
        assert found.loglik == pytest.approx(-92.02628187, abs=1e-6)
        assert found.groups[0].sd[0] == pytest.approx(0.642261445, abs=1e-6)
        estimates = [-1.3985321237, -0.9923327061, -1.1286720806, -1.5803138008]
        assert [one.estimate for one in found.coefficients] == pytest.approx(estimates, abs=1e-6)
        errors = [0.2324718516, 0.3066421912, 0.3266374686, 0.4274359816]
        assert [one.se for one in found.coefficients] == pytest.approx(errors, abs=1e-5)
        assert [one.name for one in found.coefficients] == ["(Intercept)", "period2", "period3", "period4"]
        # What R's documentation of glmer prints, to the digits of the default settings.
        assert [one.estimate for one in found.coefficients] == pytest.approx([-1.398, -0.992, -1.128, -1.580], abs=1e-3)
        assert (found.k, found.n) == (5, 56)
        assert found.groups[0].levels[:3] == ("1", "2", "3")

    @pytest.mark.slow
    def test_items_of_hu2020(self, shared: Path) -> None:
        items = hu2020_items(shared / "data" / "hu2020")
        found = logistic.fit("correct ~ log(numwords) + (1 | suite) + (1 | instance)", items, starts=1)
        assert found.n == 41 * 799
        assert found.converged
        assert found.loglik == pytest.approx(-16574.05288, abs=2e-4)
        sds = [found.group(name).sd[0] for name in ("instance", "suite")]
        assert sds == pytest.approx([0.794385, 1.545261], abs=2e-5)
        assert [one.estimate for one in found.coefficients] == pytest.approx([-0.76038, 0.18861], abs=1e-4)

    @pytest.mark.slow
    def test_items_of_hu2020_with_items_as_a_group(self, shared: Path) -> None:
        items = hu2020_items(shared / "data" / "hu2020")
        formula = "correct ~ log(numwords) + architecture + (1 | suite/item) + (1 | instance)"
        found = logistic.fit(formula, items)
        assert found.loglik == pytest.approx(-15979.55326, abs=2e-4)
        sds = [found.group(name).sd[0] for name in ("suite:item", "instance", "suite")]
        assert sds == pytest.approx([0.68432, 0.57406, 1.66700], abs=5e-5)
        assert found.coefficient("log(numwords)").estimate == pytest.approx(0.22136, abs=2e-5)


def test_without_random_effects_a_table_of_two_by_two() -> None:
    table = pl.DataFrame({"hits": [30, 10], "trials": [40, 50], "kind": ["a", "b"]})
    rows = pl.DataFrame({"hit": [1] * 30 + [0] * 10 + [1] * 10 + [0] * 40, "kind": ["a"] * 40 + ["b"] * 50})
    found = logistic.fit("hit ~ kind", rows)
    assert found.coefficient("(Intercept)").estimate == pytest.approx(np.log(30 / 10))
    assert found.coefficient("kindb").estimate == pytest.approx(np.log(10 / 40) - np.log(30 / 10))
    # The variance of a log odds ratio is the sum of the inverse counts.
    assert found.coefficient("kindb").se == pytest.approx(np.sqrt(1 / 30 + 1 / 10 + 1 / 10 + 1 / 40))
    assert found.loglik == pytest.approx(30 * np.log(0.75) + 10 * np.log(0.25) + 10 * np.log(0.2) + 40 * np.log(0.8))
    doubled = logistic.fit("hits ~ kind", pl.concat([table, table]), trials="trials")
    assert doubled.coefficient("kindb").estimate == pytest.approx(found.coefficient("kindb").estimate)


@pytest.mark.slow
def test_groups_that_do_not_differ_and_groups_that_differ_wholly() -> None:
    same = pl.DataFrame({"hit": [0, 1] * 20, "g": np.repeat(np.arange(5), 8)})
    found = logistic.fit("hit ~ (1 | g)", same)
    assert found.singular
    assert found.loglik == pytest.approx(40 * np.log(0.5))
    apart = pl.DataFrame({"hit": np.repeat([0, 1, 0, 1, 1, 0], 10), "g": np.repeat(np.arange(6), 10)})
    assert any("successes or failures only" in message for message in logistic.fit("hit ~ (1 | g)", apart).messages)


@pytest.mark.slow
def test_nested_models_are_compared_and_linear_ones_refused() -> None:

    table = crossed()
    smaller, larger = (logistic.fit(f"correct ~ {x} + (1 | g)", table) for x in ("1", "x"))
    found = linear.compare(smaller, larger)
    assert (found.df, found.chi2) == (1, pytest.approx(2 * (larger.loglik - smaller.loglik)))
    assert found.p == pytest.approx(erfc(np.sqrt(found.chi2 / 2)))  # chi2 of one degree is a normal deviate squared
    with pytest.raises(UsageError, match="Laplace and ML"):
        linear.compare(smaller, linear.fit("correct ~ x + (1 | g)", table))
    found = linear.compare(logistic.fit("correct ~ x", table), larger)  # without random effects
    assert (found.df, "bound" in found.remark) == (1, True)


@pytest.mark.slow
def test_few_groups_are_said() -> None:
    draw = np.random.default_rng(1)
    rows = [(f"g{k}", k % 2, int(draw.random() < 0.5 + 0.1 * (k % 3))) for k in range(24) for _ in range(12)]
    table = pl.DataFrame(rows, schema=["g", "x", "hit"], orient="row")
    few = table.filter(pl.col("g").is_in([f"g{k}" for k in range(12)]))
    [said] = [each for each in logistic.fit("hit ~ x + (1 | g)", few).messages if each.startswith("only 12 groups")]
    assert "few_groups" not in said  # which the command line shows, where no function of Python can be called
    assert not any("groups" in message for message in logistic.fit("hit ~ x + (1 | g)", table).messages)
    assert not any("groups" in message for message in logistic.fit("hit ~ x", few).messages)
