"""The registry of named things: model families, views, commands and so on, found by their folder in the package.

A room is a folder of the package; the modules in it have the names that users write. Other packages add to most rooms
through entry points, whose group is named like the room (`ROOMS`): for example, those of `syntagm.formats` are formats.
"""

import importlib
import importlib.util
import pkgutil
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from syntagm.core import renames
from syntagm.core.errors import UsageError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


@dataclass(frozen=True, slots=True)
class Room:
    """A room that other packages can add to."""

    folder: str  # its folder in the package, dotted
    declares: tuple[str, ...] = ()  # what a module must have; empty if the room itself checks what it finds
    within: str = ""  # the module that declares a name, if a name is a folder; "" if it is a module
    besides: tuple[str, ...] = ()  # the modules of the folder that aren't such things


# Name -> room; the group of its entry points is `syntagm.NAME`. All other rooms are named by their folders, such as `cli`; a
# name in them is a module without leading underscore, and no package adds to them.
ROOMS = {
    "models": Room("models", ("FAMILY",), within="family"),
    "formats": Room("suites.formats", ("ENDINGS", "claims", "read")),
    "measures": Room("evaluation.measures"),
    "views": Room(
        "views",
        besides=("by_name", "checking", "checkpoints", "drawing", "estimates", "export", "in_training", "options"),
    ),
    "export": Room("views.export", ("EXPORT",)),
    "check": Room("suites.check"),
    "checkpoints": Room("models.checkpoints", ("LAYOUT",)),
    "executors": Room("runs.executors", ("EXECUTOR",)),
    "papers": Room("papers", ("PAPER",), within="reproduce"),
}


def _room(name: str) -> Room:
    return ROOMS.get(name) or Room(name)


def names(room: str) -> list[str]:
    """List the names in a room of the package, including those that other packages add.

    >>> "causal" in names("models")
    True
    """
    return sorted({*_own(room), *_added(room)})


def find(room: str, name: str) -> Any:
    """Import the module with a given name, or with the name that it had before (`renames`)."""
    if name not in _own(room):
        name = renames.current(room, name, {*_own(room), *_added(room)})
    own, added = name in _own(room), _added(room).get(name, ())
    if own + len(added) > 1:
        packages = ", ".join([*(["syntagm"] if own else []), *(point.value for point in added)])
        cure = "Uninstall one of the packages."
        raise UsageError(_called(room), f"{name!r} in several packages: {packages}", "only one", cure)
    if added:
        return _loaded(room, added[0])
    if not own:
        known = names(room)
        expected, cure = "one of " + ", ".join(known), did_you_mean(name, known)
        raise UsageError(_called(room), f"no such name: {name!r}", expected, cure)
    place = _room(room)
    return importlib.import_module(f"syntagm.{place.folder}.{name}" + (f".{place.within}" if place.within else ""))


def added(room: str) -> list[str]:
    """List the names in a room that other packages add."""
    return sorted(_added(room))


def added_packages() -> list[tuple[str, list[Path]]]:
    """List what other packages add to all rooms: what it is with the version of its package, and where its code is."""
    # Nothing is imported. Of a package that can't be found, there is no place.
    found = []
    for point in _points():
        package = f"{point.dist.name} {point.dist.version}" if point.dist else ""
        found.append((f"{point.group} {point.name} {point.value} {package}", _places(point.module.partition(".")[0])))
    return found


def _places(package: str) -> list[Path]:
    """Return the folders of a package, or the file of a module."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return []
    if spec is None:
        return []
    return [Path(place) for place in spec.submodule_search_locations or [spec.origin or ""] if place]


def _loaded(room: str, point: "EntryPoint") -> Any:
    """Load what a package names; whatever it raises is one error with the name of the package."""
    package = point.dist.name if point.dist else "a package"
    cure = f"Repair or uninstall {package}."
    try:
        found = point.load()
    except Exception as error:
        problem = f"{point.name!r} of {package} can't be imported: {type(error).__name__}: {error}"
        raise UsageError(_called(room), problem, f"the entry point {point.value}", cure) from error
    declares = ROOMS[room].declares
    if lacking := [name for name in declares if not hasattr(found, name)]:
        problem = f"{point.name!r} of {package} has no {lacking[0]}"
        raise UsageError(_called(room), problem, "a module with " + ", ".join(declares), cure)
    return found


def _called(room: str) -> str:
    return room.rpartition(".")[2]


@cache
def _own(room: str) -> tuple[str, ...]:
    """Return the names in a room of the package. They are cached, like the result of the next function."""
    place = _room(room)
    folder = importlib.import_module(f"syntagm.{place.folder}")
    if place.within:
        return tuple(path.parent.name for path in Path(folder.__path__[0]).glob(f"*/{place.within}.py"))
    modules = (module.name for module in pkgutil.iter_modules(folder.__path__) if not module.name.startswith("_"))
    return tuple(name for name in modules if name not in place.besides)


@cache
def _added(room: str) -> dict[str, tuple["EntryPoint", ...]]:
    """Return the entry points of other packages by name. They are cached, since packages don't change while a program runs."""
    points = [point for point in _points() if point.group == f"syntagm.{room}"] if room in ROOMS else []
    return {point.name: tuple(other for other in points if other.name == point.name) for point in points}


@cache
def _points() -> tuple["EntryPoint", ...]:
    from importlib.metadata import entry_points

    found = entry_points()
    return tuple(point for room in ROOMS for point in found.select(group=f"syntagm.{room}"))
