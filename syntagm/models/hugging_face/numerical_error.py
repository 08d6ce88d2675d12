"""Rounding of the numerical error that is measured when a model is loaded."""

import math


def round_up(value: float) -> float:
    """Round up to one significant digit, so that measurements on different loads give the same value."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit) * unit:.0e}")
