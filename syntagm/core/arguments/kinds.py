"""What the annotations of arguments stand for: the kinds of values, and how a value is read as one of a kind."""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import IOBase
from numbers import Integral, Real
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from syntagm.core.errors import UsageError

# The attribute of what is public: the name of a function; how a user gets an object of a type, as a sentence.
PUBLIC = "__public__"
_NETWORK = "For a model in memory, call syntagm.from_transformers(model, tokenizer, name=...)."


class Misfit(Exception):
    def __init__(self, value: object, expected: str, within: str = "", cure: str = "", near: bool = False) -> None:
        super().__init__()
        self.value, self.expected, self.within, self.cure, self.near = value, expected, within, cure, near

    def error(self, function: str, parameter: str) -> UsageError:
        network = self.expected == "text" and hasattr(self.value, "state_dict")
        cure = self.cure or (_NETWORK if network else f"See help(syntagm.{function}).")
        return UsageError(f"{function}, {parameter}{self.within}", _described(self.value), self.expected, cure)


@dataclass(frozen=True, slots=True)
class Kind:
    """The kind of value that an annotation stands for."""

    expected: str  # a description of a value, and of several
    several: str  # a description of several values
    read: Callable[[Any], Any]  # returns the value, converted if need be; raises `Misfit`
    exact: type | None = None  # a type whose objects need not be read


def kind_of(hint: Any, place: tuple[str, str]) -> Kind | None:
    """Return the kind of value that an annotation stands for; None if it is anything."""
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object) or isinstance(hint, TypeVar):
        return None
    if origin is Annotated:
        return kind_of(arguments[0], place)
    if origin in (Union, UnionType):
        return _union([kind_of(argument, place) for argument in arguments], Path in arguments)
    if origin is Literal:
        return _choice(arguments)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (tuple, list, Sequence, Iterable):
        if origin is tuple and arguments[-1] is not ...:
            return _tuple([kind_of(argument, place) for argument in arguments])
        return _series(origin, kind_of(arguments[0], place), place)
    if origin in (dict, Mapping):
        return _mapping(*(kind_of(argument, place) for argument in arguments))
    if hint is Callable or origin is Callable:
        return Kind("a function", "functions", functools.partial(_instance, Callable, "a function", ""))
    if getattr(origin, "__name__", "") == "ndarray":
        return _array(origin, get_args(arguments[1])[0])
    return _of_class(origin or hint)


def _of_class(kind: type) -> Kind:
    if getattr(kind, "_is_protocol", False):
        # The first sentence of its docstring says what fits, and the rest how to get it.
        first, _, cure = " ".join((kind.__doc__ or "").split()).partition(". ")
        expected = first[0].lower() + first[1:].rstrip(".")
        members = [name for name in (*vars(kind), *inspect.get_annotations(kind)) if not name.startswith("_")]
        return Kind(expected, expected, functools.partial(_having, members, expected, cure))
    expected = f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"
    exact = None if inspect.isabstract(kind) else kind
    return Kind(expected, f"{kind.__name__}s", functools.partial(_instance, kind, expected, ""), exact)


def _instance(kind: Any, expected: str, cure: str, value: Any) -> Any:
    if isinstance(value, kind) and not (isinstance(value, type) and kind is not Callable):
        return value
    raise Misfit(value, expected, cure=cure or getattr(kind, PUBLIC, ""))


def _having(members: Sequence[str], expected: str, cure: str, value: Any) -> Any:
    # What wraps an object, as adapters do, gives its attributes on request only, so `isinstance` does not find them.
    if not isinstance(value, type) and all(hasattr(value, name) for name in members):
        return value
    raise Misfit(value, expected, cure=cure)


