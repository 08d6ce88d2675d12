"""Views of runs: each computes some numbers, and makes a table and a figure of them.

A view is a module, or a package if it is long. It offers `make_table(runs, **options) -> Table`,
`draw_figure(runs, **options) -> Figure`, or both. `syntagm table` and `syntagm figure` find it by its name.
`views.options` explains how options are declared.
"""

from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Literal

from syntagm.errors import UsageError

Kind = Literal["table", "figure"]
MAKERS: dict[Kind, Literal["make_table", "draw_figure"]] = {"table": "make_table", "figure": "draw_figure"}


def offering(kind: Kind) -> list[str]:
    """List the views that offer a table, or those that offer a figure."""
    views = sorted(module.name for module in iter_modules(__path__))
    return [name for name in views if hasattr(import_module(f"{__name__}.{name}"), MAKERS[kind])]


def find(kind: Kind, name: str) -> Callable[..., Any]:
    """Find the function that makes the table or the figure of a view.

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
    """Describe a view in one line, taken from its docstring.

    >>> summary("significance")[:33]
    'which suites show a significant d'
    """
    text = import_module(f"{__name__}.{name}").__doc__ or ""
    line = " ".join(text.split("\n\n")[0].split()).rstrip(".")
    return line.partition(": ")[2] or line
