"""Export as CSV with one row per score: model,of,name,measure,value, then interval, counts, chance, method and signature.

Scores are accuracies of suites (`of` is "suite"), means over all suites (`of` is "all suites"), and means over the suites
with a value of a tag (`of` is the tag, `name` its value). `measure` is a prediction, or a rule of `stats.score`. Means have
a signature only under another convention than bits. For fill runs, the scores of suites are the estimates of the run,
including `covered` and `invalid` (see `views.gaps`).
"""

from collections.abc import Iterator

from syntagm.evaluation import DEFAULT, Estimate
from syntagm.runs import Run, convention_of, signature_over
from syntagm.views import estimates, gaps
from syntagm.views.export import Csv, Row

SCORE_COLUMNS = (
    *("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined"),
    *("chance", "chance_method", "method", "signature"),
)


def _rows(run: Run) -> Iterator[Row]:
    if gaps.over_gaps(run):
        # Estimates of suites are over contexts; scores over suites are computed as for any run.
        over_suites = (estimate for estimate in estimates.estimates(run) if not estimate.group.suite)
        yield from (score_row(run, estimate) for estimate in (*gaps.estimates(run), *over_suites))
        return
    several = {suite.name for suite in run.suites if len(suite.predictions) > 1 and run.task.conjoins}
    together = (
        [estimate for estimate in estimates.accuracies(run, "all") if estimate.group.suite in several]
        if several
        else []
    )
    overall = estimates.scores(run, "all") if several else []
    for estimate in (*estimates.estimates(run), *together, *overall):
        yield score_row(run, estimate)


def score_row(run: Run, estimate: Estimate) -> tuple[object, ...]:
    expected = estimates.chance_of(run, estimate)
    numbers = (*estimate.numbers, expected.value, expected.method)
    return (estimate.group.model, *_about(estimate), *numbers, estimate.method, _signature(run, estimate))


def _about(estimate: Estimate) -> tuple[str, str, str]:
    """Return the kind and the name of the group that an estimate is about, and the measure or rule."""
    group = estimate.group
    if group.suite:
        return "suite", group.suite, group.measure
    return (*next(iter(group.labels), ("all suites", "")), group.rule)


def _signature(run: Run, estimate: Estimate) -> str:
    group = estimate.group
    if group.suite:
        return str(run.signature(group.suite, group.measure))
    suites = [
        suite.name
        for suite in run.suites
        if suite.predictions_for(group.rule) and all(suite.group(tag) == value for tag, value in group.labels)
    ]
    return str(signature_over(run, suites, group.rule)) if suites and convention_of(run) != DEFAULT else ""


EXPORT = Csv(SCORE_COLUMNS, _rows, judged=True)
