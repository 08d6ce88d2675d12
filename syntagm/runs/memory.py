"""Runs in memory, with the interface of a run directory that the engine uses."""

import contextlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from syntagm.core import Progress
from syntagm.evaluation import Judged, Options, Unit
from syntagm.runs.ledger import Opening
from syntagm.runs.store import Run


class MemoryLedger:
    """The record and the tables of a run in memory, with the methods of `runs.ledger.Ledger`."""

    def __init__(self) -> None:
        self.options: Options = {}
        self._record: dict[str, Any] = {}
        self._files: Mapping[str, bytes] = {}
        self._entries: dict[str, dict[str, Any]] = {}
        self._tables: dict[tuple[str, str], pl.DataFrame] = {}

    def open(self, opening: Opening, progress: Progress) -> list[Unit]:
        """Record the plan and return its units, all of which are missing."""
        self._record, self._files = opening.record, opening.files
        progress.planned(sum(unit.size for unit in opening.units), 0, len(self._record["suites"]))
        return list(opening.units)

    def commit(self, unit: Unit, judged: Judged, cached: int) -> None:
        entry: dict[str, Any] = {"suites": judged.suites} if judged.suites else {}
        self._entries[unit.name] = entry | {"undefined": dict(judged.undefined), "cached": cached}
        self._tables |= {(unit.name, ending): table for ending, table in judged.tables.items()}

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Mark the run as done in its record when the `with` block ends."""
        yield
        self._record |= {"status": "done", "finished": datetime.now(UTC).isoformat(timespec="seconds")}

    def run(self) -> Run:
        return Run(None, self._record, self._entries, self._tables, self._files)
