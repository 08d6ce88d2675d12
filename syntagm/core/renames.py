"""Renamed things: an old name does the same as the new one, and warns, for one minor version at least.

What is renamed is one line of `RENAMES`. Whatever looks a name up asks `current`: `registry.find` (views, formats, measures,
commands and all other rooms), `settings.read` (`name=value` of views, measures, models), the command line (its options, on
the line and as keys of `--config`), `syntagm.NAME`, and public functions (`arguments.public`). A file on disk has the number
of its format instead.
"""

import inspect
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from syntagm.core.errors import UsageError

_Value = TypeVar("_Value")

OPTION, FLAG, PYTHON, ARGUMENT = "option", "flag", "python", "argument of {}"


@dataclass(frozen=True, slots=True)
class Rename:
    # The room whose names users write (`views`, `measures`, `cli`), or `OPTION` (`name=value`), `FLAG` (an option of
    # the command line, `--name`), `PYTHON` (a name in `syntagm`), or `ARGUMENT.format(NAME)` (an argument of a public
    # function or method, by its name).
    kind: str
    old: str  # the name before
    new: str  # the name now
    since: str  # the version that renamed it, MAJOR.MINOR. The next MINOR version may drop the old name.


# Nothing was renamed since version 1.0.
RENAMES: tuple[Rename, ...] = ()


class RenamedWarning(FutureWarning):
    """A name that a later version no longer knows."""


def current(kind: str, name: str, known: Collection[str]) -> str:
    """Return the current name of a thing, with a warning if `name` is an old one; an unknown name is returned as it is."""
    if not RENAMES or name in known:
        return name
    for rename in RENAMES:
        if rename.kind == kind and rename.old == name and rename.new in known:
            warnings.warn(
                f"{rename.old} is called {rename.new} since version {rename.since}; a later version knows the new name only",
                RenamedWarning,
                stacklevel=_out(),
            )
            return rename.new
    return name


def _out() -> int:
    """Return how far up the first caller outside of the package is, to whom the warning is about their own code."""
    level, frame = 1, inspect.currentframe()
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] == "syntagm":
        level, frame = level + 1, frame.f_back
    return level - 1


def renewed(kind: str, texts: Mapping[str, _Value], known: Collection[str], place: str) -> Mapping[str, _Value]:
    """Return what somebody wrote, name -> text or value, under current names."""
    if not RENAMES:
        return texts
    found: dict[str, _Value] = {}
    for name, text in texts.items():
        new = current(kind, name, known)
        if new in found or (new != name and new in texts):
            raise UsageError(place, f"{name} and {new}", "one of the two", "They are the same option.")
        found[new] = text
    return found


def flags(words: Sequence[str], known: Collection[str]) -> list[str]:
    """Return the words of a command line with current names of options: `--old`, and `--old=VALUE`."""
    end = words.index("--") if "--" in words else len(words)
    renewed = []
    for word in words[:end]:
        name, equals, value = word.partition("=")
        renewed.append(current(FLAG, name, known) + equals + value if name.startswith("--") else word)
    return [*renewed, *words[end:]]


@contextmanager
def told(tell: Callable[[str], None]) -> Iterator[None]:
    """Tell the warnings of the block to people, each once, without the line of code where they were found."""
    before, said = warnings.showwarning, set[str]()

    def show(message: Warning | str, category: type[Warning], *rest: object, **others: object) -> None:
        if not issubclass(category, RenamedWarning):
            before(message, category, *rest, **others)  # type: ignore[arg-type]
        elif str(message) not in said:
            said.add(str(message))
            tell(str(message))

    with warnings.catch_warnings():
        warnings.filterwarnings("always", category=RenamedWarning)
        warnings.showwarning = show
        yield
