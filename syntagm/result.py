"""What comes out: a row per item and measure, and estimates over rows."""

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Result:
    """What one measure says of one item under one model.

    Arguments:
        value: 1.0 or 0.0 for a prediction that holds or not; nan where it is undefined.
        n: how many tokens the value rests on.
        margin: by how many bits the prediction holds (above 0) or fails; nan where it is undefined.
    """

    model: str
    suite: str
    item: str
    measure: str
    value: float
    n: int
    margin: float


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its interval.

    Arguments:
        group: what it is about, e.g. {"model": ..., "suite": ..., "measure": ...}.
        value, low, high: the estimate and the two ends of its interval, in the unit of the method.
        n: how many items it rests on.
        ties: how many of them were ties (counted as not holding).
        undefined: how many further items had no value and are left out of n.
        method: how the interval was made, with seed, e.g. "bootstrap(items, 10000, seed 1)".
    """

    group: Mapping[str, str]
    value: float
    low: float
    high: float
    n: int
    method: str
    ties: int = 0
    undefined: int = 0
