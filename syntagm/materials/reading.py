"""Read one file into suites, whatever its format.

Options stand after a question mark: `pairs.csv?good=sen&bad=wrong_sen`. `format=NAME` says the format; otherwise the one
format that claims the file reads it.
"""

import inspect
import re
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType

from syntagm import registry
from syntagm.errors import InputError, UsageError
from syntagm.io import json, utf8
from syntagm.suite import Suite

HEAD = 64 * 1024
_OPTIONS = re.compile(r"\?([A-Za-z_]+=[^&]*(?:&[A-Za-z_]+=[^&]*)*)$", re.DOTALL)


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
    known = option_names(module)
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
    if not found or exists(Path(path)):
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
        found = [module for module in formats() if set(options) <= set(option_names(module))]
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
    return [module for module in formats() if module.claims(file, head)]


def formats() -> list[ModuleType]:
    """All formats, in the order of their names."""
    return [registry.find("formats", name) for name in registry.names("formats")]


def with_options(argument: str, options: Mapping[str, str]) -> str:
    """The argument with more options after its question mark; those that it has already stay.

    >>> with_options("hu2020?n=3", {"n": "5", "seed": "2"})
    'hu2020?n=3&seed=2'
    """
    name, given = options_of(argument)
    ending = "&".join(f"{key}={value}" for key, value in (given | (dict(options) | given)).items())
    return f"{name}?{ending}" if ending else name


def exists(path: Path) -> bool:
    """Is there such a file or folder? A text that can't be a path is none."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def option_names(module: ModuleType) -> list[str]:
    """The options of a format: the keyword arguments of its `read`."""
    return [name for name in inspect.signature(module.read).parameters if name != "path"]


def _head(file: Path) -> str:
    return utf8.beginning(file, HEAD).decode("utf-8", errors="replace").removeprefix("\ufeff")


def _name(module: ModuleType) -> str:
    return module.__name__.rpartition(".")[2]
