"""A cache of rendered pages, tables and figures in the user's cache folder, so that a second start shows them at once.

A file's name is the hash of what its content depends on: the records and ledgers of the runs, which have the hashes of
their tables, their names, the page, and this installation with the packages that add to it. It also depends on the times
and sizes of the tables: a page of tables that were touched since is made again, which reads them and refuses damaged ones.
A file begins with the hash of what follows; a damaged one is a miss. Nothing is read from it but whole pages, so a fault
of the cache costs time, and changes no number.
"""

import contextlib
import hashlib
import os
import platform
from collections.abc import Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from syntagm.core import RunError, SyntagmError, atomic, registry, regular
from syntagm.evaluation import suite_hash
from syntagm.runs import LEDGER, Run, default_path
from syntagm.suites import Suite

FOLDER, ENDING = "pages", ".page"
# The most bytes of all files, and of one.
MOST_BYTES, LARGEST = 256_000_000, 32_000_000
# What else changes numbers or figures.
_PACKAGES = ("syntagm", "polars", "numpy", "scipy", "altair", "vl-convert-python", "jinja2")
_DIGITS = 64


class PageCache:
    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder or default_path().parent / FOLDER
        self._bytes: int | None = None

    def get(self, key: str) -> bytes | None:
        """Return what was put under a key; None if it is not there, or damaged."""
        path = self._path(key)
        try:
            found = content_of(path)
            os.utime(path)  # those used last stay
        except OSError:
            return None
        except RunError:
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return found

    def put(self, key: str, content: bytes) -> None:
        """Keep content under a key, and delete what was used least if there is too much."""
        if len(content) > LARGEST:
            return
        # A folder that can't be written costs time only.
        with contextlib.suppress(SyntagmError, OSError):
            if not self.folder.is_dir():
                atomic.make_folder(self.folder)
            atomic.write(self._path(key), hashlib.sha256(content).hexdigest().encode() + b"\n" + content)
            self._bytes = None if self._bytes is None else self._bytes + len(content)
            if self._bytes is None or self._bytes > MOST_BYTES:
                self._shrink()

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{ENDING}"

    def _shrink(self) -> None:
        """Delete files until a quarter of the room is free, if there are too many bytes."""
        files = []
        for path in self.folder.glob(f"*{ENDING}"):
            with contextlib.suppress(OSError):
                status = path.stat(follow_symlinks=False)
                files.append((status.st_mtime_ns, status.st_size, path))
        self._bytes = sum(size for _, size, _ in files)
        if self._bytes <= MOST_BYTES:
            return
        for _, size, path in sorted(files):
            with contextlib.suppress(OSError):
                path.unlink()
                self._bytes -= size
            if self._bytes <= 0.75 * MOST_BYTES:
                return


def content_of(path: Path) -> bytes:
    digest, _, content = regular.content(path, LARGEST + _DIGITS + 1).partition(b"\n")
    if hashlib.sha256(content).hexdigest().encode() != digest:
        raise RunError(str(path), "damaged or edited", "a page as it was made", "Delete it; it is made again.")
    return content


def faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    for path in sorted(folder.glob(f"{'?' * _DIGITS}{ENDING}")):
        try:
            content_of(path)
        except RunError as error:
            found[path] = error
    return found


def key_of(runs: Sequence[Run], suites: Sequence[Suite], others: Sequence[Path] = ()) -> str:
    found = [installation()]
    for run in runs:
        if not (run.done and run.root):
            return ""
        try:
            files = [hashlib.sha256(regular.content(run.root / name)).hexdigest() for name in ("run.json", LEDGER)]
        except OSError:
            return ""
        found += [run.name, str(run.root), *files]
    try:
        found += [part for path in others for part in (str(path), hashlib.sha256(regular.content(path)).hexdigest())]
    except OSError:
        return ""
    return _hash(found + [part for suite in suites for part in (suite.name, suite_hash(suite))])


def key_within(key: str, runs: Sequence[Run], name: object) -> str:
    """Return the key of something about runs and suites, as the files of the runs are now."""
    return _hash([key, repr(name), *(_state(path) for run in runs for path in run.paths)])


def _state(path: str | Path) -> str:
    """Return what changes when a file is written, even if its size and its time of modification are put back."""
    try:
        status = os.stat(path)
    except OSError:
        return "missing"
    return f"{status.st_mtime_ns} {status.st_ctime_ns} {status.st_size}"


@cache
def installation() -> str:
    """Return the hash of this installation: of the versions of packages, and the states of its files and theirs that add."""
    added = registry.added_packages()
    files = []
    for place in [Path(__file__).resolve().parents[2], *(path for _, paths in added for path in paths)]:
        if place.is_file():
            files.append(f"{place} {_state(place)}")
        for folder, folders, names in os.walk(place):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            paths = (os.path.join(folder, name) for name in sorted(names))
            files += [f"{path} {_state(path)}" for path in paths]
    versions = [platform.python_version(), platform.machine(), *(name for name, _ in added)]
    for package in _PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    return _hash(versions + files)


def _hash(parts: Sequence[str]) -> str:
    found = hashlib.sha256()
    for part in parts:
        # With its length, so that two lists are never the same text.
        data = part.encode("utf-8", "surrogatepass")
        found.update(f"{len(data)}:".encode() + data)
    return found.hexdigest()
