"""Regressions of reading times, asked for the density of held-out rows.

Each takes training rows, and gives the natural logarithm of the density of every other row. The residual variance is that of
the training rows, divided by their residual degrees of freedom.

| model | density of a held-out row |
|---|---|
| `ols` | normal, around the prediction of ordinary least squares |
| `loglinear` | log-normal: least squares of the logarithm, as density of the untransformed time |
| `mixed` | normal, around the prediction with random effects (restricted likelihood) |
| `smooth` | normal, around natural cubic splines of the added columns, whose smoothness restricted likelihood decides |

In a mixed model, a group that has training rows has its random effects; one that is new adds their variance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias, get_args

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.reading_times.observations import LINE, Observations
from syntagm.stats import Bar, Columns, Fit, Term, factor_levels, formula, group_index, linear, model_columns

Numbers = NDArray[np.float64]
KNOTS = 10
_NULL = 1e-9


@dataclass(frozen=True, slots=True)
class Basis:
    """The curved parts of a natural cubic spline."""

    # A spline is a line plus curved parts. Beyond the outer knots it is straight, so predictions for held-out rows stay
    # sensible. In this basis, the penalty on the curved parts is the sum of their squared coefficients.

    knots: Numbers  # the positions of the knots
    curvature: Numbers  # the second derivatives at the knots, from the values at them. Shape (knots, knots).
    parts: Numbers  # the values at the knots of each curved part. Shape (knots, knots - 2).

    def at(self, values: Numbers) -> Numbers:
        """Return the curved parts at some values. Shape (values, knots - 2)."""
        return _cardinal(self, values) @ self.parts


def basis(values: Numbers, name: str, count: int = KNOTS) -> Basis:
    """Make a basis with knots at quantiles of some values."""
    distinct = np.unique(values)
    if len(distinct) < 3:
        raise InputError(f"column {name}", f"{len(distinct)} distinct values", "at least 3 for a curve")
    knots = np.unique(np.quantile(distinct, np.linspace(0, 1, min(count, len(distinct)))))
    size = len(knots)
    gaps = np.diff(knots)
    differences, band = np.zeros((size - 2, size)), np.zeros((size - 2, size - 2))
    for row in range(size - 2):
        left, right = gaps[row], gaps[row + 1]
        differences[row, row : row + 3] = 1 / left, -1 / left - 1 / right, 1 / right
        band[row, row] = (left + right) / 3
        if row + 1 < size - 2:
            band[row, row + 1] = band[row + 1, row] = right / 6
    inner = np.linalg.solve(band, differences)
    penalty = differences.T @ inner
    sizes, vectors = np.linalg.eigh((penalty + penalty.T) / 2)
    curved = sizes > _NULL * sizes.max()
    curved[:2] = False
    parts = vectors[:, curved] / np.sqrt(sizes[curved])
    curvature = np.vstack([np.zeros(size), inner, np.zeros(size)])
    return Basis(knots, curvature, parts)


def _cardinal(spline: Basis, values: Numbers) -> Numbers:
    """Return the weights of the values at the knots in the value of the spline at each place. Shape (values, knots)."""
    knots = spline.knots
    size = len(knots)
    place = np.clip(np.searchsorted(knots, values, "right") - 1, 0, size - 2)
    gap = knots[place + 1] - knots[place]
    inside = np.clip(values, knots[0], knots[-1])
    left, right = (knots[place + 1] - inside) / gap, (inside - knots[place]) / gap
    rows = np.arange(len(values))
    weights = np.zeros((len(values), size))
    weights[rows, place] = left
    weights[rows, place + 1] += right
    bend_left, bend_right = (left**3 - left) * gap**2 / 6, (right**3 - right) * gap**2 / 6
    weights += bend_left[:, None] * spline.curvature[place] + bend_right[:, None] * spline.curvature[place + 1]
    for end, beyond in ((0, values < knots[0]), (size - 1, values > knots[-1])):
        if beyond.any():
            first = min(end, size - 2)
            width = knots[first + 1] - knots[first]
            slope = np.zeros(size)
            slope[first], slope[first + 1] = -1 / width, 1 / width
            # The slope of a cubic between two knots at its outer end, where the second derivative is 0.
            inner = spline.curvature[1] if end == 0 else spline.curvature[size - 2]
            slope = slope + (-1 if end == 0 else 1) * width / 6 * inner
            weights[beyond] += np.outer(values[beyond] - knots[end], slope)
    return weights


Name: TypeAlias = Literal["ols", "loglinear", "mixed", "smooth"]
NAMES: tuple[str, ...] = get_args(Name)
Truths = NDArray[np.bool_]
# Training rows -> the log densities of the other rows.
Densities: TypeAlias = Callable[[Truths], Numbers]

# A column is dropped, as by R's lm, if less of its length than this is not explained by the columns before it.
RANK = 1e-7
_LOG_2PI = float(np.log(2 * np.pi))


@dataclass(frozen=True, slots=True)
class Line:
    """A model that was fitted by least squares."""

    coefficients: Numbers  # of all columns; 0 for a column that the ones before it determine
    kept: Truths  # whether each column has a coefficient of its own
    variance: float  # the residual variance, with the residual degrees of freedom
    freedom: float  # the residual degrees of freedom


def least_squares(columns: Numbers, response: Numbers) -> Line:
    """Fit a line as R's `lm` does: columns that earlier ones determine are dropped."""
    kept = independent(columns)
    orthogonal, triangle = np.linalg.qr(columns[:, kept])
    coefficients = np.zeros(columns.shape[1])
    coefficients[kept] = np.linalg.solve(triangle, orthogonal.T @ response)
    residual = response - columns @ coefficients
    freedom = len(response) - int(kept.sum())
    if freedom < 1:
        raise InputError("regression", f"{int(kept.sum())} columns for {len(response)} rows", "more rows than columns")
    variance = float(residual @ residual) / freedom
    if not variance > 0:
        raise InputError("regression", "columns that explain the times exactly", "times with residual variance")
    return Line(coefficients, kept, variance, float(freedom))


