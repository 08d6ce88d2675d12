"""Search for the files that arguments name: files, folders, patterns and bundled collections."""

import glob
import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from syntagm.core import InputError, UsageError
from syntagm.suites.formats import template
from syntagm.suites.materials import hub, packed
from syntagm.suites.materials.reading import WORKBOOKS, claimed, exists, formats, options_of, unclaimed, with_options

_MATERIALS = Path(__file__).resolve().parent


def expand(arguments: Sequence[str], skipped: list[str] | None = None) -> list[str]:
    """Return the files that arguments name, in order, each with its options."""
    # An argument is a bundled collection (`hu2020`), a suite of a collection (`hu2020/mvrr`), a file, a folder or an
    # archive (which mean all files in them that a format recognises), a data set of the hub (`hf:ORG/NAME`), or a
    # pattern with `*`. In folders and patterns, hidden files, READMEs, and a CSV next to a JSON file of the same name
    # are skipped. Options after `?` apply to each file.
    files: list[str] = []
    for argument in arguments:
        name, options = options_of(argument)
        if name.startswith(hub.PREFIX):
            files += _on_hub(name, options)
            continue
        if name and (bundled := _bundled(name)):
            files += [with_options(str(file), ({"suite": suite} if suite else {}) | options) for file, suite in bundled]
            continue
        paths = _on_disk(name) if name else []
        if paths == [Path(name)] and packed.is_archive(Path(name)):
            paths = _files(packed.unpacked(Path(name), _endings(), skipped))
        if paths != [Path(name)]:
            # A language names no format, so that files of other kinds are skipped as without it.
            paths = _sift(paths, {name: value for name, value in options.items() if name != "language"}, skipped)
        if not paths:
            raise _nothing(argument, name)
        ending = argument[len(name) :]
        files += [f"{file}{ending}" for file in paths]
    return list(dict.fromkeys(files))


def _on_hub(name: str, options: dict[str, str]) -> list[str]:
    """Return the files of a data set of the hub; refuse a layout that no format recognises."""
    split = options.pop("split", "")
    files = hub.files(name, split)
    for file in files:
        if not options and len(claimed(file)) != 1:
            found, _ = unclaimed(file)
            raise InputError(
                f"{name}, {file.stem}", found, "columns of a known format, such as sentence_good and sentence_bad",
                f"Name the columns: {name}?good=COLUMN&bad=COLUMN, and add &label=COLUMN if a column says which is good.",
            )  # fmt: skip
    return [with_options(str(file), options) for file in files]


def _nothing(argument: str, name: str) -> UsageError:
    if name and exists(Path(name)):
        what = "archive" if packed.is_archive(Path(name)) else "folder"
        return UsageError(argument, f"no suites in this {what}", "files in a known format")
    expected = "a file, a folder, a pattern or a bundled collection: " + (
        ", ".join(collections()) or "none is installed"
    )
    if bundled := [
        f"{place.name}/{name}" for place in sorted(_folders()) if name in (file.stem for file in _in_collection(place))
    ]:
        cure = f"Did you mean {' or '.join(bundled)}?"
    else:
        # A plain word may be meant as the name of a published data set.
        cure = "A data set of the Hub is written with its organisation: hf:nyu-mll/blimp." if name.isalnum() else ""
    return UsageError(argument, "no such file, folder or collection", expected, cure)


def collections() -> list[str]:
    """Return the names of the bundled collections, which are the folders of `syntagm/suites/materials` with suites."""
    return sorted(place.name for place in _folders() if _in_collection(place))


def _folders() -> list[Path]:
    return [place for place in _MATERIALS.iterdir() if place.is_dir()] if _MATERIALS.is_dir() else []


def bundled_suites(collection: str) -> list[str]:
    """Return the names of the suites of a bundled collection; empty if there is no such collection.

    >>> "mvrr" in bundled_suites("hu2020")
    True
    """
    return sorted(suite for file, _ in _bundled(collection) for suite in _suites(file))


def _bundled(name: str) -> list[tuple[Path, str]]:
    """Return the files of a bundled collection, or the file of one suite."""
    # Each file comes with the name of the suite to read, or "" for all suites of the file.
    collection, _, suite = name.rstrip("/").partition("/")
    # Only listed names are accepted, so that nothing typed is joined to the path of the package. Only the named folder is
    # read, since this is asked about every argument.
    files = [file for place in _folders() if place.name == collection for file in _in_collection(place)]
    if not files or not suite:
        return [(file, "") for file in files]
    known = {suite_name: file for file in files for suite_name in _suites(file)}
    if suite in known:
        file = known[suite]
        return [(file, suite if len(_suites(file)) > 1 else "")]
    matches = [(file, "") for file in files if suite in (file.stem, file.name)]
    if not matches:
        raise UsageError(name, f"no suite {suite!r} in {collection}", "one of " + ", ".join(sorted(known)))
    return matches


# Bundled files stay as they are while a program runs, and each argument is looked up several times.
@cache
def _in_collection(place: Path) -> tuple[Path, ...]:
    """Return the files of suites in the folder of a bundled collection."""
    return tuple(_sift(_files(place), {}, None))


@cache
def _suites(file: Path) -> tuple[str, ...]:
    """Return the names of the suites of a bundled file, without generating them."""
    return tuple(suite.name for suite in template.templates(file)) if file.suffix == ".toml" else (file.stem,)


def _on_disk(name: str) -> list[Path]:
    path = Path(name)
    if exists(path):
        return _files(path) if path.is_dir() else [path]
    if "*" not in name and "[" not in name:
        return []
    paths = sorted(Path(match) for match in glob.glob(name, recursive=True))
    return [file for match in paths for file in (_files(match) if match.is_dir() else [match])]


def _files(place: Path) -> list[Path]:
    """Return the files in a folder and its subfolders that may contain suites, in order."""
    paths = [Path(folder) / name for folder, _, names in os.walk(place, onerror=_refuse_closed) for name in names]
    endings = set(_endings())
    return [
        file
        for file in sorted(paths)
        if (packed.ending(file).lower() in endings or _unreadable(file))
        and file.stem.upper() != "README"
        and not any(part.startswith(".") for part in file.relative_to(place).parts)
    ]


def _endings() -> list[str]:
    return sorted({ending for module in formats() for ending in module.ENDINGS})


def _sift(files: Sequence[Path], options: dict[str, str], skipped: list[str] | None) -> list[Path]:
    kept = []
    for file in files:
        if reason := _unreadable(file):
            if skipped is not None:
                skipped.append(f"{file}: {reason}")
            continue
        # SyntaxGym suites are published as JSON, and as CSV of the same name without predictions.
        has_twin = file.suffix == ".csv" and file.with_suffix(".json") in files
        if not has_twin and (options or claimed(file)):
            kept.append(file)
        elif skipped is not None:
            reason = f"its suite is in {file.with_suffix('.json').name}" if has_twin else unclaimed(file)[0]
            skipped.append(f"{file}: {reason}")
    return kept


def _unreadable(file: Path) -> str:
    """Say why a file among others is not read, although it may have suites; "" if it is read."""
    if packed.is_archive(file):
        return packed.ARCHIVE
    return "a workbook; save its sheets as CSV (UTF-8)" if file.suffix.lower() in WORKBOOKS else ""


def _refuse_closed(error: OSError) -> None:
    raise InputError(str(error.filename), f"can't be listed: {error.strerror}", "a readable folder") from error
