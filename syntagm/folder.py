"""The folder is the registry: a file name in a package is a name the user can write."""

import importlib
import pkgutil
from difflib import get_close_matches
from types import ModuleType

from syntagm.errors import UsageError


def names(package: str) -> list[str]:
    """The names that exist in `package`: its modules, less those with a leading underscore.

    >>> "causal" in names("models")
    True
    """
    folder = importlib.import_module(f"syntagm.{package}")
    return sorted(found.name for found in pkgutil.iter_modules(folder.__path__) if not found.name.startswith("_"))


def find(package: str, name: str) -> ModuleType:
    """Import the module `name` of `package`.

    Raises:
        UsageError: there is no such name; the message lists those that exist.
    """
    known = names(package)
    if name not in known:
        close = get_close_matches(name, known, 1)
        raise UsageError(
            package,
            f"no such name: {name!r}",
            "one of " + ", ".join(known),
            f"Did you mean {close[0]}?" if close else "",
        )
    return importlib.import_module(f"syntagm.{package}.{name}")
