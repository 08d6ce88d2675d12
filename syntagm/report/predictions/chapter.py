"""The chapter on runs of predictions: accuracies, models compared, regions, and items token by token."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from markupsafe import Markup

from syntagm.drawing.chart import Figure
from syntagm.report import downloads, numbers, shell
from syntagm.report.chapter import Chapter, Render
from syntagm.report.numbers import Subject
from syntagm.report.policy import embedded
from syntagm.report.predictions import downloads as of_predictions
from syntagm.report.predictions import example, figures, items, scores, versus
from syntagm.report.predictions.example import Line
from syntagm.report.predictions.items import Shown
from syntagm.runs.store import Run
from syntagm.views import regions

_LIMITS = (items.LIMIT, 25, 12, 6, 3, 0)
# As many items nearly every page has room for.
_AT_ONCE = 12
# A row of verdicts takes about so many bytes.
_ROW = 60
# What is said around the items of a suite takes so many bytes more or less, by how many are shown.
_SAID = 1000
# The number of suites is beside each score.
_REMARK = re.compile(r"^mean of [\d,]+ suites?; ")


@dataclass(frozen=True, slots=True)
class Section:
    """One suite on the page.

    Arguments:
        svg: its figure, "" if left out.
        shown: items with tokens.
        item, example: the first item, as `example.example` gives it.
        figure_data, items_data: links that save numbers; the second "" if there are too many.
        embedded: rank of an item -> the item as JSON; `json_of` fills it.
    """

    subject: Subject[Run]
    svg: Markup
    figure: Figure
    kind: str
    shown: Shown
    item: str
    example: tuple[Line, ...]
    figure_data: Markup
    items_data: Markup
    embedded: dict[int, str]

    def json_of(self, limit: int) -> list[str]:
        """Return the `limit` most telling items as JSON, in the order of the suite."""
        # Items are made when a page may have room for them: those of large pages are not.
        if len(self.embedded) < min(limit, len(self.shown.ranks)):
            made = self.shown.items(len(self.embedded), max(limit, _AT_ONCE))
            self.embedded.update({rank: embedded(item) for rank, item in made.items()})
        return [self.embedded[rank] for rank in self.shown.ranks if rank < limit]

    @property
    def compared(self) -> bool:
        """Does the figure show what the first prediction compares?"""
        return bool(example.compared(self.subject.record) & set(self.figure.table["region"]))

    @property
    def empty(self) -> bool:
        """Does the figure show empty regions?"""
        return self.kind == "regions" and bool(self.figure.table["empty"].any())


@final
class Predictions(Chapter):
    """Runs of predictions, or of measures in their place."""

    folder: ClassVar[str] = "predictions"
    title: ClassVar[str] = "Targeted syntactic evaluation"

    def __init__(self, runs: Sequence[Run]) -> None:
        self.columns = scores.columns(runs)
        self.subjects = numbers.subjects(self.columns)

    def page(self, room: int) -> dict[str, Any]:
        """Return what the page says apart from its items."""
        columns, subjects = self.columns, self.subjects
        sections = list(_sections(subjects, room))
        overall, groups, pairs = scores.overall(columns), scores.groups(columns), versus.versus(columns, subjects)
        lines = [*overall, *(line for found in groups.values() for line in found)]
        scored = [one for line in overall for one in line.cells if one]
        anchors = [("suites", "Suites"), *((f"by-{tag}", f"By {tag}") for tag in groups)]
        judged = scores.judged(columns)
        return {
            "sections": sections,
            "judged": judged,
            "anchors": [*anchors, *([("compared", "Models compared")] if pairs else [])],
            "above": ("suites", "table of suites"),
            "overall": overall,
            "methods": sorted({_REMARK.sub("", one.method) for one in scored}),
            "incomplete": any(one.value != one.value for one in scored),
            "groups": groups,
            "in_no_line": {tag: scores.in_no_line(columns, tag) for tag in groups},
            "names": len({subject.name for subject in subjects}),
            "pairs": pairs,
            "every_pair_with_the_first": len(columns) > versus.MOST,
            "most_models": versus.MOST,
            "downloads": {
                "scores": of_predictions.scores(columns, lines),
                "compared": of_predictions.compared(pairs) if pairs else "",
            },
            "picture": Markup(figures.accuracies(subjects).svg()) if judged and len(sections) > 1 else "",
            "figure_method": regions.METHOD,
            "seed": items.SEED,
            "spelled": example.spelled,
        }

    def versions(self, page: Mapping[str, Any], render: Render, ceiling: int) -> Iterator[str]:
        """Yield the page with less and less on it, without those that can't be small enough."""
        sections: Sequence[Section] = page["sections"]
        # What the page takes without items and CSV is at first known of its figures only.
        rest, may_fit = sum(len(section.svg) for section in sections), 0
        for limit in reversed(_LIMITS):
            if rest + _added(sections, limit, False) > ceiling:
                break
            may_fit = limit
        for limit, data in [(_LIMITS[0], True), *((limit, False) for limit in _LIMITS)]:
            if limit and (limit > may_fit or rest + _added(sections, limit, data) > ceiling):
                continue
            made = _render(render, sections, limit, data)
            # Of a page that was too large it is known what it takes without its items and CSV.
            rest = max(rest, len(made.encode()) - _added(sections, limit, data) - _SAID * len(sections))
            yield made

    def figures(self) -> Iterator[tuple[str, Figure]]:
        """Yield the accuracies of all suites, and a figure of each suite that has one."""
        if scores.judged(self.columns):
            yield "scores", figures.accuracies(self.subjects, "Accuracy by suite")
        for subject in self.subjects:
            _, figure = figures.suite(subject, subject.title)
            if len(figure.table):
                yield downloads.file_name(subject.number, subject.name), figure


