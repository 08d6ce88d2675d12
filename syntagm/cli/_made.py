"""Tables and figures that commands make: written in their formats, never over a file of somebody else's."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli._files import spare_set

if TYPE_CHECKING:
    from syntagm.drawing.chart import Figure
    from syntagm.drawing.table import Table
    from syntagm.papers.paper import Outputs

# Longer tables are written, and only their names printed.
LONGEST = 70


def save(made: "Table | Figure", stem: Path, formats: Sequence[str] = (), force: bool = False) -> list[Path]:
    """Write a table or a figure as `stem` with the endings of its formats; the paths written.

    Arguments:
        formats: all unless some are chosen.
        force: replace files that are not ours.

    Raises:
        UsageError: a format that there is not, or a file that is not ours stands in the way.
        RunError: the folder can't be written.
    """
    from syntagm.drawing.save import endings

    chosen = endings(made.FORMATS, formats)
    spare_set(stem, list(chosen.values()), made.to_frame().columns, force)
    stem.parent.mkdir(parents=True, exist_ok=True)
    return made.save(stem, list(chosen))


def write(made: "Outputs", place: Path, force: bool = False) -> None:
    """Write tables and figures of a paper as soon as each is made; print the tables, and what is where.

    Arguments:
        made: by name, or pairs of name and what it is, which may come one by one.
        force: replace files that are not ours.

    Raises:
        UsageError: a file that is not ours stands in the way.
        RunError: the folder can't be written.
    """
    from syntagm.drawing.chart import Figure

    place.mkdir(parents=True, exist_ok=True)
    for name, one in made.items() if isinstance(made, Mapping) else made:
        stem = place / name
        save(one, stem, force=force)
        if isinstance(one, Figure):
            print(f"figure: {stem}.svg\n", flush=True)
            continue
        whole = len(one.rows) <= LONGEST
        print(one.markdown() if whole else f"{one.title}: {stem}.csv, {len(one.rows)} rows\n", flush=True)
