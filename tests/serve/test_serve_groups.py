"""Groups of models, checkpoints, and suites without results: their pages and numbers, on the server and in a folder."""

import csv
import io
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from asking import Answer, ask, opened
from report_examples import Reader
from toy_runs import agreement, pairs, toy_run

from syntagm.report import routes, write_pages
from syntagm.runs import Run
from syntagm.suites import Suite, syntaxgym

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"), tags={"circuit": "X"})
# Checkpoints of two series, whose groups stand before the colon of their names.
SEEDS = {("A", 100): 1, ("A", 1000): 2, ("A", 10_000): 3, ("B", 1000): 5}


class Visitor:
    def __init__(self, *runs: Run, suites: tuple[Suite, ...] = ()) -> None:
        self.application, self.header = opened([*routes(runs, suites=suites)])

    def get(self, target: str) -> Answer:
        return ask(self.application, target, **self.header)

    def rows(self, target: str) -> list[dict[str, str]]:
        return list(csv.DictReader(io.StringIO(self.get(target).text)))


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    folder, found = tmp_path_factory.mktemp("runs"), []
    for (series, step), seed in SEEDS.items():
        run = toy_run(folder / f"{series}-step{step}", agreement(), PLAIN, model=f"random:?seed={seed}")
        run.name = f"{series}: {series.lower()}-step{step}"
        found.append(run)
    return found


@pytest.fixture(scope="module")
def visitor(runs: list[Run]) -> Visitor:
    return Visitor(*runs)


def score(run: Run) -> float:
    """The mean over both suites of the accuracy by the first prediction."""
    values = [run.results(suite).filter(measure=measure)["value"] for suite, measure in
              (("agreement", "verb"), ("plain", "full_sentence"))]  # fmt: skip
    return sum(float(of_suite.mean() or 0) for of_suite in values) / 2


@pytest.mark.slow
def test_groups_of_models_by_groups_of_suites(visitor: Visitor, runs: list[Run]) -> None:
    rows = visitor.rows("/overview.csv?table=model-groups")
    for group, members in (("A", runs[:3]), ("B", runs[3:])):
        [over_all] = [row for row in rows if row["models"] == group and row["suites"] == "all suites"]
        assert float(over_all["mean"]) == pytest.approx(sum(map(score, members)) / len(members))
        assert over_all["number_of_models"] == str(len(members))
    assert {(row["by"], row["suites"]) for row in rows} == {
        ("", "all suites"),
        ("circuit", "X"),
        ("circuit", "Agreement"),
    }
    assert "Groups of models" in visitor.get("/").text
    assert "Groups of models" not in Visitor(*runs[:3]).get("/").text


@pytest.mark.slow
def test_each_checkpoint_has_a_page_and_the_slider_a_form(visitor: Visitor, runs: list[Run]) -> None:
    assert 'href="/checkpoints"' in visitor.get("/").text
    for number in (1, 2, 3):
        page = visitor.get(f"/checkpoints/{number}").text
        assert page == visitor.get(f"/checkpoints?at={number}").text
        for run in (runs[number - 1], *(runs[3:] if number == 2 else ())):
            assert f"<b>{score(run):.3f}</b>" in page
        assert ("no checkpoint" in page) == (number != 2)
        elements = Reader(page).elements
        led = [
            element["href"] for tag, element in elements if tag == "a" and element["href"].startswith("/checkpoints/")
        ]
        assert {"/checkpoints/1", "/checkpoints/2", "/checkpoints/3"} <= {link.partition("#")[0] for link in led}
        assert [element["value"] for tag, element in elements if element.get("type") == "range"] == [str(number)]
    change = score(runs[1]) - score(runs[0])
    assert f"{change:+.3f} since 100" in visitor.get("/checkpoints/2").text
    assert visitor.get("/checkpoints").text == visitor.get("/checkpoints/3").text
    for target in ("/checkpoints/0", "/checkpoints/4", "/checkpoints/01", "/checkpoints?at=x"):
        assert visitor.get(target).status == 404
    rows = [row for row in visitor.rows("/checkpoints.csv") if row["suites"] == "all suites"]
    assert [float(row["value"]) for row in rows] == pytest.approx(list(map(score, runs)))
    # Runs that are no checkpoints have no such pages.
    assert Visitor(runs[0]).get("/checkpoints").status == 404


@pytest.mark.slow
def test_checkpoints_in_a_folder(runs: list[Run], tmp_path: Path) -> None:
    folder = write_pages(runs[:3], tmp_path / "pages").parent
    assert sorted(path.name for path in (folder / "checkpoints").iterdir()) == ["01.html", "02.html", "03.html"]
    page = (folder / "checkpoints" / "02.html").read_text()
    assert f"<b>{score(runs[1]):.3f}</b>" in page
    assert 'href="03.html"' in page
    assert 'href="../checkpoints.csv"' in page
    assert "<form" not in page


def test_figures_come_after_the_page(runs: list[Run]) -> None:
    visitor = Visitor(runs[0])
    page = visitor.get("/suite/plain").text
    assert "<svg" not in page
    sources = [element["data-figure"] for _, element in Reader(page).elements if "data-figure" in element]
    assert len(sources) == 1
    for source in sources:
        answer = visitor.get(source)
        assert answer.text.startswith("<svg")
        assert 'fill="white"' not in answer.text
        assert "script-src 'none'" in answer.headers["content-security-policy"]
    pictures = [element["src"] for tag, element in Reader(page).elements if tag == "img"]
    assert all('fill="white"' in visitor.get(source).text for source in pictures)


def test_suites_without_results_are_shown_and_searched(runs: list[Run], tmp_path: Path) -> None:
    other = agreement("other", ("horse", "cow"))
    for visitor in (Visitor(suites=(other,)), Visitor(runs[0], suites=(other, agreement()))):
        overview = visitor.get("/").text
        # The suite that the run has with the same content is shown with its results only.
        assert 'href="/suite/other"' in overview[overview.index("Suites without results") :]
        assert (
            'href="/suite/agreement"'
            not in overview[overview.index('id="without-results"') :].partition("</section>")[0]
        )
        page = visitor.get("/suite/other").text
        for text in ("The horse", "Prediction <b><bdi>verb", "noun", "2 items"):
            assert text in page
        assert "verdict" not in page
        assert "margin" not in page
        item = visitor.get("/suite/other/2").text
        assert "cow" in item
        assert "barks" in item
        assert [row["item"] for row in visitor.rows("/suite/other.csv?words=cow")] == ["2", "2"]
        assert {row["suite"] for row in visitor.rows("/search.csv?words=cow")} == {"other"}
        for query in ("verdict=fails", "order=lowest", "least=1", "measure=verb"):
            assert visitor.get(f"/suite/other?{query}").status == 400
        (tmp_path / "suite.json").write_bytes(visitor.get("/suite/other.json?table=suite&words=cow").body)
        [saved] = syntaxgym.read(tmp_path / "suite.json")
        assert [item.id for item in saved.items] == ["2"]
        assert visitor.get("/suite/other.parquet").status == 200


def test_a_suite_with_the_name_of_another_has_its_own_page(runs: list[Run]) -> None:
    visitor = Visitor(runs[0], suites=(agreement("agreement", ("horse",)),))
    [link] = {
        element["href"]
        for tag, element in Reader(visitor.get("/").text.partition('id="without-results"')[2]).elements
        if tag == "a" and element["href"].startswith("/suite/")
    }
    assert "horse" in visitor.get(link).text
    assert "dog" in visitor.get("/suite/agreement").text
