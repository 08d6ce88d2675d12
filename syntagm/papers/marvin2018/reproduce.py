"""Marvin & Linzen 2018, "Targeted syntactic evaluation of language models": accuracy by construction and by number.

A model scores minimal pairs of sentences that differ in one word. It prefers the sentence with the higher probability, that
is, with fewer bits over the whole sentence. Accuracy is the proportion of pairs whose grammatical sentence is
preferred; a tie counts as wrong. For each construction, pairs with animate and with inanimate subjects are pooled (a
micro average). Each triple of sentences with negative polarity items gives three comparisons, which the paper's table
does not distinguish.

The published pickles and the suites of `marvin2018` have the same names, so a run on either gives these tables.

Besides the two tables, there are: accuracy by tested word form, with its frequency (the paper's lexical variation); the
surprisal of each word of an item (figures A.1 to A.3 of the supplement, for the first item of a suite); and, if a
unigram model is given, the scores normalised as in Pauls & Klein 2012 that the paper tried.

Runs of people (`syntagm experiment import`) have tables of their own, beside the people of the paper, and a column in the
tables of models: the share of answers that choose the grammatical sentence.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType
from typing import Any

import polars as pl

from syntagm.evaluation import Estimate
from syntagm.papers.marvin2018 import experiment
from syntagm.papers.marvin2018.constructions import MEASURE, PROBABLE, by_construction, constructions, main_and_embedded
from syntagm.papers.paper import Experiment, Paper, cited
from syntagm.papers.people import COLUMNS, NOTES, about, cells, divided, rates
from syntagm.runs import Run, having, named, same_items
from syntagm.stats import score
from syntagm.suites import unpaired
from syntagm.views import (
    Agreement,
    Cell,
    Figure,
    Table,
    agreement_over,
    estimates,
    lexical,
    narrowed,
    normalised,
    or_none,
    tags_of,
    words,
)

# The people of the paper: its table shows the share of answers that choose the grammatical sentence.
HUMANS = "Humans"


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
            self._by_numbers[suite] = _people_by_numbers(self.run, suite) if shown else {}
        return self._by_numbers[suite]

    def share_by_numbers(self, suite: str, key: tuple[str, str], run: Run) -> float | None:
        """Return the share of answers for numbers of main and embedded subject; None as in `share`."""
        found = self.by_numbers(suite).get(key, (None, 0, 0))[0]
        return found if found is not None and self._has(run, suite) else None


def _people_by_numbers(run: Run, suite: str) -> dict[tuple[str, str], tuple[float, int, int]]:
    numbers = main_and_embedded(run, suite)
    labelled = rates(run, suite).with_columns(
        main=pl.col("item").replace_strict({item: main for item, (main, _) in numbers.items()}),
        embedded=pl.col("item").replace_strict({item: embedded for item, (_, embedded) in numbers.items()}),
    )
    grouped = labelled.group_by("main", "embedded").agg(
        pl.col("rate").mean(), pairs=pl.len(), judgements=pl.col("judgements").sum()
    )
    return {(main, embedded): (rate, pairs, count) for main, embedded, rate, pairs, count in grouped.iter_rows()}


def people_table1(judged: Mapping[str, Judged]) -> Table:
    """Make Table 1 of people: for each construction what they chose, beside the people of the paper."""
    rows: list[tuple[Cell, ...]] = []
    for line in cited("marvin2018")["table1"]:
        construction = line["construction"]
        for name, group in judged.items():
            if found := group.by_construction.get(construction):
                beside = (found.people, found.answers, line[HUMANS], ", ".join(group.suites[construction]))
                rows.append((construction, name, group.comparison(construction)[0], *cells(found), *beside))
    columns = ("construction", "model", "comparison", *COLUMNS, "people", "judgements", HUMANS, "suites")
    pooled = "All pairs of a construction count the same, with animate or inanimate subjects."
    notes = (*NOTES, pooled, *_people_sources(judged))
    return Table("Table 1: people, by construction", columns, tuple(rows), (HUMANS,), notes)


def people_table2(judged: Mapping[str, Judged]) -> Table:
    """Make Table 2 of people: what they chose by the numbers of main and embedded subject, beside the people of the paper."""
    rows: list[tuple[Cell, ...]] = []
    for line in cited("marvin2018")["table2"]:
        key = (line["main"], line["embedded"])
        for name, group in judged.items():
            if found := group.by_numbers(line["suite"]).get(key):
                rows.append((line["suite"], *key, name, *found, line[HUMANS]))
    columns = ("suite", "main", "embedded", "model", "individual", "pairs", "judgements", HUMANS)
    few = "A cell has too few pairs for an interval: the preset draws pairs of a suite regardless of these numbers."
    notes = (NOTES[0].split(" 95")[0], few, *_people_sources(judged))
    return Table("Table 2: people, by number of the subjects", columns, tuple(rows), (HUMANS,), notes)


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


def _people_sources(judged: Mapping[str, Judged]) -> tuple[str, ...]:
    return (f"{HUMANS}: transcribed from {cited('marvin2018')['source']}", *_about(judged))


def _about(judged: Mapping[str, Judged]) -> list[str]:
    return [line for name, group in judged.items() for line in about(group.run, name)]


SUITES = ("marvin2018",)
NUMBERS = ("accuracy", "low", "high", "chance", "n", "ties", "undefined")
COMPARISONS = ("grammatical_intrusive", "grammatical_ungrammatical", "intrusive_ungrammatical")
NPI_NOTE = (
    "The paper does not say which comparison of the triples it shows. Judging by its examples, the models' numbers belong to "
    "no, few against most, many (simple) and to licensed against inside the relative clause (across); the items shown to "
    "people were drawn from grammatical and intrusive sentences."
)


# The suites in the figures: one of each kind of construction, and those of figures A.1 to A.3.
DRAWN = ("simple_agrmt", "prep_anim", "obj_rel_across_anim", "obj_rel_within_anim", "simple_reflexives")
WORD_BY_WORD = ("simple_npi_anim", "obj_rel_across_anim", "obj_rel_within_anim")
TESTED = "region:critical"


def of_runs(runs: Sequence[Run], *, unigrams: str = "") -> dict[str, Table | Figure]:
    """Make the tables and figures of the paper: file name -> table or figure. Tables of several models are numbered.

    Arguments:
        runs: the runs, one per model or group of people.
        unigrams: a text to count words in, or an n-gram model of order 1 (`ngram:...`). If given, the table
            `normalised` is added.

    >>> of_runs([])
    {}
    """
    outputs: dict[str, Table | Figure] = {}
    models, groups = divided(runs)
    judged = {name: Judged(run, name) for name, run in named(groups)}
    for number, run in enumerate(models, 1):
        suffix = f"_{number}" if len(models) > 1 else ""
        outputs |= {f"table1{suffix}": table1(run, judged), f"table2{suffix}": table2(run, judged)}
    if judged:
        outputs |= {"table1_people": people_table1(judged), "table2_people": people_table2(judged)}
    if models:
        outputs |= _words(models)
        outputs |= {"normalised": normalised.make_table(models, unigrams, tokens="treebank")} if unigrams else {}
    return outputs


def _words(runs: Sequence[Run]) -> dict[str, Table | Figure]:
    """Make the table and figure of accuracy by tested word, and the figures of surprisal by word, if the runs allow it."""
    outputs: dict[str, Table | Figure] = {}
    suites = [
        name
        for name in dict.fromkeys(suite.name for run in runs for suite in run.suites if MEASURE in suite.predictions)
        if any(TESTED in tags_of(run, name) for _, run in having(runs, name))
    ]
    if suites:
        options = {"by": TESTED, "measure": MEASURE}
        shown = [name for name in DRAWN if name in suites] or suites[: len(DRAWN)]
        outputs["table_lexical"] = lexical.make_table(runs, suite=tuple(suites), **options)
        outputs["lexical"] = lexical.draw_figure(runs, suite=tuple(shown), **options)
    for name in WORD_BY_WORD:
        by_content: dict[str, list[Run]] = {}
        for _, run in having(runs, name):
            if len(run.sentences(name)):
                by_content.setdefault(run.suite(name).hash, []).append(run)
        for number, same in enumerate(by_content.values(), 1):
            suffix = f"_{number}" if len(by_content) > 1 else ""
            outputs[f"words_{name}{suffix}"] = words.draw_figure(same, name)
    return outputs


def table1(run: Run, judged: Mapping[str, Judged] = MappingProxyType({})) -> Table:
    """Make Table 1: accuracy by construction, with the published numbers."""
    published = cited("marvin2018")
    models, humans = published["columns"][:-1], published["columns"][-1]
    suites = constructions(run)
    pooled = by_construction(run, suites)
    alone = {suite for own in suites.values() for suite in unpaired(own)}
    rows: list[tuple[Cell, ...]] = []
    for line in published["table1"]:
        name = line["construction"]
        for measure in COMPARISONS if name in PROBABLE else (MEASURE,):
            if (name, measure) in pooled:
                of_models, of_people = PROBABLE.get(name, (measure, measure))
                whole = not alone.intersection(suites[name])
                quoted = [line[model] if measure == of_models and whole else None for model in models]
                quoted.append(line[humans] if measure == of_people and whole else None)
                numbers = _numbers(pooled[name, measure], _chance(run, suites[name], measure))
                formula = run.suite(suites[name][0]).predictions[measure]
                shares = [
                    group.share(name, suites[name], run) if formula == group.comparison(name)[1] else None
                    for group in judged.values()
                ]
                rows.append((name, measure, *numbers, *shares, *quoted, ", ".join(suites[name])))
    columns = ("construction", "comparison", *NUMBERS, *judged, *published["columns"], "suites")
    title = f"Table 1: accuracy by construction, {run.model}"
    pools = f"The paper's numbers pool animate and inanimate subjects, so they are not beside {', '.join(sorted(alone))} alone."
    notes = (*_notes(run, pooled), *([pools] if alone else []), *beside(judged, run), NPI_NOTE)
    table = Table(title, columns, tuple(rows), tuple(published["columns"]), notes)
    return narrowed(table, "chance", "ties", "undefined", "suites")


def table2(run: Run, judged: Mapping[str, Judged] = MappingProxyType({})) -> Table:
    """Make Table 2: accuracy by the grammatical number of main and embedded subject, for object relative clauses."""
    # The dependency is across or within the clause. Subjects are animate. The table is empty if the run has neither
    # suite.
    published = cited("marvin2018")
    quoted = [name for name in published["columns"] if name in published["table2"][0]]
    by_suite: dict[str, dict[tuple[str, str], Estimate]] = {}
    rows: list[tuple[Cell, ...]] = []
    for line in published["table2"]:
        suite, key = line["suite"], (line["main"], line["embedded"])
        if suite not in by_suite:
            by_suite[suite] = _by_numbers(run, suite) if suite in {own.name for own in run.suites} else {}
        if key in by_suite[suite]:
            numbers = _numbers(by_suite[suite][key], _chance(run, [suite], MEASURE))
            shares = [group.share_by_numbers(suite, key, run) for group in judged.values()]
            rows.append((suite, *key, *numbers, *shares, *(line[name] for name in quoted)))
    columns = ("suite", "main", "embedded", *NUMBERS, *judged, *quoted)
    title = f"Table 2: accuracy by number of the subjects, {run.model}"
    missing = [f"{suite} was not run." for suite, estimates in by_suite.items() if not estimates]
    notes = (*_notes(run, next(filter(None, by_suite.values()), {})), *beside(judged, run), *missing)
    return narrowed(Table(title, columns, tuple(rows), tuple(quoted), notes), "chance", "ties", "undefined")


def _by_numbers(run: Run, suite: str) -> dict[tuple[str, str], Estimate]:
    """Compute the accuracies in a suite by (number of the main subject, number of the embedded subject)."""
    numbers = main_and_embedded(run, suite)
    keys = {f"{suite} {main} {embedded}": (main, embedded) for main, embedded in numbers.values()}
    labels = {item: f"{suite} {main} {embedded}" for item, (main, embedded) in numbers.items()}
    rows = run.results(suite).filter(pl.col("measure") == MEASURE)
    labelled = rows.with_columns(suite=pl.col("item").replace_strict(labels, return_dtype=pl.String))
    return {keys[estimate.group.suite]: estimate for estimate in score.accuracy(labelled, run.kind, run.tolerance)}


def _numbers(estimate: Estimate, chance: Cell) -> tuple[Cell, ...]:
    return (*estimate.numbers[:3], chance, *estimate.numbers[3:])


def _chance(run: Run, suites: Sequence[str], measure: str) -> Cell:
    """Return the chance level of the suites; None if it is unknown or differs between suites."""
    values = {estimates.chance_of_suite(run.suite(suite), measure).value for suite in suites}
    value = values.pop()
    return None if values else or_none(value)


def _notes(run: Run, accuracies: Mapping[Any, Estimate]) -> tuple[str, ...]:
    signature = run.signature(run.suites[0].name, MEASURE)
    if len(run.suites) > 1:
        signature = signature.over(len(run.suites))
    method = next((estimate.method for estimate in accuracies.values()), "")
    sampled = any("seed" in suite.tags for suite in run.suites)
    weights = "Items were sampled, so the weight of a pooled suite depends on its sample, not on its size."
    return (
        f"Signature: {signature}",
        *([f"Intervals: 95 %, {method}. Ties count as wrong."] if method else []),
        "Chance: the score of independent draws, computed from the formulas.",
        *([weights] if sampled else []),
        *([] if run.done else ["The run is not finished: items without results are excluded."]),
        f"RNN, Multitask, n-gram, Humans: transcribed from {cited('marvin2018')['source']}",
    )


PAPER = Paper(
    SUITES,
    of_runs,
    experiment=Experiment(
        experiment.SIZES, experiment.SEEDS, experiment.experiment, experiment.outputs, experiment.FAMILIES
    ),
)
