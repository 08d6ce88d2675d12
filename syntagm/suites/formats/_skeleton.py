"""Skeletons of JSON files: the original, with null in place of each value that a suite stores.

`strip` makes the skeleton by comparing the original with the JSON that would be written without it. `fill` puts the two
back together. If a suite was changed, its values replace those of the skeleton.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from syntagm.core import InputError

RESERVED = ("json:", "region.")


def strip(original: Any, rebuilt: Any) -> Any:
    """Replace the parts of `original` that `rebuilt` reproduces, including the order of keys, with None.

    >>> strip({"b": 1, "a": {"x": 1}}, {"a": {"x": 1}})
    {'b': 1, 'a': None}
    """
    if json.dumps(original) == json.dumps(rebuilt):
        return None
    if isinstance(original, dict) and isinstance(rebuilt, dict):
        return {key: strip(value, rebuilt[key]) if key in rebuilt else value for key, value in original.items()}
    if isinstance(original, list) and isinstance(rebuilt, list) and len(original) == len(rebuilt):
        return [strip(value, new) for value, new in zip(original, rebuilt, strict=True)]
    return original


def fill(skeleton: Any, rebuilt: Any, place: str) -> Any:
    """Rebuild the original from its skeleton and the JSON of the suite.

    Raises:
        InputError: the suite has more or fewer conditions, regions or predictions than the skeleton.

    >>> fill({"b": 1, "a": None}, {"a": {"x": 2}}, "here")
    {'b': 1, 'a': {'x': 2}}
    """
    if skeleton is None:
        return rebuilt
    if isinstance(skeleton, dict) and isinstance(rebuilt, dict):
        filled = {key: fill(value, rebuilt[key], place) if key in rebuilt else value for key, value in skeleton.items()}
        return filled | {key: value for key, value in rebuilt.items() if key not in skeleton}
    if isinstance(skeleton, list) and isinstance(rebuilt, list):
        if len(skeleton) != len(rebuilt):
            cure = "Remove the tags that begin with json:, which belong to a different version of the suite."
            found = f"{len(rebuilt)} parts where its json: tag has {len(skeleton)}"
            raise InputError(place, found, "the same number", cure)
        return [fill(value, new, place) for value, new in zip(skeleton, rebuilt, strict=True)]
    return skeleton if _letters(skeleton) == _letters(rebuilt) else rebuilt


def texts(values: Mapping[str, Any], used: Sequence[str]) -> dict[str, str]:
    """Return the values that can be tags: non-empty texts whose names are neither in `used` nor reserved."""
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, str) and value and key not in used and not key.startswith(RESERVED)
    }


def plain(tags: Mapping[str, str], used: Sequence[str], place: str) -> dict[str, str]:
    """Return the tags that are not reserved, which `texts` reads back; none may have a name in `used`."""
    public = {key: value for key, value in tags.items() if not key.startswith(RESERVED)}
    for key in used:
        if key in public:
            raise InputError(place, f"a tag called {key!r}", "another name", f"The format reserves {key!r}.")
    return public


def number(identifier: str) -> int | str:
    """Return an identifier as an integer if it is written like an integer, else unchanged.

    >>> number("12"), number("012"), number("a")
    (12, '012', 'a')
    """
    return int(identifier) if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", identifier) else identifier


def _letters(value: Any) -> str:
    return "".join(str(value).split())
