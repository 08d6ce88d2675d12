"""Options of views, which are the parameters of the function that makes the table or figure, after the runs.

They are settings (`syntagm.settings`), of which two kinds are for views:

    limit: Annotated[int | None, Reader("number of items, or `all`", count)]          read by `count`
    tag: Annotated[str, Named("a tag of the suites", tags)]                           a name that occurs in the runs
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from syntagm import settings
from syntagm.errors import UsageError
from syntagm.runs.several import tags
from syntagm.runs.store import Run
from syntagm.settings import Setting


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
class Option(Setting):
    """A setting of a view.

    Arguments:
        named: the names that the value must be one of; None if it is no name.
    """

    named: Named | None = None


def options(make: Callable[..., Any]) -> tuple[Option, ...]:
    """List the options of a `make_table` or `draw_figure` function, in the order of its signature."""
    return tuple(_option(setting, said) for setting, said in settings.of_parameters(make))


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
    known = options(make)
    values = settings.values(known, texts, place)
    # What the user gave is refused before a default.
    for option in sorted(known, key=lambda option: option.name not in texts):
        if option.named:
            option.named.refuse_unknown(option.name, texts.get(option.name, option.default), runs, not option.default)
    return make(runs, **values)


def _option(setting: Setting, said: Any) -> Option:
    if isinstance(said, Reader):
        return Option(setting.name, said.default, said.help, (), said.read)
    if isinstance(said, Named):
        return Option(setting.name, setting.default, said.help, (), str, named=said)
    return Option(setting.name, setting.default, setting.help, setting.values, setting.read)
