"""Views of analyses of reading times: each shows numbers of their records as a table and a figure.

They offer `make_table(analyses, **options)` and `draw_figure(analyses, **options)`, as the views of runs do (`syntagm.views`),
and `syntagm table` and `syntagm figure` find them by their names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from syntagm.core import OptionValue, spelled
from syntagm.views import by_name

if TYPE_CHECKING:
    from syntagm.reading_times.analyses import Analysis
    from syntagm.views import Figure, Table

ROOM = "reading_times.views"
# Paths of tables that `syntagm reading` wrote, or opened analyses.
Analyses: TypeAlias = "Sequence[str | Path | Analysis] | str | Path | Analysis"


def table(name: str, analyses: Analyses, **options: OptionValue) -> "Table":
    """Make a table of analyses of reading times: `gain`, `lag`, `shape` or `ms`."""
    made: Table = _make("table", name, analyses, options)
    return made


def figure(name: str, analyses: Analyses, **options: OptionValue) -> "Figure":
    """Draw a figure of analyses of reading times; the arguments and errors are the same as for `table`."""
    made: Figure = _make("figure", name, analyses, options)
    return made


def _make(kind: by_name.Kind, name: str, analyses: Analyses, options: dict[str, OptionValue]) -> Any:
    from syntagm.reading_times.analyses import Analysis, open_analyses
    from syntagm.views import call

    given = [analyses] if isinstance(analyses, str | Path | Analysis) else list(analyses)
    paths = [one for one in given if not isinstance(one, Analysis)]
    opened = iter(open_analyses(paths))
    found = [one if isinstance(one, Analysis) else next(opened) for one in given]
    texts = {key: spelled(value) for key, value in options.items()}
    return call(by_name.find(kind, name, ROOM), found, texts, f"{kind} {name}")
