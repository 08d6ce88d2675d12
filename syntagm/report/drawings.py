"""The figures of a report, saved as files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from syntagm.core import atomic
from syntagm.report.page import chapters_of
from syntagm.runs import Run
from syntagm.views import endings
from syntagm.views.drawing.chart import FORMATS


def save(
    runs: Sequence[Run],
    folder: Path,
    formats: Sequence[str] = (),
    spare: Callable[[Path, Sequence[str]], None] = lambda stem, columns: None,
    reading: Sequence[str | Path] = (),
) -> list[Path]:
    """Write every figure of a report about runs to `folder`, each with its numbers as CSV.

    Arguments:
        folder: the folder, which is created if it does not exist.
        formats: the formats to write; all if empty.
        spare: called before a figure is written, with the stem of its files and the columns of its CSV; it may raise an
            error to protect existing files.
        reading: files that `syntagm reading` wrote, whose figures are among them.

    Raises:
        UsageError: a format does not exist, or the runs are of several tasks.
        RunError: a run is damaged, or the folder can't be written.
    """
    endings(FORMATS, formats)  # an unknown format is refused before anything is drawn
    atomic.make_folder(folder)
    drawn = [(folder / name, figure) for each in chapters_of(runs, reading) for name, figure in each.figures()]
    for stem, figure in drawn:
        spare(stem, figure.table.columns)
    return [path for stem, figure in drawn for path in figure.save(stem, formats or list(FORMATS))]
