"""The record and the ledger of a run directory. Both survive a killed process.

Files are written atomically (temporary file, fsync, rename). A unit is finished once the ledger has a line for it.
"""

import contextlib
import hashlib
import json
import os
import platform
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from syntagm.core import (
    Interrupted,
    Progress,
    RunError,
    SyntagmError,
    UsageError,
    atomic,
    extras,
    hashing,
    lock,
    record,
)
from syntagm.evaluation import Judged, Options, Plan, Task, Unit
from syntagm.models import LanguageModel
from syntagm.runs.consistency import refuse_contradictions
from syntagm.runs.encoding import encoded, encoded_results
from syntagm.runs.files import (
    LEDGER,
    RECORD,
    content_of,
    damaged,
    kinds,
    ledger_lines,
    lost_record,
    read_ledger,
    read_record,
    read_shard,
)
from syntagm.runs.store import Run, open_run

_RESULTS = ("results.csv", "results.parquet")
# The largest file of results that is hashed: a thousand times those of 67,000 pairs.
_MOST_BYTES = 2**34
# What the record of a suite says of the plan for one model, and not of the suite.
_PLANNED = frozenset({"predictions", "sentences", "shards", "left_out", "first_left_out", "asked"})


def options_of(task: Task[Any], model: LanguageModel, recorded: Options) -> dict[str, Any]:
    """Return the options that the numbers of a run depend on."""
    tolerance = float(recorded["tolerance"]) if recorded else max(1e-4, model.numerical_error)
    return task.options(model, tolerance, recorded)


@dataclass(frozen=True, slots=True)
class Opening:
    """A planned run, as the ledger needs it. No model and no suite belong to it, so that a worker can plan a run."""

    record: dict[str, Any]  # the record of the run
    units: tuple[Unit, ...]  # the units of all suites, in order
    tables: tuple[str, ...]  # the suffixes of the tables that each unit saves
    files: Mapping[str, bytes]  # further files to save next to the record: name -> content
    warnings: tuple[str, ...]  # sentences to show to the user before the run


