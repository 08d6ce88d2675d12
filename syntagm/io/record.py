"""Records: settings written down beside what was made with them, so that work with other settings is refused."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from syntagm.errors import RunError
from syntagm.io import atomic


def write(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record, whole or not at all.

    Raises:
        RunError: it can't be written.
    """
    atomic.write(path, encoded(content))


def encoded(content: Mapping[str, Any]) -> bytes:
    """Return a record as it stands in its file."""
    return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode()


def refuse_another(
    place: str | Path, kind: str, standing: Mapping[str, Any], asked: Mapping[str, Any], cure: str
) -> None:
    """Refuse to go on with work of other settings; each that differs is named by its path.

    Arguments:
        place: where the record stands.
        kind: what was begun there: "an experiment".
        standing: what the record says. What `asked` doesn't have is passed over, as a record may say more than settings.
        asked: the settings asked for; tuples are compared as the lists that JSON makes of them.
        cure: what to do about it, as a sentence.

    Raises:
        RunError: some differ.

    >>> refuse_another("out", "a run", {"n": 3, "by": {"word": "yes"}}, {"n": 3, "by": {"word": "no"}}, "Choose another.")
    Traceback (most recent call last):
    syntagm.errors.RunError: out: a run with by.word = 'yes'; expected by.word = 'no'. Choose another.
    """
    if found := differences(standing, asked):
        here = ", ".join(f"{path} = {one!r}" for path, (one, _) in found.items())
        wanted = ", ".join(f"{path} = {other!r}" for path, (_, other) in found.items())
        raise RunError(str(place), f"{kind} with {here}", wanted, cure)


def differences(standing: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Find the values that differ from those asked for, by their paths; what is not there is None.

    >>> differences({"size": {"layers": 2, "tied": True}, "version": "1"}, {"size": {"layers": 3, "tied": True}})
    {'size.layers': (2, 3)}
    """
    found: dict[str, tuple[Any, Any]] = {}
    for key, value in json.loads(json.dumps(dict(asked))).items():
        _compare(key, standing.get(key), value, found)
    return found


def _compare(path: str, standing: Any, asked: Any, found: dict[str, tuple[Any, Any]]) -> None:
    if isinstance(standing, Mapping) and isinstance(asked, Mapping):
        for key in {**asked, **standing}:
            _compare(f"{path}.{key}", standing.get(key), asked.get(key), found)
    elif standing != asked:
        found[path] = (standing, asked)
