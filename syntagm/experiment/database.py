"""The file of a study's people and answers, and its receipts: each change is in both, and each restores the other.

A change is one transaction of SQLite, and within it its receipt is written to the disk: so SQLite need not wait for the disk
itself, and a killed process leaves at most a change that was not acknowledged. Whoever opens a study compares the two. What
only reads gets a copy in memory, and creates and mends nothing; what writes mends both.

Receipts are sealed and numbered lines, each with the rows that a change wrote. When a person is deleted, their file is
written anew, with a line for each row that is left; numbers go on from file to file.
"""

import contextlib
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from syntagm.core import RunError, SyntagmError, atomic, counted, record, regular, shown_lines
from syntagm.runs import is_of_surroundings

RECEIPTS = "receipts.jsonl"
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


def read_receipts(path: Path) -> Receipts:
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


def size_of(path: Path) -> int:
    """Return the number of bytes of the file; -1 if there is none."""
    try:
        return path.stat().st_size
    except OSError:
        return -1


def line_of(number: int, rows: Iterable[Iterable[Any]], **more: bool) -> str:
    """Return the line of a change: its number, and the rows, each after the name of its table."""
    return record.sealed({"n": number, **more, "rows": rows})


def renew(path: Path, number: int, rows: Rows) -> tuple[int, int]:
    """Write the file anew, with a line for each row, from a number on. Return the number of the last line, and the size."""
    parts = (line_of(number + place, [[key[0], *row]], **({} if place else {"first": True})) + "\n"
             for place, (key, row) in enumerate(rows.items()))  # fmt: skip
    atomic.write_parts(path, map(str.encode, parts))
    return number + len(rows) - 1, size_of(path)


NAME, KEY = "answers.sqlite", "key"
# A damaged file whose place a new one has taken.
DAMAGED = f"{NAME}.damaged"
_TIMEOUT = 30.0
# After so many pages, about 120 answers, SQLite's log is folded into the file.
_SETTINGS = ("journal_mode=WAL", "synchronous=NORMAL", "secure_delete=ON", "wal_autocheckpoint=500")
_SCHEMA = {
    "study": "name TEXT PRIMARY KEY, value TEXT NOT NULL",
    "people": "person TEXT PRIMARY KEY, id TEXT UNIQUE, secret TEXT UNIQUE NOT NULL, list INTEGER NOT NULL, place INTEGER "
    "NOT NULL, started REAL NOT NULL, seen REAL NOT NULL, finished REAL, said TEXT NOT NULL DEFAULT '', UNIQUE (list, place)",
    "answers": "person TEXT NOT NULL, trial TEXT NOT NULL, body TEXT NOT NULL, received REAL NOT NULL, seal TEXT NOT NULL, "
    "PRIMARY KEY (person, trial)",
}
# The rows of `study` that say up to where the receipts are in the file, and how many can't be read any more.
_POSITION, _LOST = ("study", "receipts"), ("study", "lost")
_COPY = "Put the file back from a copy."


def begun(folder: Path) -> bool:
    """Return whether the study in a folder has begun, even if its file of answers is missing."""
    return any((folder / name).exists() for name in (NAME, f"{NAME}-wal", RECEIPTS, KEY))


