"""What can be seen of runs: a view has its numbers, its table and its chart in one place.

A view is a file, or a folder if it is long. It offers `make_table(runs, **options) -> Table`, `draw_figure(runs, **options) ->
Figure`, or both; then `syntagm table` and `syntagm figure` find it by its name. `views.options` says how options are declared.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from pkgutil import iter_modules
from typing import TYPE_CHECKING, Any, Literal

from syntagm.errors import UsageError

if TYPE_CHECKING:
    from syntagm.drawing.chart import Figure
    from syntagm.drawing.table import Table
    from syntagm.runs.store import Run

Kind = Literal["table", "figure"]
MAKERS: dict[Kind, Literal["make_table", "draw_figure"]] = {"table": "make_table", "figure": "draw_figure"}


def table(name: str, runs: "Run | Sequence[Run]", **options: object) -> "Table":
    """Make a table of runs; `syntagm table --list` names them.

    Arguments:
        runs: one, or several.
        options: those of the table, as on the command line or as Python values: `wide=True`, `series=("a", "b")`.

    Raises:
        UsageError: no such table or option, or a value that is not allowed.
        RunError: the runs can't make it.

    >>> import syntagm as sg
    >>> run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"))
    >>> sg.table("scores", run).to_frame().columns[:4]
    ['suite', 'measure', 'model', 'score']
    """
    made: Table = _make("table", name, runs, options)
    return made


def figure(name: str, runs: "Run | Sequence[Run]", **options: object) -> "Figure":
    """Draw a figure of runs; `syntagm figure --list` names them. Arguments and errors as of `table`.

    >>> import syntagm as sg
    >>> run = sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"))
    >>> sg.figure("scores", run).to_frame().height
    1
    """
    made: Figure = _make("figure", name, runs, options)
    return made


def _make(kind: Kind, name: str, runs: "Run | Sequence[Run]", options: dict[str, object]) -> Any:
    from syntagm.runs.store import Run
    from syntagm.views.options import call, spelled

    several = [runs] if isinstance(runs, Run) else list(runs)
    return call(find(kind, name), several, {key: spelled(value) for key, value in options.items()}, f"{kind} {name}")


def offering(kind: Kind) -> list[str]:
    """List the views that offer a table, or a figure."""
    views = sorted(found.name for found in iter_modules(__path__))
    return [name for name in views if hasattr(import_module(f"{__name__}.{name}"), MAKERS[kind])]


def find(kind: Kind, name: str) -> Callable[..., Any]:
    """Find what makes the table, or the figure, of a view.

    Raises:
        UsageError: there is no such view.
    """
    names = offering(kind)
    if name not in names:
        found = f"no such name: {name!r}" if name else "no name"
        raise UsageError(f"{kind}s", found, "one of " + ", ".join(names))
    maker: Callable[..., Any] = getattr(import_module(f"{__name__}.{name}"), MAKERS[kind])
    return maker


def summary(name: str) -> str:
    """Say in a line what a view shows.

    >>> summary("significance")[:31]
    'which suites separate two model'
    """
    text = import_module(f"{__name__}.{name}").__doc__ or ""
    line = " ".join(text.split("\n\n")[0].split()).rstrip(".")
    return line.partition(": ")[2] or line