def _union(kinds: Sequence[Kind | None], has_path: bool) -> Kind | None:
    known = [kind for kind in kinds if kind]
    if len(known) < len(kinds):
        return None
    optional = _SIMPLE[NoneType] in known
    others = [kind for kind in known if kind is not _SIMPLE[NoneType]]
    expected = _listed([kind.expected for kind in [*others, *([_SIMPLE[NoneType]] if optional else [])]])

    def read(value: Any) -> Any:
        if value is None and optional:
            return None
        if has_path and type(value) is str and "\0" in value:
            raise Misfit(value, "text without a NUL character")
        misfits = []
        for kind in others:
            if type(value) is kind.exact:
                return value
            try:
                return kind.read(value)
            except Misfit as misfit:
                misfits.append(misfit)
        # What is said of a part of the value, or of its content, says more than its type.
        nearest = max(misfits, key=lambda misfit: (len(misfit.within), misfit.near))
        if nearest.within or nearest.near:
            raise nearest
        raise Misfit(value, expected, cure=next((misfit.cure for misfit in misfits if misfit.cure), ""))

    return Kind(expected, _listed([kind.several for kind in others]), read)


def _choice(values: tuple[Any, ...]) -> Kind:
    expected = _listed([repr(value) for value in values])

    def read(value: Any) -> Any:
        if isinstance(value, str | int) and value in values:
            return value
        raise Misfit(value, expected)

    return Kind(expected, f"values among {expected}", read)


def _series(origin: Any, item: Kind | None, place: tuple[str, str]) -> Kind:
    """Return the kind of a sequence. An iterable that is none is checked when it is iterated over."""
    several = item.several if item else "values"
    convert: Callable[[Iterable[Any]], Any] = tuple if origin is tuple else list

    def read_item(number: int, value: Any) -> Any:
        if item is None or type(value) is item.exact:
            return value
        try:
            return item.read(value)
        except Misfit as misfit:
            within = f", item {number}{misfit.within}"
            raise Misfit(misfit.value, misfit.expected, within, misfit.cure, misfit.near) from None

    def late(values: Iterable[Any]) -> Iterator[Any]:
        for number, value in enumerate(values, 1):
            try:
                checked = read_item(number, value)
            except Misfit as misfit:
                raise misfit.error(*place) from None
            yield checked

    def read(value: Any) -> Any:
        if type(value) is convert and (item is None or not [None for part in value if type(part) is not item.exact]):
            return value
        if not _is_series(value):
            if item is None:
                raise Misfit(value, f"a list of {several}")
            try:
                return convert([item.read(value)])
            except Misfit as misfit:
                raise Misfit(value, f"a list of {several}", cure=misfit.cure) from None
        if origin is Iterable and not isinstance(value, list | tuple):
            return late(value) if isinstance(value, Iterator) else _Late(value, late)
        values = [read_item(number, part) for number, part in enumerate(value, 1)]
        kept = isinstance(value, tuple if origin is tuple else list if origin is list else list | tuple)
        same = kept and all(old is new for old, new in zip(value, values, strict=True))
        return value if same else convert(values)

    return Kind(f"a list of {several}", f"lists of {several}", read)


class _Late:
    """Values that are checked in each pass over them."""

    def __init__(self, values: Iterable[Any], late: Callable[[Iterable[Any]], Iterator[Any]]) -> None:
        self._values, self._late = values, late

    def __iter__(self) -> Iterator[Any]:
        return self._late(self._values)


def _is_series(value: Any) -> bool:
    """Return whether a value is a series of values, and nothing that can also be read as a series."""
    # Text, a mapping and an open file can be, a set has no order, and a table and a matrix have two.
    if isinstance(value, str | bytes | bytearray | Mapping | IOBase | set | frozenset | type):
        return False
    if not isinstance(value, Iterable):
        return False
    return len(getattr(value, "shape", (0,))) == 1


def _tuple(kinds: Sequence[Kind | None]) -> Kind:
    parts = ", ".join(kind.expected if kind else "anything" for kind in kinds)
    expected = f"a tuple of {parts}"

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(kinds):
            raise Misfit(value, expected)
        return tuple(kind.read(part) if kind else part for kind, part in zip(kinds, value, strict=True))

    return Kind(expected, f"tuples of {parts}", read)


