"""The tables of a page about fill runs."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from syntagm.report import html
from syntagm.report.gaps.evidence import Band, Lemma, Row
from syntagm.report.html import HtmlTable, classes, heading, isolate, number_headings, row, row_heading
from syntagm.report.numbers import number

# The measures that are proportions of right answers, and have a colour.
SHADED = ("tse", "equal_weight", "model_weight")
_MEASURES = {name: name.replace("_", " ") for name in (*SHADED, "covered", "invalid")} | {"tse": "TSE"}


def tabulate_estimates(rows: Sequence[Row], key: str, several: bool) -> HtmlTable:
    """Return a table with a row for each suite or construction and model."""
    headings = [heading(key), *([heading("model")] if several else []), *_estimate_headings()]
    body = [
        row(
            row_heading(_label(line)),
            *([html.text_cell(isolate(line.column.name))] if several else []),
            *_estimate_cells(line),
        )
        for line in rows
    ]
    return HtmlTable(f"Scores by {key}", headings, body, _names(rows))


def tabulate_models(rows: Sequence[Row], title: str) -> HtmlTable:
    body = [row(row_heading(isolate(line.column.name)), *_estimate_cells(line)) for line in rows]
    return HtmlTable(f"Scores by model, {title}", [heading("model"), *_estimate_headings()], body, _names(rows))


def _names(rows: Sequence[Row]) -> str:
    return classes(narrow=True, sortable=len(rows) > 1, filterable=len(rows) > html.LONG)


def _label(line: Row) -> Markup:
    name = isolate(line.label)
    return Markup('<a href="#suite-%s">%s</a>') % (line.number, name) if line.number else name


def _estimate_headings() -> list[Markup]:
    return number_headings(*_MEASURES.values(), "rows", "skipped")


def _estimate_cells(line: Row) -> list[Markup]:
    total = f"{line.column.run.record['options']['words']['rows']:,}"
    rows = Markup('%s<br><span class="notes">of&nbsp;%s</span>') % (line.counted, total)
    skipped = sum(line.skipped.values())
    return [
        *(html.estimate_cell(line.estimates.get(name), "no context", name in SHADED) for name in _MEASURES),
        html.number_cell(rows, line.rows[1]),
        html.number_cell(f"{skipped:,}", skipped),
    ]


def tabulate_cut_offs(table: pl.DataFrame, title: str, several: bool) -> HtmlTable:
    headings = [
        *(heading("of"), *([heading("model")] if several else []), heading("cut-off")),
        *number_headings("value", "95% interval", "n", "undefined"),
    ]
    rows = [
        row(
            html.text_cell(isolate(numbers["group"], False)),
            *([html.text_cell(isolate(numbers["model"], False))] if several else []),
            html.text_cell("none" if numbers["whole"] else f"{numbers['end']} {numbers['share']:g}"),
            html.value_cell(numbers["value"]),
            html.interval_cell(numbers["low"], numbers["high"]),
            *map(html.count_cell, (numbers["n"], numbers["undefined"])),
        )
        for numbers in table.iter_rows(named=True)
    ]
    return HtmlTable(f"{title}, numbers", headings, rows, "small sortable filterable")


def tabulate_bands(bands: Iterable[Band], several: bool) -> HtmlTable:
    headings = [
        *(heading("band"), *([heading("model")] if several else [])),
        *number_headings("equal weight", "model weight"),
    ]
    rows = [
        row(
            row_heading(str(band.band)),
            *([html.text_cell(isolate(band.column.name, False))] if several else []),
            *(html.estimate_cell(weight, "", True) for weight in (band.equal_weight, band.model_weight)),
        )
        for band in bands
    ]
    return HtmlTable("Weights by frequency band", headings, rows, "sortable")


def tabulate_lemmas(title: str, lemmas: Sequence[Lemma], labels: Sequence[str], model: str) -> HtmlTable:
    banded = any(lemma.band for lemma in lemmas)
    headings = [
        *(heading("forms"), *(number_headings("band") if banded else [])),
        *(heading(Markup("wins, ") + isolate(label, False), True) for label in labels),
        heading("right share", True),
    ]
    rows = [
        row(
            html.text_cell(isolate(" / ".join(lemma.forms), False)),
            *([_band_cell(lemma.band)] if banded else []),
            *(_wins_cell(lemma.won.get(label)) for label in labels),
            html.value_cell(lemma.right),
        )
        for lemma in lemmas
    ]
    return HtmlTable(f"{title}, {model}", headings, rows, "small narrow")


def _band_cell(band: str) -> Markup:
    return Markup('<td class="number" data-value="%s">%s</td>') % (band, band)


def _wins_cell(won: tuple[float, int] | None) -> Markup:
    if won is None:
        return html.number_cell("not asked")
    wins, contexts = won
    return html.number_cell(f"{round(wins, 2):g} of {contexts}", wins / contexts)


def tabulate_contexts(contexts: Sequence[Mapping[str, Any]], label: str) -> HtmlTable:
    headings = [
        *(heading("context"), heading("wants")),
        *number_headings("equal weight", "model weight", "covered", "rows", "items"),
        *([heading("why shown")] if contexts[0]["why"] else []),
    ]
    rows = [
        row(
            *_context_cells(context),
            *(html.value_cell(context[name]) for name in ("equal_weight", "model_weight", "covered")),
            html.number_cell(f"{context['eligible']:,}", context["eligible"]),
            html.count_cell(context["items"]),
            *([html.text_cell(context["why"])] if context["why"] else []),
        )
        for context in contexts
    ]
    return HtmlTable(label, headings, rows, "small narrow")


def _context_cells(context: Mapping[str, Any]) -> list[Markup]:
    text = Markup('<td dir="auto" class="text">%s<mark>____</mark>%s</td>') % (context["left"], context["right"])
    return [text, html.text_cell(isolate(context["label"], False))]


def tabulate_most_probable(contexts: Iterable[tuple[Mapping[str, Any], Any]], label: str) -> HtmlTable:
    headings = [heading("context"), heading("wants"), heading("entries, with probability")]
    rows = [
        row(*_context_cells(context), html.text_cell(html.join(map(_entry, entries)) if entries else "none"))
        for context, entries in contexts
    ]
    return HtmlTable(label, headings, rows, "small narrow")


def _entry(entry: Mapping[str, Any]) -> Markup:
    form = Markup(" <em>%s</em>") % entry["form"] if entry["form"] else ""
    start, name = "" if entry["begins"] else "…", isolate(entry["entry"], False)
    return Markup("%s%s&nbsp;%s%s") % (start, name, number(entry["probability"]), form)
