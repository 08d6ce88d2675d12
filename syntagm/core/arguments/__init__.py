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
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import FunctionType, SimpleNamespace
from typing import Any, ClassVar, TypeAlias, TypeVar, get_origin, get_type_hints, overload

from syntagm.core import renames
from syntagm.core.arguments.kinds import PUBLIC, TEXT, Kind, Misfit, kind_of
from syntagm.core.errors import InputError, UsageError

T = TypeVar("T", bound=Callable[..., Any])
# The value of an option that can also be written as text, as in the name of a model.
OptionValue: TypeAlias = str | int | float | bool
Types: TypeAlias = Callable[[], Mapping[str, Any]]


class _Fork:
    """Whether this process is forked from one in which libraries have threads, whose locks it would wait for."""

    used = lost = False  # `used`: a public function was called, so that threads may have work
    threads = 0

    def before(self) -> None:
        tasks = Path("/proc/self/task")
        self.threads = len(os.listdir(tasks)) if tasks.is_dir() else threading.active_count()

    def after(self) -> None:
        self.lost = self.used and self.threads > 1 and not sys.modules.keys().isdisjoint(("polars", "torch"))


_fork = _Fork()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_fork.before, after_in_child=_fork.after)


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
    syntagm.core.errors.UsageError: repeat, times: 'b'; expected a whole number. See help(syntagm.repeat).
    """
    if thing is None:
        return functools.partial(public, name=name, cure=cure, types=types)
    if not isinstance(thing, type):
        return _checked(thing, name or thing.__name__, types=types)
    own: dict[str, Any] = dict(vars(thing))
    _set(thing, PUBLIC, cure)
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


@dataclass(frozen=True, slots=True)
class _Plan:
    """The kinds of a function's arguments; None stands for anything."""

    positional: list[tuple[str, Kind | None]]  # names and kinds of the arguments that can be given by position
    keywords: dict[str, Kind | None]  # the kinds of those that can be given by name
    # `rest`, `further`: the kinds of further arguments (`*args`), and of further keywords (`**options`)
    rest: Kind | None
    further: Kind | None


def _planned(function: Any, annotated: Any, types: Types, name: str) -> _Plan:
    annotations = {key: hint for key, hint in annotated.__annotations__.items() if key != "return"}
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations), annotated.__globals__, {**types()})
    kinds = {key: kind_of(hint, (name, key)) for key, hint in hints.items()}
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
    plan: _Plan | None = None

    def read(kind: Kind, value: Any, parameter: str, args: tuple[Any, ...]) -> Any:
        try:
            return kind.read(value)
        except Misfit as misfit:
            problem = misfit
        kind_of_owner = type(args[0]) if owner and args else type(None)
        of = kind_of_owner.__name__ if PUBLIC in vars(kind_of_owner) else owner
        raise problem.error(".".join(filter(None, [of, name])), parameter)

    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        nonlocal plan
        if _fork.lost:
            found = "a process forked from one that has computed, which would wait for the threads of that one"
            cure = 'Use multiprocessing.get_context("spawn"), or fork before syntagm is used.'
            raise UsageError(name or owner, found, "a new process", cure)
        _fork.used = True
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

    _set(wrapper, PUBLIC, name)
    return wrapper


def _checked_fields(kind: Any) -> Callable[[Any], None]:
    """Return the `__post_init__` of a dataclass that checks its fields before it calls the class's own."""
    own: Callable[[Any], None] | None = vars(kind).get("__post_init__")
    fields: list[tuple[str, type | None, Kind]] | None = None

    def planned() -> list[tuple[str, type | None, Kind]]:
        annotations = inspect.get_annotations(kind)
        hints = {key: hint for key, hint in get_type_hints(kind).items() if key in annotations}
        kinds = {
            key: kind_of(hint, (kind.__name__, key)) for key, hint in hints.items() if get_origin(hint) is not ClassVar
        }
        return [(key, found.exact, found) for key, found in kinds.items() if found]

    def __post_init__(self: Any) -> None:  # noqa: N807, the name of what dataclass calls
        nonlocal fields
        if fields is None:
            fields = planned()
        for key, exact, found in fields:
            value = getattr(self, key)
            # Suites have hundreds of thousands of regions: what fits is passed at once.
            if type(value) is exact or (type(value) is str and found is TEXT and value.isascii()):
                continue
            try:
                converted = found.read(value)
            except Misfit as misfit:
                raise misfit.error(type(self).__name__, key) from None
            if converted is not value:
                object.__setattr__(self, key, converted)
        if own:
            own(self)

    return __post_init__
