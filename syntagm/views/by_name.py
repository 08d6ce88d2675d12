"""Views of runs: each computes some numbers and shows them as a table, a figure, or both.

A view is one file, with its numbers, table and figure. It offers `make_table(runs, **options) -> Table`,
`draw_figure(runs, **options) -> Figure`, or both. `syntagm table` and `syntagm figure` find a view by its name.
`views.options` explains how options are declared.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from syntagm.core import OptionValue, UsageError, did_you_mean, public, registry, renames, shown, spelled

if TYPE_CHECKING:
    from syntagm.runs import Runs
    from syntagm.stats import Resampling
    from syntagm.views.drawing.chart import Figure
    from syntagm.views.drawing.table import Table

Kind = Literal["table", "figure"]
MAKERS: dict[Kind, Literal["make_table", "draw_figure"]] = {"table": "make_table", "figure": "draw_figure"}
_DECLARED: dict[Kind, Literal["COLUMNS", "SCHEMA"]] = {"table": "COLUMNS", "figure": "SCHEMA"}


def _types() -> Mapping[str, Any]:
    from syntagm.runs import Runs
    from syntagm.stats import Resampling

    return {"Runs": Runs, "Resampling": Resampling}


@public(types=_types)
def table(
    name: str, runs: "Runs", resampling: "Resampling | None" = None, **options: OptionValue | Path | Sequence[str]
) -> "Table":
    """Make a table of runs; `syntagm table --list` lists the available tables.

    Arguments:
        name: the name of the table.
        runs: one run, or several; or their run directories.
        resampling: which units are random in its intervals, and how bootstraps draw.
        options: options of the table, as on the command line or as Python values: `wide=True`, `series=("a", "b")`.

    Raises:
        UsageError: there is no such table or option, or a value is not allowed.
        RunError: the runs lack data that the table needs.

    >>> import syntagm as sg
    >>> run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"))
    >>> sg.table("scores", run).to_frame().columns[:4]
    ['suite', 'measure', 'model', 'score']
    """
    result: Table = _make("table", name, runs, resampling, options)
    return result


@public(types=_types)
def figure(
    name: str, runs: "Runs", resampling: "Resampling | None" = None, **options: OptionValue | Path | Sequence[str]
) -> "Figure":
    """Draw a figure of runs; `syntagm figure --list` lists the available figures.

    The arguments and errors are the same as for `table`.

    >>> import syntagm as sg
    >>> run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"))
    >>> sg.figure("scores", run).to_frame().height
    1
    """
    result: Figure = _make("figure", name, runs, resampling, options)
    return result


def _make(kind: Kind, name: str, runs: "Runs", resampling: "Resampling | None", options: Mapping[str, object]) -> Any:
    from syntagm.runs import different_content, runs_of
    from syntagm.stats import bootstrap
    from syntagm.views.options import call

    run_list = runs_of(runs)
    texts = {key: spelled(value) for key, value in options.items()}
    if different := different_content(run_list):
        warnings.warn(shown(different), stacklevel=4)
    with bootstrap.using(resampling):
        return call(find(kind, name), run_list, texts, f"{kind} {name}")


def offering(kind: Kind, room: str = "views") -> list[str]:
    return [name for name in registry.names(room) if hasattr(registry.find(room, name), MAKERS[kind])]


def find(kind: Kind, name: str, room: str = "views") -> Callable[..., Any]:
    """Find the function that makes a view's table or figure; `room` as for `offering`."""
    names = offering(kind, room)
    name = renames.current(room, name, names)
    if name not in names:
        found = f"no such name: {name!r}" if name else "no name"
        other: Kind = "figure" if kind == "table" else "table"
        cure = (
            f"It is a {other}: syntagm {other} {name}" if name in offering(other, room) else did_you_mean(name, names)
        )
        raise UsageError(f"{kind}s", found, "one of " + ", ".join(names), cure)
    maker: Callable[..., Any] = getattr(registry.find(room, name), MAKERS[kind])
    return maker


def columns(kind: Kind, name: str, room: str = "views") -> tuple[str, ...]:
    """Return the columns that a table or a figure declares where it is made; empty if it declares none there.

    Options of a table may add columns or replace them.

    >>> columns("figure", "margins")[:3]
    ('model', 'suite', 'measure')
    """
    module = import_module(find(kind, name, room).__module__)
    return tuple(getattr(module, _DECLARED[kind], ()))


def headers(name: str, room: str = "views") -> list[tuple[str, ...]]:
    """Return the declared columns of the table and of the figure of a view; `room` as for `offering`."""
    return [columns(kind, name, room) for kind in MAKERS if name in offering(kind, room)]


def summary(name: str, room: str = "views") -> str:
    """Describe a view in one line, taken from its docstring.

    >>> summary("significance")[:33]
    'which suites show a significant d'
    """
    text = registry.find(room, name).__doc__ or ""
    line = " ".join(text.split("\n\n")[0].split()).rstrip(".")
    return line.partition(": ")[2] or line