def independent(columns: Numbers) -> Truths:
    """Return whether each column is linearly independent of those before it, within R's tolerance. Shape (columns,)."""
    lengths = np.linalg.norm(columns, axis=0)
    diagonal = np.abs(np.diagonal(np.linalg.qr(columns / np.where(lengths > 0, lengths, 1), mode="r")))
    if len(diagonal) == columns.shape[1] and (diagonal > RANK).all():
        return np.ones(columns.shape[1], np.bool_)
    kept = np.zeros(columns.shape[1], np.bool_)
    for place in range(columns.shape[1]):
        kept[place] = True
        chosen = columns[:, kept] / np.where(lengths[kept] > 0, lengths[kept], 1)
        last = np.abs(np.diagonal(np.linalg.qr(chosen, mode="r")))[-1] if kept.sum() <= len(columns) else 0.0
        kept[place] = last > RANK
    return kept


def normal(residual: Numbers, variance: float | Numbers) -> Numbers:
    """Return the logarithm of the normal density."""
    return np.asarray(-0.5 * (_LOG_2PI + np.log(variance) + residual**2 / variance), np.float64)


def densities(
    model: str, rows: Observations, added: str | None, random: Sequence[str] = (), messages: list[str] | None = None
) -> Densities:
    """Return a function from training rows to the log densities of the other rows."""
    if model not in NAMES:
        raise UsageError("--model", repr(model), "one of " + ", ".join(NAMES))
    if bool(random) != (model == "mixed"):
        cure = (
            "For example --random '(1 | participant)'." if model == "mixed" else "Omit --random, or give --model mixed."
        )
        found = "no random terms" if model == "mixed" else f"random terms with {model}"
        raise UsageError(f"--model {model}", found, "--random with --model mixed, and only there", cure)
    own = rows.added[added] if added is not None else ()
    match model:
        case "mixed":
            return _Mixed(rows, own, random, [] if messages is None else messages)
        case "smooth":
            return _Smooth(rows, own)
    return _Linear(rows, own, model == "loglinear")


class _Linear:
    """Least squares of the time, or of its logarithm."""

    def __init__(self, rows: Observations, added: Sequence[Term], logarithmic: bool) -> None:
        self.columns = rows.columns((*rows.baseline, *added)).values
        self.response, self.jacobian = rows.times, np.zeros(len(rows.times))
        if logarithmic:
            self.response = logarithms(rows)
            self.jacobian = -self.response

    def __call__(self, train: Truths) -> Numbers:
        line = least_squares(self.columns[train], self.response[train])
        residual = self.response[~train] - self.columns[~train] @ line.coefficients
        return normal(residual, line.variance) + self.jacobian[~train]


def logarithms(rows: Observations) -> Numbers:
    """Return the natural logarithms of the times. Shape (rows,)."""
    if (wrong := rows.times <= 0).any():
        line = rows.frame[LINE][int(np.argmax(wrong))]
        found = f"{int(wrong.sum()):,} times that are not above 0, first in line {line}"
        raise InputError(f"column {rows.response}", found, "positive times", "Exclude them, or use --model ols.")
    return np.log(rows.times)


