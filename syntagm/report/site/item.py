"""The page of an item: its conditions by region, which comparison fails, and every token under every model."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain
from typing import Any

import polars as pl
from markupsafe import Markup

from syntagm.core import FormulaError, InputError
from syntagm.evaluation import DEFAULT, SENTENCES, Kind, Reading, SuiteRecord, regions, whole_sentences
from syntagm.report import html
from syntagm.report.chapter import Alert, note_conventions
from syntagm.report.html import HtmlTable, heading, isolate, join, row, row_heading
from syntagm.report.links import Rows
from syntagm.report.numbers import Column, Subject
from syntagm.report.predictions import items
from syntagm.report.predictions.items import find_compared
from syntagm.report.predictions.scores import MEANINGS
from syntagm.report.predictions.words import explain_predictions
from syntagm.report.section import Data, Section, Variables
from syntagm.report.site.addresses import Addresses, Query
from syntagm.report.site.items import VERDICT_COLUMNS, Items, Selection, Verdict
from syntagm.report.site.pages import OnePage, Step
from syntagm.runs import TOKEN_COLUMNS, Run, unit
from syntagm.stats import matching
from syntagm.views import Differences, comparisons, contrast, within, words

# The items with similar margins that a page leads to.
_SIMILAR = 4


class ItemPage(OnePage):
    def __init__(
        self, subject: Subject[Run], suite: str, key: str, items: Items, selection: Selection, addresses: Addresses,
        others: tuple[str, str], pair: tuple[str, str] = ("", ""),
    ) -> None:  # fmt: skip
        self.subject, self.suite, self.key, self.items = subject, suite, key, items
        self.selection, self.addresses, self.others = selection, addresses, others
        self.place, self.title = ("suite", suite, key), f"{subject.title}: item {key}"
        found = items.table.row(items.numbers[key], named=True)
        self.item, self.occurrence, self.tags = found["item"], found[matching.OCCURRENCE], found["tags"]
        scored = [column.name for column in subject.columns if column.run.task.surprisals]
        self.pair = tuple(name or default for name, default in zip(pair, (*scored, "", ""), strict=False))

    def list_sections(self) -> Sequence[Section[Any]]:
        return [CONDITIONS, VERDICTS, TOKENS, DIFFERENCE, SIMILAR, TAGS]

    def alerts(self) -> list[Alert]:
        unjudged = [
            Alert(Markup("Not yet judged under %s.") % isolate(column.name), mild=False)
            for column, sentences in zip(self.subject.columns, self.sentences, strict=True)
            if not len(sentences)
        ]
        return [*note_conventions(self.subject.columns), *unjudged]

    def steps(self) -> Sequence[Step]:
        return [Step(self.subject.title, self.addresses.page(("suite", self.suite), self._query))]

    def actions(self) -> Sequence[Step]:
        record = self.subject.record
        url = self.addresses.tried(record.name, record.hash, self.item) if not self.occurrence else ""
        return [Step("Try this item", url)] if url else ()

    def beside(self) -> tuple[Step | None, Step | None]:
        before, after = (self._step(key) if key else None for key in self.others)
        return before, after

    def _step(self, key: str) -> Step:
        return Step(f"item {key}", self.addresses.page(("suite", self.suite, key), self._query))

    @property
    def _query(self) -> Query:
        return self.selection.query if self.addresses.live else ()

    @cached_property
    def sentences(self) -> list[pl.DataFrame]:
        """The sentences of the item under each model, with the columns of `evaluation.SENTENCES`."""
        return [self._rows(column.run.sentences(self.subject.name)) for column in self.subject.columns]

    def _rows(self, table: pl.DataFrame) -> pl.DataFrame:
        rows = table.filter(pl.col("item") == self.item)
        if self.items.occurrences[self.item] > 1:
            rows = matching.numbered(rows, "condition").filter(pl.col(matching.OCCURRENCE) == self.occurrence)
        return rows.select(name for name in SENTENCES if name in rows.columns)

    @cached_property
    def asked(self) -> list[tuple[Column[Run], pl.DataFrame]]:
        """The models that have answered, with their sentences."""
        pairs = zip(self.subject.columns, self.sentences, strict=True)
        return [(column, sentences) for column, sentences in pairs if len(sentences)]

    @cached_property
    def scored(self) -> list[tuple[Column[Run], pl.DataFrame]]:
        """The models that have answered with surprisals, with their sentences: people and other tools have none."""
        return [(column, sentences) for column, sentences in self.asked if column.run.task.surprisals]

    @cached_property
    def texts(self) -> dict[str, dict[str, Any]]:
        tables = [sentences for _, sentences in self.asked[:1]] or [self._rows(self.items.sentences)]
        return {row["condition"]: row for row in tables[0].iter_rows(named=True)}

    @cached_property
    def regions(self) -> list[str]:
        """The names of the regions, in the order of the sentences."""
        order: list[str] = []
        for sentence in self.texts.values():
            at = 0
            for name in sentence["region_names"]:
                if name in order:
                    at = order.index(name) + 1
                else:
                    order.insert(at, name)
                    at += 1
        return order

    @cached_property
    def bits(self) -> dict[tuple[str, str, str], float]:
        """(model, condition, region) -> bits; the region `*` is the whole sentence."""
        found: dict[str, dict[tuple[str, str, str], float]] = {column.name: {} for column, _ in self.scored}
        for (reading, _), sentences in self._alike:
            values = regions(sentences, reading).select("item", "condition", "region", "bits")
            for model, condition, region, bits in values.iter_rows():
                found[model].setdefault((model, condition, region), bits)
            for model, condition, bits in whole_sentences(sentences, reading).iter_rows():
                found[model][model, condition, "*"] = bits
        return {place: bits for of_model in found.values() for place, bits in of_model.items()}

    @cached_property
    def _alike(self) -> list[tuple[tuple[Reading, SuiteRecord], pl.DataFrame]]:
        """The sentences of the models whose bits are read alike and that have the same predictions, one table for each."""
        # The name of a model takes the place of the item. All of them are computed at once: a table of a few rows takes
        # as long as one of thousands.
        groups: dict[tuple[Reading, tuple[str, ...]], list[tuple[Column[Run], pl.DataFrame]]] = {}
        for column, sentences in self.scored:
            record = column.run.suite(self.subject.name)
            key = column.run.reading(self.subject.name), tuple(chain.from_iterable(record.predictions.items()))
            groups.setdefault(key, []).append((column, sentences))
        return [
            (
                (reading, members[0][0].run.suite(self.subject.name)),
                pl.concat([sentences.with_columns(item=pl.lit(column.name)) for column, sentences in members]),
            )
            for (reading, _), members in groups.items()
        ]

    @cached_property
    def differences(self) -> dict[str, list[Differences]]:
        """Model -> the differences of all comparisons; empty if a formula can't be parsed."""
        found: dict[str, list[Differences]] = {column.name: [] for column, _ in self.scored}
        try:
            for (reading, record), sentences in self._alike:
                for of_models in within(sentences, reading, comparisons(record)):
                    for place, model in enumerate(of_models.items["item"]):
                        own = slice(place, place + 1)
                        of_model = replace(of_models, items=of_models.items[own], bits=of_models.bits[own])
                        found[model].append(of_model)
        except FormulaError:  # the record may be of another version or damaged; the page shows the formula as it is
            return {}
        return found

    def verdict(self, measure: str, model: str) -> Verdict:
        found = self.items.of(measure).row(self.items.numbers[self.key], named=True)
        return self.items.verdicts(found)[self.items.models.index(model)]

    def label(self, region: str) -> str:
        label = self.subject.record.region_labels.get(region, "")
        return f"{region} {label}".strip() if label != region else region


