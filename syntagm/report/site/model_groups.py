"""Groups of models on the overview: the mean score of each group, and the groups of models by groups of suites."""

from collections.abc import Sequence
from math import fsum
from typing import Any

from markupsafe import Markup

from syntagm.core import RunError, UsageError
from syntagm.report import html
from syntagm.report.html import HtmlTable, classes, heading, isolate, row, row_heading, tabulate
from syntagm.report.links import Rows
from syntagm.report.numbers import number
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.scores import ScoreRow
from syntagm.report.predictions.tables import count_suites
from syntagm.report.section import Data, Section, Variables
from syntagm.runs import group_of
from syntagm.views import Table, classes as of_classes

_NO_GROUP = "no group"


def _groups(chapter: Evidence) -> dict[str, list[int]]:
    """Return the groups of models, with the places of their columns."""
    groups: dict[str, list[int]] = {}
    for place, column in enumerate(chapter.columns):
        groups.setdefault(group_of(column.name) or _NO_GROUP, []).append(place)
    return groups


def _compare(chapter: Evidence) -> Table | None:
    """Return the scores of the groups with intervals; None if the models have no suite in common."""
    names = tuple(group_of(column.name) or _NO_GROUP for column in chapter.columns)
    try:
        return of_classes.make_table([column.run for column in chapter.columns], names)
    except (UsageError, RunError):
        return None


def _lines(chapter: Evidence) -> list[tuple[str, ScoreRow]]:
    """Return the scores over all suites, and over those of each value of each tag."""
    return [
        ("", chapter.overall[0]),
        *((tag.replace("_", " "), line) for tag, lines in chapter.groups.items() for line in lines),
    ]


def _mean(line: ScoreRow, places: Sequence[int]) -> tuple[float, int]:
    """Return the mean of the defined scores of models, and how many they are."""
    values = [cell.value for place in places if (cell := line.cells[place]) and cell.value == cell.value]
    return (fsum(values) / len(values) if values else float("nan")), len(values)


def _suites(line: ScoreRow, places: Sequence[int]) -> str:
    """Return the number of suites of the scores of models, fewest to most."""
    counts = sorted({len(line.over[place]) for place in places if line.cells[place]})
    return "\u2013".join(map(str, dict.fromkeys((counts[0], counts[-1])))) if counts else "0"


def _cell(line: ScoreRow, places: Sequence[int], shaded: bool) -> Markup:
    value, count = _mean(line, places)
    if not count:
        return html.number_cell("not run")
    few = [f"{count} of {len(places)} models"] if count < len(places) else []
    few += [f"of {_suites(line, places)} suites"] if not line.alike else []
    noted = Markup('<br><span class="notes"><em>%s</em></span>') % ", ".join(few) if few else ""
    content = Markup("<b>%s</b>%s") % (number(value), noted)
    return html.number_cell(content, value, html.shade(value) if shaded else "")


def _tabulate(chapter: Evidence) -> HtmlTable:
    groups = _groups(chapter)
    names = [Markup('%s <small class="group">(%s)</small>') % (isolate(name), len(of)) for name, of in groups.items()]
    rows = [
        row(
            row_heading(isolate(line.label) if tag else Markup("all suites")),
            html.text_cell(tag),
            count_suites(line),
            *(_cell(line, places, chapter.judged) for places in groups.values()),
            headline=not tag,
        )
        for tag, line in _lines(chapter)
    ]
    headings = [heading("suites"), heading("by"), heading("how many", True), *(heading(name, True) for name in names)]
    label = "Mean scores of groups of models"
    return HtmlTable(label, headings, rows, classes(sortable=True, filterable=len(rows) > html.LONG))


def _list(chapter: Evidence) -> Rows:
    columns = ("models", "by", "suites", "number_of_suites", "number_of_models", "mean")
    return columns, [
        (group, tag, line.label if tag else "all suites", _suites(line, places), count, mean)
        for tag, line in _lines(chapter)
        for group, places in _groups(chapter).items()
        for mean, count in [_mean(line, places)]
    ]


def _show(chapter: Evidence) -> Variables:
    compared = _compare(chapter)
    return {
        "table": _tabulate(chapter),
        "compared": tabulate(compared, "Scores of groups of models, and their differences") if compared else "",
        "remarks": compared.notes if compared else (),
    }


MODEL_GROUPS: Section[Any] = Section(
    "model-groups",
    "Groups of models",
    "The group of a model is what stands before the colon of its name, as in <code>--name 'Pythia: 70m'</code>. The first table "
    "has the means over the models of a group of their scores over the suites; the number of models is in brackets.",
    template="site/model_groups.html",
    when=lambda chapter: len(_groups(chapter)) > 1,
    data=Data("model-groups", "the means", _list),
    show=_show,
)
