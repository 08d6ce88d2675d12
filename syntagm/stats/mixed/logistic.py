"""Logistic mixed-effects models of yes and no: `correct ~ log(size) + (1 | suite/item) + (1 | run)`.

The means of suites hide how many items they rest on; here each item is an observation. The likelihood is Laplace's
approximation, as in lme4's `glmer`, over covariances and coefficients together.
docs/reference/regression.md has notation and method.
"""

from collections.abc import Mapping

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import InputError, UsageError
from syntagm.stats.mixed import design as _lmm_design
from syntagm.stats.mixed import fit as _lmm_fit
from syntagm.stats.mixed import formula as _lmm_formula
from syntagm.stats.mixed import laplace, search
from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Design
from syntagm.stats.mixed.fit import Fit
from syntagm.stats.mixed.search import Progress

__all__ = ["Fit", "fit"]

_FAR = 12.0  # log odds that suggest that there is no finite estimate
_WIDE = 8.0


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
        formula: in lme4's notation; the response is 0 or 1, or true or false.
        table: a row an observation.
        trials: the column with the number of trials, if the response is the number of successes among them.
        reference, missing, dependent, starts, seed, progress: as in `regression.fit`.

    Raises:
        FormulaError: with a caret under the place.
        InputError, UsageError: what the data or the options don't allow, by name; among it predictors that separate
            successes from failures, for which no finite estimate exists.

    >>> table = pl.DataFrame({"correct": [1, 0, 1, 1, 0, 0, 0, 1], "kind": list("aaaabbbb")})
    >>> found = fit("correct ~ kind", table)
    >>> [round(one.estimate, 4) for one in found.coefficients]  # log(3/1), log(1/3) - log(3/1)
    [1.0986, -2.1972]
    """
    if starts < 1:
        raise UsageError("option starts", str(starts), "1 or more")
    model = _lmm_formula.parse(formula)
    design = _lmm_design.design(
        model, table, reference=reference, missing=missing, dependent=dependent, trials=trials
    )  # fmt: skip
    _checked(design, trials)
    orthogonal, triangle = np.linalg.qr(design.fixed.values)
    root = np.sqrt(len(orthogonal))
    given = laplace.problem(design.groupings, orthogonal * root, design.response, design.trials)
    plain = _without_groups(design, orthogonal * root)
    groupings = design.groupings
    covariances = sum(int(one.free.sum()) for one in groupings)

    def objective(place: Numbers) -> tuple[float, Numbers]:
        lower = search.triangles(place[:covariances], groupings)
        value, slopes, others = laplace.deviance(given, lower, place[covariances:])
        return value, np.concatenate([search.gathered(slopes, groupings), others])

    def start(number: int) -> Numbers:
        return np.concatenate([search.start(groupings, number, seed), plain])

    found = search.minimise(objective, start, starts if covariances else 1, progress)
    lower = search.triangles(found.place[:covariances], groupings)
    modes = [
        effects @ one.T
        for effects, one in zip(laplace.mode(given, lower, found.place[covariances:]).effects, lower, strict=True)
    ]
    return _fit(design, found, lower, modes, np.linalg.inv(triangle) * root)


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
        raise InputError(place, found, "both kinds", "There is nothing to explain.")
    for one in design.groupings:
        if len(one.levels) == len(response) and not trials:
            raise InputError(design.model.text, f"one observation by {one.name}", "groups of several", "Leave it out.")


def _whole(place: str, values: Numbers, outside: NDArray[np.bool_], expected: str, cure: str = "") -> None:
    odd = outside | (values != np.round(values))
    if odd.any():
        row = int(np.argmax(odd))
        raise InputError(f"{place}, row {row + 1}", f"{values[row]:g}", expected, cure)


def _without_groups(design: Design, fixed: Numbers) -> Numbers:
    """The coefficients without random effects, where the search begins.

    Raises:
        InputError: some predictors separate successes from failures.
    """
    given = laplace.problem((_lmm_design.nothing(len(fixed)),), fixed, design.response, design.trials)
    lower = [np.empty((0, 0))]

    def objective(place: Numbers) -> tuple[float, Numbers]:
        value, _, slopes = laplace.deviance(given, lower, place)
        return value, slopes

    found = search.minimise(objective, lambda number: np.zeros(fixed.shape[1]), 1, None)
    if fixed.shape[1] and np.abs(fixed @ found.place).max() > _FAR and (names := _separating(design)):
        raise InputError(
            design.model.text, f"successes and failures are separated by {', '.join(names)}", "both kinds on both sides",
            "No finite estimate exists: leave such a term out, or let it vary at random.",
        )  # fmt: skip
    return found.place


def _separating(design: Design) -> list[str]:
    """Which fixed effects have no finite estimate, by linear programming (Konis 2007)."""
    from scipy.optimize import linprog

    columns = design.fixed.values / np.abs(design.fixed.values).max(axis=0)
    some, all_ = design.response > 0, design.response >= design.trials
    rows = np.unique(np.concatenate([columns[some], -columns[~all_]]), axis=0)
    found = linprog(-rows.sum(axis=0), A_ub=-rows, b_ub=np.zeros(len(rows)), bounds=(-1, 1), method="highs")
    if found.status != 0 or -found.fun < 1e-7:
        return []
    names = [name for name, one in zip(design.fixed.names, found.x, strict=True) if abs(one) > 1e-7]
    return [name for name in names if name != "(Intercept)"] or names


def _fit(design: Design, found: search.Minimum, lower: list[Numbers], modes: list[Numbers], turn: Numbers) -> Fit:
    fixed = len(design.fixed.names)
    start = len(found.place) - fixed
    inverse = np.linalg.pinv(found.hessian / 2, rcond=1e-10, hermitian=True)
    covariance = turn @ inverse[start:, start:] @ turn.T
    converged, told = _lmm_fit.course(found, start)
    singular = _lmm_fit.singularities(design.groupings, lower)
    groups = tuple(
        _lmm_fit.group(one, factor, mode, 1.0)
        for one, factor, mode in zip(design.groupings, lower, modes, strict=True)
        if one.size
    )
    wide = [
        f"{effect} varies by {one.name} by {swing:.0f} log odds (SD): most levels have one answer only, Laplace's "
        "approximation is poor there, and the estimates are not to be trusted"
        for one, factor in zip(design.groupings, lower, strict=True)
        for effect, swing in zip(one.effects, np.linalg.norm(factor, axis=1), strict=True)
        if swing > _WIDE
    ]
    return Fit(
        formula=design.model.text,
        method="Laplace",
        coefficients=_lmm_fit.coefficients(design.fixed.names, turn @ found.place[start:], covariance),
        covariance=covariance,
        loglik=-found.value / 2,
        k=len(found.place),
        n=len(design.response),
        sigma=float("nan"),
        groups=groups,
        singular=bool(singular),
        converged=converged,
        gradient=found.slope,
        reached=found.reached,
        messages=(*design.remarks, *singular, *wide, *told),
        design=design,
    )