def pair_of(query: Query, models: Sequence[str]) -> tuple[Query, tuple[str, str]]:
    """Take the models whose difference is shown out of a query."""
    given = {name: value for name, value in query if name in ("first", "second")}
    for name, value in given.items():
        if value not in models:
            raise InputError(name, repr(value[:100]), "one of " + ", ".join(models))
    rest = [(name, value) for name, value in query if name not in given]
    return rest, (given.get("first", ""), given.get("second", ""))


def _show_conditions(page: ItemPage) -> Variables:
    several = len(page.items.models) > 1
    names = page.regions
    compared = {(reference.region, reference.condition) for reference in find_compared(page.subject.record)}
    headings = [heading("condition"), *(heading(isolate(page.label(name), False)) for name in names)]
    headings += [heading("sentence", True) if names else heading("sentence")]
    rows = []
    for condition, sentence in page.texts.items():
        spans = zip(sentence["region_names"], sentence["region_starts"], sentence["region_ends"], strict=True)
        contents: dict[str, str] = {}
        for name, start, end in spans:
            contents.setdefault(name, sentence["text"][start:end])
        cells = [_content(page, contents.get(name), (name, condition) in compared) for name in names]
        cells.append(html.text_cell("") if names else _content(page, sentence["text"], ("*", condition) in compared))
        rows.append(row(row_heading(isolate(condition, False)), *cells, headline=True))
        for model in page.items.models:
            numbers = [
                _bits(page.bits.get((model, condition, name)), (name, condition) in compared) for name in (*names, "*")
            ]
            label = isolate(model) if several else Markup("bits")
            if (model, condition, "*") in page.bits:
                rows.append(row(Markup('<th scope="row" class="under">%s</th>') % label, *numbers))
    first = next(iter(page.texts.values()), {"text": ""})["text"]
    leftward = page.items.writing.direction(first) == "rtl"
    rule, caption = page.subject.record.aggregate, Markup("")
    if page.scored:
        how = "" if rule == "sum" else f" (the {rule} over its tokens)"
        caption = Markup("The bits of each region stand under it%s. ") % how
    return {
        "caption": caption + "Marked: what the first prediction compares.",
        # Regions follow each other as they are read.
        "table": HtmlTable("Conditions by region", headings, rows, "conditions", leftward=leftward),
    }


