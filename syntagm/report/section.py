"""Sections of a page. A section is a record: one loop in `page` puts it on the page and into the menu, and saves its figures."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from markupsafe import Markup, escape

from syntagm.report.html import HtmlTable, tabulate
from syntagm.report.links import INSIDE, Links, Rows
from syntagm.views import Figure, Table

C = TypeVar("C")
# The variables of a template.
Variables: TypeAlias = Mapping[str, Any]

# The width of a figure in pixels from which it is not made smaller to fit; the script knows it, too.
_WIDEST = 1250
_NOT_SHOWN = (
    '<p class="left-out">The figure is not shown, to keep this page small; <code>syntagm report --figures FOLDER</code> draws '
    "it.</p>"
)


@dataclass(frozen=True, slots=True)
class Drawing:
    stem: str  # the name of its files, without an ending; unique on a page
    figure: Figure
    label: str = ""  # what a screen reader says that the figure is
    caption: str | Markup = ""  # what stands below it on the page
    heading: str | Markup = ""  # what stands above it on the page, if the section has several figures
    table: HtmlTable | str = ""  # its numbers as a table of the page, if the section shows them


@dataclass(frozen=True, slots=True)
class Picture:
    drawing: Drawing
    svg: Markup  # "" if there is no room for it, or if it comes after the page
    links: Links = INSIDE
    saved: bool = False  # whether links that save it stand below it
    # The URLs of a figure that comes after the page: of the drawing that the script puts into the page, and of the
    # picture that is shown without scripts.
    later: tuple[str, str] | None = None

    def __html__(self) -> str:
        """Return the figure with its caption as HTML, or say that it is not shown; templates call this."""
        if not self.svg and not self.later:
            return _NOT_SHOWN
        content, source = self.svg, ""
        if self.later:
            url, picture = map(escape, self.later)
            source = f' data-figure="{url}"'
            content = Markup(
                f'<noscript><img src="{picture}" alt="{escape(self.drawing.label)}" loading="lazy"></noscript>'
            )
        label = escape(self.drawing.label)
        box = f'<div class="scroll" role="region" aria-label="{label}" tabindex="0"{source}>{content}</div>'
        caption = f"<figcaption>{escape(self.drawing.caption)}</figcaption>\n" if self.drawing.caption else ""
        below = f'<p class="links">{self.numbers}</p>\n' if self.saved else ""
        # A figure is as wide as its place, unless its text would be too small.
        width = re.match(r'<svg [^>]*width="(\d+)', self.svg)
        kind = "fits" if width and int(width[1]) <= _WIDEST else "vast"
        return f'<figure class="{kind}">\n{box}\n{caption}{below}</figure>'

    @property
    def numbers(self) -> Markup:
        return self.links.figure(self.drawing.stem, self.drawing.figure.table)


@dataclass(frozen=True, slots=True)
class Data(Generic[C]):
    """A table that can be saved, beside or behind what a section shows."""

    name: str  # the name of its file, without an ending; unique on a page
    label: str
    rows: Callable[[C], Rows]


@dataclass(frozen=True, slots=True)
class Section(Generic[C]):
    """A section of a page about a chapter of type `C`, whose attributes are the numbers that it shows."""

    anchor: str  # its id on the page, to which the menu leads
    heading: str  # its heading, also in the menu
    caption: str = ""  # a paragraph below the heading, as HTML
    template: str = "section.html"
    when: Callable[[C], object] = lambda chapter: True  # whether a page about the chapter has this section
    figures: Callable[[C, bool], Iterable[Drawing]] = lambda chapter, saved: ()
    table: Callable[[C], Table] | None = None
    data: Data[C] | None = None  # the table that can be saved, if it isn't `table`
    more: Sequence[Data[C]] = ()  # further tables that can be saved, to which the template leads by itself
    # Further variables of the template. It also has `chapter`, `caption`, `pictures` (the figures by stem), and
    # `table`, `data` (a link that saves it) and `remarks` (its notes).
    show: Callable[[C], Variables] = lambda chapter: {}
    versions: Sequence[Variables] = ({},)
    # A lower bound for the bytes that a version adds to the text that all versions have, so that those which can't be
    # small enough need not be made; if None, all are tried.
    least: Callable[[C, Variables], int] | None = None

    @property
    def saved(self) -> Data[C] | None:
        """The table of the section that can be saved; None if it has none."""
        if self.table and not self.data:
            return Data(self.anchor, "the table", lambda chapter: _rows(self.table, chapter))
        return self.data

    def describe(self, chapter: C, links: Links = INSIDE) -> Variables:
        """Return the variables of the template, except for the figures and those of versions."""
        shown: Variables = {"chapter": chapter, "caption": Markup(self.caption), "table": "", "data": "", "remarks": ()}
        if self.table:
            table = self.table(chapter)
            shown = {**shown, "table": tabulate(table, self.heading), "remarks": table.notes}
        if saved := self.saved:
            shown = {**shown, "data": _Later(lambda: links.data(saved.name, saved.label, lambda: saved.rows(chapter)))}
        return {**shown, **self.show(chapter)}


@dataclass(frozen=True, slots=True)
class _Later:
    """HTML that is made when a template shows it."""

    make: Callable[[], Markup]

    def __html__(self) -> str:
        return self.make()


def _rows(table: Callable[[C], Table] | None, chapter: C) -> Rows:
    assert table, "the section has a table"
    made = table(chapter)
    return made.columns, made.rows
