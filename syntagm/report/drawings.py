"""The figures of a report, saved as files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from syntagm.core import atomic
from syntagm.report.page import chapters_of
from syntagm.runs import Run
from syntagm.views import Figure, endings


def save(
    runs: Sequence[Run],
    folder: Path,
    formats: Sequence[str] = (),
    spare: Callable[[Path, Sequence[str]], None] = lambda stem, columns: None,
    reading: Sequence[str | Path] = (),
) -> list[Path]:
    """Write every figure of a report about runs to `folder`, each with its numbers as CSV."""
    endings(Figure.FORMATS, formats)  # an unknown format is refused before anything is drawn
    atomic.make_folder(folder)
    drawn = [(folder / name, figure) for each in chapters_of(runs, reading) for name, figure in each.figures()]
    for stem, figure in drawn:
        spare(stem, figure.table.columns)
    return [path for stem, figure in drawn for path in figure.save(stem, formats or list(Figure.FORMATS))]
