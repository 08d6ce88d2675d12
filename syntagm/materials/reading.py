"""Read one file into suites, whatever its format; and find the files that a command line means.

Options stand after a question mark: `pairs.csv?good=sen&bad=wrong_sen`. `format=NAME` says the format; otherwise the one
format that claims the file reads it.
"""

import glob
import inspect
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

from syntagm import registry
from syntagm.errors import InputError, UsageError
from syntagm.formats import template
from syntagm.io import json, utf8
from syntagm.suite import Suite

PICKLES = (".pickle", ".pkl")
SUFFIXES = (".json", ".jsonl", ".csv", ".toml", ".tsv", ".txt", *PICKLES)
HEAD = 64 * 1024
_OPTIONS = re.compile(r"\?([A-Za-z_]+=[^&]*(?:&[A-Za-z_]+=[^&]*)*)$", re.DOTALL)
_MATERIALS = Path(__file__).resolve().parent


def read(path: str | Path) -> list[Suite]:
    """The suites of one file.

    Arguments:
        path: a file, with options after `?`.

    Raises:
        InputError: the file is not what its format demands, or no format or more than one claims it.
        UsageError: there is no such format or option.
    """
    name, options = options_of(str(path))
    file = Path(name)
    module = format_of(file, options)
    options.pop("format", None)
    known = _option_names(module)
    for option in options:
        if option not in known:
            raise UsageError(
                str(path), f"no option {option!r} in {_name(module)}", "one of " + ", ".join(["format", *known])
            )
    return list(module.read(file, **options))


def options_of(path: str) -> tuple[str, dict[str, str]]:
    """A path and the options after its question mark; a question mark that belongs to the name of a file stays there.

    >>> options_of("pairs.csv?good=sen&bad=wrong_sen")
    ('pairs.csv', {'good': 'sen', 'bad': 'wrong_sen'})
    """
    found = _OPTIONS.search(path)
    if not found or _exists(Path(path)):
        return path, {}
    pairs = [part.split("=", 1) for part in found[1].split("&")]
    return path[: found.start()], dict(pairs)


def format_of(file: Path, options: dict[str, str]) -> ModuleType:
    """The module that reads the file: the one that is named in the options, or the only one that claims it.

    If none claims it, the only one that has all the options given reads it, so that `good=` and `bad=` suffice.

    Raises:
        InputError: no format or more than one claims the file, or the file can't be read.
        UsageError: the options name a format that does not exist.
    """
    if "format" in options:
        return registry.find("formats", options["format"])
    found = claimed(file)
    if not found and options:
        formats = (registry.find("formats", name) for name in registry.names("formats"))
        found = [module for module in formats if set(options) <= set(_option_names(module))]
    if len(found) == 1:
        return found[0]
    names = ", ".join(_name(module) for module in found)
    cure = f"Say which, as in {file.name}?format=NAME; there are {', '.join(registry.names('formats'))}."
    if not found:
        _refuse_damaged(file)
        cure += f" For a table of pairs name the columns, {file.name}?good=COLUMN&bad=COLUMN."
    shown = f"more than one format claims it: {names}" if found else "no format claims it"
    raise InputError(str(file), shown, "", cure)


def _refuse_damaged(file: Path) -> None:
    """Say what is wrong with a file that no format recognises because it is no text or no JSON."""
    content = utf8.read(file)
    if file.suffix == ".json":
        json.parsed(content, file)
    elif file.suffix == ".jsonl":
        for _ in json.objects(content, file):
            pass


def claimed(file: Path) -> list[ModuleType]:
    """The formats that claim a file, judged by its name and its first 64 KiB."""
    head = _head(file)
    modules = (registry.find("formats", name) for name in registry.names("formats"))
    return [module for module in modules if module.claims(file, head)]


def with_options(argument: str, options: Mapping[str, str]) -> str:
    """The argument with more options after its question mark; those that it has already stay.

    >>> with_options("hu2020?n=3", {"n": "5", "seed": "2"})
    'hu2020?n=3&seed=2'
    """
    name, given = options_of(argument)
    ending = "&".join(f"{key}={value}" for key, value in (given | (dict(options) | given)).items())
    return f"{name}?{ending}" if ending else name


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
    """The file with `allow_pickle=yes` if it is a pickle."""
    return with_options(file, {"allow_pickle": "yes"}) if Path(options_of(file)[0]).suffix in PICKLES else file


def _nothing(argument: str, name: str) -> UsageError:
    if name and _exists(Path(name)):
        return UsageError(argument, "no suites in this folder", "files that some format can read")
    expected = "a file, a folder, a pattern or a bundled collection: " + (", ".join(collections()) or "none here")
    return UsageError(argument, "no such thing", expected)


def collections() -> list[str]:
    """The bundled collections: the folders of `syntagm/materials` that hold suites."""
    if not _MATERIALS.is_dir():
        return []
    return sorted(place.name for place in _MATERIALS.iterdir() if place.is_dir() and _sift(_files(place), {}, None))


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
    if _exists(path):
        return _files(path) if path.is_dir() else [path]
    if "*" not in name and "[" not in name:
        return []
    found = sorted(Path(match) for match in glob.glob(name, recursive=True))
    return [file for match in found for file in (_files(match) if match.is_dir() else [match])]


def _files(place: Path) -> list[Path]:
    """The files of a folder and its subfolders that may be suites, in order; a folder that can't be listed is refused."""
    found = [Path(at) / name for at, _, names in os.walk(place, onerror=_refuse_closed) for name in names]
    return [
        file
        for file in sorted(found)
        if file.suffix in SUFFIXES
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


def _head(file: Path) -> str:
    return utf8.beginning(file, HEAD).decode("utf-8", errors="replace").removeprefix("\ufeff")


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _option_names(module: ModuleType) -> list[str]:
    return [name for name in inspect.signature(module.read).parameters if name != "path"]


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]


def _refuse_closed(error: OSError) -> None:
    raise InputError(str(error.filename), f"can't be listed: {error.strerror}", "a readable folder") from error
