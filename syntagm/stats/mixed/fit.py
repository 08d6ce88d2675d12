"""Fitted mixed-effects models: estimates, tests of fixed effects, and messages about convergence and singular fits."""

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from itertools import product
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl

from syntagm.core import InputError, UsageError
from syntagm.stats.interval import Spread, critical, p_value
from syntagm.stats.mixed import deviance
from syntagm.stats.mixed.design import Design, Grouping, Numbers
from syntagm.stats.mixed.deviance import LARGEST, SAME, Minimum

# Satterthwaite's degrees of freedom (1946), as computed by lmerTest: a coefficient divided by its standard error has
# about Student's t distribution with the degrees of freedom that fit the variance of its estimated variance
# (Kuznetsova, Brockhoff & Christensen 2017).
_STEP = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of the coefficients of a fit, and how far it is known."""

    values: Numbers  # shape (coefficients, coefficients)
    slopes: Numbers  # its derivatives by the covariance parameters. Shape (parameters, coefficients, coefficients).
    parameters: Numbers  # the covariance of these parameters. Shape (parameters, parameters).

    def degrees(self, contrasts: Numbers) -> Numbers:
        # For a sum with the variance f of the covariance parameters, they are 2 f**2 / (f' A f'), with the derivatives
        # f' of f and the covariance A of the parameters, twice the inverse of the second derivatives of the deviance.
        slopes = np.einsum("si,kij,sj->ks", contrasts, self.slopes, contrasts)
        variance = np.einsum("ik,ij,jk->k", slopes, self.parameters, slopes)
        with np.errstate(divide="ignore"):
            found: Numbers = 2 * np.einsum("si,ij,sj->s", contrasts, self.values, contrasts) ** 2 / variance
        return found


def coefficient_covariance(design: Design, place: Numbers, sigma: float, reml: bool) -> Covariance:
    problem = deviance.problem(design, reml)

    def at(where: Numbers) -> tuple[float, Numbers]:
        """Return deviance and covariance for covariance factors and the logarithm of sigma."""
        lower = deviance.triangles(where[:-1], design.groupings)
        solved = deviance.solution(problem, lower)
        profiled, ratio = deviance.deviance(problem, lower)[0], (solved.sigma / float(np.exp(where[-1]))) ** 2
        # The profiled deviance has sigma at its best; elsewhere it is larger by this.
        value = profiled + problem.degrees * (ratio - 1 - float(np.log(ratio)))
        return value, solved.covariance / ratio

    centre = np.append(place, np.log(sigma))
    steps = _STEP * np.maximum(1.0, np.abs(centre))
    slopes = np.array([(at(centre + step)[1] - at(centre - step)[1]) / (2 * step.sum()) for step in np.diag(steps)])
    inverse = np.linalg.pinv(_second(lambda where: at(where)[0], centre, steps), rcond=1e-8, hermitian=True)
    return Covariance(at(centre)[1], slopes, np.asarray(2 * inverse, np.float64))


def _second(of: Callable[[Numbers], float], place: Numbers, steps: Numbers) -> Numbers:
    """Compute second derivatives by central differences. Shape (parameters, parameters)."""
    moves, middle = np.diag(steps), of(place)
    second = np.empty((len(place), len(place)))
    for i, first in enumerate(moves):
        second[i, i] = (of(place + first) - 2 * middle + of(place - first)) / steps[i] ** 2
        for j, other in enumerate(moves[:i]):
            crossed = of(place + first + other) - of(place + first - other)
            crossed += of(place - first - other) - of(place - first + other)
            second[i, j] = second[j, i] = crossed / (4 * steps[i] * steps[j])
    return second


# The tests of Kenward and Roger: with few groups, the covariance Phi = (X'V^-1 X)^-1 of the coefficients is too
# small, because it takes the estimated covariance V of the responses for the true one. Kenward & Roger (1997) add
# what is missing and give the F statistic degrees of freedom; Halekoh & Højsgaard (2014) describe the computation of
# pbkrtest, which is followed here. V is linear in its parameters, the covariances of the random effects and the
# residual variance: V = sum_i s_i G_i. With
#
#     P_i = -X'V^-1 G_i V^-1 X,    Q_ij = X'V^-1 G_i V^-1 G_j V^-1 X,
#     (I_E)_ij = tr(V^-1 G_i V^-1 G_j) - 2 tr(Phi Q_ij) + tr(Phi P_i Phi P_j),    W = 2 I_E^-1,
#
# the covariance of the coefficients is Phi + 2 Phi (sum_ij W_ij (Q_ij - P_i Phi P_j)) Phi.
#
# Nothing of the size rows x rows is computed: all G_i but the last are Z E_i Z', the last is the identity, and powers
# of V^-1 follow from V^-1 = I - V^-1 Z S Z', where S is the covariance of the random effects. Units: the residual
# variance is 1 until the end.

# The products of all pairs of random effects have to fit into memory.
MAX_EFFECTS = 4000


@dataclass(frozen=True, slots=True)
class Adjusted:
    """The adjusted covariance of coefficients, and what their tests need."""

    covariance: Numbers  # of the coefficients, adjusted. Shape (fixed, fixed).
    plain: Numbers  # the same without adjustment, Phi
    slopes: Numbers  # P_i of each parameter of V. Shape (parameters, fixed, fixed).
    weights: Numbers  # W. Shape (parameters, parameters).

    def test(self, contrasts: Numbers) -> tuple[float, float]:
        """Return the factor of the F statistic and its denominator degrees of freedom (Kenward & Roger 1997, section 2)."""
        count = len(contrasts)
        theta = contrasts.T @ np.linalg.solve(contrasts @ self.plain @ contrasts.T, contrasts)
        turned = theta @ self.plain @ self.slopes @ self.plain
        traces = np.trace(turned, axis1=1, axis2=2)
        first = float(traces @ self.weights @ traces)
        second = float(np.einsum("ij,iab,jba->", self.weights, turned, turned, optimize=True))
        spread = (first + 6 * second) / (2 * count)
        bend = ((count + 1) * first - (count + 4) * second) / ((count + 2) * second)
        whole = 3 * count + 2 * (1 - bend)
        # Of single coefficients, both sides of the ratio can be 0; its limit is 1.
        top, bottom = 1 - second / count, 1 - (count - bend) / whole * spread
        ratio = 1.0 if abs(top) < 1e-10 > abs(bottom) else top / bottom
        rho = ratio**2 * (1 + bend / whole * spread) / (1 - (count + 2 - bend) / whole * spread) / count
        degrees = 4 + (count + 2) / (count * rho - 1)
        return (degrees * top / (degrees - 2) if abs(degrees - 2) > 1e-2 else 1.0), degrees


def kenward_roger(design: Design, place: Numbers, sigma: float) -> Adjusted:
    groupings = [grouping for grouping in design.groupings if grouping.size]
    random = sum(grouping.size for grouping in groupings)
    if random > MAX_EFFECTS:
        cure = 'Use Satterthwaite\'s degrees of freedom: by="satterthwaite".'
        raise InputError(
            design.model.text, f"{random} random effects", f"at most {MAX_EFFECTS} for Kenward-Roger", cure
        )
    lower = _block_diagonal(groupings, deviance.triangles(place, groupings))
    cross = _cross_products(design, groupings)
    half = lower.T @ cross[:random]
    half = np.linalg.solve(np.linalg.cholesky(half[:, :random] @ lower + np.eye(random)), half)
    # [Z X]'V^-k [Z X] for k = 1, 2 and 3, and the traces of V^-1 and V^-2.
    once = cross - half.T @ half
    through = once[:, :random] @ lower
    twice = once - through @ through.T
    thrice = twice - through @ (lower.T @ twice[:random])
    trace = len(design.response) - float(np.vdot(lower @ lower.T, once[:random, :random]))
    trace -= float(np.vdot(lower @ lower.T, twice[:random, :random]))

    plain = np.asarray(np.linalg.inv(once[random:, random:]), np.float64)
    parameters = _parameters(groupings)
    count, fixed = len(parameters) + 1, len(plain)
    moved = np.array([parameter.times(once[:random, random:]) for parameter in parameters])
    moved = moved.reshape(count - 1, random, fixed)
    slopes = np.empty((count, fixed, fixed))
    slopes[:-1] = -once[random:, :random] @ moved
    slopes[-1] = -twice[random:, random:]
    crossed = np.empty((count, count, fixed, fixed))
    crossed[:-1, :-1] = np.swapaxes(moved, 1, 2)[:, None] @ (once[:random, :random] @ moved)
    crossed[-1, :-1] = twice[random:, :random] @ moved
    crossed[:-1, -1] = np.swapaxes(crossed[-1, :-1], 1, 2)
    crossed[-1, -1] = thrice[random:, random:]
    turned = plain @ slopes
    information = _traces(parameters, groupings, once, twice, trace)
    information -= 2 * np.einsum("ab,ijba->ij", plain, crossed)
    information += np.einsum("iab,jba->ij", turned, turned, optimize=True)
    weights = 2 * np.asarray(np.linalg.pinv(information, rcond=1e-12, hermitian=True), np.float64)
    lacking = np.einsum("ij,ijab->ab", weights, crossed) - np.einsum(
        "ij,iab,jbc->ac", weights, slopes, turned, optimize=True
    )
    covariance = plain + plain @ (lacking + lacking.T) @ plain
    return Adjusted(sigma**2 * covariance, sigma**2 * plain, slopes / sigma**4, weights * sigma**4)


@dataclass(frozen=True, slots=True)
class _Parameter:
    """A variance or covariance of random effects, and its matrix E."""

    grouping: int  # the number of its grouping, whose random effects begin at `start`
    start: int
    shape: tuple[int, int]  # (levels, effects) of the grouping
    entries: tuple[tuple[int, int], ...]

    def times(self, values: Numbers) -> Numbers:
        """Multiply E by a matrix. Shape (random, columns)."""
        span = slice(self.start, self.start + self.shape[0] * self.shape[1])
        result, part = np.zeros_like(values), values[span].reshape(*self.shape, values.shape[1])
        moved = np.zeros_like(part)
        for row, column in self.entries:
            moved[:, row] = part[:, column]
        result[span] = moved.reshape(values[span].shape)
        return result


def _parameters(groupings: Sequence[Grouping]) -> list[_Parameter]:
    found, start = [], 0
    for number, grouping in enumerate(groupings):
        for row, column in np.argwhere(grouping.free).tolist():
            entries = ((row, column),) if row == column else ((row, column), (column, row))
            found.append(_Parameter(number, start, (len(grouping.levels), len(grouping.effects)), entries))
        start += grouping.size
    return found


def _traces(
    parameters: Sequence[_Parameter], groupings: Sequence[Grouping], once: Numbers, twice: Numbers, trace: float
) -> Numbers:
    """Return tr(V^-1 G_i V^-1 G_j) of all parameters, of which the last is the residual variance."""
    pairs = {}
    starts = np.cumsum([0, *(grouping.size for grouping in groupings)]).tolist()
    for i, j in product(range(len(groupings)), repeat=2):
        left, right = groupings[i], groupings[j]
        block = once[starts[i] : starts[i + 1], starts[j] : starts[j + 1]]
        block = block.reshape(len(left.levels), len(left.effects), len(right.levels), len(right.effects))
        pairs[i, j] = np.einsum("lamc,lbmd->abcd", block, block, optimize=True)
    traces = np.empty((len(parameters) + 1, len(parameters) + 1))
    for i, first in enumerate(parameters):
        for j, second in enumerate(parameters):
            pair = pairs[first.grouping, second.grouping]
            both = product(first.entries, second.entries)
            traces[i, j] = sum(pair[row, column, end, begin] for (row, column), (begin, end) in both)
        span = slice(first.start, first.start + first.shape[0] * first.shape[1])
        own = np.diagonal(twice[span, span].reshape(*first.shape, *first.shape), axis1=0, axis2=2)
        traces[i, -1] = traces[-1, i] = sum(float(own[row, column].sum()) for row, column in first.entries)
    traces[-1, -1] = trace
    return traces


def _cross_products(design: Design, groupings: Sequence[Grouping]) -> Numbers:
    """Compute [Z X]'[Z X]. Shape (random + fixed, random + fixed)."""
    products = deviance.cross_products(design.groupings, design.fixed.values)
    within = _block_diagonal(groupings[:1], [products.within] if groupings else [])
    across = products.across.reshape(len(within), len(products.rest))
    return np.asarray(np.block([[within, across], [across.T, products.rest]]), np.float64)


