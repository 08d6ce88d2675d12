"""Integers: parsing them in options, and counts in messages."""

import re
from collections.abc import Collection

from syntagm.core.errors import UsageError

LARGEST = 10**12


def whole(place: str, text: str, least: int = 1, most: int = LARGEST, also: str = "") -> int:
    """Parse an integer from `least` to `most`, written in digits.

    Arguments:
        place: name of the option, for the message.
        text: the number as written.
        least: smallest allowed number.
        most: largest allowed number.
        also: further values that the caller accepts, for the message.

    Raises:
        UsageError: `text` is not such a number.

    >>> whole("--items", "20", least=0)
    20
    """
    if not re.fullmatch("[0-9]{1,18}", text) or not least <= int(text) <= most:
        raise UsageError(
            place, f"{text!r:.60}", f"a whole number from {least:,} to {most:,}" + (f", or {also}" if also else "")
        )
    return int(text)


def counted(number: int, noun: str) -> str:
    """Format a count with its noun in the singular or plural.

    >>> counted(1, "suite"), counted(2000, "item")
    ('1 suite', '2,000 items')
    """
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def span(numbers: Collection[int], noun: str = "") -> str:
    """Format the smallest and the largest of some counts, with their noun; without any counts, both are 0.

    >>> span([7, 5, 6], "suite"), span([1, 1], "suite"), span([5])
    ('5 to 7 suites', '1 suite', '5')
    """
    least, most = min(numbers, default=0), max(numbers, default=0)
    text = f"{least}" if least == most else f"{least} to {most}"
    return f"{text} {noun}{'' if most == 1 else 's'}" if noun else text
