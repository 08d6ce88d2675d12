"""Marvin & Linzen 2018, "Targeted syntactic evaluation of language models": accuracy by construction and by number.

A model is given minimal pairs of sentences that differ in one word and prefers one by its probability, that is, by fewer
bits over the whole sentence. Accuracy is the share of the pairs whose grammatical sentence is preferred; a tie is not. Pairs
of a construction with animate and with inanimate subjects are pooled (a micro average). A triple of the negative polarity
items makes three comparisons, which the paper's table does not tell apart.

The published pickles and the suites of `marvin2018` go by the same names, so a run on either makes these tables.

Beside the two tables: accuracy by the word that is tested, with its frequency (the paper's lexical variation; by form, as
there), the surprisal of each word of an item (figures A.1 to A.3 of its supplement, for the first item of a suite), and, where a
unigram model is given, the scores normalised after Pauls & Klein 2012 that the paper tried.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Cell, Table
from syntagm.drawing.text import or_none
from syntagm.errors import RunError
from syntagm.papers.cited import cited
from syntagm.papers.paper import Paper
from syntagm.result import Estimate
from syntagm.runs.store import Run
from syntagm.stats import score
from syntagm.views import lexical, normalised, words
from syntagm.views.clustered import tags_of
from syntagm.views.scores import numbers as estimates

SUITES = ("marvin2018",)
NUMBERS = ("accuracy", "low", "high", "chance", "n", "ties", "undefined")
MEASURE = "full_sentence"
COMPARISONS = ("grammatical_intrusive", "grammatical_ungrammatical", "intrusive_ungrammatical")
# Which comparison the paper's figures probably are: those of the models, and those of people.
PROBABLE = {
    "NPI: simple": ("grammatical_ungrammatical", "grammatical_intrusive"),
    "NPI: across a relative clause": ("grammatical_intrusive", "grammatical_intrusive"),
}
NPI_NOTE = (
    "The paper does not say which comparison of the triples it shows. By its examples, the models' figures stand beside "
    "no, few against most, many (simple) and licensed against inside the relative clause (across); the items shown to "
    "people were drawn from grammatical and intrusive sentences."
)


# The suites of which the figures show something: one of each kind of construction, and those of figures A.1 to A.3.
DRAWN = ("simple_agrmt", "prep_anim", "obj_rel_across_anim", "obj_rel_within_anim", "simple_reflexives")
WORD_BY_WORD = ("simple_npi_anim", "obj_rel_across_anim", "obj_rel_within_anim")
TESTED = "region:critical"


def of_runs(runs: Sequence[Run], *, unigrams: str = "") -> dict[str, Table | Figure]:
    """The tables and figures of the paper, by the names of their files; tables of several models are numbered.

    Arguments:
        unigrams: a text to count words in, or `ngram:...`, a model of order 1: adds the table `normalised`.

    >>> of_runs([])
    {}
    """
    made: dict[str, Table | Figure] = {}
    for number, run in enumerate(runs, 1):
        ending = f"_{number}" if len(runs) > 1 else ""
        made |= {f"table1{ending}": table1(run), f"table2{ending}": table2(run)}
    if runs:
        made |= _words(runs)
        made |= {"normalised": normalised.make_table(runs, unigrams, tokens="treebank")} if unigrams else {}
    return made


def _words(runs: Sequence[Run]) -> dict[str, Table | Figure]:
    """Accuracy by the tested word, and surprisal by word, as far as the runs have what they need."""
    made: dict[str, Table | Figure] = {}
    having = [
        name
        for name in dict.fromkeys(suite.name for run in runs for suite in run.suites if MEASURE in suite.predictions)
        if any(TESTED in tags_of(run, name) for run in runs if name in {suite.name for suite in run.suites})
    ]
    if having:
        chosen = {"by": TESTED, "measure": MEASURE}
        drawn = [name for name in DRAWN if name in having] or having[: len(DRAWN)]
        made["by_word"] = lexical.make_table(runs, suite=tuple(having), **chosen)
        made["by_word_and_frequency"] = lexical.draw_figure(runs, suite=tuple(drawn), **chosen)
    for name in WORD_BY_WORD:
        if found := [run for run in runs if name in {suite.name for suite in run.suites} and len(run.sentences(name))]:
            made[f"surprisal_{name}"] = words.draw_figure(found, name)
    return made


def table1(run: Run) -> Table:
    """Accuracy by construction, the published figures beside it.

    Raises:
        RunError: no suite of the run is one of the paper's.
    """
    published = cited("marvin2018")
    models, people = published["columns"][:-1], published["columns"][-1]
    suites = _suites(run)
    pooled = _by_construction(run, suites)
    rows: list[tuple[Cell, ...]] = []
    for line in published["table1"]:
        name = line["construction"]
        for measure in COMPARISONS if name in PROBABLE else (MEASURE,):
            if (name, measure) in pooled:
                of_models, of_people = PROBABLE.get(name, (measure, measure))
                quoted = [line[model] if measure == of_models else None for model in models]
                quoted.append(line[people] if measure == of_people else None)
                numbers = _numbers(pooled[name, measure], _chance(run, suites[name], measure))
                rows.append((name, measure, *numbers, *quoted, ", ".join(suites[name])))
    columns = ("construction", "comparison", *NUMBERS, *published["columns"], "suites")
    title = f"Table 1: accuracy by construction, {run.model}"
    return Table(title, columns, tuple(rows), tuple(published["columns"]), (*_notes(run, pooled), NPI_NOTE))


def table2(run: Run) -> Table:
    """Accuracy by the numbers of main and embedded subject, across and within object relative clauses; animate subjects.

    The key of a configuration begins with the number of the tested dependency: of the main subject in `across`, of the
    embedded one in `within`. Without rows if the run has neither suite.
    """
    published = cited("marvin2018")
    quoted = [name for name in published["columns"] if name in published["table2"][0]]
    made: dict[str, dict[tuple[str, str], Estimate]] = {}
    rows: list[tuple[Cell, ...]] = []
    for line in published["table2"]:
        suite, key = line["suite"], (line["main"], line["embedded"])
        if suite not in made:
            made[suite] = _by_numbers(run, suite) if suite in {one.name for one in run.suites} else {}
        if key in made[suite]:
            numbers = _numbers(made[suite][key], _chance(run, [suite], MEASURE))
            rows.append((suite, *key, *numbers, *(line[name] for name in quoted)))
    columns = ("suite", "main", "embedded", *NUMBERS, *quoted)
    title = f"Table 2: accuracy by number of the subjects, {run.model}"
    missing = [f"{suite} was not run." for suite, found in made.items() if not found]
    notes = (*_notes(run, next(filter(None, made.values()), {})), *missing)
    return Table(title, columns, tuple(rows), tuple(quoted), notes)


def _suites(run: Run) -> dict[str, list[str]]:
    """Construction -> the suites of the run that test it."""
    known = {line["construction"] for line in cited("marvin2018")["table1"]}
    found: dict[str, list[str]] = {}
    for suite in run.suites:
        if (name := suite.tags.get("construction", "")) in known:
            found.setdefault(name, []).append(suite.name)
    if not found:
        cure = "Run the collection marvin2018 or the published pickles."
        raise RunError(run.place, "no suite with a construction of the paper", "at least one", cure)
    return found


def _by_construction(run: Run, suites: Mapping[str, Sequence[str]]) -> dict[tuple[str, str], Estimate]:
    """(construction, measure) -> accuracy over the items of all suites of the construction."""
    names = {suite: construction for construction, several in suites.items() for suite in several}
    rows = run.results().filter(pl.col("suite").is_in(list(names)))
    pooled = rows.with_columns(pl.col("suite").replace_strict(names, return_dtype=pl.String))
    found = score.accuracy(pooled, run.tolerance)
    return {(one.group.suite, one.group.measure): one for one in found}


def _by_numbers(run: Run, suite: str) -> dict[tuple[str, str], Estimate]:
    """(number of the main subject, of the embedded subject) -> accuracy in one suite."""
    numbers = {item: _main_and_embedded(tags, suite) for item, tags in _tags(run, suite)}
    keys = {f"{suite} {main} {embedded}": (main, embedded) for main, embedded in numbers.values()}
    labels = {item: f"{suite} {main} {embedded}" for item, (main, embedded) in numbers.items()}
    rows = run.results(suite).filter(pl.col("measure") == MEASURE)
    labelled = rows.with_columns(suite=pl.col("item").replace_strict(labels, return_dtype=pl.String))
    return {keys[one.group.suite]: one for one in score.accuracy(labelled, run.tolerance)}


def _main_and_embedded(tags: Mapping[str, str], suite: str) -> tuple[str, str]:
    tested, other = tags["number"], tags["attractor"]
    return (other, tested) if "within" in suite else (tested, other)


def _tags(run: Run, suite: str) -> Iterator[tuple[str, dict[str, str]]]:
    for item, text in run.sentences(suite).select("item", "tags").unique(maintain_order=True).iter_rows():
        tags = json.loads(text)
        if not {"number", "attractor"} <= tags.keys():
            place = f"{run.place}, suite {suite}, item {item}"
            raise RunError(place, "no tags number and attractor", "both", "Run the suite of marvin2018, or the pickle.")
        yield item, tags


def _numbers(one: Estimate, chance: Cell) -> tuple[Cell, ...]:
    return one.value, one.low, one.high, chance, one.n, one.ties, one.undefined


def _chance(run: Run, suites: Sequence[str], measure: str) -> Cell:
    """What independent draws score in each of the suites; None if it isn't known, or not the same in all."""
    found = {estimates.chance_of_suite(run.suite(suite), measure).value for suite in suites}
    value = found.pop()
    return None if found else or_none(value)


def _notes(run: Run, found: Mapping[Any, Estimate]) -> tuple[str, ...]:
    """What every number of a table rests on."""
    suite = run.suites[0]
    signature = run.signature(suite.name, MEASURE)
    if len(run.suites) > 1:
        signature = signature.over(len(run.suites))
    method = next((one.method for one in found.values()), "")
    drawn = any("seed" in suite.tags for suite in run.suites)
    return (
        f"Signature: {signature}",
        *([f"Intervals: 95 %, {method}. Ties count as wrong."] if method else []),
        "Chance: the score of independent draws, computed from the formulas.",
        *(["Items were drawn, so pooled suites weigh by what was drawn of each, not by their sizes."] if drawn else []),
        *([] if run.done else ["The run is not finished: items without results are left out."]),
        f"RNN, Multitask, n-gram, Humans: transcribed from {cited('marvin2018')['source']}",
    )


PAPER = Paper(SUITES, of_runs)
