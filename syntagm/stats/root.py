"""The root of a function of one number (Brent 1973, chapter 4), without the second that SciPy's optimisers take to import."""

from collections.abc import Callable
from math import isnan

# The least relative precision, four times that of a double, and the most evaluations.
_RELATIVE, _MOST = 4 * 2.0**-52, 100


def root(
    function: Callable[[float], float], ends: tuple[float, float], values: tuple[float, float], close: float
) -> float:
    """Return where a continuous function passes 0 between two numbers; the same number as SciPy's `brentq`, bit by bit.

    Each step goes to where the line through two points, or the hyperbola through three, passes 0, if that is well inside of
    the bracket and the steps shrink fast enough; else the step is half of the bracket.

    Arguments:
        function: the function.
        ends: the numbers.
        values: of the function there, with opposite signs.
        close: the precision of the root; a relative one of 8.9e-16 is added.

    Raises:
        ValueError: the function is nan somewhere.
        RuntimeError: no root is found in 100 steps.

    >>> round(root(lambda x: x * x - 2, (0.0, 2.0), (-2.0, 2.0), 1e-9), 6)
    1.414214
    """
    # `best` is the newest point, `last` the one before, and `other` the other end of the bracket.
    (last, best), (at_last, at_best) = ends, values
    if at_last == 0 or at_best == 0:
        return last if at_last == 0 else best
    other = at_other = step = step_before = 0.0
    for _ in range(_MOST):
        if at_last != 0 and (at_last < 0) != (at_best < 0):
            other, at_other = last, at_last
            step_before = step = best - last
        if abs(at_other) < abs(at_best):
            last, best, other = best, other, best
            at_last, at_best, at_other = at_best, at_other, at_best
        precision = (close + _RELATIVE * abs(best)) / 2
        half = (other - best) / 2
        if at_best == 0 or abs(half) < precision:
            return best
        chosen = half
        if abs(step_before) > precision and abs(at_best) < abs(at_last):
            if last == other:
                tried = -at_best * (best - last) / (at_best - at_last)
            else:
                slope, slope_other = (at_last - at_best) / (last - best), (at_other - at_best) / (other - best)
                change = at_other * slope_other - at_last * slope
                tried = -at_best * change / (slope_other * slope * (at_other - at_last))
            if 2 * abs(tried) < min(abs(step_before), 3 * abs(half) - precision):
                chosen, step_before = tried, step
            else:
                step_before = half
        else:
            step_before = half
        step = chosen
        last, at_last = best, at_best
        best += step if abs(step) > precision else (precision if half > 0 else -precision)
        at_best = function(best)
        if isnan(at_best):
            raise ValueError(f"the function is nan at {best}")
    raise RuntimeError(f"no root within {_MOST} steps")
