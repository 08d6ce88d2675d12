"""Inspection of what Syntagm wrote: which files of a folder are whole, damaged or foreign (see `core/io/written.py`)."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Literal, TypeAlias

from syntagm.core.errors import SyntagmError
from syntagm.core.io.written import FILES, FOLDERS, Folder

# `unchecked` files were written by Syntagm, but nothing tells whether they are as written.
State: TypeAlias = Literal["whole", "damaged", "foreign", "unchecked"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The state of a file."""

    path: Path  # the file
    state: State  # whether the file is intact (`whole`), damaged, foreign or unchecked
    kind: str  # the kind of the file; "" for a foreign file
    error: SyntagmError | None = None  # for a damaged file, the problem and how to fix it


@dataclass(frozen=True, slots=True)
class Inspected:
    """A folder, its kind, and the state of each of its files."""

    kind: Folder
    path: Path
    findings: tuple[Finding, ...]


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
    return (Inspected(kind, folder, tuple(_findings(kind, folder))) for kind in FOLDERS if kind.fits(folder))


def _of_records(folder: Path) -> Iterator[Inspected]:
    """Inspect the single files in a folder that seal others or themselves."""
    for kind in FILES:
        if not kind.inspect:
            continue
        found = [
            Finding(
                path, "damaged" if error else "whole", kind.name if path == record else f"sealed by {kind.name}", error
            )
            for record in sorted(folder.glob(kind.pattern))
            for path, error in resolve_name(kind.inspect)(record).items()
        ]
        if found:
            yield Inspected(Folder(kind.name, (), (kind,), ""), folder, tuple(found))


def _findings(kind: Folder, folder: Path) -> Iterator[Finding]:
    damaged: Mapping[Path, SyntagmError] = resolve_name(kind.check)(folder)
    # A damaged file may be missing.
    for path in sorted({*_files(folder), *damaged}):
        known = kind.file(path.relative_to(folder).as_posix())
        name = known.name if known else ""
        if error := damaged.get(path):
            yield Finding(path, "damaged", name, error)
        else:
            yield Finding(path, "foreign" if known is None else "whole" if known.checked else "unchecked", name)


def _files(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder, excluding those in hidden folders and in folders of a declared kind."""
    for path in folder.iterdir():
        if path.is_symlink() or not path.is_dir():
            yield path
        elif not path.name.startswith(".") and not any(kind.fits(path) for kind in FOLDERS):
            yield from _files(path)
