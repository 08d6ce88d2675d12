"""By which conventions the verdicts of runs are judged, in words for tables, reports and messages."""

from collections.abc import Sequence

from syntagm.conventions.convention import DEFAULT, PUBLISHED, recorded
from syntagm.runs.rejudged import convention_of_suite, whole
from syntagm.runs.several import listed, named
from syntagm.runs.signature import Signature
from syntagm.runs.store import Run
from syntagm.tasks.people import People

# The value of a tie -> what ties count as.
TIES = {0.0: "failures", 0.5: "half a hit", 1.0: "hits"}


def by_suite(run: Run) -> dict[str, str]:
    """Return the convention of each suite of a run: `bits`, or the name of another one."""
    return {suite.name: convention_of_suite(run, suite.name) for suite in run.suites}


def convention_of(run: Run) -> str:
    """Return the convention of a run; if those of its suites differ, `published` with each of them."""
    suites: dict[str, list[str]] = {}
    for suite, convention in by_suite(run).items():
        suites.setdefault(convention, []).append(suite)
    if len(suites) > 1:
        return f"{PUBLISHED} ({'; '.join(f'{name}: {listed(own)}' for name, own in suites.items())})"
    return next(iter(suites), DEFAULT)


def ties_of(runs: Sequence[Run], measure: str = "", suite: str = "") -> str:
    """Return what ties count as, as in `TIES`; several where some predictions don't compare two whole sentences.

    Arguments:
        measure: the name of a prediction, or a scoring rule; empty for all predictions.
        suite: the name of a suite; empty for all.
    """
    values = {
        tie_value(convention) if prediction in whole(run, name) else 0.0
        for run in runs
        for name, convention in by_suite(run).items()
        if suite in ("", name)
        for prediction in run.suite(name).predictions_for(measure)
    } or {0.0}
    counted = " or as ".join(TIES[value] for value in sorted(values, reverse=True))
    return f"{counted}, as the convention says" if len(values) > 1 else counted


def tie_value(convention: str) -> float:
    """Return the value of a tie under a convention: 0 for a failure, as under an unknown one."""
    return parsed.tie if (parsed := recorded(convention)) else 0.0


def describe(runs: Sequence[Run]) -> str:
    """Return a sentence about the conventions of runs that are not judged by the sum of bits; "" if all are.

    >>> import syntagm as sg
    >>> describe([sg.evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=1)])
    ''
    """
    found = dict.fromkeys(convention_of(run) for run in runs if _applies(run))
    if [*found] in ([], [DEFAULT]) or different(runs):
        return ""
    [name] = found
    said = f"{name} ({words})" if (words := explain(name)) else name
    return f"Convention: {said}, instead of the sum of bits, where predictions compare two whole sentences."


def signature_over(run: Run, suites: Sequence[str], measure: str) -> Signature:
    """Return the signature of a number over some suites; it names the convention if any of them is judged by one."""
    signatures = [run.signature(suite, measure) for suite in suites]
    named_ones = (each for each in signatures if any(part.startswith("convention:") for part in each.asked))
    chosen = next(named_ones, signatures[0])
    return chosen if len(suites) == 1 else chosen.over(len(suites))


def explain(convention: str) -> str:
    """Return what a convention compares, as phrases; "" for several conventions.

    >>> explain("mean_byte+ties_as_hits")
    'surprisal per byte of UTF-8; a tie is a hit'
    """
    if not (parsed := recorded(convention)):
        return ""
    return "; ".join([parsed.linking.says, *(each.says for each in parsed.treatments)])


def different(runs: Sequence[Run]) -> str:
    """Return a sentence about runs that are judged by different conventions; "" if there are none."""
    by_name = {name: convention_of(run) for name, run in named(runs) if _applies(run)}
    if len(set(by_name.values())) < 2:
        return ""
    models: dict[str, list[str]] = {}
    for name, convention in by_name.items():
        models.setdefault(convention, []).append(name)
    parts = [
        f"{', '.join(names[:3])}{f' and {len(names) - 3} more' if len(names) > 3 else ''} by {convention}"
        for convention, names in models.items()
    ]
    return f"DIFFERENT CONVENTIONS: {'; '.join(parts)}. Their numbers may differ for this reason alone."


def _applies(run: Run) -> bool:
    """Return whether a convention decides any verdict of a run: of people and of gaps there is none."""
    return run.task is not People and any(whole(run, suite.name) for suite in run.suites)