@dataclass(frozen=True, slots=True)
class Curve:
    """A fitted smooth."""

    coefficients: Numbers  # of the straight columns, then of the curved ones
    variance: float  # the residual variance
    covariance: Numbers  # of the coefficients
    edf: tuple[float, ...]  # the effective degrees of freedom of each smooth, its straight part included
    penalties: tuple[float, ...]  # the penalty of each smooth


class _Smooth:
    """Least squares with penalised splines of the added columns."""

    def __init__(self, rows: Observations, added: Sequence[Term]) -> None:
        self.straight = rows.columns((*rows.baseline, *added)).values
        self.response = rows.times
        self.curved = smoothed(rows, added)

    def __call__(self, train: Truths) -> Numbers:
        bases = [basis(values[train], name) for name, values in self.curved.items()]
        blocks = [base.at(values) for base, values in zip(bases, self.curved.values(), strict=True)]
        columns = np.column_stack([self.straight, *blocks])
        curve = smooth(self.straight[train], [block[train] for block in blocks], self.response[train])
        return normal(self.response[~train] - columns[~train] @ curve.coefficients, curve.variance)


def smoothed(rows: Observations, added: Sequence[Term]) -> dict[str, Numbers]:
    """Return the values that are smoothed: name -> values."""
    found = {}
    for term in added:
        own = rows.columns([term])
        if len(term) > 1 or own.values.shape[1] != 2:
            raise UsageError(
                "--model smooth", ":".join(map(str, term)), "columns of numbers", "Put it into the baseline."
            )
        found[str(term[0])] = own.values[:, 1]
    return found


def smooth(straight: Numbers, curved: Sequence[Numbers], response: Numbers) -> Curve:
    """Fit straight columns and penalised curved ones; the penalties maximise the restricted likelihood (Wood 2011)."""
    from scipy.optimize import minimize

    kept = independent(straight)
    fixed = straight[:, kept]
    scales = [float(np.sqrt((block**2).sum() / len(block))) or 1.0 for block in curved]
    scaled = [block / scale for block, scale in zip(curved, scales, strict=True)]
    columns = np.column_stack([fixed, *scaled])
    # Orthogonal straight columns keep the products well conditioned.
    orthogonal, triangle = np.linalg.qr(fixed)
    columns[:, : fixed.shape[1]] = orthogonal
    products, sums, square = columns.T @ columns, columns.T @ response, float(response @ response)
    widths = [block.shape[1] for block in scaled]
    start, rows = fixed.shape[1], len(response)

    def penalised(logs: Numbers) -> Numbers:
        return np.concatenate([np.zeros(start), np.repeat(np.exp(logs), widths)]) if widths else np.zeros(start)

    def criterion(logs: Numbers) -> float:
        penalty = penalised(logs)
        lower = np.linalg.cholesky(products + np.diag(penalty))
        half = np.linalg.solve(lower, sums)
        rest = max(square - float(half @ half), 1e-12 * square)
        determinant = 2 * float(np.log(np.diagonal(lower)).sum()) - float(np.log(penalty[start:]).sum())
        return float(determinant + (rows - start) * np.log(rest))

    logs = np.zeros(len(widths))
    if widths:
        scale = np.log(rows)
        starts = [np.full(len(widths), scale + shift) for shift in (-4.0, 0.0, 4.0)]
        bounds = [(-10.0, 25.0)] * len(widths)
        best = min(
            (minimize(criterion, first, method="L-BFGS-B", bounds=bounds) for first in starts), key=lambda one: one.fun
        )
        logs = best.x
    whole = products + np.diag(penalised(logs))
    inverse = np.linalg.inv(whole)
    solution = inverse @ sums
    influence = np.diagonal(inverse @ products)
    residual = response - columns @ solution
    variance = float(residual @ residual) / (rows - float(influence.sum()))
    # Back to the columns as they were given.
    back = np.zeros((straight.shape[1] + sum(widths), len(solution)))
    place = np.flatnonzero(kept)
    back[place[:, None], np.arange(start)] = np.linalg.inv(triangle)
    stretch = np.repeat(1 / np.array(scales), widths) if widths else np.zeros(0)
    back[straight.shape[1] :, start:] = np.diag(stretch)
    ends = np.cumsum([start, *widths])
    edf = tuple(1 + float(influence[low:high].sum()) for low, high in pairwise(ends))
    return Curve(back @ solution, variance, variance * back @ inverse @ back.T, edf, tuple(np.exp(logs).tolist()))


