"""The option -o, checked before any work, and protection of existing files.

Commands replace only files that Syntagm wrote, unless --force is given.
"""

import argparse
import contextlib
import filecmp
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from re import Pattern
from typing import TYPE_CHECKING

from syntagm.core import RunError, SyntagmError, UsageError, atomic, counted, csv, regular, shown_lines

if TYPE_CHECKING:
    from syntagm.papers import Outputs
    from syntagm.suites import Suite
    from syntagm.views import Figure, Table

_SEARCHED = 1 << 16
_LISTED = 20
_NO_MARKS: Mapping[str, Pattern[bytes]] = {}
CURE = "Choose another name, or give --force to replace it."


def add_output(parser: argparse._ActionsContainer, metavar: str, help: str, required: bool = False) -> None:
    """Add the option -o, whose value is a `Path` that can be written."""
    kinds = {"FILE": file, "DIR": folder, "STEM": stem}
    parser.add_argument("-o", "--output", metavar=metavar, required=required, type=kinds[metavar], help=help)


def file(text: str) -> Path:
    """Return the path of a file to write, of a link that of the file behind it; `-` is returned unchanged."""
    if text == "-":
        return Path(text)
    path = behind(_path(text))
    _try(path, _nearest(path.parent))
    return path


def named(text: str) -> str:
    """Return the text of a path, whose last character may say that it is a folder."""
    _path(text)
    return text


def place(output: Path | None) -> contextlib.AbstractContextManager[None]:
    """Create the missing folders of an output for a `with` block; at its end, delete those in which nothing was written."""
    if output is None or output.parent.exists():
        return contextlib.nullcontext()
    return atomic.used_folder(output.parent)


def behind(path: Path) -> Path:
    """Return the file behind a link; any other path is returned unchanged."""
    # Writing replaces links (`core.io.atomic`), but a link that the user names stands for its file.
    if not os.path.islink(path):
        return path
    if path.exists() and not path.is_file():
        raise RunError(str(path), "a link to something else than a file", "the name of a file", "Choose another name.")
    return path.resolve()


def folder(text: str) -> Path:
    """Return the path of a folder to write, which may be new; the errors are the same as for `file`."""
    path = stem(text)
    if path.exists() and not path.is_dir():
        raise RunError(str(path), "not a folder", "a folder", "Choose another folder.")
    return path


def stem(text: str) -> Path:
    """Return the path of files to write, without extension, in a folder that may be new; errors as for `file`."""
    path = _path(text)
    _try(path, _nearest(path))
    return path


def note_skipped(skipped: Iterable[str]) -> None:
    for file in skipped:
        print(shown_lines(f"skipped: {file}"), file=sys.stderr)


def read_suites(names: Iterable[str], allow_pickle: bool = False) -> "list[Suite]":
    """Read suites, and print the files of folders and patterns that are not read; see `materials.suite_files`."""
    from syntagm.suites import SuiteFiles, expand

    skipped: list[str] = []
    files = expand(list(names), skipped)
    note_skipped(skipped)
    return list(SuiteFiles(files, allow_pickle))


def note_columns(files: Iterable[str]) -> None:
    """Print what the columns of tables are taken for, and which are not scored, once for all alike files."""
    # Files that can't be read are left out: reading them gives the reason.
    from syntagm.suites import read_as, unscored_columns

    groups: dict[str, list[str]] = {}
    for file in files:
        with contextlib.suppress(SyntagmError):
            what = read_as(file)
            groups.setdefault(f"read as {what}" if what else "", []).append(file)
            groups.setdefault(_not_scored(unscored_columns(file)), []).append(file)
    for note, sharing in groups.items():
        if note:
            others = f" and {counted(len(sharing) - 1, 'more file')}" if len(sharing) > 1 else ""
            print(shown_lines(f"note: {sharing[0]}{others}: {note}"), file=sys.stderr)


def _not_scored(columns: Sequence[str]) -> str:
    listed = ", ".join(columns[:_LISTED]) + (f" and {len(columns) - _LISTED} more" if columns[_LISTED:] else "")
    return f"columns that are not scored: {listed}" if columns else ""


def _path(text: str) -> Path:
    if not text.strip():
        raise UsageError("-o", "an empty path", "the path of the output", "Is a variable of the shell empty?")
    return Path(text)


def _nearest(path: Path) -> Path:
    """Return the path itself if it exists, otherwise the innermost of its folders that does."""
    return next(place for place in (path, *path.absolute().parents) if place.exists())


