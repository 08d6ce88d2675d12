"""Strict reading of JSON and JSON lines. Files that are invalid, hostile or too large are refused with the place of the error.

The standard library accepts repeated keys, NaN, lone surrogates and integers of any length in JSON, and its recursion
is as deep as the nesting of the file. This module refuses all of these. Depth and number of values are checked before
parsing.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from syntagm.core.errors import InputError, SyntagmError
from syntagm.core.io import utf8
from syntagm.core.io.shape import shown

MAX_DEPTH = 64
MAX_VALUES = 2_000_000
MAX_DIGITS = 18

_BRACKET = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]++)*+([\[\]{}])', re.DOTALL)
_SEPARATORS = re.compile(r"[\s,]*+")
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HARMLESS = re.compile(
    r"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F]|0000)|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})*+",
    re.DOTALL,
)


def parsed(content: str, path: Path, line: int | None = None) -> Any:
    try:
        _refuse_too_large(content)
        if "\\u" in content:
            _refuse_escapes(content)
        return _DECODER.decode(content)
    except json.JSONDecodeError as error:
        problem = _Problem(f"not valid JSON: {error.msg[:1].lower()}{error.msg[1:]}", "JSON", "", error.pos)
    except _Problem as error:
        problem = error
    raise InputError(_place(content, path, line, problem), problem.found, problem.expected, problem.cure) from None


def read(path: Path) -> Any:
    """Read the value of a JSON file; the errors are the same as for `parsed` and `utf8.read`."""
    return parsed(utf8.read(path), path)


def objects(content: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Iterate over the objects of a text in JSON lines, each with its line number, from 1. Empty lines are skipped."""
    for number, line in utf8.lines(content):
        if line.strip():
            row = parsed(line, path, number)
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number}", shown(row), "an object in braces")
            yield number, row


def beginning(content: str) -> Iterator[dict[str, Any]]:
    """Iterate over the complete objects at the beginning of JSON lines, or of a list of objects, that may be cut off.

    What follows them, if it is not an object, is ignored; so is a text that `parsed` would refuse.

    >>> list(beginning('[{"a": 1}, {"a": 2}, {"a'))
    [{'a': 1}, {'a': 2}]
    """
    try:
        _refuse_too_large(content)
        place = _SEPARATORS.match(content, content.find("[") + 1 if content.lstrip().startswith("[") else 0)
        while place and content.startswith("{", place.end()):
            value, end = _DECODER.raw_decode(content, place.end())
            yield value
            place = _SEPARATORS.match(content, end)
    except (ValueError, _Problem):
        return


def is_lines(content: str) -> bool:
    """Return whether the first lines of a text are objects of their own, whatever the file is called.

    >>> is_lines('{"a": 1}\\n{"a": 2}'), is_lines('{"a": 1}'), is_lines('[\\n{"a": 1}]')
    (True, False, False)
    """
    lines = (line.strip() for _, line in utf8.lines(content))
    first = list(islice(filter(None, lines), 2))
    return len(first) == 2 and all(line.startswith("{") and line.endswith("}") for line in first)


def record(path: Path, refuse: type[SyntagmError], expected: str, cure: str = "") -> dict[str, Any]:
    """Read the object in a JSON file that Syntagm wrote, such as run.json. `NaN` and long integers are allowed."""
    try:
        content = utf8.read(path)
        _refuse_too_large(content)
        value = json.loads(content, object_pairs_hook=_object)
    except (InputError, ValueError, _Problem) as error:
        found = error.found if isinstance(error, InputError | _Problem) else f"no JSON ({error})"
        raise refuse(str(path), found, expected, cure) from error
    if not isinstance(value, dict):
        raise refuse(str(path), shown(value), expected, cure)
    return value


def own(content: bytes, place: str) -> Any:
    """Parse JSON that Syntagm wrote and whose hash has been checked."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise InputError(place, f"not JSON ({error})", "JSON") from None


def finite(value: Any) -> Any:
    """Replace nan and infinite numbers, which JSON doesn't have, with None at any depth.

    >>> finite({"a": [1.0, math.nan]})
    {'a': [1.0, None]}
    """
    match value:
        case dict():
            return {key: finite(inner) for key, inner in value.items()}
        case list() | tuple():
            return [finite(inner) for inner in value]
        case float() if not math.isfinite(value):
            return None
    return value


class _Problem(Exception):
    """An error in a JSON text, and its position, which the hooks of the decoder don't know."""

    def __init__(self, found: str, expected: str, cure: str = "", at: int | None = None) -> None:
        super().__init__(found)
        self.found, self.expected, self.cure, self.at = found, expected, cure, at


def _place(content: str, path: Path, line: int | None, problem: _Problem) -> str:
    if problem.at is None:
        return f"{path}, line {line}" if line else str(path)
    before = content.count("\n", 0, problem.at)
    return f"{path}, line {(line or 1) + before}, column {problem.at - content.rfind(chr(10), 0, problem.at)}"


def _refuse_too_large(content: str) -> None:
    openings = content.count("[") + content.count("{")
    if openings + content.count(",") > MAX_VALUES:
        raise _Problem(f"more than {MAX_VALUES:,} values", "fewer", "Split it into several files.", 0)
    if openings <= MAX_DEPTH:
        return
    depth = 0
    for bracket in _BRACKET.finditer(content):
        depth += 1 if bracket[1] in "[{" else -1
        if depth > MAX_DEPTH:
            raise _Problem(f"brackets nested more than {MAX_DEPTH} deep", "fewer", "", 0)


def _refuse_escapes(content: str) -> None:
    if not _SURROGATE.search(content) and "\\u0000" not in content:
        return
    match = _HARMLESS.match(content)
    at = match.end() if match else 0
    if content.startswith("\\u0000", at):
        raise _Problem("a NUL character", "text", "Take it out.", at)
    if content.startswith("\\u", at):
        raise _Problem("a lone surrogate", "a whole character", "Write the character itself.", at)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _Problem(f"the key {shown(key)} twice in one object", "each key once", "Rename or delete one.")
    return value


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > MAX_DIGITS:
        raise _Problem(f"an integer of {len(digits)} digits", f"at most {MAX_DIGITS}", "Put it in quotation marks.")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _Problem(f"the number {digits[:40]}", "a finite number")
    return number


def _constant(name: str) -> NoReturn:
    raise _Problem(name, "a number, a text, true, false or null", "JSON has no such value.")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_number, parse_constant=_constant
)
