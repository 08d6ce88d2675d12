"""Scores: the accuracy of each model on each suite, with its interval, n, ties and what chance would give."""

from collections.abc import Iterator, Sequence

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.result import Estimate
from syntagm.runs.several import named, not_asked, titles, yes
from syntagm.runs.store import Run
from syntagm.views.scores import compute as estimates

COLUMNS = ("suite", "measure", "model", "score", "low", "high", "n", "ties", "undefined", "chance")
NUMBERS = 7
INTERVAL = (
    "95% intervals: percentile bootstrap over the items (of fill runs: contexts) of each suite (10,000 draws, seed 1); "
    "none below two."
)
TIES = (
    "Ties count as failures; undefined items are left out of n. Chance: independent draws, computed from the formulas."
)


def make_table(runs: Sequence[Run], measure: str = "first", wide: str = "no") -> Table:
    """A row a suite and model, and one for the mean over suites; `wide=yes`: a row a suite, a column a model.

    Arguments:
        measure: a prediction's name, `first`, `all` (whether all predictions hold), or `each` prediction by itself.

    Raises:
        UsageError: no suite has the measure.
    """
    rows = list(_rows(runs, measure))
    if not rows:
        raise UsageError("measure=", f"no suite with {measure!r}", "the name of a prediction, first, all or each")
    notes = (INTERVAL, TIES, _meaning(measure), *not_asked(runs))
    if yes("wide", wide):
        return Table("Score by suite", *spread(rows, 2, ("suite", "measure")), notes=notes)
    return Table("Score by suite", COLUMNS, tuple(rows), notes=notes)


def _meaning(measure: str) -> str:
    said = {
        "first": "The first prediction of each suite.",
        "all": "All predictions of a suite hold of the item.",
        "each": "Each prediction by itself.",
    }
    return said.get(measure, f"Suites with a prediction {measure}.")


def _rows(runs: Sequence[Run], measure: str) -> Iterator[tuple[Cell, ...]]:
    called = titles(runs)
    for model, run in named(runs):
        for one in estimates.accuracies(run, "" if measure == "each" else measure):
            record = run.suite(one.group.suite)
            chance = estimates.chance_of_suite(record, one.group.measure).value
            yield (called[record.name, record.hash], _named(run, one), model, *numbers(one, chance))
        if measure != "each" and len(run.suites) > 1:
            for one in estimates.scores(run, measure):
                chance = estimates.chance_of(run, one).value
                yield (f"mean of {_counted(run, measure)}", measure, model, *numbers(one, chance))


def _named(run: Run, one: Estimate) -> str:
    """The prediction that `first` is in this suite, else the measure."""
    measure, suite = one.group.measure, run.suite(one.group.suite)
    return next(iter(suite.predictions), measure) if measure == "first" else measure


def _counted(run: Run, measure: str) -> str:
    count = sum(bool(suite.taken(measure)) for suite in run.suites)
    return f"{count} suite" + ("" if count == 1 else "s")


def numbers(one: Estimate, chance: float) -> tuple[Cell, ...]:
    """Score, low, high, n, ties, undefined and chance; what is not known is empty."""
    return (
        *(_known(value) for value in (one.value, one.low, one.high)),
        *(one.n, one.ties, one.undefined, _known(chance)),
    )


def spread(
    rows: Sequence[tuple[Cell, ...]], keys: int, names: Sequence[str]
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Rows of (keys, model, numbers) as columns and rows with a column a model, each cell with interval and n.

    >>> spread([("s", "m", 0.5, 0.25, 0.75, 8, 1, 0, 0.5)], 1, ["suite"])
    (('suite', 'chance', 'm'), (('s', 0.5, '0.500 [0.250, 0.750] n=8, 1 tie'),))
    """
    models = list(dict.fromkeys(str(row[keys]) for row in rows))
    cells: dict[tuple[Cell, ...], dict[str, str]] = {}
    chances: dict[tuple[Cell, ...], Cell] = {}
    for row in rows:
        cells.setdefault(row[:keys], {})[str(row[keys])] = _said(*row[keys + 1 : keys + NUMBERS])
        chances[row[:keys]] = row[-1]
    made = [(*key, chances[key], *(found.get(model, "not run") for model in models)) for key, found in cells.items()]
    return (*names, "chance", *models), tuple(made)


def _said(score: Cell, low: Cell, high: Cell, n: Cell, ties: Cell, undefined: Cell) -> str:
    value = "undefined" if score is None else f"{score:.3f}"
    value += f" [{low:.3f}, {high:.3f}]" if low is not None else ""
    tied = f", {ties} tie{'' if ties == 1 else 's'}" if ties else ""
    return f"{value} n={n}{tied}" + (f", {undefined} undefined" if undefined else "")


def _known(value: float) -> float | None:
    return None if value != value else value
