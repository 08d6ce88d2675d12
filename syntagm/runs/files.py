"""The files of a run directory: their shapes, and reading that refuses what was damaged or edited.

run.json             the record: the task, its options, the suites, the kinds of measures, the model and its scoring
                     settings, the hashes of the files beside it; sealed (`core.io.record`). After the seal stands the
                     `place` of the model among those of the command, from 0
ledger.jsonl         a sealed line for each finished unit, with the hashes of its files
shards/NAME.*        the tables of each unit, as its task declares them: `NAME.results.parquet` for all tasks;
                     for predictions and measures `NAME.parquet`, with one row per sentence and its tokens;
                     for gaps `NAME.contexts.parquet` and `NAME.lemmas.parquet`; for people `NAME.answers.parquet`
words.csv            the word list, for gaps
results.parquet/.csv all results, when the run is done
"""

import hashlib
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from syntagm.core import InputError, RunError, Shape, record as records, regular, shape
from syntagm.evaluation import SUITE_SHAPE, Kind, Options
from syntagm.runs.tasks import TASKS

LEDGER = "ledger.jsonl"
_RECORD_SHAPE: Shape = {
    "format": int,
    "task": frozenset(TASKS),
    "status": frozenset({"running", "interrupted", "done"}),
    "started": str,
    "finished": (str, None),
    "command": str,
    "versions": {"syntagm": str, "python": str, "platform": str},
    "model": {
        "name": str,
        "label?": str,
        "fingerprint": str,
        "start": (str, None),
        "end": (str, None),
        "noise": float,
        "sees": str,
        "exact": bool,
        "policies": {str: str},
        "record": dict,
    },
    "suites": [SUITE_SHAPE],
    "files": {str: str},
    "renewed?": records.RENEWED,
    "place?": int,
}
_LINE_SHAPE: Shape = {
    "shard": str,
    "suite": str,
    "files": {str: str},
    "suites?": [str],
    "undefined": {str: int},
    "cached": int,
}


_KINDS_SHAPE: Shape = {str: frozenset(kind.value for kind in Kind)}


def _shape(record: Mapping[str, Any]) -> Shape:
    """Return the shape of a record, which depends on its format and on the task of the run."""
    task = TASKS.get(record["task"]) if isinstance(record.get("task"), str) else None
    kinds: Shape = {} if record.get("format") == 3 else {"kinds": _KINDS_SHAPE}
    return _RECORD_SHAPE | kinds | (task.recorded if task else {})


def kinds(task: str, options: Options, suites: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the kinds of all measures of a run, as its record has them: measure -> `Kind.value`."""
    measures = dict.fromkeys(name for suite in suites for name in suite["predictions"])
    return {name: TASKS[task].kind(name, options).value for name in measures}


def _with_kinds(record: dict[str, Any]) -> dict[str, Any]:
    """Return a record of format 3, which lacks the kinds of measures, in format 4."""
    return record | {"format": 4, "kinds": kinds(record["task"], record["options"], record["suites"])}


RECORD = records.Form(
    name="the record of a run",
    format=4,
    shape=_shape,
    earlier={3: _with_kinds},
    beside="place",
    cure="If the change was intended, `syntagm seal {folder}` renews the seal. Otherwise rename the folder and run again; "
    "answers in the cache are not computed again.",
)
_AGAIN = "Repeat the command that made the run: it computes what is missing."


def has_run(folder: Path) -> bool:
    """Return whether a folder contains a run: its record, or what only a run with a record has."""
    return (folder / "run.json").exists() or lost_record(folder) is not None


def lost_record(folder: Path) -> RunError | None:
    """Return an error if a folder has the ledger or the tables of a run, but no record: it is the first file of a run."""
    if (folder / "run.json").exists():
        return None
    left = LEDGER if (folder / LEDGER).exists() else next((folder / "shards").glob("*.results.parquet"), None)
    if left is None:
        return None
    found = f"no such file, beside {left if isinstance(left, str) else 'shards'} of a run"
    return RunError(str(folder / "run.json"), found, RECORD.name, f"{_AGAIN} Otherwise move the folder away.")


def read_record(folder: Path) -> dict[str, Any] | None:
    """Return the content of run.json; None if the folder contains no run."""
    path = folder / "run.json"
    if path.exists():
        return RECORD.read(path)
    if lost := lost_record(folder):
        raise lost
    return None


def place_of(folder: Path) -> float:
    """Return the place of a run among those of its command; infinity if it has none, or if its record can't be read."""
    try:
        return float((read_record(folder) or {}).get("place", math.inf))
    except (RunError, OSError):
        return math.inf


def is_done(folder: Path) -> bool:
    """Return whether the record in a folder says that its run is done; False for one that can't be read."""
    try:
        return (read_record(folder) or {}).get("status") == "done"
    except (RunError, OSError):
        return False


def read_ledger(folder: Path, record: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the finished units by name. A last line that was cut short by a kill is ignored."""
    path, expected = folder / LEDGER, record["files"].get(LEDGER)
    content = content_of(path)
    whole = hashlib.sha256(content).hexdigest() == expected
    entries, faults = ledger_lines(content, path, verified=whole)
    if faults:
        raise faults[0]
    if expected is not None and not whole:
        raise damaged(path, _AGAIN)
    return entries


def ledger_lines(
    content: bytes, path: Path, verified: bool = False
) -> tuple[dict[str, dict[str, Any]], list[RunError]]:
    entries: dict[str, dict[str, Any]] = {}
    faults: list[RunError] = []
    *lines, rest = content.split(b"\n")
    for number, line in enumerate([*lines, *([rest] if records.is_sealed(rest) else [])], 1):
        place = f"{path}, line {number}"
        if not (verified or records.is_sealed(line)):
            found = "damaged or edited: its content does not fit its seal"
            faults.append(RunError(place, found, "a line as it was written", _AGAIN))
            continue
        try:
            entry = records.own(line, place)
            entry.pop("seal")
            shape.check(entry, _LINE_SHAPE, place)
        except InputError as error:
            faults.append(RunError(error.place, error.found, error.expected, _AGAIN))
        else:
            if entry["shard"] in entries:
                faults.append(RunError(place, f"unit {entry['shard']} a second time", "one line per unit", _AGAIN))
            entries[entry["shard"]] = entry
    return entries, faults


def read_shard(folder: Path, name: str, kind: str, ledger: Mapping[str, dict[str, Any]]) -> bytes | None:
    """Return a file of a finished shard; None if it is missing or its hash differs from that in the ledger."""
    content = content_of(folder / "shards" / f"{name}.{kind}")
    return content if hashlib.sha256(content).hexdigest() == ledger[name]["files"].get(kind) else None


def content_of(path: Path) -> bytes:
    """Return the content of a file; empty if there is no such file."""
    try:
        return regular.content(path)
    except FileNotFoundError:
        return b""
    except OSError as error:
        cure = (
            "If it can't be restored, delete it, and repeat the command that made the run: it computes what is missing."
        )
        raise RunError(str(path), f"can't be read ({error.strerror})", "a file of the run", cure) from error


def damaged(path: Path, cure: str = _AGAIN) -> RunError:
    """Return the exception for a file of a run that does not have its recorded hash."""
    return RunError(str(path), "damaged, edited or missing", "the file as it was written", cure)
