"""Integrity of the files that packages write: types for declaring the files, and functions for inspecting folders.

A package that writes files declares them in a module `_written.py`: `FOLDERS` lists the kinds of folder,
each identified by a marker file, and `FILES` lists the kinds of single file whose names the user chooses. `syntagm
integrity` and the tests of damaged files read these declarations (`declared`), so a new package needs nothing else.
"""

import fnmatch
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from syntagm import registry
from syntagm.errors import SyntagmError

# `unchecked` files were written by Syntagm, but nothing tells whether they are as written.
State: TypeAlias = Literal["whole", "damaged", "foreign", "unchecked"]


@dataclass(frozen=True, slots=True)
class File:
    """A kind of file.

    Arguments:
        name: a description, e.g. "the record of a run".
        pattern: the path in the folder, where `*` stands for any text without `/`, e.g. "shards/*.results.parquet".
        checked: whether `Folder.check` detects damage to the file. Files that are not checked are never read again, or
            change no number.
        inspect: for a single file whose name the user chooses, a function from the file to the state of what it seals, itself
            included: path -> error, None for a whole file. None: nothing tells whether it is as written.
    """

    name: str
    pattern: str
    checked: bool = True
    inspect: Callable[[Path], Mapping[Path, SyntagmError | None]] | None = None


@dataclass(frozen=True, slots=True)
class Folder:
    """A kind of folder.

    Arguments:
        name: a description, e.g. "run".
        markers: patterns of files. A folder with such a file is of this kind.
        files: the kinds of files in the folder. The first one whose pattern fits a file applies.
        check: a function from a folder to an error for each damaged or missing file: path -> error.
        renew: a function that renews the seals in a folder after an intended change and returns the names of the changed
            files, for `syntagm seal`; None if nothing in the folder is sealed.
        without: patterns of files. A folder with such a file is of another kind.
    """

    name: str
    markers: tuple[str, ...]
    files: tuple[File, ...]
    check: Callable[[Path], Mapping[Path, SyntagmError]]
    renew: Callable[[Path], list[str]] | None = None
    without: tuple[str, ...] = ()

    def fits(self, folder: Path) -> bool:
        """Return whether a folder is of this kind."""

        def has(patterns: tuple[str, ...]) -> bool:
            return any(next(folder.glob(pattern), None) is not None for pattern in patterns)

        return has(self.markers) and not has(self.without)

    def file(self, name: str) -> File | None:
        """Return the kind of a file by its path in the folder; None for a foreign file."""
        return next((file for file in (*self.files, *COMMON) if _fits(name, file.pattern)), None)


# The files that every folder may have.
COMMON = (
    File("the lock of a folder", "lock", checked=False),
    File("a file that a killed process left", ".*.syntagm", checked=False),
    File("a file that a killed process left", "*/.*.syntagm", checked=False),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of a file.

    Arguments:
        path: the file.
        state: whether the file is intact (`whole`), damaged, foreign or unchecked.
        kind: the kind of the file; "" for a foreign file.
        error: for a damaged file, the problem and how to fix it.
    """

    path: Path
    state: State
    kind: str
    error: SyntagmError | None = None


@dataclass(frozen=True, slots=True)
class Inspected:
    """A folder, its kind, and the state of each of its files."""

    kind: Folder
    path: Path
    findings: tuple[Finding, ...]


def declared() -> tuple[Folder, ...]:
    """Return the kinds of folders that all packages declare."""
    return tuple(folder for module in registry.modules("_written") for folder in getattr(module, "FOLDERS", ()))


def files() -> tuple[File, ...]:
    """Return the kinds of single files with user-chosen names that all packages declare."""
    return tuple(kind for module in registry.modules("_written") for kind in getattr(module, "FILES", ()))


def of_folder(place: Path) -> Iterator[Inspected]:
    """Inspect a folder and the folders in it that are of a declared kind, beginning with outer ones."""
    for name, folders, _ in os.walk(place):
        # Hidden folders belong to other programs.
        folders[:] = sorted(folder for folder in folders if not folder.startswith("."))
        yield from _of_kinds(Path(name))
        yield from _of_records(Path(name))


def of_file(path: Path) -> Iterator[Inspected]:
    """Inspect the folder or the record that a file belongs to, and yield only the state of the file."""
    for inspected in _of_records(path.parent):
        if own := tuple(finding for finding in inspected.findings if finding.path == path):
            yield replace(inspected, findings=own)
            return
    for folder in path.parents:
        for inspected in _of_kinds(folder):
            if own := tuple(finding for finding in inspected.findings if finding.path == path):
                yield replace(inspected, findings=own)
                return


def _of_kinds(folder: Path) -> Iterator[Inspected]:
    kinds = declared()
    return (Inspected(kind, folder, tuple(_findings(kind, folder, kinds))) for kind in kinds if kind.fits(folder))


def _of_records(folder: Path) -> Iterator[Inspected]:
    """Inspect the single files in a folder that seal others or themselves."""
    for kind in files():
        if kind.inspect is None:
            continue
        found = [
            Finding(
                path, "damaged" if error else "whole", kind.name if path == record else f"sealed by {kind.name}", error
            )
            for record in sorted(folder.glob(kind.pattern))
            for path, error in kind.inspect(record).items()
        ]
        if found:
            yield Inspected(Folder(kind.name, (), (kind,), lambda _: {}), folder, tuple(found))


def _findings(kind: Folder, folder: Path, kinds: tuple[Folder, ...]) -> Iterator[Finding]:
    damaged = kind.check(folder)
    # A damaged file may be missing.
    for path in sorted({*_files(folder, kinds), *damaged}):
        known = kind.file(path.relative_to(folder).as_posix())
        name = known.name if known else ""
        if error := damaged.get(path):
            yield Finding(path, "damaged", name, error)
        else:
            yield Finding(path, "foreign" if known is None else "whole" if known.checked else "unchecked", name)


def _files(folder: Path, kinds: tuple[Folder, ...]) -> Iterator[Path]:
    """Yield the files of a folder, excluding those in hidden folders and in folders of a declared kind."""
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            yield path
        elif not path.name.startswith(".") and not any(kind.fits(path) for kind in kinds):
            yield from _files(path, kinds)


def _fits(name: str, pattern: str) -> bool:
    return name.count("/") == pattern.count("/") and fnmatch.fnmatchcase(name, pattern)
