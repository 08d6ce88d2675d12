"""The search for the smallest deviance: several seeded starts by L-BFGS-B, and Newton's steps from the best.

A deviance of several covariances can have more than one minimum, so one start is never enough: if the best value was met only
once, further starts are made, and what each start reached is kept and told. The covariance factors are not bounded: the
deviance doesn't change with the sign of a factor's column, so it is smooth where a variance is 0, while a bound there would
stop the search on a saddle, where that column's derivatives all vanish. Saddles are recognised by negative curvature, and left.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from syntagm.stats.mixed.columns import Numbers
from syntagm.stats.mixed.design import Grouping

SAME = 1e-3
LARGEST = 1e4
_STEPS = 3000
_NEWTON = 8
_SADDLES = 3

Objective = Callable[[Numbers], tuple[float, Numbers]]
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True)
class Minimum:
    """Where the search ended.

    Arguments:
        place: the parameters.
        value: the smallest deviance.
        slope: the largest derivative there.
        reached: the deviance that each start ended at, in order.
        hessian: second derivatives at the place. Shape (parameters, parameters).
    """

    place: Numbers
    value: float
    slope: float
    reached: tuple[float, ...]
    hessian: Numbers


def minimise(objective: Objective, starts: Callable[[int], Numbers], count: int, progress: Progress | None) -> Minimum:
    """The smallest value of a smooth function.

    Arguments:
        objective: parameters -> value and gradient.
        starts: the place of start number 0, 1, ...
        count: how many starts; if more than one, up to as many again until the best is met twice.
        progress: told after each start how many are done of how many.
    """
    places, reached = [], list[float]()
    wanted = count if len(starts(0)) else 1
    while len(reached) < wanted:
        place, value = _settle(objective, starts(len(reached)))
        places.append(place)
        reached.append(value)
        met = sum(one < min(reached) + SAME for one in reached)
        if len(reached) == wanted and met == 1 and 1 < wanted < 2 * count:
            wanted += 1
        if progress:
            progress(len(reached), wanted)
    return _polish(objective, places[int(np.argmin(reached))], tuple(reached))


def _settle(objective: Objective, start: Numbers) -> tuple[Numbers, float]:
    """Downhill from a start; where the ground turns out to be a saddle, downhill again."""
    place, value = _descend(objective, start)
    for _ in range(_SADDLES if len(start) else 0):
        values, vectors = np.linalg.eigh(_hessian(objective, place))
        if values[0] >= -1e-4 * max(1.0, values[-1]):
            break
        place, value = _descend(objective, place + 0.1 * vectors[:, 0])
    return place, value


def _descend(objective: Objective, start: Numbers) -> tuple[Numbers, float]:
    from scipy.optimize import minimize

    if not len(start):
        return start, objective(start)[0]
    options = {"maxiter": _STEPS, "maxfun": 2 * _STEPS, "maxcor": 30, "ftol": 1e-12, "gtol": 1e-6}
    bounds = [(-LARGEST, LARGEST)] * len(start)
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
    return np.asarray(found.x, np.float64), float(found.fun)


def _polish(objective: Objective, place: Numbers, reached: tuple[float, ...]) -> Minimum:
    """Newton's steps, damped, as long as they lead downhill."""
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
    """By central differences of the gradient."""
    rows = []
    for number in range(len(place)):
        step = np.zeros(len(place))
        step[number] = 1e-5 * max(1.0, abs(place[number]))
        rows.append((objective(place + step)[1] - objective(place - step)[1]) / (2 * step[number]))
    found: Numbers = np.array(rows, np.float64).reshape(len(place), len(place))
    return np.asarray((found + found.T) / 2, np.float64)


def triangles(theta: Numbers, groupings: Sequence[Grouping]) -> list[Numbers]:
    """The covariance factors of the groupings, from their free entries in a row."""
    found, start = [], 0
    for one in groupings:
        lower = np.zeros(one.free.shape)
        end = start + int(one.free.sum())
        lower[one.free] = theta[start:end]
        found.append(lower)
        start = end
    return found


def gathered(lower: Sequence[Numbers], groupings: Sequence[Grouping]) -> Numbers:
    """The inverse of `triangles`."""
    return np.concatenate([np.empty(0), *(values[one.free] for values, one in zip(lower, groupings, strict=True))])


def start(groupings: Sequence[Grouping], number: int, seed: int) -> Numbers:
    """Where start number 0, 1, ... begins: the identity, then lower triangles of random size and correlations."""
    if number == 0:
        return gathered([np.eye(len(one.free)) for one in groupings], groupings)
    generator = np.random.Generator(np.random.PCG64([seed, number]))
    found = []
    for one in groupings:
        size = np.exp(generator.uniform(-2.0, 1.0, len(one.free)))
        lower = generator.normal(0.0, 0.5, one.free.shape)
        np.fill_diagonal(lower, 1.0)
        found.append(lower * size[:, None])
    return gathered(found, groupings)
