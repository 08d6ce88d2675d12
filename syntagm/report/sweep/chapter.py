"""The chapter on runs of many models: their scores as rows, each model compared with the first, and the suites one by one."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, final

from markupsafe import Markup

from syntagm.report.html import HtmlTable, isolate
from syntagm.report.numbers import Subject, number
from syntagm.report.predictions import scores, words
from syntagm.report.predictions.chapter import TRAJECTORIES
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.items import example
from syntagm.report.predictions.tables import tabulate_example
from syntagm.report.predictions.words import PredictionOnPage, explain_predictions, state_facts
from syntagm.report.record import RECORD
from syntagm.report.section import Drawing, Section, Variables
from syntagm.report.sweep import models, tables
from syntagm.report.writing import writing_of
from syntagm.runs import Run
from syntagm.stats import in_words
from syntagm.views import shared_words

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
        "table": tables.tabulate_models(chapter, models.group_models(chapter)),
        "remarks": words.explain_scores(chapter.overall),
    }


def _range(chapter: Evidence) -> Markup:
    """Say from where to where the scores reach; "" if none is defined."""
    line = chapter.overall[0]
    ends = models.find_ends(line, chapter.columns)
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
    figure = models.draw_scores(chapter.overall[0], chapter.columns)
    yield Drawing("scores", figure, "Figure: scores of the models", caption)


OVERVIEW: Section[Evidence] = Section("overview", "Overview", template="sweep/overview.html", show=_show_overview)
SCORES: Section[Evidence] = Section("scores", "Models", when=lambda chapter: chapter.judged, figures=_draw_scores)


def by_tag(tag: str) -> Section[Evidence]:
    """Return the section with the scores over the suites of each value of a tag."""
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
            "table": tables.tabulate_tag(chapter, models.group_models(chapter), tag),
        }

    return Section(f"by-{tag}", f"By {tag_name}", template="sweep/by_tag.html", show=show)


SUITES: Section[Evidence] = Section(
    "suites",
    "Suites",
    template="sweep/suites_table.html",
    show=lambda chapter: {
        "grouped": len(chapter.by_group) > 1,
        "table": tables.tabulate_suites(chapter, models.group_models(chapter)),
        "remarks": shared_words.of_runs([column.run for column in chapter.columns], "first"),
    },
)


@dataclass(frozen=True, slots=True)
class _Article:
    """What the page shows of a suite."""

    subject: Subject[Run]
    facts: Markup
    example: HtmlTable | str
    predictions: tuple[PredictionOnPage, ...]
    table: HtmlTable | str


def _write_article(subject: Subject[Run], groups: tables.Groups) -> _Article:
    record = subject.record
    item, sentences = example(record, subject.columns[0].run.sentences(subject.name))
    return _Article(
        subject,
        state_facts(record),
        tabulate_example(subject.title, item, sentences, writing_of(record.tags)) if sentences else "",
        tuple(explain_predictions(record, scores.MEANINGS)),
        tables.tabulate_predictions(subject, groups) if subject.measures else "",
    )


def _show_suites(chapter: Evidence) -> Variables:
    groups = models.group_models(chapter)
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


@final
class Sweep(Evidence):
    """A chapter on runs of predictions of many models."""

    many: ClassVar[bool] = True

    def list_sections(self) -> Sequence[Section[Any]]:
        """Return the records of all sections, in the order of the page."""
        return [OVERVIEW, SCORES, TRAJECTORIES, *map(by_tag, self.groups), SUITES, SUITE_BY_SUITE, METHODS, RECORD]
