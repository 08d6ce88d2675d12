"""Satterthwaite's degrees of freedom of the fixed effects of linear mixed models (1946), as computed by lmerTest.

A coefficient divided by its standard error has about Student's t distribution with the degrees of freedom that fit the
variance of its estimated variance (Kuznetsova, Brockhoff & Christensen 2017).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from syntagm.stats.mixed import deviance
from syntagm.stats.mixed.design import Design, Numbers

_STEP = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Covariance:
    """The covariance of the coefficients of a fit, and how far it is known."""

    values: Numbers  # shape (coefficients, coefficients)
    slopes: Numbers  # its derivatives by the covariance parameters. Shape (parameters, coefficients, coefficients).
    parameters: Numbers  # the covariance of these parameters. Shape (parameters, parameters).

    def degrees(self, contrasts: Numbers) -> Numbers:
        """Return the degrees of freedom of sums of coefficients."""
        # For a sum with the variance f of the covariance parameters, they are 2 f**2 / (f' A f'), with the derivatives
        # f' of f and the covariance A of the parameters, twice the inverse of the second derivatives of the deviance.
        slopes = np.einsum("si,kij,sj->ks", contrasts, self.slopes, contrasts)
        variance = np.einsum("ik,ij,jk->k", slopes, self.parameters, slopes)
        with np.errstate(divide="ignore"):
            found: Numbers = 2 * np.einsum("si,ij,sj->s", contrasts, self.values, contrasts) ** 2 / variance
        return found


def degrees(design: Design, place: Numbers, sigma: float, reml: bool) -> Numbers:
    """Return the degrees of freedom of each coefficient; for the arguments see `covariance`."""
    found = covariance(design, place, sigma, reml)
    return found.degrees(np.eye(len(found.values)))


def covariance(design: Design, place: Numbers, sigma: float, reml: bool) -> Covariance:
    """Return the covariance of the coefficients of a fit."""
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
