"""The suites on a page about fill runs, with some lemmas and contexts of each model."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from syntagm.report import downloads, shell
from syntagm.report.gaps import downloads as of_gaps, examples, scores
from syntagm.report.gaps.examples import Lemmas
from syntagm.report.gaps.scores import Row
from syntagm.report.numbers import Subject
from syntagm.runs import Run

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
    """A suite on the page."""

    subject: Subject[Run]
    models: tuple[ModelOnSuite, ...]  # the results of each model
    # `lemmas_data`, `contexts_data`: links that save tables as CSV; "" if a table is too large for the page
    lemmas_data: Markup
    contexts_data: Markup


def lay_out(subjects: Sequence[Subject[Run]]) -> list[SuiteOnPage]:
    """Return the suites as a page shows them."""
    room = shell.DATA
    suites = []
    for subject in subjects:
        stem, links = downloads.file_name(subject.number, subject.name), [Markup(""), Markup("")]
        for place, table_link in enumerate((of_gaps.link_lemmas, of_gaps.link_contexts)):
            link = table_link(subject.columns, subject.name, stem)
            links[place] = link if len(link) <= room else Markup("")
            room -= len(links[place])
        models = tuple(_model(row, subject.name) for row in scores.rows([subject]))
        suites.append(SuiteOnPage(subject, models, *links))
    return suites


def _model(row: Row, suite: str) -> ModelOnSuite:
    run = row.column.run
    contexts = examples.contexts(run, suite)
    return ModelOnSuite(row, examples.lemmas(run, suite), contexts, examples.most_probable(run, suite, contexts))
