"""Arguments of public functions and types: checked by their annotations, so that a misuse is one clear error.

A function or a type that users call has the decorator `public`. An argument that is unmistakable is converted: one thing
where several are expected is a list of one, any sequence or iterator is a list or a tuple, and numbers of numpy are
numbers. Anything else that doesn't fit the annotation is a `UsageError` with the place, what was found, and what was
expected. What an annotation can't say, such as a range, is checked by the function itself. An error of the operating
system, such as a file name that is too long, is an `InputError`.
"""

import functools
import inspect
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import IOBase
from numbers import Integral, Real
from pathlib import Path
from types import FunctionType, NoneType, SimpleNamespace, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    TypeAlias,
    TypeVar,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)

from syntagm import renames
from syntagm.errors import InputError, UsageError

T = TypeVar("T", bound=Callable[..., Any])
# The value of an option that can also be written as text, as in the name of a model.
OptionValue: TypeAlias = str | int | float | bool
Types: TypeAlias = Callable[[], Mapping[str, Any]]
# The attribute of what is public: the name of a function; how a user gets an object of a type, as a sentence.
_PUBLIC = "__public__"
_NETWORK = "For a model in memory, call syntagm.from_transformers(model, tokenizer, name=...)."


@overload
def public(thing: T) -> T: ...
@overload
def public(*, name: str = "", cure: str = "", types: Types = dict) -> Callable[[T], T]: ...
def public(thing: Any = None, *, name: str = "", cure: str = "", types: Types = dict) -> Any:
    """Check the arguments of a function, or of the constructor and the public methods of a type, by their annotations.

    The signature, the docstring and the types stay as they are. A dataclass is decorated below `dataclass`, so that its
    fields are checked before its own `__post_init__`.

    Arguments:
        name: the public name of a function, if that is another than its own.
        cure: for a type: how a user gets such an object, as a sentence for messages.
        types: for a function: imports the types of its annotations that its module imports for type checkers only, because
            that takes long, and returns them by name.

    >>> @public
    ... def repeat(text: str, times: int = 2) -> str:
    ...     return text * times
    >>> repeat("a"), repeat("a", times=3)
    ('aa', 'aaa')
    >>> repeat("a", "b")
    Traceback (most recent call last):
    syntagm.errors.UsageError: repeat, times: 'b'; expected a whole number. See help(syntagm.repeat).
    """
    if thing is None:
        return functools.partial(public, name=name, cure=cure, types=types)
    if not isinstance(thing, type):
        return _checked(thing, name or thing.__name__, types=types)
    own: dict[str, Any] = dict(vars(thing))
    _set(thing, _PUBLIC, cure)
    if "__init__" in own:
        _set(thing, "__init__", _checked(own["__init__"], "", thing.__name__))
    elif inspect.get_annotations(thing) and not inspect.isabstract(thing):
        _set(thing, "__post_init__", _checked_fields(thing))
    for key, method in own.items():
        if isinstance(method, FunctionType) and not key.startswith("_"):
            _set(thing, key, _checked(method, key, thing.__name__))
    return thing


def overriding(kind: type, base: type) -> None:
    """Check the arguments of the methods with which a type overrides those of a public base class."""
    for key, method in list(vars(kind).items()):
        inherited = getattr(base, key, None)
        if method is inherited:
            continue  # a type that takes back the override of its own base
        if isinstance(method, FunctionType) and not key.startswith("_") and isinstance(inherited, FunctionType):
            _set(kind, key, _checked(method, key, base.__name__, inspect.unwrap(inherited)))


