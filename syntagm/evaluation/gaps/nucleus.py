"""Nucleus cut-offs: the probability mass, from the top or the bottom of a distribution, that a measure considers."""

import math
import re
from dataclasses import dataclass
from typing import Literal

from syntagm.core import UsageError

Eligible = Literal["all", "single-token"]
ELIGIBLE: tuple[Eligible, ...] = ("all", "single-token")
# The cut-offs of Newman et al. 2021. 1 would be no cut-off.
PUBLISHED_TOP = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97)
PUBLISHED_BOTTOM = (0.5, 0.1, 0.01, 0.001, 1e-4, 1e-5, 1e-6)
_MEASURE = re.compile(r"(?P<name>[a-z_]+)(\((?P<end>top|bottom)=(?P<share>[-+.0-9e]+)\))?")


@dataclass(frozen=True, slots=True)
class Cut:
    """A nucleus (top-p) cut-off, or its counterpart at the bottom of the distribution.

    Arguments:
        top: the probability mass of the likeliest entries; 1 is the whole distribution.
        bottom: the probability mass of the least likely entries; 1 is the whole distribution.

    Raises:
        UsageError: a probability mass is not above 0 and at most 1, or both ends have a cut-off.

    >>> str(Cut()), str(Cut(top=0.9)), str(Cut(bottom=1e-5))
    ('', '(top=0.9)', '(bottom=1e-05)')
    """

    top: float = 1.0
    bottom: float = 1.0

    def __post_init__(self) -> None:
        for name, share in (("top", self.top), ("bottom", self.bottom)):
            if not (math.isfinite(share) and 0 < share <= 1):
                raise UsageError(f"{name} cut-off", repr(share), "a share above 0 and at most 1")
        if self.top < 1 and self.bottom < 1:
            raise UsageError("cut-off", f"top={self.top} and bottom={self.bottom}", "only one of the two")

    @property
    def whole(self) -> bool:
        """Whether the whole distribution is used."""
        return self.top == self.bottom == 1

    def __str__(self) -> str:
        if self.whole:
            return ""
        return f"(top={self.top!r})" if self.top < 1 else f"(bottom={self.bottom!r})"


def parse(text: str, name: str) -> Cut:
    """Parse the cut-off from a measure's canonical name.

    Raises:
        UsageError: the measure is not `name`, or its parameter is invalid.

    >>> parse("equal_weight(top=0.9)", "equal_weight")
    Cut(top=0.9, bottom=1.0)
    """
    match = _MEASURE.fullmatch(text)
    if not match or match["name"] != name:
        raise UsageError("measure", repr(text), f"{name}, {name}(top=SHARE) or {name}(bottom=SHARE)")
    return Cut(**{match["end"]: _share(match["share"])}) if match["end"] else Cut()


def cuts(top: tuple[float, ...] = (), bottom: tuple[float, ...] = ()) -> tuple[Cut, ...]:
    """Return the distinct cut-offs in canonical order: no cut-off, `top` in ascending order, `bottom` in descending order.

    >>> [str(cut) for cut in cuts((0.9, 0.5, 0.9), (0.01, 0.1))]
    ['', '(top=0.5)', '(top=0.9)', '(bottom=0.1)', '(bottom=0.01)']
    """
    tops = sorted((Cut(top=share) for share in top), key=lambda cut: cut.top)
    bottoms = sorted((Cut(bottom=share) for share in bottom), key=lambda cut: -cut.bottom)
    return tuple(dict.fromkeys((Cut(), *tops, *bottoms)))


def _share(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise UsageError("cut-off", repr(text), "a number") from None
