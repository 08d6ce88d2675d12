"""Receipts: a file of sealed and numbered lines with every change of a study, from which its database can be restored.

A line has the rows that a change wrote. When a person is deleted, the file is written anew, with a line for each row that is
left; numbers go on from file to file.
"""

import errno
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from syntagm.errors import RunError, SyntagmError
from syntagm.io import atomic, record, regular

NAME = "receipts.jsonl"
# The tables: how many columns are the key, and how many there are. Answers come first: see `joined`.
TABLES = {"answers": (2, 5), "people": (1, 9), "study": (1, 2)}
# The places of columns: when a person was last seen, and when an answer was received.
_SEEN, _RECEIVED = 6, 3
# The most lines that are counted as missing between two others.
_MOST = 10**6
# (table, key ...) -> row
Rows = dict[tuple[Any, ...], tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Receipts:
    """The lines of a file.

    Arguments:
        lines: number -> the rows of each whole line, each after the name of its table.
        missing: the numbers of lines that are missing or damaged.
    """

    lines: Mapping[int, list[list[Any]]]
    missing: frozenset[int]

    def lost(self, position: int) -> set[int]:
        """Return the numbers of missing lines, if the database has all up to a position, which may be beyond the last."""
        last = max(self.lines, default=0)
        return {*self.missing, *range(last + 1, min(position, last + _MOST) + 1)}

    def joined(self, stored: Rows, position: int) -> Rows:
        """Return all rows: those of the lines if none is missing, else also what the lines or the database have.

        Arguments:
            stored: what could be read of the database.
            position: the number of the last line that the database has; 0 if that isn't known.
        """
        whole = bool(self.lines) and not self.lost(position)
        # What a database has beside whole receipts was deleted since, or is damaged.
        rows = {} if whole else dict(stored)
        for number in sorted(self.lines):
            for table, *row in self.lines[number]:
                key = key_of(table, row)
                if whole or number > position or key not in rows:
                    rows[key] = tuple(row)
                    if table == "answers" and (person := rows.get(("people", row[0]))):
                        rows["people", row[0]] = (*person[:_SEEN], row[_RECEIVED], *person[_SEEN + 1 :])
        return rows


def read(path: Path) -> Receipts:
    """Read the receipts of a study; no file has none. What follows the last line break was never acknowledged.

    Raises:
        RunError: the file can't be read.
    """
    try:
        content = regular.content(path) if path.exists() else b""
    except OSError as error:
        raise RunError(str(path), f"can't be read ({error.strerror})", "the receipts of a study") from error
    lines: dict[int, list[list[Any]]] = {}
    missing: set[int] = set()
    last, damaged = 0, 0
    for text in content.split(b"\n")[:-1]:
        if (line := _parsed(text)) is None:
            damaged += 1
            continue
        if "first" not in line:
            missing.update(range(max(last + 1, line["n"] - _MOST) if last else line["n"] - max(1, damaged), line["n"]))
        lines.setdefault(line["n"], []).extend(line["rows"])
        last, damaged = max(last, line["n"]), 0
    if damaged:
        missing.add(last + 1)
    return Receipts(lines, frozenset(missing - lines.keys()))


def _parsed(text: bytes) -> dict[str, Any] | None:
    """Return the entries of a line; None if it is damaged."""
    try:
        line = record.own(text, "") if record.is_sealed(text) else {}
        whole = line["n"] > 0 and all(len(row) == TABLES[row[0]][1] + 1 for row in line["rows"])
    except (KeyError, IndexError, TypeError, SyntagmError):
        whole = False
    return line if whole else None


def key_of(table: str, row: Iterable[Any]) -> tuple[Any, ...]:
    """Return the table and the key of a row."""
    return (table, *tuple(row)[: TABLES[table][0]])


def size(path: Path) -> int:
    """Return the number of bytes of the file; -1 if there is none, or one that has a second name."""
    try:
        status = os.lstat(path)
    except OSError:
        return -1
    return status.st_size if status.st_nlink == 1 else -1


def line(number: int, rows: Iterable[Iterable[Any]], **more: bool) -> bytes:
    """Return the line of a change: its number, and the rows, each after the name of its table."""
    return record.sealed({"n": number, **more, "rows": rows}).encode() + b"\n"


def renew(path: Path, number: int, rows: Rows) -> int:
    """Write the file anew, with a line for each row, from a number on. Return the number of the last line.

    Raises:
        RunError: the file can't be written; it is left as it is.
    """
    parts = [[[table, *row]] for name in TABLES for (table, *_), row in rows.items() if table == name]
    atomic.write_parts(path, (line(number + place, part, **({} if place else {"first": True}))
                              for place, part in enumerate(parts)))  # fmt: skip
    return number + len(parts) - 1


def append(path: Path, content: bytes, before: int, sync: bool) -> None:
    """Append a line to a file of so many bytes, and wait until it is on the disk if `sync`.

    Raises:
        RunError: it can't be written completely; it is removed.
    """
    try:
        descriptor = atomic.without_following(str(path), os.O_WRONLY | os.O_APPEND)
        try:
            if os.write(descriptor, content) < len(content):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                os.fsync(descriptor)
        except OSError:
            os.ftruncate(descriptor, before)
            raise
        finally:
            os.close(descriptor)
    except OSError as error:
        raise atomic.refusal(path, error, len(content)) from error
