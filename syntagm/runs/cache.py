"""A cache of answers across runs, in one SQLite file.

A key is the hash of the model's fingerprint and the text; answers with entropies and ranks have keys of their own. The
fingerprint covers the weights, the vocabulary, the dtype, the settings for bos and eos, and the version of the scorer,
so different models never share answers. Each value has a checksum, which covers its key. A damaged value is a miss; it
is counted and removed. A damaged key means that the file can't be trusted: it is moved aside, like a file that SQLite
can't read, and a new one is begun. A link or a special file in its place, or in that of its log, is not touched. A
fault of the cache costs time, but never changes a number.
"""

import contextlib
import errno
import hashlib
import os
import sqlite3
import stat
import struct
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np

from syntagm.core import RunError, SyntagmError, is_mistake
from syntagm.models import LanguageModel, Reductions, Surprisals

NAME = "answers.sqlite"
_HEADER = struct.Struct("<16sI")
_CHUNK = 500
# The bytes of a token: of its start, bits and flag; and with its entropy and rank.
_BYTES = (13, 29)
# What follows the fingerprint in the key of an answer with reductions; a fingerprint contains hexadecimal digits only.
_REDUCED = "+reductions"
# Seconds to wait for other processes.
_TIMEOUT = 60.0
# The files that SQLite keeps beside its own.
_BESIDE = ("-wal", "-shm", "-journal")
# What a damaged file doesn't cause: it is used by others, or the disk or the memory is at fault.
_OF_SURROUNDINGS = frozenset({
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PERM, sqlite3.SQLITE_NOMEM, sqlite3.SQLITE_PROTOCOL,
})  # fmt: skip
_T = TypeVar("_T")


def default_path() -> Path:
    """Return the default path of the cache: `$SYNTAGM_CACHE`, else a file in the user's cache folder."""
    if path := os.environ.get("SYNTAGM_CACHE"):
        return Path(path)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "syntagm" / NAME


class AnswerCache:
    def __init__(self, path: Path, warn: Callable[[str], None]) -> None:
        self.path, self._warn = path, warn
        self.usable, self.damaged, self.hits = True, 0, 0
        self._attempt(self._create, None)

    def get(self, model: LanguageModel, texts: Sequence[str], reduced: bool = False) -> dict[str, Surprisals]:
        """Return a mapping from each cached text among `texts` to its answer; if `reduced`, to one with reductions."""
        if not (self.usable and model.worth_caching):
            return {}
        nothing: dict[str, Surprisals] = {}
        answers = self._attempt(lambda: self._get(model, texts, reduced), nothing)
        self.hits += len(answers)
        return answers

    def put(self, model: LanguageModel, answers: Iterable[Surprisals]) -> None:
        """Store answers in one transaction."""
        if self.usable and model.worth_caching:
            rows = [(key, _pack(key, answer)) for answer in answers for key in [_key_of(model, answer)]]
            self._attempt(lambda: self._put(rows), None)

    def _connect(self) -> "closing[sqlite3.Connection]":
        _refuse_foreign(self.path)
        return closing(sqlite3.connect(self.path, timeout=_TIMEOUT))

    def _create(self) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self._connect() as connection, connection:
            _refuse_other_tables(connection)
            _log_ahead(connection)
            connection.execute("CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB) WITHOUT ROWID")

    def _get(self, model: LanguageModel, texts: Sequence[str], reduced: bool) -> dict[str, Surprisals]:
        answers: dict[str, Surprisals] = {}
        damaged: list[tuple[bytes]] = []
        with self._connect() as connection:
            for first in range(0, len(texts), _CHUNK):
                keys = {_key(model, text, reduced): text for text in texts[first : first + _CHUNK]}
                query = f"SELECT key, value FROM entries WHERE key IN ({','.join('?' * len(keys))})"
                for key, value in connection.execute(query, list(keys)):
                    if key not in keys:
                        self.damaged += 1
                        raise sqlite3.DatabaseError("a damaged key")
                    answer = _unpack(key, keys[key], value, reduced)
                    if answer is None:
                        damaged.append((key,))
                    else:
                        answers[keys[key]] = answer
            if damaged:
                self.damaged += len(damaged)
                self._warn(f"{self.path}: {len(damaged)} damaged answers; they are removed and computed again")
                with connection:
                    connection.executemany("DELETE FROM entries WHERE key = ?", damaged)
        return answers

    def _put(self, rows: list[tuple[bytes, bytes]]) -> None:
        with self._connect() as connection, connection:
            connection.executemany("INSERT OR REPLACE INTO entries VALUES (?, ?)", rows)

    def _attempt(self, work: Callable[[], _T], otherwise: _T) -> _T:
        """Access the database, and warn of faults. A damaged file is replaced by a new one; other faults switch the cache off."""
        used = _identity(self.path)
        try:
            return work()
        except Exception as error:  # whatever the module raises on a damaged file: not only its own errors
            if isinstance(error, SyntagmError) or is_mistake(error):
                raise
            if is_of_surroundings(error, self.path):
                self._switch_off(error)
            else:
                self._set_aside(error, used)
        return otherwise

    def _set_aside(self, error: Exception, used: tuple[int, int] | None) -> None:
        """Rename a damaged file and its log, and begin a new one. Another process may have done so already."""
        aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
        try:
            if _identity(self.path) == used:
                self._warn(f"{self.path}: {error}; moved to {aside.name}, starting a new cache")
                for suffix in ("", *_BESIDE):
                    with contextlib.suppress(FileNotFoundError):
                        os.replace(f"{self.path}{suffix}", f"{aside}{suffix}")
            self._create()
        except Exception as another:
            self._switch_off(another)

    def _switch_off(self, error: Exception) -> None:
        self.usable = False
        reason = (error.strerror if isinstance(error, OSError) else None) or error
        self._warn(f"{self.path}: {reason}; going on without the cache")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others that had or will have its name; None if there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _refuse_foreign(path: Path) -> None:
    """Raise OSError if a cache, or a file that SQLite keeps beside it, is a link or not a regular file."""
    # SQLite would write to the file that the link leads to, or wait for a pipe without end.
    for suffix in ("", *_BESIDE):
        try:
            status = os.lstat(f"{path}{suffix}")
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(status.st_mode) or status.st_nlink > 1:
            found = (
                f"{path.name}{suffix} is a link, or not a regular file. Delete it, or name another file with --cache"
            )
            raise OSError(errno.EINVAL, found)


