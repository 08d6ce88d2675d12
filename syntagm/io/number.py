"""Whole numbers that a user writes."""

import re

from syntagm.errors import UsageError

LARGEST = 10**12


def whole(place: str, text: str, least: int = 1, most: int = LARGEST, also: str = "") -> int:
    """Read a whole number in digits from `least` to `most`, without the thousands of digits that Python takes no number from.

    Arguments:
        also: what else may stand there, for the error.

    Raises:
        UsageError: it is none.

    >>> whole("--flips", "20", least=0)
    20
    """
    if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise UsageError(
            place, f"{text!r:.60}", f"a whole number from {least:,} to {most:,}" + (f", or {also}" if also else "")
        )
    return int(text)