def _try(path: Path, place: Path) -> None:
    """Write a nameless file into the folder `place`, to test before any work whether this is possible."""
    if place.exists() and not place.is_dir():
        if place != path:
            raise RunError(str(path), f"{place} is not a folder", "a path in a folder", "Choose another folder.")
        return  # files with this stem stand beside it
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        from syntagm.core import atomic

        raise atomic.refusal(path, error, 0) from error


def add_force(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--force", action="store_true", help="replace a file even if syntagm did not write it")


def spare(path: Path, marks: Sequence[str], force: bool = False) -> None:
    """Refuse to replace the file at `path` if Syntagm did not write it."""
    if force or not path.is_file():
        return
    with regular.opened(path) as file:
        head = file.read(_SEARCHED)
        size = file.seek(0, 2)
        file.seek(max(0, size - _SEARCHED))
        ends = head + file.read()
    if ends and not any(mark.encode() in ends for mark in marks):
        raise UsageError(str(path), "a file that syntagm did not write", "a new name", CURE)


def spare_csv(path: Path, columns: Sequence[str], force: bool = False, *others: Sequence[str]) -> None:
    """Refuse to replace the file at `path` if it is not a CSV with this header, or one of others."""
    _spare_headers(path, [columns, *others], force)


def _spare_headers(path: Path, headers: Sequence[Sequence[str]], force: bool) -> None:
    if force or not (found := _header(path)):
        return
    expected = [next(csv.lines(columns, [])) for columns in headers]
    if found not in [header.encode() for header in expected]:
        raise UsageError(str(path), "a file with a different header", expected[0].rstrip(), CURE)


def spare_other(path: Path, written: Path, force: bool = False) -> None:
    """Refuse to replace the file at `path` by `written` if their contents differ."""
    if force or not path.exists() or (path.is_file() and filecmp.cmp(path, written, shallow=False)):
        return
    raise UsageError(str(path), "this file exists, with other content", "a new name", CURE)


def spare_set(
    stem: Path,
    columns: Sequence[str],
    endings: Sequence[str],
    force: bool = False,
    kin: Sequence[Sequence[str]] = (),
    marks: Mapping[str, Pattern[bytes]] = _NO_MARKS,
) -> None:
    """Refuse to replace a figure or table, STEM.png or STEM.tex, that Syntagm did not write."""
    # If STEM.csv has its header, all files are replaced. If STEM.csv has the header of the table or figure of the same
    # view, or is missing, the other files must look like those that Syntagm writes.
    numbers = stem.with_name(f"{stem.name}.csv")
    _spare_headers(numbers, [columns, *kin], force)
    if force or _header(numbers) == next(csv.lines(columns, [])).encode():
        return
    for ending in set(endings) - {"csv"}:
        path = stem.with_name(f"{stem.name}.{ending}")
        if path.exists() and not (ending in marks and marks[ending].match(regular.content(path))):
            found = "that syntagm did not write" if numbers.exists() else f"without {numbers.name} next to it"
            raise UsageError(str(path), f"a file {found}", "a new name", CURE)


def _header(path: Path) -> bytes:
    """Return the first line of a file; empty if there is no such file."""
    if not path.is_file():
        return b""
    with regular.opened(path) as file:
        return file.readline(_SEARCHED)


# Of tables with more rows, only the file name is printed.
MAX_PRINTED_ROWS = 70


def save(
    view: "Table | Figure",
    stem: Path,
    formats: Sequence[str] = (),
    force: bool = False,
    kin: Sequence[Sequence[str]] = (),
) -> list[Path]:
    """Save a table or a figure as STEM.csv, STEM.png and so on, and return the paths written."""
    from syntagm.views import endings

    if format := view.format_of(stem):
        bare = stem.name.removesuffix(f".{view.FORMATS[format]}")
        cure = f"Each format adds its extension: -o {bare} --format {format}."
        raise UsageError(f"-o {stem}", "a name with a file extension", "a name without one", cure)
    chosen = endings(view.FORMATS, formats)
    spare_set(stem, view.to_frame().columns, list(chosen.values()), force, kin, view.marks())
    atomic.make_folder(stem.parent)
    return view.save(stem, list(chosen))


def write(views: "Outputs", folder: Path, force: bool = False) -> None:
    """Save the tables and figures of a paper as they are computed; print short tables, and the paths of the others."""
    from syntagm.views import Figure

    for name, view in views.items() if isinstance(views, Mapping) else views:
        stem = folder / name
        save(view, stem, force=force)
        if isinstance(view, Figure):
            print(f"figure: {stem}.svg\n", flush=True)
            continue
        short = len(view.rows) <= MAX_PRINTED_ROWS
        print(view.markdown() if short else f"{view.title}: {stem}.csv, {len(view.rows)} rows\n", flush=True)
