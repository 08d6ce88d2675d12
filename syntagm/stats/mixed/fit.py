"""A fitted mixed-effects model, and what is said about it."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from syntagm.errors import UsageError
from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Design, Grouping
from syntagm.stats.mixed.search import LARGEST, SAME, Minimum

_FLAT = 1e-4
_SLOPE = 1e-3
_Z = 1.959963984540054  # 97.5 % of a normal distribution


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fixed effect.

    Arguments:
        name: as in R: `(Intercept)`, `log(size)`, `familylstm`, `log(size):familylstm`.
        estimate: in units of the response a unit of the predictor; in a logistic model log odds, base e.
        se: its standard error.
        t: estimate / se; in a logistic model this is z.
    """

    name: str
    estimate: float
    se: float
    t: float


@dataclass(frozen=True, slots=True)
class Group:
    """How effects vary between the levels of a group.

    Arguments:
        name: the columns of the group, joined by colons.
        levels: the values that occur.
        effects: what varies, under R's names.
        sd: the standard deviation of each effect, in the unit of its coefficient.
        correlations: of the effects; nan where one doesn't vary at all. Shape (effects, effects).
        modes: the conditional mode of each effect in each level, its most probable deviation from the mean (BLUP). Shape
            (levels, effects).
    """

    name: str
    levels: tuple[str, ...]
    effects: tuple[str, ...]
    sd: tuple[float, ...]
    correlations: Numbers = field(repr=False)
    modes: Numbers = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model.

    Arguments:
        formula: as it was given.
        method: "ML", "REML" or "Laplace".
        coefficients: the fixed effects, in R's order.
        covariance: of the fixed effects' estimates.
        loglik, deviance: the logarithm of the likelihood, and -2 times it.
        k: how many parameters: fixed effects, variances and covariances, and the residual variance of a linear model.
        n: how many rows.
        sigma: the residual standard deviation; nan in a logistic model.
        groups: the random effects, the group with most of them first.
        singular: is a variance 0, or are effects linear combinations of others, to 1e-4 of the residual deviation?
        converged: is the gradient 0 and the curvature positive where the search ended?
        gradient: the largest derivative of the deviance there.
        reached: the deviance that each start ended at.
        messages: whatever a reader should know, in sentences.
        design: the columns, for comparisons.
    """

    formula: str
    method: str
    coefficients: tuple[Coefficient, ...]
    covariance: Numbers = field(repr=False)
    loglik: float
    k: int
    n: int
    sigma: float
    groups: tuple[Group, ...]
    singular: bool
    converged: bool
    gradient: float
    reached: tuple[float, ...]
    messages: tuple[str, ...]
    design: Design = field(repr=False)

    @property
    def deviance(self) -> float:
        """-2 log-likelihood; with REML, the restricted one."""
        return -2 * self.loglik

    @property
    def aic(self) -> float:
        """Deviance + 2k."""
        return self.deviance + 2 * self.k

    @property
    def bic(self) -> float:
        """Deviance + k log n."""
        return self.deviance + self.k * float(np.log(self.n))

    def coefficient(self, name: str) -> Coefficient:
        """A fixed effect by its name.

        Raises:
            UsageError: there is none of that name.
        """
        for one in self.coefficients:
            if one.name == name:
                return one
        raise UsageError(
            self.formula, f"no coefficient {name}", f"one of {', '.join(c.name for c in self.coefficients)}"
        )

    def group(self, name: str) -> Group:
        """The random effects of a group by its name.

        Raises:
            UsageError: there is none of that name.
        """
        for one in self.groups:
            if one.name == name:
                return one
        raise UsageError(self.formula, f"no group {name}", f"one of {', '.join(g.name for g in self.groups) or 'none'}")

    def table(self) -> pl.DataFrame:
        """The estimates, a row each: part, group, term, estimate, se, t, low, high.

        Part is `fixed`, `sd`, `correlation` or `residual`; low and high are estimate -/+ 1.96 se, of fixed effects only: the
        likelihood of a variance is too skewed for such an interval.
        """
        rows: list[tuple[object, ...]] = [
            ("fixed", "", one.name, one.estimate, one.se, one.t, one.estimate - _Z * one.se, one.estimate + _Z * one.se)
            for one in self.coefficients
        ]
        for group in self.groups:
            rows += [
                ("sd", group.name, name, sd) + (None,) * 4 for name, sd in zip(group.effects, group.sd, strict=True)
            ]
            rows += [
                ("correlation", group.name, f"{group.effects[j]}, {group.effects[i]}", float(group.correlations[i, j]))
                + (None,) * 4
                for i in range(len(group.effects))
                for j in range(i)
            ]
        if np.isfinite(self.sigma):
            rows.append(("residual", "", "", self.sigma) + (None,) * 4)
        texts, numbers = ("part", "group", "term"), ("estimate", "se", "t", "low", "high")
        schema: dict[str, type[pl.DataType]] = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64)}
        return pl.DataFrame(rows, schema=schema, orient="row")


def coefficients(names: Sequence[str], estimates: Numbers, covariance: Numbers) -> tuple[Coefficient, ...]:
    """Fixed effects with their standard errors."""
    errors = np.sqrt(np.diagonal(covariance))
    return tuple(
        Coefficient(name, float(one), float(se), float(one / se))
        for name, one, se in zip(names, estimates, errors, strict=True)
    )


def group(one: Grouping, lower: Numbers, modes: Numbers, sigma: float) -> Group:
    """Random effects in the unit of their coefficients.

    Arguments:
        lower: the covariance factor, in units of sigma and of the scaled columns.
        modes: in the unit of the scaled columns.
    """
    covariance = lower @ lower.T
    sd = np.sqrt(np.diagonal(covariance))
    moving = sd > _FLAT
    with np.errstate(all="ignore"):
        correlations = np.where(np.outer(moving, moving), covariance / np.outer(sd, sd), np.nan)
    np.fill_diagonal(correlations, 1.0)
    return Group(
        one.name, one.levels, one.effects, tuple((sigma * sd / one.scale).tolist()), correlations, modes / one.scale
    )


def singularities(groupings: Sequence[Grouping], lower: Sequence[Numbers]) -> list[str]:
    """What is degenerate in the covariances, in words."""
    found = []
    for one, factor in zip(groupings, lower, strict=True):
        still = [name for name, sd in zip(one.effects, np.linalg.norm(factor, axis=1), strict=True) if sd <= _FLAT]
        directions = int((np.linalg.svd(factor, compute_uv=False) > _FLAT).sum())
        if still:
            found.append(f"singular fit: nothing varies by {one.name} in {', '.join(still)} (SD 0)")
        elif directions < len(factor):
            what = f"the {len(factor)} effects by {one.name} vary in {directions} independent ways only"
            found.append(f"singular fit: {what}, so some are combinations of others")
    return found


def course(found: Minimum, covariances: int) -> tuple[bool, list[str]]:
    """Did the search converge, and what is to be said of it?

    Arguments:
        covariances: how many of the parameters are entries of covariance factors.
    """
    messages = []
    if np.abs(found.place[:covariances]).max(initial=0.0) > 0.99 * LARGEST:
        messages.append("not converged: a variance grows without end")
    if found.slope > _SLOPE:
        messages.append(f"not converged: the largest derivative of the deviance is {found.slope:.2g}")
    if len(found.hessian) and float(np.linalg.eigvalsh(found.hessian)[0]) < -1e-3 * max(
        1.0, np.abs(found.hessian).max()
    ):
        messages.append("not converged: the search ended on a saddle")
    converged = not messages
    if higher := [one - found.value for one in found.reached if one > found.value + SAME]:
        messages.append(
            f"{len(higher)} of {len(found.reached)} starts ended higher, by up to {max(higher):.3g} in deviance"
        )
    if len(found.reached) > 1 and len(higher) >= len(found.reached) - 1:
        messages.append("only one start reached the best deviance: ask for more starts")
    return converged, messages