def _content(page: ItemPage, text: str | None, compared: bool) -> Markup:
    if text is None:
        return Markup('<td class="none">no such region</td>')
    if not text.strip():
        return Markup('<td class="none">empty</td>')
    shown = Markup("<mark>%s</mark>") % text if compared else text
    return Markup('<td class="text"%s>%s</td>') % (page.items.writing.attributes(text), shown)


def _bits(bits: float | None, compared: bool) -> Markup:
    if bits is None:
        return html.number_cell("")
    return html.number_cell("undefined" if math.isnan(bits) else f"{bits:.2f}", bits, "sure" if compared else "")


def _list_regions(page: ItemPage) -> Rows:
    columns = ("model", "suite", "item", "condition", "region", "bits")
    return columns, [
        (model, page.subject.name, page.item, condition, region, bits)
        for (model, condition, region), bits in page.bits.items()
    ]


CONDITIONS: Section[ItemPage] = Section(
    "conditions",
    "Conditions by region",
    template="site/table.html",
    data=Data("regions", "the regions", _list_regions),
    show=_show_conditions,
)


_OF_COMPARISONS = "A comparison has the difference of its two sides in bits: above 0 it supports the prediction."


def _show_verdicts(page: ItemPage) -> Variables:
    explained = explain_predictions(page.subject.record, MEANINGS)
    return {
        "predictions": [(prediction, _tabulate_verdicts(page, prediction.name)) for prediction in explained],
        "caption": _OF_COMPARISONS if page.scored else "",
    }


def _tabulate_verdicts(page: ItemPage, measure: str) -> HtmlTable:
    judged = page.items.kind(measure) is Kind.VERDICT
    compared = _by_model(page, measure)
    contrasts = list(dict.fromkeys(name for by_name in compared.values() for name in by_name))
    headings = [
        heading("model"),
        heading("verdict" if judged else "value"),
        *html.number_headings(*([_margin(page, measure)] if judged else [])),
    ]
    headings += html.number_headings(*(isolate(f"{name} (bits)", False) for name in contrasts))
    rows = []
    for column in page.subject.columns:
        verdict = page.verdict(measure, column.name)
        cells = (
            _comparison(compared.get(column.name, {}).get(name), column.run.tolerance_in_bits) for name in contrasts
        )
        rows.append(row(row_heading(isolate(column.name)), *_verdict(verdict, judged), *cells))
    return HtmlTable(f"The prediction {measure}", headings, rows, html.classes(verdicts=True))


