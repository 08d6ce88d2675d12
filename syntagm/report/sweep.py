"""The chapter on runs of predictions of many models: models are rows, and what would grow without bound is left out."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, ClassVar

from markupsafe import Markup

from syntagm.core import counted
from syntagm.evaluation import Estimate, Group
from syntagm.report import html
from syntagm.report.chapter import RECORD
from syntagm.report.html import (
    HtmlTable,
    heading,
    isolate,
    name_headings,
    number_headings,
    row,
    row_heading,
    writing_of,
)
from syntagm.report.numbers import Column, Subject, number
from syntagm.report.predictions import scores, words
from syntagm.report.predictions.chapter import TRAJECTORIES
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.items import example
from syntagm.report.predictions.model_pairs import Headline, ModelPair
from syntagm.report.predictions.scores import ScoreRow
from syntagm.report.predictions.tables import link_suite, tabulate_example
from syntagm.report.predictions.words import explain_predictions, state_facts
from syntagm.report.section import Drawing, Section, Variables
from syntagm.runs import Run, group_of
from syntagm.stats import in_words
from syntagm.views import Figure, scores as scores_of_suites, shared_words


@dataclass(frozen=True, slots=True)
class ModelRow:
    """A model as a row of the tables."""

    column: Column[Run]
    place: int  # the place of its cells in each `ScoreRow`
    headline: Headline | None  # its comparison with chance; None if its values are not verdicts
    pair: ModelPair | None  # its comparison with the first model; None for the first, and if they share no suite


def draw_scores(line: ScoreRow, columns: Sequence[Column[Run]]) -> Figure:
    shown = [
        replace(cell, group=Group("score", column.name))
        for column, cell in zip(columns, line.cells, strict=True)
        if cell
    ]
    levels = {estimate.group.suite: line.chance.value for estimate in shown}
    groups = {estimate.group.suite: group_of(estimate.group.suite) for estimate in shown}
    drawn = scores_of_suites.draw(shown, levels, groups=groups)
    # The rows are models here, not suites.
    return replace(drawn, table=drawn.table.drop("model", "measure").rename({"suite": "model"}))


def group_models(chapter: Evidence) -> list[tuple[str, list[ModelRow]]]:
    """Return the rows of each group of models, in the order of the first model of each group."""
    with_first = {id(pair.b): pair for pair in chapter.pairs}
    lines = chapter.chance_headlines if chapter.judged else [None] * len(chapter.columns)
    rows = [
        ModelRow(column, place, line, with_first.get(id(column)))
        for place, (column, line) in enumerate(zip(chapter.columns, lines, strict=True))
    ]
    order = list(dict.fromkeys(group_of(row.column.name) for row in rows))
    ranked = sorted(rows, key=lambda row: order.index(group_of(row.column.name)))
    return [(group, list(members)) for group, members in groupby(ranked, lambda row: group_of(row.column.name))]


def find_ends(
    line: ScoreRow, columns: Sequence[Column[Run]]
) -> tuple[tuple[str, Estimate], tuple[str, Estimate]] | None:
    defined = [
        (column.name, cell)
        for column, cell in zip(columns, line.cells, strict=True)
        if cell and cell.value == cell.value
    ]
    ranked = sorted(defined, key=lambda pair: pair[1].value)
    return (ranked[0], ranked[-1]) if ranked else None


Groups = Sequence[tuple[str, Sequence[ModelRow]]]
Cells = Callable[[ModelRow], list[Markup]]


def _rows(groups: Groups, width: int, cells: Cells, grouped: bool = True) -> list[Markup]:
    # `grouped` says whether rows show their group where the divider is gone, because they were sorted.
    rows: list[Markup] = []
    for group, members in groups:
        rows += [html.group_row(group or "no group", width)] if len(groups) > 1 else []
        rows += [row(_name(model, group if grouped else ""), *cells(model)) for model in members]
    return rows


def _name(model: ModelRow, group: str = "") -> Markup:
    unseen = Markup('<small class="group unseen"> <bdi>%s</bdi></small>') % group if group else Markup("")
    return row_heading(isolate(model.column.name) + unseen)


def score_cell(estimate: Estimate | None, lacking: str = "not asked", suites: int = 0) -> Markup:
    """Return a cell with an estimate, its interval and, unless 0, the number of suites on one line."""
    if estimate is None:
        return html.number_cell(lacking)
    notes = [counted(suites, "suite")] if suites else []
    notes += [counted(estimate.ties, "tie")] if estimate.ties else []
    notes += [f"{estimate.undefined} undefined"] if estimate.undefined else []
    noted = f' <span class="notes"><em>{", ".join(notes)}</em></span>' if notes else ""
    return html.number_cell(html.strong_estimate(estimate) + Markup(noted), estimate.value)


def tabulate_models(chapter: Evidence, groups: Groups) -> HtmlTable:
    firsts, others = chapter.overall[:1], chapter.overall[1:]
    headings = [
        heading("model"),
        *number_headings(*(line.label for line in firsts)),
        *number_headings(*(("above chance", "below chance") if chapter.judged else ())),
        *number_headings(*(("difference from the first", "better on", "worse on") if chapter.pairs else ())),
        *name_headings(line.label for line in others),
    ]

    def cells(model: ModelRow) -> list[Markup]:
        scores = [
            score_cell(line.cells[model.place], suites=0 if line.alike else len(line.over[model.place]))
            for line in chapter.overall
        ]
        against = [*_against_chance(model), *(_against_first(model) if chapter.pairs else ())]
        return [*scores[:1], *against, *scores[1:]]

    rows = _rows(groups, 1 + len(chapter.overall) + 2 + 3, cells)
    return HtmlTable("Scores of the models", headings, rows, "sortable filterable rows", tall=True)


def _against_chance(model: ModelRow) -> list[Markup]:
    headline = model.headline
    if headline is None:
        return []
    above = html.number_cell(f"{headline.above} of {headline.suites}", headline.above)
    return [above, html.count_cell(headline.below)]


def _against_first(model: ModelRow) -> list[Markup]:
    if model.pair is None:
        why = "no suite in common" if model.place else "the first"
        return [html.number_cell(why), html.number_cell(""), html.number_cell("")]
    difference, (worse, better) = model.pair.overall.difference, model.pair.better
    shown = html.number_cell(html.format_difference(difference), difference.value)
    return [shown, html.count_cell(better), html.count_cell(worse)]


def tabulate_tag(chapter: Evidence, groups: Groups, tag: str) -> HtmlTable:
    lines = chapter.groups[tag]

    def cells(model: ModelRow) -> list[Markup]:
        place = model.place
        return [
            html.estimate_cell(line.cells[place], "not run", chapter.judged, 0 if line.alike else len(line.over[place]))
            for line in lines
        ]

    headings = [heading("model"), *name_headings(line.label for line in lines)]
    label, rows = f"Scores by {tag.replace('_', ' ')}", _rows(groups, 1 + len(lines), cells)
    return HtmlTable(label, headings, rows, "sortable filterable rows narrow", tall=True)


def tabulate_suites(chapter: Evidence, groups: Groups) -> HtmlTable:
    subjects = [subject for members in chapter.by_group.values() for subject in members]

    def cells(model: ModelRow) -> list[Markup]:
        return [_short(_first(model, subject), chapter.judged) for subject in subjects]

    headings = [heading("model"), *number_headings(*(link_suite(chapter.links, subject) for subject in subjects))]
    rows = _rows(groups, 1 + len(subjects), cells, grouped=False)
    return HtmlTable("Accuracy by suite", headings, rows, "filterable rows turned", tall=True)


def _first(model: ModelRow, subject: Subject[Run]) -> Estimate | None:
    asked = model.column in subject.columns
    return model.column.accuracies.get((subject.name, subject.first)) if asked else None


def _short(estimate: Estimate | None, shaded: bool) -> Markup:
    if estimate is None:
        return html.number_cell(Markup("&ndash;"))
    return html.number_cell(number(estimate.value, 2), estimate.value, html.shade(estimate.value) if shaded else "")


def tabulate_predictions(subject: Subject[Run], groups: Groups) -> HtmlTable:
    def cells(model: ModelRow) -> list[Markup]:
        return [score_cell(model.column.accuracies.get((subject.name, measure))) for measure in subject.measures]

    headings = [heading("model"), *(heading(_head(subject, measure), True) for measure in subject.measures)]
    rows = [
        row(_name(model), *cells(model))
        for _, members in groups
        for model in members
        if model.column in subject.columns
    ]
    return HtmlTable(f"Accuracy on {subject.title}", headings, rows, "sortable rows", tall=True)


def _head(subject: Subject[Run], measure: str) -> Markup:
    level = subject.chance(measure).value
    chance = f'<br><small class="group">chance {number(level) if level == level else "unknown"}</small>'
    return (isolate(measure) if measure in subject.record.predictions else Markup("<em>all</em>")) + Markup(chance)


# With more models than this, a page has this chapter, and with fewer, if one with everything is too large: the page on 12
# models and 34 suites would be.
MANY = 12
# With more models than this, their scores alone do not fit on a page of 10 MB.
MOST = 1000


def _show_overview(chapter: Evidence) -> Variables:
    models_count = len(chapter.columns)
    return {
        "range": _range(chapter),
        "pairs": f"{models_count} models have {models_count * (models_count - 1) // 2:,} pairs",
        "table": tabulate_models(chapter, group_models(chapter)),
        "remarks": words.explain_scores(chapter.overall),
    }


def _range(chapter: Evidence) -> Markup:
    """Say from where to where the scores reach; "" if none is defined."""
    line = chapter.overall[0]
    ends = find_ends(line, chapter.columns)
    if not ends:
        return Markup("")
    reached = (Markup("<b>%s</b> (%s)") % (number(score.value), isolate(name)) for name, score in ends)
    level = line.chance.value
    chance = f"; random surprisals would score {number(level)}" if level == level else ""
    lowest, highest = reached
    return Markup("The %s gives mean accuracies from %s to %s%s.") % (line.label, lowest, highest, chance)


def _draw_scores(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    caption = (
        "A dot is the mean accuracy of a model over the suites, by the first prediction of each; the line through it is the "
        "95% interval. A grey tick is chance, where it is known."
    )
    figure = draw_scores(chapter.overall[0], chapter.columns)
    yield Drawing("scores", figure, "Figure: scores of the models", caption)


OVERVIEW: Section[Evidence] = Section("overview", "Overview", template="sweep/overview.html", show=_show_overview)
SCORES: Section[Evidence] = Section("scores", "Models", when=lambda chapter: chapter.judged, figures=_draw_scores)


def by_tag(tag: str) -> Section[Evidence]:
    tag_name = tag.replace("_", " ")

    def show(chapter: Evidence) -> Variables:
        lines, missing = chapter.groups[tag], sum(scores.in_no_line(chapter.columns, tag))
        left_out = (
            f"{missing} of {len(chapter.names)} suites are in no column: they have no {tag_name}, or their first prediction was "
            "not computed."
        )
        return {
            "tag_name": tag_name,
            "chances": words.list_chances(lines),
            "remarks": [*([left_out] if missing else []), *words.explain_scores(lines)],
            "table": tabulate_tag(chapter, group_models(chapter), tag),
        }

    return Section(f"by-{tag}", f"By {tag_name}", template="sweep/by_tag.html", show=show)


SUITES: Section[Evidence] = Section(
    "suites",
    "Suites",
    template="sweep/suites_table.html",
    show=lambda chapter: {
        "grouped": len(chapter.by_group) > 1,
        "table": tabulate_suites(chapter, group_models(chapter)),
        "remarks": shared_words.of_runs([column.run for column in chapter.columns], "first"),
    },
)


def _write_article(subject: Subject[Run], groups: Groups) -> Variables:
    record = subject.record
    item, sentences = example(record, subject.columns[0].run.sentences(subject.name))
    return {
        "subject": subject,
        "facts": state_facts(record),
        "example": tabulate_example(subject.title, item, sentences, writing_of(record.tags)) if sentences else "",
        "predictions": list(explain_predictions(record, scores.MEANINGS)),
        "table": tabulate_predictions(subject, groups) if subject.measures else "",
    }


def _show_suites(chapter: Evidence) -> Variables:
    groups = group_models(chapter)
    return {
        "suites": [_write_article(subject, groups) for subject in chapter.subjects],
        "above": SUITES.anchor,
        "above_name": "table of suites",
        "body": "sweep/suite.html",
    }


SUITE_BY_SUITE: Section[Evidence] = Section(
    "suite-by-suite",
    "Suite by suite",
    template="sweep/suites.html",
    show=_show_suites,
    versions=({"of_suites": True}, {"of_suites": False}),
)


def _show_methods(chapter: Evidence) -> Variables:
    return {"over_suites": in_words.over_suites(), "methods": scores.methods(chapter.all_lines)}


METHODS: Section[Evidence] = Section(
    "methods", "How the numbers were made", template="sweep/how.html", show=_show_methods
)


class Sweep(Evidence):
    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        return [OVERVIEW, SCORES, TRAJECTORIES, *map(by_tag, self.groups), SUITES, SUITE_BY_SUITE, METHODS, RECORD]
