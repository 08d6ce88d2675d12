"""The tables of a page about many models, each of which is a row."""

from collections.abc import Callable, Sequence

from markupsafe import Markup

from syntagm.core import counted
from syntagm.evaluation import Estimate
from syntagm.report import html
from syntagm.report.html import HtmlTable, heading, isolate, name_headings, number_headings, row, row_heading
from syntagm.report.numbers import Subject, number
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.tables import link_suite
from syntagm.report.sweep.models import ModelRow
from syntagm.runs import Run

Groups = Sequence[tuple[str, Sequence[ModelRow]]]
Cells = Callable[[ModelRow], list[Markup]]


def _rows(groups: Groups, width: int, cells: Cells, grouped: bool = True) -> list[Markup]:
    """Return a row for each model, and a divider above each group of models."""
    # grouped: whether rows show their group where the divider is gone, because they were sorted.
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
    """Return the table of the scores of the models, and of their comparison with chance and with the first model."""
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
    """Return the table of the scores over the suites of each value of a tag."""
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
    """Return the table of the accuracies of all models on all suites."""
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
    """Return the table of the accuracies of all models on a suite."""

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
