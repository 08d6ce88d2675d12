"""The estimates of a run: the accuracy of each suite and measure, and the scores over suites, and what chance would give."""

from collections.abc import Sequence
from functools import lru_cache

import polars as pl

from syntagm.errors import FormulaError, UsageError
from syntagm.formula import parse
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.stats.chance import chance
from syntagm.stats.chance.chance import Chance
from syntagm.tasks.task import SuiteRecord

TAGS = ("circuit", "phenomenon", "field")


def estimates(run: Run) -> list[Estimate]:
    """Everything below: accuracies, the score over all suites, and the score of each circuit, phenomenon and field.

    Their groups tell them apart: an accuracy has a suite and a measure, a score over suites a rule, and the score of the
    suites with one value of a tag its label besides.
    """
    results = run.results()
    found = [*score.accuracy(results, run.tolerance), *_scores(run, results, "first", "")]
    for tag in TAGS:
        found += _scores(run, results, "first", tag)
    return found


def accuracies(run: Run, rule: str = "") -> list[Estimate]:
    """The accuracy of each suite and measure; with a rule, that of each suite under the rule.

    Arguments:
        rule: "first" prediction, "all" predictions, or the name of a measure; see `stats.score`.
    """
    refuse_conjunction(run, rule)
    return score.accuracy(verdicts(run, rule) if rule else run.results(), run.tolerance)


def verdicts(run: Run, rule: str, suite: str | None = None) -> pl.DataFrame:
    """The results by which a rule judges items: of one suite, or of all; see `stats.score.verdicts`."""
    taken = predictions(run, rule)
    chosen = taken if suite is None else {suite: taken[suite]}
    return score.verdicts(run.results(suite), chosen, rule)


def scores(run: Run, rule: str = "first", tag: str = "") -> list[Estimate]:
    """The mean of the accuracies of all suites; with a tag, of the suites of each of its values.

    Arguments:
        rule: as in `accuracies`.
        tag: any tag of the suites: "circuit", "phenomenon", "field", "linguistics_term", ...
    """
    refuse_conjunction(run, rule)
    return _scores(run, run.results(), rule, tag)


def conjoins(run: Run) -> bool:
    """Are the measures of a run predictions of the same items, so that all of an item's can hold together?"""
    return run.task.conjoins


def refuse_conjunction(run: Run, rule: str) -> None:
    """Raises UsageError if the rule is "all" and the measures of the run are not predictions of the same items."""
    if rule == "all" and not conjoins(run):
        raise UsageError(
            "measure", "all, of a fill run, whose measures are no predictions", "one of its measures, or first"
        )


def chance_of(run: Run, estimate: Estimate) -> Chance:
    """What chance gives in place of an estimate of a run; over suites, the mean of what it gives in each of them.

    Arguments:
        estimate: as `estimates`, `accuracies` or `scores` make it.
    """
    group = estimate.group
    if group.suite:
        return chance_of_suite(run.suite(group.suite), group.measure)
    return chance.mean(
        [
            chance_of_suite(suite, group.rule)
            for suite in run.suites
            if suite.predictions_for(group.rule) and all(suite.tags.get(tag) == value for tag, value in group.labels)
        ]
    )


def chance_of_suite(suite: SuiteRecord, rule: str) -> Chance:
    """What chance gives in a suite, from its formulas; nan where it isn't known, with the reason as method.

    Arguments:
        rule: "first", "all", or the name of a prediction.
    """
    if not (taken := suite.predictions_for(rule)):
        return chance.unknown(f"no chance level: {suite.name} has no prediction {rule}")
    chosen = [suite.predictions[name] for name in taken]
    if not all(chosen):
        return chance.unknown("no chance level: a measure without a formula")
    return _chance(tuple(chosen))


@lru_cache(maxsize=1024)
def _chance(formulas: tuple[str, ...]) -> Chance:
    try:
        return chance.known(*map(parse, formulas))
    except FormulaError as error:  # a record may come from anyone
        return chance.unknown(f"no chance level: {error}")


def predictions(run: Run, rule: str = "") -> dict[str, Sequence[str]]:
    """Suite -> the names of its predictions, in order; with a rule, of those that it takes, see `SuiteRecord.predictions_for`."""
    return {suite.name: suite.predictions_for(rule) for suite in run.suites}


def _scores(run: Run, results: pl.DataFrame, rule: str, tag: str) -> list[Estimate]:
    labels = {suite.name: suite.tags[tag] for suite in run.suites if tag in suite.tags} if tag else None
    return score.score(results, predictions(run, rule), run.tolerance, rule, tag, labels)
