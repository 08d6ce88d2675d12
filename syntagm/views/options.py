"""Options of views, which are declared in the signature of the function that makes the table or figure.

Each parameter after the runs is an option. Its annotation has the type and the help text:

    measure: Annotated[str, "name of a prediction, `first` or `all`"] = "first"       any text
    wide: Annotated[bool, "one column for each model"] = False                        yes or no
    scale: Annotated[Literal["log", "linear"], "scale of the axis"] = "log"           one of the values
    series: Annotated[tuple[str, ...], "names of the curves"] = ()                    separated by commas
    limit: Annotated[int | None, Reader("number of items, or `all`", count)]          read by `count`
    tag: Annotated[str, Named("a tag of the suites", tags)]                           a name that occurs in the runs
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from syntagm.errors import UsageError
from syntagm.runs.several import tags
from syntagm.runs.store import Run


@dataclass(frozen=True, slots=True)
class Named:
    """The help text of an option whose value is a name that occurs in the runs.

    Arguments:
        help: one line of help text.
        names: function from runs to the names.
        also: further allowed values; "" among them means that a name may be absent, whatever the default.
    """

    help: str
    names: Callable[[Sequence[Run]], Iterable[str]]
    also: tuple[str, ...] = ()

    def refuse_unknown(self, name: str, value: str, runs: Sequence[Run], optional: bool) -> None:
        """Raise UsageError if no run has the name, or there is none although it is not optional."""
        known = list(dict.fromkeys([*self.names(runs), *self.also]))
        if value not in known and (value or not optional):
            expected = "one of " + ", ".join(filter(None, known)) if known else "suites that have one"
            raise UsageError(f"{name}=", f"{value!r}, which no suite has", expected)


def measures(runs: Sequence[Run]) -> list[str]:
    """Return the names of all computed predictions or measures, in the order of first appearance."""
    return list(dict.fromkeys(name for run in runs for suite in run.suites for name in suite.predictions))


# Options that many views take.
Measure = Annotated[
    str,
    Named(
        "name of a prediction, `first` (of each suite) or `all` (whether all predictions hold)",
        measures,
        ("first", "all"),
    ),
]
Tag = Annotated[str, Named("a tag of the suites", tags)]
Suite = Annotated[str, "name of a suite; optional if there is only one"]


@dataclass(frozen=True, slots=True)
class Reader:
    """Help text and parser of an option that is neither plain text nor a choice.

    Arguments:
        help: one line of help text.
        read: function from text to the value; it may raise UsageError.
        default: the default of the parameter, as a user would write it; empty if there is none.
    """

    help: str
    read: Callable[[str], object]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a view on the command line: `name=value`.

    Arguments:
        name: the name before `=`.
        default: the default as a user would write it; empty if there is none.
        help: one line of help text.
        values: the allowed values; empty if any text is allowed.
        read: text -> value.
        named: the names that the value must be one of; None if it is no name.
    """

    name: str
    default: str
    help: str
    values: tuple[str, ...]
    read: Callable[[str], object]
    named: Named | None = None


def options(make: Callable[..., Any]) -> tuple[Option, ...]:
    """List the options of a `make_table` or `draw_figure` function, in the order of its signature."""
    hints = get_type_hints(make, include_extras=True)
    parameters = list(inspect.signature(make).parameters.values())[1:]
    return tuple(_option(parameter.name, parameter.default, hints[parameter.name]) for parameter in parameters)


def call(make: Callable[..., Any], runs: Sequence[Run], texts: Mapping[str, str], place: str) -> Any:
    """Call `make` with runs and with options that a user has written.

    Arguments:
        texts: name -> text.
        place: name of the table or figure, for error messages.

    Raises:
        UsageError: no runs, an unknown option, a value that is not allowed, or a name that no run has.
    """
    if not runs:
        raise UsageError(place, "no runs", "at least one run directory")
    known = {option.name: option for option in options(make)}
    if unknown := [name for name in texts if name not in known]:
        expected = "one of " + ", ".join(f"{name}=" for name in sorted(known)) if known else "no options"
        raise UsageError(place, f"no option {unknown[0]!r}", expected)
    # What the user gave is refused before a default.
    for option in sorted(known.values(), key=lambda option: option.name not in texts):
        if option.named:
            option.named.refuse_unknown(option.name, texts.get(option.name, option.default), runs, not option.default)
    return make(runs, **{name: known[name].read(text) for name, text in texts.items()})


def _option(name: str, default: object, hint: Any) -> Option:
    kind, help = get_args(hint)
    if isinstance(help, Reader):
        return Option(name, help.default, help.help, (), help.read)
    if isinstance(help, Named):
        return Option(name, str(default), help.help, (), str, help)
    if kind is bool:
        return Option(name, "yes" if default else "no", help, ("yes", "no"), _choice(name, {"yes": True, "no": False}))
    if get_origin(kind) is tuple:
        return Option(name, ",".join(default if isinstance(default, tuple) else ()), help, (), _list)
    if values := _literals(kind):
        return Option(name, str(default or ""), help, values, _choice(name, {value: value for value in values}))
    return Option(name, str(default), help, (), str)


def _literals(kind: Any) -> tuple[str, ...]:
    """Return the values of a choice (`Literal[...]`) or an optional choice (`Literal[...] | None`)."""
    if get_origin(kind) in (Union, UnionType):
        kinds = [member for member in get_args(kind) if member is not NoneType]
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
