"""A pickle of plain rows, read without trusting it: a dictionary of lists of rows of texts, and nothing else.

A pickle is a program. Before anything runs, its instructions are read one by one and followed on paper: only those that make
texts, lists, tuples and one dictionary are known, a tuple holds texts, a list rows or texts, the dictionary lists under
texts. So nothing is imported or called, and nothing can be nested so as to grow on the way (a dictionary key of tuples within
tuples takes longer than the universe to hash). Then a `pickle.Unpickler` that refuses every name and every persistent
object makes the values.
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
_CURE = "Don't load this file by other means unless you trust whoever made it: a pickle can run any code."
_NOTHING = {"PROTO", "FRAME"}
_TEXTS = {
    *("STRING", "BINSTRING", "SHORT_BINSTRING"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
_PUT = {"PUT", "BINPUT", "LONG_BINPUT", "MEMOIZE"}
_GET = {"GET", "BINGET", "LONG_BINGET"}
_PUSHED = {"MARK": "mark", "EMPTY_LIST": "list", "EMPTY_DICT": "dictionary"}


class _Plain(pickle.Unpickler):
    """Refuses everything that is not built in: the second lock behind the first."""

    def find_class(self, module: str, name: str) -> NoReturn:
        raise pickle.UnpicklingError(f"{module}.{name}")

    def persistent_load(self, pid: Any) -> NoReturn:
        raise pickle.UnpicklingError(f"the persistent object {pid!r}")


def load(path: Path) -> dict[str, list[tuple[str, ...]]]:
    """The dictionary in a pickle: rows of texts under each key.

    Raises:
        InputError: the file can't be read, is bigger than 64 MB, damaged, or holds anything but a dictionary of lists of
            tuples or lists of texts; what is refused is called by its name.
    """
    content = utf8.whole(path)
    pairs = _follow(content, path)
    try:
        found: dict[str, list[Any]] = _Plain(io.BytesIO(content)).load()
    except Exception as error:  # whatever the module raises on a damaged file, and it may be anything
        raise _refusal(path, f"a pickle that can't be read: {error!s:.200}", "a whole one") from None
    if len(found) < pairs:
        raise _refusal(path, f"{pairs} keys, of which {len(found)} are different", "each key once")
    return {_text(key, f"{path}, a key"): _rows(f"{path}, {key:.100}", rows) for key, rows in _counted(found, path)}


def _counted(found: dict[str, list[Any]], path: Path) -> Iterator[tuple[str, list[Any]]]:
    """The pairs, as long as what they would be written out stays small: a pickle can repeat itself at no cost."""
    rows = size = 0
    for key, listed in found.items():
        for row in listed:
            rows += 1
            # The number of texts counts too: a million empty ones, a million times, have no characters.
            size += len(row) + sum(map(len, row))
            if rows > shape.MAX_ITEMS or size > utf8.MAX_BYTES:
                expected = f"{shape.MAX_ITEMS:,} rows and {utf8.MAX_BYTES:,} characters at most"
                raise _refusal(path, f"{rows:,} rows or {size:,} characters, or more", expected)
        yield key, listed


def _rows(place: str, listed: list[Any]) -> list[tuple[str, ...]]:
    for index, row in enumerate(listed):
        if isinstance(row, str):
            raise InputError(f"{place}/{index}", "a text", "a tuple of sentences")
    return [tuple(_text(cell, f"{place}/{index}") for cell in row) for index, row in enumerate(listed)]


def _text(value: Any, place: str) -> str:
    if not isinstance(value, str):
        raise InputError(place, f"a {type(value).__name__} in a row", "texts")
    cell = shape.sentence(value, place)
    if "\0" in cell or any("\ud800" <= one <= "\udfff" for one in ("" if cell.isascii() else cell)):
        raise InputError(place, "a NUL or half a surrogate pair", "text")
    return cell


def _follow(content: bytes, path: Path) -> int:
    """Follow the instructions on paper; how many pairs the dictionary is given."""
    paper = _Paper(path)
    end = 0
    try:
        for number, (opcode, argument, place) in enumerate(pickletools.genops(content)):
            if number >= MAX_INSTRUCTIONS:
                raise _refusal(path, f"more than {MAX_INSTRUCTIONS:,} instructions", "fewer")
            paper.step(opcode.name, argument)
            end = (place or 0) + 1
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise _refusal(path, f"a damaged pickle, or none: {error!s:.200}", "a pickle") from None
    if end != len(content):
        raise _refusal(path, f"{len(content) - end} bytes after the end of the pickle", "none")
    return paper.pairs


class _Paper:
    """The stack of an unpickler with the kinds of things instead of the things."""

    def __init__(self, path: Path) -> None:
        self.path, self.pairs = path, 0
        self._stack: list[str] = []
        self._memo: dict[int, str] = {}
        self._said: list[str] = []
        rules: dict[str, Callable[[], None]] = {
            "TUPLE1": lambda: self._tuple(1),
            "TUPLE2": lambda: self._tuple(2),
            "TUPLE3": lambda: self._tuple(3),
            "TUPLE": lambda: self._tuple(self._since_mark(), marked=True),
            "LIST": lambda: self._made("list", self._extend),
            "DICT": lambda: self._made("dictionary", self._update),
            "APPEND": lambda: self._extend(self._taken(1)),
            "APPENDS": lambda: self._extend(self._marked()),
            "SETITEM": lambda: self._update(self._taken(2)),
            "SETITEMS": lambda: self._update(self._marked()),
            "STOP": self._stop,
        }
        self._rules = rules

    def step(self, name: str, argument: Any) -> None:
        """One instruction."""
        if name in _TEXTS:
            self._stack.append("text")
            self._said = [*self._said[-1:], str(argument)]
        elif name in _PUT:
            self._put(len(self._memo) if name == "MEMOIZE" else int(argument))
        elif name in _GET:
            self._stack.append(self._memo[int(argument)])
        elif name in _PUSHED:
            self._stack.append(_PUSHED[name])
        elif name in self._rules:
            self._rules[name]()
        elif name not in _NOTHING:
            raise _refusal(self.path, self._name(name, argument), "a dictionary of lists of tuples of texts")

    def _name(self, name: str, argument: Any) -> str:
        """What a forbidden instruction would do, with the names it would use."""
        said = ".".join(self._said) if name == "STACK_GLOBAL" else "" if argument is None else str(argument)
        return f"the instruction {name}" + (f" ({said[:100].replace(' ', '.')})" if said else "")

    def _put(self, index: int) -> None:
        # An unpickler reserves memory for every number up to the highest.
        if not 0 <= index <= len(self._memo) + 1:
            raise _refusal(self.path, f"a memo numbered {index} after {len(self._memo)} others", "numbers in order")
        if self._stack[-1] == "mark":
            raise _refusal(self.path, "a mark in the memo", "a value")
        self._memo[index] = self._stack[-1]

    def _taken(self, number: int) -> list[str]:
        if len(self._stack) <= number:
            raise IndexError("nothing to take from")
        taken = self._stack[-number:]
        del self._stack[-number:]
        return taken

    def _since_mark(self) -> int:
        number = 0
        while self._stack[-1 - number] != "mark":
            number += 1
        return number

    def _marked(self) -> list[str]:
        number = self._since_mark()
        taken = self._stack[len(self._stack) - number :]
        del self._stack[len(self._stack) - number - 1 :]
        return taken

    def _tuple(self, number: int, marked: bool = False) -> None:
        taken = self._marked() if marked else self._stack[-number:]
        if len(taken) != number:
            raise IndexError("a tuple of what is not there")
        if not marked:
            del self._stack[-number:]
        self._refuse(taken, ("text",), "a tuple")
        self._stack.append("tuple")

    def _made(self, kind: str, fill: Callable[[list[str]], None]) -> None:
        taken = self._marked()
        self._stack.append(kind)
        fill(taken)

    def _extend(self, taken: list[str]) -> None:
        self._refuse([self._stack[-1]], ("list",), "the place of a list")
        self._refuse(taken, ("text", "tuple", "list"), "a list")

    def _update(self, taken: list[str]) -> None:
        self._refuse([self._stack[-1]], ("dictionary",), "the place of a dictionary")
        self._refuse(taken[::2], ("text",), "the keys of a dictionary")
        self._refuse(taken[1::2], ("list",), "the values of a dictionary")
        if len(taken) % 2:
            raise IndexError("a key without a value")
        self.pairs += len(taken) // 2

    def _stop(self) -> None:
        self._refuse(self._stack, ("dictionary",), "a file")
        if len(self._stack) != 1:
            raise IndexError("nothing in it, or more than one thing")

    def _refuse(self, kinds: list[str], allowed: tuple[str, ...], where: str) -> None:
        for kind in kinds:
            if kind not in allowed:
                raise _refusal(self.path, f"a {kind} in {where}", " or ".join(allowed))


def _refusal(path: Path, found: str, expected: str) -> InputError:
    return InputError(str(path), found, expected, _CURE)