def spelled(value: object) -> str:
    """Return the value of an option as a user would write it.

    >>> spelled(True), spelled(("a", "b")), spelled(3)
    ('yes', 'a,b', '3')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


# Type checkers know nothing of attributes that are set on any type.
_set: Callable[[Any, str, Any], None] = setattr


class _Misfit(Exception):
    """A value that doesn't fit.

    Arguments:
        value: the value.
        expected: what was expected.
        within: the place in the argument, such as `, item 2`.
        cure: how to get what was expected, as a sentence; empty if nothing better than the help is known.
        near: whether the value has the right type, and another fault.
    """

    def __init__(self, value: object, expected: str, within: str = "", cure: str = "", near: bool = False) -> None:
        super().__init__()
        self.value, self.expected, self.within, self.cure, self.near = value, expected, within, cure, near

    def error(self, function: str, parameter: str) -> UsageError:
        network = self.expected == "text" and hasattr(self.value, "state_dict")
        cure = self.cure or (_NETWORK if network else f"See help(syntagm.{function}).")
        return UsageError(f"{function}, {parameter}{self.within}", _described(self.value), self.expected, cure)


@dataclass(frozen=True, slots=True)
class _Kind:
    """The kind of value that an annotation stands for.

    Arguments:
        expected: a description of a value, and of several.
        several: a description of several values.
        read: returns the value, converted if need be; raises `_Misfit`.
        exact: a type whose objects need not be read.
    """

    expected: str
    several: str
    read: Callable[[Any], Any]
    exact: type | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    """The kinds of a function's arguments; None stands for anything.

    Arguments:
        positional: names and kinds of the arguments that can be given by position.
        keywords: the kinds of those that can be given by name.
        rest, further: the kinds of further arguments (`*args`), and of further keywords (`**options`).
    """

    positional: list[tuple[str, _Kind | None]]
    keywords: dict[str, _Kind | None]
    rest: _Kind | None
    further: _Kind | None


def _planned(function: Any, annotated: Any, types: Types, name: str) -> _Plan:
    annotations = {key: hint for key, hint in annotated.__annotations__.items() if key != "return"}
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations), annotated.__globals__, {**types()})
    kinds = {key: _kind(hint, (name, key)) for key, hint in hints.items()}
    plan = _Plan([], {}, None, None)
    for parameter in inspect.signature(function).parameters.values():
        kind = kinds.get(parameter.name)
        if parameter.kind is parameter.VAR_POSITIONAL:
            plan = replace(plan, rest=kind)
        elif parameter.kind is parameter.VAR_KEYWORD:
            plan = replace(plan, further=kind)
        else:
            plan.keywords[parameter.name] = kind
            if parameter.kind is not parameter.KEYWORD_ONLY:
                plan.positional.append((parameter.name, kind))
    return plan


def _checked(function: Any, name: str, owner: str = "", annotated: Any = None, types: Types = dict) -> Any:
    """Return a function that checks its arguments before it calls another.

    Arguments:
        function: the function that is called.
        name: its name in messages; empty for a constructor.
        owner: the name of its class, if it is a method.
        annotated: the function whose annotations hold, if that is another one.
        types: as for `public`.
    """

    plan: _Plan | None = None

    def read(kind: _Kind, value: Any, parameter: str, args: tuple[Any, ...]) -> Any:
        try:
            return kind.read(value)
        except _Misfit as misfit:
            problem = misfit
        kind_of_owner = type(args[0]) if owner and args else type(None)
        of = kind_of_owner.__name__ if _PUBLIC in vars(kind_of_owner) else owner
        raise problem.error(".".join(filter(None, [of, name])), parameter)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal plan
        if plan is None:
            # Not before: annotations may name types of modules that are imported after the function's own.
            plan = _planned(function, annotated or function, types, name)
        if renames.RENAMES:
            kwargs = dict(renames.renewed(renames.ARGUMENT.format(name), kwargs, plan.keywords, name))
        # Python itself refuses arguments that are too many, or whose keyword is unknown.
        given = args
        for at, value in enumerate(args):
            key, kind = plan.positional[at] if at < len(plan.positional) else (f"argument {at + 1}", plan.rest)
            if kind and type(value) is not kind.exact and (converted := read(kind, value, key, args)) is not value:
                given = (*given[:at], converted, *given[at + 1 :])
        for key, value in kwargs.items():
            kind = plan.keywords.get(key, plan.further)
            if kind and type(value) is not kind.exact:
                kwargs[key] = read(kind, value, key, args)
        try:
            return function(*given, **kwargs)
        except BrokenPipeError:
            raise
        except OSError as error:
            place = error.filename or name or owner
            raise InputError(str(place), f"{error.strerror or error}", "to read or write it") from error

    _set(wrapper, _PUBLIC, name)
    return wrapper


def _checked_fields(kind: Any) -> Callable[[Any], None]:
    """Return the `__post_init__` of a dataclass that checks its fields before it calls the class's own."""
    own: Callable[[Any], None] | None = vars(kind).get("__post_init__")
    fields: list[tuple[str, type | None, _Kind]] | None = None

    def planned() -> list[tuple[str, type | None, _Kind]]:
        annotations = inspect.get_annotations(kind)
        hints = {key: hint for key, hint in get_type_hints(kind).items() if key in annotations}
        kinds = {
            key: _kind(hint, (kind.__name__, key)) for key, hint in hints.items() if get_origin(hint) is not ClassVar
        }
        return [(key, found.exact, found) for key, found in kinds.items() if found]

    def __post_init__(self: Any) -> None:  # noqa: N807, the name of what dataclass calls
        nonlocal fields
        if fields is None:
            fields = planned()
        for key, exact, found in fields:
            value = getattr(self, key)
            # Suites have hundreds of thousands of regions: what fits is passed at once.
            if type(value) is exact or (type(value) is str and found is _TEXT and value.isascii()):
                continue
            try:
                converted = found.read(value)
            except _Misfit as misfit:
                raise misfit.error(type(self).__name__, key) from None
            if converted is not value:
                object.__setattr__(self, key, converted)
        if own:
            own(self)

    return __post_init__


