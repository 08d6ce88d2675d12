"""Write suites in a format, named by itself or by the ending of the file."""

from collections.abc import Sequence
from pathlib import Path

from syntagm import registry
from syntagm.errors import InputError
from syntagm.materials.reading import formats
from syntagm.suite import Suite


def writable() -> dict[str, tuple[str, ...]]:
    """The formats that can be written, each with the endings of its files.

    >>> writable()["blimp"]
    ('.jsonl',)
    """
    return {module.__name__.rpartition(".")[2]: module.WRITES for module in formats() if hasattr(module, "write")}


def whole() -> dict[str, tuple[str, str]]:
    """What a suite with its predictions can be written as, by name or by ending: the format and the ending of its files.

    >>> whole()["pairs"] == whole()["tsv"] == ("pairs", ".tsv")
    True
    """
    kept = {name: endings[0] for name, endings in writable().items() if _holds_predictions(name)}
    by_ending = {ending.removeprefix("."): (name, ending) for name, ending in kept.items()}
    return {name: (name, ending) for name, ending in kept.items()} | by_ending


def of_ending(ending: str) -> list[str]:
    """The formats whose files may end so, those first to which the ending belongs most.

    >>> of_ending(".csv")
    ['syntaxgym_csv', 'pairs']
    """
    places = {name: endings.index(ending) for name, endings in writable().items() if ending in endings}
    return sorted(places, key=places.__getitem__)


def write(suites: Sequence[Suite], path: Path, names: Sequence[str]) -> str:
    """Write with the first of these formats that can hold the suites; which one it was.

    Raises:
        InputError: none can; the message says why each can't.
        RunError: the file can't be written.
    """
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
    raise InputError(f"{name} can't hold it: {first.place}", first.found, first.expected, first.cure + also)


def _holds_predictions(name: str) -> bool:
    return bool(getattr(registry.find("formats", name), "HOLDS_PREDICTIONS", True))
