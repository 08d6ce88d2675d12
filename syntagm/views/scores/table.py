"""The table of scores: one row for each suite and model, or one column for each model."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from syntagm.core import UsageError, counted
from syntagm.evaluation import Estimate
from syntagm.runs import Run, named, not_asked, ties_of, titles
from syntagm.stats import in_words
from syntagm.views import shared_words
from syntagm.views.drawing.table import Cell, Table, cells
from syntagm.views.drawing.text import or_none, remarks
from syntagm.views.estimates import accuracies, chance_of, chance_of_suite, scores
from syntagm.views.options import Named, measures

COLUMNS = ("suite", "measure", "model", "score", "low", "high", "n", "ties", "undefined", "chance")
MEANING = {
    "first": "Accuracy is that of the first prediction of each suite.",
    "all": "An item counts as correct if all predictions of its suite hold.",
    "each": "Each prediction has a row of its own.",
}
Measure = Annotated[
    str,
    Named(
        "name of a prediction, `first`, `all`, or `each` for all predictions one by one",
        measures,
        ("first", "all", "each"),
    ),
]
Wide = Annotated[bool, "one column for each model"]


def make_table(runs: Sequence[Run], measure: Measure = "first", wide: Wide = False) -> Table:
    """Make one row for each suite and model and one for the mean over suites; if `wide`, one column for each model.

    Raises:
        UsageError: no suite has the measure.
    """
    found = list(_rows(runs, measure))
    rows = [row for row, _ in found]
    if not rows:
        raise UsageError("measure=", f"no suite with {measure!r}", "the name of a prediction, first, all or each")
    meaning = MEANING.get(measure, f"Only suites with the prediction {measure} are shown.")
    limits = remarks((f"{row[0]} ({row[2]})", estimate.remarks) for row, estimate in found)
    notes = (
        " ".join(in_words.intervals(estimate.method for _, estimate in found)),
        *limits,
        *shared_words.of_runs(runs, "" if measure == "each" else measure),
        count_ties(runs, "" if measure == "each" else measure),
        meaning,
        *not_asked(runs),
    )
    if wide:
        return Table("Score by suite", *spread(rows, 2, ("suite", "measure")), notes=notes)
    return Table("Score by suite", COLUMNS, tuple(rows), notes=notes)


def count_ties(runs: Sequence[Run], measure: str) -> str:
    """Say how ties and undefined items count, and what chance is."""
    return (
        f"Ties count as {ties_of(runs, measure)}; n does not include undefined items. chance: accuracy if all values were "
        "independent random draws, computed from the formulas."
    )


def _rows(runs: Sequence[Run], measure: str) -> Iterator[tuple[tuple[Cell, ...], Estimate]]:
    names = titles(runs)
    for model, run in named(runs):
        for estimate in accuracies(run, "" if measure == "each" else measure):
            record = run.suite(estimate.group.suite)
            chance = chance_of_suite(record, estimate.group.measure).value
            suite = names[record.name, record.hash]
            yield (suite, _prediction(run, estimate), model, *cells(estimate), or_none(chance)), estimate
        if measure != "each" and len(run.suites) > 1:
            suites = counted(sum(bool(suite.predictions_for(measure)) for suite in run.suites), "suite")
            for estimate in scores(run, measure):
                chance = chance_of(run, estimate).value
                yield (f"mean of {suites}", measure, model, *cells(estimate), or_none(chance)), estimate


def _prediction(run: Run, estimate: Estimate) -> str:
    """Return the name of the prediction: for `first` that of the suite's first prediction, otherwise the measure."""
    measure, suite = estimate.group.measure, run.suite(estimate.group.suite)
    return next(iter(suite.predictions), measure) if measure == "first" else measure


def spread(
    rows: Sequence[tuple[Cell, ...]], keys: int, names: Sequence[str], suites: Sequence[int] = ()
) -> tuple[tuple[str, ...], tuple[tuple[Cell, ...], ...]]:
    """Convert rows of (keys, model, estimate, chance) to rows with one column for each model.

    Each cell has the score with its interval and n, and the chance level and the number of suites if models differ in them.

    Arguments:
        keys: the number of key cells at the start of a row.
        names: the names of the key columns.
        suites: for each row, the number of suites.

    >>> spread([("s", "m", 0.5, 0.25, 0.75, 8, 1, 0, 0.5)], 1, ["suite"])
    (('suite', 'chance', 'm'), (('s', 0.5, '0.500 [0.250, 0.750] n=8, 1 tie'),))
    """
    models = list(dict.fromkeys(str(row[keys]) for row in rows))
    counts = suites or [0] * len(rows)
    by_key: dict[tuple[Cell, ...], dict[str, tuple[tuple[Cell, ...], int]]] = {}
    for row, count in zip(rows, counts, strict=True):
        by_key.setdefault(row[:keys], {})[str(row[keys])] = row[keys + 1 :], count
    wide = []
    for key, of_models in by_key.items():
        chances, numbers = {row[-1] for row, _ in of_models.values()}, {count for _, count in of_models.values()}
        texts = {
            model: _describe(*row[:-1])
            + (f", {counted(count, 'suite')}" if len(numbers) > 1 else "")
            + (f", chance {row[-1]:.3f}" if len(chances) > 1 and row[-1] is not None else "")
            for model, (row, count) in of_models.items()
        }
        level = chances.pop() if len(chances) == 1 else None
        wide.append((*key, level, *(texts.get(model, "not run") for model in models)))
    return (*names, "chance", *models), tuple(wide)


def _describe(score: Cell, low: Cell, high: Cell, n: Cell, ties: Cell, undefined: Cell) -> str:
    value = "undefined" if score is None else f"{score:.3f}"
    value += f" [{low:.3f}, {high:.3f}]" if low is not None else ""
    tied = f", {counted(ties, 'tie')}" if isinstance(ties, int) and ties else ""
    return f"{value} n={n}{tied}" + (f", {undefined} undefined" if undefined else "")
