"""The articles of a page about fill runs, one for each suite: what its template shows."""

from collections.abc import Iterator
from dataclasses import dataclass

from markupsafe import Markup

from syntagm.core import counted
from syntagm.report import numbers
from syntagm.report.gaps import tables
from syntagm.report.gaps.evidence import Lemmas, ModelOnSuite, SuiteOnPage
from syntagm.report.html import HtmlTable, isolate, join, list_tags
from syntagm.report.numbers import Subject
from syntagm.runs import Run

_TAGS = ("circuit", "phenomenon", "field", "construction")


@dataclass(frozen=True, slots=True)
class _LemmaTable:
    title: str
    table: HtmlTable


@dataclass(frozen=True, slots=True)
class _ModelOnPage:
    """What the page shows of a model on a suite."""

    name: str  # the model; "" if it is the only one
    facts: Markup  # how many gaps and contexts there are, and why items have none
    wins: str  # how many lemmas never win, and how many always do
    lemmas: tuple[_LemmaTable, ...]  # `lemmas`, `contexts`, `most_probable`: tables; empty if there is nothing to show
    contexts: HtmlTable | str
    summary: str  # how many contexts are shown
    sampled: bool
    most_probable: HtmlTable | str
    entries: str  # how many entries are shown in each of them


@dataclass(frozen=True, slots=True)
class Article:
    """What the page shows of a suite."""

    subject: Subject[Run]
    facts: Markup
    table: HtmlTable  # the results of each model
    models: tuple[_ModelOnPage, ...]
    signatures: tuple[str, ...]  # the line that cites each number
    links: Markup  # links that save its tables as CSV


def write_article(suite: SuiteOnPage) -> Article:
    """Return the article about a suite."""
    subject, several = suite.subject, len(suite.models) > 1
    return Article(
        subject,
        Markup("%s%s") % (counted(subject.record.items, "item"), list_tags(subject.record.tags, _TAGS)),
        tables.tabulate_models([model.row for model in suite.models], subject.title),
        tuple(_describe(model, subject, several) for model in suite.models),
        tuple(_cite(suite)),
        _link(suite),
    )


def _describe(model: ModelOnSuite, subject: Subject[Run], several: bool) -> _ModelOnPage:
    column, lemmas, contexts = model.row.column, model.lemmas, model.contexts
    total = column.run.record["contexts"][subject.name]["contexts"]
    of = f"{subject.title}, {column.name}"
    return _ModelOnPage(
        column.name if several else "",
        _state_facts(model, subject.name),
        f"Of {counted(lemmas.total, 'lemma')} scored here, {_win(lemmas.never, 'never')} and {_win(lemmas.always, 'always')}.",
        tuple(_tabulate_lemmas(lemmas, column.name)),
        tables.tabulate_contexts(contexts, f"Contexts of {of}") if contexts else "",
        _count_contexts(len(contexts), total),
        bool(contexts and contexts[0]["why"]),
        tables.tabulate_most_probable(model.most_probable, f"Most probable entries in gaps of {of}")
        if contexts and model.most_probable
        else "",
        _count_entries(column.run, len(contexts)) if model.most_probable else "",
    )


def _state_facts(model: ModelOnSuite, suite: str) -> Markup:
    asked = model.row.column.run.record["contexts"][suite]
    shared = asked["contexts"] - asked["asked"]
    facts = f"The items have {counted(asked['items'], 'gap')}, in {counted(asked['contexts'], 'distinct context')}"
    facts += f", {shared} of them shared with earlier suites." if shared else "."
    skipped = (
        Markup(" %s without a context: %s.") % (counted(count, "item"), isolate(reason, False))
        for reason, count in model.row.skipped.items()
    )
    return Markup("%s%s") % (facts, join(skipped, ""))


def _win(count: int, how_often: str) -> str:
    return f"{count:,} {how_often} win{'s' if count == 1 else ''}"


def _tabulate_lemmas(lemmas: Lemmas, model: str) -> Iterator[_LemmaTable]:
    hardest = "Hardest lemmas" if lemmas.easiest else "Lemmas, the hardest first"
    for title, ranked in ((hardest, lemmas.hardest), ("Easiest lemmas", lemmas.easiest)):
        if ranked:
            yield _LemmaTable(title, tables.tabulate_lemmas(title, ranked, lemmas.labels, model))


def _count_contexts(count: int, total: int) -> str:
    if count < total:
        return f"{count} of {total:,} contexts"
    return "The context" if count == 1 else f"All {count} contexts"


def _count_entries(run: Run, contexts: int) -> str:
    count = run.record["options"]["most_probable"]
    entries = "most probable vocabulary entry" if count == 1 else f"{count:,} most probable vocabulary entries"
    return f"The {entries} in {'this gap' if contexts == 1 else 'these gaps'}"


def _cite(suite: SuiteOnPage) -> Iterator[str]:
    for model in suite.models:
        for measure in model.row.estimates:
            if measure in tables.SHADED:
                yield numbers.citation(model.row.column, suite.subject.name, measure)


def _link(suite: SuiteOnPage) -> Markup:
    links = [link for link in (suite.lemmas_data, suite.contexts_data) if link]
    saved = join(links) + ". " if links else Markup("")
    elsewhere = Markup(
        "Tables too large for this page are in the run directory (<code>results.csv</code>, <code>shards</code>)."
    )
    return saved if len(links) == 2 else saved + elsewhere
