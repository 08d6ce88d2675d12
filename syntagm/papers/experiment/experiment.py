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
    """Carry out an experiment, or resume it, and write the results of all finished models after each model."""
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
    """Check that the record still allows a model, and lock its folder if the model serves for all seeds."""
    # Other processes wait for such a model.
    with ExitStack() as stack:
        if not families.find(cell.family).seeded and state(design, cell) != "done":
            stack.enter_context(waiting(atomic.inside(design.folder, "models", cell.name), progress))
        record.refuse_changed(design, cell)
        yield
