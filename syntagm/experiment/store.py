"""The answers of a study: who takes part, on which list, and what was answered.

Every change is written to the disk before it is acknowledged (`database.py`). So an answer survives a kill of the server
and of the machine. Ids of panels and secrets of browsers are stored only as keyed hashes; without the key, which can be
thrown away, they lead to nobody.
"""

import contextlib
import hashlib
import hmac
import json
import os
import secrets
import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from syntagm.core import InputError, RunError, SyntagmError, atomic, regular
from syntagm.experiment import answers, plan, texts
from syntagm.experiment.answers import Answer
from syntagm.experiment.database import KEY, NAME, Database, begun

State = Literal["open", "paused", "closed"]
# Letters and digits that people don't confuse.
_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"
# The most orders of trials that are held in memory.
_ORDERS = 2000


@dataclass(frozen=True, slots=True)
class Person:
    """A person who takes part."""

    code: str  # the code by which the person can ask for deletion
    # `list`, `place`: the list, and the number of the person within it, from 0; they give the order of the trials
    list: int
    place: int
    answered: frozenset[str]  # the names of the answered trials
    finished: bool  # whether the person has finished
    live: bool  # whether the person's place is held: finished, or seen not longer ago than the time-out


class Study:
    """An experiment with its answers."""

    # `clock` returns the time in seconds since 1970.

    def __init__(self, folder: Path, clock: Any = time.time, warn: Callable[[str], None] | None = None) -> None:
        self.folder, self._clock = folder, clock
        self.plan = plan.read(folder)
        self.trials = self.plan.by_id
        self.settings = texts.settings(folder)
        self._digest = plan.digest(folder)
        self._names = [frozenset(self.plan.trials[number].id for number, _ in shown) for shown in self.plan.lists]
        self._data = Database(folder, self._digest, warn)
        self._orders: dict[tuple[int, int], list[plan.Shown]] = {}

    @property
    def path(self) -> Path:
        return self.folder / NAME

    @property
    def lost(self) -> int:
        """How many receipts can't be read any more, as far as anything of the study was read."""
        return self._data.lost

    def connect(self) -> sqlite3.Connection:
        """Return the connection to the file, which is created or mended if necessary; see `Database.opened`."""
        return self._data.opened()

    @property
    def simulated(self) -> bool:
        with self._data.reading() as connection:
            return connection.execute("SELECT 1 FROM study WHERE name='simulated'").fetchone() is not None

    def mark_simulated(self) -> None:
        """Note that all answers are those of simulated people, for which nobody waits until they are on the disk."""
        with self._data.changing() as connection:
            if connection.execute("SELECT 1 FROM people").fetchone():
                raise RunError(str(self.path), "people who take part", "a study without answers")
            connection.execute("INSERT OR REPLACE INTO study VALUES ('simulated', 'yes')")
            self._data.keep("study", "simulated", "yes")
        self.connect().execute("PRAGMA synchronous=OFF")
        self._data.synced = False

    def close(self) -> None:
        self._data.close()

    def state(self) -> State:
        with self._data.reading() as connection:
            row = connection.execute("SELECT value FROM study WHERE name='state'").fetchone()
        return row[0] if row else "open"

    def set_state(self, state: State, forget_key: bool = False) -> None:
        # `forget_key` throws away the key of the hashed ids, so that they lead to nobody any more.
        with self._data.changing() as connection:
            if state != "closed" and self._keyless(connection):
                cure = "Without the key of the ids, nobody can take part any more."
                raise RunError(str(self.path), "a study whose key was thrown away", "a study with its key", cure)
            connection.execute("INSERT OR REPLACE INTO study VALUES ('state', ?)", (state,))
            self._data.keep("study", "state", state)
            if forget_key:
                connection.execute("INSERT OR REPLACE INTO study VALUES ('key', 'forgotten')")
                self._data.keep("study", "key", "forgotten")
        if forget_key:
            with contextlib.suppress(FileNotFoundError):
                (self.folder / KEY).unlink()

    def _key(self) -> bytes:
        path = self.folder / KEY
        if not os.path.exists(path):
            if self._keyless(self.connect()):
                raise RunError(str(path), "thrown away", "the key of a study that is not closed")
            # A new key would lead nobody back to a place, and panels' ids to second ones.
            begun = self.connect().execute("SELECT 1 FROM people").fetchone()
            # Another visitor may have made the key, and begun, since the first look.
            if begun and not path.exists():
                raise RunError(str(path), "missing", "the key with which people began", "Put it back from a copy.")
            # Exclusively, because two processes with different keys would lead one person to two places.
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.write(secrets.token_bytes(32))
                    file.flush()
                    os.fsync(file.fileno())
                atomic.sync_folder(self.folder)
        key = regular.content(path, 32)
        if len(key) != 32:
            raise RunError(str(path), f"{len(key)} bytes", "a key of 32 bytes", "Put it back from a copy.")
        return key

    def _keyless(self, connection: sqlite3.Connection) -> bool:
        return connection.execute("SELECT 1 FROM study WHERE name='key'").fetchone() is not None

    def _hash(self, text: str) -> str:
        return hmac.digest(self._key(), text.encode(), "sha256").hex()

    def admit(self, panel_id: str = "", code: str = "") -> tuple[Person, str] | None:
        """Give a person a place, or return to the place of a panel's id."""
        # The list is the one with the fewest people who finished or are taking part; ties go to the one that fewest
        # started. A place whose person has not been seen within the time-out is free again.
        secret, now = secrets.token_urlsafe(24), self._clock()
        hashed = (self._hash(f"id {panel_id}") if panel_id else None, self._hash(f"secret {secret}"))
        with self._data.changing() as connection:
            if hashed[0]:
                known = connection.execute("SELECT person FROM people WHERE id=?", (hashed[0],)).fetchone()
                if known:
                    connection.execute("UPDATE people SET secret=? WHERE person=?", (hashed[1], known[0]))
                    self._data.keep("people", known[0])
                    return self._person(connection, known[0]), secret
            counts, quotas = self._counts(connection, now), self.quotas()
            room = [number for number in range(len(quotas)) if counts.get(number, (0, 0))[0] < quotas[number]]
            if not room:
                return None
            chosen = min(room, key=lambda number: (*counts.get(number, (0, 0)), number))
            row = connection.execute(
                "SELECT coalesce(max(place), -1) + 1 FROM people WHERE list=?", (chosen,)
            ).fetchone()
            code = code or "".join(secrets.choice(_ALPHABET) for _ in range(10))
            connection.execute(
                "INSERT INTO people (person, id, secret, list, place, started, seen) VALUES (?, ?, ?, ?, ?, ?, ?)",
                (code, *hashed, chosen, row[0], now, now),
            )
            self._data.keep("people", code)
            return self._person(connection, code), secret

    def _counts(self, connection: sqlite3.Connection, now: float) -> dict[int, tuple[int, int]]:
        """Return for each list how many people have finished or are taking part, and how many have started."""
        query = "SELECT list, sum(finished IS NOT NULL OR seen >= ?), count(*) FROM people GROUP BY list"
        found = connection.execute(query, (now - 60 * self.settings.timeout,))
        return {number: (taken, started) for number, taken, started in found}

    def quotas(self) -> list[int]:
        count = len(self.plan.lists)
        each, more = divmod(self.plan.participants, count)
        return [each + (number < more) for number in range(count)]

    def person(self, secret: str) -> Person | None:
        if not secret or len(secret) > 100:
            return None
        with self._data.reading() as connection:
            if self._keyless(connection):
                return None
            return self._found(connection, "secret", self._hash(f"secret {secret}"))

    def by_code(self, code: str) -> Person | None:
        with self._data.reading() as connection:
            return self._found(connection, "person", code)

    def _person(self, connection: sqlite3.Connection, code: str) -> Person:
        if (person := self._found(connection, "person", code)) is None:
            raise InputError(str(self.path), "a person who was deleted", "a person who takes part")
        return person

    def _found(self, connection: sqlite3.Connection, column: str, value: str) -> Person | None:
        query = f"SELECT person, list, place, seen, finished FROM people WHERE {column}=?"
        if (row := connection.execute(query, (value,)).fetchone()) is None:
            return None
        code, number, place, seen, finished = row
        answered = frozenset(
            trial for (trial,) in connection.execute("SELECT trial FROM answers WHERE person=?", (code,))
        )
        live = finished is not None or seen >= self._clock() - 60 * self.settings.timeout
        return Person(code, number, place, answered, finished is not None, live)

    def trials_of(self, person: Person) -> list[plan.Shown]:
        key = person.list, person.place
        if key not in self._orders:
            # Making an order takes longer than storing an answer.
            if len(self._orders) >= _ORDERS:
                self._orders.clear()
            self._orders[key] = plan.ordered(self.plan, *key)
        return self._orders[key]

    def resume(self, person: Person) -> Person | None:
        """Note a sign of life. A place that was free again is taken again, if the list still has room; None if not."""
        now = self._clock()
        with self._data.changing() as connection:
            current = self._person(connection, person.code)
            if not current.live and self._counts(connection, now)[current.list][0] >= self.quotas()[current.list]:
                return None
            connection.execute("UPDATE people SET seen=? WHERE person=?", (now, person.code))
            self._data.keep("people", person.code)
            return self._person(connection, person.code)

    def answer(self, person: Person, body: Mapping[str, Any]) -> bool:
        """Store an answer. When this returns, it is on the disk."""
        name = body.get("trial")
        if not isinstance(name, str) or name not in self._names[person.list]:
            raise InputError("answer", f"the trial {str(name)[:50]!r}", "a trial of this person")
        answers.checked(self.plan, self.trials[name], person.code, person.list, body, f"answer to {name}")
        content, now = json.dumps(dict(body), sort_keys=True), self._clock()
        with self._data.changing() as connection:
            row = person.code, name, content, now, _seal(person.code, person.list, name, content)
            stored = connection.execute("INSERT OR IGNORE INTO answers VALUES (?, ?, ?, ?, ?)", row).rowcount
            if stored:
                if not connection.execute("UPDATE people SET seen=? WHERE person=?", (now, person.code)).rowcount:
                    raise InputError("answer", "a person who was deleted", "a person who takes part")
                self._data.keep("answers", *row)
                self._data.keep("people", person.code)
        return stored == 1

    def finish(self, person: Person, said: Sequence[str] = ()) -> bool:
        """Note that a person has finished; return False if answers are missing."""
        most = len(texts.asked_at_end(self.plan, self.settings))
        if len(said) > most or any(len(text) > answers.MAX_SAID for text in said):
            expected = f"at most {answers.MAX_SAID} characters each"
            raise InputError("questions at the end", "too many or too long answers", expected)
        with self._data.changing() as connection:
            current = self._person(connection, person.code)
            if current.answered != self._names[person.list]:
                return False
            if not current.finished:
                now = self._clock()
                connection.execute(
                    "UPDATE people SET finished=?, seen=?, said=? WHERE person=?",
                    (now, now, json.dumps(list(said)), person.code),
                )
                self._data.keep("people", person.code)
        return True

    def answers(self) -> list[Answer]:
        """Return all answers, person by person in the order in which they began."""
        with self._data.reading() as connection:
            found = connection.execute(
                "SELECT p.person, p.list, a.trial, a.body, a.seal FROM answers a LEFT JOIN people p ON a.person = p.person "
                "ORDER BY p.started, p.person, a.received, a.trial"
            ).fetchall()
        given = []
        for code, number, trial, body, seal in found:
            if seal != _seal(code, number, trial, body) or trial not in self.trials:
                raise self._damaged(f"person {code}, trial {trial}: it does not fit its seal")
            place = f"{self.path}, person {code}, trial {trial}"
            given.append(answers.checked(self.plan, self.trials[trial], code, number, json.loads(body), place))
        return given

    def said(self) -> dict[str, list[str]]:
        """Return the answers to the questions at the end: person -> answers."""
        with self._data.reading() as connection:
            rows = connection.execute("SELECT person, said FROM people WHERE said != '' ORDER BY started").fetchall()
        try:
            return {code: [str(text) for text in json.loads(said)] for code, said in rows}
        except (ValueError, TypeError) as error:
            raise self._damaged("an answer to a question at the end") from error

    def refused(self) -> dict[str, str]:
        """Return whom the questions at the end exclude, and why: who left before them, and see `answers.refused`."""
        with self._data.reading() as connection:
            left = [code for (code,) in connection.execute("SELECT person FROM people WHERE finished IS NULL")]
        unasked = dict.fromkeys(left, answers.ADMISSION) if self.plan.questions else {}
        return unasked | answers.refused(self.plan, self.said())

    def _damaged(self, found: str) -> RunError:
        cure = "Put the file back from a copy."
        return RunError(str(self.path), f"damaged or edited ({found})", "a file of answers as it was stored", cure)

    def forget(self, who: str) -> int:
        """Delete all that is stored of a person, named by code or by the id of a panel. Return the number of answers."""
        with self._data.reading() as connection:
            row = connection.execute("SELECT person FROM people WHERE person=?", (who,)).fetchone()
            if row is None and (self.folder / KEY).exists():
                row = connection.execute("SELECT person FROM people WHERE id=?", (self._hash(f"id {who}"),)).fetchone()
        if row is None:
            raise InputError(str(self.path), "no such person", "the code of a person, or the id of a panel")
        return self._data.forget(row[0])

    def progress(self) -> "Progress":
        now = self._clock()
        alive = now - 60 * self.settings.timeout
        with self._data.reading() as connection:
            rows = connection.execute("SELECT person, list, started, seen, finished FROM people").fetchall()
            count = connection.execute("SELECT count(*) FROM answers").fetchone()[0]
        lists = [[0, 0, 0] for _ in self.plan.lists]
        minutes = []
        for code, number, started, seen, finished in rows:
            if not 0 <= number < len(lists):
                raise self._damaged(f"person {code}: list {number + 1}")
            kind = 0 if finished is not None else 1 if seen >= alive else 2
            lists[number][kind] += 1
            if finished is not None:
                minutes.append((finished - started) / 60)
        return Progress(
            self.state(), tuple((done, live, gone) for done, live, gone in lists), tuple(self.quotas()), count,
            median(minutes) if minutes else None,
        )  # fmt: skip


