"""The parts of which pages are composed, all escaped HTML: tables, rows and cells, numbers, and how sentences are written."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup, escape

from syntagm.evaluation import Chance, Estimate, p_value
from syntagm.report.numbers import breakable, interval, number
from syntagm.suites import UNKNOWN, Direction, Language, direction, direction_of, language_of
from syntagm.views import Effect, Table


# `dir="auto"` is not enough: it goes by the first letter, and does not look into the elements that isolate tokens.
@dataclass(frozen=True, slots=True)
class Writing:
    language: Language = UNKNOWN  # their language; `UNKNOWN` if the suite does not say it

    @property
    def lang(self) -> str:
        """The tag of the language; "" if it isn't known."""
        return "" if self.language is UNKNOWN else self.language.tag

    def direction(self, text: str = "") -> Direction:
        """Return the direction of a text: that of the language, or else that of most letters of the text."""
        known = self.language.scripts
        return direction_of(known) if known else direction(text)

    def attributes(self, text: str = "") -> Markup:
        """Return the attributes of the element with a text, with a space before them.

        >>> writing_of({"language": "ar"}).attributes(), writing_of({}).attributes("The keys")
        (Markup(' lang="ar" dir="rtl"'), Markup(' dir="ltr"'))
        """
        lang = Markup(' lang="%s"') % self.lang if self.lang else Markup("")
        return lang + Markup(' dir="%s"') % self.direction(text)


# That of sentences whose language is not known.
UNKNOWN_WRITING = Writing()


def writing_of(tags: Mapping[str, str]) -> Writing:
    return Writing(language_of(tags))


# With more rows than this, a table has a search field.
LONG = 12
# With more columns of numbers than this, cells are narrow.
WIDE = 3


@dataclass(frozen=True, slots=True)
class HtmlTable:
    label: str  # what a screen reader says that the table is
    headings: Sequence[Markup]
    rows: Iterable[Markup]  # from `row` and `divider`
    # From `classes`; the script lets people sort and filter the tables that are `sortable` and `filterable`.
    classes: str = ""
    tall: bool = False  # whether the table scrolls inside of the page
    leftward: bool = False  # whether its columns follow each other from right to left

    def __html__(self) -> str:
        box, classes = ("scroll tall" if self.tall else "scroll"), (f' class="{self.classes}"' if self.classes else "")
        direction = ' dir="rtl"' if self.leftward else ""
        lines = [
            f'<div class="{box}" role="region" aria-label="{escape(self.label)}" tabindex="0">',
            f"<table{classes}{direction}>",
            f"<thead><tr>{''.join(self.headings)}</tr></thead>",
            *("<tbody>", *self.rows, "</tbody>"),
            *("</table>", "</div>"),
        ]
        return "\n".join(lines)


def tabulate(table: Table, label: str) -> HtmlTable:
    """Return a table as HTML. Columns without text are numbers; None, or nan, is an empty cell."""
    numeric = [all(not isinstance(cells[place], str) for cells in table.rows) for place in range(len(table.columns))]
    headings = [heading(name, is_number) for name, is_number in zip(table.columns, numeric, strict=True)]
    rows = [
        row(*(_cell(table, *each) for each in zip(table.columns, cells, numeric, strict=True))) for cells in table.rows
    ]
    return HtmlTable(label, headings, rows, classes(sortable=True, filterable=len(rows) > LONG))


def _cell(table: Table, column: str, cell: object, is_number: bool) -> Markup:
    if not is_number:
        return text_cell(isolate("" if cell is None else str(cell)))
    if isinstance(cell, float):
        return number_cell("" if math.isnan(cell) else table.shown_number(column, cell), cell)
    return number_cell("" if cell is None else f"{cell:,}", cell)


def classes(**chosen: bool) -> str:
    """Join the names whose values are true.

    >>> classes(sortable=True, narrow=False, rows=True)
    'sortable rows'
    """
    return " ".join(name for name, value in chosen.items() if value)


def heading(content: str = "", is_number: bool = False) -> Markup:
    kind = ' class="number"' if is_number else ""
    return Markup(f'<th scope="col"{kind}>{escape(content)}</th>')


def number_headings(*contents: str) -> list[Markup]:
    return [heading(content, True) for content in contents]


def name_headings(names: Iterable[str]) -> list[Markup]:
    return [heading(isolate(name), True) for name in names]


def row(*cells: Markup, headline: bool = False) -> Markup:
    kind = ' class="headline"' if headline else ""
    return Markup(f"<tr{kind}>{''.join(cells)}</tr>")


