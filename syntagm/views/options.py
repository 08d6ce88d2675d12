"""Options of views: declared once, in the signature of what makes a table or a figure, and read there from text.

A parameter after the runs is an option. Its annotation says what users may write and what that means:

    measure: Annotated[str, "a prediction's name, `first` or `all`"] = "first"
    wide: Annotated[bool, "a column a model"] = False                             yes or no
    scale: Annotated[Literal["log", "linear"], "how places are counted"] = "log"  one of these
    series: Annotated[tuple[str, ...], "the names of the curves"] = ()            with commas between
    limit: Annotated[int | None, Reader("how many items, or `all`", count)]       whatever `count` reads
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from syntagm.errors import UsageError
from syntagm.runs.store import Run

# Options that many views take.
Measure = Annotated[str, "a prediction's name, `first` (of each suite) or `all` (whether all predictions hold)"]
Suite = Annotated[str, "the name of a suite; may be left out where there is one only"]


@dataclass(frozen=True, slots=True)
class Reader:
    """How an option is read that is neither text nor a choice.

    Arguments:
        help: in a line.
        read: text -> value; raises UsageError.
        default: the parameter's default as users would write it; empty if nothing is chosen.
    """

    help: str
    read: Callable[[str], object]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a view, as users see it.

    Arguments:
        name: stands before `=`.
        default: as users would write it; empty if nothing is chosen.
        help: in a line.
        values: those that are allowed; empty: any text.
        read: text -> value.
    """

    name: str
    default: str
    help: str
    values: tuple[str, ...]
    read: Callable[[str], object]


def options(make: Callable[..., Any]) -> tuple[Option, ...]:
    """List the options of what makes a table or a figure, in the order of its signature."""
    hints = get_type_hints(make, include_extras=True)
    parameters = list(inspect.signature(make).parameters.values())[1:]
    return tuple(_option(one.name, one.default, hints[one.name]) for one in parameters)


def call(make: Callable[..., Any], runs: Sequence[Run], texts: Mapping[str, str], place: str) -> Any:
    """Call `make` with runs and options as users wrote them.

    Arguments:
        texts: name -> text.
        place: what is made, for messages.

    Raises:
        UsageError: no runs, an option that there is not, or a value that is not allowed.
    """
    if not runs:
        raise UsageError(place, "no runs", "at least one run directory")
    known = {one.name: one for one in options(make)}
    if odd := [name for name in texts if name not in known]:
        expected = "one of " + ", ".join(f"{name}=" for name in sorted(known)) if known else "no options"
        raise UsageError(place, f"no option {odd[0]!r}", expected)
    return make(runs, **{name: known[name].read(text) for name, text in texts.items()})


def spelled(value: object) -> str:
    """Return a value of an option as users would write it.

    >>> spelled(True), spelled(("a", "b")), spelled(3)
    ('yes', 'a,b', '3')
    """
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _option(name: str, default: object, hint: Any) -> Option:
    kind, about = get_args(hint)
    if isinstance(about, Reader):
        return Option(name, about.default, about.help, (), about.read)
    if kind is bool:
        return Option(name, "yes" if default else "no", about, ("yes", "no"), _choice(name, {"yes": True, "no": False}))
    if get_origin(kind) is tuple:
        return Option(name, ",".join(default if isinstance(default, tuple) else ()), about, (), _list)
    if values := _literals(kind):
        return Option(name, str(default or ""), about, values, _choice(name, {value: value for value in values}))
    return Option(name, str(default), about, (), str)


def _literals(kind: Any) -> tuple[str, ...]:
    """The values of a choice, also of one that may be left out (`Literal[...] | None`)."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [one for one in get_args(kind) if one is not NoneType]
        return _literals(kinds[0]) if len(kinds) == 1 else ()
    return get_args(kind) if get_origin(kind) is Literal else ()


def _choice(name: str, values: Mapping[str, object]) -> Callable[[str], object]:
    def read(text: str) -> object:
        if text not in values:
            expected = " or ".join(values) if len(values) == 2 else "one of " + ", ".join(values)
            raise UsageError(f"{name}=", repr(text), expected)
        return values[text]

    return read


def _list(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",")) if text else ()
