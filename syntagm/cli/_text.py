"""Text for the terminal: names from materials and models, without anything that a terminal would execute."""

import math
from collections.abc import Sequence
from itertools import zip_longest

from rich.cells import cell_len
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


def side_by_side(*tables: tuple[str, Sequence[tuple[str, str, str]]]) -> list[str]:
    """Return the lines of tables side by side: titles, headers, rows. Tables of rich take a minute for 50,000 rows.

    Arguments:
        tables: the title, and rows of text, number and note of which the first is the header.
    """
    blocks = [
        _block(title, [(shown_lines(text), number, note) for text, number, note in rows]) for title, rows in tables
    ]
    padding = [" " * cell_len(block[0]) for block in blocks]
    return [
        (" " * 4).join(line or blank for line, blank in zip(lines, padding, strict=True))
        for lines in zip_longest(*blocks, fillvalue="")
    ]


def _block(title: str, rows: Sequence[tuple[str, str, str]]) -> list[str]:
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = [
        f"{_padded(text, widths[0])}  {number.rjust(widths[1])}  {_padded(note, widths[2])}"
        for text, number, note in rows
    ]
    return [_padded(title, cell_len(lines[0])), *lines]


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