def _block_diagonal(groupings: Sequence[Grouping], blocks: Sequence[Numbers]) -> Numbers:
    """Put blocks on the diagonal: one for each level of a grouping, or the same for all its levels."""
    total = sum(grouping.size for grouping in groupings)
    result, start = np.zeros((total, total)), 0
    for grouping, block in zip(groupings, blocks, strict=True):
        levels, effects = np.arange(len(grouping.levels)), len(grouping.effects)
        part = np.zeros((len(levels), effects, len(levels), effects))
        part[levels, :, levels] = block
        span = slice(start, start + grouping.size)
        result[span, span] = part.reshape(grouping.size, grouping.size)
        start += grouping.size
    return result


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
        return self.deviance + 2 * self.k

    @property
    def bic(self) -> float:
        return self.deviance + self.k * float(np.log(self.n))

    def coefficient(self, name: str) -> Coefficient:
        for coefficient in self.coefficients:
            if coefficient.name == name:
                return coefficient
        raise UsageError(
            self.formula, f"no coefficient {name}", f"one of {', '.join(c.name for c in self.coefficients)}"
        )

    def group(self, name: str) -> Group:
        for group in self.groups:
            if group.name == name:
                return group
        raise UsageError(self.formula, f"no group {name}", f"one of {', '.join(g.name for g in self.groups) or 'none'}")

    def tests(self, by: By = "satterthwaite") -> list[Tested]:
        if by not in get_args(By):
            raise UsageError("by", repr(by), "one of " + ", ".join(get_args(By)))
        errors, degrees = np.sqrt(np.diagonal(self.covariance)), np.full(len(self.coefficients), np.inf)
        if by == "kenward-roger":
            adjusted = self.adjusted()
            errors = np.sqrt(np.diagonal(adjusted.covariance))
            degrees = np.array([adjusted.test(row[None])[1] for row in np.eye(len(degrees))])
        elif np.isfinite(self.sigma):
            covariance = coefficient_covariance(self.design, self.place, self.sigma, self.method == "REML")
            degrees = covariance.degrees(np.eye(len(degrees)))
        return [
            _tested(effect.name, effect.estimate, se, df)
            for effect, se, df in zip(self.coefficients, errors.tolist(), degrees.tolist(), strict=True)
        ]

    def adjusted(self) -> Adjusted:
        if self.method != "REML":
            expected = "a linear model, fitted by restricted likelihood"
            raise UsageError("kenward-roger", f"a fit by {self.method}", expected, "Fit with reml=True.")
        return kenward_roger(self.design, self.place, self.sigma)

    def table(self, by: By = "satterthwaite") -> pl.DataFrame:
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
