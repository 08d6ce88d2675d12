"""Writing of suites in a format that is chosen by its name or by the file extension."""

from collections.abc import Sequence
from pathlib import Path

from syntagm.core import InputError, registry
from syntagm.suites.materials.reading import formats
from syntagm.suites.suite import Suite


def writable() -> dict[str, tuple[str, ...]]:
    """Return the formats that can be written, with their file extensions.

    >>> writable()["blimp"]
    ('.jsonl',)
    """
    return {module.__name__.rpartition(".")[2]: module.WRITES for module in formats() if hasattr(module, "write")}


def whole() -> dict[str, tuple[str, str]]:
    """Return the formats that can store predictions: name or extension -> name and extension.

    >>> whole()["pairs"] == whole()["tsv"] == ("pairs", ".tsv")
    True
    """
    complete = {name: endings[0] for name, endings in writable().items() if _holds_predictions(name)}
    by_ending = {ending.removeprefix("."): (name, ending) for name, ending in reversed(complete.items())}
    return {name: (name, ending) for name, ending in complete.items()} | by_ending


def of_ending(ending: str) -> list[str]:
    """Return the formats whose files can have an extension, the most typical format first.

    >>> of_ending(".csv")
    ['syntaxgym_csv', 'pairs', 'spreadsheet']
    """
    places = {name: endings.index(ending) for name, endings in writable().items() if ending in endings}
    return sorted(places, key=places.__getitem__)


def write(suites: Sequence[Suite], path: Path, names: Sequence[str]) -> str:
    """Write suites in the first of several formats that can store them, and return its name."""
    # names: the names of the formats, in order of preference.
    refusals: list[tuple[str, InputError]] = []
    for name in names:
        try:
            registry.find("formats", name).write(suites, path)
        except InputError as error:
            refusals.append((name, error))
        else:
            return name
    name, first = refusals[0]
    also = "".join(f"\n  Nor can {other}: {reason}" for other, reason in refusals[1:])
    raise InputError(f"{name} can't store it: {first.place}", first.found, first.expected, first.cure + also)


def _holds_predictions(name: str) -> bool:
    return bool(getattr(registry.find("formats", name), "HOLDS_PREDICTIONS", True))
