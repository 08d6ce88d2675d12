"""The chapter on runs of predictions: accuracies, comparisons of models, regions, and items token by token."""

from collections.abc import Iterator, Sequence
from typing import Any

from markupsafe import Markup

from syntagm.evaluation import FEW_NUMBERS, unseen
from syntagm.report import links
from syntagm.report.chapter import RECORD
from syntagm.report.predictions import evidence, figures, model_pairs, scores, tables, words
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.words import write_articles
from syntagm.report.section import Data, Drawing, Section, Variables
from syntagm.stats import in_words, interval
from syntagm.views import Table, shared_words


def _show_overview(chapter: Evidence) -> Variables:
    first = chapter.overall[0]
    headlines = model_pairs.headlines(chapter.columns, chapter.subjects, chapter.pairs) if chapter.judged else []
    incomplete = any(cell.value != cell.value for line in chapter.overall for cell in line.cells if cell)
    left_out = (
        "A score is undefined where a suite has no defined item: a score over the other suites would not be comparable."
    )
    return {
        "headlines": list(map(words.describe, headlines, first.cells)),
        "explanation": words.explain_headlines(headlines, bool(chapter.pairs)) if headlines else "",
        "table": tables.tabulate_overall(chapter),
        "remarks": [*words.explain_scores(chapter.overall), *([left_out] if incomplete else [])],
    }


