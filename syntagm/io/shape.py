"""Checks of the types of JSON values. Each function returns the value, or raises an error that describes what was found."""

import json
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeVar

from syntagm.errors import InputError

MAX_ITEMS = 1_000_000
MAX_SENTENCE = 10_000

T = TypeVar("T")
_WORDS: dict[type, str] = {dict: "an object in braces", list: "a list", str: "a string", int: "an integer"}


def need(value: Any, kind: type[T], place: str) -> T:
    """Return the value if it has the type `kind`; raise InputError if not. `true` does not count as an integer."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(place, shown(value), _WORDS[kind])
    return value


def field(value: dict[str, Any], key: str, kind: type[T], place: str) -> T:
    """Return the value of a key if it has the type `kind`; raise InputError if not, or if there is no such key."""
    if key in value:
        return need(value[key], kind, f"{place}, {key}")
    near = get_close_matches(key, value, 1)
    cure = f"Did you mean {near[0]!r}?" if near else f"Add {key!r}; it may be empty." if kind in (list, dict) else ""
    raise InputError(place, f"no {key!r}", f"the key {key!r}", cure)


def sentence(value: Any, place: str) -> str:
    """Return the value if it is a string of at most 10,000 characters; raise InputError if not."""
    if not isinstance(value, str):
        raise InputError(place, shown(value), "a string", "Put it in quotation marks.")
    if len(value) > MAX_SENTENCE:
        raise InputError(
            place, f"{len(value)} characters", f"at most {MAX_SENTENCE}", "Check that it is a single sentence."
        )
    return value


def count(number: int, path: Path) -> None:
    """Raise InputError if the number of items is above one million."""
    if number > MAX_ITEMS:
        raise InputError(str(path), f"more than {MAX_ITEMS:,} items", "fewer", "Split it into several files.")


def shown(value: Any) -> str:
    """Describe a JSON value for a message."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def plain(value: Any) -> str:
    """Format a JSON value as a tag: a string is not changed, and anything else becomes JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
