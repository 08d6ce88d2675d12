"""The search for words in the sentences of all suites."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from syntagm.report.html import HtmlTable, heading, isolate, row, row_heading, text_cell
from syntagm.report.links import Rows
from syntagm.report.section import Data, Section, Variables
from syntagm.report.site.addresses import SEARCH, Addresses
from syntagm.report.site.items import PAGE, Items
from syntagm.report.site.pages import OnePage, Step

# The most sentences that a search finds.
MOST = 1000


@dataclass(frozen=True, slots=True)
class Hit:
    """A sentence with the words; `suite` and `item` are names in addresses."""

    suite: str
    item: str
    condition: str
    text: str


class SearchPage(OnePage):
    """The page with the sentences that contain all of some words."""

    def __init__(self, words: str, number: int, suites: dict[str, Items], addresses: Addresses) -> None:
        self.words, self.number, self.suites, self.addresses = words, number, suites, addresses
        self.place, self.title = SEARCH, "Search in sentences"
        self.hits = list(_limited(self._find()))

    def list_sections(self) -> Sequence[Section[Any]]:
        return [FOUND]

    def _find(self) -> Iterator[Hit]:
        words = self.words.lower().split()
        for key, items in self.suites.items() if words else ():
            for item, conditions, texts, lowered in items.table.select(
                "key", "conditions", "texts", "lowered"
            ).iter_rows():
                for condition, text, low in zip(conditions, texts, lowered, strict=True):
                    if all(word in low for word in words):
                        yield Hit(key, item, condition, text)


def _limited(hits: Iterator[Hit]) -> Iterator[Hit]:
    for hit, _ in zip(hits, range(MOST), strict=False):
        yield hit


def _show(page: SearchPage) -> Variables:
    first = (page.number - 1) * PAGE
    shown, pages = page.hits[first : first + PAGE], -(-len(page.hits) // PAGE)
    rows = [
        row(
            row_heading(
                Markup('<a href="%s">%s</a>')
                % (page.addresses.page(("suite", hit.suite, hit.item)), isolate(hit.item, False))
            ),
            text_cell(isolate(hit.suite)),
            text_cell(isolate(hit.condition)),
            Markup('<td class="text"%s>%s</td>') % (page.suites[hit.suite].writing.attributes(hit.text), hit.text),
        )
        for hit in shown
    ]
    more = " or more; only these are shown" if len(page.hits) == MOST else ""
    return {
        "words": page.words,
        "count": f"{len(page.hits):,} {'sentence' if len(page.hits) == 1 else 'sentences'}{more}" if page.words else "",
        "table": HtmlTable("Sentences", [heading(name) for name in ("item", "suite", "condition", "sentence")], rows)
        if rows
        else "",
        "turns": [
            Step(label, page.addresses.page(SEARCH, [("words", page.words), ("page", str(number))]))
            for label, number in (("Previous sentences", page.number - 1), ("Next sentences", page.number + 1))
            if 1 <= number <= pages
        ],
        "page_of": f"{page.number} of {pages}" if pages > 1 else "",
    }


def _list(page: SearchPage) -> Rows:
    return ("suite", "item", "condition", "text"), [(hit.suite, hit.item, hit.condition, hit.text) for hit in page.hits]


FOUND: Section[SearchPage] = Section(
    "found", "Sentences", template="site/search.html", data=Data("sentences", "the sentences", _list), show=_show
)
