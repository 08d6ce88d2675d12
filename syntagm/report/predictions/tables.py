"""The tables of a page about predictions."""

from collections.abc import Iterator, Mapping, Sequence

from markupsafe import Markup, escape

from syntagm.report import html
from syntagm.report.html import (
    UNKNOWN_WRITING,
    HtmlTable,
    Writing,
    classes,
    heading,
    isolate,
    name_headings,
    number_headings,
    row,
    row_heading,
)
from syntagm.report.links import Links
from syntagm.report.numbers import Column, Subject, interval, number
from syntagm.report.predictions.evidence import Evidence, SuiteOnPage
from syntagm.report.predictions.items import ExampleSentence
from syntagm.report.predictions.model_pairs import ModelPair
from syntagm.report.predictions.scores import ScoreRow
from syntagm.runs import Run
from syntagm.stats import Comparison


def tabulate_overall(chapter: Evidence) -> HtmlTable:
    meanings = chapter.meanings
    headings = [
        heading("what must hold of an item"),
        *number_headings("suites", "chance"),
        *name_headings(column.name for column in chapter.columns),
    ]
    rows = [
        row(
            row_heading(isolate(line.label) + _meaning(meanings.get(line.label, ""))),
            *(count_suites(line), html.chance_cell(line.chance)),
            *_score_cells(line, "not asked", False),
            headline=line is chapter.overall[0],
        )
        for line in chapter.overall
    ]
    return HtmlTable("Scores", headings, rows, classes(narrow=len(chapter.columns) > html.WIDE))


def _meaning(meaning: str) -> Markup:
    return Markup('<br><small class="group">%s</small>') % meaning if meaning else Markup("")


def _score_cells(line: ScoreRow, lacking: str, shaded: bool) -> Iterator[Markup]:
    for estimate, suites in zip(line.cells, line.over, strict=True):
        yield html.estimate_cell(estimate, lacking, shaded, 0 if line.alike else len(suites))


def count_suites(line: ScoreRow) -> Markup:
    """Return a cell with the number of suites of a score, fewest to most."""
    fewest, most = line.counts[0], line.counts[-1]
    return html.number_cell(fewest if fewest == most else Markup(f"{fewest}&ndash;{most}"), most)


def tabulate_suites(chapter: Evidence) -> HtmlTable:
    columns, grouped = chapter.columns, len(chapter.by_group) > 1
    headings = [
        *(heading("suite"), heading("prediction"), heading("chance", True)),
        *name_headings(column.name for column in columns),
    ]
    rows: list[Markup] = []
    for group, members in chapter.by_group.items():
        rows += [html.group_row(group, 3 + len(columns))] if grouped else []
        rows += [cells for subject in members for cells in _suite_rows(chapter, subject, group if grouped else "")]
    names = classes(sortable=True, filterable=True, narrow=len(columns) > html.WIDE)
    return HtmlTable("Accuracy by suite and prediction", headings, rows, names)


def link_suite(links: Links, subject: Subject[Run]) -> Markup:
    return Markup('<a href="%s">%s</a>') % (links.suite(subject), isolate(subject.title))


def _suite_rows(chapter: Evidence, subject: Subject[Run], group: str) -> Iterator[Markup]:
    unseen = Markup('<small class="group unseen"> <bdi>%s</bdi></small>') % group if group else Markup("")
    if not subject.measures:
        none = Markup('<td class="none">no prediction</td>')
        yield row(
            row_heading(link_suite(chapter.links, subject)), none, *[html.number_cell("")] * (1 + len(chapter.columns))
        )
    for place, measure in enumerate(subject.measures):
        cells = (_accuracy(column, subject, measure, chapter.judged) for column in chapter.columns)
        name = html.text_cell(_measure_name(subject, place))
        title = row_heading(link_suite(chapter.links, subject) + unseen)
        yield row(title, name, html.chance_cell(subject.chance(measure)), *cells)


def _measure_name(subject: Subject[Run], place: int) -> Markup:
    measure, last = subject.measures[place], place == len(subject.measures) - 1
    if measure == "all" and last and place:
        return Markup("<em>all</em>")
    return isolate(measure) + (" (first)" if not place and not last else "")


def _accuracy(column: Column[Run], subject: Subject[Run], measure: str, shaded: bool) -> Markup:
    asked = column in subject.columns
    estimate = column.accuracies.get((subject.name, measure)) if asked else None
    return html.estimate_cell(estimate, "not asked" if asked else "not run", shaded)


def tabulate_tag(chapter: Evidence, tag: str) -> HtmlTable:
    lines, tag_name = chapter.groups[tag], tag.replace("_", " ")
    headings = [
        *(heading(tag_name), *number_headings("suites", "chance")),
        *name_headings(column.name for column in chapter.columns),
    ]
    rows = [
        row(
            row_heading(isolate(line.label)),
            *(count_suites(line), html.chance_cell(line.chance)),
            *_score_cells(line, "not run", chapter.judged),
        )
        for line in lines
    ]
    names = classes(sortable=True, filterable=len(lines) > html.LONG, narrow=len(chapter.columns) > html.WIDE)
    return HtmlTable(f"Scores by {tag_name}", headings, rows, names)