def _seal(person: str, number: int, trial: str, body: str) -> str:
    """Return the hash of an answer and of whose it is."""
    return hashlib.sha256(json.dumps([person, number, trial, body]).encode()).hexdigest()[:32]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a study is."""

    state: State
    # For each list, how many have finished, are taking part, and have gone without finishing; and how many are planned.
    lists: tuple[tuple[int, int, int], ...]
    quotas: tuple[int, ...]
    answers: int  # the number of stored answers
    minutes: float | None  # the median time of those who finished, in minutes; None if nobody has

    @property
    def totals(self) -> tuple[int, int, int]:
        done, live, gone = (sum(kinds) for kinds in zip(*self.lists, strict=True))
        return done, live, gone


def faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    try:
        made = plan.read(folder)
    except SyntagmError as error:
        return {folder / plan.NAME: error}
    try:
        texts.read(folder, made.design)
    except InputError as error:
        found[Path(error.place.partition(",")[0])] = error
    data = Database(folder, plan.digest(folder), lambda line: None)
    try:
        with data.reading():
            pass
    except RunError as error:
        found[Path(error.place)] = error
    cure = "`syntagm serve --experiment` and `experiment close` put back what either file has."
    for path, fault in data.faults.items():
        found[path] = RunError(str(path), fault, "the answers as they were stored", cure)
    return found


def renew(folder: Path) -> list[str]:
    """Renew the seal of a plan after an intended change."""
    renewed = plan.PLAN.renewed(folder / plan.NAME)
    if renewed is None:
        return []
    if begun(folder):
        raise RunError(str(folder), "answers to the plan as it was", "an experiment that nobody has answered")
    plan.of_content(renewed, str(folder / plan.NAME))
    plan.PLAN.write(folder / plan.NAME, renewed)
    return [plan.NAME]
