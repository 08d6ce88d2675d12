"""Receipts: a file of sealed and numbered lines with every change of a study, from which its database can be restored.

A line has the rows that a change wrote. When a person is deleted, the file is written anew, with a line for each row that is
left; numbers go on from file to file.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.core import RunError, SyntagmError, atomic, record, regular

NAME = "receipts.jsonl"
# The tables: how many columns are the key, and how many there are.
TABLES = {"study": (1, 2), "people": (1, 9), "answers": (2, 5)}
# (table, key ...) -> row
Rows = dict[tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Receipts:
    """The lines of a file."""

    lines: Mapping[int, list[list[Any]]]  # number -> the rows of each whole line, each after the name of its table
    # `before`, `last`: the number before that of the first line, and the number of the last, which may be damaged
    before: int
    last: int

    def missing(self, position: int, after: int = 0) -> int:
        """Return how many lines after a number are missing or damaged, if there were some up to a position."""
        after = max(after, self.before)
        return max(position, self.last, after) - after - sum(number > after for number in self.lines)

    def joined(self, stored: Rows, position: int) -> Rows:
        """Return all rows: those of the lines if none is missing, else also those of the database."""
        whole = bool(self.lines) and not self.missing(position)
        # What a database has beside whole receipts was deleted since, or is damaged.
        rows = {} if whole else dict(stored)
        for number in sorted(self.lines):
            for table, *row in self.lines[number]:
                if whole or number > position or key_of(table, row) not in stored:
                    rows[key_of(table, row)] = tuple(row)
        return rows


def read(path: Path) -> Receipts:
    """Read the receipts of a study; no file has none. What follows the last line break was never acknowledged."""
    try:
        content = regular.content(path) if path.exists() else b""
    except OSError as error:
        raise RunError(str(path), f"can't be read ({error.strerror})", "the receipts of a study") from error
    lines: dict[int, list[list[Any]]] = {}
    before = damaged = 0
    for text in content.split(b"\n")[:-1]:
        if (line := _parsed(text)) is None:
            damaged += 1
            continue
        # Without the first line of a file, those before a line are as many as are damaged.
        first = line["n"] - (0 if lines or "first" in line else max(1, damaged))
        before = min(before, first - 1) if lines else first - 1
        lines.setdefault(line["n"], []).extend(line["rows"])
        damaged = 0
    return Receipts(lines, before, max(lines, default=0) + damaged)


def _parsed(text: bytes) -> dict[str, Any] | None:
    """Return the entries of a line; None if it is damaged."""
    try:
        line = record.own(text, "") if record.is_sealed(text) else {}
        whole = line["n"] > 0 and all(len(row) == TABLES[row[0]][1] + 1 for row in line["rows"])
    except (KeyError, IndexError, TypeError, SyntagmError):
        whole = False
    return line if whole else None


def key_of(table: str, row: Iterable[Any]) -> tuple[Any, ...]:
    return (table, *tuple(row)[: TABLES[table][0]])


def size(path: Path) -> int:
    """Return the number of bytes of the file; -1 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def line(number: int, rows: Iterable[Iterable[Any]], **more: bool) -> str:
    """Return the line of a change: its number, and the rows, each after the name of its table."""
    return record.sealed({"n": number, **more, "rows": rows})


def renew(path: Path, number: int, rows: Rows) -> tuple[int, int]:
    """Write the file anew, with a line for each row, from a number on. Return the number of the last line, and the size."""
    parts = (line(number + place, [[key[0], *row]], **({} if place else {"first": True})) + "\n"
             for place, (key, row) in enumerate(rows.items()))  # fmt: skip
    atomic.write_parts(path, map(str.encode, parts))
    return number + len(rows) - 1, size(path)
