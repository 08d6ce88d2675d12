"""Scores by circuit, phenomenon and field: the mean accuracy over the suites of each group, with interval, n and chance."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from syntagm.core import UsageError
from syntagm.evaluation import Estimate
from syntagm.runs import Run, named, not_asked, tags
from syntagm.stats import in_words
from syntagm.views import shared_words
from syntagm.views.drawing.table import Cell, Table, cells
from syntagm.views.drawing.text import or_none, remarks
from syntagm.views.estimates import TAGS, chance_of, grouping_tags, scores
from syntagm.views.options import Measure, Named
from syntagm.views.scores import Wide, count_ties, spread

COLUMNS = ("by", "group", "model", "suites", "score", "low", "high", "n", "ties", "undefined", "chance")

CURE = "Scores by a tag of the items are in the table `factors`."
By = Annotated[str, Named(f"a tag of the suites; default: {', '.join(TAGS)}", tags, cure=CURE)]


def make_table(runs: Sequence[Run], by: By = "", measure: Measure = "first", wide: Wide = False) -> Table:
    """Make one row for each group and model; if `wide`, one row for each group and one column for each model.

    Raises:
        UsageError: no suite has the tag, or none of the tags.
    """
    chosen_tags = (by,) if by else grouping_tags(runs)
    scored = [row for tag in chosen_tags for row in _rows(runs, tag, measure)]
    rows = [row for row, _ in scored]
    if not rows:
        found = f"no score by {by}" if by else "no suite with a tag " + ", ".join(TAGS)
        raise UsageError("by=", found, "one of " + ", ".join(tags(runs)) if tags(runs) else "suites with tags")
    limits = remarks((f"{row[1]} ({row[2]})", estimate.remarks) for row, estimate in scored)
    notes = (
        " ".join(["Unweighted means over suites.", *in_words.intervals(estimate.method for _, estimate in scored)]),
        *limits,
        *(shared_words.of_runs(runs, measure) if any("random: suites" not in row.method for _, row in scored) else ()),
        count_ties(runs, measure),
        *not_asked(runs),
    )
    if wide:
        short = [(*row[:3], *row[4:]) for row in rows]
        suites = [int(str(row[3])) for row in rows]
        return Table("Score by group of suites", *spread(short, 2, ("by", "group"), suites), notes=notes)
    return Table("Score by group of suites", COLUMNS, tuple(rows), notes=notes)


def _rows(runs: Sequence[Run], tag: str, measure: str) -> Iterator[tuple[tuple[Cell, ...], Estimate]]:
    for model, run in named(runs):
        for estimate in scores(run, measure, tag):
            label = estimate.group[tag]
            count = sum(suite.group(tag) == label and bool(suite.predictions_for(measure)) for suite in run.suites)
            yield (tag, label, model, count, *cells(estimate), or_none(chance_of(run, estimate).value)), estimate
