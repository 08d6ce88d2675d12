"""The table of conventions: one row for each model, suite and convention, with the verdicts that it flips."""

from collections.abc import Iterator, Sequence
from typing import Annotated

from syntagm.core import UsageError
from syntagm.evaluation import DEFAULT, Case, Estimate, Tokens, convention, kind_of, linking
from syntagm.runs import Run, named, titles, whole
from syntagm.stats import in_words, score
from syntagm.views.conventions.numbers import (
    TOLERANCE,
    Chosen,
    Source,
    all_results,
    choose,
    flips,
    other_aggregates,
    wide,
)
from syntagm.views.drawing.table import Cell, Table
from syntagm.views.drawing.text import or_none

COLUMNS = ("model", "suite", "convention", "n", "value", "low", "high", "flips")
MEANING = (
    "value: the share of pairs whose good sentence is preferred; ties count as failures unless the convention says "
    f"otherwise, and are decided in bits. flips: pairs whose verdict differs from that by {DEFAULT}, the default everywhere else."
)
Unigrams = Annotated[
    str, "a text to count words in, or `ngram:...`, a model of order 1; without it, no SLOR and the like"
]
Ratings = Annotated[str, "a CSV file text,rating, to which MORCELA is fitted"]
Names = Annotated[tuple[str, ...], "conventions to show, such as mean_token or bits+ties_as_hits; default: all"]
Suite = Annotated[str, "name of a suite; default: all"]
HowTokens = Annotated[Tokens, "how text is split into words: at white space, or as in the Penn Treebank"]
HowCase = Annotated[Case, "whether words are counted as they are, or in lower case"]


def make_table(
    runs: Sequence[Run],
    unigrams: Unigrams = "",
    ratings: Ratings = "",
    convention: Names = (),
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Table:
    """Make one row for each model, suite and convention, and one for the mean over suites.

    Raises:
        UsageError: no suite compares two whole sentences, or a convention needs what is not given.
    """
    source = Source(unigrams, ratings, tokens, case)
    rows: list[tuple[Cell, ...]] = []
    methods: list[str] = []
    names = titles(runs)
    notes = [MEANING]
    shown: dict[str, None] = {}
    for model, run in named(runs):
        chosen = choose(run, source, convention)
        notes += [note for note in chosen.notes if note not in notes]
        shown |= dict.fromkeys(map(str, chosen.conventions))
        for row, method in _rows(run, model, chosen, tokens, suite, names):
            rows.append(row)
            methods.append(method)
    if not rows:
        raise UsageError("suite=", "no prediction that compares two whole sentences", "(*;%a%) < (*;%b%)")
    return Table(
        "Accuracy by convention",
        COLUMNS,
        tuple(rows),
        notes=(*notes, *other_aggregates(runs, suite), *describe(shown), *in_words.intervals(methods)),
    )


def _rows(
    run: Run, model: str, chosen: Chosen, tokens: Tokens, suite: str, names: dict[tuple[str, str], str]
) -> Iterator[tuple[tuple[Cell, ...], str]]:
    """Yield each row, and the method of its interval."""
    results = all_results(run, chosen, tokens, suite)
    suites = [record for record in run.suites if (not suite or record.name == suite) and whole(run, record.name)]
    by_suite = {str(name): wide(rows) for (name,), rows in results.group_by("suite", maintain_order=True)}
    totals = dict.fromkeys(map(str, chosen.conventions), 0)
    for record in suites:
        own = by_suite[record.name]
        for name, rows in own.items():
            [estimate] = score.accuracy(rows, kind_of, TOLERANCE)
            flipped = flips(own[DEFAULT], rows)
            totals[name] += flipped
            yield _row(model, names[record.name, record.hash], name, estimate, flipped), estimate.method
    if len(suites) > 1:
        predictions = {record.name: tuple(totals) for record in suites}
        for name, flipped in totals.items():
            [estimate] = score.score(results, predictions, kind_of(name), TOLERANCE, name)
            yield _row(model, f"mean of {len(suites)} suites", name, estimate, flipped), estimate.method


def _row(model: str, suite: str, convention: str, estimate: Estimate, flipped: int) -> tuple[Cell, ...]:
    numbers = (or_none(estimate.value), or_none(estimate.low), or_none(estimate.high))
    return (model, suite, convention, estimate.n, *numbers, flipped)


def describe(names: Sequence[str] | dict[str, None]) -> tuple[str, ...]:
    """Explain conventions, each linking function and treatment once."""
    parts = dict.fromkeys(part for name in names for part in name.split("+"))
    known = [linking.BY_NAME[part] for part in parts if part in linking.BY_NAME]
    treated = [convention.TREATMENT_BY_NAME[part] for part in parts if part in convention.TREATMENT_BY_NAME]
    functions = "; ".join(f"{each.name}: {each.formula}" for each in known)
    rules = "; ".join(f"{each.name}: {each.says}" for each in treated)
    symbols = (
        "b: surprisals in bits of the tokens or words of a sentence; u: those of its words under the unigram model"
    )
    return (f"{functions} ({symbols}).", *([f"{rules}."] if rules else []))
