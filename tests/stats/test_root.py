"""Brent's method, against SciPy's, bit by bit; and means and variances against NumPy's."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.optimize import brentq

from syntagm.stats.interval import mean_of, means_of, variances_of
from syntagm.stats.root import root

DRAW = np.random.default_rng(3)
FUNCTIONS: dict[str, Callable[[float, float], float]] = {
    "steep": lambda x, at: math.tanh(4 * (x - at)),
    "cubic": lambda x, at: (x - at) ** 3 + 0.5 * (x - at),
    "flat": lambda x, at: (x - at) ** 5,
    "exponential": lambda x, at: math.exp(x) - math.exp(at),
    "a cusp": lambda x, at: math.copysign(abs(x - at) ** 0.2, x - at),
    "a step": lambda x, at: 1.0 if x > at else -1.0,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_roots_are_those_of_scipy_bit_by_bit(name: str) -> None:
    for at, low, high in zip(DRAW.normal(size=50), DRAW.uniform(-20, -4, 50), DRAW.uniform(4, 20, 50), strict=True):
        ends = float(low), float(high)
        for close in (1e-9, 1e-3):

            def function(x: float, at: float = float(at)) -> float:
                return FUNCTIONS[name](x, at)

            values = function(ends[0]), function(ends[1])
            assert root(function, ends, values, close) == brentq(function, *ends, xtol=close)


def test_an_end_may_be_the_root_and_a_function_without_numbers_has_none() -> None:
    assert root(lambda x: x, (0.0, 2.0), (0.0, 2.0), 1e-9) == 0.0
    assert root(lambda x: x - 2, (0.0, 2.0), (-2.0, 0.0), 1e-9) == 2.0
    with pytest.raises(ValueError, match="the function is nan at 1"):
        root(lambda x: math.nan, (0.0, 2.0), (-1.0, 1.0), 1e-9)


@pytest.mark.filterwarnings("error")
def test_means_and_variances_are_those_of_numpy_bit_by_bit() -> None:
    samples = [DRAW.normal(size=size) for size in (1, 2, 7, 8, 9, 127, 129, 1000, 20_001)]
    samples += [(DRAW.random(size) < 0.3).astype(float) for size in (3, 400)]
    samples += [np.array([np.inf, 1.0]), np.array([np.inf, -np.inf, 2.0])]
    with np.errstate(invalid="ignore"):
        means = np.array([values.mean() for values in samples])
        variances = [float(values.var(ddof=1)) if len(values) > 1 else None for values in samples]
    assert means_of(samples).tobytes() == means.tobytes()
    assert np.array([mean_of(values) for values in samples]).tobytes() == means.tobytes()
    for found, expected in zip(variances_of(samples), variances, strict=True):
        assert found == expected or (found is not None and expected is not None and math.isnan(found + expected))
    assert np.isnan(means_of([np.empty(0)])).all()
