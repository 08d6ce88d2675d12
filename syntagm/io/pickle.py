"""A restricted pickle reader for untrusted files. It only accepts a dictionary of lists of rows of strings.

A pickle is a program. Before anything runs, its instructions are simulated one by one, with the types of values instead
of the values. Only instructions that create strings, lists, tuples and one dictionary are accepted. A tuple may contain
strings; a list may contain rows or strings; the dictionary may contain lists, with strings as keys. So nothing is
imported or called. Deep nesting is impossible, too, because a dictionary key of tuples within tuples could take
exponential time to hash. Only then are the values created, by a `pickle.Unpickler` that refuses every name and every
persistent object.
"""

import io
import pickle
import pickletools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NoReturn

from syntagm.errors import InputError
from syntagm.io import shape, utf8

MAX_INSTRUCTIONS = 2_000_000
_CURE = "Don't load this file with other programs unless you trust its author: a pickle can run arbitrary code."
_NOTHING = {"PROTO", "FRAME"}
_TEXTS = {
    *("STRING", "BINSTRING", "SHORT_BINSTRING"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
_PUT = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
_GET = {"GET", "BINGET", "LONG_BINGET"}
_PUSHED = {"MARK": "mark", "EMPTY_LIST": "list", "EMPTY_DICT": "dictionary"}


class _Plain(pickle.Unpickler):
    """An unpickler that refuses everything but built-in types, as a second line of defence."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError(f"the persistent object {pid!r}")


def load(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """Load a dictionary of lists of rows of strings from a pickle.

    Raises:
        InputError: the file can't be read, is larger than 64 MB, is damaged, or contains anything but a dictionary of
            lists of tuples or lists of strings. The message names the refused content.
    """
    content = utf8.whole(path)
    pairs = _simulate(content, path)
    try:
        table: dict[str, list[Any]] = _Plain(io.BytesIO(content)).load()
    except Exception as error:  # whatever the module raises on a damaged file, and it may be anything
        raise _refusal(path, f"a pickle that can't be read: {error!s:.200}", "a whole one") from None
    if len(table) < pairs:
        raise _refusal(path, f"{pairs} keys, of which only {len(table)} are distinct", "each key once")
    return {_text(key, f"{path}, a key"): _rows(f"{path}, {key:.100}", rows) for key, rows in _limited(table, path)}


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
                raise _refusal(path, f"{rows:,} rows or {size:,} characters, or more", expected)
        yield key, listed


def _rows(place: str, listed: list[Any]) -> list[tuple[str, ...]]:
    for index, row in enumerate(listed):
        if isinstance(row, str):
            raise InputError(f"{place}/{index}", "a string", "a tuple of sentences")
    return [tuple(_text(cell, f"{place}/{index}") for cell in row) for index, row in enumerate(listed)]


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, f"a {type(value).__name__} in a row", "strings")
    cell = shape.sentence(value, place)
    if "\0" in cell or any("\ud800" <= character <= "\udfff" for character in ("" if cell.isascii() else cell)):
        raise InputError(place, "a NUL character or a lone surrogate", "text")
    return cell


def _simulate(content: bytes, path: Path) -> int:
    """Simulate the instructions; return the number of key-value pairs that they put into the dictionary."""
    simulation = _Simulation(path)
    end = 0
    try:
        for number, (opcode, argument, place) in enumerate(pickletools.genops(content)):
            if number >= MAX_INSTRUCTIONS:
                raise _refusal(path, f"more than {MAX_INSTRUCTIONS:,} instructions", "fewer")
            simulation.step(opcode.name, argument)
            end = (place or 0) + 1
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise _refusal(path, f"damaged, or not a pickle: {error!s:.200}", "a pickle") from None
    if end != len(content):
        raise _refusal(path, f"{len(content) - end} bytes after the end of the pickle", "none")
    return simulation.pairs


class _Simulation:
    """A simulated unpickler whose stack holds the kinds of values instead of the values."""

    def __init__(self, path: Path) -> None:
        self.path, self.pairs = path, 0
        self._stack: list[str] = []
        self._memo: dict[int, str] = {}
        self._last_texts: list[str] = []
        rules: dict[str, Callable[[], None]] = {
            "TUPLE1": lambda: self._tuple(1),
            "TUPLE2": lambda: self._tuple(2),
            "TUPLE3": lambda: self._tuple(3),
            "TUPLE": lambda: self._tuple(self._since_mark(), marked=True),
            "LIST": lambda: self._make("list", self._extend),
            "DICT": lambda: self._make("dictionary", self._update),
            "APPEND": lambda: self._extend(self._take(1)),
            "APPENDS": lambda: self._extend(self._take_marked()),
            "SETITEM": lambda: self._update(self._take(2)),
            "SETITEMS": lambda: self._update(self._take_marked()),
            "STOP": self._stop,
        }
        self._rules = rules

    def step(self, name: str, argument: Any) -> None:
        """Simulate one instruction."""
        if name in _TEXTS:
            self._stack.append("text")
            self._last_texts = [*self._last_texts[-1:], str(argument)]
        elif name in _PUT:
            self._put(len(self._memo) if name == "MEMOIZE" else int(argument))
        elif name in _GET:
            self._stack.append(self._memo[int(argument)])
        elif name in _PUSHED:
            self._stack.append(_PUSHED[name])
        elif name in self._rules:
            self._rules[name]()
        elif name not in _NOTHING:
            raise _refusal(self.path, self._name(name, argument), "a dictionary of lists of tuples of strings")

    def _name(self, name: str, argument: Any) -> str:
        """Describe a forbidden instruction and the names that it would use."""
        names = ".".join(self._last_texts) if name == "STACK_GLOBAL" else "" if argument is None else str(argument)
        return f"the instruction {name}" + (f" ({names[:100].replace(' ', '.')})" if names else "")

    def _put(self, index: int) -> None:
        # An unpickler allocates memory for every number up to the highest.
        if not 0 <= index <= len(self._memo) + 1:
            raise _refusal(self.path, f"a memo numbered {index} after {len(self._memo)} others", "numbers in order")
        if self._stack[-1] == "mark":
            raise _refusal(self.path, "a mark in the memo", "a value")
        self._memo[index] = self._stack[-1]

    def _take(self, number: int) -> list[str]:
        if len(self._stack) <= number:
            raise IndexError("the stack is empty")
        kinds = self._stack[-number:]
        del self._stack[-number:]
        return kinds

    def _since_mark(self) -> int:
        number = 0
        while self._stack[-1 - number] != "mark":
            number += 1
        return number

    def _take_marked(self) -> list[str]:
        number = self._since_mark()
        kinds = self._stack[len(self._stack) - number :]
        del self._stack[len(self._stack) - number - 1 :]
        return kinds

    def _tuple(self, number: int, marked: bool = False) -> None:
        kinds = self._take_marked() if marked else self._stack[-number:]
        if len(kinds) != number:
            raise IndexError("a tuple with too few values")
        if not marked:
            del self._stack[-number:]
        self._refuse(kinds, ("text",), "a tuple")
        self._stack.append("tuple")

    def _make(self, kind: str, fill: Callable[[list[str]], None]) -> None:
        kinds = self._take_marked()
        self._stack.append(kind)
        fill(kinds)

    def _extend(self, kinds: list[str]) -> None:
        self._refuse([self._stack[-1]], ("list",), "the place of a list")
        self._refuse(kinds, ("text", "tuple", "list"), "a list")

    def _update(self, kinds: list[str]) -> None:
        self._refuse([self._stack[-1]], ("dictionary",), "the place of a dictionary")
        self._refuse(kinds[::2], ("text",), "the keys of a dictionary")
        self._refuse(kinds[1::2], ("list",), "the values of a dictionary")
        if len(kinds) % 2:
            raise IndexError("a key without a value")
        self.pairs += len(kinds) // 2

    def _stop(self) -> None:
        self._refuse(self._stack, ("dictionary",), "a file")
        if len(self._stack) != 1:
            raise IndexError("no value in it, or several")

    def _refuse(self, kinds: list[str], allowed: tuple[str, ...], where: str) -> None:
        for kind in kinds:
            if kind not in allowed:
                raise _refusal(self.path, f"a {kind} in {where}", " or ".join(allowed))


def _refusal(path: Path, found: str, expected: str) -> InputError:
    return InputError(str(path), found, expected, _CURE)
