"""Rounding of the numerical error measured when a model is loaded."""

import math


def round_up(value: float) -> float:
    """Round up to one significant digit, so that the measured value is the same each time a model is loaded."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit) * unit:.0e}")
