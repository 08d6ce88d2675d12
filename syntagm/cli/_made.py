"""Tables and figures of a paper: each written as soon as it is made, tables printed."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli._files import spare_set

if TYPE_CHECKING:
    from syntagm.papers.paper import Made

# Longer tables are written, and only their names printed.
LONGEST = 70


def write(made: "Made", place: Path, force: bool = False) -> None:
    """Write tables as CSV, Markdown and LaTeX, figures in all formats with their numbers as CSV; say what is where.

    Arguments:
        made: by name, or pairs of name and what it is, which may come one by one.
        force: replace files that are not ours.

    Raises:
        UsageError: a file that is not ours stands in the way.
        RunError: the folder can't be written.
    """
    from syntagm.drawing import save_chart as figures
    from syntagm.drawing import save_table as tables
    from syntagm.drawing.chart import Figure

    place.mkdir(parents=True, exist_ok=True)
    for name, one in made.items() if isinstance(made, Mapping) else made:
        stem = place / name
        if isinstance(one, Figure):
            spare_set(stem, figures.FORMATS, one.table.columns, force)
            figures.save(one, stem)
            print(f"figure: {stem}.svg\n", flush=True)
            continue
        spare_set(stem, ("md", "tex"), one.columns, force)
        tables.save(one, stem)
        whole = len(one.rows) <= LONGEST
        print(one.markdown() if whole else f"{one.title}: {stem}.csv, {len(one.rows)} rows\n", flush=True)