def group_row(content: str, width: int) -> Markup:
    return Markup(f'<tr class="divider"><th scope="rowgroup" colspan="{width}"><bdi>{escape(content)}</bdi></th></tr>')


def isolate(name: str, breaks: bool = True) -> Markup:
    """Return a name that does not change the direction of the text around it."""
    return Markup(f"<bdi>{breakable(name) if breaks else escape(name)}</bdi>")


def row_heading(content: str) -> Markup:
    return Markup(f'<th scope="row">{escape(content)}</th>')


def text_cell(content: str) -> Markup:
    return Markup(f"<td>{escape(content)}</td>")


def number_cell(content: object, value: object = None, classes: str = "") -> Markup:
    defined = value is not None and value == value
    names = " ".join(filter(None, ("number", "" if defined else "none", classes)))
    return Markup(f'<td class="{names}" data-value="{value if defined else ""}">{escape(content)}</td>')


def count_cell(count: int) -> Markup:
    return number_cell(count, count)


def value_cell(value: float) -> Markup:
    return number_cell(number(value), value)


def interval_cell(low: float, high: float) -> Markup:
    text = "no interval" if low != low else f"[{low:.3f}, {high:.3f}]"
    return Markup(f'<td class="number" data-value="{low if low == low else ""}">{text}</td>')


def p_cell(p: float) -> Markup:
    """Return a cell with a p-value; significant ones stand out, nan is empty."""
    if p != p:
        return number_cell("")
    return number_cell(p_value(p), p, "sure" if p <= 0.05 else "")


def chance_cell(level: Chance) -> Markup:
    defined = level.value == level.value
    title = escape(f"{level}, {level.method}" if defined else level.method)
    name, value = ("number", level.value) if defined else ("number none", "")
    return Markup(
        f'<td class="{name}" data-value="{value}" title="{title}">{number(level.value) if defined else "unknown"}</td>'
    )


def shade(value: float) -> str:
    """Return the class of a cell with a proportion: the higher, the stronger its colour; nan has none."""
    return "" if value != value else f"a{min(int(value * 10), 9)}"


def estimate_cell(estimate: Estimate | None, lacking: str = "not run", shaded: bool = False, suites: int = 0) -> Markup:
    if estimate is None:
        return number_cell(lacking)
    notes = [
        f"n={estimate.n:,}",
        f"<em>{suites:,} suite{'' if suites == 1 else 's'}</em>" if suites else "",
        f"<em>{estimate.ties:,} {'tie' if estimate.ties == 1 else 'ties'}</em>" if estimate.ties else "",
        f"<em>{estimate.undefined:,} undefined</em>" if estimate.undefined else "",
    ]
    content = f'{strong_estimate(estimate)}<br><span class="notes">{", ".join(filter(None, notes))}</span>'
    return number_cell(Markup(content), estimate.value, shade(estimate.value) if shaded else "")


def strong_estimate(estimate: Estimate, digits: int = 3) -> Markup:
    value, limits = number(estimate.value, digits), interval(estimate, digits)
    return Markup(f'<b>{value}</b> <span class="interval">{limits}</span>')


def format_difference(estimate: Estimate) -> Markup:
    value = "undefined" if estimate.value != estimate.value else f"{estimate.value:+.3f}"
    ends = "no interval" if estimate.low != estimate.low else f"[{estimate.low:+.3f}, {estimate.high:+.3f}]"
    return Markup(f'{value} <span class="interval">{ends}</span>')


def effect_cell(effect: Effect | None) -> Markup:
    """Return a cell with an effect in bits; None if the model was not asked."""
    if effect is None:
        return number_cell("not asked")
    estimate = effect.estimate
    notes = [
        f"d={number(effect.d, 2)}" if effect.d == effect.d else "",
        f"n={estimate.n:,}",
        f"<em>{estimate.undefined:,} undefined</em>" if estimate.undefined else "",
    ]
    content = f'{strong_estimate(estimate, 2)}<br><span class="notes">{", ".join(filter(None, notes))}</span>'
    content += f'<br><span class="notes">{escape(effect.missing)}</span>' if effect.missing else ""
    return number_cell(Markup(content), estimate.value)


def join(parts: Iterable[Any], separator: str = ", ") -> Markup:
    """Join parts, escaping those that are not HTML."""
    return Markup(separator).join(parts)


def list_tags(tags: Mapping[str, str], names: Sequence[str]) -> Markup:
    return join(
        (Markup(" &middot; %s: %s") % (name, isolate(tags[name], False)) for name in names if tags.get(name)), ""
    )
