"""The table of agreement: one row for each suite and group of people, and for all suites together."""

from collections.abc import Sequence
from typing import Annotated

from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import UsageError
from syntagm.runs.store import Run
from syntagm.stats import agreement
from syntagm.views.people import numbers

COLUMNS = (
    "suite", "model", "individual", "low", "high", "majority", "majority_low", "majority_high", "won", "items", "ties",
    "undefined", "accepted", "alpha", "people", "answers", "excluded",
)  # fmt: skip
Accepted = Annotated[int, "how many items the majority must judge as predicted, as BLiMP asks for 4 of 5; 0: not asked"]


def make_table(runs: Sequence[Run], accepted: Accepted = 0) -> Table:
    """Make one row for each suite and run of people.

    Raises:
        UsageError: there is no run of people, or the number is negative.
    """
    if accepted < 0:
        raise UsageError("accepted=", str(accepted), "at least 0")
    found = list(numbers.agreements(runs))
    rows: list[tuple[Cell, ...]] = []
    for row in found:
        numbers_of = row.individual
        mean = row.suite.startswith("mean of ")
        cells: tuple[Cell, ...] = (None,) * 3
        if numbers_of is not None:
            cells = tuple(map(or_none, (numbers_of.value, numbers_of.low, numbers_of.high)))
        majority = tuple(map(or_none, (row.majority.value, row.majority.low, row.majority.high)))
        verdict = None if not accepted or mean else "yes" if row.won >= accepted else "no"
        rows.append((
            row.suite, row.model, *cells, *majority, row.won, row.majority.n, row.majority.ties, row.majority.undefined,
            verdict, or_none(row.alpha), row.people, row.answers, row.excluded,
        ))  # fmt: skip
    notes = [
        "individual: of pairs, the mean over items of the share of answers as predicted; low, high: its 95% interval for other "
        "people and other items of these suites (crossed clusters, Wilson's form).",
        "majority: the share of items that the people together judge as the first prediction says; a tie doesn't hold. "
        "majority_low, majority_high: its 95% interval for other items, and these people.",
        "alpha: Krippendorff's alpha, of choices for names, of ratings for intervals. It is low where nearly all answers are "
        "the same, however much people agree.",
        "excluded: people who were excluded by the rules of the plan; all other columns are without them.",
    ]
    least = min((min(row.people, row.majority.n) for row in found), default=agreement.FEW)
    if least < agreement.FEW:
        notes.append(f"Intervals from fewer than {agreement.FEW} people or items rest on few.")
    shown = [place for place, name in enumerate(COLUMNS) if accepted or name != "accepted"]
    columns = tuple(COLUMNS[place] for place in shown)
    kept = tuple(tuple(row[place] for place in shown) for row in rows)
    return Table("Agreement of people, by suite", columns, kept, notes=tuple(notes))
