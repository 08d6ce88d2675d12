"""Text for the terminal: names from materials and models, without anything that a terminal would execute."""

import math

from rich.text import Text

from syntagm.drawing.text import shown_lines


def plain(content: str, style: str = "") -> Text:
    """Return a text to print, without markup and without control characters other than line breaks."""
    return Text(shown_lines(content), style=style)


def interval(low: float, high: float, form: str = ".3f") -> str:
    """Write an interval.

    >>> interval(0.25, 0.5), interval(-1, 1, "+.1f"), interval(math.nan, math.nan)
    ('[0.250, 0.500]', '[-1.0, +1.0]', 'no interval')
    """
    return "no interval" if math.isnan(low) else f"[{signless(low, form)}, {signless(high, form)}]"


def signless(number: float, form: str) -> str:
    """Write a number, without a sign if all its digits are 0.

    >>> signless(-1e-9, "+.3f"), signless(0.25, "+.3f")
    ('0.000', '+0.250')
    """
    text = format(number, form)
    return text.lstrip("+-") if not any(digit in text for digit in "123456789") else text
