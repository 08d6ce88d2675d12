"""Logistic mixed-effects models of binary responses: `correct ~ log(size) + (1 | suite/item) + (1 | run)`.

Each item is one observation, whereas means of suites hide their number of items. The likelihood is approximated by
Laplace's method and maximised over covariances and coefficients together, as in lme4's `glmer`.
docs/reference/regression.md explains notation and method.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.stats.mixed import deviance, laplace
from syntagm.stats.mixed.design import Design, Numbers, design_of, nothing
from syntagm.stats.mixed.deviance import Progress
from syntagm.stats.mixed.fit import Fit, course, fixed_effects, group_effects, singularities
from syntagm.stats.mixed.formula import parse
from syntagm.stats.mixed.linear import FEW_GROUPS, fewest_groups

_FAR = 12.0  # log odds that suggest that there is no finite estimate
_WIDE = 8.0  # standard deviation in log odds above which Laplace's approximation is poor


def fit(
    formula: str,
    table: pl.DataFrame,
    *,
    trials: str = "",
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    starts: int = 2,
    seed: int = 1,
    progress: Progress | None = None,
) -> Fit:
    """Fit a logistic mixed-effects model; without random terms, a logistic regression.

    Arguments:
        formula: the model formula in lme4's notation; the response is 0 or 1, or true or false.
        table: a table with one row for each observation.
        trials: the column with the number of trials, if the response is the number of successes.
        reference, missing, dependent, starts, seed, progress: as in `linear.fit`.

    Raises:
        FormulaError: the formula can't be parsed; the message points to the place.
        InputError, UsageError: the data or the options don't allow a fit, for example because predictors separate
            successes from failures, so that no finite estimate exists.

    >>> table = pl.DataFrame({"correct": [1, 0, 1, 1, 0, 0, 0, 1], "kind": list("aaaabbbb")})
    >>> model = fit("correct ~ kind", table)
    >>> [round(coefficient.estimate, 4) for coefficient in model.coefficients]  # log(3/1), log(1/3) - log(3/1)
    [1.0986, -2.1972]
    """
    if starts < 1:
        raise UsageError("option starts", str(starts), "1 or more")
    design = designed(formula, table, trials=trials, reference=reference, missing=missing, dependent=dependent)
    found = fit_design(design, starts, seed, progress)
    if not found.groups or (fewest := fewest_groups(design)) >= FEW_GROUPS:
        return found
    # Of 12 groups, the test of a difference between them rejects in 9 of 100 cases (`benchmarks/coverage_models.py`).
    few = f"only {fewest} groups, so p may be too small and intervals too narrow"
    return replace(found, messages=(*found.messages, few))


def designed(
    formula: str,
    table: pl.DataFrame,
    *,
    trials: str = "",
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
) -> Design:
    """Apply a formula to a table, and check the response; for arguments and errors see `fit`."""
    model = parse(formula)
    design = design_of(
        model, table, reference=reference, missing=missing, dependent=dependent, trials=trials
    )  # fmt: skip
    _checked(design, trials)
    return design


def fit_design(design: Design, starts: int, seed: int, progress: Progress | None = None) -> Fit:
    """Fit a logistic model to a design that has been checked; the arguments are the same as for `fit`."""
    problem, objective, turn = _prepared(design)
    plain = _without_groups(design, problem.fixed)
    groupings, covariances = design.groupings, _covariances(design)

    def start(number: int) -> Numbers:
        return np.concatenate([deviance.starting_point(groupings, number, seed), plain])

    minimum = deviance.minimise(objective, start, starts if covariances else 1, progress)
    lower = deviance.triangles(minimum.place[:covariances], groupings)
    spherical = laplace.mode(problem, lower, minimum.place[covariances:]).effects
    modes = [effects @ factor.T for effects, factor in zip(spherical, lower, strict=True)]
    return _fit(design, minimum, lower, modes, turn)


def deviance_of(fit: Fit, response: Numbers) -> float:
    """Fit a model to another response of the same rows, from its own estimates, and return the deviance."""
    _, objective, _ = _prepared(replace(fit.design, response=response))
    return deviance.again(objective, fit.design.groupings, fit.place)


def _prepared(design: Design) -> tuple[laplace.Problem, deviance.Objective, Numbers]:
    """Return the problem, its deviance, and the matrix that turns orthogonal coefficients into those of the columns."""
    orthogonal, triangle = np.linalg.qr(design.fixed.values)
    root = np.sqrt(len(orthogonal))
    problem = laplace.problem(design.groupings, orthogonal * root, design.response, design.trials)
    groupings, covariances = design.groupings, _covariances(design)

    def objective(place: Numbers) -> tuple[float, Numbers]:
        lower = deviance.triangles(place[:covariances], groupings)
        value, slopes, others = laplace.deviance(problem, lower, place[covariances:])
        return value, np.concatenate([deviance.gathered(slopes, groupings), others])

    return problem, objective, np.linalg.inv(triangle) * root


def _covariances(design: Design) -> int:
    return sum(int(grouping.free.sum()) for grouping in design.groupings)


def _checked(design: Design, trials: str) -> None:
    place, response, counts = f"column {design.model.response.column}", design.response, design.trials
    _whole(f"column {trials}", counts, counts < 1, "whole numbers of trials, 1 or more")
    if trials:
        _whole(place, response, (response < 0) | (response > counts), f"whole numbers from 0 to {trials}")
    else:
        cure = 'For counts of successes, name the column of trials: trials="COLUMN".'
        _whole(place, response, (response < 0) | (response > 1), "0 or 1, or true and false", cure)
    if not response.any() or np.array_equal(response, counts):
        found = "every response is 0" if not response.any() else "every response is a success"
        raise InputError(place, found, "successes and failures")
    for grouping in design.groupings:
        if len(grouping.levels) == len(response) and not trials:
            raise InputError(
                design.model.text, f"one observation by {grouping.name}", "groups of several", "Remove the random term."
            )


def _whole(place: str, values: Numbers, outside: NDArray[np.bool_], expected: str, cure: str = "") -> None:
    wrong = outside | (values != np.round(values))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(f"{place}, row {row + 1}", f"{values[row]:g}", expected, cure)


def _without_groups(design: Design, fixed: Numbers) -> Numbers:
    """Fit the coefficients without random effects, as the starting point of the optimisation."""
    problem = laplace.problem((nothing(len(fixed)),), fixed, design.response, design.trials)
    lower = [np.empty((0, 0))]

    def objective(place: Numbers) -> tuple[float, Numbers]:
        value, _, slopes = laplace.deviance(problem, lower, place)
        return value, slopes

    minimum = deviance.minimise(objective, lambda number: np.zeros(fixed.shape[1]), 1, None)
    if fixed.shape[1] and np.abs(fixed @ minimum.place).max() > _FAR and (names := _separating(design)):
        raise InputError(
            design.model.text, f"successes and failures are separated by {', '.join(names)}", "overlapping values",
            "No finite estimate exists: remove such a term, or make it a random effect.",
        )  # fmt: skip
    return minimum.place


def _separating(design: Design) -> list[str]:
    """Find the fixed effects that have no finite estimate, by linear programming (Konis 2007)."""
    from scipy.optimize import linprog

    columns = design.fixed.values / np.abs(design.fixed.values).max(axis=0)
    any_success, any_failure = design.response > 0, design.response < design.trials
    rows = np.unique(np.concatenate([columns[any_success], -columns[any_failure]]), axis=0)
    solution = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs")
    if solution.status != 0 or -solution.fun < 1e-7:
        return []
    names = [name for name, weight in zip(design.fixed.names, solution.x, strict=True) if abs(weight) > 1e-7]
    return [name for name in names if name != "(Intercept)"] or names


def _fit(design: Design, minimum: deviance.Minimum, lower: list[Numbers], modes: list[Numbers], turn: Numbers) -> Fit:
    fixed = len(design.fixed.names)
    start = len(minimum.place) - fixed
    inverse = np.linalg.pinv(minimum.hessian / 2, rcond=1e-10, hermitian=True)
    covariance = turn @ inverse[start:, start:] @ turn.T
    converged, messages = course(minimum, start)
    singular = singularities(design.groupings, lower)
    groups = tuple(
        group_effects(grouping, factor, mode, 1.0)
        for grouping, factor, mode in zip(design.groupings, lower, modes, strict=True)
        if grouping.size
    )
    wide = [
        f"{effect} varies by {grouping.name} with an SD of {sd:.0f} log odds: most levels have successes or failures only, "
        "where Laplace's approximation is poor, so the estimates are not reliable"
        for grouping, factor in zip(design.groupings, lower, strict=True)
        for effect, sd in zip(grouping.effects, np.linalg.norm(factor, axis=1), strict=True)
        if sd > _WIDE
    ]
    return Fit(
        formula=design.model.text,
        method="Laplace",
        coefficients=fixed_effects(design.fixed.names, turn @ minimum.place[start:], covariance),
        covariance=covariance,
        loglik=-minimum.value / 2,
        k=len(minimum.place),
        n=len(design.response),
        sigma=float("nan"),
        groups=groups,
        singular=bool(singular),
        converged=converged,
        gradient=minimum.slope,
        reached=minimum.reached,
        messages=(*design.remarks, *singular, *wide, *messages),
        design=design,
        place=minimum.place,
    )
