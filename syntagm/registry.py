"""The folder is the registry: what lies in a room of the package has a name that the user can write."""

import importlib
import pkgutil
from difflib import get_close_matches
from pathlib import Path
from types import ModuleType

from syntagm.errors import UsageError

# Rooms in which a name is a folder with this module in it; elsewhere a name is a module without a leading underscore.
DECLARED_IN = {"models": "family", "papers": "reproduce"}


def names(room: str) -> list[str]:
    """List the names that exist in a room of the package.

    >>> "causal" in names("models")
    True
    """
    folder = importlib.import_module(f"syntagm.{room}")
    if declaration := DECLARED_IN.get(room):
        return sorted(path.parent.name for path in Path(folder.__path__[0]).glob(f"*/{declaration}.py"))
    return sorted(found.name for found in pkgutil.iter_modules(folder.__path__) if not found.name.startswith("_"))


def find(room: str, name: str) -> ModuleType:
    """Import what has the name `name` in a room.

    Raises:
        UsageError: there is no such name; the message lists those that exist.
    """
    known = names(room)
    if name not in known:
        close = get_close_matches(name, known, 1)
        raise UsageError(
            room,
            f"no such name: {name!r}",
            "one of " + ", ".join(known),
            f"Did you mean {close[0]}?" if close else "",
        )
    declaration = f".{DECLARED_IN[room]}" if room in DECLARED_IN else ""
    return importlib.import_module(f"syntagm.{room}.{name}{declaration}")
