"""What a JSON file holds beyond the types: its skeleton, the original with null wherever the types hold the value.

`strip` makes the skeleton by comparing the original with what would be written without it; `fill` puts the two together
again. A literal that no longer fits the suite, because the suite was changed, gives way to the suite.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from syntagm.errors import InputError

RESERVED = ("json:", "region.")


def strip(original: Any, rebuilt: Any) -> Any:
    """The skeleton of `original`; None if `rebuilt` is the same, key order included.

    >>> strip({"b": 1, "a": {"x": 1}}, {"a": {"x": 1}})
    {'b': 1, 'a': None}
    """
    if json.dumps(original) == json.dumps(rebuilt):
        return None
    if isinstance(original, dict) and isinstance(rebuilt, dict):
        return {key: strip(value, rebuilt[key]) if key in rebuilt else value for key, value in original.items()}
    if isinstance(original, list) and isinstance(rebuilt, list) and len(original) == len(rebuilt):
        return [strip(one, other) for one, other in zip(original, rebuilt, strict=True)]
    return original


def fill(skeleton: Any, rebuilt: Any, place: str) -> Any:
    """The original from its skeleton and what the suite says.

    Raises:
        InputError: the suite has more or fewer conditions, regions or predictions than the skeleton.

    >>> fill({"b": 1, "a": None}, {"a": {"x": 2}}, "here")
    {'b': 1, 'a': {'x': 2}}
    """
    if skeleton is None:
        return rebuilt
    if isinstance(skeleton, dict) and isinstance(rebuilt, dict):
        known = {key: fill(value, rebuilt[key], place) if key in rebuilt else value for key, value in skeleton.items()}
        return known | {key: value for key, value in rebuilt.items() if key not in skeleton}
    if isinstance(skeleton, list) and isinstance(rebuilt, list):
        if len(skeleton) != len(rebuilt):
            cure = "Take out the tags that begin with json:, they are of another version of the suite."
            raise InputError(place, f"{len(rebuilt)} parts where its json: tag has {len(skeleton)}", "as many", cure)
        return [fill(one, other, place) for one, other in zip(skeleton, rebuilt, strict=True)]
    return skeleton if _letters(skeleton) == _letters(rebuilt) else rebuilt


def texts(values: Mapping[str, Any], held: Sequence[str]) -> dict[str, str]:
    """Those of `values` that can stand as tags: texts, not empty, whose names are neither `held` nor reserved."""
    return {
        key: value
        for key, value in values.items()
        if isinstance(value, str) and value and key not in held and not key.startswith(RESERVED)
    }


def plain(tags: Mapping[str, str], held: Sequence[str], place: str) -> dict[str, str]:
    """The tags that `texts` can have made; InputError if one has a name that the format itself uses."""
    made = {key: value for key, value in tags.items() if not key.startswith(RESERVED)}
    for key in held:
        if key in made:
            raise InputError(place, f"a tag called {key!r}", "another name", "The format uses this name itself.")
    return made


def number(identifier: str) -> int | str:
    """An identifier as a JSON number if it is written like one, else itself.

    >>> number("12"), number("012"), number("a")
    (12, '012', 'a')
    """
    return int(identifier) if re.fullmatch(r"0|-?[1-9][0-9]{0,17}", identifier) else identifier


def _letters(value: Any) -> str:
    return "".join(str(value).split())
