"""Tables as people type them: a line a row, `|` between cells, the first line names the columns."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from syntagm.errors import InputError
from syntagm.grammar.spelling import tidy

NAME = re.compile(r"[\w-]+(?:\.[\w-]+)?")
MISSING = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its number from 1, where it is for messages, and its cells by column."""

    number: int
    place: str
    cells: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Table:
    """The columns in order, and the rows."""

    place: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read(text: str, place: str) -> Table:
    r"""The table that a text holds. Blank lines and lines that begin with `#` don't count; `""` is the empty text.

    Raises:
        InputError: no rows, a column twice or without a good name, cells too many or too few, an empty cell.

    >>> table = read("sg | pl\ndog | dogs\n# no\nox | oxen", "here")
    >>> table.columns, [row.cells["pl"] for row in table.rows]
    (('sg', 'pl'), ['dogs', 'oxen'])
    """
    lines = [line.strip() for line in text.splitlines()]
    lines = [line for line in lines if line and not line.startswith("#")]
    if len(lines) < 2:
        expected = "a line with the names of the columns, and at least one row"
        raise InputError(place, f"{len(lines)} line{'' if len(lines) == 1 else 's'}", expected)
    columns = _columns(lines[0], place)
    rows = (_row(line, number, columns, f"{place}, row {number}") for number, line in enumerate(lines[1:], 1))
    return Table(place, columns, tuple(rows))


def _columns(line: str, place: str) -> tuple[str, ...]:
    columns = tuple(cell.strip() for cell in line.split("|"))
    for index, column in enumerate(columns, 1):
        if not NAME.fullmatch(column):
            cure = "Use letters, digits, _ and -; a form stands after a dot."
            raise InputError(f"{place}, column {index}", repr(column), "a name such as noun or noun.pl", cure)
        if columns.count(column) > 1:
            raise InputError(place, f"two columns called {column!r}", "each name once")
    return columns


def _row(line: str, number: int, columns: tuple[str, ...], place: str) -> Row:
    cells = [tidy(cell) for cell in line.split("|")]
    if len(cells) != len(columns):
        raise InputError(place, f"{len(cells)} cells: {line}", f"{len(columns)}: {' | '.join(columns)}")
    for column, cell in zip(columns, cells, strict=True):
        if not cell:
            raise InputError(f"{place}, {column}", "an empty cell", "a text", 'Write "" if nothing shall stand there.')
    return Row(number, place, {one: "" if cell == '""' else cell for one, cell in zip(columns, cells, strict=True)})
