"""Records of settings, which are saved with the output so that resuming with other settings is refused."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.errors import RunError
from syntagm.io import atomic


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record atomically.

    Raises:
        RunError: the record can't be written.
    """
    atomic.write(path, encoded(content))


def encoded(content: Mapping[str, Any]) -> bytes:
    """Return a record in the form in which its file stores it."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def refuse_another(
    place: str | Path, kind: str, recorded: Mapping[str, Any], current: Mapping[str, Any], cure: str
) -> None:
    """Refuse to resume work if its recorded settings differ from the current ones. The message names each difference.

    Arguments:
        place: folder or file of the record.
        kind: the kind of work that the record belongs to, e.g. "an experiment".
        recorded: the settings in the record. Keys that `current` doesn't have are ignored, because a record may contain
            more.
        current: the current settings. Tuples are compared as lists, because JSON has no tuples.
        cure: how to solve the problem, as a sentence.

    Raises:
        RunError: some settings differ.

    >>> refuse_another("out", "a run", {"n": 3, "by": {"word": "yes"}}, {"n": 3, "by": {"word": "no"}}, "Choose another.")
    Traceback (most recent call last):
    syntagm.errors.RunError: out: a run with by.word = 'yes'; expected by.word = 'no'. Choose another.
    """
    if different := differences(recorded, current):
        found = ", ".join(f"{path} = {old!r}" for path, (old, _) in different.items())
        expected = ", ".join(f"{path} = {new!r}" for path, (_, new) in different.items())
        raise RunError(str(place), f"{kind} with {found}", expected, cure)


def differences(recorded: Mapping[str, Any], current: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Return the settings that differ: path -> recorded and current value; None for a missing value.

    >>> differences({"size": {"layers": 2, "tied": True}, "version": "1"}, {"size": {"layers": 3, "tied": True}})
    {'size.layers': (2, 3)}
    """
    different: dict[str, tuple[Any, Any]] = {}
    for key, value in json.loads(json.dumps(dict(current))).items():
        _compare(key, recorded.get(key), value, different)
    return different


def _compare(path: str, recorded: Any, current: Any, different: dict[str, tuple[Any, Any]]) -> None:
    if isinstance(recorded, Mapping) and isinstance(current, Mapping):
        for key in {**current, **recorded}:
            _compare(f"{path}.{key}", recorded.get(key), current.get(key), different)
    elif recorded != current:
        different[path] = (recorded, current)
