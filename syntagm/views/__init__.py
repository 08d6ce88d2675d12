"""What can be seen of runs: a view has its numbers, its table and its chart in one place.

A view offers `make_table(runs, **options) -> Table`, `draw_figure(runs, **options) -> Figure`, or both; then `syntagm table`
and `syntagm figure` find it by its name. Options arrive as text.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Literal

MAKERS: dict[str, Literal["make_table", "draw_figure"]] = {"table": "make_table", "figure": "draw_figure"}


def offering(kind: str) -> list[str]:
    """List the views that offer a "table", or a "figure"."""
    views = sorted(found.name for found in iter_modules(__path__))
    return [name for name in views if hasattr(import_module(f"{__name__}.{name}"), MAKERS[kind])]
