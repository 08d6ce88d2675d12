"""A record is all that a section needs: the loop of the page renders it, puts it into the menu, and saves its figures."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, final

import polars as pl
import pytest
from report_examples import Reader, saved
from toy_runs import agreement, pairs, toy_run

from syntagm.report import Drawing, Evidence, Section, page as loop
from syntagm.views import Figure, Table, effects

PLAIN = pairs("plain", ("the dog barks", "the dog bark"))
SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"x": 1}]},
    "mark": "point",
    "encoding": {"x": {"field": "x", "type": "quantitative"}},
}
TABLE = Table("hardest", ("item", "margin", "n"), (("<1>", -1.0, 2), ("2", float("nan"), None)), notes=("A & B.",))


def draw(chapter: Evidence, saved: bool) -> Iterator[Drawing]:
    yield Drawing("points", Figure(SPEC, pl.DataFrame({"x": [1]})), "Figure: points", "One <point>.")


NEW: Section[Evidence] = Section("new", "New & old", "What <em>is</em> new.", figures=draw, table=lambda chapter: TABLE)


@final
class Chapter(Evidence):
    """A chapter whose sections a test gives."""

    records: tuple[Section[Any], ...] = (NEW,)

    def list_sections(self) -> tuple[Section[Any], ...]:
        return self.records


@pytest.fixture
def chapter(tmp_path: Path) -> Chapter:
    return Chapter([toy_run(tmp_path, agreement(), PLAIN)])


def versions(chapter: Chapter, *records: Section[Any], ceiling: int = 10**6) -> list[str]:
    chapter.records = records
    return list(loop.versions([chapter], ceiling))


def test_a_record_is_on_the_page_in_the_menu_and_among_the_files(chapter: Chapter) -> None:
    [content] = versions(chapter, NEW)
    page = Reader(content)
    assert [found["href"] for tag, found in page.elements if tag == "a"][1] == "#new"
    assert [found["id"] for tag, found in page.elements if tag == "section"] == ["new"]
    assert "<h2>New &amp; old</h2>" in content
    assert "<p>What <em>is</em> new.</p>" in content
    assert 'aria-label="Figure: points"' in content
    assert "<figcaption>One &lt;point&gt;.</figcaption>" in content
    assert [(stem, figure.table.height) for stem, figure in chapter.figures()] == [("points", 1)]


def test_the_table_of_a_record_is_shown_and_saved(chapter: Chapter) -> None:
    [content] = versions(chapter, NEW)
    for cells in (
        '<tr><td><bdi>&lt;1&gt;</bdi></td><td class="number" data-value="-1.0">-1.000</td>'
        '<td class="number" data-value="2">2</td></tr>',
        '<td class="number none" data-value=""></td><td class="number none" data-value=""></td></tr>',
    ):
        assert cells in content
    assert '<p class="left-out">A &amp; B.</p>' in content
    assert saved(Reader(content))["new.csv"][0] == {"item": "<1>", "margin": "-1", "n": "2"}


def test_a_section_that_does_not_apply_is_nowhere(chapter: Chapter) -> None:
    absent: Section[Evidence] = Section("absent", "Absent", when=lambda chapter: len(chapter.columns) > 1, figures=draw)
    [content] = versions(chapter, absent, NEW)
    assert "absent" not in content.lower()
    assert [stem for stem, _ in chapter.figures()] == ["points"]


def test_figures_have_room_in_the_order_of_the_page(chapter: Chapter) -> None:
    chapter.records = (NEW, Section("later", "Later", figures=draw))
    [first, _] = loop.place_figures([chapter], 10**6)
    size = len(first.pictures["points"].svg)
    drawn = [bool(part.pictures["points"].svg) for part in loop.place_figures([chapter], size + 1)]
    assert drawn == [True, False]
    [content] = versions(chapter, Section("later", "Later", figures=draw), ceiling=10)
    assert "The figure is not shown, to keep this page small" in content


def test_versions_become_shorter_until_the_page_fits(chapter: Chapter) -> None:
    sizes: Section[Evidence] = Section(
        "long",
        "Long",
        versions=tuple({"caption": "x" * size} for size in (300_000, 200_000, 0)),
        least=lambda chapter, version: len(version["caption"]),
    )
    assert [len(page) // 100_000 for page in versions(chapter, sizes)] == [3, 2, 0]
    # The first can't fit and is not made; the last is always made, to know its size.
    assert [len(page) // 100_000 for page in versions(chapter, sizes, ceiling=250_000)] == [2, 0]
    assert [len(page) // 100_000 for page in versions(chapter, sizes, ceiling=10)] == [0]


def test_a_view_is_a_section_with_one_line(chapter: Chapter) -> None:
    view: Section[Evidence] = Section(
        "effects", "Effects", table=lambda chapter: effects.make_table([column.run for column in chapter.columns])
    )
    [content] = versions(chapter, view)
    rows = saved(Reader(content))["effects.csv"]
    expected = effects.make_table([column.run for column in chapter.columns])
    assert [row["suite"] for row in rows] == [row[expected.columns.index("suite")] for row in expected.rows]
