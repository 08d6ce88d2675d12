"""The numbers of runs of predictions that a page shows: accuracies, comparisons, effects, and those of each suite."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import polars as pl
from markupsafe import Markup

from syntagm.core import UsageError, counted
from syntagm.evaluation import DEFAULT, People
from syntagm.report import numbers, shell
from syntagm.report.chapter import (
    Alert,
    Chapter,
    note_conventions,
    note_ties,
    note_unknown,
    warn_undefined,
    warn_unfinished,
)
from syntagm.report.html import isolate, join, writing_of
from syntagm.report.links import Rows, csv_link, figure_link, file_name
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions import figures, items, model_pairs, scores
from syntagm.report.predictions.items import ExampleSentence, Shown
from syntagm.report.predictions.model_pairs import Headline, ModelPair, headlines
from syntagm.report.predictions.scores import ScoreRow
from syntagm.report.section import Drawing, Variables
from syntagm.report.shell import embed
from syntagm.runs import Run, ties_of, unit, whole
from syntagm.stats import Comparison
from syntagm.views import SCORE_COLUMNS, Effect, Figure, Table, claims, contrast, effects, score_row

COMPARISON_COLUMNS = (
    *("a", "b", "suite", "n", "accuracy_a", "low_a", "high_a", "accuracy_b", "low_b", "high_b"),
    *("difference", "low", "high", "only_a", "only_b", "undefined", "p", "p_holm", "p_benjamini_hochberg", "method"),
)


def list_scores(columns: Sequence[Column[Run]], lines: Sequence[ScoreRow]) -> Rows:
    """List every accuracy of every run and the scores of `lines`, with interval, chance and signature."""
    rows: list[tuple[object, ...]] = []
    for place, column in enumerate(columns):
        estimates = [*column.accuracies.values(), *(score for line in lines if (score := line.cells[place]))]
        rows += [(column.name, *score_row(column.run, estimate)[1:]) for estimate in estimates]
    return SCORE_COLUMNS, rows


def list_comparisons(pairs: Sequence[ModelPair]) -> Rows:
    rows = (_row_of(pair, subject, comparison) for pair in pairs for subject, comparison in pair.suites)
    return COMPARISON_COLUMNS, rows


def link_verdicts(subject: Subject[Run], stem: str) -> Markup:
    """Return a link to the value and the margin of every item: one row per item, measure and model."""
    columns = ("model", "item", "measure", "value", "margin")
    rows = [
        (column.name, *row)
        for column in subject.columns
        for row in column.run.results(subject.name).select(columns[1:]).iter_rows()
    ]
    return csv_link(f"{stem}-items.csv", columns, rows, "every item as CSV")


def _row_of(pair: ModelPair, subject: Subject[Run], comparison: Comparison) -> tuple[object, ...]:
    estimates = [estimate for estimate in (comparison.a, comparison.b, comparison.difference) if estimate]
    counts = (comparison.verdicts.only_a, comparison.verdicts.only_b) if comparison.verdicts else ("", "")
    tested = (comparison.p, comparison.holm, comparison.benjamini_hochberg)
    intervals = (number for estimate in estimates for number in (estimate.value, estimate.low, estimate.high))
    numbers = (*intervals, *counts, comparison.difference.undefined, *tested)
    return (pair.a.name, pair.b.name, subject.title, comparison.n, *numbers, comparison.difference.method)


# The versions of the section: up to `limit` items token by token of each suite, and links that save its tables if `data`.
VERSIONS = (
    {"limit": items.LIMIT, "data": True},
    *({"limit": limit, "data": False} for limit in (items.LIMIT, 25, 12, 6, 3, 0)),
)
# Nearly every page has room for this many items.
_AT_ONCE = 12
# A row of verdicts takes about this many bytes.
_ROW = 60


@dataclass(frozen=True, slots=True)
class SuiteOnPage:
    subject: Subject[Run]
    stem: str  # the name of its files, without an ending
    figure: Figure
    kind: str  # what the figure shows, "regions" or "margins"
    effects: tuple[Effect, ...]  # the effects of all predictions under all models
    shown: Shown  # the items that are shown token by token
    item: str  # `item`, `example`: the first item, as `items.example` returns it
    example: tuple[ExampleSentence, ...]
    # `figure_data`, `items_data`: links that save tables as CSV; the second is "" if its table is too large for the
    # page
    figure_data: Markup
    items_data: Markup
    embedded: dict[int, str] = field(default_factory=dict)  # rank of an item -> the item as JSON; `json_of` fills it

    def json_of(self, limit: int) -> list[str]:
        """Return the `limit` most informative items as JSON, in the order of the suite."""
        # Items are built only when a version of the page may have room for them, which saves time on large pages.
        if len(self.embedded) < min(limit, len(self.shown.ranks)):
            items = self.shown.items(len(self.embedded), max(limit, _AT_ONCE))
            self.embedded.update({rank: embed(item) for rank, item in items.items()})
        return [self.embedded[rank] for rank in self.shown.ranks if rank < limit]

    def data_of(self, limit: int) -> Markup:
        """Return the JSON from which the script draws the `limit` most informative items."""
        subject = self.subject
        labels = subject.record.region_labels
        data = {
            "columns": [column.name for column in subject.columns],
            "tolerances": [column.run.tolerance for column in subject.columns],
            "conditions": subject.record.conditions,
            "regions": [f"{name} {labels.get(name, '')}".strip() for name in self.shown.regions],
        }
        writing = writing_of(subject.record.tags)
        if writing.lang:
            data |= {"lang": writing.lang, "dir": writing.direction()}
        data |= {} if scores.are_verdicts(subject.columns) else {"numbers": True}
        units = {
            measure: [unit(column.run, subject.name, measure) for column in subject.columns]
            for measure in subject.record.predictions
        }
        # Margins are in bits, unless a convention says otherwise.
        if others := {measure: of_models for measure, of_models in units.items() if {*of_models} != {DEFAULT}}:
            data["units"] = others
        return Markup(f'{embed(data)[:-1]},"items":[{",".join(self.json_of(limit))}]}}')

    @property
    def compared(self) -> bool:
        """Whether the figure shows regions that the first prediction compares."""
        regions_compared = {reference.region for reference in items.find_compared(self.subject.record)}
        return bool(regions_compared & set(self.figure.table["region"]))

    @property
    def effect_rows(self) -> list[tuple[str, str, list[Effect | None]]]:
        """The rows of the table of effects: prediction, contrast, and the effect under each model."""
        rows: dict[tuple[str, str], dict[str, Effect]] = {}
        for effect in self.effects:
            key = (effect.estimate.group.measure, contrast(effect.comparison))
            rows.setdefault(key, {})[effect.estimate.group.model] = effect
        names = [column.name for column in self.subject.columns]
        return [(*key, [by_model.get(name) for name in names]) for key, by_model in rows.items()]

    @property
    def limits(self) -> tuple[str, ...]:
        return effects.limits(self.effects)

    @property
    def empty(self) -> bool:
        return self.kind == "regions" and bool(self.figure.table["empty"].any())


def lay_out(subjects: Sequence[Subject[Run]], effects: Mapping[int, Sequence[Effect]]) -> list[SuiteOnPage]:
    data, suites = shell.DATA, []
    for subject in subjects:
        sentences = read_sentences(subject)
        of_suite = effects[subject.number]
        kind, figure = figures.suite(subject, "", sentences, of_suite)
        verdicts = sum(column.judged[subject.name] for column in subject.columns) * len(subject.record.predictions)
        stem = file_name(subject.number, subject.name)
        items_data = link_verdicts(subject, stem) if 0 < verdicts * _ROW <= data else Markup("")
        data -= len(items_data)
        shown = items.pick(subject, items.LIMIT, sentences)
        first = items.example(subject.record, sentences[0])
        links = figure_link(figure.table, stem), items_data
        suites.append(SuiteOnPage(subject, stem, figure, kind, tuple(of_suite), shown, *first, *links))
    return suites


def read_sentences(subject: Subject[Run]) -> list[pl.DataFrame]:
    """Return the sentences of a suite, one table for each of its columns."""
    return [column.run.sentences(subject.name) for column in subject.columns]


def draw_suites(subjects: Sequence[Subject[Run]], effects: Mapping[int, Sequence[Effect]]) -> Iterator[Drawing]:
    for subject in subjects:
        _, figure = figures.suite(subject, subject.title, read_sentences(subject), effects[subject.number])
        if len(figure.table):
            yield Drawing(file_name(subject.number, subject.name), figure)


def least(suites: Sequence[SuiteOnPage], version: Variables) -> int:
    """Return a lower bound for the bytes that items and links that save tables add to a page."""
    added = sum(len(item.encode()) for suite in suites for item in suite.json_of(version["limit"]))
    if version["data"]:
        added += sum(len(suite.figure_data) + len(suite.items_data) for suite in suites)
    return added


# Pairs of all runs that a page judges by every convention; more take minutes.
_PAIRS = 4_000


class Evidence(Chapter):
    """The numbers of runs of predictions, or of measures used instead of them."""

    intro: ClassVar[str] = "predictions/intro.html"
    title: ClassVar[str] = "Targeted syntactic evaluation"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns: Sequence[Column[Run]] = scores.columns(runs)
        self.subjects: Sequence[Subject[Run]] = numbers.subjects(self.columns)
        self.judged = scores.are_verdicts(self.columns)
        self.tag, self.by_group = scores.group_subjects(self.columns, self.subjects)

    def alerts(self) -> list[Alert]:
        by_column = []
        for column in self.columns:
            of_items = f"of {sum(suite.items for suite in column.run.suites):,} items"
            by_column += [
                *warn_unfinished(column, of_items),
                *warn_undefined(column, "verdict"),
                *_note_skipped(column),
                *note_unknown(column),
            ]
        runs = [column.run for column in self.columns]
        meaning = f"The two sides of a tie differ by no more than numerical error; ties count as {ties_of(runs)}."
        return [*note_conventions(self.columns), *by_column, *note_ties(self.columns, "", meaning)]

    @property
    def tag_name(self) -> str:
        """The tag by which suites are grouped, as a noun; "" if there is none."""
        return self.tag.replace("_", " ")

    @property
    def names(self) -> set[str]:
        return {subject.name for subject in self.subjects}

    @property
    def meanings(self) -> dict[str, str]:
        names = dict.fromkeys(name for subject in self.subjects for name in subject.record.predictions)
        return {name: scores.MEANINGS[name] for name in names if name in scores.MEANINGS}

    @cached_property
    def overall(self) -> list[ScoreRow]:
        return scores.overall(self.columns)

    @cached_property
    def groups(self) -> Mapping[str, Sequence[ScoreRow]]:
        return scores.groups(self.columns)

    @property
    def all_lines(self) -> list[ScoreRow]:
        """The scores over all suites, and over those of each value of each tag."""
        return [*self.overall, *(line for group in self.groups.values() for line in group)]

    @cached_property
    def pairs(self) -> list[ModelPair]:
        return model_pairs.compare(self.columns, self.subjects)

    @cached_property
    def claims(self) -> Table | None:
        """The claims that some convention shows; None without pairs of sentences, or with too many to judge on a page."""
        runs = [column.run for column in self.columns]
        pairs = sum(suite.items for run in runs for suite in run.suites if whole(run, suite.name))
        if not (self.judged and all(run.task.surprisals for run in runs)) or not 0 < pairs <= _PAIRS:
            return None
        try:
            table = claims.make_table(runs)
        except UsageError:  # a run without such pairs, or two without a suite in common
            return None
        return table if table.rows else None

    @cached_property
    def chance_headlines(self) -> list[Headline]:
        """The headline of each model, without comparisons with other models."""
        return headlines(self.columns, self.subjects, ())

    @cached_property
    def effects(self) -> dict[int, list[Effect]]:
        """Number of a suite -> the effects of all its predictions under all models."""
        return {subject.number: figures.effects_of(subject, read_sentences(subject)) for subject in self.subjects}

    @cached_property
    def curves(self) -> Figure | None:
        """The figure of scores along checkpoints; None if the runs have none."""
        return figures.trajectories(self.columns, self.tag)

    @cached_property
    def suites(self) -> list[SuiteOnPage]:
        return lay_out(self.subjects, self.effects)


def _note_skipped(column: Column[Run]) -> Iterator[Alert]:
    if column.skipped:
        skipped = join(
            Markup("%s (of %s)") % (isolate(name, False), counted(suites, "suite"))
            for name, suites in column.skipped.items()
        )
        why = (
            "People chose between the sentences of the first prediction only."
            if column.run.task is People
            else "These predictions are about parts of a sentence. This model sees the text on both sides of a part, so its bits "
            "for a part are not the surprisal of a reader who has read only up to there."
        )
        yield Alert(Markup("<b>Not computed</b> for %s: %s. %s") % (isolate(column.name), skipped, why))
