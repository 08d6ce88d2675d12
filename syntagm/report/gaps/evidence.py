"""The numbers of fill runs that a page shows: the measures by suite, by nucleus cut-off and by frequency band."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import polars as pl
from markupsafe import Markup

from syntagm.core import counted
from syntagm.evaluation import Estimate, Group, MeasureName
from syntagm.report import numbers, shell
from syntagm.report.chapter import (
    Alert,
    Chapter,
    list_reasons,
    note_conventions,
    note_ties,
    warn_undefined,
    warn_unfinished,
)
from syntagm.report.html import isolate
from syntagm.report.links import csv_link, file_name
from syntagm.report.numbers import Column, Subject
from syntagm.runs import Run, named
from syntagm.views import frequency_bands, gaps


@dataclass(frozen=True, slots=True)
class Band:
    """Equal weight and model weight of the lemmas of a frequency band under a model; all labels have equal weight."""

    column: Column[Run]
    band: int
    equal_weight: Estimate
    model_weight: Estimate


def _bands(column: Column[Run]) -> Iterator[Band]:
    """Yield the bands of a model, with the lemmas that were scored under every label."""
    lemmas = gaps.balance_labels(gaps.lemma_sums(column.run), gaps.words(column.run).labels)
    table = gaps.add_tags(lemmas, _tags(column), [frequency_bands.TAG])
    for band in sorted(int(name) for name in table[frequency_bands.TAG].unique() if name.isdecimal()):
        members = table.filter(pl.col(frequency_bands.TAG).cast(pl.Int64, strict=False) == band)
        group = Group(column.name)
        yield Band(column, band, *(gaps.lemma_share(members, measure, group) for measure in gaps.LEMMA_MEASURES))


def _tags(column: Column[Run]) -> dict[str, dict[str, str]]:
    return {row.lemma: dict(row.tags) for row in gaps.words(column.run).rows}


TAG = "construction"


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the overview, for a model on a suite or on the suites of a construction."""

    label: str  # the suite or construction
    column: Column[Run]
    estimates: Mapping[str, Estimate]  # measure -> estimate without a cut-off; only `tse` if there are no contexts
    rows: tuple[int, int]  # the smallest and the largest number of eligible rows in a context
    skipped: Mapping[str, int]  # reason why items have no context -> number of items
    number: int = 0  # the number of the suite on the page; 0 for a construction

    @property
    def counted(self) -> str:
        """The number of eligible rows of the list, such as "98-109", with an en dash."""
        low, high = self.rows
        return f"{low:,}" if low == high else f"{low:,}\u2013{high:,}"


def columns_of(runs: Sequence[Run]) -> list[Column[Run]]:
    """Return the runs, with distinct names, and their estimates at every cut-off."""
    return [_column(run, name) for (name, _), run in zip(named(runs), runs, strict=True)]


def _column(run: Run, name: str) -> Column[Run]:
    by_suite = {(estimate.group.suite, estimate.group.measure): estimate for estimate in gaps.estimates(run)}
    tagged = [suite.tags[TAG] for suite in run.suites if TAG in suite.tags]
    constructions = gaps.pooled(run, TAG) if len(set(tagged)) < len(tagged) else []
    pooled = {(estimate.group[TAG], estimate.group.measure): estimate for estimate in constructions}
    judged = {suite.name: (tse := by_suite[suite.name, "tse"]).n + tse.undefined for suite in run.suites}
    records = run.record["contexts"].values()
    items, skipped = sum(record["items"] for record in records), _add_up(record["left_out"] for record in records)
    return Column(run, name, by_suite, judged, items, skipped, pooled)