class Database:
    """The file of a study, with its receipts."""

    def __init__(self, folder: Path, digest: str, warn: Callable[[str], None] | None = None) -> None:
        self.path, self._receipts = folder / NAME, folder / RECEIPTS
        self._digest = digest
        self._warn = warn or (lambda line: print(shown_lines(f"warning: {line}"), file=sys.stderr))
        self._file: sqlite3.Connection | None = None
        self._copy: sqlite3.Connection | None = None
        self._lock = threading.RLock()
        self._pending: list[tuple[Any, ...]] = []
        # Whether changes wait for the disk.
        self.synced = True
        self.faults: dict[Path, str] = {}
        self.lost = 0

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Yield a connection to read from: to the file if it was opened to be changed, else to a copy in memory."""
        with self._guarded():
            if self._file is None and self._copy is None:
                rows = self._joined(*self._found())
                self._copy = _connected(":memory:")
                _put(self._copy, rows)
            yield self._file or cast(sqlite3.Connection, self._copy)

    def opened(self) -> sqlite3.Connection:
        """Return a connection to the file, which is created or mended if necessary."""
        if self._file is not None:
            return self._file
        with self._guarded():
            found = self._found()
            # What can't be mended is refused before anything is changed.
            readable = self._joined(*found) if found[-1] else {}
            if found[-1] not in ("", "missing"):
                self._warn(f"{self.path}: moved to {DAMAGED}")
                self.path.replace(self.path.with_name(DAMAGED))
                for suffix in ("-wal", "-shm"):
                    self.path.with_name(NAME + suffix).unlink(missing_ok=True)
            connection = _connected(self.path)
            try:
                with _transaction(connection):
                    self._agree(connection, readable)
            except BaseException:
                connection.close()
                raise
            self._file = connection
        return self._file

    @contextlib.contextmanager
    def changing(self) -> Iterator[sqlite3.Connection]:
        """Change the file in one transaction; `keep` notes what has changed."""
        with self._guarded(), _transaction(self.opened()) as connection:
            number, size = _position(connection)
            if size_of(self._receipts) != size:
                number, size = self._agree(connection, {})
            self._pending = []
            yield connection
            if self._pending:
                line = line_of(number + 1, self._pending)
                _set_position(connection, number + 1, size + len(line) + 1)
                atomic.append(self._receipts, line, sync=self.synced)
                try:
                    connection.execute("COMMIT")
                except sqlite3.Error:
                    with contextlib.suppress(OSError):
                        os.truncate(self._receipts, size)
                    raise

    def keep(self, table: str, *row: Any) -> None:
        """Note a row that has changed, which becomes part of the receipt; of a person, the code is enough."""
        if table == "people":
            row = self.opened().execute("SELECT * FROM people WHERE person=?", row).fetchone()
        self._pending.append((table, *row))

    def forget(self, person: str) -> int:
        """Delete all rows of a person, and return the number of answers."""
        with self.changing() as connection:
            count = connection.execute("DELETE FROM answers WHERE person=?", (person,)).rowcount
            connection.execute("DELETE FROM people WHERE person=?", (person,))
            rows: Rows = {}
            number = _load(connection, rows)
            _set_position(connection, *renew(self._receipts, number + 1, rows))
        with self._guarded():
            # What was deleted must not stay in the log, nor in a damaged file.
            self.opened().execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self.path.with_name(DAMAGED).unlink(missing_ok=True)
        return count

    def close(self) -> None:
        for connection in filter(None, (self._file, self._copy)):
            connection.close()
        self._file = self._copy = None

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        """Let one thread at a time use the file, and say what SQLite refuses."""
        try:
            with self._lock:
                yield
        except sqlite3.Error as error:
            if is_of_surroundings(error, self.path):
                cure, expected = "Nothing that was acknowledged is lost.", "a file of answers, and room on the disk"
                raise RunError(str(self.path), f"can't be used ({error})", expected, cure) from error
            raise RunError(str(self.path), f"damaged ({error})", "the answers as they were stored", _COPY) from error

    def _found(self) -> tuple[Receipts, Rows, int, str]:
        """Return the receipts, what can be read of the file, its position, and why no more can be read."""
        for path in map(self.path.with_name, (NAME, f"{NAME}-wal", f"{NAME}-shm", RECEIPTS, KEY)):
            if path.is_symlink() or (path.exists() and not path.is_file()):
                raise RunError(str(path), "a link, or not a regular file", "a file of the study, or none")
        stored: Rows = {}
        problem = "missing" if begun(self.path.parent) else ""
        if not self.path.exists():
            return read_receipts(self._receipts), stored, 0, problem
        try:
            with contextlib.closing(_connected(f"{self.path.absolute().as_uri()}?mode=rw", set_up=False)) as connection:
                # Between two changes of other processes, the two agree.
                connection.execute("BEGIN IMMEDIATE")
                position = _load(connection, stored)
                return read_receipts(self._receipts), stored, position, ""
        except Exception as error:  # whatever SQLite's module raises on a damaged file: not only its own errors
            if (
                not (found := read_receipts(self._receipts)).lines
                or isinstance(error, RunError)
                or is_of_surroundings(error, self.path)
            ):
                raise
            return found, stored, 0, f"can't be read ({error})"

    def _joined(self, found: Receipts, stored: Rows, position: int, problem: str) -> Rows:
        """Return all rows that the receipts or the file have, and warn of what either lacks; see `_found`."""
        rows = found.joined(stored, position)
        if not rows and (problem or self._receipts.exists() or self.path.with_name(KEY).exists()):
            what = f"missing or empty, like {RECEIPTS}, though the study had begun"
            raise RunError(str(self.path), what, "the answers of those who took part", _COPY)
        if rows.setdefault(("study", "plan"), ("plan", self._digest))[1] != self._digest:
            cure = "Put back the plan, or begin a new study in another folder."
            raise RunError(str(self.path), "answers to another plan", "answers to the plan beside them", cure)
        missing = found.missing(position)
        # A file that can be read as a whole has everything up to its position.
        self.lost = found.missing(position, position) + int(rows.get(_LOST, ("", "0"))[1])
        # The last change of a process that was killed may be in the receipts alone.
        last = [key_of(table, row) for table, *row in found.lines.get(position + 1, ())]
        different = {key for key in {**rows, **stored} if stored.get(key) != rows.get(key)}.difference(last)
        self.faults = {}
        if problem or (found.lines and different):
            lacks = problem or f"damaged ({counted(len(different), 'row')} missing or different)"
            answers = sum(key[0] == "answers" for key in rows)
            self.faults[self.path] = f"{lacks}; {RECEIPTS} has {counted(answers, 'answer')}"
        if missing or self.lost:
            what = f"{counted(max(missing, self.lost), 'line')} " if found.lines else ""
            has = f"{self.lost:,} can be read in neither file" if self.lost else f"{NAME} has what was in them"
            self.faults[self._receipts] = f"{what}missing or damaged; {has}"
        for path, fault in self.faults.items():
            self._warn(f"{path}: {fault}")
        return rows

    def _agree(self, connection: sqlite3.Connection, readable: Rows) -> tuple[int, int]:
        """Within a transaction, put what either file lacks, or a damaged one had, into both; return the new position."""
        stored: Rows = {}
        number = _load(connection, stored)
        found, known = read_receipts(self._receipts), _position(connection)
        rows = self._joined(found, {**readable, **stored}, number, "")
        if self.lost:
            rows[_LOST] = "lost", str(self.lost)
        if rows == stored and known == (found.last, size_of(self._receipts)) and not found.missing(number):
            return known
        for table in TABLES:
            connection.execute(f"DELETE FROM {table}")
        _put(connection, rows)
        return _set_position(connection, *renew(self._receipts, max(number, found.last) + 1, rows))


def _connected(place: Path | str, set_up: bool = True) -> sqlite3.Connection:
    connection = sqlite3.connect(place, _TIMEOUT, isolation_level=None, check_same_thread=False, uri=not set_up)
    if set_up:
        for setting in _SETTINGS:
            connection.execute(f"PRAGMA {setting}")
        with _transaction(connection):
            for table, columns in _SCHEMA.items():
                connection.execute(f"CREATE TABLE IF NOT EXISTS {table} ({columns}) WITHOUT ROWID")
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[sqlite3.Connection]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield connection
        if connection.in_transaction:
            connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise


def _load(connection: sqlite3.Connection, rows: Rows) -> int:
    """Add the rows of a file, as far as it can be read, and return the number of the last receipt that it has, or 0."""
    if connection.execute("SELECT 1 FROM sqlite_master").fetchone() is None:
        return 0  # its first process was killed before there was anything
    for table in TABLES:
        rows.update((key_of(table, row), row) for row in connection.execute(f"SELECT * FROM {table}"))
    rows.pop(_POSITION, None)
    if (problem := connection.execute("PRAGMA integrity_check(1)").fetchone()[0]) != "ok":
        raise sqlite3.DatabaseError(problem)
    return _position(connection)[0]


def _put(connection: sqlite3.Connection, rows: Rows) -> None:
    for (table, *_), row in rows.items():
        connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)


def _position(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of the last receipt that a file has, and the size of the receipts up to there."""
    row = connection.execute("SELECT value FROM study WHERE name='receipts'").fetchone()
    try:
        number, size = map(int, row[0].split())
    except (ValueError, TypeError, AttributeError):
        return 0, -2
    return number, size


def _set_position(connection: sqlite3.Connection, number: int, size: int) -> tuple[int, int]:
    query = "INSERT INTO study VALUES ('receipts', ?) ON CONFLICT DO UPDATE SET value=excluded.value"
    connection.execute(query, (f"{number} {size}",))
    return number, size
