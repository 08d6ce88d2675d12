"""The page of a suite: what it tests, its figures, every prediction, the models side by side, and its items."""

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from syntagm.core import counted, regular
from syntagm.evaluation import Kind
from syntagm.report import html, links
from syntagm.report.chapter import Alert, note_conventions, note_unknown
from syntagm.report.html import HtmlTable, heading, isolate, row, row_heading
from syntagm.report.links import Rows
from syntagm.report.numbers import Subject
from syntagm.report.predictions import figures, items as items_of, tables, words
from syntagm.report.predictions.evidence import SuiteOnPage, read_sentences
from syntagm.report.predictions.items import example, find_compared
from syntagm.report.predictions.scores import MEANINGS
from syntagm.report.predictions.words import explain_predictions, state_facts
from syntagm.report.section import Data, Drawing, Section, Variables
from syntagm.report.site.addresses import Addresses
from syntagm.report.site.items import (
    CELLS,
    ORDERS,
    PAGE,
    VERDICT_COLUMNS,
    VERDICTS,
    Items,
    Selection,
    Verdict,
    suite_of,
)
from syntagm.report.site.pages import OnePage, Step
from syntagm.runs import Run
from syntagm.stats import matching
from syntagm.suites import syntaxgym
from syntagm.views import coverage, margins

# With more models than this, only pairs with the first are shown side by side.
_MOST_MODELS = 8
# The most values of a tag among which a form offers a choice.
_VALUES = 200


class Drawn:
    """The figures of a suite, with the numbers of their sections: they are the same for all selections of items."""

    def __init__(self, subject: Subject[Run]) -> None:
        self.subject = subject
        self._svg: dict[str, Markup] = {}

    @cached_property
    def suite(self) -> SuiteOnPage:
        sentences = read_sentences(self.subject)
        effects = figures.effects_of(self.subject, sentences)
        kind, figure = figures.suite(self.subject, "", sentences, effects)
        empty = Markup("")
        return SuiteOnPage(self.subject, kind, figure, kind, tuple(effects), items_of.NOTHING, "", (), empty, empty)

    def svg(self, drawing: Drawing) -> Markup:
        """Draw a figure, once."""
        if drawing.stem not in self._svg:
            self._svg[drawing.stem] = Markup(drawing.figure.svg())
        return self._svg[drawing.stem]


class SuitePage(OnePage):
    def __init__(
        self, drawn: Drawn, key: str, items: Items, selection: Selection, addresses: Addresses,
        neighbours: tuple[str, str] = ("", ""),
    ) -> None:  # fmt: skip
        self.subject, self.drawn, self.items = drawn.subject, drawn, items
        self.selection, self.addresses, self._neighbours = selection, addresses, neighbours
        self.title, self.place = drawn.subject.title, ("suite", key)

    def list_sections(self) -> Sequence[Section[Any]]:
        return [ABOUT, FIGURE, PREDICTIONS, EFFECTS, MARGINS, SIDE_BY_SIDE, ITEMS, SETTINGS]

    def alerts(self) -> list[Alert]:
        found = [*note_conventions(self.subject.columns)]
        for column, sentences in zip(self.subject.columns, self.sentences, strict=False):
            judged, total = column.judged[self.subject.name], self.subject.record.items
            if not column.run.done and judged < total:
                content = Markup("<b>Unfinished.</b> Under %s, %s of %s are judged so far.")
                found.append(Alert(content % (isolate(column.name), f"{judged:,}", counted(total, "item")), mild=False))
            found += note_unknown(column, self.subject.name)
            if (share := coverage.unfamiliar(sentences)) >= coverage.HARDLY:
                content = Markup("<b>Hardly known.</b> %s of the tokens of %s are unknown or parts of characters: %s")
                meaning = "it has hardly seen this script, and its scores say little about the language."
                found.append(Alert(content % (f"{share:.0%}", isolate(column.name), meaning)))
        return found

    def beside(self) -> tuple[Step | None, Step | None]:
        before, after = (Step(key, self.addresses.page(("suite", key))) if key else None for key in self._neighbours)
        return before, after

    @cached_property
    def sentences(self) -> list[pl.DataFrame]:
        """The sentences of the suite under each model; those of its file, if there are no runs."""
        return read_sentences(self.subject) or [self.items.sentences]

    @property
    def suite(self) -> SuiteOnPage:
        return self.drawn.suite

    def svg(self, drawing: Drawing) -> Markup:
        """Draw a figure, or return it as it was drawn before."""
        return self.drawn.svg(drawing)

    @property
    def asked(self) -> bool:
        return bool(self.subject.columns)

    @cached_property
    def judged(self) -> list[str]:
        """The measures whose values are verdicts."""
        return [measure for measure in self.items.measures if self.items.kind(measure) is Kind.VERDICT]

    @cached_property
    def selected(self) -> pl.DataFrame:
        return self.items.select(self.selection)

    @property
    def measure(self) -> str:
        return self.selection.measure or next(iter(self.items.measures), "")

    def narrowed(self, **changes: str) -> str:
        """Return the URL of this page with another selection; "" without a server."""
        if not self.addresses.live:
            return ""
        return self.addresses.page(self.place, replace(self.selection.without_page, **changes).query) + "#items"


