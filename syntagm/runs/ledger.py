"""The record and the ledger of a run directory. Both survive a killed process.

Files are written atomically (temporary file, fsync, rename). A unit is finished once the ledger has a line for it.
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

from syntagm.errors import Interrupted, RunError, SyntagmError
from syntagm.io import atomic, csv, hashing, lock, record
from syntagm.models.contract import LanguageModel
from syntagm.progress import Progress
from syntagm.runs.store import FORMAT, Run, damaged_shard, open_run, read_ledger, read_record, read_shard
from syntagm.tasks.task import Judged, Options, Plan, Task, Unit

RESULT_COLUMNS = ("model", "suite", "item", "measure", "value", "margin")
_RESULTS = ("results.csv", "results.parquet")
# The temporary files that a killed run leaves behind. No other file in the folder is deleted.
_TEMPORARY = re.compile(
    r"\.(run\.json|words\.csv|results\.(csv|parquet)|[0-9a-f]{32}\.([a-z]+\.)?parquet)\.\d+(-[0-9a-f]+)?\.tmp"
)


def tolerance(model: LanguageModel) -> float:
    """Return the tolerance for ties in bits: 1e-4, or the model's measured numerical error if larger."""
    return max(1e-4, model.numerical_error)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run directory against other processes, and create it if it does not exist.

    Raises:
        RunError: the folder can't be created or written, or another process has locked it.
    """
    with lock.held(folder):
        try:
            (folder / "shards").mkdir(exist_ok=True)
        except OSError as error:
            raise atomic.refusal(folder, error, 0) from error
        for path in (*folder.glob(".*.tmp"), *(folder / "shards").glob(".*.tmp")):
            if _TEMPORARY.fullmatch(path.name):
                path.unlink(missing_ok=True)
        yield


class Ledger:
    """The record and the ledger of a run directory that this process has locked (`locked`)."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._recorded = read_record(folder)
        self._record: dict[str, Any] = self._recorded or {}
        self._complete = False

    @property
    def options(self) -> Options:
        """The options of the run that the folder already contains; empty if there is none."""
        options: Options = self._recorded["options"] if self._recorded else {}
        return options

    def tolerance(self, model: LanguageModel) -> float:
        """Return the tolerance for ties in bits.

        The tolerance depends on a measurement, so a resumed run keeps its first tolerance.
        """
        return float(self.options["tolerance"]) if self._recorded else tolerance(model)

    def open(
        self, task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str, progress: Progress
    ) -> list[Unit]:
        """Record the plan of a new run, or check it against the run in the folder; return the missing units.

        Raises:
            RunError: the folder contains another run.
        """
        new = new_record(task, model, options, plan, command)
        if self._recorded is not None:
            _refuse_another(self._folder, self._recorded, new)
            # Tags that are not refused change no number. The latest tags, and counts that depend on them, are recorded.
            new = self._recorded | {key: new[key] for key in ("suites", "contexts") if key in new}
        self._record = new
        _write_record(self._folder, new)
        for name, content in plan.files.items():
            atomic.write(self._folder / name, content)
        finished = _verified(self._folder, [unit.name for unit in plan.units], task.tables(options), progress)
        missing = [unit for unit in plan.units if unit.name not in finished]
        total = sum(unit.size for unit in plan.units)
        progress.planned(total, total - sum(unit.size for unit in missing), len(plan.suites))
        finished_before = not missing and new["status"] == "done"
        self._complete = finished_before and not self._changed_results(progress)
        return missing

    def _changed_results(self, progress: Progress) -> list[str]:
        """Return the result files that have changed since they were written, and warn about each."""
        recorded = self._record.get("results", {})
        changed = [name for name in _RESULTS if _hash_of(self._folder / name) != recorded.get(name)]
        # Runs of earlier versions recorded no hashes: their results are written again, which changes nothing.
        for name in changed if recorded else ():
            progress.warned(
                f"{self._folder}: {name} is damaged, edited or missing; it is written again from the shards"
            )
        return changed

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
        """Read the run from the folder."""
        return open_run(self._folder)

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Write all results when the `with` block ends. If it is interrupted, note this in the record."""
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
        results = {name: _hash_of(self._folder / name) for name in _RESULTS}
        _write_record(self._folder, {**self._record, "status": "done", "finished": finished, "results": results})


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for each file of a run that is damaged or missing. No file is changed."""
    try:
        run = open_run(folder)
    except SyntagmError as error:
        return {Path(error.place): error}
    faults: dict[Path, SyntagmError] = {}
    entries = read_ledger(folder)
    for name, entry in entries.items():
        for ending in entry["files"]:
            if read_shard(folder, name, ending, entries) is None:
                path = folder / "shards" / f"{name}.{ending}"
                faults[path] = damaged_shard(path)
    for name, digest in run.record.get("results", {}).items():
        if _hash_of(folder / name) != digest:
            cure = "Run the same `syntagm run` command again, which writes it again."
            found = "damaged, edited or missing"
            faults[folder / name] = RunError(str(folder / name), found, "the file as it was written", cure)
    return faults


