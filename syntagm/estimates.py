"""The estimates of a run: the accuracy of each suite and measure, and the scores over suites."""

from collections.abc import Sequence

import polars as pl

from syntagm.analysis import score
from syntagm.result import Estimate
from syntagm.run import Run

TAGS = ("circuit", "phenomenon", "field")


def estimates(run: Run) -> list[Estimate]:
    """Everything below: accuracies, the score over all suites, and the score of each circuit, phenomenon and field.

    The keys of `group` tell them apart: {"model", "suite", "measure"} is an accuracy, {"model", "rule"} the score over all
    suites, {"model", "rule", TAG} the score of the suites with that tag.
    """
    results = run.results()
    found = [*score.accuracy(results, run.tolerance), *_scores(run, results, "first", "")]
    for tag in TAGS:
        found += _scores(run, results, "first", tag)
    return found


def accuracies(run: Run, rule: str = "") -> list[Estimate]:
    """The accuracy of each suite and measure; with a rule, that of each suite under the rule.

    Arguments:
        rule: "first" prediction, "all" predictions, or the name of a measure; see `analysis.score`.
    """
    results = run.results()
    chosen = score.verdicts(results, predictions(run), rule) if rule else results
    return score.accuracy(chosen, run.tolerance)


def scores(run: Run, rule: str = "first", tag: str = "") -> list[Estimate]:
    """The mean of the accuracies of all suites; with a tag, of the suites of each of its values.

    Arguments:
        rule: as in `accuracies`.
        tag: any tag of the suites: "circuit", "phenomenon", "field", "linguistics_term", ...
    """
    return _scores(run, run.results(), rule, tag)


def predictions(run: Run) -> dict[str, Sequence[str]]:
    """Suite -> the names of its predictions, in order."""
    return {suite.name: tuple(suite.predictions) for suite in run.suites}


def _scores(run: Run, results: pl.DataFrame, rule: str, tag: str) -> list[Estimate]:
    labels = {suite.name: suite.tags[tag] for suite in run.suites if tag in suite.tags} if tag else None
    return score.score(results, predictions(run), run.tolerance, rule, tag, labels)
