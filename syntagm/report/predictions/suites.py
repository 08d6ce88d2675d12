"""The suites on a page about predictions, each with an example, its figure, and the items that are shown token by token."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl
from markupsafe import Markup

from syntagm.evaluation import DEFAULT
from syntagm.report import downloads, shell
from syntagm.report.numbers import Subject
from syntagm.report.policy import embed
from syntagm.report.predictions import downloads as of_predictions, figures, items, scores
from syntagm.report.predictions.items import ExampleSentence, Shown
from syntagm.report.section import Drawing, Variables
from syntagm.report.writing import writing_of
from syntagm.runs import Run, unit
from syntagm.views import Effect, Figure, contrast
from syntagm.views.effects.numbers import limits

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
    """A suite on the page."""

    subject: Subject[Run]
    stem: str  # the name of its files, without an ending
    figure: Figure
    kind: str  # what the figure shows, "regions" or "margins"
    effects: tuple[Effect, ...]  # the effects of all predictions under all models
    shown: Shown  # the items that are shown token by token
    item: str  # `item`, `example`: the first item, as `example.example` returns it
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
        """What limits the effects, as sentences."""
        return limits(self.effects)

    @property
    def empty(self) -> bool:
        """Whether the figure shows empty regions."""
        return self.kind == "regions" and bool(self.figure.table["empty"].any())


def lay_out(subjects: Sequence[Subject[Run]], effects: Mapping[int, Sequence[Effect]]) -> list[SuiteOnPage]:
    """Return the suites as a page shows them."""
    data, suites = shell.DATA, []
    for subject in subjects:
        sentences = read_sentences(subject)
        of_suite = effects[subject.number]
        kind, figure = figures.suite(subject, "", sentences, of_suite)
        verdicts = sum(column.judged[subject.name] for column in subject.columns) * len(subject.record.predictions)
        stem = downloads.file_name(subject.number, subject.name)
        items_data = of_predictions.link_verdicts(subject, stem) if 0 < verdicts * _ROW <= data else Markup("")
        data -= len(items_data)
        shown = items.pick(subject, items.LIMIT, sentences)
        first = items.example(subject.record, sentences[0])
        links = downloads.link_figure(figure.table, stem), items_data
        suites.append(SuiteOnPage(subject, stem, figure, kind, tuple(of_suite), shown, *first, *links))
    return suites


def read_sentences(subject: Subject[Run]) -> list[pl.DataFrame]:
    """Return the sentences of a suite, one table for each of its columns."""
    return [column.run.sentences(subject.name) for column in subject.columns]


def draw_suites(subjects: Sequence[Subject[Run]], effects: Mapping[int, Sequence[Effect]]) -> Iterator[Drawing]:
    """Draw the figure of each suite that has one, with its title."""
    for subject in subjects:
        _, figure = figures.suite(subject, subject.title, read_sentences(subject), effects[subject.number])
        if len(figure.table):
            yield Drawing(downloads.file_name(subject.number, subject.name), figure)


def least(suites: Sequence[SuiteOnPage], version: Variables) -> int:
    """Return a lower bound for the bytes that items and links that save tables add to a page."""
    added = sum(len(item.encode()) for suite in suites for item in suite.json_of(version["limit"]))
    if version["data"]:
        added += sum(len(suite.figure_data) + len(suite.items_data) for suite in suites)
    return added
