"""Take a JSON value apart: each function gives the value if it has the right kind, or says what stands there instead."""

from difflib import get_close_matches
from typing import Any, TypeVar

from syntagm.errors import InputError
from syntagm.io import strict

T = TypeVar("T")
_WORDS: dict[type, str] = {dict: "an object in braces", list: "a list", str: "a text", int: "an integer"}


def need(value: Any, kind: type[T], place: str) -> T:
    """The value itself, if it is of that kind; InputError if not. `true` is no integer."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(place, strict.kind(value), _WORDS[kind])
    return value


def field(value: dict[str, Any], key: str, kind: type[T], place: str) -> T:
    """The value of a key, if it is there and of that kind; InputError if not."""
    if key in value:
        return need(value[key], kind, f"{place}, {key}")
    near = get_close_matches(key, value, 1)
    cure = (
        f"Is {near[0]!r} meant?"
        if near
        else f"Add it, empty if there are none: {key!r}."
        if kind in (list, dict)
        else ""
    )
    raise InputError(place, f"no {key!r}", f"the key {key!r}", cure)
