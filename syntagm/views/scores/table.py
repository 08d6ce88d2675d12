"""The table of scores: a row a suite and model, or a column a model."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from syntagm.drawing.table import Cell, Table, cells
from syntagm.drawing.text import counted, or_none
from syntagm.errors import UsageError
from syntagm.result import Estimate
from syntagm.runs.several import named, not_asked, titles
from syntagm.runs.store import Run
from syntagm.views.scores.numbers import accuracies, chance_of, chance_of_suite, scores

COLUMNS = ("suite", "measure", "model", "score", "low", "high", "n", "ties", "undefined", "chance")
INTERVAL = (
    "95% intervals: percentile bootstrap over the items (of fill runs: contexts) of each suite (10,000 draws, seed 1); "
    "none below two."
)
TIES = (
    "Ties count as failures; undefined items are left out of n. Chance: independent draws, computed from the formulas."
)
MEANING = {
    "first": "The first prediction of each suite.",
    "all": "All predictions of a suite hold of the item.",
    "each": "Each prediction by itself.",
}
Wide = Annotated[bool, "a column a model"]


def make_table(
    runs: Sequence[Run],
    measure: Annotated[str, "a prediction's name, `first`, `all`, or `each` prediction by itself"] = "first",
    wide: Wide = False,
) -> Table:
    """Make a row for each suite and model, and one for the mean over suites; wide: a row a suite, a column a model.

    Raises:
        UsageError: no suite has the measure.
    """
    rows = list(_rows(runs, measure))
    if not rows:
        raise UsageError("measure=", f"no suite with {measure!r}", "the name of a prediction, first, all or each")
    meaning = MEANING.get(measure, f"Suites with a prediction {measure}.")
    notes = (INTERVAL, TIES, meaning, *not_asked(runs))
    if wide:
        return Table("Score by suite", *spread(rows, 2, ("suite", "measure")), notes=notes)
    return Table("Score by suite", COLUMNS, tuple(rows), notes=notes)


def _rows(runs: Sequence[Run], measure: str) -> Iterator[tuple[Cell, ...]]:
    called = titles(runs)
    for model, run in named(runs):
        for one in accuracies(run, "" if measure == "each" else measure):
            record = run.suite(one.group.suite)
            chance = chance_of_suite(record, one.group.measure).value
            yield (called[record.name, record.hash], _prediction(run, one), model, *cells(one), or_none(chance))
        if measure != "each" and len(run.suites) > 1:
            suites = counted(sum(bool(suite.predictions_for(measure)) for suite in run.suites), "suite")
            for one in scores(run, measure):
                chance = chance_of(run, one).value
                yield (f"mean of {suites}", measure, model, *cells(one), or_none(chance))


def _prediction(run: Run, one: Estimate) -> str:
    """The prediction that `first` is in this suite, else the measure."""
    measure, suite = one.group.measure, run.suite(one.group.suite)
    return next(iter(suite.predictions), measure) if measure == "first" else measure


def spread(
    rows: Sequence[tuple[Cell, ...]], keys: int, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Turn rows of (keys, model, estimate, chance) into rows with a column a model, each cell with interval and n.

    >>> spread([("s", "m", 0.5, 0.25, 0.75, 8, 1, 0, 0.5)], 1, ["suite"])
    (('suite', 'chance', 'm'), (('s', 0.5, '0.500 [0.250, 0.750] n=8, 1 tie'),))
    """
    models = list(dict.fromkeys(str(row[keys]) for row in rows))
    found: dict[tuple[Cell, ...], dict[str, str]] = {}
    chances: dict[tuple[Cell, ...], Cell] = {}
    for row in rows:
        found.setdefault(row[:keys], {})[str(row[keys])] = _said(*row[keys + 1 : -1])
        chances[row[:keys]] = row[-1]
    made = [(*key, chances[key], *(of.get(model, "not run") for model in models)) for key, of in found.items()]
    return (*names, "chance", *models), tuple(made)


def _said(score: Cell, low: Cell, high: Cell, n: Cell, ties: Cell, undefined: Cell) -> str:
    value = "undefined" if score is None else f"{score:.3f}"
    value += f" [{low:.3f}, {high:.3f}]" if low is not None else ""
    tied = f", {counted(ties, 'tie')}" if isinstance(ties, int) and ties else ""
    return f"{value} n={n}{tied}" + (f", {undefined} undefined" if undefined else "")
