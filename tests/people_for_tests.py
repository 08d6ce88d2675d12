"""Runs of people who answered small experiments, for the tests of pages."""

from collections.abc import Mapping
from pathlib import Path

from experiment_for_tests import crossed, pairs, planned

from syntagm.experiment import Answer, Audit, Plan, people
from syntagm.runs import Run
from syntagm.suites import Suite

SUITES: Mapping[str, Suite] = {
    "forced-choice": pairs(items=4),
    "acceptability": crossed(4),
    "self-paced": pairs(items=4),
}


def answer(made: Plan, person: str, list_number: int, trial: int) -> Answer:
    """What a person says: prefer the good sentence, rate by condition, and read the verb slowly in the bad one."""
    shown = made.trials[trial]
    if made.design.name == "forced-choice":
        return Answer(person, list_number, shown.id, "good" if trial else "bad", ms=1000.0)
    if made.design.name == "acceptability":
        ratings = {"sg_sg": 6, "sg_pl": 2, "pl_pl": 5, "pl_sg": 3}
        return Answer(person, list_number, shown.id, rating=float(ratings[shown.condition] + list_number % 2))
    slow = 360.5 if shown.condition == "bad" else 300.25
    regions = tuple((name, slow + list_number if name == "verb" else 250.0, False) for name in shown.regions)
    return Answer(person, list_number, shown.id, regions=regions)


def of_people(design: str, person: str = "p", folder: Path | None = None) -> Run:
    made = planned([SUITES[design]], design, 4)
    given = [
        answer(made, f"{person} {number}", number, trial)
        for number, shown in enumerate(made.lists)
        for trial, _ in shown
    ]
    return people.run_of(made, "0" * 16, given, Audit(), "study", folder)[0]
