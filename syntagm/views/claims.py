"""Claims: which claims about models, above chance or better than another, survive every convention."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import polars as pl

from syntagm.core import UsageError
from syntagm.evaluation import Kind, kind_of
from syntagm.runs import Run, named, titles
from syntagm.stats import paired, score
from syntagm.views.conventions import (
    TOLERANCE,
    HowCase,
    HowTokens,
    Names,
    Source,
    Suite,
    UnigramText,
    all_results,
    choose,
    describe,
    other_aggregates,
    wide,
)
from syntagm.views.drawing.table import Cell, Table

COLUMNS = ("claim", "survives", "conventions", "holds", "reversed", "not where")
MEANING = (
    "A claim is in the table if a convention shows it: above or below chance (0.5) if the 95% interval of the mean over the "
    "model's own suites lies on that side, and better than another model if the paired test on the suites of both has p <= 0.05. "
    "survives: it holds under every convention. reversed: conventions that show the opposite. not where: conventions that don't "
    "show it."
)
CHANCE = 0.5


def make_table(
    runs: Sequence[Run],
    unigrams: UnigramText = "",
    convention: Names = (),
    suite: Suite = "",
    tokens: HowTokens = "blanks",
    case: HowCase = "keep",
) -> Table:
    """Make one row for each claim that a convention shows.

    Raises:
        UsageError: no suite compares two whole sentences, or a convention needs unigrams that are not given.
    """
    source = Source(unigrams, "", tokens, case)
    judged: dict[str, dict[str, pl.DataFrame]] = {}
    suites = titles(runs)
    for model, run in named(runs):
        rows = all_results(run, choose(run, source, convention), tokens, suite)
        # Suites of the same name but of other content are other suites.
        shown = {record.name: suites[record.name, record.hash] for record in run.suites}
        renamed = rows.with_columns(pl.col("suite").replace_strict(shown))
        judged[model] = wide(renamed)
    names = [name for name in next(iter(judged.values())) if all(name in own for own in judged.values())]
    found = [*_against_chance(judged, names), *_against_each_other(judged, names)]
    notes = (MEANING, *other_aggregates(runs, suite), *describe(dict.fromkeys(names)))
    return Table("Claims by convention", COLUMNS, tuple(found), notes=notes)


def _against_chance(
    judged: Mapping[str, Mapping[str, pl.DataFrame]], names: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    for model, own in judged.items():
        signs = {name: _side(own[name], name) for name in names}
        yield from _claims(signs, f"{model} is above chance", f"{model} is below chance")


def _side(rows: pl.DataFrame, name: str) -> int:
    predictions = {str(suite): (name,) for suite in rows["suite"].unique(maintain_order=True)}
    if len(predictions) > 1:
        [estimate] = score.score(rows, predictions, kind_of(name), TOLERANCE, name)
    else:
        [estimate] = score.accuracy(rows, kind_of, TOLERANCE)
    return int(estimate.low > CHANCE) - int(estimate.high < CHANCE)


def _against_each_other(
    judged: Mapping[str, Mapping[str, pl.DataFrame]], names: Sequence[str]
) -> Iterator[tuple[Cell, ...]]:
    for a, b in combinations(judged, 2):
        signs = {name: _difference(judged[a][name], judged[b][name], kind_of(name)) for name in names}
        yield from _claims(signs, f"{b} is better than {a}", f"{a} is better than {b}")


def _difference(a: pl.DataFrame, b: pl.DataFrame, kind: Kind) -> int:
    """Return the sign of a significant difference b - a; 0 if there is none."""
    shared = set(a["suite"]) & set(b["suite"])
    chosen = [rows.filter(pl.col("suite").is_in(shared)) for rows in (a, b)]
    if not shared:
        raise UsageError("claims", "two runs without a suite in common", "runs of the same suites")
    comparison = paired.over_suites(paired.pair(*chosen), kind, (TOLERANCE, TOLERANCE))
    if not comparison.p <= 0.05:
        return 0
    return 1 if comparison.difference.value > 0 else -1


def _claims(signs: Mapping[str, int], above: str, below: str) -> Iterator[tuple[Cell, ...]]:
    for claim, sign in ((above, 1), (below, -1)):
        holds = [name for name, own in signs.items() if own == sign]
        if holds:
            others = [name for name in signs if name not in holds]
            opposite = sum(own == -sign for own in signs.values())
            yield claim, "no" if others else "yes", len(signs), len(holds), opposite, ", ".join(others)
