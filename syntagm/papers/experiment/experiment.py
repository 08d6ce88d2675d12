"""The execution of a controlled experiment: draw the subsets, then train and evaluate the models one by one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from syntagm.core import Progress, atomic
from syntagm.papers.experiment import model, parts, record
from syntagm.papers.experiment.design import Cell, Design
from syntagm.papers.experiment.lock import waiting
from syntagm.papers.experiment.measured import is_damaged, lost_run, state
from syntagm.training import families
from syntagm.views import Table


def carry_out(
    design: Design,
    results: Callable[[Path], Table],
    progress: Progress | None = None,
    short: Callable[[Table, Path], Table] = lambda table, _: table,
) -> Table:
    """Carry out an experiment, or resume it, and write the results of all finished models after each model.

    Arguments:
        design: the experiment.
        results: a function that makes the table of the results of all finished models of a folder, `results.csv`.
        progress: progress callbacks.
        short: a function that makes the table for people, `results.md`, from it and the folder.

    Returns:
        The table of results.

    Raises:
        UsageError: a hyperparameter, a size or a family is not allowed.
        InputError: a text can't be read.
        RunError: the folder contains another experiment, is in use, or can't be written.
        Interrupted: `progress` requested a stop; making the same call again resumes the experiment.
    """
    progress = progress or Progress()
    record.begin(design, progress)
    words = parts.draw(design, progress)
    for cell in design.cells():
        # The results of all models are written after each model, so a damaged run of a later one is repaired first.
        if is_damaged(design.run(cell)) or lost_run(design.folder, cell):
            model.score(design, cell, progress)
    for number, cell in enumerate(cells := design.cells(), 1):
        progress.began(f"{number} of {len(cells)}: {cell.name}, {words[cell.part]:,} words")
        with locked(design, cell, progress):
            model.make(design, cell, words[cell.part], progress)
        # Without the lock, another process could overwrite the table with one that lacks this model.
        with waiting(design.folder, progress):
            table = results(design.folder)
            atomic.write(design.folder / "results.csv", table.csv().encode())
            atomic.write(design.folder / "results.md", short(table, design.folder).markdown().encode())
    return results(design.folder)


@contextmanager
def locked(design: Design, cell: Cell, progress: Progress) -> Iterator[None]:
    """Check that the record still allows a model, and lock its folder if the model serves for all seeds.

    Other processes wait for such a model.

    Raises:
        RunError: another process has meanwhile started with other hyperparameters or subsets.
    """
    with ExitStack() as stack:
        if not families.find(cell.family).seeded and state(design, cell) != "done":
            stack.enter_context(waiting(atomic.inside(design.folder, "models", cell.name), progress))
        record.refuse_changed(design, cell)
        yield
