"""Pairs whose good and bad sentence may be swapped, as the margins of a model show them.

If a model is right about nearly all pairs of a suite, a pair that it gets as clearly wrong as it gets half of the others
right may have its labels swapped. If it is wrong about nearly all, those of the whole suite may be. Margins are in bits, above
0 where the good sentence is more probable.
"""

import math
from collections.abc import Sequence
from statistics import median

from syntagm.suites.check import Finding
from syntagm.suites.suite import Suite

# A model must be right about this share of pairs, of at least so many, to be a witness.
RELIABLE, LEAST = 0.8, 10


def swapped(suite: Suite, margins: Sequence[float], model: str, file: str = "") -> list[Finding]:
    """Return a finding for each pair that may be swapped, or one for the whole suite."""
    defined = [margin for margin in margins if not math.isnan(margin)]
    if len(defined) < LEAST:
        return []
    right = sum(margin > 0 for margin in defined) / len(defined)
    if right <= 1 - RELIABLE:
        message = (
            f"{model} prefers the bad sentence in {1 - right:.2f} of {len(defined):,} pairs: the columns may be swapped"
        )
        return [Finding("W405", file, suite.name, "", "", "", message, "Look at some pairs.")]
    if right < RELIABLE:
        return []
    typical = median(margin for margin in defined if margin > 0)
    return [
        Finding(
            "W405", file, suite.name, item.id, "", "",
            f"good and bad may be swapped: {model} prefers the bad sentence by {-margin:.1f} bits, and the good one in "
            f"{right:.2f} of the pairs, by {typical:.1f} bits in the median",
            "Read the pair.",
        )
        for item, margin in zip(suite.items, margins, strict=True)
        if margin <= -typical
    ]  # fmt: skip
