"""The ledger of a run directory: what is planned, what is finished, and that both survive a kill.

Files are written whole (temporary file, fsync, rename); a unit counts as finished once its line stands in the ledger.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from syntagm.errors import Interrupted, RunError
from syntagm.io import atomic, csv, lock, record
from syntagm.models.contract import LanguageModel
from syntagm.progress import Progress
from syntagm.runs.store import FORMAT, Run, open_run, read_ledger, read_record, read_shard
from syntagm.tasks.task import Judged, Options, Plan, Task, Unit

RESULT_COLUMNS = ("model", "suite", "item", "measure", "value", "margin")
# The temporary files that a killed run leaves behind; any other file in the folder is not ours to delete.
_LEFT = re.compile(r"\.(run\.json|words\.csv|results\.(csv|parquet)|[0-9a-f]{32}\.([a-z]+\.)?parquet)\.\d+\.tmp")


def tolerance(model: LanguageModel) -> float:
    """Return the margin in bits within which there is a tie: 1e-4, or the model's measured numerical error if larger."""
    return max(1e-4, model.numerical_error)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the run directory, made if it does not exist, against other processes.

    Raises:
        RunError: it can't be made or written, or another process holds it.
    """
    with lock.held(folder):
        try:
            (folder / "shards").mkdir(exist_ok=True)
        except OSError as error:
            raise atomic.refusal(folder, error, 0) from error
        for left in (*folder.glob(".*.tmp"), *(folder / "shards").glob(".*.tmp")):
            if _LEFT.fullmatch(left.name):
                left.unlink(missing_ok=True)
        yield


class Ledger:
    """The record and the ledger of a run directory that this process holds (`locked`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._standing = read_record(folder)
        self._record: dict[str, Any] = self._standing or {}
        self._complete = False

    @property
    def options(self) -> Options:
        """The options of the run that stands in the folder; empty if there is none."""
        options: Options = self._standing["options"] if self._standing else {}
        return options

    def tolerance(self, model: LanguageModel) -> float:
        """Return the margin in bits within which there is a tie.

        It rests on a measurement, so a run that is continued keeps the tolerance it began with.
        """
        return float(self.options["tolerance"]) if self._standing else tolerance(model)

    def open(
        self, task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str, progress: Progress
    ) -> list[Unit]:
        """Enter the plan, or check that it is that of the run which stands there; return the units that are missing.

        Raises:
            RunError: another run stands there.
        """
        fresh = new_record(task, model, options, plan, command)
        if self._standing is not None:
            _refuse_another(self._folder, self._standing, fresh)
            # Tags that are not refused change no number, so the latest hold, and what is counted by them.
            fresh = self._standing | {key: fresh[key] for key in ("suites", "contexts") if key in fresh}
        self._record = fresh
        _write_record(self._folder, fresh)
        for name, content in plan.files.items():
            atomic.write(self._folder / name, content)
        finished = _verified(self._folder, [unit.name for unit in plan.units], task.tables(options), progress)
        missing = [unit for unit in plan.units if unit.name not in finished]
        total = sum(unit.size for unit in plan.units)
        progress.planned(total, total - sum(unit.size for unit in missing), len(plan.suites))
        written = all((self._folder / name).is_file() for name in ("results.csv", "results.parquet"))
        self._complete = not missing and fresh["status"] == "done" and written
        return missing

    def commit(self, unit: Unit, judged: Judged, cached: int) -> None:
        """Write the tables of a unit, and then its line in the ledger."""
        files = {ending: _parquet(table) for ending, table in judged.tables.items()}
        for ending, content in files.items():
            atomic.write(self._folder / "shards" / f"{unit.name}.{ending}", content)
        digests = {ending: hashlib.sha256(content).hexdigest() for ending, content in files.items()}
        line: dict[str, Any] = {"shard": unit.name, "suite": unit.suite, "files": digests}
        line |= {"suites": judged.suites} if judged.suites else {}
        line |= {"undefined": dict(judged.undefined), "cached": cached}
        atomic.append(self._folder / "ledger.jsonl", json.dumps(line))

    def run(self) -> Run:
        """Return the run as it stands in the folder."""
        return open_run(self._folder)

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Write all results when the work inside is done; enter into the record that it was interrupted, if it was."""
        if self._complete:
            yield
            return
        try:
            yield
        except (Interrupted, KeyboardInterrupt):
            _write_record(self._folder, {**self._record, "status": "interrupted"})
            raise
        run = Run(self._folder, self._record, read_ledger(self._folder))
        atomic.write_parts(self._folder / "results.csv", _lines(run))
        atomic.write(self._folder / "results.parquet", _parquet(run.results()))
        finished = datetime.now(UTC).isoformat(timespec="seconds")
        _write_record(self._folder, {**self._record, "status": "done", "finished": finished})


def new_record(task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str) -> dict[str, Any]:
    """Return the record of a run that begins now, as it is read back from JSON."""
    about = {
        "name": model.name,
        "fingerprint": model.fingerprint,
        "start": model.bos,
        "end": model.eos,
        "noise": model.numerical_error,
        "sees": model.sees,
        "exact": model.exact,
    }
    record: dict[str, Any] = {
        "format": FORMAT,
        "task": task.name,
        "status": "running",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "finished": None,
        "command": command,
        "versions": {
            "syntagm": version("syntagm"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
        "model": about | {"policies": dict(model.settings), "record": dict(model.record)},
        "options": options,
        "suites": [asdict(suite) for suite in plan.suites],
        **plan.record,
    }
    as_read: dict[str, Any] = json.loads(json.dumps(record, default=str))
    return as_read


def _refuse_another(folder: Path, standing: dict[str, Any], fresh: dict[str, Any]) -> None:
    cure = "Choose another folder, or give the command that began this run."
    if standing["task"] != fresh["task"]:
        raise RunError(str(folder), f"a run of the task {standing['task']}", f"one of the task {fresh['task']}", cure)
    if standing["model"]["fingerprint"] != fresh["model"]["fingerprint"]:
        found, wanted = (
            f"a run of {one['model']['name']} ({one['model']['fingerprint'][:8]})" for one in (standing, fresh)
        )
        raise RunError(str(folder), found, wanted, cure)
    record.refuse_another(folder, "a run", standing["options"], fresh["options"], cure)
    here, there = ({suite["name"]: suite["hash"] for suite in one["suites"]} for one in (standing, fresh))
    if list(here.items()) != list(there.items()):
        odd = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        differs = f"Different: {', '.join(odd[:5])}." if odd else "Their order is another."
        raise RunError(str(folder), "a run on other suites", "the same, in the same order", f"{differs} {cure}")
    _refuse_other_tags(folder, standing, fresh, cure)


def _refuse_other_tags(folder: Path, standing: dict[str, Any], fresh: dict[str, Any], cure: str) -> None:
    """Refuse tags that are not in a suite's hash but by which suites would be asked otherwise: their units have other names."""
    if all(list(one["shards"]) == list(other["shards"]) for one, other in _pairs(standing, fresh)):
        return
    here, there = ({suite["name"]: suite["tags"] for suite in one["suites"]} for one in (standing, fresh))
    said = "A tag may say the labels of contexts, as `number` does."
    record.refuse_another(folder, "a run", here, there, f"{said} {cure}")


def _pairs(standing: dict[str, Any], fresh: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    return zip(standing["suites"], fresh["suites"], strict=True)


def _verified(folder: Path, names: Iterable[str], tables: Iterable[str], progress: Progress) -> set[str]:
    """Return the units that are finished and undamaged; damaged files are moved aside."""
    entries, endings = read_ledger(folder), set(tables)
    finished = set()
    for name in (one for one in names if one in entries):
        if entries[name]["files"].keys() == endings and all(
            read_shard(folder, name, ending, entries) is not None for ending in endings
        ):
            finished.add(name)
            continue
        for path in sorted((folder / "shards").glob(f"{name}.*")):
            os.replace(path, path.with_name(f"damaged-{time.time_ns()}-{path.name}"))
        progress.warned(f"{folder}: shard {name[:8]} is damaged; it is moved aside and computed again")
    return finished


def _lines(run: Run) -> Iterator[bytes]:
    """Give the lines of results.csv, one suite in memory at a time."""
    yield from (line.encode() for line in csv.lines(RESULT_COLUMNS, []))
    for suite in run.suites:
        lines = csv.lines(RESULT_COLUMNS, run.results(suite.name).select(RESULT_COLUMNS).iter_rows())
        next(lines)
        yield from (line.encode() for line in lines)


def _parquet(table: pl.DataFrame) -> bytes:
    buffer = BytesIO()
    table.write_parquet(buffer, compression="zstd")
    return buffer.getvalue()


def _write_record(folder: Path, record: Mapping[str, Any]) -> None:
    atomic.write(folder / "run.json", json.dumps(record, indent=2, ensure_ascii=False, default=str).encode())
