"""Checks of the types of JSON values. Each function returns the value, or raises an error that describes what was found."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from syntagm.core.errors import InputError, did_you_mean

MAX_ITEMS = 1_000_000
MAX_SENTENCE = 10_000

T = TypeVar("T")
_WORDS: dict[type | None, str] = {
    dict: "an object in braces",
    list: "a list",
    str: "a string",
    int: "an integer",
    float: "a number",
    bool: "true or false",
    None: "null",
}
# A type; None; a set of strings, one of which it must be; a tuple of shapes, one of which it must have; [shape] for a list;
# {str: shape} for an object with any keys; {"key": shape, "key?": shape} for an object with these keys, some optional.
# `object` is any value, and a `float` may be an integer.
Shape: TypeAlias = Any


def need(value: Any, kind: type[T], place: str) -> T:
    """Return the value if it has the type `kind`; raise InputError if not. `true` does not count as an integer."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(place, shown(value), _WORDS[kind])
    return value


def field(value: dict[str, Any], key: str, kind: type[T], place: str) -> T:
    """Return the value of a key if it has the type `kind`; raise InputError if not, or if there is no such key."""
    if key in value:
        return need(value[key], kind, f"{place}, {key}")
    cure = did_you_mean(key, value) or (f"Add {key!r}; it may be empty." if kind in (list, dict) else "")
    raise InputError(place, f"no {key!r}", f"the key {key!r}", cure)


def check(value: Any, form: Shape, place: str) -> None:
    """Check the shape of a JSON value.

    >>> check({"n": [1, "2"]}, {"n": [int], "name?": str}, "a.json")
    Traceback (most recent call last):
    syntagm.core.errors.InputError: a.json, n, 2: "2"; expected an integer
    """
    if mismatch := _mismatch(value, form):
        within, found, expected = mismatch
        raise InputError(place + within, found, expected)


# The place in the value, what was found there, and what was expected.
_Mismatch: TypeAlias = tuple[str, str, str]


def _mismatch(value: Any, form: Shape) -> _Mismatch | None:
    kind = type(form)
    if kind is type:
        if type(value) is form or form is object or (form is float and type(value) is int):
            return None
    elif kind is dict:
        if type(value) is dict:
            return _entry_mismatch(value, form)
    elif kind is list:
        if type(value) is list:
            for number, entry in enumerate(value, 1):
                if type(entry) is not form[0] and (mismatch := _mismatch(entry, form[0])):
                    return _within(number, mismatch)
            return None
    elif kind is tuple:
        if any(_mismatch(value, alternative) is None for alternative in form):
            return None
    elif value is form or (form is not None and type(value) is str and value in form):
        return None
    return "", shown(value), _described(form)


def _entry_mismatch(value: Mapping[str, Any], form: Mapping[Any, Shape]) -> _Mismatch | None:
    of_all, missing = form.get(str), len(form)
    for key, entry in value.items():
        if of_all is not None:
            inner = of_all
        elif key in form:
            inner = form[key]
            missing -= 1
        elif f"{key}?" in form:
            inner = form[f"{key}?"]
        else:
            return "", f"the unknown key {shown(key)}", "one of " + ", ".join(name.rstrip("?") for name in form)
        if type(entry) is not inner and (mismatch := _mismatch(entry, inner)):
            return _within(key, mismatch)
    if missing and of_all is None:
        for name in form:
            if name not in value and not name.endswith("?"):
                return "", f"no {name!r}", f"the key {name!r}"
    return None


def _within(key: str | int, mismatch: _Mismatch) -> _Mismatch:
    return f", {key}{mismatch[0]}", *mismatch[1:]


def _described(form: Shape) -> str:
    if isinstance(form, tuple):
        return " or ".join(map(_described, form))
    if isinstance(form, frozenset):
        return "one of " + ", ".join(sorted(form))
    return _WORDS[form if form is None or isinstance(form, type) else type(form)]


def sentence(value: Any, place: str) -> str:
    """Return the value if it is a string of at most 10,000 characters; raise InputError if not."""
    if not isinstance(value, str):
        raise InputError(place, shown(value), "a string", "Put it in quotation marks.")
    if value.startswith('["') and value.endswith('"]'):
        raise InputError(place, f"a list of words: {shown(value)}", "text", "Join them with spaces.")
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
