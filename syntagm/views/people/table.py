"""The table of agreement: one row for each suite and group of people, and for all suites together."""

from collections.abc import Sequence
from typing import Annotated, Literal

from syntagm.core import UsageError
from syntagm.evaluation import Estimate
from syntagm.runs import Run, titles
from syntagm.stats import judgements
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none
from syntagm.views.people import numbers

COLUMNS = (
    "suite", "model", "individual", "low", "high", "majority", "majority_low", "majority_high", "won", "items", "ties",
    "undefined", "accepted", "alpha", "alpha_low", "alpha_high", "people", "answers", "excluded",
)  # fmt: skip
Accepted = Annotated[int, "how many items the majority must judge as predicted, as BLiMP asks for 4 of 5; 0: not asked"]


Intervals = Annotated[
    Literal["clusters", "logistic"],
    "of single answers: crossed clusters of each suite alone, or one crossed logistic model of all suites",
]
_METHODS = {
    "clusters": "individual: of pairs, the mean over items of the share of answers as predicted; low, high: its 95% interval for "
    "other people and other items of these suites (crossed clusters, Wilson's form).",
    "logistic": "individual: of pairs, the share of answers as predicted in the population of people and items, by a "
    "logistic model of all suites with people, suites and items random; low, high: its 95% interval for other people and "
    "other items (profile likelihood of the suite, with the standard deviations of the model). Of the mean of suites: crossed "
    "clusters.",
}


def make_table(runs: Sequence[Run], accepted: Accepted = 0, intervals: Intervals = "clusters") -> Table:
    """Make one row for each suite and run of people.

    Raises:
        UsageError: there is no run of people, the number is negative, or `intervals` concerns other designs than pairs.
        InputError: the logistic model can't be fitted.
    """
    if accepted < 0:
        raise UsageError("accepted=", str(accepted), "at least 0")
    found = list(numbers.agreements(runs))
    modelled: dict[tuple[str, str], Estimate] = {}
    if intervals == "logistic":
        shown_names = titles(runs)
        for name, run in numbers.of_people(runs, "people"):
            if numbers.asks(run) != "pairs":
                raise UsageError("intervals=", "logistic for another design", "choices between two sentences")
            by_suite = numbers.logistic(run, name)
            modelled |= {(name, shown_names[record.name, record.hash]): by_suite[record.name] for record in run.suites}
    rows: list[tuple[Cell, ...]] = []
    for row in found:
        numbers_of = modelled.get((row.model, row.suite), row.individual)
        mean = row.suite.startswith("mean of ")
        cells: tuple[Cell, ...] = (None,) * 3
        if numbers_of is not None:
            cells = tuple(map(or_none, (numbers_of.value, numbers_of.low, numbers_of.high)))
        majority = tuple(map(or_none, (row.majority.value, row.majority.low, row.majority.high)))
        verdict = None if not accepted or mean else "yes" if row.won >= accepted else "no"
        rows.append((
            row.suite, row.model, *cells, *majority, row.won, row.majority.n, row.majority.ties, row.majority.undefined,
            verdict, *map(or_none, (row.alpha, row.alpha_interval.low, row.alpha_interval.high)), row.people, row.answers,
            row.excluded,
        ))  # fmt: skip
    notes = [
        _METHODS[intervals],
        "majority: the share of items that the people together judge as the first prediction says; a tie doesn't hold. "
        "majority_low, majority_high: its 95% interval for other items, and these people.",
        "alpha: Krippendorff's alpha, of choices for names, of ratings for intervals. It is low where nearly all answers are "
        "the same, however much people agree. alpha_low, alpha_high: its 95% interval for other people and other "
        "items (jackknife).",
        "excluded: people who were excluded by the rules of the plan; all other columns are without them.",
    ]
    least = min((min(row.people, row.majority.n) for row in found), default=judgements.FEW)
    if least < judgements.FEW:
        notes.append(f"Intervals from fewer than {judgements.FEW} people or items rest on few.")
    shown = [place for place, name in enumerate(COLUMNS) if accepted or name != "accepted"]
    columns = tuple(COLUMNS[place] for place in shown)
    kept = tuple(tuple(row[place] for place in shown) for row in rows)
    return Table("Agreement of people, by suite", columns, kept, notes=tuple(notes))
