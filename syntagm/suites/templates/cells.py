"""Tables in text: one row per line, `|` between cells, and the names of the columns in the first line."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from syntagm.core import InputError, counted, toml
from syntagm.suites.templates.spelling import tidy

MISSING = "-"
MAX_ROWS = 100_000
MAX_COLUMNS = 200
MAX_CELL = 1_000

_NAME = re.compile(r"\w[\w-]*(?:\.\w[\w-]*)?")


@dataclass(frozen=True, slots=True)
class Row:
    """A row: its place for messages, and its cells by column."""

    place: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """A table: its place for messages, its columns in order, and its rows."""

    place: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


@lru_cache(maxsize=16)
def read(text: str, place: str) -> Table:
    r"""Read a table from a text.

    Empty lines and lines that begin with `#` are skipped. A cell `""` is the empty string.

    Raises:
        InputError: there are no rows or more than 100,000; a column is repeated or has an invalid name; a row has too many
            or too few cells, or a cell is empty or too long.

    >>> table = read("sg | pl\ndog | dogs\n# no\nox | oxen", "here")
    >>> table.columns, [row.cells["pl"] for row in table.rows]
    (('sg', 'pl'), ['dogs', 'oxen'])
    """
    if text.count("\n") > MAX_ROWS:
        cure = "Use a table of pairs or JSON lines for this many items."
        raise InputError(place, f"{text.count(chr(10)):,} lines", f"at most {MAX_ROWS:,}", cure)
    lines = [line.strip() for line in text.split("\n")]
    lines = [line for line in lines if line and not line.startswith("#")]
    if len(lines) < 2:
        expected = "a line with the names of the columns, and at least one row"
        raise InputError(place, counted(len(lines), "line"), expected)
    columns = _columns(lines[0], place)
    rows = (_row(line, columns, f"{place}, row {number}") for number, line in enumerate(lines[1:], 1))
    return Table(place, columns, tuple(rows))


def _columns(line: str, place: str) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in line.split("|"))
    if len(columns) > MAX_COLUMNS:
        raise InputError(place, f"{len(columns):,} columns", f"at most {MAX_COLUMNS}")
    for index, column in enumerate(columns, 1):
        if not _NAME.fullmatch(column):
            cure = "Use letters, digits, _ and -, and a dot before the name of a form."
            raise InputError(f"{place}, column {index}", toml.shown(column), "a name such as noun or noun.pl", cure)
        if columns.count(column) > 1:
            raise InputError(
                place, f"two columns called {toml.shown(column)}", "each name once", "Rename or delete one of them."
            )
    return columns


def _row(line: str, columns: tuple[str, ...], place: str) -> Row:
    cells = [tidy(cell) for cell in line.split("|")]
    if len(cells) != len(columns):
        found = f"{counted(len(cells), 'cell')}: {toml.shown(line)}"
        raise InputError(place, found, f"{len(columns)}: {' | '.join(columns)}", "Put | between two cells.")
    for column, cell in zip(columns, cells, strict=True):
        if not cell:
            raise InputError(f"{place}, {column}", "an empty cell", "text", 'Write "" for the empty string.')
        if len(cell) > MAX_CELL:
            raise InputError(f"{place}, {column}", f"{len(cell):,} characters", f"at most {MAX_CELL:,}")
    return Row(place, {column: "" if cell == '""' else cell for column, cell in zip(columns, cells, strict=True)})
