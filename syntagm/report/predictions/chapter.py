"""The chapter on runs of predictions: accuracies, comparisons of models, regions, and items token by token."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

import polars as pl
from markupsafe import Markup

from syntagm.drawing.chart import Figure
from syntagm.report import downloads, numbers, shell
from syntagm.report.chapter import Chapter, Render
from syntagm.report.numbers import Subject
from syntagm.report.policy import embedded
from syntagm.report.predictions import downloads as of_predictions
from syntagm.report.predictions import example, figures, headline, items, model_pairs, scores
from syntagm.report.predictions.example import ExampleSentence
from syntagm.report.predictions.items import Shown
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.runs.store import Run
from syntagm.stats import interval
from syntagm.views.effects.numbers import Effect, contrast, limits

_LIMITS = (items.LIMIT, 25, 12, 6, 3, 0)
# Nearly every page has room for this many items.
_AT_ONCE = 12
# A row of verdicts takes about this many bytes.
_ROW = 60
# The text around the items of a suite varies by about this many bytes, depending on how many items are shown.
_FRAME = 1000


@dataclass(frozen=True, slots=True)
class Section:
    """A suite on the page.

    Arguments:
        svg: the figure; "" if there is no room for it.
        kind: what the figure shows, "regions" or "margins".
        effects: the effects of all predictions under all models.
        shown: the items that are shown token by token.
        item, example: the first item, as `example.example` returns it.
        figure_data, items_data: links that save tables as CSV; the second is "" if its table is too large for the page.
        embedded: rank of an item -> the item as JSON; `json_of` fills it.
    """

    subject: Subject[Run]
    svg: Markup
    figure: Figure
    kind: str
    effects: tuple[Effect, ...]
    shown: Shown
    item: str
    example: tuple[ExampleSentence, ...]
    figure_data: Markup
    items_data: Markup
    embedded: dict[int, str]

    def json_of(self, limit: int) -> list[str]:
        """Return the `limit` most informative items as JSON, in the order of the suite."""
        # Items are built only when a version of the page may have room for them, which saves time on large pages.
        if len(self.embedded) < min(limit, len(self.shown.ranks)):
            items = self.shown.items(len(self.embedded), max(limit, _AT_ONCE))
            self.embedded.update({rank: embedded(item) for rank, item in items.items()})
        return [self.embedded[rank] for rank in self.shown.ranks if rank < limit]

    @property
    def compared(self) -> bool:
        """Whether the figure shows regions that the first prediction compares."""
        regions_compared = {reference.region for reference in example.compared(self.subject.record)}
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


@final
class Predictions(Chapter):
    """A chapter on runs of predictions, or of measures used instead of them."""

    folder: ClassVar[str] = "predictions"
    title: ClassVar[str] = "Targeted syntactic evaluation"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)

    def page(self, room: int) -> dict[str, Any]:
        """Return the variables of the templates, except for the items; see `Chapter.page`."""
        columns, subjects = self.columns, self.subjects
        overall, groups, pairs = scores.overall(columns), scores.groups(columns), model_pairs.compare(columns, subjects)
        differences = {pair.number: Markup(figures.differences([pair]).svg()) for pair in self._drawn(pairs)}
        tag, by_group = scores.grouped(columns, subjects)
        found = {subject.number: figures.effects_of(subject, _sentences(subject)) for subject in subjects}
        of_suites = [(subject, found[subject.number]) for members in by_group.values() for subject in members]
        forests = [(forest, Markup(forest.figure.svg())) for forest in figures.forests(of_suites, columns)]
        # The figures of suites get what these leave.
        taken = sum(len(svg.encode()) for svg in (*differences.values(), *(svg for _, svg in forests)))
        sections = list(_sections(subjects, room - taken, found))
        numbered = {section.subject.number: section for section in sections}
        curves = figures.trajectories(columns, tag)
        lines = [*overall, *(line for group in groups.values() for line in group)]
        scored = [estimate for line in overall for estimate in line.cells if estimate]
        anchors = [("suites", "Suites"), *((f"by-{tag}", f"By {tag.replace('_', ' ')}") for tag in groups)]
        judged = scores.judged(columns)
        shown_on_page = {"effects": forests, "trajectories": curves}
        anchors += [(anchor, anchor.capitalize()) for anchor, figure in shown_on_page.items() if figure]
        return {
            "sections": sections,
            "headlines": headline.headlines(columns, subjects, pairs) if judged else [],
            "group_tag": tag,
            "by_group": {
                group: [numbered[subject.number] for subject in members] for group, members in by_group.items()
            },
            "meanings": _meanings(subjects),
            "forests": forests,
            "only_first": figures.only_first(of_suites),
            "curves": Markup(curves.svg()) if curves else "",
            "differences": differences,
            "judged": judged,
            "anchors": [*anchors, *([("compared", "Models compared")] if pairs else [])],
            "above": ("suites", "table of suites"),
            "overall": overall,
            "methods": sorted({scores.REMARK.sub("", estimate.design) for estimate in scored}),
            "limits": scores.limits,
            "incomplete": any(estimate.value != estimate.value for estimate in scored),
            "groups": groups,
            "in_no_line": {tag: scores.in_no_line(columns, tag) for tag in groups},
            "names": len({subject.name for subject in subjects}),
            "pairs": pairs,
            "every_pair_with_the_first": len(columns) > model_pairs.MOST,
            "most_models": model_pairs.MOST,
            "downloads": {
                "scores": of_predictions.scores(columns, lines),
                "compared": of_predictions.compared(pairs) if pairs else "",
            },
            "picture": Markup(figures.accuracies(subjects, _groups(by_group)).svg())
            if judged and len(sections) > 1
            else "",
            "figure_method": interval.OF_NUMBERS,
            "seed": items.SEED,
            "in_words": example.prediction_in_words,
        }

    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the page with ever fewer items, skipping versions that can't be small enough."""
        sections: Sequence[Section] = page["sections"]
        # The size without items and CSV: at first only the size of the figures is known.
        bare_size, may_fit = sum(len(section.svg) for section in sections), 0
        for limit in reversed(_LIMITS):
            if bare_size + _added(sections, limit, False) > ceiling:
                break
            may_fit = limit
        for limit, data in [(_LIMITS[0], True), *((limit, False) for limit in _LIMITS)]:
            if limit and (limit > may_fit or bare_size + _added(sections, limit, data) > ceiling):
                continue
            page_text = _render(render, sections, limit, data)
            # If this version is too large, its size tells how large a page without items and CSV is.
            bare_size = max(bare_size, len(page_text.encode()) - _added(sections, limit, data) - _FRAME * len(sections))
            yield page_text

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the figure of accuracies, and the figure of each suite that has one."""
        tag, by_group = scores.grouped(self.columns, self.subjects)
        if scores.judged(self.columns):
            yield "scores", figures.accuracies(self.subjects, _groups(by_group), "Accuracy by suite")
        found = []
        for subject in self.subjects:
            sentences = _sentences(subject)
            found.append(figures.effects_of(subject, sentences))
            _, figure = figures.suite(subject, subject.title, sentences, found[-1])
            if len(figure.table):
                yield downloads.file_name(subject.number, subject.name), figure
        for number, forest in enumerate(
            figures.forests(list(zip(self.subjects, found, strict=True)), self.columns, "Effects"), 1
        ):
            yield (f"effects-{downloads.file_name(number, forest.model)}" if forest.model else "effects"), forest.figure
        if pairs := model_pairs.compare(self.columns, self.subjects):
            yield "comparison", figures.differences(self._drawn(pairs), "Differences in accuracy")
        if curves := figures.trajectories(self.columns, tag):
            yield "trajectories", curves

    def _drawn(self, pairs: Sequence[ModelPair]) -> list[ModelPair]:
        """Return the pairs of models that have a figure: with many models, only those with the first."""
        return [pair for pair in pairs if len(self.columns) <= figures.FEW or pair.a is self.columns[0]]


def _groups(by_group: Mapping[str, Sequence[Subject[Run]]]) -> dict[str, str]:
    return {subject.title: group for group, subjects in by_group.items() for subject in subjects}


def _meanings(subjects: Sequence[Subject[Run]]) -> dict[str, str]:
    names = dict.fromkeys(name for subject in subjects for name in subject.record.predictions)
    return {name: scores.MEANINGS[name] for name in names if name in scores.MEANINGS}


def _sentences(subject: Subject[Run]) -> list[pl.DataFrame]:
    return [column.run.sentences(subject.name) for column in subject.columns]


def _sections(
    subjects: Sequence[Subject[Run]], room: int, effects: Mapping[int, Sequence[Effect]]
) -> Iterator[Section]:
    data = shell.DATA
    for subject in subjects:
        sentences, found = _sentences(subject), effects[subject.number]
        kind, drawn = figures.suite(subject, "", sentences, found)
        picture = drawn.svg() if len(drawn.table) else ""
        room -= len(picture.encode())
        stem = downloads.file_name(subject.number, subject.name)
        verdicts = sum(column.judged[subject.name] for column in subject.columns) * len(subject.record.predictions)
        items_data = of_predictions.verdicts(subject, stem) if 0 < verdicts * _ROW <= data else Markup("")
        data -= len(items_data)
        shown = items.shown(subject, items.LIMIT, sentences)
        yield Section(
            *(subject, Markup(picture if room > 0 else ""), drawn, kind, tuple(found), shown),
            *example.example(subject.record, sentences[0]),
            *(downloads.figure(drawn.table, stem), items_data),
            {},
        )


def _added(sections: Sequence[Section], limit: int, data: bool) -> int:
    """Return a lower bound for the bytes that items and CSV add to a page."""
    shown = sum(len(item.encode()) for section in sections for item in section.json_of(limit))
    return shown + (sum(len(section.figure_data) + len(section.items_data) for section in sections) if data else 0)


def _render(render: Render, sections: Sequence[Section], limit: int, data: bool) -> str:
    chosen = {section.subject.number: Markup(_items(section, limit)) for section in sections}
    return render({"limit": limit, "data": data, "embedded": chosen})


def _items(section: Section, limit: int) -> str:
    """Return the JSON from which the script draws the `limit` most informative items of a suite."""
    subject = section.subject
    labels = subject.record.region_labels
    data = {
        "columns": [column.name for column in subject.columns],
        "tolerances": [column.run.tolerance for column in subject.columns],
        "conditions": subject.record.conditions,
        "regions": [f"{name} {labels.get(name, '')}".strip() for name in section.shown.regions],
    }
    data |= {} if scores.judged(subject.columns) else {"numbers": True}
    return f'{embedded(data)[:-1]},"items":[{",".join(section.json_of(limit))}]}}'
