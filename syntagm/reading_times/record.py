"""Records of analyses of reading times: what was read, chosen, dropped and found, sealed beside each file of results."""

import hashlib
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.core import Form, InputError, SyntagmError, atomic, extras, utf8

ENDING = ".reading.json"
# Results are read again for their hash up to this size.
_LARGEST = 2**32
RECORD = Form(
    "the record of an analysis of reading times",
    1,
    {
        "format": int, "command": str, "inputs": {str: str}, "output": str, "output_sha256": str, "settings": dict,
        "rows": int, "dropped": {str: int}, "notes": [str], "alarms": [dict], "results": dict, "versions": {str: str},
    },
    "Repeat the command that wrote it, with --force.",
)  # fmt: skip


def place(output: Path) -> Path:
    """Return the record of a file of results."""
    return output.with_name(output.name + ENDING)


def is_analysis(path: str | Path) -> bool:
    """Return whether a path is a table with a record of an analysis of reading times beside it, or such a record."""
    path = Path(path)
    return path.name.endswith(ENDING) or place(path).is_file()


def write(
    output: Path,
    content: bytes,
    command: str,
    inputs: Mapping[Path, str],
    settings: Mapping[str, Any],
    found: Mapping[str, Any],
    beside: Mapping[Path, bytes] | None = None,
) -> Path:
    """Write a file of results with its record, and return the path of the record."""
    # The record comes first, so that after a kill the same command may replace the file.
    packages = ("syntagm", "numpy", "scipy", "polars")
    versions = {"python": platform.python_version(), **{name: extras.version(name) for name in packages}}
    empty: dict[str, Any] = {"rows": 0, "dropped": {}, "notes": [], "alarms": [], "results": {}}
    written = {
        "command": command, "inputs": {path.name: digest for path, digest in inputs.items()}, "output": output.name,
        "output_sha256": hashlib.sha256(content).hexdigest(), "settings": dict(settings), **empty, **found,
        "versions": versions,
    }  # fmt: skip
    path = place(output)
    RECORD.write(path, written)
    atomic.write_all({**(beside or {}), output: content})
    return path


def inspect(path: Path) -> dict[Path, SyntagmError | None]:
    """Return an error for a record and for its file of results; None where they are as they were written."""
    try:
        content = RECORD.read(path)
    except SyntagmError as error:
        return {path: error}
    results = path.with_name(path.name.removesuffix(ENDING))
    expected = "the file as it was written"
    try:
        digest = hashlib.sha256(utf8.whole(results, _LARGEST)).hexdigest()
    except InputError as error:
        found = error if results.exists() else InputError(str(results), "no such file", expected, RECORD.cure)
        return {path: None, results: found}
    whole = digest == content["output_sha256"]
    return {
        path: None,
        results: None if whole else InputError(str(results), "damaged or edited", expected, RECORD.cure),
    }


def is_ours(output: Path) -> bool:
    """Return whether a file may be replaced: the record beside it says that Syntagm wrote a file of this name."""
    path = place(output)
    if not path.is_file():
        return False
    try:
        content = RECORD.read(path)
    except SyntagmError:
        return False
    return bool(content["output"] == output.name)