def _add_up(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    """Add up the numbers of skipped items by reason, over several suites."""
    total = Counter[str]()
    for of_suite in counts:
        total.update(of_suite)
    return total


def count_conflicts(column: Column[Run]) -> int:
    """Return the number of items that share a context with an item of another label, whose label is used."""
    return sum(int(record["conflicts"]) for record in column.run.record["contexts"].values())


def _of_suite(subject: Subject[Run], column: Column[Run]) -> Row:
    skipped = column.run.record["contexts"][subject.name]["left_out"]
    of_suite = _whole(column.accuracies, subject.name)
    return Row(subject.title, column, of_suite, _eligible(column.run, [subject.name]), skipped, subject.number)


def constructions(columns: Sequence[Column[Run]]) -> list[Row]:
    """Return a row for each construction and model, for constructions of several suites."""
    names = dict.fromkeys(name for column in columns for name, _ in column.pooled)
    return [
        _of_construction(name, column)
        for name in names
        for column in columns
        if any(pooled == name for pooled, _ in column.pooled)
    ]


def _of_construction(name: str, column: Column[Run]) -> Row:
    suites = [suite.name for suite in column.run.suites if suite.tags.get(TAG) == name]
    skipped = _add_up(column.run.record["contexts"][suite]["left_out"] for suite in suites)
    return Row(name, column, _whole(column.pooled, name), _eligible(column.run, suites), skipped)


def _whole(by_group: Mapping[tuple[str, str], Estimate], name: str) -> dict[str, Estimate]:
    """Return the estimates of a suite or construction without a cut-off, by measure."""
    by_measure = {measure: estimate for (group, measure), estimate in by_group.items() if group == name}
    return {measure: estimate for measure, estimate in by_measure.items() if not MeasureName.parse(measure).options}


def _eligible(run: Run, suites: Sequence[str]) -> tuple[int, int]:
    counts = pl.concat([gaps.contexts(run, name)["eligible"] for name in suites])
    low, high = counts.min(), counts.max()
    return (int(str(low)), int(str(high))) if len(counts) else (0, 0)


LEMMAS, CONTEXTS, SEED = 8, 3, 1


@dataclass(frozen=True, slots=True)
class Lemma:
    """A row of the word list in the contexts of a suite."""

    forms: tuple[str, ...]  # the forms, in the order of the list's labels
    band: str  # the frequency band; "" if the list has none
    # Label -> (number of contexts with this label in which the correct form is more likely, number of all contexts with
    # this label). With more than two labels, a context adds the proportion of the other forms that are less likely.
    won: Mapping[str, tuple[float, int]]
    right: float  # the probability of correct forms divided by that of all forms, both summed over the contexts


@dataclass(frozen=True, slots=True)
class Lemmas:
    hardest: tuple[Lemma, ...]
    easiest: tuple[Lemma, ...]
    labels: tuple[str, ...]  # the labels of the contexts
    # `never`, `always`: the number of lemmas whose correct form is more likely in no context, and in every context
    never: int
    always: int
    total: int  # the number of all lemmas


def example_lemmas(run: Run, suite: str, most: int = LEMMAS) -> Lemmas:
    """Rank the lemmas by the proportion of contexts in which the correct form is more likely, then by probability."""
    # All labels have equal weight. If there are at most twice `most` lemmas, all of them are in `hardest`.
    table = gaps.lemma_sums(run, suite).filter(pl.col("contexts") > 0)
    labels = tuple(label for label in gaps.words(run).labels if (table["label"] == label).any())
    ranked = (
        table.group_by("row", maintain_order=True)
        .agg(
            accuracy=(pl.col("won") / pl.col("contexts")).mean(),
            mass=(pl.col("right").sum() + pl.col("wrong").sum()),
        )
        .sort("accuracy", "mass", "row", descending=[False, True, False])
    )
    order = ranked["row"].to_list()
    easy = ranked.sort("accuracy", "mass", "row", descending=[True, True, False])["row"].to_list()
    hardest, easiest = (order, []) if len(order) <= 2 * most else (order[:most], easy[:most])
    chosen = table.filter(pl.col("row").is_in([*hardest, *easiest]))
    never, always = (int((ranked["accuracy"] == end).sum()) for end in (0.0, 1.0))
    ends = [tuple(_lemma(run, row, chosen.filter(pl.col("row") == row)) for row in rows) for rows in (hardest, easiest)]
    return Lemmas(ends[0], ends[1], labels, never, always, len(order))


def _lemma(run: Run, row: int, rows: pl.DataFrame) -> Lemma:
    listed = gaps.words(run).rows[row]
    won = {counts["label"]: (counts["won"], counts["contexts"]) for counts in rows.iter_rows(named=True)}
    right, wrong = float(rows["right"].sum()), float(rows["wrong"].sum())
    share = right / (right + wrong) if right + wrong > 0 else float("nan")
    return Lemma(listed.forms, listed.tags.get("band", ""), won, share)


def example_contexts(run: Run, suite: str, most: int = CONTEXTS) -> list[dict[str, Any]]:
    """Choose contexts with the lowest and the highest equal weight, and a sample: rows of `gaps.contexts` with a reason `why`."""
    # If a suite has at most 3 * `most` contexts, all are returned in their order, without a reason.
    table = gaps.contexts(run, suite)
    if len(table) <= 3 * most:
        return [context | {"why": ""} for context in table.iter_rows(named=True)]
    defined = table.with_row_index("place").filter(pl.col("equal_weight").is_not_nan())
    order = defined.sort("equal_weight", "model_weight", "place")["place"].to_list()
    chosen = dict.fromkeys(order[:most], "lowest") | dict.fromkeys(order[most:][-most:], "highest")
    remaining = [place for place in range(len(table)) if place not in chosen]
    sample = sorted(random.Random(f"{SEED} {suite}").sample(remaining, min(most, len(remaining))))
    chosen |= dict.fromkeys(sample, "sampled")
    return [table.row(place, named=True) | {"why": why} for place, why in chosen.items()]


def most_probable(run: Run, suite: str, contexts: Sequence[Mapping[str, Any]]) -> list[tuple[Mapping[str, Any], Any]]:
    """Return contexts with the most probable entries in each: rows of `gaps.top_words` with probability and form."""
    # The list is empty if the run has kept no entries.
    if "top_words.parquet" not in run.tables:
        return []
    names = [context["context"] for context in contexts]
    entries = gaps.top_words(run, suite).filter(pl.col("context").is_in(names))
    rows = list(entries.with_columns(gaps.PROBABILITY, gaps.FORM).iter_rows(named=True))
    return [(context, [row for row in rows if row["context"] == context["context"]]) for context in contexts]


COLUMNS = ("model", "of", "name", "measure", "value", "low", "high", "n", "ties", "undefined", "method", "signature")
LEMMA_COLUMNS = ("model", "label", "lemma", "contexts", "won", "right", "wrong")


def link_estimates(columns: Sequence[Column[Run]]) -> Markup:
    return csv_link("scores.csv", COLUMNS, (row for column in columns for row in _rows(column)), "all scores as CSV")


def _rows(column: Column[Run]) -> Iterator[tuple[object, ...]]:
    for (suite, measure), estimate in column.accuracies.items():
        yield (*_row(column, "suite", suite, estimate), column.run.signature(suite, measure))
    for (name, _), estimate in column.pooled.items():
        yield (*_row(column, TAG, name, estimate), "")


def _row(column: Column[Run], kind: str, name: str, estimate: Estimate) -> tuple[object, ...]:
    numbers = (estimate.value, estimate.low, estimate.high, estimate.n, estimate.ties, estimate.undefined)
    return (column.name, kind, name, estimate.group.measure, *numbers, estimate.method)


def link_lemmas(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    tables = ((column, gaps.lemma_sums(column.run, suite).select(LEMMA_COLUMNS[1:])) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return csv_link(f"{stem}-lemmas.csv", LEMMA_COLUMNS, rows, "every lemma as CSV")


def link_contexts(columns: Sequence[Column[Run]], suite: str, stem: str) -> Markup:
    """Return a link to every context of a suite, with its values without a cut-off."""
    shown = ("item", "left", "right", "label", "items", "eligible", "equal_weight", "model_weight", "covered")
    tables = ((column, gaps.contexts(column.run, suite).select(shown)) for column in columns)
    rows = ((column.name, *row) for column, table in tables for row in table.iter_rows())
    return csv_link(f"{stem}-contexts.csv", ("model", *shown), rows, "every context as CSV")


# The versions of the section: with links that save the tables of suites, if `data`, and lemmas and contexts, if `examples`.
VERSIONS = (
    {"data": True, "examples": True},
    {"data": False, "examples": True},
    {"data": False, "examples": False},
)


@dataclass(frozen=True, slots=True)
class ModelOnSuite:
    """The results of one model on a suite: a row of numbers, some lemmas, and some contexts with most probable entries."""

    row: Row
    lemmas: Lemmas
    contexts: list[dict[str, Any]]
    most_probable: list[tuple[Mapping[str, Any], Any]]


@dataclass(frozen=True, slots=True)
class SuiteOnPage:
    subject: Subject[Run]
    models: tuple[ModelOnSuite, ...]  # the results of each model
    # `lemmas_data`, `contexts_data`: links that save tables as CSV; "" if a table is too large for the page
    lemmas_data: Markup
    contexts_data: Markup


def lay_out(subjects: Sequence[Subject[Run]]) -> list[SuiteOnPage]:
    room = shell.DATA
    suites = []
    for subject in subjects:
        stem, links = file_name(subject.number, subject.name), [Markup(""), Markup("")]
        for place, table_link in enumerate((link_lemmas, link_contexts)):
            link = table_link(subject.columns, subject.name, stem)
            links[place] = link if len(link) <= room else Markup("")
            room -= len(links[place])
        models = tuple(_model(_of_suite(subject, column), subject.name) for column in subject.columns)
        suites.append(SuiteOnPage(subject, models, *links))
    return suites


def _model(row: Row, suite: str) -> ModelOnSuite:
    run = row.column.run
    contexts = example_contexts(run, suite)
    return ModelOnSuite(row, example_lemmas(run, suite), contexts, most_probable(run, suite, contexts))


class Evidence(Chapter):
    """The numbers of fill runs."""

    intro: ClassVar[str] = "gaps/intro.html"
    title: ClassVar[str] = "Words in gaps"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns: Sequence[Column[Run]] = columns_of(runs)
        self.subjects = numbers.subjects(self.columns)
        blanks = {run.record["options"]["blank"] for run in runs}
        self.differing, self.shared = "differing" in blanks, "shared" in blanks

    def alerts(self) -> list[Alert]:
        by_column = []
        for column in self.columns:
            unfinished = warn_unfinished(column, "of the items that make a context")
            by_column += [*unfinished, *warn_undefined(column, ""), *_note_items(column)]
        meaning = "The two words of a tie are equally likely within numerical error; a tie counts as a failure."
        ties = note_ties(self.columns, " of TSE", meaning)
        return [*note_conventions(self.columns), *by_column, *self._compare(), *ties]

    def _compare(self) -> Iterator[Alert]:
        if len({tuple(gaps.shared_settings(column.run).values()) for column in self.columns}) > 1:
            content = Markup(
                "<b>Not comparable.</b> The runs have different word lists, gaps or eligible rows; see <a "
                'href="#record">the record</a>. Their numbers stand side by side, but measure different things.'
            )
            yield Alert(content, mild=False)
        elif not gaps.same_rows([column.run for column in self.columns]):
            content = Markup(
                "<b>Compare with care.</b> Not all models could score the same rows of the list, so their weights are over "
                "different rows: see the column &ldquo;rows&rdquo;."
            )
            yield Alert(content)

    @cached_property
    def suites(self) -> list[SuiteOnPage]:
        """The suites as the page shows them."""
        return lay_out(self.subjects)

    @property
    def rows(self) -> list[Row]:
        """The results of each model on each suite."""
        return [model.row for suite in self.suites for model in suite.models]

    @cached_property
    def band_rows(self) -> list[tuple[object, ...]]:
        """The numbers of the figure by frequency band; empty if no word list has bands."""
        return [
            row
            for column in self.columns
            for row in frequency_bands.rows_of(
                column.name, gaps.lemma_sums(column.run), _tags(column), gaps.words(column.run).labels
            )
        ]

    @cached_property
    def bands(self) -> list[Band]:
        """The weights of the lemmas of each band; empty if no word list has bands."""
        return [band for column in self.columns for band in _bands(column)] if self.band_rows else []


def _note_items(column: Column[Run]) -> Iterator[Alert]:
    """Note the items without a context, and those whose context has the label of another item."""
    if column.skipped:
        yield Alert(Markup("<b>No context</b> for %s:") % isolate(column.name) + list_reasons(column.skipped))
    if conflicts := count_conflicts(column):
        content = Markup(
            "<b>%s</b> for %s share%s a context with an item of another label. The label of that item is used, since the model "
            "sees nothing that decides between the two."
        )
        items = counted(conflicts, "item")
        yield Alert(content % (items, isolate(column.name), "s" if conflicts == 1 else ""))