def _margin(page: ItemPage, measure: str) -> str:
    """Return the head of the column of margins; it says what they are differences of, if not of bits."""
    units = dict.fromkeys(unit(column.run, page.subject.name, measure) for column in page.subject.columns)
    return "margin" if [*units] == [DEFAULT] else f"margin ({' or '.join(units)})"


def _by_model(page: ItemPage, measure: str) -> dict[str, dict[str, Differences]]:
    return {
        model: {contrast(found.comparison): found for found in of_model if found.measure == measure}
        for model, of_model in page.differences.items()
    }


def _verdict(verdict: Verdict, judged: bool) -> list[Markup]:
    if verdict.value is None:
        return [html.text_cell("not asked"), *([html.number_cell("")] if judged else [])]
    if math.isnan(verdict.value):
        return [Markup('<td class="undefined">undefined</td>'), *([html.number_cell("")] if judged else [])]
    if not judged:
        return [html.number_cell(f"{verdict.value:.3f}", verdict.value)]
    sign, name = ("\u2713", "holds") if verdict.value else ("\u2717", "fails")
    said = name
    if verdict.tie:
        # A convention may count ties as hits.
        sign, said, name = ("=", "tie, holds", name) if verdict.value else ("=", "tie, does not hold", "tie")
    return [
        Markup('<td class="%s"><span aria-hidden="true">%s</span> %s</td>') % (name, sign, said),
        html.number_cell(f"{verdict.margin:+.2f}", verdict.margin),
    ]


def _comparison(found: Differences | None, tolerance: float) -> Markup:
    if found is None:
        return html.number_cell("")
    bits = float(found.bits[0])
    if math.isnan(bits):
        return html.number_cell("undefined", None, "undefined")
    equality = getattr(found.comparison.tree, "operator", "") == "="
    holds = bits > tolerance
    name = "" if equality else "holds" if holds else "tie" if abs(bits) <= tolerance else "fails"
    said = {"holds": "supports the prediction", "tie": "a tie", "fails": "contradicts the prediction"}.get(name, "")
    sign = {"holds": "\u2713 ", "tie": "= ", "fails": "\u2717 "}.get(name, "")
    content = Markup('<span class="sign" role="img" aria-label="%s">%s</span>') % (said, sign) if sign else Markup("")
    return html.number_cell(content + f"{bits:+.2f}", bits, name)


VERDICTS: Section[ItemPage] = Section(
    "verdicts",
    "Predictions",
    template="site/verdicts.html",
    when=lambda page: page.subject.record.predictions and page.asked,
    data=Data("verdicts", "the verdicts", lambda page: _list_verdicts(page)),
    show=_show_verdicts,
)


def _list_verdicts(page: ItemPage) -> Rows:
    found = []
    for measure in page.items.measures:
        verdicts = page.items.verdicts(page.items.of(measure).row(page.items.numbers[page.key], named=True))
        for model, verdict in zip(page.items.models, verdicts, strict=True):
            if verdict.value is not None:
                found.append((page.subject.name, page.item, model, measure, verdict.value, verdict.margin))
    return VERDICT_COLUMNS, found


def _show_tokens(page: ItemPage) -> Variables:
    places = {name: place for place, name in enumerate(page.regions)}
    labels = [page.label(name) for name in page.regions]
    models = [
        (
            column.name,
            [
                (found["condition"], page.items.writing.attributes(found["text"]), items.strip(found, places, labels))
                for found in sentences.iter_rows(named=True)
            ],
        )
        for column, sentences in page.scored
    ]
    return {
        "models": models,
        "unknown": any((~sentences["known"].explode()).any() for _, sentences in page.scored),
        "surprisals": ["0", "2", "4", "6", "8", "10", "12", "14", "16+"],
        "several": len(page.items.models) > 1,
    }


def _list_tokens(page: ItemPage) -> Rows:
    tables = [
        column.run.tokens(page.subject.name, sentences).with_columns(model=pl.lit(column.name))
        for column, sentences in page.scored
    ]
    return TOKEN_COLUMNS, (row for table in tables for row in table.iter_rows())


