"""The figures of a report as files."""

from collections.abc import Callable, Sequence
from pathlib import Path

from syntagm.drawing.chart import FORMATS
from syntagm.drawing.save import endings
from syntagm.io import atomic
from syntagm.report.page import chapter_of
from syntagm.runs.store import Run


def save(
    runs: Sequence[Run],
    folder: Path,
    formats: Sequence[str] = (),
    spare: Callable[[Path, Sequence[str]], None] = lambda stem, columns: None,
) -> list[Path]:
    """Write every figure of some runs into `folder`, made if it does not exist, each with its numbers as CSV.

    Arguments:
        formats: all unless some are chosen.
        spare: asked before a figure is written: the stem of its files, the columns of its CSV; raises if it may not be.

    Raises:
        UsageError: a format that can't be written, or runs of several tasks.
        RunError: a run is damaged, or the folder can't be written.
    """
    endings(FORMATS, formats)  # refused before anything is drawn
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error
    drawn = [(folder / name, figure) for name, figure in chapter_of(runs).figures()]
    for stem, figure in drawn:
        spare(stem, figure.table.columns)
    return [path for stem, figure in drawn for path in figure.save(stem, formats or list(FORMATS))]
