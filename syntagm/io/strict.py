"""Strict reading of text, JSON, JSON lines and tables: what is odd, hostile or too big is refused with its place.

The standard library accepts repeated keys, NaN, lone surrogates and integers of any length in JSON, and recurses as deep
as a file is nested. Each of these is refused here, the depth and the number of values before anything is parsed.
"""

import csv
import io
import json
import math
import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal, NoReturn

from syntagm.errors import InputError

MAX_BYTES = 64 * 2**20
MAX_DEPTH = 64
MAX_VALUES = 2_000_000
MAX_CELLS = 10_000_000
MAX_ITEMS = 1_000_000
MAX_SENTENCE = 10_000
MAX_DIGITS = 18

_BRACKET = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"?|[^"\[\]{}]++)*+([\[\]{}])', re.DOTALL)
_TOKEN = re.compile(r'(?P<text>"(?:[^"\\]++|\\.)*+")(?P<key>\s*+:)?|[\[\]{}]|(?P<bare>[^\s"\[\]{}:,]++)', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_HARMLESS = re.compile(
    r"(?:[^\\]++|\\[^u]|\\u(?![dD][89a-fA-F]|0000)|\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2})*+",
    re.DOTALL,
)


def text(path: Path) -> str:
    """The text of a UTF-8 file. A byte order mark at its start is dropped.

    Raises:
        InputError: no such file, not a file, bigger than 64 MB, not UTF-8, or a NUL in it.
    """
    content = beginning(path, MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise InputError(str(path), "more than 64 MB", "at most 64 MB", "Split it into several files.")
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise InputError(str(path), "a UTF-16 file", "UTF-8", "Save it again with the encoding UTF-8.")
    if (place := content.find(b"\0")) >= 0:
        line = content.count(b"\n", 0, place) + 1
        raise InputError(f"{path}, line {line}", "a NUL character", "text", "This is probably not a text file.")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x}, which is not UTF-8"
        raise InputError(f"{path}, line {line}", found, "UTF-8", "Save it again with the encoding UTF-8.") from None


def beginning(path: Path, size: int) -> bytes:
    """At most `size` bytes from the beginning of a file; InputError if it is no file or can't be read."""
    try:
        if path.is_dir():
            raise InputError(str(path), "a folder", "one file")
        if not path.is_file():
            raise InputError(str(path), "not a file" if path.exists() else "no such file", "a file")
        with path.open("rb") as file:
            # Asked for more than there is, `read` reserves the memory all the same.
            return file.read(min(size, os.fstat(file.fileno()).st_size + 1))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(str(path).replace("\0", "?"), f"can't be read: {reason}", "a readable file") from None


def json_text(content: str, path: Path, line: int | None = None) -> Any:
    """The value of a JSON text.

    Arguments:
        content: the text.
        path: the file it comes from, for messages.
        line: its line there, if the text is one line of a file.

    Raises:
        InputError: not JSON; nested deeper than 64; more than 2 million values; a repeated key, NaN, an infinite number,
            an integer of more than 18 digits, a lone surrogate or a NUL.
    """
    try:
        _refuse_bombs(content)
        if "\\u" in content:
            _refuse_escapes(content)
        return _DECODER.decode(content)
    except json.JSONDecodeError as error:
        problem = _Problem(f"not JSON here: {error.msg[:1].lower()}{error.msg[1:]}", "JSON", "", error.pos)
    except _Problem as found:
        problem = found
    raise InputError(_place(content, path, line, problem), problem.found, problem.expected, problem.cure) from None


def json_file(path: Path) -> Any:
    """The value of a JSON file; errors as for `json_text` and `text`."""
    return json_text(text(path), path)


def json_lines(path: Path, content: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The objects of a text in JSON lines with their line numbers, from 1. Blank lines are passed over.

    Raises:
        InputError: as for `json_text` and `text`; a line is no object.
    """
    for number, line in lines(content):
        if line.strip():
            row = json_text(line, path, number)
            if not isinstance(row, dict):
                raise InputError(f"{path}, line {number}", kind(row), "an object in braces")
            yield number, row


def lines(content: str) -> Iterator[tuple[int, str]]:
    """The lines of a text with their numbers, from 1, without making a list of them. Only LF and CRLF end a line."""
    start, number = 0, 1
    while start < len(content):
        end = content.find("\n", start)
        end = len(content) if end < 0 else end
        yield number, content[start:end].removesuffix("\r")
        start, number = end + 1, number + 1


def cells(content: str, path: Path, delimiter: str, quote: bool = True) -> Iterator[tuple[int, list[str]]]:
    """The rows of a table (RFC 4180) with the line where each begins, from 1. Empty lines are passed over.

    Arguments:
        content: the text of the table.
        path: the file it comes from, for messages.
        delimiter: what stands between cells, one character.
        quote: do quotation marks enclose cells? If not they are ordinary characters.

    Raises:
        InputError: quotation marks that don't match, a cell of more than 131,072 characters, or more than ten million
            cells.
    """
    if content.count(delimiter) > MAX_CELLS:
        raise InputError(str(path), f"more than {MAX_CELLS:,} cells", "fewer", "Split it into several files.")
    source = io.StringIO(content, newline="")
    quoting: Literal[0, 3] = csv.QUOTE_MINIMAL if quote else csv.QUOTE_NONE
    table = csv.reader(source, delimiter=delimiter, quoting=quoting, strict=True)
    begin = 1
    try:
        for row in table:
            if row:
                yield begin, row
            begin = table.line_num + 1
    except csv.Error as error:
        cure = "Double a quotation mark inside a quoted cell, or add ?quote=none if marks are ordinary characters."
        raise InputError(f"{path}, line {begin}", f"a row that can't be read: {error}", "a table", cure) from None


def sentence(value: Any, place: str) -> str:
    """The value itself, if it is a text of at most 10,000 characters; InputError if not."""
    if not isinstance(value, str):
        raise InputError(place, kind(value), "a text", "Put it in quotation marks.")
    if len(value) > MAX_SENTENCE:
        raise InputError(place, f"{len(value)} characters", f"at most {MAX_SENTENCE}", "Is it one sentence?")
    return value


def count(number: int, path: Path) -> None:
    """Refuse the item after the millionth with InputError."""
    if number > MAX_ITEMS:
        raise InputError(str(path), f"more than {MAX_ITEMS:,} items", "fewer", "Split it into several files.")


def kind(value: Any) -> str:
    """What a JSON value is, in words for a message."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "a list"
    shown = json.dumps(value, ensure_ascii=False)
    return shown if len(shown) <= 60 else shown[:57] + "..."


def plain(value: Any) -> str:
    """A JSON value as a tag: a text as it is, anything else as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class _Problem(Exception):
    """What is wrong in a JSON text, before its place is put into words."""

    def __init__(self, found: str, expected: str, cure: str = "", at: int | None = None) -> None:
        super().__init__(found)
        self.found, self.expected, self.cure, self.at = found, expected, cure, at


def _place(content: str, path: Path, line: int | None, problem: _Problem) -> str:
    at = _culprit(content) if problem.at is None else problem.at
    before = content.count("\n", 0, at)
    return f"{path}, line {(line or 1) + before}, column {at - content.rfind(chr(10), 0, at)}"


def _culprit(content: str) -> int:
    """Where the first value stands that the decoder's hooks refuse. Slow, and only needed for the message."""
    keys: list[set[str]] = []
    for token in _TOKEN.finditer(content):
        if token[0] in "[{":
            keys.append(set())
        elif token[0] in "]}":
            keys.pop()
        elif token["key"]:
            key = json.loads(token["text"])
            if key in keys[-1]:
                return token.start()
            keys[-1].add(key)
        elif token["bare"] and not _allowed(token["bare"]):
            return token.start()
    return 0


def _allowed(bare: str) -> bool:
    try:
        _DECODER.decode(bare)
    except _Problem:
        return False
    return True


def _refuse_bombs(content: str) -> None:
    openings = content.count("[") + content.count("{")
    if openings + content.count(",") > MAX_VALUES:
        raise _Problem(f"more than {MAX_VALUES:,} values", "fewer", "Split it into several files.", 0)
    if openings <= MAX_DEPTH:
        return
    depth = 0
    for found in _BRACKET.finditer(content):
        depth += 1 if found[1] in "[{" else -1
        if depth > MAX_DEPTH:
            raise _Problem(f"brackets more than {MAX_DEPTH} deep", "fewer", "", 0)


def _refuse_escapes(content: str) -> None:
    if not _SURROGATE.search(content) and "\\u0000" not in content:
        return
    found = _HARMLESS.match(content)
    at = found.end() if found else 0
    if content.startswith("\\u0000", at):
        raise _Problem("a NUL character", "text", "Take it out.", at)
    if content.startswith("\\u", at):
        raise _Problem("half a surrogate pair", "a whole character", "Write the character itself.", at)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        ((key, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise _Problem(f"the key {kind(key)} twice in one object", "each key once", "Rename or delete one.")
    return made


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
