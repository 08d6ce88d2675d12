"""Carry a controlled experiment out: draw the parts, then make one model after the other."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from syntagm.papers.experiment import model, parts, record
from syntagm.papers.experiment.design import Cell, Design
from syntagm.papers.experiment.lock import waiting
from syntagm.papers.experiment.measured import state
from syntagm.progress import Progress
from syntagm.training import families


def carry_out(design: Design, write: Callable[[Path], None], progress: Progress) -> None:
    """Carry an experiment out, or go on with it where it stands.

    Arguments:
        write: write the results of all finished models of a folder; called after each model.

    Raises:
        UsageError: a hyperparameter, a size or a family that can't be taken.
        InputError: a text can't be read.
        RunError: the folder holds another experiment, is in use, or can't be written.
        Interrupted: `progress` said so; the same call goes on.
    """
    record.begin(design, progress)
    words = parts.draw(design)
    for number, cell in enumerate(cells := design.cells(), 1):
        progress.began(f"{number} of {len(cells)}: {cell.name}, {words[cell.size]:,} words")
        with turn(design, cell, progress):
            model.make(design, cell, words[cell.size], progress)
        # Or a process that is at its last model might put back a table without that of another.
        with waiting(design.folder, progress):
            write(design.folder)


@contextmanager
def turn(design: Design, cell: Cell, progress: Progress) -> Iterator[None]:
    """Make a model that the record still allows; one that stands for all seeds is made by one process, and others wait for it.

    Raises:
        RunError: another process has begun with other hyperparameters or parts meanwhile.
    """
    with ExitStack() as stack:
        if not families.find(cell.family).drawn and state(design, cell) != "done":
            stack.enter_context(waiting(design.model(cell), progress))
        record.refuse_changed(design, cell)
        yield