def tabulate_pairs(pairs: Sequence[ModelPair]) -> HtmlTable:
    headings = [
        *(heading("A"), heading("B")),
        *number_headings(
            Markup("mean difference, B &minus; A"),
            *("suites, significant ones", "A better", "B better", "discordant: only A, only B"),
        ),
    ]
    rows = [
        row(
            row_heading(Markup('<a href="#pair-%s">%s</a>') % (pair.number, isolate(pair.a.name))),
            html.text_cell(isolate(pair.b.name)),
            _difference(pair.overall),
            html.number_cell(f"{len(pair.suites)}, {sum(pair.better)}", sum(pair.better)),
            *map(html.count_cell, pair.better),
            html.number_cell(", ".join(f"{count:,}" for count in pair.discordant), sum(pair.discordant)),
        )
        for pair in pairs
    ]
    return HtmlTable("Pairs of models", headings, rows, classes(sortable=True, filterable=len(pairs) > html.LONG))


def _difference(comparison: Comparison) -> Markup:
    difference = comparison.difference
    undefined = f", <em>{difference.undefined:,} undefined</em>" if difference.undefined else ""
    content = f'{html.format_difference(difference)}<br><span class="notes">n={difference.n:,}{undefined}</span>'
    return html.number_cell(Markup(content), difference.value)


def tabulate_pair(pair: ModelPair, links: Links) -> HtmlTable:
    headings = [
        heading("suite"),
        *number_headings("A", "B", Markup("B &minus; A"), "only A", "only B"),
        *number_headings("p", "Holm", Markup("Benjamini&ndash;Hochberg")),
    ]
    rows = [_row_of(links, subject, comparison) for subject, comparison in pair.suites]
    names = classes(narrow=True, sortable=True, filterable=len(rows) > html.LONG)
    return HtmlTable(f"{pair.a.name} and {pair.b.name} by suite", headings, rows, names)


def _row_of(links: Links, subject: Subject[Run], comparison: Comparison) -> Markup:
    assert comparison.verdicts, "first predictions are verdicts"
    sides = (
        html.number_cell(Markup(f'{number(side.value)} <span class="interval">{interval(side)}</span>'), side.value)
        for side in (comparison.a, comparison.b)
        if side
    )
    return row(
        row_heading(link_suite(links, subject)),
        *sides,
        _difference(comparison),
        *map(html.count_cell, (comparison.verdicts.only_a, comparison.verdicts.only_b)),
        *map(html.p_cell, (comparison.p, comparison.holm, comparison.benjamini_hochberg)),
    )


def tabulate_predictions(suite: SuiteOnPage) -> HtmlTable:
    subject = suite.subject
    headings = [*(heading("prediction"), heading("chance", True)), *_model_headings(subject)]
    rows = [
        row(
            row_heading(
                isolate(measure, False) if measure in subject.record.predictions else Markup("<em>all</em> of them")
            ),
            html.chance_cell(subject.chance(measure)),
            *(_accuracy(column, subject, measure, False) for column in subject.columns),
        )
        for measure in subject.measures
    ]
    return HtmlTable("Predictions", headings, rows, classes(narrow=len(subject.columns) > html.WIDE))


def _model_headings(subject: Subject[Run]) -> list[Markup]:
    return name_headings(column.name for column in subject.columns)


def tabulate_effects(suite: SuiteOnPage) -> HtmlTable:
    subject = suite.subject
    several = len(subject.record.predictions) > 1
    headings = [heading("effect in bits"), *([heading("prediction")] if several else []), *_model_headings(subject)]
    rows = [
        row(
            row_heading(isolate(contrast)),
            *([html.text_cell(isolate(measure))] if several else []),
            *map(html.effect_cell, of_models),
        )
        for measure, contrast, of_models in suite.effect_rows
    ]
    return HtmlTable("Effects", headings, rows, classes(narrow=len(subject.columns) > html.WIDE))


def tabulate_regions(suite: SuiteOnPage) -> HtmlTable:
    several = len(suite.subject.columns) > 1
    headings = [
        *([heading("model")] if several else []),
        *(heading("condition"), heading("region")),
        *number_headings("mean bits", "95% interval", "n", "undefined"),
    ]
    rows = [
        row(
            *([html.text_cell(isolate(numbers["model"], False))] if several else []),
            html.text_cell(isolate(numbers["condition"], False)),
            html.text_cell(_region(numbers)),
            html.value_cell(numbers["bits"]),
            html.interval_cell(numbers["low"], numbers["high"]),
            *map(html.count_cell, (numbers["n"], numbers["undefined"])),
        )
        for numbers in suite.figure.table.iter_rows(named=True)
    ]
    names = classes(small=True, sortable=True, filterable=len(rows) > html.LONG)
    return HtmlTable("Mean surprisal by region", headings, rows, names)


def _region(numbers: Mapping[str, str]) -> Markup:
    label = Markup(" ") + isolate(numbers["label"]) if numbers["label"] else ""
    return isolate(numbers["region"], False) + label + (" (empty)" if numbers["empty"] else "")


def tabulate_example(
    title: str, item: str, example: Sequence[ExampleSentence], writing: Writing = UNKNOWN_WRITING
) -> HtmlTable:
    headings = [heading("condition"), heading(Markup("item ") + isolate(item, False))]
    rows = []
    for sentence in example:
        star = Markup('<span class="star" title="ungrammatical">*</span>') if sentence.starred else Markup("")
        pieces = (Markup("<mark>%s</mark>") % text if compared else escape(text) for text, compared in sentence.pieces)
        written = writing.attributes("".join(text for text, _ in sentence.pieces))
        text = Markup("<td%s>%s%s</td>") % (written, star, html.join(pieces, ""))
        rows.append(row(row_heading(isolate(sentence.condition, False)), text))
    return HtmlTable(f"An item of {title}", headings, rows, "small example")
