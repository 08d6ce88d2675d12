"""A study filled by simulated people, in a copy of the experiment, so that they never mix with real ones."""

from pathlib import Path

from syntagm.core import RunError, atomic, regular
from syntagm.experiment import database, plan, texts
from syntagm.experiment.simulate import Simulated
from syntagm.experiment.store import Study

# Seconds between two answers on the clock of simulated people.
_PACE = 6.0


class _Clock:
    """A clock that the simulation sets."""

    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


def copy(folder: Path, target: Path) -> None:
    """Copy an experiment without its answers."""
    made = plan.read(folder)
    if database.begun(target):
        raise RunError(str(target), "answers", "a new folder", "Choose another folder.")
    with atomic.used_folder(target):
        atomic.write(target / plan.NAME, regular.content(folder / plan.NAME))
        atomic.make_folder(target / texts.FOLDER)
        texts.read(folder, made.design)
        for path in sorted((folder / texts.FOLDER).glob("*.md")):
            atomic.write(target / texts.FOLDER / path.name, regular.content(path))
        atomic.write(target / texts.SETTINGS, regular.content(folder / texts.SETTINGS))


def fill(folder: Path, people: Simulated) -> Study:
    """Let simulated people answer until every list has as many complete ones as planned."""
    # People come one after the other; those who leave are replaced after the time-out, as on the pages.
    clock = _Clock()
    study = Study(folder, clock)
    study.mark_simulated()
    number = 0
    while (admitted := study.admit(code=f"s{number + 1:04}")) is not None or study.progress().totals[1]:
        if admitted is None:
            # Those who left hold their places until the time-out.
            clock.now += 60 * study.settings.timeout + 1
            continue
        person, simulated = admitted[0], people.person(number)
        number += 1
        shown = study.trials_of(person)
        stays = simulated.stays_until(len(shown))
        for trial, _ in shown[:stays]:
            clock.now += _PACE
            study.answer(person, simulated.answer(people.plan.trials[trial]))
        if stays == len(shown):
            study.finish(person, ["yes" if refused else "" for _, refused in people.plan.questions])
    return study
