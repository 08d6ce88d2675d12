"""The numerical error that is measured when a model is loaded, as it is recorded."""

import math


def round_up(value: float) -> float:
    """Round to one significant digit, upwards: what is measured anew on each load must not read as another number."""
    if not value > 0:
        return 0.0
    unit = 10.0 ** math.floor(math.log10(value))
    return float(f"{math.ceil(value / unit) * unit:.0e}")
