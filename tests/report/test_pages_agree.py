"""Each number is the same on the server, in a folder and in the export: on ten pages, as shown and with all digits."""

import csv
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from report_examples import Reader
from toy_runs import agreement, pairs, toy_run

from syntagm.cli import main
from syntagm.report import Filed, Place, Served, Site, default_table, shell, write_pages
from syntagm.report.site import pages
from syntagm.report.site.folder import _places
from syntagm.runs import Run

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"), tags={"circuit": "X"})
PAGES: list[Place] = [
    (), ("suite", "agreement"), ("suite", "plain"), ("suite", "agreement", "1"), ("suite", "agreement", "2"),
    ("suite", "agreement", "3"), ("suite", "plain", "plain-0"), ("suite", "plain", "plain-1"), ("run", "Toy"), ("run", "Random"),
]  # fmt: skip
pytestmark = pytest.mark.slow
_NUMBER = re.compile(r"[-+]?\d[\d,]*\.\d+")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder, found = tmp_path_factory.mktemp("runs"), []
    for name in ("Toy", "Random"):
        run = toy_run(folder / name, agreement(), PLAIN, model=name.lower())
        run.name = name
        found.append(run)
    return found


@pytest.fixture(scope="module")
def site(runs: list[Run]) -> Site:
    return Site(runs)


@pytest.fixture(scope="module")
def folder(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_pages(runs, tmp_path_factory.mktemp("pages") / "pages").parent


def data_values(page: str) -> list[float]:
    """The numbers by which tables are sorted, which have all digits."""
    return [float(element["data-value"]) for _, element in Reader(page).elements if element.get("data-value")]


def numbers(page: str) -> list[str]:
    """The numbers that people see, without those of figures, which a server sends later."""
    without = re.sub(
        r"<svg.*?</svg>|<form.*?</form>|<p class=\"links\">.*?</p>|<head>.*?</head>", "", page, flags=re.DOTALL
    )
    return _NUMBER.findall(re.sub(r"<[^>]+>", " ", without))


@pytest.mark.parametrize("place", PAGES, ids="/".join)
def test_a_page_has_the_same_numbers_on_the_server_and_in_the_folder(site: Site, folder: Path, place: Place) -> None:
    served = site.html(place, Served(), shell.LINKED)
    filed = (folder / f"{dict(_places(site))[place]}.html").read_text()
    assert numbers(served) == numbers(filed)
    assert data_values(served) == data_values(filed)
    # Runs show only versions and settings beside signatures.
    assert len(numbers(served)) > (2 if place[:1] == ("run",) else 5)


@pytest.mark.parametrize("place", [place for place in PAGES if place[:1] != ("run",)], ids="/".join)
def test_its_tables_are_the_same(site: Site, folder: Path, place: Place) -> None:
    page = site.page(place, Served())
    tables = [section.saved for section in page.sections() if section.saved]
    assert tables
    name = dict(_places(site))[place]
    for table in tables:
        content = pages.encode(pages.frame_of(table.rows(page)), "csv")
        url = Filed(dict(_places(site)), name).file(
            place, "csv", "" if table.name == default_table(place) else table.name
        )
        assert (folder / name).parent.joinpath(url).read_bytes() == content


def test_each_number_of_the_items_is_that_of_the_export(
    runs: list[Run], site: Site, folder: Path, tmp_path: Path
) -> None:
    for run in runs:
        for kind, ending in (("results", "csv"), ("tokens", "csv"), ("regions", "csv")):
            assert (
                main(["export", str(run.folder), "--as", kind, "-o", str(tmp_path / f"{kind}.{ending}"), "--force"])
                == 0
            )
        results, tokens, of_regions = (
            list(csv.DictReader(io.StringIO((tmp_path / f"{kind}.csv").read_text())))
            for kind in ("results", "tokens", "regions")
        )
        for place in PAGES:
            if len(place) != 3:
                continue
            _, suite, item = place
            page = (folder / f"{dict(_places(site))[place]}.html").read_text()
            about = [row for row in results if (row["suite"], row["item"]) == (suite, item)]
            assert about
            for row in about:
                assert f"{float(row['margin']):+.2f}" in numbers(page)
            for row in (row for row in tokens if (row["suite"], row["item"]) == (suite, item)):
                assert f"{float(row['bits']):.2f}" in numbers(page)
            for row in (row for row in of_regions if (row["suite"], row["item"]) == (suite, item)):
                assert float(row["bits"]) in data_values(page)
        for suite, shown in (("agreement", "verb"), ("plain", "full_sentence")):
            page = (folder / f"{dict(_places(site))['suite', suite]}.html").read_text()
            for row in (row for row in results if (row["suite"], row["measure"]) == (suite, shown)):
                assert float(row["margin"]) in data_values(page)