def _hash_of(path: Path) -> str:
    """Return the SHA-256 of a file; "" if it can't be read."""
    try:
        return hashing.of_file(path)
    except OSError:
        return ""


def new_record(task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str) -> dict[str, Any]:
    """Return the record of a run that begins now, in the form that reading it from JSON gives."""
    model_entry = {
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
        "model": model_entry | {"policies": dict(model.settings), "record": dict(model.record)},
        "options": options,
        "suites": [asdict(suite) for suite in plan.suites],
        **plan.record,
    }
    as_read: dict[str, Any] = json.loads(json.dumps(record, default=str))
    return as_read


def _refuse_another(folder: Path, recorded: dict[str, Any], new: dict[str, Any]) -> None:
    cure = "Choose another folder, or repeat the command that began this run."
    if recorded["task"] != new["task"]:
        raise RunError(str(folder), f"a run of the task {recorded['task']}", f"a run of the task {new['task']}", cure)
    if recorded["model"]["fingerprint"] != new["model"]["fingerprint"]:
        found, wanted = (
            f"a run of {run['model']['name']} ({run['model']['fingerprint'][:8]})" for run in (recorded, new)
        )
        raise RunError(str(folder), found, wanted, cure)
    record.refuse_another(folder, "a run", recorded["options"], new["options"], cure)
    old_hashes, new_hashes = ({suite["name"]: suite["hash"] for suite in run["suites"]} for run in (recorded, new))
    if list(old_hashes.items()) != list(new_hashes.items()):
        names = old_hashes.keys() | new_hashes.keys()
        changed = sorted(name for name in names if old_hashes.get(name) != new_hashes.get(name))
        differs = f"Different: {', '.join(changed[:5])}." if changed else "Their order is different."
        raise RunError(str(folder), "a run on other suites", "the same suites in the same order", f"{differs} {cure}")
    _refuse_other_tags(folder, recorded, new, cure)


def _refuse_other_tags(folder: Path, recorded: dict[str, Any], new: dict[str, Any], cure: str) -> None:
    """Refuse tags that have changed and affect a suite's questions, but not its hash."""
    if all(list(old_suite["shards"]) == list(new_suite["shards"]) for old_suite, new_suite in _pairs(recorded, new)):
        return
    old_tags, new_tags = ({suite["name"]: suite["tags"] for suite in run["suites"]} for run in (recorded, new))
    reason = "A tag may determine the labels of contexts, as `number` does."
    record.refuse_another(folder, "a run", old_tags, new_tags, f"{reason} {cure}")


def _pairs(recorded: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    return zip(recorded["suites"], new["suites"], strict=True)


def _verified(folder: Path, names: Iterable[str], tables: Iterable[str], progress: Progress) -> set[str]:
    """Return the names of the units that are finished and undamaged. Damaged files are renamed."""
    entries, endings = read_ledger(folder), set(tables)
    finished = set()
    for name in (planned for planned in names if planned in entries):
        if entries[name]["files"].keys() == endings and all(
            read_shard(folder, name, ending, entries) is not None for ending in endings
        ):
            finished.add(name)
            continue
        for path in sorted((folder / "shards").glob(f"{name}.*")):
            os.replace(path, path.with_name(f"damaged-{time.time_ns()}-{path.name}"))
        progress.warned(f"{folder}: shard {name[:8]} is damaged; it is renamed and computed again")
    return finished


def _lines(run: Run) -> Iterator[bytes]:
    """Yield the lines of results.csv, keeping one suite in memory at a time."""
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
