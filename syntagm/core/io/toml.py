"""Strict reading of TOML. Files that are invalid, hostile or too large are refused with the place; types of values are checked.

The standard library's parser takes quadratic time for dotted keys of many parts. It also accepts integers that are too
long to be printed, and control characters written as escapes. This module refuses all three.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from syntagm.core.errors import InputError

MAX_CHARACTERS = 4_000_000
MAX_PARTS = 16
MAX_INTEGER = 10**18
MAX_NAME = 200

_LONG_KEY = re.compile(rf"(?<![\w.-])(?:(?:[\w-]++|\"[^\"\n]*+\"|'[^'\n]*+')[ \t]*+\.[ \t]*+){{{MAX_PARTS}}}")
_CONTROL = re.compile("[\0-\b\v-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NAME = re.compile(r"\w[\w-]*")
_KINDS: dict[type, str] = {str: "a string", dict: "a table", list: "a list"}


def read(text: str, place: str) -> dict[str, Any]:
    import tomllib  # most commands read none

    expected = "a TOML file"
    if len(text) > MAX_CHARACTERS:
        cure = "Split it into several files, or give its items as pairs or JSON."
        raise InputError(place, f"{len(text):,} characters", f"at most {MAX_CHARACTERS:,}", cure)
    if _LONG_KEY.search(text):
        raise InputError(place, f"a key of more than {MAX_PARTS} parts", expected)
    try:
        table = tomllib.loads(text)
    except RecursionError:
        raise InputError(place, "brackets or braces nested too deeply", expected) from None
    except tomllib.TOMLDecodeError as error:
        twice = any(word in str(error) for word in ("overwrite", "twice", "Duplicate"))
        cure = "If a name occurs twice, rename or delete one." if twice else "Put strings in quotation marks."
        raise InputError(place, f"invalid TOML: {error}", expected, cure) from None
    except ValueError:
        raise InputError(place, "a number or date that can't be read", expected) from None
    _refuse_odd(table, place)
    return table


def _refuse_odd(top: dict[str, Any], place: str) -> None:
    waiting: list[tuple[Any, str]] = [(top, place)]
    while waiting:
        value, where = waiting.pop()
        if isinstance(value, str):
            _refuse_control(value, where)
        elif isinstance(value, int) and abs(value) >= MAX_INTEGER:
            raise InputError(where, "an integer of more than 18 digits", "a smaller one")
        elif isinstance(value, dict):
            for key, inner in value.items():
                _refuse_control(key, where)
                waiting.append((inner, f"{where}, {key:.{MAX_NAME}}"))
        elif isinstance(value, list):
            waiting.extend((inner, f"{where}, {number}") for number, inner in enumerate(value, 1))


def _refuse_control(text: str, place: str) -> None:
    if match := _CONTROL.search(text):
        cure = "Remove it. Lines end with a newline."
        raise InputError(place, f"the control character {match[0]!r}", "text", cure)


def need(value: Any, kind: type, place: str) -> Any:
    """Return the value if it has the type `kind` (str, dict or list); raise InputError if not."""
    if not isinstance(value, kind):
        cure = "Put it in quotation marks." if kind is str and isinstance(value, int | float) else ""
        raise InputError(place, shown(value), _KINDS[kind], cure)
    return value


def shown(value: Any) -> str:
    """Format a value for a message, shortened to 60 characters.

    >>> shown("x" * 100)
    "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx..."
    >>> shown(True)
    'true'
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    # A long text is cut before the repr, which would take long.
    text = repr(
        value[:100] if isinstance(value, str | list) else list(value)[:20] if isinstance(value, dict) else value
    )
    return text if len(text) <= 60 else text[:57] + "..."


def table(section: Mapping[str, Any], key: str, place: str) -> dict[str, Any]:
    """Return the table with this key in a section; an empty table if there is none."""
    return dict(need(section.get(key, {}), dict, f"{place}, [{key}]"))


def texts(section: Mapping[str, Any], key: str, place: str) -> Iterator[tuple[str, str]]:
    """Iterate over the entries of a table; raise InputError if a value is not a string."""
    for name, value in table(section, key, place).items():
        yield name, need(value, str, f"{place}, [{key}] {name}")


def text(section: Mapping[str, Any], key: str, place: str, default: str | None = None) -> str:
    """Return the string with this key in a section; raise InputError if there is neither the key nor a default."""
    if key not in section and default is None:
        raise InputError(place, f"no {key}", f"the key {key}")
    return str(need(section.get(key, default), str, f"{place}, {key}"))


def known(section: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
    """Raise InputError if a section has a key that is not among `names`."""
    for key in section:
        if key not in names:
            raise InputError(place, f"the unknown key {shown(key)}", "one of " + ", ".join(names))


def name(key: str, place: str) -> str:
    """Return the key if patterns can refer to it; raise InputError if not."""
    if not _NAME.fullmatch(key) or len(key) > MAX_NAME:
        raise InputError(place, f"the name {shown(key)}", "letters, digits, _ and -")
    return key
