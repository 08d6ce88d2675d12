"""Seals of folders: hashes of the files that programs read, so that damaged or edited files are refused.

    seal.json    {"format": 2, "files": {"model.safetensors": SHA-256, ...}, "renewed": [...], "seal": SHA-256}

The file is a sealed record (`core/io/record.py`). Folders written by other programs have no such file and are not checked.
"""

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from syntagm.core.errors import RunError, SyntagmError
from syntagm.core.io import hashing, regular
from syntagm.core.io.record import RENEWED, Form

FILE = "seal.json"
# Files of unfinished work, which don't belong to the result.
_UNFINISHED = frozenset({FILE, "lock", "state", "unfinished"})
# Suffixes of the files that programs read. Notes and pictures are not sealed.
_TEXTS = frozenset({".json", ".txt", ".py", ".jinja"})
_READ = _TEXTS | {".safetensors", ".bin", ".pt", ".pth", ".ckpt", ".pkl", ".model"}
_CURE = "Restore the file. If the change was intended, run `syntagm seal {folder}` to renew the seal."
FORM = Form(
    "the seal of a folder",
    2,
    {"format": int, "files": {str: str}, "renewed": RENEWED},
    _CURE,
    "Another version of Syntagm sealed the folder. If its files are right, `syntagm seal {folder}` seals it again.",
)


def write(folder: Path, coming: Mapping[str, bytes] | None = None) -> None:
    hashes = _hashes(folder) | {name: hashlib.sha256(content).hexdigest() for name, content in (coming or {}).items()}
    FORM.write(folder / FILE, _content(hashes, []))


def renew(folder: Path) -> list[str]:
    """Renew the seal of a folder after an intended change. The seal records the time and the changed files."""
    hashes = _hashes(folder)
    before: dict[str, str] = {}
    renewed: list[dict[str, Any]] = []
    # Without a seal, or with a damaged one, all files count as changed.
    with contextlib.suppress(SyntagmError):
        content = FORM.read(folder / FILE)
        before, renewed = content["files"], content["renewed"]
    changed = sorted(name for name in before.keys() | hashes.keys() if before.get(name) != hashes.get(name))
    if changed:
        when = datetime.now(UTC).isoformat(timespec="seconds")
        FORM.write(folder / FILE, _content(hashes, [*renewed, {"when": when, "changed": changed}]))
    return changed


def verify(folder: Path, refuse: type[SyntagmError]) -> dict[str, Any] | None:
    if not (folder / FILE).exists():
        return None
    content = FORM.read(folder / FILE, refuse)
    for error in _faults(folder, content, refuse):
        raise error
    return content


def verify_file(folder: Path, name: str, refuse: type[SyntagmError]) -> bool:
    if not (folder / FILE).exists():
        return False
    content = FORM.read(folder / FILE, refuse)
    for error in _listed_faults(
        folder, {key: digest for key, digest in content["files"].items() if key == name}, refuse
    ):
        raise error
    return name in content["files"]


def faults(folder: Path, refuse: type[SyntagmError]) -> dict[Path, SyntagmError]:
    """Return an error for each file of a folder that is damaged, edited, missing or new, and for a damaged seal."""
    try:
        content = FORM.read(folder / FILE, refuse)
    except SyntagmError as error:
        return {folder / FILE: error}
    return {Path(error.place): error for error in _faults(folder, content, refuse)}


def _faults(folder: Path, content: Mapping[str, Any], refuse: type[SyntagmError]) -> Iterator[SyntagmError]:
    yield from _listed_faults(folder, content["files"], refuse)
    cure = _CURE.format(folder=folder)
    for file in _files(folder):
        if file.relative_to(folder).as_posix() not in content["files"]:
            yield refuse(str(file), "a file that is not listed in seal.json", "only the sealed files", cure)


def _listed_faults(folder: Path, sealed: Mapping[str, str], refuse: type[SyntagmError]) -> Iterator[SyntagmError]:
    cure = _CURE.format(folder=folder)
    for name, digest in sealed.items():
        file = folder / name
        if not file.is_file():
            yield refuse(str(file), "no such file", "a file that is listed in seal.json", cure)
            continue
        try:
            whole = _hash(file, refuse) == digest
        except SyntagmError as error:
            yield error
            continue
        if not whole:
            found, expected = "a file that was damaged or edited after sealing", "the file as it was sealed"
            yield refuse(str(file), found, expected, cure)


def demand(folder: Path, refuse: type[SyntagmError]) -> dict[str, Any]:
    """Check the files of a folder against its seal, as `verify` does, and refuse a folder without a seal."""
    refuse_unsealed(folder, refuse)
    return verify(folder, refuse) or {}


def refuse_unsealed(folder: Path, refuse: type[SyntagmError]) -> None:
    """Refuse a folder without a seal; its files are not read."""
    if not (folder / FILE).exists():
        cure = f"If the files are correct, run `syntagm seal {folder}` to seal them."
        raise refuse(str(folder), f"no {FILE}", "a folder that `syntagm train` or `syntagm import` has finished", cure)


def renewals(folder: Path) -> list[str]:
    """Describe each renewal of a folder's seal by time and changed files. The folder must already be verified."""
    if not (folder / FILE).is_file():
        return []
    renewed = FORM.read(folder / FILE)["renewed"]
    return [f"{entry['when']}: {', '.join(entry['changed']) or 'no change'}" for entry in renewed]


def _content(hashes: Mapping[str, str], renewed: list[dict[str, Any]]) -> dict[str, Any]:
    return {"files": dict(sorted(hashes.items())), "renewed": renewed}


def _hashes(folder: Path) -> dict[str, str]:
    return {file.relative_to(folder).as_posix(): _hash(file, RunError) for file in _files(folder)}


def _files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith(".") for part in parts)
        if path.is_file() and path.suffix in _READ and parts[0] not in _UNFINISHED and not hidden:
            yield path


def _hash(file: Path, refuse: type[SyntagmError]) -> str:
    try:
        return hashing.of_file(file, regular.MAX_BYTES if file.suffix in _TEXTS else hashing.MAX_BYTES)
    except OSError as error:
        cure = _CURE.format(folder=file.parent)
        raise refuse(str(file), f"can't be read ({error.strerror})", "a file that can be read", cure) from error
