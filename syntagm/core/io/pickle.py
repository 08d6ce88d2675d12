"""A restricted pickle reader for untrusted files. It only accepts a dictionary of lists of rows of strings.

A pickle is a program. It is read by the interpreter of `io.torch_file`, which imports and calls nothing, and of whose
instructions only those are left that create strings, lists, tuples and dictionaries. Every name and every persistent object is
refused.
"""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

from syntagm.core.errors import InputError
from syntagm.core.io import shape, utf8
from syntagm.core.io.torch_file import Machine, kind_of, refusal

_BYTES = ("BINSTRING", "SHORT_BINSTRING")
# GLOBAL and STACK_GLOBAL are among them for the sake of the message: no name is known.
_INSTRUCTIONS = {
    *("PROTO", "FRAME", "STOP", "STRING", "UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8", *_BYTES),
    *("PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE", "GET", "BINGET", "LONG_BINGET", "MARK", "EMPTY_LIST", "EMPTY_DICT"),
    *("TUPLE", "TUPLE1", "TUPLE2", "TUPLE3", "LIST", "DICT", "APPEND", "APPENDS", "SETITEM", "SETITEMS"),
    *("GLOBAL", "STACK_GLOBAL"),
}


class _Plain(Machine):
    """An interpreter that knows built-in types only, and counts the keys that are put into dictionaries."""

    expected, most = "a dictionary of lists of tuples of strings", 2_000_000
    cure = "Is it a pickle, and was it downloaded completely?"

    def __init__(self, path: Path) -> None:
        super().__init__(path, ())
        self.pairs = 0
        rules = self._rules | dict.fromkeys(_BYTES, self._ascii)
        self._rules = {name: rule for name, rule in rules.items() if name in _INSTRUCTIONS}

    def _ascii(self, text: str) -> None:
        # The instruction has no encoding; another one than that of the program that wrote it would give other letters.
        if not text.isascii():
            self._refuse(f"bytes that are not ASCII, {text[:60]!r}")
        self._stack.append(text)

    def _named(self, text: str) -> NoReturn:
        self._refuse(f"the name {text[:100]}")

    def _pairs(self, values: list[Any]) -> dict[Any, Any]:
        self.pairs += len(values) // 2
        return super()._pairs(values)


def load(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Load a dictionary of lists of rows of strings from a pickle."""
    file = io.BytesIO(utf8.whole(path))
    machine = _Plain(path)
    table = machine.run(file)
    if rest := len(file.read()):
        raise refusal(path, f"{rest} bytes after the end of the pickle", "none")
    if not isinstance(table, dict):
        raise refusal(path, f"a {kind_of(table)}", machine.expected)
    rows = {_text(key, f"{path}, a key"): _rows(f"{path}, {key:.100}", rows) for key, rows in _limited(table, path)}
    if len(rows) < machine.pairs:
        raise refusal(path, f"{machine.pairs} keys, of which only {len(rows)} are distinct", "each key once")
    return rows


def _limited(table: dict[str, list[Any]], path: Path) -> Iterator[tuple[str, list[Any]]]:
    """Yield the pairs while their written-out size is below the limits, because repetitions take no space in a pickle."""
    rows = size = 0
    for key, listed in table.items():
        for row in listed:
            rows += 1
            # The number of texts counts too: a million empty texts, a million times, have no characters.
            size += len(row) + sum(map(len, row))
            if rows > shape.MAX_ITEMS or size > utf8.MAX_BYTES:
                expected = f"{shape.MAX_ITEMS:,} rows and {utf8.MAX_BYTES:,} characters at most"
                raise refusal(path, f"{rows:,} rows or {size:,} characters, or more", expected)
        yield key, listed


def _rows(place: str, listed: Any) -> list[tuple[str, ...]]:
    if not isinstance(listed, list):
        raise InputError(place, f"a {kind_of(listed)}", "a list of tuples of sentences")
    for index, row in enumerate(listed):
        if not isinstance(row, tuple | list):
            raise InputError(f"{place}/{index}", f"a {kind_of(row)}", "a tuple of sentences")
    return [tuple(_text(cell, f"{place}/{index}") for cell in row) for index, row in enumerate(listed)]


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, f"a {kind_of(value)} in a row", "strings")
    cell = shape.sentence(value, place)
    if "\0" in cell or any("\ud800" <= character <= "\udfff" for character in ("" if cell.isascii() else cell)):
        raise InputError(place, "a NUL character or a lone surrogate", "text")
    return cell
