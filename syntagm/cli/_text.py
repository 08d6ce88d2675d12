"""Text for the terminal: names from materials and models, without anything that a terminal would execute."""

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from syntagm.core import shown_lines


class Printer(Console):
    """A console that prints lines as they are, and leaves it to the command line what a closed pipe means."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, **({"soft_wrap": True} | options))

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


def plain(content: str, style: str = "") -> Text:
    """Return a text to print, without markup and without control characters other than line breaks."""
    return Text(shown_lines(content), style=style)


def side_by_side(*tables: tuple[str, Sequence[tuple[str, str, str]]]) -> list[str]:
    """Return the lines of tables side by side: titles, headers and rows. With rich, 50,000 rows would take a minute."""
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
