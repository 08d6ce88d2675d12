"""Scores by circuit, phenomenon and field: the mean accuracy of the suites of each, with its interval, n and chance."""

from collections.abc import Iterator, Sequence

from syntagm.drawing.table import Cell, Table
from syntagm.errors import UsageError
from syntagm.runs.several import named, not_asked, yes
from syntagm.runs.store import Run
from syntagm.views.scores import compute as estimates
from syntagm.views.scores.table import TIES, numbers, spread

COLUMNS = ("by", "group", "model", "suites", "score", "low", "high", "n", "ties", "undefined", "chance")
INTERVAL = (
    "Unweighted means over suites; 95% intervals, percentile bootstrap over items within suites (10,000 draws, seed 1)."
)


def make_table(runs: Sequence[Run], by: str = "", measure: str = "first", wide: str = "no") -> Table:
    """A row a group and model; `wide=yes`: a row a group, a column a model.

    Arguments:
        by: a tag of the suites (`circuit`, `phenomenon`, ...); those of `views.scores.compute.TAGS` unless given.
        measure: a prediction's name, `first` or `all`.

    Raises:
        UsageError: no suite has the tag, or none of the tags.
    """
    asked = (by,) if by else estimates.TAGS
    rows = [row for tag in asked for row in _rows(runs, tag, measure)]
    if not rows:
        known = dict.fromkeys(key for run in runs for suite in run.suites for key in suite.tags)
        found = f"no suite with the tag {by!r}" if by else "no suite with a tag " + ", ".join(estimates.TAGS)
        raise UsageError("by=", found, "one of " + ", ".join(known) if known else "suites with tags")
    notes = (INTERVAL, TIES, *not_asked(runs))
    if yes("wide", wide):
        short = [(*row[:3], *row[4:]) for row in rows]
        return Table("Score by group of suites", *spread(short, 2, ("by", "group")), notes=notes)
    return Table("Score by group of suites", COLUMNS, tuple(rows), notes=notes)


def _rows(runs: Sequence[Run], tag: str, measure: str) -> Iterator[tuple[Cell, ...]]:
    for model, run in named(runs):
        for one in estimates.scores(run, measure, tag):
            label = one.group[tag]
            count = sum(suite.tags.get(tag) == label and bool(suite.taken(measure)) for suite in run.suites)
            yield (tag, label, model, count, *numbers(one, estimates.chance_of(run, one).value))
