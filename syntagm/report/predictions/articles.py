"""The articles of a page about predictions, one for each suite: what its template shows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from markupsafe import Markup

from syntagm.core import counted
from syntagm.evaluation import SuiteRecord
from syntagm.report.html import HtmlTable, list_tags
from syntagm.report.numbers import Subject
from syntagm.report.predictions import items, tables, words
from syntagm.report.predictions.evidence import Evidence
from syntagm.report.predictions.example import prediction_in_words
from syntagm.report.predictions.suites import SuiteOnPage
from syntagm.report.writing import writing_of
from syntagm.runs import Run

_TAGS = ("circuit", "phenomenon", "field")


@dataclass(frozen=True, slots=True)
class PredictionOnPage:
    """A prediction, with what its name and its formula mean in words, and the formula."""

    name: str
    explanation: Markup
    formula: str


@dataclass(frozen=True, slots=True)
class ItemsOnPage:
    """The items of a suite that a version of the page shows token by token."""

    suite: SuiteOnPage
    kept: int  # how many they are
    total: int  # the number of items in the suite
    summary: str
    remark: str  # how they were chosen; "" if they are all

    @property
    def data(self) -> Markup:
        """The JSON from which the script draws them."""
        return self.suite.data_of(self.kept)


@dataclass(frozen=True, slots=True)
class Article:
    """What the page shows of a suite."""

    suite: SuiteOnPage
    facts: Markup
    # `example`, `table`, `effects`, `numbers`: tables: of its first item, its accuracies, its effects and the numbers
    # of its figure; "" if there is nothing to show
    example: HtmlTable | str
    predictions: tuple[PredictionOnPage, ...]
    table: HtmlTable | str
    effects: HtmlTable | str
    limits: tuple[str, ...]  # what limits the effects
    numbers: HtmlTable | str
    # `signatures`, `chances`: the line that cites each number, and what is known of each chance level
    signatures: tuple[str, ...]
    chances: tuple[Markup, ...]
    links: Markup  # links that save its tables as CSV

    @property
    def subject(self) -> Subject[Run]:
        return self.suite.subject

    @property
    def stem(self) -> str:
        """The name of its figure."""
        return self.suite.stem

    def choose_items(self, limit: int) -> ItemsOnPage:
        """Return at most `limit` items."""
        total = self.suite.shown.total
        kept = min(len(self.suite.shown.ranks), limit)
        if kept == total:
            summary = f"{'The item' if kept == 1 else f'All {kept} items'}, token by token"
            return ItemsOnPage(self.suite, kept, total, summary, "")
        several = "items that the models judge differently, " if len(self.subject.columns) > 1 else ""
        remark = (
            f"Chosen were {several}undefined items, ties, extreme margins, and a random sample (seed {items.SEED}). The "
            f"other {total - kept:,} are in the run directory;"
        )
        return ItemsOnPage(self.suite, kept, total, f"{kept} of {total:,} items, token by token", remark)


def write_articles(chapter: Evidence) -> list[Article]:
    """Return the articles of a page."""
    return [_article(suite, chapter.meanings) for suite in chapter.suites]


def _article(suite: SuiteOnPage, meanings: Mapping[str, str]) -> Article:
    record = suite.subject.record
    return Article(
        suite,
        state_facts(record),
        tables.tabulate_example(suite.subject.title, suite.item, suite.example, writing_of(record.tags))
        if suite.example
        else "",
        tuple(explain_predictions(record, meanings)),
        tables.tabulate_predictions(suite) if record.predictions else "",
        tables.tabulate_effects(suite) if suite.effects else "",
        suite.limits if suite.effects else (),
        tables.tabulate_regions(suite) if suite.kind == "regions" and len(suite.figure.table) else "",
        tuple(words.cite_suite(suite)),
        tuple(words.explain_chance(suite)),
        _link(suite),
    )


def state_facts(record: SuiteRecord) -> Markup:
    """Say how large a suite is, how the bits of its regions are computed, and to what it belongs."""
    size = f"{counted(record.items, 'item')}, {counted(len(record.conditions), 'condition')}"
    rule = Markup(", a region&rsquo;s bits are the <b>%s</b> over its tokens") % record.aggregate
    return Markup("%s%s%s") % (size, rule if record.aggregate != "sum" else "", list_tags(record.tags, _TAGS))


def explain_predictions(record: SuiteRecord, meanings: Mapping[str, str]) -> Iterator[PredictionOnPage]:
    """Yield the predictions of a suite in words."""
    for name, formula in record.predictions.items():
        meaning = f" ({meanings[name]})" if name in meanings else ""
        in_words = prediction_in_words(record, name)
        yield PredictionOnPage(
            name, Markup("%s%s") % (meaning, Markup(": %s.") % in_words if in_words else ""), formula
        )


def _link(suite: SuiteOnPage) -> Markup:
    figure = Markup("The figure: %s. ") % suite.figure_data if len(suite.figure.table) else Markup("")
    if suite.items_data:
        return figure + Markup("The verdicts: %s.") % suite.items_data
    return figure + Markup(
        "The verdicts of all items: <code>syntagm export</code>." if suite.subject.record.predictions else ""
    )
