"""The files that this package writes: experiments with their answers, and the pages that run without us."""

from pathlib import Path

from syntagm.errors import InputError, RunError, SyntagmError
from syntagm.experiment import database, plan, receipts, texts
from syntagm.io.integrity import File, Folder


def faults(folder: Path) -> dict[Path, SyntagmError]:
    """Return an error for the plan, the settings or the answers of an experiment if they are damaged."""
    found: dict[Path, SyntagmError] = {}
    try:
        made = plan.read(folder)
    except SyntagmError as error:
        return {folder / plan.NAME: error}
    try:
        texts.read(folder, made.design)
    except InputError as error:
        found[Path(error.place.partition(",")[0])] = error
    data = database.Database(folder, plan.digest(folder), lambda line: None)
    try:
        with data.reading():
            pass
    except RunError as error:
        found[Path(error.place)] = error
    cure = "`syntagm serve --experiment` and `experiment close` put back what either file has."
    for path, fault in data.faults.items():
        found[path] = RunError(str(path), fault, "the answers as they were stored", cure)
    return found


def renew(folder: Path) -> list[str]:
    """Renew the seal of a plan after an intended change.

    Raises:
        RunError: people have answered already, or the plan can't be read.
    """
    renewed = plan.PLAN.renewed(folder / plan.NAME)
    if renewed is None:
        return []
    if database.begun(folder):
        raise RunError(str(folder), "answers to the plan as it was", "an experiment that nobody has answered")
    plan.of_content(renewed, str(folder / plan.NAME))
    plan.PLAN.write(folder / plan.NAME, renewed)
    return [plan.NAME]


EXPERIMENT = Folder(
    "human experiment",
    (plan.NAME,),
    (
        File("the plan of an experiment", plan.NAME),
        File("the settings of a study", texts.SETTINGS, checked=False),
        File("a text that people read", f"{texts.FOLDER}/*.md", checked=False),
        File("the answers of people", database.NAME, checked=False),
        File("the log of answers.sqlite", f"{database.NAME}-wal", checked=False),
        File("the index of that log", f"{database.NAME}-shm", checked=False),
        File("a damaged file that was set aside", database.DAMAGED, checked=False),
        File("the receipts of people's answers", receipts.NAME),
        File("the key of the ids of people", database.KEY, checked=False),
    ),
    faults,
    renew,
)

FOLDERS = (EXPERIMENT,)
