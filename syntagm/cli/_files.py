"""Protection of existing files: commands replace only files that Syntagm wrote, unless --force is given."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from syntagm.errors import UsageError
from syntagm.io import csv

_SEARCHED = 1 << 16
CURE = "Choose another name, or give --force to replace it."


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