def opening(task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str) -> Opening:
    record = new_record(task, model, options, plan, command)
    return Opening(record, plan.units, tuple(task.tables(options)), plan.files, plan.warnings)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Lock a run directory against other processes, and create it if it does not exist."""
    # If nothing is written into a new run directory, it is deleted at the end.
    with lock.held(folder), atomic.used_folder(shards := atomic.inside(folder, "shards")):
        for path in folder.iterdir():
            if path.exists() and not (path.is_file() or path.is_dir() or path.name.startswith(".")):
                cure = "Delete it; the same command then computes what is missing."
                raise RunError(str(path), "a pipe, a device or a socket", "a file of the run", cure)
        # A finished run writes no more shards.
        atomic.sweep(shards)
        yield


class Ledger:
    """The record and the ledger of a run directory that this process has locked (`locked`)."""

    def __init__(self, folder: Path, place: int | None = None) -> None:
        self._folder, self._place = folder, place
        self._lost = lost_record(folder)
        self._recorded = None if self._lost else read_record(folder)
        self._record: dict[str, Any] = self._recorded or {}
        self._complete = False

    @property
    def complete(self) -> bool:
        """Whether the run that was opened is done, with its results."""
        return self._complete

    @property
    def options(self) -> Options:
        """The options of the run that the folder already contains; empty if there is none."""
        options: Options = self._recorded["options"] if self._recorded else {}
        return options

    def open(self, opening: Opening, progress: Progress) -> list[Unit]:
        """Record the plan of a new run, or check it against the run in the folder; return the missing units."""
        new, units = opening.record, opening.units
        recorded = self._recorded
        if recorded is not None:
            _refuse_another(self._folder, recorded, new)
            # Tags that are not refused change no number. The latest tags, and counts that depend on them, are recorded.
            new = recorded | {key: new[key] for key in ("suites", "contexts", "files") if key in new}
            if label := opening.record["model"].get("label"):
                new["model"] = new["model"] | {"label": label}
        new = self._placed(new)
        names = [unit.name for unit in units]
        entries, content, faulty = self._entries(names, progress)
        finished = _verified(self._folder, names, opening.tables, entries, progress)
        # The line of a unit that is computed again would be its second one.
        lines = [record.sealed(entry) + "\n" for name, entry in entries.items() if name in finished]
        whole = "".join(lines).encode()
        repaired = whole if faulty or whole != content else None
        missing = [unit for unit in units if unit.name not in finished]
        self._complete = (
            recorded is not None
            and recorded["status"] == "done"
            and not (missing or repaired is not None or self._changed_results(recorded, progress))
        )
        if recorded is not None and self._complete:
            self._record = new | {"files": recorded["files"] | new["files"]}
        else:
            # From here on, the ledger is not that of a finished run.
            self._record = new | {"status": "running", "finished": None}
        if self._record != recorded:
            RECORD.write(self._folder / "run.json", self._record)
        if repaired is not None:
            atomic.write(self._folder / LEDGER, repaired)
        for name, content in opening.files.items():
            atomic.write(self._folder / name, content)
        total = sum(unit.size for unit in units)
        progress.planned(total, total - sum(unit.size for unit in missing), len(new["suites"]))
        return missing

    def _placed(self, content: dict[str, Any]) -> dict[str, Any]:
        return content if self._place is None else content | {"place": self._place}

    def renew_place(self) -> None:
        """Record the place of the model in the command for a run that is left as it is otherwise."""
        if self._recorded and (record := self._placed(self._recorded)) != self._recorded:
            RECORD.write(self._folder / "run.json", record)

    def _entries(self, names: Iterable[str], progress: Progress) -> tuple[dict[str, dict[str, Any]], bytes, bool]:
        """Read the ledger, and warn if it is damaged. Return the units by name, the content, and whether it is damaged."""
        path = self._folder / LEDGER
        content = content_of(path)
        read, faults = ledger_lines(content, path)
        planned = set(names)
        entries = {name: entry for name, entry in read.items() if name in planned}
        recorded = (self._recorded or {"files": {}})["files"].get(LEDGER)
        if not faults and (recorded not in (None, _hash_of(path)) or len(entries) < len(read)):
            faults = [damaged(path)]
        if self._lost:
            progress.warned(f"{self._lost.place}: {self._lost.found}; it is written again")
        for fault in faults:
            progress.warned(f"{fault.place}: {fault.found}; what is missing is computed again")
        return entries, content, bool(faults)

    def _changed_results(self, recorded: Mapping[str, Any], progress: Progress) -> list[str]:
        """Return the result files that have changed since they were written, and warn about each."""
        changed = [name for name in _RESULTS if _hash_of(self._folder / name) != recorded["files"].get(name)]
        for name in changed:
            progress.warned(
                f"{self._folder}: {name} is damaged, edited or missing; it is written again from the shards"
            )
        return changed

    def commit(self, unit: Unit, judged: Judged, cached: int) -> None:
        """Write the tables of a unit, and then its line in the ledger."""
        line, files = encoded(unit, judged, cached)
        for ending, content in files.items():
            atomic.write(self._shard(line, ending), content)
        atomic.append(self._folder / LEDGER, record.sealed(line))

    def commit_written(self, units: Sequence[tuple[Mapping[str, Any], Mapping[str, Path]]]) -> None:
        """Commit several units at once: move their tables, which are written durably already, and then write their lines."""
        atomic.move({self._shard(line, ending): path for line, files in units for ending, path in files.items()})
        atomic.append(self._folder / LEDGER, *(record.sealed(line) for line, _ in units))

    def _shard(self, line: Mapping[str, Any], ending: str) -> Path:
        return self._folder / "shards" / f"{line['shard']}.{ending}"

    def run(self) -> Run:
        return open_run(self._folder)

    @contextlib.contextmanager
    def finishing(self) -> Iterator[None]:
        """Write all results when the `with` block ends. If it is interrupted, note this in the record."""
        with self.noting_interruption():
            yield
        if not self._complete:
            _write_results(self._folder, self._finished())

    def finish(self, results: Mapping[str, Path], hashes: Mapping[str, str]) -> None:
        """Finish the run with results that are written durably already; see `encoding.encoded_results`."""
        atomic.move({self._folder / name: path for name, path in results.items()})
        _write_record(self._folder, self._finished(), hashes)

    @contextlib.contextmanager
    def noting_interruption(self) -> Iterator[None]:
        """If the `with` block is interrupted before the run is done, note this in the record."""
        try:
            yield
        except (Interrupted, KeyboardInterrupt):
            if not self._complete:
                RECORD.write(self._folder / "run.json", self._record | {"status": "interrupted"})
            raise

    def _finished(self) -> dict[str, Any]:
        return self._record | {"status": "done", "finished": datetime.now(UTC).isoformat(timespec="seconds")}


def _write_results(folder: Path, recorded: Mapping[str, Any]) -> None:
    run = Run(folder, dict(recorded), read_ledger(folder, recorded))
    for name, parts in encoded_results(run).items():
        atomic.write_parts(folder / name, parts)
    _write_record(folder, recorded, {name: _hash_of(folder / name) for name in _RESULTS})


def _write_record(folder: Path, recorded: Mapping[str, Any], results: Mapping[str, str]) -> None:
    hashes = {LEDGER: _hash_of(folder / LEDGER), **results}
    RECORD.write(folder / "run.json", {**recorded, "files": recorded["files"] | hashes})


def renew(folder: Path) -> list[str]:
    """Renew the seal of a run's record after an intended change, and write the results again with it."""
    with locked(folder):
        if (renewed := RECORD.renewed(folder / "run.json")) is None:
            return []
        run = Run(folder, renewed, entries := read_ledger(folder, renewed))
        refuse_contradictions(run, entries)
        # The record comes last: if the process is killed before, the same command renews it.
        if run.done:
            _write_results(folder, renewed)
        else:
            RECORD.write(folder / "run.json", renewed)
        return ["run.json"]


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for each file of a run that is damaged or missing. No file is changed."""
    try:
        recorded = open_run(folder).record
        entries = read_ledger(folder, recorded)
    except SyntagmError as error:
        return {folder / (LEDGER if error.place.startswith(str(folder / LEDGER)) else "run.json"): error}
    faults: dict[Path, SyntagmError] = {}
    for name, entry in entries.items():
        for ending in entry["files"]:
            path = folder / "shards" / f"{name}.{ending}"
            try:
                whole = read_shard(folder, name, ending, entries) is not None
            except RunError as error:
                faults[path] = error
            else:
                faults |= {} if whole else {path: damaged(path)}
    for name, digest in recorded["files"].items():
        if _hash_of(folder / name) != digest:
            faults[folder / name] = damaged(folder / name)
    return faults


def is_unchanged(folder: Path, task: Task[Any], model: LanguageModel, suites: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a folder contains an undamaged, finished run of this model on these suites."""
    # Then its record is the plan that the suites and the model give, and they need not be read and planned to see this.
    recorded = None if lost_record(folder) else read_record(folder)
    return recorded is not None and same_plan(recorded, task, model, suites) and not faults(folder)


