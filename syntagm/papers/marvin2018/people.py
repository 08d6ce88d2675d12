"""The forced choice of Marvin & Linzen 2018 (section 6), repeated with people of one's own, beside the people of the paper.

The paper's numbers of people, its exclusions and its items are in a supplement; what its table shows is the share of
answers that choose the grammatical sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache

import polars as pl

from syntagm.papers.marvin2018.constructions import constructions, main_and_embedded
from syntagm.papers.paper import cited
from syntagm.papers.people import COLUMNS, NOTES, about, cells, rates
from syntagm.runs import Run, same_items
from syntagm.views import Agreement, Cell, Table, agreement_over

PAPER = "Humans"


class Judged:
    """What a group of people chose.

    Arguments:
        run: the run of these people.
        name: their name.

    Raises:
        RunError: no suite of the run is one of the paper's.
    """

    def __init__(self, run: Run, name: str) -> None:
        self.run, self.name = run, name
        self.suites = constructions(run)
        self.by_construction: dict[str, Agreement] = {
            construction: agreement_over(run, [run.suite(suite) for suite in suites], name, construction, pooled=True)
            for construction, suites in self.suites.items()
        }
        self._by_numbers: dict[str, dict[tuple[str, str], tuple[float, int, int]]] = {}
        # Rows of both tables ask this of the same suites, which may have thousands of sentences.
        self._has: Callable[[Run, str], bool] = cache(lambda model, suite: bool(same_items(run, suite, model)))

    def share(self, construction: str, suites: Sequence[str], run: Run) -> float | None:
        """Return the share of answers that choose the grammatical sentence in suites of a construction.

        None if people were not asked all of them, or saw pairs that a model's run lacks.
        """
        if not set(suites) <= {*self.suites.get(construction, ())} or self.lacks(run, suites):
            return None
        records = [self.run.suite(suite) for suite in suites]
        found = agreement_over(self.run, records, self.name, construction, pooled=True).individual
        return found.value if found else None

    def lacks(self, run: Run, suites: Sequence[str]) -> bool:
        """Return whether a model's run lacks pairs of the suites that these people saw."""
        asked = {suite.name for suite in self.run.suites}
        return not all(self._has(run, suite) for suite in suites if suite in asked)

    def comparison(self, construction: str) -> tuple[str, str]:
        """Return name and formula of the prediction whose sentences people saw, the first one; empty if there are none."""
        suites = map(self.run.suite, self.suites.get(construction, []))
        return next(
            ((name, suite.predictions[name]) for suite in suites for name in suite.predictions_for("first")), ("", "")
        )

    def by_numbers(self, suite: str) -> Mapping[tuple[str, str], tuple[float, int, int]]:
        """Return the share, pairs and judgements by the numbers of main and embedded subject; empty without the suite."""
        if suite not in self._by_numbers:
            shown = suite in {own.name for own in self.run.suites}
            self._by_numbers[suite] = _by_numbers(self.run, suite) if shown else {}
        return self._by_numbers[suite]

    def share_by_numbers(self, suite: str, key: tuple[str, str], run: Run) -> float | None:
        """Return the share of answers for numbers of main and embedded subject; None as in `share`."""
        found = self.by_numbers(suite).get(key, (None, 0, 0))[0]
        return found if found is not None and self._has(run, suite) else None


def _by_numbers(run: Run, suite: str) -> dict[tuple[str, str], tuple[float, int, int]]:
    numbers = main_and_embedded(run, suite)
    labelled = rates(run, suite).with_columns(
        main=pl.col("item").replace_strict({item: main for item, (main, _) in numbers.items()}),
        embedded=pl.col("item").replace_strict({item: embedded for item, (_, embedded) in numbers.items()}),
    )
    grouped = labelled.group_by("main", "embedded").agg(
        pl.col("rate").mean(), pairs=pl.len(), judgements=pl.col("judgements").sum()
    )
    return {(main, embedded): (rate, pairs, count) for main, embedded, rate, pairs, count in grouped.iter_rows()}


def table1(judged: Mapping[str, Judged]) -> Table:
    """Make Table 1 of people: for each construction what they chose, beside the people of the paper."""
    rows: list[tuple[Cell, ...]] = []
    for line in cited("marvin2018")["table1"]:
        construction = line["construction"]
        for name, group in judged.items():
            if found := group.by_construction.get(construction):
                beside = (found.people, found.answers, line[PAPER], ", ".join(group.suites[construction]))
                rows.append((construction, name, group.comparison(construction)[0], *cells(found), *beside))
    columns = ("construction", "model", "comparison", *COLUMNS, "people", "judgements", PAPER, "suites")
    pooled = "All pairs of a construction count the same, with animate or inanimate subjects."
    notes = (*NOTES, pooled, *_sources(judged))
    return Table("Table 1: people, by construction", columns, tuple(rows), (PAPER,), notes)


def table2(judged: Mapping[str, Judged]) -> Table:
    """Make Table 2 of people: what they chose by the numbers of main and embedded subject, beside the people of the paper."""
    rows: list[tuple[Cell, ...]] = []
    for line in cited("marvin2018")["table2"]:
        key = (line["main"], line["embedded"])
        for name, group in judged.items():
            if found := group.by_numbers(line["suite"]).get(key):
                rows.append((line["suite"], *key, name, *found, line[PAPER]))
    columns = ("suite", "main", "embedded", "model", "individual", "pairs", "judgements", PAPER)
    few = "A cell has too few pairs for an interval: the preset draws pairs of a suite regardless of these numbers."
    notes = (NOTES[0].split(" 95")[0], few, *_sources(judged))
    return Table("Table 2: people, by number of the subjects", columns, tuple(rows), (PAPER,), notes)


def beside(judged: Mapping[str, Judged], run: Run) -> list[str]:
    """Say what the columns of people in the tables of a model's run are, and where people saw other pairs."""
    if not judged:
        return []
    shown = (
        f"{', '.join(judged)}: the share of answers of people of one's own that choose the grammatical sentence, in the suites "
        "of the row; empty if they were not asked all of them."
    )
    lacking = [
        f"{name}: empty where the model lacks pairs that these people saw: {'; '.join(missing)}."
        for name, group in judged.items()
        if (missing := [construction for construction, own in constructions(run).items() if group.lacks(run, own)])
    ]
    return [shown, *lacking, *_about(judged)]


def _sources(judged: Mapping[str, Judged]) -> tuple[str, ...]:
    return (f"{PAPER}: transcribed from {cited('marvin2018')['source']}", *_about(judged))


def _about(judged: Mapping[str, Judged]) -> list[str]:
    return [line for name, group in judged.items() for line in about(group.run, name)]
