"""Two runs side by side: the suites that both ran on, compared; what can't be compared is said."""

from dataclasses import dataclass

import polars as pl

from syntagm.errors import RunError, UsageError
from syntagm.result import Kind
from syntagm.runs.gap_run import FillRun
from syntagm.runs.store import Run
from syntagm.stats import paired as statistics
from syntagm.stats.paired import Comparison
from syntagm.stats.score import verdicts
from syntagm.views.gaps import comparability
from syntagm.views.scores.compute import predictions, refuse_conjunction


@dataclass(frozen=True, slots=True)
class Pairing:
    """What the comparison of two runs found; b is the second.

    Arguments:
        suites: one comparison a suite.
        overall: their unweighted mean.
        discordant: the items that the models judge differently, none of shares; columns as in `stats.paired.PAIR_COLUMNS`.
        left_out: a sentence for each thing that was not compared, and why.
        warnings: a sentence for each reason why the runs can't be compared at all; see `views.gaps.comparability`.
    """

    suites: list[Comparison]
    overall: Comparison
    discordant: pl.DataFrame
    left_out: list[str]
    warnings: list[str]


def compare(first: Run, second: Run, rule: str = "first") -> Pairing:
    """Compare two runs on the suites that both have with the same content.

    Arguments:
        rule: "first" prediction, "all" predictions, or the name of a measure; see `stats.score`.

    Raises:
        RunError: no suite is in both with the same content.
        UsageError: no such suite has the measure.
    """
    pairs, left_out = paired(first, second, rule)
    tolerances = (first.tolerance, second.tolerance)
    judged = statistics.kind_of_pairs(pairs) is Kind.VERDICT
    return Pairing(
        statistics.by_suite(pairs, tolerances, margins=True),
        statistics.over_suites(pairs, tolerances, margins=True),
        statistics.discordant(pairs) if judged else pairs.clear(),
        left_out if judged else [*left_out, untested(rule)],
        warnings(first, second, pairs),
    )


def untested(measure: str) -> str:
    """What is not computed of a measure whose values are shares, and why."""
    return f"{measure}: values are shares between 0 and 1, none holds or fails: no flips, no margins, no McNemar's test"


def warnings(first: Run, second: Run, pairs: pl.DataFrame) -> list[str]:
    """Why two fill runs can't be compared: a sentence for each reason.

    Arguments:
        pairs: what of them is compared, as `paired` gives it.
    """
    if not (isinstance(first, FillRun) and isinstance(second, FillRun)):
        return []
    return comparability.warnings(first, second, statistics.kind_of_pairs(pairs) is not Kind.VERDICT)


def paired(first: Run, second: Run, rule: str = "first") -> tuple[pl.DataFrame, list[str]]:
    """The items of the suites that both runs have with the same content, side by side, and what is left out and why.

    Columns as in `stats.paired.PAIR_COLUMNS`. Arguments and errors as of `compare`.
    """
    refuse_conjunction(first, rule)
    shared, left_out = _shared(first, second)
    here, there = (predictions(run, rule) for run in (first, second))
    # Both by the same predictions, or not at all: a model that sees both sides is not asked about parts of sentences.
    named = {suite: here[suite] for suite in shared if here[suite] and here[suite] == there[suite]}
    lacking = [suite for suite in shared if suite not in named]
    if not named and rule not in ("first", "all"):
        known = dict.fromkeys(name for suite in shared for name in predictions(first)[suite])
        raise UsageError(
            "--measure", f"no suite has a measure {rule!r}", "one of " + ", ".join([*known, "first", "all"])
        )
    for suite in lacking:
        without = [run.model for run, side in ((first, here), (second, there)) if not side[suite]]
        if len(without) == 1:
            left_out.append(f"suite {suite}: measure {rule} was not computed for {without[0]}")
        elif rule not in ("first", "all"):
            left_out.append(f"suite {suite}: it has no measure {rule}")
    pairs = statistics.pair(*(verdicts(run.results(), named, rule) for run in (first, second)))
    if pairs.is_empty():
        raise RunError(str(first.folder), f"no results on the suites it shares with {second.folder}", "at least one")
    return pairs, left_out


def _shared(first: Run, second: Run) -> tuple[list[str], list[str]]:
    """The suites that can be compared, and a sentence for each that can't."""
    hashes = [{suite.name: suite.hash for suite in run.suites} for run in (first, second)]
    shared, left_out = [], []
    for name in dict.fromkeys(name for one in hashes for name in one):
        here, there = (one.get(name) for one in hashes)
        if here == there:
            shared.append(name)
        elif here is None or there is None:
            left_out.append(f"suite {name}: only in {first.folder if here else second.folder}")
        else:
            left_out.append(
                f"suite {name}: DIFFERENT CONTENT under one name, {here[:8]} in {first.folder}, {there[:8]} in {second.folder}"
            )
    if not shared:
        raise RunError(
            f"{first.folder} and {second.folder}", "no suite with the same content in both", "at least one",
            "; ".join(left_out) + ". To read them side by side all the same: syntagm report.",
        )  # fmt: skip
    unfinished = [run.folder for run in (first, second) if not run.done]
    return shared, [
        *left_out,
        *(f"run {one} is not finished: items without results are left out" for one in unfinished),
    ]
