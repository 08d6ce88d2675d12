"""Saving of tables and figures in all their formats, without replacing files that Syntagm did not write."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from syntagm.cli._files import spare_set
from syntagm.core import UsageError, atomic

if TYPE_CHECKING:
    from syntagm.papers import Outputs
    from syntagm.views import Figure, Table

# Of tables with more rows, only the file name is printed.
MAX_PRINTED_ROWS = 70


def save(
    view: "Table | Figure",
    stem: Path,
    formats: Sequence[str] = (),
    force: bool = False,
    kin: Sequence[Sequence[str]] = (),
) -> list[Path]:
    """Save a table or a figure as STEM.csv, STEM.png and so on, and return the paths written."""
    from syntagm.views import endings

    if format := view.format_of(stem):
        bare = stem.name.removesuffix(f".{view.FORMATS[format]}")
        cure = f"Each format adds its extension: -o {bare} --format {format}."
        raise UsageError(f"-o {stem}", "a name with a file extension", "a name without one", cure)
    chosen = endings(view.FORMATS, formats)
    spare_set(stem, view.to_frame().columns, list(chosen.values()), force, kin, view.marks())
    atomic.make_folder(stem.parent)
    return view.save(stem, list(chosen))


def write(views: "Outputs", folder: Path, force: bool = False) -> None:
    """Save the tables and figures of a paper as they are computed; print short tables, and the paths of the others."""
    from syntagm.views import Figure

    for name, view in views.items() if isinstance(views, Mapping) else views:
        stem = folder / name
        save(view, stem, force=force)
        if isinstance(view, Figure):
            print(f"figure: {stem}.svg\n", flush=True)
            continue
        short = len(view.rows) <= MAX_PRINTED_ROWS
        print(view.markdown() if short else f"{view.title}: {stem}.csv, {len(view.rows)} rows\n", flush=True)
