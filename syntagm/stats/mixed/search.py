"""Minimisation of the deviance: several seeded starts with L-BFGS-B, then Newton steps from the best result.

A deviance with several covariances can have more than one minimum, so one start is not enough. If the best value is
reached only once, there are further starts; the value at the end of each start is recorded. The covariance factors have
no bound at 0. The deviance doesn't depend on the sign of a column of a factor, so it is smooth where a variance is 0,
whereas a bound there would end the search at a saddle point, where all derivatives for that column vanish. The search
recognises saddle points by their negative curvature, and leaves them.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.stats.mixed.design import Grouping, Numbers

SAME = 1e-3
LARGEST = 1e4
_STEPS = 3000
_NEWTON = 8
_SADDLES = 3
_ABOVE, _ROUGH = 0.1, 1e-9

Objective = Callable[[Numbers], tuple[float, Numbers]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Minimum:
    """The result of a minimisation."""

    place: Numbers  # the parameters at the minimum
    value: float  # the smallest deviance
    slope: float  # the largest absolute derivative at the minimum
    reached: tuple[float, ...]  # the final deviance from each starting point, in order
    hessian: Numbers  # the second derivatives at the minimum. Shape (parameters, parameters).


def minimise(objective: Objective, starts: Callable[[int], Numbers], count: int, progress: Progress | None) -> Minimum:
    """Minimise a smooth function."""
    places, reached = [], list[float]()
    wanted = count if len(starts(0)) else 1
    while len(reached) < wanted:
        place, value = _settle(objective, starts(len(reached)))
        places.append(place)
        reached.append(value)
        times_reached = sum(value < min(reached) + SAME for value in reached)
        if len(reached) == wanted and times_reached == 1 and 1 < wanted < 2 * count:
            wanted += 1
        if progress:
            progress(len(reached), wanted)
    return _polish(objective, places[int(np.argmin(reached))], tuple(reached))


def again(objective: Objective, groupings: Sequence[Grouping], place: Numbers) -> float:
    """Minimise a deviance from the parameters that fit another response, and return its lowest value."""
    # Variances begin above 0, where all derivatives for them vanish.
    start = place.copy()
    diagonal = np.flatnonzero(gathered([np.eye(len(grouping.free)) for grouping in groupings], groupings))
    start[diagonal] = np.where(np.abs(start[diagonal]) < _ABOVE, _ABOVE, start[diagonal])
    return _descend(objective, start, _ROUGH)[1]


def _settle(objective: Objective, start: Numbers) -> tuple[Numbers, float]:
    """Minimise from one start; if the result is a saddle point, continue along its negative curvature."""
    place, value = _descend(objective, start)
    for _ in range(_SADDLES if len(start) else 0):
        values, vectors = np.linalg.eigh(_hessian(objective, place))
        if values[0] >= -1e-4 * max(1.0, values[-1]):
            break
        place, value = _descend(objective, place + 0.1 * vectors[:, 0])
    return place, value


def _descend(objective: Objective, start: Numbers, tolerance: float = 1e-12) -> tuple[Numbers, float]:
    from scipy.optimize import minimize

    if not len(start):
        return start, objective(start)[0]
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "maxcor": 30, "ftol": tolerance, "gtol": 1e-6}
    bounds = [(-LARGEST, LARGEST)] * len(start)
    result = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(result.x, np.float64), float(result.fun)


def _polish(objective: Objective, place: Numbers, reached: tuple[float, ...]) -> Minimum:
    """Refine a minimum by damped Newton steps, as long as they decrease the value."""
    value, gradient = objective(place)
    hessian, damping = _hessian(objective, place), 1e-8
    for _ in range(_NEWTON):
        values, vectors = np.linalg.eigh(hessian)
        step = -vectors @ ((vectors.T @ gradient) / (np.abs(values) + damping + 1e-9 * np.abs(values).max(initial=0.0)))
        lower, slope = objective(place + step)
        if lower > value:
            damping = max(100 * damping, 1e-6)
            continue
        place, value, gradient, damping = place + step, lower, slope, damping / 10
        hessian = _hessian(objective, place)
        if np.abs(step).max(initial=0.0) < 1e-9:
            break
    return Minimum(place, value, float(np.abs(gradient).max(initial=0.0)), reached, hessian)


def _hessian(objective: Objective, place: Numbers) -> Numbers:
    """Compute the second derivatives by central differences of the gradient."""
    rows = []
    for number in range(len(place)):
        step = np.zeros(len(place))
        step[number] = 1e-5 * max(1.0, abs(place[number]))
        rows.append((objective(place + step)[1] - objective(place - step)[1]) / (2 * step[number]))
    hessian: Numbers = np.array(rows, np.float64).reshape(len(place), len(place))
    return np.asarray((hessian + hessian.T) / 2, np.float64)


def triangles(theta: Numbers, groupings: Sequence[Grouping]) -> list[Numbers]:
    """Build the covariance factors of the groupings from a vector of their free entries."""
    factors, start = [], 0
    for grouping in groupings:
        lower = np.zeros(grouping.free.shape)
        end = start + int(grouping.free.sum())
        lower[grouping.free] = theta[start:end]
        factors.append(lower)
        start = end
    return factors


def gathered(lower: Sequence[Numbers], groupings: Sequence[Grouping]) -> Numbers:
    """Collect the free entries of the covariance factors in a vector; the inverse of `triangles`."""
    return np.concatenate(
        [np.empty(0), *(values[grouping.free] for values, grouping in zip(lower, groupings, strict=True))]
    )


def starting_point(groupings: Sequence[Grouping], number: int, seed: int) -> Numbers:
    """Return a starting point: the identity for number 0, otherwise lower triangles with random sizes and correlations."""
    if number == 0:
        return gathered([np.eye(len(grouping.free)) for grouping in groupings], groupings)
    generator = np.random.Generator(np.random.PCG64([seed, number]))
    factors = []
    for grouping in groupings:
        size = np.exp(generator.uniform(-2.0, 1.0, len(grouping.free)))
        lower = generator.normal(0.0, 0.5, grouping.free.shape)
        np.fill_diagonal(lower, 1.0)
        factors.append(lower * size[:, None])
    return gathered(factors, groupings)