def _kind(hint: Any, place: tuple[str, str]) -> _Kind | None:
    """Return the kind of value that an annotation stands for; None if it is anything.

    Arguments:
        place: the names of the function and the parameter, for what is checked when it is iterated over.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if hint in (Any, object) or isinstance(hint, TypeVar):
        return None
    if origin is Annotated:
        return _kind(arguments[0], place)
    if origin in (Union, UnionType):
        return _union([_kind(argument, place) for argument in arguments], Path in arguments)
    if origin is Literal:
        return _choice(arguments)
    if hint in _SIMPLE:
        return _SIMPLE[hint]
    if origin in (tuple, list, Sequence, Iterable):
        if origin is tuple and arguments[-1] is not ...:
            return _tuple([_kind(argument, place) for argument in arguments])
        return _series(origin, _kind(arguments[0], place), place)
    if origin in (dict, Mapping):
        return _mapping(*(_kind(argument, place) for argument in arguments))
    if hint is Callable or origin is Callable:
        return _Kind("a function", "functions", functools.partial(_instance, Callable, "a function", ""))
    if getattr(origin, "__name__", "") == "ndarray":
        return _array(origin, get_args(arguments[1])[0])
    return _of_class(origin or hint)


def _of_class(kind: type) -> _Kind:
    if getattr(kind, "_is_protocol", False):
        # The first sentence of its docstring says what fits, and the rest how to get it.
        first, _, cure = " ".join((kind.__doc__ or "").split()).partition(". ")
        expected = first[0].lower() + first[1:].rstrip(".")
        members = [name for name in (*vars(kind), *inspect.get_annotations(kind)) if not name.startswith("_")]
        return _Kind(expected, expected, functools.partial(_having, members, expected, cure))
    expected = f"{'an' if kind.__name__[0] in 'AEIOU' else 'a'} {kind.__name__}"
    exact = None if inspect.isabstract(kind) else kind
    return _Kind(expected, f"{kind.__name__}s", functools.partial(_instance, kind, expected, ""), exact)


def _instance(kind: Any, expected: str, cure: str, value: Any) -> Any:
    if isinstance(value, kind) and not (isinstance(value, type) and kind is not Callable):
        return value
    raise _Misfit(value, expected, cure=cure or getattr(kind, _PUBLIC, ""))


def _having(members: Sequence[str], expected: str, cure: str, value: Any) -> Any:
    # What wraps an object, as adapters do, gives its attributes on request only, so `isinstance` does not find them.
    if not isinstance(value, type) and all(hasattr(value, name) for name in members):
        return value
    raise _Misfit(value, expected, cure=cure)


def _union(kinds: Sequence[_Kind | None], has_path: bool) -> _Kind | None:
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
            raise _Misfit(value, "text without a NUL character")
        misfits = []
        for kind in others:
            if type(value) is kind.exact:
                return value
            try:
                return kind.read(value)
            except _Misfit as misfit:
                misfits.append(misfit)
        # What is said of a part of the value, or of its content, says more than its type.
        nearest = max(misfits, key=lambda misfit: (len(misfit.within), misfit.near))
        if nearest.within or nearest.near:
            raise nearest
        raise _Misfit(value, expected, cure=next((misfit.cure for misfit in misfits if misfit.cure), ""))

    return _Kind(expected, _listed([kind.several for kind in others]), read)


def _choice(values: tuple[Any, ...]) -> _Kind:
    expected = _listed([repr(value) for value in values])

    def read(value: Any) -> Any:
        if isinstance(value, str | int) and value in values:
            return value
        raise _Misfit(value, expected)

    return _Kind(expected, f"values among {expected}", read)


def _series(origin: Any, item: _Kind | None, place: tuple[str, str]) -> _Kind:
    """Return the kind of a sequence. An iterable that is none is checked when it is iterated over."""
    several = item.several if item else "values"
    convert: Callable[[Iterable[Any]], Any] = tuple if origin is tuple else list

    def read_item(number: int, value: Any) -> Any:
        if item is None or type(value) is item.exact:
            return value
        try:
            return item.read(value)
        except _Misfit as misfit:
            within = f", item {number}{misfit.within}"
            raise _Misfit(misfit.value, misfit.expected, within, misfit.cure, misfit.near) from None

    def late(values: Iterable[Any]) -> Iterator[Any]:
        for number, value in enumerate(values, 1):
            try:
                checked = read_item(number, value)
            except _Misfit as misfit:
                raise misfit.error(*place) from None
            yield checked

    def read(value: Any) -> Any:
        if type(value) is convert and (item is None or not [None for part in value if type(part) is not item.exact]):
            return value
        if not _is_series(value):
            if item is None:
                raise _Misfit(value, f"a list of {several}")
            try:
                return convert([item.read(value)])
            except _Misfit as misfit:
                raise _Misfit(value, f"a list of {several}", cure=misfit.cure) from None
        if origin is Iterable and not isinstance(value, list | tuple):
            return late(value) if isinstance(value, Iterator) else _Late(value, late)
        values = [read_item(number, part) for number, part in enumerate(value, 1)]
        kept = isinstance(value, tuple if origin is tuple else list if origin is list else list | tuple)
        same = kept and all(old is new for old, new in zip(value, values, strict=True))
        return value if same else convert(values)

    return _Kind(f"a list of {several}", f"lists of {several}", read)


class _Late:
    """Values that are checked in each pass over them."""

    def __init__(self, values: Iterable[Any], late: Callable[[Iterable[Any]], Iterator[Any]]) -> None:
        self._values, self._late = values, late

    def __iter__(self) -> Iterator[Any]:
        return self._late(self._values)


def _is_series(value: Any) -> bool:
    """Return whether a value is a series of values, and nothing that can also be read as a series.

    Text, a mapping and an open file can be, a set has no order, and a table and a matrix have two.
    """
    if isinstance(value, str | bytes | bytearray | Mapping | IOBase | set | frozenset | type):
        return False
    if not isinstance(value, Iterable):
        return False
    return len(getattr(value, "shape", (0,))) == 1


def _tuple(kinds: Sequence[_Kind | None]) -> _Kind:
    parts = ", ".join(kind.expected if kind else "anything" for kind in kinds)
    expected = f"a tuple of {parts}"

    def read(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != len(kinds):
            raise _Misfit(value, expected)
        return tuple(kind.read(part) if kind else part for kind, part in zip(kinds, value, strict=True))

    return _Kind(expected, f"tuples of {parts}", read)


def _mapping(key_kind: _Kind | None, value_kind: _Kind | None) -> _Kind:
    keys, values = (kind.several if kind else "values" for kind in (key_kind, value_kind))
    expected = f"a dict from {keys} to {values}"

    def read(value: Any) -> Any:
        if not isinstance(value, Mapping):
            raise _Misfit(value, expected)
        for key, entry in value.items():
            try:
                if key_kind and not (key_kind is _TEXT and type(key) is str and key.isascii()):
                    key_kind.read(key)
                if value_kind and type(entry) is not value_kind.exact:
                    value_kind.read(entry)
            except _Misfit as misfit:
                place = f", {_described(key)}{misfit.within}"
                raise _Misfit(misfit.value, misfit.expected, place, misfit.cure, misfit.near) from None
        return value

    return _Kind(expected, "dicts", read)


def _array(kind: Any, scalar: type) -> _Kind:
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
        raise _Misfit(value, expected)

    return _Kind(expected, f"arrays of {name}", read)


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
            raise _Misfit(value, "text without lone surrogates", near=True) from None
    raise _Misfit(value, "text")


def _path(value: Any) -> Path:
    if isinstance(value, str | os.PathLike) and isinstance(name := os.fspath(value), str):
        try:
            if b"\0" not in os.fsencode(name):
                return value if isinstance(value, Path) else Path(name)
        except UnicodeEncodeError:
            pass
        raise _Misfit(name, "a path without NUL characters and lone surrogates")
    raise _Misfit(value, "a path")


def _whole(value: Any) -> int:
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    raise _Misfit(value, "a whole number")


def _number(value: Any) -> float:
    if isinstance(value, Real) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            raise _Misfit(value, "a smaller number") from None
    raise _Misfit(value, "a number")


def _truth(value: Any) -> bool:
    # The name of numpy's type depends on its version.
    if isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__.startswith("bool")):
        return bool(value)
    raise _Misfit(value, "True or False")


def _none(value: Any) -> None:
    if value is not None:
        raise _Misfit(value, "None")


_TEXT = _Kind("text", "texts", _text)
_SIMPLE: Mapping[Any, _Kind] = {
    str: _TEXT,
    Path: _Kind("a path", "paths", _path),
    int: _Kind("a whole number", "whole numbers", _whole, int),
    float: _Kind("a number", "numbers", _number, float),
    bool: _Kind("True or False", "truth values", _truth, bool),
    NoneType: _Kind("None", "None", _none),
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