def _mapping(key_kind: Kind | None, value_kind: Kind | None) -> Kind:
    keys, values = (kind.several if kind else "values" for kind in (key_kind, value_kind))
    expected = f"a dict from {keys} to {values}"

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise Misfit(value, expected)
        for key, entry in value.items():
            try:
                if key_kind and not (key_kind is TEXT and type(key) is str and key.isascii()):
                    key_kind.read(key)
                if value_kind and type(entry) is not value_kind.exact:
                    value_kind.read(entry)
            except Misfit as misfit:
                place = f", {_described(key)}{misfit.within}"
                raise Misfit(misfit.value, misfit.expected, place, misfit.cure, misfit.near) from None
        return value

    return Kind(expected, "dicts", read)


def _array(kind: Any, scalar: type) -> Kind:
    """Return the kind of an array of numbers, to which lists and other types of numbers are converted."""
    name = scalar.__name__.rstrip("_")
    expected = f"an array of {name}"

    def read(value: Any) -> Any:
        if type(value) is kind and value.dtype.type is scalar:
            return value
        if _is_series(value) or isinstance(value, kind):
            import numpy as np

            try:
                # An empty list has no type of its own.
                array = np.asarray(value, None if len(value) else scalar)
                return array.astype(scalar, casting="same_kind", copy=False)
            except (TypeError, ValueError, OverflowError, RuntimeError):
                pass
        raise Misfit(value, expected)

    return Kind(expected, f"arrays of {name}", read)


def _text(value: Any) -> str:
    if isinstance(value, str):
        # Subclasses, such as numpy's, are text.
        text = value if type(value) is str else str.__str__(value)
        if text.isascii():
            return text
        try:
            text.encode()
            return text
        except UnicodeEncodeError:
            raise Misfit(value, "text without lone surrogates", near=True) from None
    raise Misfit(value, "text")


def _path(value: Any) -> Path:
    if isinstance(value, str | os.PathLike) and isinstance(name := os.fspath(value), str):
        try:
            if b"\0" not in os.fsencode(name):
                return value if isinstance(value, Path) else Path(name)
        except UnicodeEncodeError:
            pass
        raise Misfit(name, "a path without NUL characters and lone surrogates")
    raise Misfit(value, "a path")


def _whole(value: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise Misfit(value, "a whole number")


def _number(value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise Misfit(value, "a smaller number") from None
    raise Misfit(value, "a number")


def _truth(value: Any) -> bool:
    # The name of numpy's type depends on its version.
    if isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__.startswith("bool")):
        return bool(value)
    raise Misfit(value, "True or False")


def _none(value: Any) -> None:
    if value is not None:
        raise Misfit(value, "None")


TEXT = Kind("text", "texts", _text)
_SIMPLE: Mapping[Any, Kind] = {
    str: TEXT,
    Path: Kind("a path", "paths", _path),
    int: Kind("a whole number", "whole numbers", _whole, int),
    float: Kind("a number", "numbers", _number, float),
    bool: Kind("True or False", "truth values", _truth, bool),
    NoneType: Kind("None", "None", _none),
}


def _listed(names: Sequence[str]) -> str:
    """Join descriptions.

    >>> _listed(["text"]), _listed(["a Run", "text", "a path"])
    ('text', 'a Run, text or a path')
    """
    names = list(dict.fromkeys(names))
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _described(value: object) -> str:
    """Describe a value for a message.

    >>> _described("x"), _described([1, 2]), _described(Path("a")), _described(int), _described(None)
    ("'x'", 'a list', "the path 'a'", 'the class int', 'None')
    """
    if value is None or isinstance(value, bool | int | float | str | bytes):
        shown = f"{value!r:.100}" if not isinstance(value, int) or abs(value) < 10**50 else "a very large number"
        return shown if len(shown) < 100 else f"{shown[:97]}..."
    if isinstance(value, Path):
        return f"the path {str(value)!r:.100}"
    if isinstance(value, type):
        return f"the class {value.__name__}"
    if inspect.isroutine(value):
        return f"the function {getattr(value, '__name__', '')}".rstrip()
    kind = type(value)
    root = kind.__module__.partition(".")[0]
    name = kind.__name__ if root in ("builtins", "syntagm", "collections", "__main__") else f"{kind.__name__} of {root}"
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"
