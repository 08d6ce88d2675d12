"""Language models that are programs in any language.

`exec:FILE.toml` starts the program that the file names, if that is allowed, and asks it for surprisals.
"""

from collections.abc import Mapping
from pathlib import Path

from syntagm.core import InputError, ModelError, toml, utf8
from syntagm.models.exec.family import FAMILY
from syntagm.models.program.model import BATCH, SECONDS, ProgramModel, Start, refuse_unless_allowed, sources

_KEYS = ("command", "options", "seconds", "batch")


def check(name: str, path: str, chosen: Mapping[str, str], allow_exec: bool = False) -> None:
    """Refuse a program without permission, and a file that does not say how to start it; see `Family.checks`."""
    refuse_unless_allowed(place := f"{name}:{path}", allow_exec)
    try:
        _start(Path(path), place)
    except InputError as error:
        raise ModelError(error.place, error.found, error.expected, error.cure) from error


def load(path: str, allow_exec: bool = False, **options: str) -> ProgramModel:
    """Start the program that the file `path` names."""
    FAMILY.choose(options)
    refuse_unless_allowed(place := f"exec:{path}", allow_exec)
    try:
        start = _start(Path(path), place)
        return ProgramModel(FAMILY, place, start, sources(start))
    except InputError as error:
        raise ModelError(error.place, error.found, error.expected, error.cure) from error
    except OSError as error:
        raise ModelError(place, f"{error.filename} can't be read ({error.strerror})", "a readable file") from None


def _start(path: Path, place: str) -> Start:
    if not path.exists():
        cure = 'Write one: command = ["node", "model.mjs"].'
        raise InputError(place, "no such file", "a TOML file with the command that starts the program", cure)
    table = toml.read(utf8.read(path), place)
    toml.known(table, _KEYS, place)
    command = toml.need(table.get("command", []), list, f"{place}, command")
    if not command or not all(isinstance(word, str) and word for word in command):
        expected = 'a list of texts, such as ["node", "model.mjs"]'
        raise InputError(f"{place}, command", toml.shown(command), expected)
    seconds, batch = table.get("seconds", SECONDS), table.get("batch", BATCH)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 1e6:
        raise InputError(f"{place}, seconds", toml.shown(seconds), "a number above 0")
    if isinstance(batch, bool) or not isinstance(batch, int) or not 1 <= batch <= 100_000:
        raise InputError(f"{place}, batch", toml.shown(batch), "a whole number from 1 to 100,000")
    return Start(command, path.resolve().parent, toml.table(table, "options", place), float(seconds), batch)