def _show_about(page: SuitePage) -> Variables:
    record = page.subject.record
    item, shown = example(record, page.sentences[0])
    return {
        "comments": page.subject.comments,
        "facts": state_facts(record),
        "example": tables.tabulate_example(page.subject.title, item, shown, page.items.writing) if shown else "",
        "predictions": list(explain_predictions(record, MEANINGS)),
        "tags": page.subject.other_tags,
        "hash": record.hash,
    }


ABOUT: Section[SuitePage] = Section("about", "What is tested", template="site/about.html", show=_show_about)


def _draw_figure(page: SuitePage) -> Iterator[Drawing]:
    suite = page.suite
    if len(suite.figure.table):
        yield Drawing(suite.stem, suite.figure, f"Figure of {page.title}", words.explain_figure(suite))


def _show_figure(page: SuitePage) -> Variables:
    return {"numbers": tables.tabulate_regions(page.suite) if page.suite.kind == "regions" else ""}


FIGURE: Section[SuitePage] = Section(
    "figure",
    "Surprisal by region",
    template="site/figure.html",
    when=lambda page: page.asked and page.suite.kind == "regions" and len(page.suite.figure.table),
    figures=lambda page, saved: _draw_figure(page),
    data=Data("regions", "the numbers", lambda page: _rows(page.suite.figure.table)),
    show=_show_figure,
)


def _show_predictions(page: SuitePage) -> Variables:
    return {
        "table": tables.tabulate_predictions(page.suite),
        "signatures": words.cite_suite(page.suite),
        "chances": words.explain_chance(page.suite),
    }


def _list_scores(page: SuitePage) -> Rows:
    columns = ("model", "suite", "measure", "value", "low", "high", "n", "ties", "undefined", "method", "signature")
    rows = [
        (column.name, page.subject.name, measure, *estimate.numbers, estimate.method, signature)
        for column in page.subject.columns
        for measure in page.subject.measures
        if (estimate := column.accuracies.get((page.subject.name, measure)))
        for signature in [str(column.run.signature(page.subject.name, measure))]
    ]
    return columns, rows


PREDICTIONS: Section[SuitePage] = Section(
    "predictions",
    "Predictions",
    template="site/predictions.html",
    when=lambda page: page.asked and page.subject.measures,
    data=Data("scores", "the scores", _list_scores),
    show=_show_predictions,
)


def _list_effects(page: SuitePage) -> Rows:
    columns = ("model", "suite", "measure", "comparison", "n", "effect_bits", "low", "high", "d")
    rows = [
        (group.model, page.subject.name, group.measure, str(effect.comparison), effect.estimate.n, *effect.estimate.numbers[:3],
         effect.d)
        for effect in page.suite.effects
        for group in [effect.estimate.group]
    ]  # fmt: skip
    return columns, rows


EFFECTS: Section[SuitePage] = Section(
    "effects",
    "Effects",
    "The mean over items of the difference within the item, in bits, with its 95% interval: above 0 it supports the prediction.",
    template="site/table.html",
    when=lambda page: page.asked and page.suite.effects,
    data=Data("effects", "the effects", _list_effects),
    show=lambda page: {"table": tables.tabulate_effects(page.suite), "remarks": page.suite.limits},
)


def _draw_margins(page: SuitePage) -> Iterator[Drawing]:
    for number, measure in enumerate(page.judged, 1):
        results = {column.name: column.run.results(page.subject.name) for column in page.subject.columns}
        unit = margins.unit_of_runs([column.run for column in page.subject.columns], page.subject.name, measure)
        figure = margins.draw(margins.tables(results, page.subject.name, measure), unit=unit)
        if len(figure.table):
            several = isolate(measure) if len(page.judged) > 1 else ""
            yield Drawing(_stem(number, measure), figure, f"Figure: items by the margin of {measure}", heading=several)


def _stem(number: int, measure: str) -> str:
    return f"margins-{links.file_name(number, measure)}"


