"""The fronts of rooms: what other rooms import from a room, each name from the module that defines it, on first use.

The front of a room is its `__init__.pyi`, which type checkers and editors read, too. So a file inside a room can be moved
without changing others, and importing a name loads no more than its module.
"""

from collections.abc import Callable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any


def front(room: str, file: str) -> Callable[[str], Any]:
    """Return the `__getattr__` of a room."""

    @cache
    def homes() -> dict[str, tuple[str, str]]:
        # `from MODULE import NAME as NAME, ...`; to parse it as Python takes thirty times as long.
        text = Path(file).with_suffix(".pyi").read_text(encoding="utf-8")
        found = {}
        for statement in text.removeprefix("from ").split("\nfrom "):
            module, _, names = statement.partition(" import ")
            for name in names.strip("(), \n").split(","):
                own, _, alias = name.strip().partition(" as ")
                found[alias] = (module, own)
        return found

    def attribute(name: str) -> Any:
        if name.startswith("__") or name not in homes():
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, own = homes()[name]
        found = import_module(module)
        # A name that the module hasn't is that of a module in it.
        return getattr(found, own) if module != room and hasattr(found, own) else import_module(f"{module}.{own}")

    return attribute