def finished(folder: Path) -> dict[str, Any] | None:
    """Return the record of an undamaged, finished run, for `same_plan`; None if the folder contains no such run."""
    recorded = None if lost_record(folder) else read_record(folder)
    return recorded if recorded and recorded["status"] == "done" and not faults(folder) else None


def same_plan(
    recorded: Mapping[str, Any], task: Task[Any], model: LanguageModel, suites: Sequence[Mapping[str, Any]]
) -> bool:
    """Return whether the record of a run is that of a finished one, of this model on these suites; see `is_unchanged`."""
    if recorded["status"] != "done":
        return False
    options = options_of(task, model, recorded["options"])
    new = new_record(task, model, options, Plan((), ()), "") | {"suites": suites}
    return _identity(recorded) == _identity(new)


def _identity(recorded: Mapping[str, Any]) -> list[Any]:
    """Return the parts of a record that determine the plan, and those that are recorded anew when a run is resumed."""
    model = [recorded["model"].get(key) for key in ("name", "label", "fingerprint", "policies", "sees")]
    suites = [{key: value for key, value in suite.items() if key not in _PLANNED} for suite in recorded["suites"]]
    return [recorded["task"], recorded["versions"]["syntagm"], recorded["options"], model, suites]


def _hash_of(path: Path) -> str:
    """Return the SHA-256 of a file; "" if it can't be read."""
    try:
        return hashing.of_file(path, _MOST_BYTES)
    except OSError:
        return ""


