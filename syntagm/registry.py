"""The folder is the registry: what lies in a room of the package has a name that the user can write.

Other packages add to some rooms by entry points: the group `syntagm.models` names modules that declare a model family.
"""

import importlib
import pkgutil
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING

from syntagm.errors import UsageError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# Rooms in which a name is a folder with this module in it; elsewhere a name is a module without a leading underscore.
DECLARED_IN = {"models": "family", "papers": "reproduce"}
# Rooms that other packages can add to.
OPEN = frozenset({"models"})


def names(room: str) -> list[str]:
    """List the names that exist in a room of the package, and those that other packages add to it.

    >>> "causal" in names("models")
    True
    """
    return sorted({*_own(room), *_added(room)})


def find(room: str, name: str) -> ModuleType:
    """Import what has the name `name` in a room.

    Raises:
        UsageError: there is no such name; the message lists those that exist. Or two packages have the same one.
    """
    own, added = name in _own(room), _added(room).get(name, ())
    if own + len(added) > 1:
        packages = ", ".join([*(["syntagm"] if own else []), *(point.value for point in added)])
        raise UsageError(room, f"{name!r} in several packages: {packages}", "one of that name", "Remove a package.")
    if added:
        module: ModuleType = added[0].load()
        return module
    if not own:
        known = names(room)
        close = get_close_matches(name, known, 1)
        raise UsageError(
            room,
            f"no such name: {name!r}",
            "one of " + ", ".join(known),
            f"Did you mean {close[0]}?" if close else "",
        )
    declaration = f".{DECLARED_IN[room]}" if room in DECLARED_IN else ""
    return importlib.import_module(f"syntagm.{room}.{name}{declaration}")


def _own(room: str) -> list[str]:
    folder = importlib.import_module(f"syntagm.{room}")
    if declaration := DECLARED_IN.get(room):
        return [path.parent.name for path in Path(folder.__path__[0]).glob(f"*/{declaration}.py")]
    return [found.name for found in pkgutil.iter_modules(folder.__path__) if not found.name.startswith("_")]


@cache
def _added(room: str) -> dict[str, tuple["EntryPoint", ...]]:
    """What other packages add, by name; installed packages do not change while a program runs."""
    if room not in OPEN:
        return {}
    from importlib.metadata import entry_points

    points = entry_points(group=f"syntagm.{room}")
    return {point.name: tuple(one for one in points if one.name == point.name) for point in points}
