"""Runs judged by another convention, from stored tokens; the whole sentences of a run, and what its numbers are in."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import polars as pl

from syntagm.core import FormulaError, UsageError
from syntagm.evaluation import (
    DEFAULT,
    PUBLISHED,
    Convention,
    Judge,
    SuiteRecord,
    convention as conventions,
    whole_sentences,
)
from syntagm.models import Surprisals
from syntagm.runs import files
from syntagm.runs.store import RESULTS_OF_UNIT, Run
from syntagm.suites import Formula, compared, parse

Answered = tuple[str, Surprisals]


class Rejudged(Run):
    """A run whose predictions about whole sentences are judged by another convention than when it was made."""

    def __init__(self, run: Run, convention: str, everywhere: bool = True) -> None:
        name = conventions.canonical(convention)
        options = {**run.record["options"], "convention": name}
        kinds = files.kinds(run.record["task"], options, run.record["suites"])
        record = {**run.record, "options": options, "kinds": kinds}
        super().__init__(run.folder, record, run._ledger, run._in_memory, run._files, run.root)
        self.name = run.name
        if not self.task.surprisals or "parquet" not in self.tables:
            self.refuse("surprisals, tokens or regions")
        scored = self.record.get("scored", {})
        self._conventions = {
            suite.name: conventions.of_suite(name, suite.name, scored.get(suite.name, ""), _formulas(suite).values())
            for suite in self.suites
            if everywhere or whole(self, suite.name)
        }
        if lacking := next((each for each in self._conventions.values() if each.unigrams), None):
            raise UsageError(
                f"--convention {convention}", f"{lacking}, which needs a unigram model", "a convention of surprisals alone",
                "`syntagm table conventions RUN unigrams=FILE` has this number.",
            )  # fmt: skip

    @property
    def in_bits(self) -> dict[str, list[str]]:
        """The predictions of each suite that are judged in bits nevertheless: they don't compare two whole sentences."""
        found = {}
        for suite in self.suites:
            others = [name for name in suite.predictions_for("") if name not in whole(self, suite.name)]
            if others and str(self._conventions.get(suite.name, DEFAULT)) != DEFAULT:
                found[suite.name] = others
        return found

    def _all_results(self) -> pl.DataFrame:
        """Return the results of all suites, which are not those in the run's file."""
        return self.table(RESULTS_OF_UNIT)

    def _of_suite(self, ending: str, suite: SuiteRecord) -> pl.DataFrame:
        """Return the rows of a suite; those of results have the verdicts and margins of the convention."""
        table = super()._of_suite(ending, suite)
        if ending != RESULTS_OF_UNIT:
            return table
        judge = Judge(self.tolerance_in_bits, self.record["model"]["start"] is not None)
        values, margins = table["value"].to_numpy().copy(), table["margin"].to_numpy().copy()
        # Margins in bits within the tolerance are ties, and of the run as it was made there may be some of each size.
        margins[np.abs(margins) <= self.tolerance_in_bits] = 0.0
        places = {
            str(name): rows["place"].to_numpy()
            for (name,), rows in table.with_row_index("place").group_by("measure", maintain_order=True)
        }
        for name, pair in whole(self, suite.name).items():
            convention = self._conventions[suite.name]
            if str(convention) == DEFAULT and suite.aggregate != "sum":
                judged = self._by_aggregate(suite.name, pair)
            else:
                judged = [_judged(judge, convention, conditions, pair) for _, conditions in items(self, suite.name)]
            if name in places:
                values[places[name]], margins[places[name]] = np.array(judged, np.float64).reshape(-1, 2).T
        return table.with_columns(value=pl.Series(values), margin=pl.Series(margins))

    def _by_aggregate(self, suite: str, pair: tuple[str, str]) -> list[tuple[float, float]]:
        """Return the values and margins of a comparison as a run by bits has them: by the aggregate of the suite."""
        costs = iter(whole_sentences(self.scored(suite), self.reading(suite))["bits"])
        found = []
        for _, conditions in items(self, suite):
            better, worse = map(dict(zip(conditions, costs, strict=False)).get, pair)
            margin = np.nan if better is None or worse is None else worse - better
            margin = 0.0 if abs(margin) <= self.tolerance_in_bits else margin
            found.append((np.nan if np.isnan(margin) else float(margin > 0), margin))
        return found


def rejudged_where_possible(run: Run, convention: str) -> Run:
    """Return a run judged by a convention in the suites that compare two whole sentences, or the run if there are none."""
    able = run.task.surprisals and "parquet" in run.tables
    return Rejudged(run, convention, False) if able and any(whole(run, suite.name) for suite in run.suites) else run


def _judged(
    judge: Judge, convention: Convention, conditions: Mapping[str, Answered], pair: tuple[str, str]
) -> tuple[float, float]:
    better, worse = pair
    if better not in conditions or worse not in conditions:
        return np.nan, np.nan
    [judged] = judge.margins(conditions[better], conditions[worse], [convention])
    return judged


def _formulas(suite: SuiteRecord) -> dict[str, Formula]:
    """Return the formulas of a suite's predictions that can be read: records are untrusted input."""
    formulas = {}
    for name, text in suite.predictions.items():
        try:
            if text:
                formulas[name] = parse(text)
        except FormulaError:
            continue
    return formulas


def whole(run: Run, suite: str) -> dict[str, tuple[str, str]]:
    """Find the predictions of a suite that compare two whole sentences: name -> (better condition, worse condition)."""
    pairs = ((name, compared(formula)) for name, formula in _formulas(run.suite(suite)).items())
    return {name: pair for name, pair in pairs if pair}


def unit(run: Run, suite: str, measure: str) -> str:
    """Return what the margins of a prediction are differences of: bits, the unit of people, or the name of the convention."""
    convention = convention_of_suite(run, suite)
    if convention == DEFAULT or not set(run.suite(suite).predictions_for(measure)) & whole(run, suite).keys():
        return run.task.unit_of_margins(run.record["options"])
    return convention


def convention_of_suite(run: Run, suite: str) -> str:
    """Return the convention by which a run judges a suite: `bits`, or the name of another one."""
    asked: str = run.record["options"].get("convention", DEFAULT)
    scored: str = run.record.get("scored", {}).get(suite, asked) if asked == PUBLISHED else asked
    return scored


def units(runs: Sequence[Run], measure: str) -> str:
    """Return what the margins of all suites of some runs are differences of, as `unit`."""
    return " or ".join(dict.fromkeys(unit(run, suite.name, measure) for run in runs for suite in run.suites))


def items(run: Run, suite: str) -> Iterator[tuple[str, dict[str, Answered]]]:
    """Yield each item of a suite with the text and the surprisals of each condition. An id that occurs twice is two items."""
    last, conditions = "", dict[str, Answered]()
    for item, condition, sentence, answer in run.answers(suite):
        if conditions and (item != last or condition in conditions):
            yield last, conditions
            conditions = {}
        last = item
        conditions[condition] = sentence.text, answer
    if conditions:
        yield last, conditions


def pairs(run: Run, suite: str) -> Iterator[tuple[str, Answered, Answered]]:
    """Yield each item with its better and its worse sentence, by the first prediction that compares whole sentences."""
    if not (predictions := whole(run, suite)):
        return
    better, worse = next(iter(predictions.values()))
    for item, conditions in items(run, suite):
        if better in conditions and worse in conditions:
            yield item, conditions[better], conditions[worse]