class _Mixed:
    """A linear mixed-effects model by restricted likelihood."""

    def __init__(self, rows: Observations, added: Sequence[Term], random: Sequence[str], messages: list[str]) -> None:
        self.rows, self.messages = rows, messages
        self.text, _ = mixed_formula(rows, added, random_terms(random, rows.response))
        self.model = formula.parse(self.text)
        self.table = grouped(rows, self.model.bars)
        levels = factor_levels(self.model, self.table, {})
        self.fixed = model_columns(self.model.fixed, self.table, levels)
        self.random = [
            (bar, model_columns(bar.effects, self.table, levels), *group_index(self.table, bar.group))
            for bar in self.model.bars
        ]

    def __call__(self, train: Truths) -> Numbers:
        fit = linear.fit(self.text, self.table.filter(pl.Series(train)), reml=True, dependent="drop", starts=1)
        self.messages += [each for each in fit.messages if each.startswith(("singular", "not converged"))]
        test = ~train
        mean = np.zeros(int(test.sum()))
        estimates = {each.name: each.estimate for each in fit.coefficients}
        for name, column in zip(self.fixed.names, self.fixed.values.T, strict=True):
            mean += estimates.get(name, 0.0) * column[test]
        variance = np.full(len(mean), fit.sigma**2)
        for name in dict.fromkeys(":".join(bar.group) for bar, *_ in self.random):
            parts = [part for part in self.random if ":".join(part[0].group) == name]
            shift, spread = _of_group(fit, name, parts, test)
            mean, variance = mean + shift, variance + spread
        return normal(self.rows.times[test] - mean, variance)


def _of_group(
    fit: Fit, name: str, parts: Sequence[tuple[Bar, Columns, list[str], NDArray[np.int64]]], test: Truths
) -> tuple[Numbers, Numbers]:
    """Return what the random effects of a group add to the mean, and for groups that are new, to the variance."""
    group = next(each for each in fit.groups if each.name == name)
    effects = {effect: place for place, effect in enumerate(group.effects)}
    _, _, levels, index = parts[0]
    row_of = {level: place for place, level in enumerate(group.levels)}
    place = np.array([row_of.get(level, -1) for level in levels])[index[test]]
    columns = np.zeros((int(test.sum()), len(effects)))
    for _, own, *_ in parts:
        for effect, column in zip(own.names, own.values.T, strict=True):
            columns[:, effects[effect]] = column[test]
    known = place >= 0
    shift = np.where(known, (columns * group.modes[place]).sum(axis=1), 0.0)
    sd = np.array(group.sd)
    covariance = np.nan_to_num(group.correlations, nan=0.0) * np.outer(sd, sd)
    np.fill_diagonal(covariance, sd**2)
    spread = np.einsum("ij,jk,ik->i", columns, covariance, columns)
    return shift, np.where(known, 0.0, spread)


def random_terms(random: Sequence[str], response: str) -> tuple[Bar, ...]:
    """Parse random terms, such as `(1 + bits | participant)`."""
    model = formula.parse(f"`{response}` ~ 1 + " + " + ".join(random))
    if model.fixed.terms:
        raise UsageError("--random", " + ".join(random), "random terms, such as (1 | participant)")
    return model.bars


def mixed_formula(rows: Observations, added: Sequence[Term], bars: Sequence[Bar]) -> tuple[str, list[str]]:
    """Write the formula of the baseline and some added terms in lme4's notation, and list its random terms."""
    # Random slopes of columns that other models add are left out.
    absent = {variable for terms in rows.added.values() for term in terms for variable in term}
    absent -= {variable for term in added for variable in term}
    kept = []
    for bar in bars:
        slopes = [term for term in bar.effects.terms if not set(term) & absent]
        if slopes or bar.effects.intercept:
            inner = " + ".join([str(int(bar.effects.intercept)), *map(_written, slopes)])
            kept.append(f"({inner} | {':'.join(_quoted(name) for name in bar.group)})")
    return f"{_quoted(rows.response)} ~ " + " + ".join(["1", *map(_written, (*rows.baseline, *added)), *kept]), kept


def _written(term: Term) -> str:
    return ":".join(
        f"{variable.function}({_quoted(variable.column)})" if variable.function else _quoted(variable.column)
        for variable in term
    )


def _quoted(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else f"`{name}`"


def grouped(rows: Observations, bars: Sequence[Bar]) -> pl.DataFrame:
    """Return the rows with the columns that random effects group by, as text."""
    names = [*dict.fromkeys(name for bar in bars for name in bar.group)]
    columns = [
        pl.col(f"({name})" if f"({name})" in rows.frame.columns else name).cast(pl.String).alias(name) for name in names
    ]
    return rows.frame.with_columns(columns)


def grouping_columns(random: Sequence[str], response: str) -> list[str]:
    return [*dict.fromkeys(name for bar in random_terms(random, response) for name in bar.group)] if random else []
