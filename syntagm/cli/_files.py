"""Files that commands write: those that Syntagm did not write itself are not replaced, unless --force says so."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from syntagm.errors import UsageError
from syntagm.io import csv

_LOOK = 1 << 16
CURE = "Choose another name, or give --force to replace it."


def add_force(parser: argparse.ArgumentParser) -> None:
    """Declare --force."""
    parser.add_argument("--force", action="store_true", help="replace a file even if syntagm did not write it")


def spare(path: Path, marks: Sequence[str], force: bool = False) -> None:
    """Refuse to write at `path` if a file stands there that is not ours.

    Arguments:
        marks: a file that begins or ends with 64 KiB in which one of these stands is ours; an empty file is nobody's.
        force: don't look.

    Raises:
        UsageError: the file is somebody else's.
    """
    if force or not path.is_file():
        return
    with open(path, "rb") as file:
        head = file.read(_LOOK)
        size = file.seek(0, 2)
        file.seek(max(0, size - _LOOK))
        ends = head + file.read()
    if ends and not any(mark.encode() in ends for mark in marks):
        raise UsageError(str(path), "a file that syntagm did not write", "a free name", CURE)


def spare_csv(path: Path, columns: Sequence[str], force: bool = False) -> None:
    """The same for a CSV, which is ours if its header is.

    Raises:
        UsageError: another file stands there.
    """
    if force or not path.is_file():
        return
    with open(path, "rb") as file:
        first = file.readline(_LOOK)
    expected = next(csv.lines(columns, []))
    if first and first != expected.encode():
        raise UsageError(str(path), "a file with another header", expected.rstrip(), CURE)


def spare_set(stem: Path, endings: Sequence[str], columns: Sequence[str], force: bool = False) -> None:
    """The same for files that belong to one CSV: they are ours if the CSV beside them is.

    Arguments:
        stem: of the names, without ending; STEM.csv has these columns.
        endings: of the other files, "png", "tex", ...

    Raises:
        UsageError: one of them is somebody else's.
    """
    numbers = stem.with_name(f"{stem.name}.csv")
    spare_csv(numbers, columns, force)
    if force or numbers.exists():
        return
    for ending in endings:
        if (path := stem.with_name(f"{stem.name}.{ending}")).exists():
            raise UsageError(str(path), f"a file without {numbers.name} beside it", "a free name", CURE)
