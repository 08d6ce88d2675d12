"""The chapter on fill runs: the measures by suite, by nucleus cut-off and by lemma, with example contexts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from syntagm.core import counted
from syntagm.report import html, numbers
from syntagm.report.chapter import RECORD
from syntagm.report.gaps import evidence
from syntagm.report.gaps.evidence import TAG, Band, Evidence, Lemma, Lemmas, ModelOnSuite, Row, SuiteOnPage
from syntagm.report.html import HtmlTable, classes, heading, isolate, join, list_tags, number_headings, row, row_heading
from syntagm.report.numbers import Column, Subject, number
from syntagm.report.section import Drawing, Section, Variables
from syntagm.runs import Run
from syntagm.stats import in_words
from syntagm.views import frequency_bands, gaps, lines, nucleus

# The measures that are proportions of right answers, and have a colour.
SHADED = ("tse", "equal_weight", "model_weight")
_MEASURES = {name: name.replace("_", " ") for name in (*SHADED, "covered", "invalid")} | {"tse": "TSE"}


def tabulate_estimates(rows: Sequence[Row], key: str, several: bool) -> HtmlTable:
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


_TAGS = ("circuit", "phenomenon", "field", "construction")


def write_article(suite: SuiteOnPage) -> Variables:
    subject, several = suite.subject, len(suite.models) > 1
    return {
        "subject": subject,
        "facts": Markup("%s%s") % (counted(subject.record.items, "item"), list_tags(subject.record.tags, _TAGS)),
        "table": tabulate_models([model.row for model in suite.models], subject.title),
        "models": [_describe(model, subject, several) for model in suite.models],
        "signatures": list(_cite(suite)),
        "links": _link(suite),
    }


def _describe(model: ModelOnSuite, subject: Subject[Run], several: bool) -> Variables:
    column, lemmas, contexts = model.row.column, model.lemmas, model.contexts
    total = column.run.record["contexts"][subject.name]["contexts"]
    of = f"{subject.title}, {column.name}"
    wins = f"{_win(lemmas.never, 'never')} and {_win(lemmas.always, 'always')}"
    return {
        "name": column.name if several else "",
        "facts": _state_facts(model, subject.name),
        "wins": f"Of {counted(lemmas.total, 'lemma')} scored here, {wins}.",
        "lemmas": list(_tabulate_lemmas(lemmas, column.name)),
        "contexts": tabulate_contexts(contexts, f"Contexts of {of}") if contexts else "",
        "summary": _count_contexts(len(contexts), total),
        "sampled": bool(contexts and contexts[0]["why"]),
        "most_probable": tabulate_most_probable(model.most_probable, f"Most probable entries in gaps of {of}")
        if contexts and model.most_probable
        else "",
        "entries": _count_entries(column.run, len(contexts)) if model.most_probable else "",
    }


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


def _tabulate_lemmas(lemmas: Lemmas, model: str) -> Iterator[tuple[str, HtmlTable]]:
    hardest = "Hardest lemmas" if lemmas.easiest else "Lemmas, the hardest first"
    for title, ranked in ((hardest, lemmas.hardest), ("Easiest lemmas", lemmas.easiest)):
        if ranked:
            yield title, tabulate_lemmas(title, ranked, lemmas.labels, model)


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
            if measure in SHADED:
                yield numbers.citation(model.row.column, suite.subject.name, measure)


def _link(suite: SuiteOnPage) -> Markup:
    links = [link for link in (suite.lemmas_data, suite.contexts_data) if link]
    saved = join(links) + ". " if links else Markup("")
    elsewhere = Markup(
        "Tables too large for this page are in the run directory (<code>results.csv</code>, <code>shards</code>)."
    )
    return saved if len(links) == 2 else saved + elsewhere


# The names of the figures at cut-offs: of equal weight and model weight, then of what they are computed from.
CUT_OFF_FIGURES = tuple(f"cut_offs_{measure}" for measure in nucleus.MEASURES)


def select_cut(columns: Sequence[Column[Run]]) -> list[Column[Run]]:
    return [column for column in columns if len(gaps.cut_offs(column.run)) > 1]


def draw_cut_offs(columns: Sequence[Column[Run]], saved: bool = False) -> Iterator[Drawing]:
    """Draw equal weight, model weight, covered mass and invalid contexts at cut-offs."""
    # There is one line per construction if all suites of all runs have one, else one per suite.
    cut = select_cut(columns)
    for measure in nucleus.MEASURES:
        rows = [row for column in cut for row in _rows(column, measure, _by_construction(cut))]
        table = pl.DataFrame(rows, schema=nucleus.SCHEMA, orient="row")
        title = nucleus.title(measure)
        subtitle = nucleus.subtitle(measure, [(column.name, column.run) for column in cut])
        figure = nucleus.draw(table, measure, *((title, subtitle) if saved else ()))
        numbers = tabulate_cut_offs(table, title, len(columns) > 1)
        yield Drawing(f"cut_offs_{measure}", figure, f"Figure: {title}", _sentences(subtitle), title, numbers)


def _sentences(lines: Iterable[str]) -> str:
    return "".join(f"{line[0].upper()}{line[1:]}. " for line in lines)


def _by_construction(columns: Sequence[Column[Run]]) -> bool:
    return all(column.pooled and all(TAG in suite.tags for suite in column.run.suites) for column in columns)


def _rows(column: Column[Run], measure: str, pooled: bool) -> Iterator[tuple[object, ...]]:
    estimates = column.pooled if pooled else column.accuracies
    rows = (nucleus.row_of(estimate, group, column.name, measure) for (group, _), estimate in estimates.items())
    yield from (row for row in rows if row)


def draw_bands(columns: Sequence[Column[Run]], rows: Sequence[tuple[object, ...]], saved: bool = False) -> Drawing:
    table = pl.DataFrame(rows, schema=frequency_bands.SCHEMA, orient="row")
    different = frequency_bands.differences((column.name, column.run) for column in columns)
    subtitle, title = (*frequency_bands.SUBTITLE, *different), "Equal weight by frequency of the lemma"
    wrapped = [*frequency_bands.SUBTITLE, *lines(different)]
    figure = frequency_bands.draw(table, wrapped, title) if saved else frequency_bands.draw(table, (), "")
    return Drawing("frequency_bands", figure, f"Figure: {title}", _sentences(subtitle), title)


# Parts of methods that differ from number to number.
_PARTICULAR = re.compile(r"^mean of \d+ suites; |\([\d.e+]+\)")
_ELIGIBLE = {
    "single-token": "rows of which every form is a single token",
    "all": "all rows that the model can score",
}


def _show_overview(chapter: Evidence) -> Variables:
    constructions, several = evidence.constructions(chapter.columns), len(chapter.columns) > 1
    return {
        "constructions": tabulate_estimates(constructions, "construction", several) if constructions else "",
        "suites": tabulate_estimates(chapter.rows, "suite", several),
        "data": evidence.link_estimates(chapter.columns),
    }


def _show_cut_offs(chapter: Evidence) -> Variables:
    cut = select_cut(chapter.columns)
    several = [isolate(column.name) for column in cut if gaps.several_tokens(column.run)]
    return {
        "weights": CUT_OFF_FIGURES[:2],
        "others": CUT_OFF_FIGURES[2:],
        "several": several,
        "some": join(several, ", ") if len(several) < len(cut) else "",
    }


OVERVIEW: Section[Evidence] = Section("overview", "Overview", template="gaps/overview.html", show=_show_overview)
CUT_OFFS: Section[Evidence] = Section(
    "cut-offs",
    "Nucleus cut-offs",
    template="gaps/cut_offs.html",
    when=lambda chapter: select_cut(chapter.columns),
    figures=lambda chapter, saved: draw_cut_offs(chapter.columns, saved),
    show=_show_cut_offs,
)
BANDS: Section[Evidence] = Section(
    "bands",
    "By frequency",
    template="gaps/bands.html",
    when=lambda chapter: chapter.band_rows,
    figures=lambda chapter, saved: [draw_bands(chapter.columns, chapter.band_rows, saved)],
    show=lambda chapter: {"table": tabulate_bands(chapter.bands, len(chapter.columns) > 1) if chapter.bands else ""},
)


def _show_suites(chapter: Evidence) -> Variables:
    return {
        "suites": list(map(write_article, chapter.suites)),
        "above": OVERVIEW.anchor,
        "above_name": "overview",
        "body": "gaps/suite.html",
        "several_labels": any(len(column.run.record["options"]["words"]["labels"]) > 2 for column in chapter.columns),
        "seed": evidence.SEED,
    }


SUITE_BY_SUITE: Section[Evidence] = Section(
    "suite-by-suite", "Suite by suite", template="gaps/suites.html", show=_show_suites, versions=evidence.VERSIONS
)


def _show_methods(chapter: Evidence) -> Variables:
    shown = [
        *(estimate for row in chapter.rows for estimate in row.estimates.values()),
        *(band.equal_weight for band in chapter.bands),
    ]
    lists = _list_word_lists(chapter.columns)
    return {
        "shared": chapter.shared,
        "eligible": join(map(_say_eligible, chapter.columns), "; "),
        "over_suites": in_words.over_suites(),
        "methods": sorted({_PARTICULAR.sub("", estimate.design) for estimate in shown}),
        "lists": lists,
        "several_lists": len(lists) > 1,
    }


def _say_eligible(column: Column[Run]) -> Markup:
    eligible = column.run.record["options"]["eligible"]
    several = ", including words of several tokens" if gaps.several_tokens(column.run) else ""
    return Markup("%s: %s%s") % (isolate(column.name), _ELIGIBLE[eligible], several)


def _list_word_lists(columns: Sequence[Column[Run]]) -> list[Mapping[str, Any]]:
    """Return the word lists: name, hash, labels, rows, remarks, and the names of the columns that used them."""
    by_hash: dict[str, dict[str, Any]] = {}
    for column in columns:
        words = column.run.record["options"]["words"]
        word_list = by_hash.setdefault(
            words["hash"], words | {"remarks": column.run.record.get("remarks", []), "models": []}
        )
        word_list["models"].append(column.name)
    return list(by_hash.values())


METHODS: Section[Evidence] = Section(
    "methods", "How the numbers were made", template="gaps/how.html", show=_show_methods
)


class Gaps(Evidence):
    """A chapter on fill runs."""

    def list_sections(self) -> Sequence[Section[Any]]:
        return [OVERVIEW, CUT_OFFS, BANDS, SUITE_BY_SUITE, METHODS, RECORD]
