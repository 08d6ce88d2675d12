"""Find the files that a command line means: files, folders, patterns and bundled collections."""

import glob
import os
from collections.abc import Sequence
from pathlib import Path

from syntagm.errors import InputError, UsageError
from syntagm.formats import template
from syntagm.materials.reading import claimed, exists, formats, option_names, options_of, with_options

_MATERIALS = Path(__file__).resolve().parent


def expand(arguments: Sequence[str], skipped: list[str] | None = None, allow_pickle: bool = False) -> list[str]:
    """The files that the arguments mean, in order, each with its options.

    An argument is a bundled collection (`hu2020`) or one suite of it (`hu2020/mvrr`); a file; a folder, for all files in
    it that some format claims; or a pattern with `*`. Of folders and patterns, hidden files, READMEs and a CSV beside a
    JSON file of the same name are left out. Options after `?` hold for each file.

    Arguments:
        arguments: as typed.
        skipped: is given the files of folders and patterns that are left out, with the reason.
        allow_pickle: gives the pickles among the files the option of this name.

    Raises:
        UsageError: an argument means nothing; the message lists the collections.
    """
    files: list[str] = []
    for argument in arguments:
        name, options = options_of(argument)
        if name and (bundled := _bundled(name)):
            files += [with_options(str(file), ({"suite": suite} if suite else {}) | options) for file, suite in bundled]
            continue
        found = _on_disk(name) if name else []
        if found != [Path(name)]:
            found = _sift(found, options, skipped)
        if not found:
            raise _nothing(argument, name)
        ending = argument[len(name) :]
        files += [f"{file}{ending}" for file in found]
    return list(dict.fromkeys(map(_permitted, files) if allow_pickle else files))


def _permitted(file: str) -> str:
    """The file with `allow_pickle=yes` if it is called like those of a format that asks for this permission."""
    pickles = [ending for one in formats() if "allow_pickle" in option_names(one) for ending in one.ENDINGS]
    return with_options(file, {"allow_pickle": "yes"}) if Path(options_of(file)[0]).suffix in pickles else file


def _nothing(argument: str, name: str) -> UsageError:
    if name and exists(Path(name)):
        return UsageError(argument, "no suites in this folder", "files that some format can read")
    expected = "a file, a folder, a pattern or a bundled collection: " + (", ".join(collections()) or "none here")
    return UsageError(argument, "no such thing", expected)


def collections() -> list[str]:
    """The bundled collections: the folders of `syntagm/materials` that hold suites."""
    if not _MATERIALS.is_dir():
        return []
    return sorted(place.name for place in _MATERIALS.iterdir() if place.is_dir() and _sift(_files(place), {}, None))


def bundled_suites(collection: str) -> list[str]:
    """The names of the suites of a bundled collection; none if there is no such collection.

    >>> "mvrr" in bundled_suites("hu2020")
    True
    """
    return sorted(suite for file, _ in _bundled(collection) for suite in _suites(file))


def _bundled(name: str) -> list[tuple[Path, str]]:
    """The files of a bundled collection, or the file of one suite, each with the name of the suite if it holds others."""
    collection, _, suite = name.rstrip("/").partition("/")
    # Listed names only: nothing typed is ever joined to the path of the package.
    if collection not in collections():
        return []
    files = _sift(_files(_MATERIALS / collection), {}, None)
    if not suite:
        return [(file, "") for file in files]
    known = {one: file for file in files for one in _suites(file)}
    if suite in known:
        file = known[suite]
        return [(file, suite if len(_suites(file)) > 1 else "")]
    found = [(file, "") for file in files if suite in (file.stem, file.name)]
    if not found:
        raise UsageError(name, f"no suite {suite!r} in {collection}", "one of " + ", ".join(sorted(known)))
    return found


def _suites(file: Path) -> list[str]:
    """The names of the suites that a bundled file makes; nothing is made for it."""
    return [one.name for one in template.templates(file)] if file.suffix == ".toml" else [file.stem]


def _on_disk(name: str) -> list[Path]:
    path = Path(name)
    if exists(path):
        return _files(path) if path.is_dir() else [path]
    if "*" not in name and "[" not in name:
        return []
    found = sorted(Path(match) for match in glob.glob(name, recursive=True))
    return [file for match in found for file in (_files(match) if match.is_dir() else [match])]


def _files(place: Path) -> list[Path]:
    """The files of a folder and its subfolders that may be suites, in order; a folder that can't be listed is refused."""
    found = [Path(at) / name for at, _, names in os.walk(place, onerror=_refuse_closed) for name in names]
    endings = {ending for one in formats() for ending in one.ENDINGS}
    return [
        file
        for file in sorted(found)
        if file.suffix in endings
        and file.is_file()
        and file.stem.upper() != "README"
        and not any(part.startswith(".") for part in file.relative_to(place).parts)
    ]


def _sift(files: Sequence[Path], options: dict[str, str], skipped: list[str] | None) -> list[Path]:
    kept = []
    for file in files:
        # SyntaxGym suites are published as JSON and, without their predictions, as CSV of the same name.
        if file.suffix == ".csv" and file.with_suffix(".json") in files:
            reason = f"its suite is in {file.with_suffix('.json').name}"
        elif options or claimed(file):
            kept.append(file)
            continue
        else:
            reason = "no format claims it"
        if skipped is not None:
            skipped.append(f"{file}: {reason}")
    return kept


def _refuse_closed(error: OSError) -> None:
    raise InputError(str(error.filename), f"can't be listed: {error.strerror}", "a readable folder") from error