def _draw_accuracies(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    if not chapter.judged or (len(chapter.subjects) < 2 and not saved):
        return
    groups = {subject.title: group for group, subjects in chapter.by_group.items() for subject in subjects}
    figure = figures.accuracies(chapter.subjects, groups, "Accuracy by suite" if saved else "")
    caption = (
        "A dot is the accuracy of a model on a suite, by the first prediction of the suite: the further right, the more items "
        "it gets right. The line through it is the 95% interval. A grey tick is chance, where it is known: a dot left of the "
        "tick is worse than guessing."
    )
    if len(chapter.by_group) > 1:
        caption += f" Suites are grouped by {chapter.tag_name}, the group with the highest mean first."
    yield Drawing("scores", figure, "Figure: accuracy by suite", caption)


OVERVIEW: Section[Evidence] = Section(
    "overview",
    "Overview",
    template="predictions/overview.html",
    figures=_draw_accuracies,
    data=Data("scores", "all scores", lambda chapter: evidence.list_scores(chapter.columns, chapter.all_lines)),
    show=_show_overview,
)
SUITES: Section[Evidence] = Section(
    "suites",
    "Suites",
    template="predictions/suites_table.html",
    show=lambda chapter: {
        "grouped": len(chapter.by_group) > 1,
        "tag_name": chapter.tag_name,
        "meanings": words.explain_names(chapter.meanings),
        "table": tables.tabulate_suites(chapter),
        "remarks": shared_words.of_runs([column.run for column in chapter.columns]),
    },
)


def by_tag(tag: str) -> Section[Evidence]:
    tag_name = tag.replace("_", " ")

    def show(chapter: Evidence) -> Variables:
        missing = words.list_missing(tag_name, *scores.in_no_line(chapter.columns, tag), len(chapter.names))
        return {
            "tag_name": tag_name,
            "remarks": [*missing, *words.explain_scores(chapter.groups[tag])],
            "table": tables.tabulate_tag(chapter, tag),
        }

    return Section(f"by-{tag}", f"By {tag_name}", template="predictions/by_tag.html", show=show)


def _draw_effects(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    forests = figures.forests(_order_effects(chapter, saved), chapter.columns, "Effects" if saved else "")
    for number, forest in enumerate(forests, 1):
        if forest.model:
            stem = f"effects-{links.file_name(number, forest.model)}"
            label = f"Figure: effects under {forest.model}"
            sides = words.count_sides(forest.model, forest.effects, forest.above, forest.below)
            yield Drawing(stem, forest.figure, label, heading=sides)
        else:
            yield Drawing("effects", forest.figure, "Figure: effects")


def _order_effects(chapter: Evidence, saved: bool) -> figures.EffectsOfSuites:
    """Return the suites with their effects, on the page in the order of their accuracies."""
    ordered = [subject for members in chapter.by_group.values() for subject in members]
    return [(subject, chapter.effects[subject.number]) for subject in (chapter.subjects if saved else ordered)]


EFFECTS: Section[Evidence] = Section(
    "effects",
    "Effects",
    template="predictions/effects.html",
    when=lambda chapter: any(chapter.effects.values()),
    figures=_draw_effects,
    show=lambda chapter: {"only_first": figures.only_first(_order_effects(chapter, False))},
)


def _draw_trajectories(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    if chapter.curves:
        yield Drawing("trajectories", chapter.curves, "Figure: trajectories")


TRAJECTORIES: Section[Evidence] = Section(
    "trajectories",
    "Trajectories",
    "The score along the checkpoints: the mean over suites of the accuracy by the first prediction, with its 95% interval. "
    "<code>syntagm table trajectory</code> has the numbers.",
    when=lambda chapter: chapter.curves,
    figures=_draw_trajectories,
)


def _draw_differences(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    """Draw the pairs of models; with many models, only those with the first."""
    few = len(chapter.columns) <= figures.FEW
    pairs = [pair for pair in chapter.pairs if few or pair.a is chapter.columns[0]]
    if saved:
        yield Drawing("comparison", figures.differences(pairs, "Differences in accuracy"))
        return
    caption = Markup(
        "A dot is the difference of the accuracies on a suite, B &minus; A, with its 95% interval. Grey: not significant."
    )
    for pair in pairs:
        label = f"Figure: {pair.b.name} minus {pair.a.name}"
        yield Drawing(f"comparison-{pair.number}", figures.differences([pair]), label, caption)


def _show_compared(chapter: Evidence) -> Variables:
    pairs = chapter.pairs
    only_first = f"With more than {model_pairs.MOST} models, each is compared only with the first."
    return {
        "who": "The two models" if len(pairs) == 1 else "Every pair of models",
        "remarks": [
            *([only_first] if len(chapter.columns) > model_pairs.MOST else []),
            *shared_words.remark([alike for pair in pairs for alike in pair.alike]),
        ],
        "table": tables.tabulate_pairs(pairs) if len(pairs) > 1 else "",
        "alone": len(pairs) == 1,
        "pairs": [
            {
                "number": pair.number,
                "stem": f"comparison-{pair.number}",  # of its figure
                "summary": words.summarize_pair(pair),
                "description": words.describe_pair(pair),
                "table": tables.tabulate_pair(pair, chapter.links),
            }
            for pair in pairs
        ],
    }


COMPARED: Section[Evidence] = Section(
    "compared",
    "Models compared",
    template="predictions/compared.html",
    when=lambda chapter: chapter.pairs,
    figures=_draw_differences,
    data=Data("comparison", "all comparisons", lambda chapter: evidence.list_comparisons(chapter.pairs)),
    show=_show_compared,
)


def _draw_suites(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    if saved:
        yield from evidence.draw_suites(chapter.subjects, chapter.effects)
        return
    for suite in chapter.suites:
        if len(suite.figure.table):
            label = f"Figure of {suite.subject.title}"
            yield Drawing(suite.stem, suite.figure, label, words.explain_figure(suite))


SUITE_BY_SUITE: Section[Evidence] = Section(
    "suite-by-suite",
    "Suite by suite",
    template="predictions/suites.html",
    figures=_draw_suites,
    show=lambda chapter: {
        "above": SUITES.anchor,
        "above_name": "table of suites",
        "body": "predictions/suite.html",
        "suites": write_articles(chapter),
        "unknown": any(
            known < total for column in chapter.columns for known, total in map(column.run.in_vocabulary, chapter.names)
        ),
        "surprisals": ["0", "2", "4", "6", "8", "10", "12", "14", "16+"],
    },
    versions=evidence.VERSIONS,
    least=lambda chapter, version: evidence.least(chapter.suites, version),
)


def _tabulate_claims(chapter: Evidence) -> Table:
    assert chapter.claims is not None
    return chapter.claims


CONVENTIONS: Section[Evidence] = Section(
    "conventions",
    "Conventions",
    "Papers and tools compare sentences by other numbers than their surprisal, such as surprisal per token, and call the result "
    "by the same name. This table shows which claims about the models hold whatever the convention. "
    "<code>syntagm table conventions</code> has the accuracy under each, and the verdicts that it flips.",
    when=lambda chapter: chapter.claims is not None,
    table=_tabulate_claims,
)
METHODS: Section[Evidence] = Section(
    "methods",
    "How the numbers were made",
    template="predictions/how.html",
    show=lambda chapter: {
        "over_suites": in_words.over_suites(),
        "figure_method": f"{interval.OF_NUMBERS}. {unseen('items')} {FEW_NUMBERS}",
        "methods": scores.methods(chapter.overall),
    },
)


class Predictions(Evidence):
    """A chapter on runs of predictions, or of measures used instead of them."""

    def list_sections(self) -> Sequence[Section[Any]]:
        return [
            *(OVERVIEW, SUITES),
            *map(by_tag, self.groups),
            *(EFFECTS, TRAJECTORIES, COMPARED),
            *(SUITE_BY_SUITE, CONVENTIONS, METHODS, RECORD),
        ]
