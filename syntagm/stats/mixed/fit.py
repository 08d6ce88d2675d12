"""Fitted mixed-effects models: estimates, and messages about convergence and singular fits."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from syntagm.core import UsageError
from syntagm.stats.interval import Spread, critical, p_value
from syntagm.stats.mixed import kenward_roger, satterthwaite
from syntagm.stats.mixed.design import Design, Grouping, Numbers
from syntagm.stats.mixed.deviance import LARGEST, SAME, Minimum

_FLAT = 1e-4
_SLOPE = 1e-3

By: TypeAlias = Literal["satterthwaite", "kenward-roger"]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A fixed effect."""

    name: str  # R's name of the effect: `(Intercept)`, `log(size)`, `familylstm`, `log(size):familylstm`
    estimate: float
    se: float  # the standard error
    t: float  # estimate / se, which is z in a logistic model


@dataclass(frozen=True, slots=True)
class Tested:
    """A fixed effect with its test and interval, which never disagree."""

    name: str  # `name`, `estimate`: as in `Coefficient`
    estimate: float
    se: float  # the standard error; by Kenward and Roger's method it is larger than that of the coefficient
    df: float  # the degrees of freedom; infinite in a logistic model, whose t is compared with a normal distribution
    t: float  # estimate / se
    p: float  # two-sided, of the hypothesis that the effect is 0
    low: float  # `low`, `high`: the 95% interval
    high: float


@dataclass(frozen=True, slots=True)
class Group:
    """The random effects of a group."""

    name: str  # the columns of the group, joined by colons
    levels: tuple[str, ...]  # the levels that occur
    effects: tuple[str, ...]  # the random effects, with R's names
    sd: tuple[float, ...]  # the standard deviation of each effect, in the unit of its coefficient
    # The correlations of the effects; nan if a standard deviation is 0. Shape (effects, effects).
    correlations: Numbers = field(repr=False)
    modes: Numbers = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Fit:
    """A fitted model."""

    formula: str  # the formula, as written by the user
    method: str  # "ML", "REML" or "Laplace"
    coefficients: tuple[Coefficient, ...]  # the fixed effects, in R's order
    covariance: Numbers = field(repr=False)  # the covariance of the estimates of the fixed effects
    loglik: float  # the log-likelihood
    k: int
    n: int  # the number of rows
    sigma: float  # the residual standard deviation; nan in a logistic model
    groups: tuple[Group, ...]  # the random effects, beginning with the group that has the most
    singular: bool
    converged: bool  # whether the gradient is 0 and the curvature positive at the end of the optimisation
    gradient: float  # the largest derivative of the deviance at the end of the optimisation
    reached: tuple[float, ...]  # the final deviance of each start
    messages: tuple[str, ...]  # sentences about dropped rows and columns, singular fit and convergence
    design: Design = field(repr=False)  # the design, for comparisons of models
    place: Numbers = field(repr=False)

    @property
    def deviance(self) -> float:
        """-2 log-likelihood; with REML, that of the restricted likelihood."""
        return -2 * self.loglik

    @property
    def aic(self) -> float:
        """Akaike's information criterion: deviance + 2k."""
        return self.deviance + 2 * self.k

    @property
    def bic(self) -> float:
        """The Bayesian information criterion: deviance + k log n."""
        return self.deviance + self.k * float(np.log(self.n))

    def coefficient(self, name: str) -> Coefficient:
        """Return a fixed effect by its name."""
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise UsageError(
            self.formula, f"no coefficient {name}", f"one of {', '.join(c.name for c in self.coefficients)}"
        )

    def group(self, name: str) -> Group:
        """Return the random effects of a group by its name."""
        for group in self.groups:
            if group.name == name:
                return group
        raise UsageError(self.formula, f"no group {name}", f"one of {', '.join(g.name for g in self.groups) or 'none'}")

    def tests(self, by: By = "satterthwaite") -> list[Tested]:
        """Test the fixed effects."""
        if by not in get_args(By):
            raise UsageError("by", repr(by), "one of " + ", ".join(get_args(By)))
        errors, degrees = np.sqrt(np.diagonal(self.covariance)), np.full(len(self.coefficients), np.inf)
        if by == "kenward-roger":
            adjusted = self.adjusted()
            errors = np.sqrt(np.diagonal(adjusted.covariance))
            degrees = np.array([adjusted.test(row[None])[1] for row in np.eye(len(degrees))])
        elif np.isfinite(self.sigma):
            degrees = satterthwaite.degrees(self.design, self.place, self.sigma, self.method == "REML")
        return [
            _tested(effect.name, effect.estimate, se, df)
            for effect, se, df in zip(self.coefficients, errors.tolist(), degrees.tolist(), strict=True)
        ]

    def adjusted(self) -> kenward_roger.Adjusted:
        """Compute Kenward and Roger's adjusted covariance of the fixed effects."""
        if self.method != "REML":
            expected = "a linear model, fitted by restricted likelihood"
            raise UsageError("kenward-roger", f"a fit by {self.method}", expected, "Fit with reml=True.")
        return kenward_roger.adjusted(self.design, self.place, self.sigma)

    def table(self, by: By = "satterthwaite") -> pl.DataFrame:
        """Return a table with one row for each estimate."""
        # The columns are part, group, term, estimate, se, df, t, p, low and high. `part` is `fixed`, `sd`,
        # `correlation` or `residual`. Only fixed effects have a test and an interval, because the likelihood of a
        # variance is too skewed for such an interval.
        empty = (None,) * 6
        rows: list[tuple[object, ...]] = [("fixed", "", *astuple(effect)) for effect in self.tests(by)]
        for group in self.groups:
            rows += [("sd", group.name, name, sd, *empty) for name, sd in zip(group.effects, group.sd, strict=True)]
            rows += [
                ("correlation", group.name, f"{group.effects[j]}, {group.effects[i]}", float(group.correlations[i, j]),
                 *empty)
                for i in range(len(group.effects))
                for j in range(i)
            ]  # fmt: skip
        if np.isfinite(self.sigma):
            rows.append(("residual", "", "", self.sigma, *empty))
        texts, numbers = ("part", "group", "term"), ("estimate", "se", "df", "t", "p", "low", "high")
        schema: dict[str, type[pl.DataType]] = {**dict.fromkeys(texts, pl.String), **dict.fromkeys(numbers, pl.Float64)}
        return pl.DataFrame(rows, schema=schema, orient="row")


