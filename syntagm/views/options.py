"""Options of views, which are the parameters of the function that makes the table or figure, after the runs.

They are settings (`syntagm.core.settings`), of which one kind is for views:

    tag: Annotated[str, Named("a tag of the suites", tags)]                           a name that occurs in the runs
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from syntagm.core import UsageError, Values, settings
from syntagm.runs import Run, describe, different, judged, tags, treatment
from syntagm.views import coverage
from syntagm.views.drawing.chart import Figure, captioned
from syntagm.views.drawing.table import Table
from syntagm.views.drawing.text import only


@dataclass(frozen=True)
class Named(Values):
    """Names that occur in the runs, as values of an option."""

    help: str  # one line of help text
    names: Callable[[Sequence[Run]], Iterable[str]]  # function from runs to the names
    # Further allowed values; "" among them means that a name may be absent, whatever the default.
    also: tuple[str, ...] = ()
    cure: str = ""  # a sentence that says where else a name may be known

    def read(self, place: str, text: str) -> str:
        """Return the text; `refuse_unknown` needs the runs."""
        return text

    def refuse_unknown(self, name: str, value: str, runs: Sequence[Run], optional: bool) -> None:
        """Raise UsageError if no run has the name, or there is none although it is not optional."""
        known = list(dict.fromkeys([*self.names(runs), *self.also]))
        if value not in known and (value or not optional):
            expected = "one of " + ", ".join(filter(None, known)) if known else "suites that have one"
            raise UsageError(f"{name}=", f"{value!r}, which no suite has", expected, self.cure)


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


def call(make: Callable[..., Any], runs: Sequence[Any], texts: Mapping[str, str], place: str) -> Any:
    """Call `make` with runs and with options that a user has written; arguments and errors as for `called`."""
    made, _ = called(make, runs, texts, place)
    return made


def called(
    make: Callable[..., Any], runs: Sequence[Any], texts: Mapping[str, str], place: str
) -> tuple[Any, list[Run]]:
    """Call `make` with runs and with options that a user has written."""
    if not runs:
        raise UsageError(place, "no runs", "at least one run directory")
    known = settings.of_parameters(make)
    values = settings.read(known, texts, place)
    # What the user gave is refused before a default.
    for option in sorted(known, key=lambda option: option.name not in texts):
        if isinstance(option.values, Named):
            text = texts.get(option.name, option.default)
            option.values.refuse_unknown(option.name, text, runs, not option.default)
    with judged() as read:
        made = make(runs, **values)
    shown = [run for run in runs if run in read]
    made = _with_unknown(made, [run for run in runs if isinstance(run, Run)])
    # A view with an option for conventions says itself which ones it shows.
    return made if any(option.name == "convention" for option in known) else with_convention(made, shown), shown


def described(made: Any, runs: Sequence[Run]) -> Any:
    """Return a table or figure that says which tokens of its runs are unknown, and by which convention they are judged."""
    return with_convention(_with_unknown(made, runs), runs)


def with_convention(made: Any, judged: Sequence[Run]) -> Any:
    """Return a table or figure that says by which convention its verdicts and margins are judged, if not by bits."""
    # A table also says how else models were treated differently.
    warning, note = different(judged), describe(judged)
    if isinstance(made, Table):
        made = replace(made, warnings=(*filter(None, (warning, treatment(judged))), *made.warnings))
    return with_note(made, note if isinstance(made, Table) else warning or note)


def with_note(made: Any, note: str) -> Any:
    """Return a table with a note more, or a figure with a sentence more below its title; unchanged if the note is empty."""
    if isinstance(made, Table) and note:
        return replace(made, notes=(*made.notes, note))
    return captioned(made, note) if isinstance(made, Figure) else made


def _with_unknown(made: Any, runs: Sequence[Run]) -> Any:
    """Return a table or figure that says which tokens are unknown; a figure of one model, without a legend, names it."""
    drawn = isinstance(made, Figure)
    if drawn and "model" in made.table.columns and "model: " not in str(made.spec.get("title")):
        made = captioned(made, "".join(only(made.table["model"].unique().to_list())))
    return with_note(made, coverage.describe(runs, drawn))
