"""The option -o, checked before any work, and protection of existing files.

Commands replace only files that Syntagm wrote, unless --force is given.
"""

import argparse
import filecmp
from collections.abc import Sequence
from pathlib import Path

from syntagm.errors import RunError, UsageError
from syntagm.io import csv

_SEARCHED = 1 << 16
CURE = "Choose another name, or give --force to replace it."


def add_output(parser: argparse._ActionsContainer, metavar: str, help: str, required: bool = False) -> None:
    """Add the option -o, whose value is a `Path` that can be written.

    Arguments:
        metavar: FILE for a file, whose folder must exist; DIR or STEM for output whose folders are created.
    """
    kind = file if metavar == "FILE" else folder
    parser.add_argument("-o", "--output", metavar=metavar, required=required, type=kind, help=help)


def file(text: str) -> Path:
    """Return the path of a file to write; `-` is returned unchanged.

    Raises:
        UsageError: the path is empty.
        RunError: the folder doesn't exist or can't be written.
    """
    path = _path(text)
    if text != "-":
        _try(path, path.parent)
    return path


def folder(text: str) -> Path:
    """Return the path of a folder to write, or of files in a new folder; the errors are the same as for `file`."""
    path = _path(text)
    _try(path, next(place for place in (path, *path.absolute().parents) if place.exists()))
    return path


def _path(text: str) -> Path:
    if not text.strip():
        raise UsageError("-o", "an empty path", "the path of the output", "Is a variable of the shell empty?")
    return Path(text)


def _try(path: Path, place: Path) -> None:
    """Write a nameless file into the folder `place`, to test before any work whether this is possible."""
    import tempfile

    if place.exists() and not place.is_dir():
        if place != path:
            raise RunError(str(path), f"{place} is not a folder", "a path in a folder", "Choose another folder.")
        return  # a file in place of the folder: the command says what it expects
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        from syntagm.io import atomic

        raise atomic.refusal(path, error, 0) from error


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option --force."""
    parser.add_argument("--force", action="store_true", help="replace a file even if syntagm did not write it")


def spare(path: Path, marks: Sequence[str], force: bool = False) -> None:
    """Refuse to replace the file at `path` if Syntagm did not write it.

    Arguments:
        marks: texts, one of which occurs in the first or last 64 KiB of every file that Syntagm writes. An empty file
            may always be replaced.
        force: replace any file.

    Raises:
        UsageError: another program or a person wrote the file.
    """
    if force or not path.is_file():
        return
    with open(path, "rb") as file:
        head = file.read(_SEARCHED)
        size = file.seek(0, 2)
        file.seek(max(0, size - _SEARCHED))
        ends = head + file.read()
    if ends and not any(mark.encode() in ends for mark in marks):
        raise UsageError(str(path), "a file that syntagm did not write", "a new name", CURE)


def spare_csv(path: Path, columns: Sequence[str], force: bool = False) -> None:
    """Refuse to replace the file at `path` if it is not a CSV with this header.

    Raises:
        UsageError: the file has a different header.
    """
    if force or not path.is_file():
        return
    with open(path, "rb") as file:
        header = file.readline(_SEARCHED)
    expected = next(csv.lines(columns, []))
    if header and header != expected.encode():
        raise UsageError(str(path), "a file with a different header", expected.rstrip(), CURE)


def spare_other(path: Path, written: Path, force: bool = False) -> None:
    """Refuse to replace the file at `path` by `written` if their contents differ.

    Raises:
        UsageError: the contents differ.
    """
    if force or not path.exists() or (path.is_file() and filecmp.cmp(path, written, shallow=False)):
        return
    raise UsageError(str(path), "this file exists, with other content", "a new name", CURE)


def spare_set(stem: Path, endings: Sequence[str], columns: Sequence[str], force: bool = False) -> None:
    """Refuse to replace a figure or table, STEM.png or STEM.tex, unless STEM.csv next to it has this header.

    Arguments:
        stem: the path without extension.
        endings: extensions of the other files, such as "png" and "tex".
        columns: the header of STEM.csv.
        force: replace any file.

    Raises:
        UsageError: STEM.csv has a different header, or it is missing although one of the other files exists.
    """
    numbers = stem.with_name(f"{stem.name}.csv")
    spare_csv(numbers, columns, force)
    if force or numbers.exists():
        return
    for ending in endings:
        if (path := stem.with_name(f"{stem.name}.{ending}")).exists():
            raise UsageError(str(path), f"a file without {numbers.name} next to it", "a new name", CURE)