def new_record(task: Task[Any], model: LanguageModel, options: Options, plan: Plan, command: str) -> dict[str, Any]:
    """Return the record of a run that begins now, in the form that reading it from JSON gives."""
    label: object = model.label or ""
    if not isinstance(label, str) or any("\ud800" <= character <= "\udfff" for character in label):
        raise UsageError(f"the label of {model.name}", repr(label), "a text")
    model_entry = {
        "name": model.name,
        **({"label": label} if label else {}),
        "fingerprint": model.fingerprint,
        "start": model.bos,
        "end": model.eos,
        "noise": model.numerical_error,
        "sees": model.sees,
        "exact": model.exact,
    }
    suites = [asdict(suite) for suite in plan.suites]
    record: dict[str, Any] = {
        "format": RECORD.format,
        "task": task.name,
        "status": "running",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "finished": None,
        "command": command,
        "versions": {
            "syntagm": extras.version("syntagm"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
        "model": model_entry | {"policies": dict(model.settings), "record": dict(model.record)},
        "options": options,
        "suites": suites,
        "kinds": kinds(task.name, options, suites),
        "files": {name: hashlib.sha256(content).hexdigest() for name, content in plan.files.items()},
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
        same_name = len({run["model"]["name"].partition("@")[0] for run in (recorded, new)}) == 1
        note = "The model has changed since then. " if same_name and _settings(recorded) == _settings(new) else ""
        note = _other_symbols(recorded["model"], new["model"]) or note
        cure = f"{note}Choose another folder, or put back the model with which this run began."
        raise RunError(str(folder), found, wanted, cure)
    # A scoring setting may change which results are computed, and no surprisal.
    record.refuse_another(folder, "a run", _settings(recorded), _settings(new), cure)
    record.refuse_another(folder, "a run", recorded["options"], new["options"], cure)
    old_hashes, new_hashes = ({suite["name"]: suite["hash"] for suite in run["suites"]} for run in (recorded, new))
    if list(old_hashes.items()) != list(new_hashes.items()):
        names = old_hashes.keys() | new_hashes.keys()
        changed = sorted(name for name in names if old_hashes.get(name) != new_hashes.get(name))
        differs = f"Different: {', '.join(changed[:5])}." if changed else "Their order is different."
        raise RunError(str(folder), "a run on other suites", "the same suites in the same order", f"{differs} {cure}")
    _refuse_other_tags(folder, recorded, new, cure)


def _other_symbols(recorded: Mapping[str, Any], new: Mapping[str, Any]) -> str:
    """Return why the same model is scored with other start and end symbols than by an earlier version; else ""."""
    records = recorded["record"], new["record"]
    remarks = [remark for remark in records[1].get("symbols", []) if remark not in records[0].get("symbols", [])]
    if recorded["name"] != new["name"] or records[0].get("weights") != records[1].get("weights") or not remarks:
        return ""
    before = f"the start symbol {recorded['start']!r}" if recorded["start"] is not None else "no start symbol"
    return f"It was begun with {before}, by a version that took symbols by another rule. {' '.join(remarks)} "


def _settings(recorded: Mapping[str, Any]) -> dict[str, str]:
    settings: dict[str, str] = recorded["model"]["policies"]
    return settings


def _refuse_other_tags(folder: Path, recorded: dict[str, Any], new: dict[str, Any], cure: str) -> None:
    """Refuse changed tags, which may affect a suite's questions although its hash is the same."""
    if all(list(old_suite["shards"]) == list(new_suite["shards"]) for old_suite, new_suite in _pairs(recorded, new)):
        return
    old_tags, new_tags = ({suite["name"]: suite["tags"] for suite in run["suites"]} for run in (recorded, new))
    reason = "A tag may determine the labels of contexts, as `number` does."
    record.refuse_another(folder, "a run", old_tags, new_tags, f"{reason} {cure}")


def _pairs(recorded: dict[str, Any], new: dict[str, Any]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    return zip(recorded["suites"], new["suites"], strict=True)


def _verified(
    folder: Path, names: Iterable[str], tables: Iterable[str], entries: Mapping[str, dict[str, Any]], progress: Progress
) -> set[str]:
    """Return the names of the units that are finished and undamaged. Damaged files are renamed."""
    endings = set(tables)
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