def _sections(subjects: Sequence[Subject[Run]], room: int) -> Iterator[Section]:
    data = shell.DATA
    for subject in subjects:
        sentences = [column.run.sentences(subject.name) for column in subject.columns]
        kind, drawn = figures.suite(subject, "", sentences)
        picture = drawn.svg() if len(drawn.table) else ""
        room -= len(picture.encode())
        stem = downloads.file_name(subject.number, subject.name)
        verdicts = sum(column.judged[subject.name] for column in subject.columns) * len(subject.record.predictions)
        items_data = of_predictions.verdicts(subject, stem) if 0 < verdicts * _ROW <= data else Markup("")
        data -= len(items_data)
        shown = items.shown(subject, items.LIMIT, sentences)
        yield Section(
            *(subject, Markup(picture if room > 0 else ""), drawn, kind, shown),
            *example.example(subject.record, sentences[0]),
            *(downloads.figure(drawn.table, stem), items_data),
            {},
        )


def _added(sections: Sequence[Section], limit: int, data: bool) -> int:
    """About how many bytes items and CSV add to a page without them; never more than they do."""
    shown = sum(len(one.encode()) for section in sections for one in section.json_of(limit))
    return shown + (sum(len(section.figure_data) + len(section.items_data) for section in sections) if data else 0)


def _render(render: Render, sections: Sequence[Section], limit: int, data: bool) -> str:
    chosen = {section.subject.number: Markup(_items(section, limit)) for section in sections}
    return render({"limit": limit, "data": data, "embedded": chosen})


def _items(section: Section, limit: int) -> str:
    """What the script needs to draw the `limit` most telling items of a suite, as JSON."""
    subject = section.subject
    labels = subject.record.region_labels
    about = {
        "columns": [column.name for column in subject.columns],
        "tolerances": [column.run.tolerance for column in subject.columns],
        "conditions": subject.record.conditions,
        "regions": [f"{name} {labels.get(name, '')}".strip() for name in section.shown.regions],
    }
    about |= {} if scores.judged(subject.columns) else {"numbers": True}
    return f'{embedded(about)[:-1]},"items":[{",".join(section.json_of(limit))}]}}'