def _tested(name: str, estimate: float, se: float, df: float) -> Tested:
    reach = critical(df) * se
    p = p_value(estimate, Spread(se**2, df, (("groups", 0),)))
    return Tested(name, estimate, se, df, estimate / se, p, estimate - reach, estimate + reach)


def fixed_effects(names: Sequence[str], estimates: Numbers, covariance: Numbers) -> tuple[Coefficient, ...]:
    """Compute the fixed effects with their standard errors."""
    errors = np.sqrt(np.diagonal(covariance))
    return tuple(
        Coefficient(name, float(estimate), float(se), float(estimate / se))
        for name, estimate, se in zip(names, estimates, errors, strict=True)
    )


def group_effects(grouping: Grouping, lower: Numbers, modes: Numbers, sigma: float) -> Group:
    """Convert random effects to the units of their coefficients."""
    covariance = lower @ lower.T
    sd = np.sqrt(np.diagonal(covariance))
    moving = sd > _FLAT
    with np.errstate(all="ignore"):
        correlations = np.where(np.outer(moving, moving), covariance / np.outer(sd, sd), np.nan)
    np.fill_diagonal(correlations, 1.0)
    return Group(
        grouping.name,
        grouping.levels,
        grouping.effects,
        tuple((sigma * sd / grouping.scale).tolist()),
        correlations,
        modes / grouping.scale,
    )


def singularities(groupings: Sequence[Grouping], lower: Sequence[Numbers]) -> list[str]:
    """Return a message for each grouping factor whose covariance matrix is singular."""
    messages = []
    for grouping, factor in zip(groupings, lower, strict=True):
        constant = [
            name for name, sd in zip(grouping.effects, np.linalg.norm(factor, axis=1), strict=True) if sd <= _FLAT
        ]
        directions = int((np.linalg.svd(factor, compute_uv=False) > _FLAT).sum())
        if constant:
            messages.append(f"singular fit: no variance by {grouping.name} in {', '.join(constant)} (SD 0)")
        elif directions < len(factor):
            what = f"the {len(factor)} effects by {grouping.name} vary in {directions} dimensions only"
            messages.append(f"singular fit: {what}, so some are linear combinations of others")
    return messages


def course(minimum: Minimum, covariances: int) -> tuple[bool, list[str]]:
    """Return whether the optimisation converged, and messages about it."""
    messages = []
    if np.abs(minimum.place[:covariances]).max(initial=0.0) > 0.99 * LARGEST:
        messages.append("not converged: a variance grows without bound")
    if minimum.slope > _SLOPE:
        messages.append(f"not converged: the largest derivative of the deviance is {minimum.slope:.2g}")
    if len(minimum.hessian) and float(np.linalg.eigvalsh(minimum.hessian)[0]) < -1e-3 * max(
        1.0, np.abs(minimum.hessian).max()
    ):
        messages.append("not converged: the optimisation ended at a saddle point")
    converged = not messages
    if higher := [value - minimum.value for value in minimum.reached if value > minimum.value + SAME]:
        messages.append(
            f"{len(higher)} of {len(minimum.reached)} starts ended at a higher deviance, by up to {max(higher):.3g}"
        )
    if len(minimum.reached) > 1 and len(higher) >= len(minimum.reached) - 1:
        messages.append("only one start reached the lowest deviance: use more starts")
    return converged, messages