def _refuse_other_tables(connection: sqlite3.Connection) -> None:
    """Raise OSError for a database of another program."""
    query = "SELECT CAST(name AS TEXT) FROM sqlite_master WHERE type = 'table'"
    if others := sorted(name for (name,) in connection.execute(query) if name.lower() != "entries"):
        found = f"a database of another program (with the table {others[0]}). Name another file with --cache"
        raise OSError(errno.EINVAL, found)


def is_of_surroundings(error: Exception, path: Path) -> bool:
    """Return whether an error has another cause than a damaged file."""
    if not isinstance(error, sqlite3.Error):
        return isinstance(error, OSError)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF
    if code == sqlite3.SQLITE_READONLY:
        # The file itself can say that it is of a later version of SQLite, which this one may only read.
        return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))
    return code in _OF_SURROUNDINGS


def _log_ahead(connection: sqlite3.Connection) -> None:
    # For this statement, unlike others, SQLite does not wait for other processes, so this function waits.
    deadline = time.monotonic() + _TIMEOUT
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)


def _key_of(model: LanguageModel, answer: Surprisals) -> bytes:
    return _key(model, answer.text, answer.reductions is not None)


def _key(model: LanguageModel, text: str, reduced: bool = False) -> bytes:
    # A text with half a surrogate pair has a key, too, because it is the model that refuses such texts.
    return hashlib.sha256(f"{model.fingerprint}{_REDUCED * reduced}\0{text}".encode(errors="surrogatepass")).digest()


def _pack(key: bytes, answer: Surprisals) -> bytes:
    body = (
        answer.starts.astype("<i4").tobytes()
        + answer.bits.astype("<f8").tobytes()
        + answer.in_vocabulary.astype("u1").tobytes()
    )
    if answer.reductions is not None:
        body += answer.reductions.entropy.astype("<f8").tobytes() + answer.reductions.rank.astype("<f8").tobytes()
    return _HEADER.pack(_checksum(key, body), len(answer.starts)) + body


def _unpack(key: bytes, text: str, value: object, reduced: bool) -> Surprisals | None:
    if not isinstance(value, bytes) or not _is_whole(key, value):
        return None
    _, n = _HEADER.unpack_from(value)
    body = value[_HEADER.size :]
    if len(body) != _BYTES[reduced] * n:
        return None
    reductions = None
    if reduced:
        reductions = Reductions(*np.frombuffer(body, "<f8", 2 * n, 13 * n).astype(np.float64).reshape(2, n))
    starts = np.frombuffer(body, "<i4", n).astype(np.int32)
    bits = np.frombuffer(body, "<f8", n, 4 * n).astype(np.float64)
    return Surprisals(text, starts, bits, np.frombuffer(body, "u1", n, 12 * n).astype(bool), reductions)


def _is_whole(key: object, value: object) -> bool:
    """Return whether a row matches its checksum."""
    if not isinstance(key, bytes) or not isinstance(value, bytes) or len(value) < _HEADER.size:
        return False
    checksum, n = _HEADER.unpack_from(value)
    body = value[_HEADER.size :]
    return bool(len(body) in [size * n for size in _BYTES] and _checksum(key, body) == checksum)


def _checksum(key: bytes, body: bytes) -> bytes:
    return hashlib.sha256(key + body).digest()[:16]


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for the cache in a folder if an answer in it is damaged."""
    error = fault(folder / NAME)
    return {folder / NAME: error} if error else {}


def fault(path: Path) -> RunError | None:
    """Check each answer in a cache; return an error if one is damaged. The file is not changed."""
    cure = "Damaged answers are computed again, so nothing must be done. Delete the file to begin a new cache."
    try:
        _refuse_foreign(path)
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
            rows = connection.execute("SELECT key, value FROM entries")
            damaged = sum(not _is_whole(key, value) for key, value in rows)
    except Exception as error:  # as in `AnswerCache._attempt`
        return RunError(str(path), getattr(error, "strerror", None) or str(error), "a cache of answers", cure)
    return RunError(str(path), f"{damaged:,} damaged answers", "answers as written", cure) if damaged else None
