"""The folder of the studio: suites as plain files, every saved version of each, and nothing overwritten unasked.

    NAME.tsv, NAME.toml                       suites and templates, as `syntagm run --suite` reads them
    history/NAME.tsv/0007-saved-HASH.tsv      the versions: saved; refused, because somebody else had saved; found, because
                                              another program had changed the file
    jobs/, experiments/                       what was made of suites; see `studio.jobs`

A version is written to the history before it replaces the file. So after a kill at any moment the file is the old or the
new one, and what was to be saved is there in any case. Whoever saves says which version the editor began with; if the file
is another one by then, nothing is overwritten, and the refused text is kept in the history, too.
"""

import hashlib
import os
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias

from syntagm.core import InputError, RunError, SyntagmError, UsageError, atomic, regular
from syntagm.report import limits

# A name has no dot but that of its ending, so that it is no hidden file and no other folder.
NAME = re.compile(r"[^\W_][\w-]{0,79}\.(?:tsv|toml)")
HISTORY = "history"
Kind: TypeAlias = Literal["saved", "refused", "found"]
_VERSION = re.compile(r"(\d{4,9})-(saved|refused|found)-([0-9a-f]{16})\.(?:tsv|toml)")
# The most suites, and versions of a suite.
SUITES, VERSIONS = 1000, 10_000
_CHARACTERS = "letters, digits, - and _, at most 80, and the ending .tsv or .toml"


@dataclass(frozen=True, slots=True)
class Document:
    """A suite as a file has it."""

    name: str
    text: str
    digest: str  # the hash of its bytes, which names the version


@dataclass(frozen=True, slots=True)
class Version:
    """An earlier version of a suite."""

    number: int  # its number, from 1
    kind: Kind  # how it came into the history
    digest: str  # the beginning of its hash
    when: float  # the time, in seconds since 1970
    path: Path


class Conflict(Exception):
    """The file is not the one that the editor began with."""

    def __init__(self, current: Document | None) -> None:
        super().__init__(current)
        self.current = current


class Store:
    """The folder; one server has it at a time (`core.io.lock.held`)."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()

    def names(self) -> list[str]:
        try:
            with os.scandir(self.folder) as entries:
                found = [entry.name for entry in entries if NAME.fullmatch(entry.name) and _is_own(entry)]
        except FileNotFoundError:
            return []
        return sorted(found)

    def read(self, name: str) -> Document:
        content = self._content(self._path(name))
        if content is None:
            raise UsageError(f"suite {name}", "no such suite", "a suite of the studio")
        return _document(name, content)

    def save(self, name: str, text: str, base: str) -> Document:
        path, content = self._path(name), text.encode()
        if len(content) > limits.BODY:
            raise UsageError(f"suite {name}", f"{len(content):,} bytes", f"at most {limits.BODY:,}")
        with self._lock:
            before = self._content(path)
            now = digest_of(before) if before is not None else ""
            if before == content:
                # Saved by somebody else, or by this editor before an answer was lost.
                return _document(name, content)
            if now != base:
                self._keep(name, content, "refused")
                raise Conflict(_document(name, before) if before is not None else None)
            if before is None and len(self.names()) >= SUITES:
                raise UsageError(str(self.folder), f"{SUITES:,} suites", "fewer", "Move some to another folder.")
            if before is not None:
                self._keep(name, before, "found")
            self._keep(name, content, "saved")
            atomic.write(path, content)
        return _document(name, content)

    def versions(self, name: str) -> list[Version]:
        """Return all versions of a suite, the last one first."""
        self._path(name)
        found = []
        try:
            with os.scandir(self._history(name)) as entries:
                for entry in entries:
                    if (match := _VERSION.fullmatch(entry.name)) and _is_own(entry):
                        kind: Kind = "saved" if match[2] == "saved" else "refused" if match[2] == "refused" else "found"
                        when = entry.stat(follow_symlinks=False).st_mtime
                        found.append(Version(int(match[1]), kind, match[3], when, Path(entry.path)))
        except FileNotFoundError:
            return []
        return sorted(found, key=lambda version: -version.number)

    def version(self, name: str, number: int) -> Document:
        found = next((version for version in self.versions(name) if version.number == number), None)
        content = self._content(found.path) if found else None
        if found is None or content is None:
            raise UsageError(f"suite {name}", f"no version {number}", "a version of its history")
        if not digest_of(content).startswith(found.digest):
            raise RunError(str(found.path), "damaged or edited", "the version as it was saved")
        return _document(name, content)

    def _keep(self, name: str, content: bytes, kind: Kind) -> None:
        """Write a version to the history, unless it has it."""
        digest, versions = digest_of(content)[:16], self.versions(name)
        if kind != "saved" and any(version.digest == digest for version in versions):
            return
        if versions and versions[0].digest == digest and versions[0].kind == kind:
            return  # a kill came between the version and the file
        if len(versions) >= VERSIONS:
            cure = f"Move {self._history(name)} to another folder."
            raise UsageError(f"suite {name}", f"{VERSIONS:,} versions", "fewer", cure)
        folder = self._history(name)
        atomic.make_folder(folder)
        number = versions[0].number + 1 if versions else 1
        atomic.write(folder / f"{number:04}-{kind}-{digest}{Path(name).suffix}", content)

    def _history(self, name: str) -> Path:
        return atomic.inside(self.folder, HISTORY, name)

    def _path(self, name: str) -> Path:
        if not NAME.fullmatch(name):
            raise UsageError(f"name {name[:100]!r}", "a name that a suite can't have", _CHARACTERS)
        return self.folder / name

    def _content(self, path: Path) -> bytes | None:
        if path.is_symlink():
            raise InputError(path.name, "a link", "a file of the folder", "Put the file itself there.")
        try:
            return regular.content(path, limits.BODY)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise InputError(path.name, f"can't be read ({error.strerror})", "a file") from error


def digest_of(content: bytes) -> str:
    """Return the hash that names a version."""
    return hashlib.sha256(content).hexdigest()


def _document(name: str, content: bytes) -> Document:
    try:
        return Document(
            name, content.decode("utf-8-sig" if content.startswith(b"\xef\xbb\xbf") else "utf-8"), digest_of(content)
        )
    except UnicodeDecodeError as error:
        raise InputError(name, f"byte {error.start + 1} is not UTF-8", "text in UTF-8") from error


def _is_own(entry: "os.DirEntry[str]") -> bool:
    return entry.is_file(follow_symlinks=False)


def faults(folder: Path) -> dict[Path, SyntagmError]:
    found: dict[Path, SyntagmError] = {}
    for path in sorted((folder / HISTORY).glob("*/*")):
        match = _VERSION.fullmatch(path.name)
        if match and not digest_of(regular.content(path)).startswith(match[3]):
            cure = "The other versions are whole. Put it back from a copy, or delete it."
            found[path] = RunError(str(path), "damaged or edited", "the version as it was saved", cure)
    return found
