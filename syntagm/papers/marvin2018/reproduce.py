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

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import polars as pl

from syntagm.evaluation import Estimate
from syntagm.papers.marvin2018 import experiment, people
from syntagm.papers.marvin2018.constructions import MEASURE, PROBABLE, by_construction, constructions, main_and_embedded
from syntagm.papers.paper import Experiment, Paper, cited
from syntagm.papers.people import divided
from syntagm.runs import Run, having, named
from syntagm.stats import score
from syntagm.suites import unpaired
from syntagm.views import Cell, Figure, Table, lexical, narrowed, normalised, or_none, tags_of, words
from syntagm.views.scores import numbers as estimates

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
    judged = {name: people.Judged(run, name) for name, run in named(groups)}
    for number, run in enumerate(models, 1):
        suffix = f"_{number}" if len(models) > 1 else ""
        outputs |= {f"table1{suffix}": table1(run, judged), f"table2{suffix}": table2(run, judged)}
    if judged:
        outputs |= {"table1_people": people.table1(judged), "table2_people": people.table2(judged)}
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


def table1(run: Run, judged: Mapping[str, people.Judged] = MappingProxyType({})) -> Table:
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
    notes = (*_notes(run, pooled), *([pools] if alone else []), *people.beside(judged, run), NPI_NOTE)
    table = Table(title, columns, tuple(rows), tuple(published["columns"]), notes)
    return narrowed(table, "chance", "ties", "undefined", "suites")


def table2(run: Run, judged: Mapping[str, people.Judged] = MappingProxyType({})) -> Table:
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
    notes = (*_notes(run, next(filter(None, by_suite.values()), {})), *people.beside(judged, run), *missing)
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
    """Describe how the numbers of a table were computed."""
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
