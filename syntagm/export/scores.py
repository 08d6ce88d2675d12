"""A row a suite and prediction, a tag's value, and all suites: model,of,name,measure,value, then interval, chance and more.

Scores are the accuracies of suites (`of` is suite), and means over all suites or over those with one tag (`of` is the tag,
`name` its value); `measure` is a prediction, or a rule of `stats.score`. Means have no signature of their own. Of a fill run
the scores of suites are its estimates, `covered` and `invalid` among them (see `views.gaps.estimates`).
"""

from collections.abc import Iterator

from syntagm.export._csv import Csv, Row
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.views.gaps import estimates as blank_estimates
from syntagm.views.gaps import kept
from syntagm.views.scores import numbers as estimates

COLUMNS = (
    *("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined"),
    *("chance", "chance_method", "method", "signature"),
)


def _rows(run: Run) -> Iterator[Row]:
    if kept.over_gaps(run):
        # The numbers of a context have estimates of their own, over contexts; scores over suites are made as of any run.
        over_suites = (one for one in estimates.estimates(run) if not one.group.suite)
        yield from (score_row(run, one) for one in (*blank_estimates.estimates(run), *over_suites))
        return
    several = {suite.name for suite in run.suites if len(suite.predictions) > 1 and estimates.conjoins(run)}
    together = [one for one in estimates.accuracies(run, "all") if one.group.suite in several] if several else []
    overall = estimates.scores(run, "all") if several else []
    for one in (*estimates.estimates(run), *together, *overall):
        yield score_row(run, one)


def score_row(run: Run, one: Estimate) -> tuple[object, ...]:
    """The row of an estimate as `syntagm.views.scores.numbers` makes it; columns as in `COLUMNS`."""
    expected = estimates.chance_of(run, one)
    numbers = (one.value, one.low, one.high, one.n, one.ties, one.undefined, expected.value, expected.method)
    return (one.group.model, *_about(one), *numbers, one.method, _signature(run, one))


def _about(one: Estimate) -> tuple[str, str, str]:
    """What kind of thing an estimate is about, which, and by which measure or rule."""
    group = one.group
    if group.suite:
        return "suite", group.suite, group.measure
    return (*next(iter(group.labels), ("all suites", "")), group.rule)


def _signature(run: Run, one: Estimate) -> str:
    return str(run.signature(one.group.suite, one.group.measure)) if one.group.suite else ""


KIND = Csv(COLUMNS, _rows)