MARGINS: Section[SuitePage] = Section(
    "margins",
    "Items by margin",
    "Right of 0 the prediction holds of an item, and the further from 0, the clearer.",
    template="site/pictures.html",
    when=lambda page: page.asked and page.judged,
    figures=lambda page, saved: _draw_margins(page),
)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two models and the numbers of items in the four cells."""

    a: str
    b: str
    counts: Mapping[str, int]


def _pairs(page: SuitePage) -> list[_Pair]:
    models, table = page.items.models, page.items.of(page.measure)
    places = list(combinations(range(len(models)), 2))
    if len(models) > _MOST_MODELS:
        places = [(0, place) for place in range(1, len(models))]
    found = []
    for first, second in places:
        values = table.select(pl.col(f"value_{first}").alias("a"), pl.col(f"value_{second}").alias("b"))
        counts = dict.fromkeys(("11", "10", "01", "00"), 0)
        for a, b in values.drop_nulls().drop_nans().iter_rows():
            counts[f"{a:.0f}{b:.0f}"] += 1
        found.append(_Pair(models[first], models[second], counts))
    return found


def _show_pairs(page: SuitePage) -> Variables:
    def cell(pair: _Pair, name: str) -> Markup:
        url = page.narrowed(a=pair.a, b=pair.b, cell=name)
        count = f"{pair.counts[name]:,}"
        label = f"{CELLS[name]}: {count}".replace("A ", f"{pair.a} ").replace("B ", f"{pair.b} ")
        link = Markup('<a href="%s" aria-label="%s">%s</a>') % (url, label, count) if url else count
        return html.number_cell(link, pair.counts[name])

    headings = [heading("A"), heading("B"), *html.number_headings(*(CELLS[name] for name in ("11", "10", "01", "00")))]
    rows = [
        row(row_heading(isolate(pair.a)), html.text_cell(isolate(pair.b)), *(cell(pair, name) for name in pair.counts))
        for pair in _pairs(page)
    ]
    several = Markup("By the prediction %s. ") % isolate(page.measure) if len(page.items.measures) > 1 else ""
    only_first = len(page.items.models) > _MOST_MODELS
    return {
        "caption": Markup("%sItems that are defined under both models%s.%s")
        % (several, "; a number leads to the items" if page.addresses.live else "",
           f" With more than {_MOST_MODELS} models, each is shown beside the first." if only_first else ""),
        "table": HtmlTable("Models side by side", headings, rows, html.classes(sortable=len(rows) > 1)),
    }  # fmt: skip


def _list_pairs(page: SuitePage) -> Rows:
    columns = ("suite", "measure", "a", "b", "both", "only_a", "only_b", "neither")
    return columns, [(page.subject.name, page.measure, pair.a, pair.b, *pair.counts.values()) for pair in _pairs(page)]


SIDE_BY_SIDE: Section[SuitePage] = Section(
    "side-by-side",
    "Models side by side",
    template="site/table.html",
    when=lambda page: len(page.items.models) > 1 and page.measure in page.judged,
    data=Data("cells", "the table", _list_pairs),
    show=_show_pairs,
)


def _choices(values: Mapping[str, str] | Sequence[str], chosen: str, default: str = "") -> list[tuple[str, str, bool]]:
    """Return the choices of a form: value, label, whether it is chosen."""
    named = values if isinstance(values, Mapping) else {"": default, **{value: value for value in values}}
    return [(value, label, value == chosen) for value, label in named.items()]


def _show_items(page: SuitePage) -> Variables:
    selected, selection = page.selected, page.selection
    live = page.addresses.live
    first = (selection.number - 1) * PAGE if live else 0
    shown = selected.slice(first, PAGE) if live else selected
    total, pages = len(page.items.table), -(-len(selected) // PAGE)
    form: Variables = {}
    measures = page.items.measures if page.asked else []
    if live:
        form = {
            "action": page.addresses.page(page.place) + "#items",
            "selects": [
                (name, label, choices)
                for name, label, choices in (
                    ("measure", "prediction", _choices({name: name for name in measures}, page.measure)),
                    ("verdict", "verdict", _choices(VERDICTS if page.asked else {}, selection.verdict)),
                    ("model", "under", _choices(page.items.models, selection.model, "any model")),
                    ("tag", "tag", _choices([*page.items.tags], selection.tag, "any tag")),
                    ("condition", "in condition", _choices(page.subject.record.conditions, selection.condition, "any")),
                    ("order", "order", _choices(ORDERS if page.asked else {}, selection.order)),
                    ("a", "A", _choices(page.items.models, selection.a, "no model")),
                    ("b", "B", _choices(page.items.models, selection.b, "no model")),
                    ("cell", "A and B", _choices(CELLS if page.asked else {}, selection.cell)),
                )
                if len(choices) > 1
            ],
            "fields": [
                ("words", "words", selection.words, "search"),
                *([("value", "value of the tag", selection.value, "search")] if page.items.tags else []),
                *([("least", "margin from", selection.least, "text")] if page.asked else []),
                *([("most", "to", selection.most, "text")] if page.asked else []),
            ],
            "values": page.items.tags.get(selection.tag, [])[:_VALUES],
            "reset": page.addresses.page(page.place) + "#items",
        }
    return {
        "form": form,
        "count": f"{len(selected):,} of {counted(total, 'item')}" if selection.narrows else counted(total, "item"),
        "table": _tabulate(page, shown),
        "turns": [
            Step(label, page.addresses.page(page.place, replace(selection, page=str(number)).query) + "#items")
            for label, number in (("Previous items", selection.number - 1), ("Next items", selection.number + 1))
            if live and 1 <= number <= pages
        ],
        "page_of": f"{selection.number} of {pages}" if live and pages > 1 else "",
        "exclude": page.links.data("exclude", "an exclude list", lambda: _list_excluded(page)) if live else "",
        "suite_file": page.addresses.file(page.place, "json", "suite", selection.query) if live else "",
        "live": live,
    }


def _list_excluded(page: SuitePage) -> Rows:
    return ("suite", "item"), [(page.subject.name, item) for item in page.selected["item"].unique(maintain_order=True)]


def _tabulate(page: SuitePage, shown: pl.DataFrame) -> HtmlTable:
    judged, live = page.measure in page.judged, page.addresses.live
    models = page.items.models
    unit = margins.unit_of_runs([column.run for column in page.subject.columns], page.subject.name, page.measure)
    number = html.number_headings(f"margin in {unit}" if judged else "value")
    of_models = html.name_headings(models) if len(models) > 1 else number if models else []
    headings = [heading("item"), heading("sentence"), *of_models]
    compared = next((reference.condition for reference in find_compared(page.subject.record)), "")
    query = page.selection.without_page.query if live else ()
    rows = []
    for found in shown.iter_rows(named=True):
        url = page.addresses.page((*page.place, found["key"]), query)
        name = Markup('<a href="%s">%s</a>') % (url, isolate(found["key"])) if url else isolate(found["key"])
        texts = dict(zip(found["conditions"], found["texts"], strict=True))
        text = texts.get(compared) or next(iter(texts.values()), "")
        cells = (_verdict_cell(verdict, judged) for verdict in page.items.verdicts(found))
        sentence = Markup('<td class="text"%s>%s</td>') % (page.items.writing.attributes(text), text)
        rows.append(row(row_heading(name), sentence, *cells))
    names = html.classes(items=True, sortable=not live, filterable=not live)
    return HtmlTable("Items", headings, rows, names)


def _verdict_cell(verdict: Verdict, judged: bool) -> Markup:
    if verdict.value is None:
        return html.number_cell("not asked")
    if verdict.value != verdict.value:
        return html.number_cell("undefined", None, "undefined")
    if not judged:
        return html.number_cell(f"{verdict.value:.3f}", verdict.value)
    sign, kind = ("\u2713", "holds") if verdict.value else ("\u2717", "fails")
    said = kind
    if verdict.tie:
        # A convention may count ties as hits.
        sign, said, kind = ("=", "tie, holds", kind) if verdict.value else ("=", "tie", "tie")
    content = Markup('<span class="sign" role="img" aria-label="%s">%s</span> %s') % (
        said,
        sign,
        f"{verdict.margin:+.2f}",
    )
    return html.number_cell(content, verdict.margin, kind)


ITEMS: Section[SuitePage] = Section(
    "items",
    "Items",
    template="site/items.html",
    data=Data("items", "these items", lambda page: _rows(_verdicts(page) if page.asked else _list_sentences(page))),
    more=[Data("exclude", "an exclude list", _list_excluded)],
    show=_show_items,
)


def _list_sentences(page: SuitePage) -> pl.DataFrame:
    chosen = page.selected.select("item", "conditions", "texts").explode("conditions", "texts")
    return chosen.select(pl.lit(page.subject.name).alias("suite"), "item", condition="conditions", text="texts")


def _verdicts(page: SuitePage) -> pl.DataFrame:
    measures = [page.selection.measure] if page.selection.measure else page.items.measures
    return page.items.long(page.selected, measures).select(VERDICT_COLUMNS)


def _rows(table: pl.DataFrame) -> Rows:
    return table.columns, table.iter_rows()


def _show_settings(page: SuitePage) -> Variables:
    runs = [
        (
            column.name,
            page.addresses.page(("run", column.name)),
            "finished" if column.run.done else column.run.record["status"],
        )
        for column in page.subject.columns
    ]
    return {"runs": runs}


SETTINGS: Section[SuitePage] = Section(
    "runs", "Runs", template="site/runs.html", when=lambda page: page.asked, show=_show_settings
)


def suite_file(page: SuitePage) -> bytes:
    """Return a suite of the selected items, in SyntaxGym's format."""
    chosen = page.selected.select("item", matching.OCCURRENCE)
    suite = suite_of(page.subject.record, max(page.sentences, key=len), chosen)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "suite.json"
        syntaxgym.write([suite], path)
        return regular.content(path)