TOKENS: Section[ItemPage] = Section(
    "tokens",
    "Token by token",
    template="site/tokens.html",
    when=lambda page: page.scored,
    data=Data("tokens", "the tokens", _list_tokens),
    show=_show_tokens,
)


def _differing(page: ItemPage) -> Iterator[tuple[str, list[tuple[str, float, bool]]]]:
    """Yield each condition with its words, the difference of their bits, second minus first model, and if both know it."""
    scored = {column.name: (column.run, sentences) for column, sentences in page.scored}
    tables = [
        words.table(run, page.subject.name, page.item, sentences=sentences)
        for run, sentences in (scored[name] for name in page.pair[:2])
    ]
    for condition in page.texts:
        sides = [
            each.filter(pl.col("condition") == condition).select("word", "bits", "known").rows() for each in tables
        ]
        # A symbol for the end of the text may be scored by one model only.
        words_of_both = zip(*sides, strict=False)
        yield condition, [(word, b - a, both and known) for (word, a, known), (_, b, both) in words_of_both]


def _show_difference(page: ItemPage) -> Variables:
    first, second = page.pair[:2]
    models, differing = [column.name for column, _ in page.scored], [*_differing(page)]
    return {
        "unknown": not all(known for _, found in differing for *_, known in found),
        "first": first,
        "second": second,
        "strips": [
            (condition, page.items.writing.attributes(page.texts[condition]["text"]), items.word_strip(found))
            for condition, found in differing
        ],
        "form": {
            "action": page.addresses.page(page.place) + "#difference",
            "kept": page.selection.query,
            "firsts": [(name, name == first) for name in models],
            "seconds": [(name, name == second) for name in models],
        }
        if page.addresses.live and len(models) > 2
        else {},
        "only": not page.addresses.live and len(models) > 2,
        "key": [(f"down{step}", f"\u2212{step}") for step in (5, 3, 1)] + [("h0", "0")]
        + [(f"up{step}", f"+{step}") for step in (1, 3, 5)],
    }  # fmt: skip


DIFFERENCE: Section[ItemPage] = Section(
    "difference",
    "Difference of two models",
    template="site/difference.html",
    when=lambda page: len(page.scored) > 1 and {*page.pair[:2]} <= {column.name for column, _ in page.scored},
    show=_show_difference,
)


def _similar(page: ItemPage) -> list[tuple[str, float]]:
    """Return the items whose margin, or value, under the first model is nearest to that of this one, in its order."""
    if not page.asked:
        return []
    table = page.items.of(page.selection.measure).select("key", "number_0").drop_nulls().drop_nans()
    own = next((number for key, number in table.iter_rows() if key == page.key), None)
    near: list[tuple[str, float]] = []
    if own is not None:
        others = ((key, number) for key, number in table.iter_rows() if key != page.key and math.isfinite(number))
        near = sorted(others, key=lambda pair: abs(pair[1] - own))[:_SIMILAR]
    return sorted(near, key=lambda pair: pair[1])


def _show_similar(page: ItemPage) -> Variables:
    links = [
        Markup('<a href="%s">%s</a> (%s)') % (url, isolate(key), f"{number:+.2f}")
        if (url := page.addresses.page((*page.place[:2], key)))
        else Markup("%s (%s)") % (isolate(key), f"{number:+.2f}")
        for key, number in _similar(page)
    ]
    measure = page.selection.measure or next(iter(page.items.measures), "")
    return {"model": page.items.models[0], "measure": measure, "links": join(links)}


SIMILAR: Section[ItemPage] = Section(
    "similar", "Neighbours", template="site/similar.html", when=lambda page: _similar(page), show=_show_similar
)
TAGS: Section[ItemPage] = Section(
    "about",
    "About this item",
    template="site/tags.html",
    when=lambda page: _tags(page),
    show=lambda page: {"tags": _tags(page)},
)


def _tags(page: ItemPage) -> Mapping[str, str]:
    found = page.items.table.row(page.items.numbers[page.key], named=True)
    return {name.removeprefix("tag "): value for name, value in found.items() if name.startswith("tag ") and value}
