"""What can be seen of runs: a view has its numbers, its table and its chart in one place.

A view is a file, or a folder if it is long. It offers `make_table(runs, **options) -> Table`, `draw_figure(runs, **options) ->
Figure`, or both; then `syntagm table` and `syntagm figure` find it by its name. `views.options` says how options are declared.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from syntagm.errors import UsageError

Kind = Literal["table", "figure"]
MAKERS: dict[Kind, Literal["make_table", "draw_figure"]] = {"table": "make_table", "figure": "draw_figure"}


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
