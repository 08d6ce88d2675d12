"""The pages about runs on the server: every page, table and figure has an address, and filters select what they say."""

import csv
import io
import json
import re
import shutil
from pathlib import Path

import polars as pl
import pytest

pytest.importorskip("starlette")

from asking import Answer, ask, opened
from report_examples import ATTACKS, Reader, hostile, hostile_fill
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.report import Shelf, keys, path_of, routes
from syntagm.report.serve import browse
from syntagm.runs import Run, open_run
from syntagm.suites import syntaxgym

PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))
VERBS = agreement()


class Visitor:
    """A browser without a screen."""

    def __init__(self, *runs: Run) -> None:
        self.application, self.header = opened([*routes(runs)])

    def get(self, target: str) -> Answer:
        return ask(self.application, target, **self.header)

    def rows(self, target: str) -> list[dict[str, str]]:
        answer = self.get(target)
        assert answer.status == 200, answer.text
        return list(csv.DictReader(io.StringIO(answer.text)))

    def items(self, query: str) -> list[str]:
        return [row["item"] for row in self.rows(f"/suite/agreement.csv?measure=verb&{query}")]


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, Run]:
    folder = tmp_path_factory.mktemp("runs")
    first, second = toy_run(folder / "a", VERBS, PLAIN), toy_run(folder / "b", VERBS, model="random")
    first.name, second.name = "Toy", "Random"
    return first, second


@pytest.fixture(scope="module")
def visitor(runs: tuple[Run, Run]) -> Visitor:
    return Visitor(*runs)


@pytest.fixture(scope="module")
def alone(runs: tuple[Run, Run]) -> Visitor:
    return Visitor(runs[0])


@pytest.mark.slow
def test_every_link_of_every_page_leads_somewhere(visitor: Visitor) -> None:
    waiting, seen = ["/"], set[str]()
    while waiting:
        target = waiting.pop()
        if target in seen or ("?" in target and target.partition("?")[0] in {one.partition("?")[0] for one in seen}):
            continue
        seen.add(target)
        answer = visitor.get(target)
        assert answer.status == 200, (target, answer.text)
        if answer.headers["content-type"].startswith("text/html"):
            found = [element.get("href") or "" for tag, element in Reader(answer.text).elements if tag == "a"]
            # Pages under another convention lead to those under all others; one of them is enough.
            under = [link for link in found if link.startswith("/under/") and not link.startswith("/under/mean_token/")]
            waiting += [link.partition("#")[0] for link in found if link.startswith("/") and link not in under]
    kinds = {re.sub(r"\?.*", "", target).rpartition(".")[2] for target in seen if "." in target}
    assert kinds == {"csv", "json", "parquet", "svg", "png"}
    assert {"/", "/suite/agreement", "/suite/plain/plain-1", "/suite/agreement/3", "/run/Toy"} <= seen


@pytest.mark.slow
def test_the_numbers_are_those_of_the_run(visitor: Visitor, runs: tuple[Run, Run]) -> None:
    [first, _] = runs
    results = first.results("agreement")
    shown = [row for row in visitor.rows("/suite/agreement.csv") if row["model"] == "Toy"]
    assert [(row["item"], float(row["margin"])) for row in shown if row["measure"] == "verb"] == list(
        results.filter(pl.col("measure") == "verb").select("item", "margin").iter_rows()
    )
    page = visitor.get("/suite/agreement").text
    # log2(3 / 1), log2(1 / 2) and a tie.
    for number in ("+1.58", "-1.00", "+0.00"):
        assert number in page
    tokens = [row for row in visitor.rows("/suite/agreement/2.csv") if row["model"] == "Toy"]
    expected = first.tokens("agreement").filter(pl.col("item") == "2")
    assert [float(row["bits"]) for row in tokens] == expected["bits"].to_list()
    assert [row["token"] for row in tokens] == expected["token"].to_list()
    asked = {"model": "Toy", "name": "agreement", "measure": "verb"}
    [scores] = [row for row in visitor.rows("/overview.csv") if asked.items() <= row.items()]
    assert float(scores["value"]) == pytest.approx(1 / 3)


def test_a_table_is_the_same_as_csv_json_and_parquet(visitor: Visitor) -> None:
    rows = visitor.rows("/suite/agreement.csv")
    objects = json.loads(visitor.get("/suite/agreement.json").text)
    table = pl.read_parquet(visitor.get("/suite/agreement.parquet").body)
    assert [row["item"] for row in rows] == [row["item"] for row in objects] == table["item"].to_list()
    assert [float(row["margin"]) for row in rows] == [row["margin"] for row in objects] == table["margin"].to_list()
    assert len(rows) == 3 * 2 * 2


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("", ["1", "2", "3"]),
        ("verdict=holds", ["1"]),
        ("verdict=fails", ["2", "3"]),
        ("verdict=tie", ["3"]),
        ("verdict=undefined", []),
        ("least=0", ["1", "3"]),
        ("most=-0.5", ["2"]),
        ("least=-2&most=1", ["2", "3"]),
        ("tag=noun&value=cat", ["2"]),
        ("words=BARKS+cat", ["2"]),
        ("words=barks&condition=bad", []),
        ("words=bark&condition=bad&verdict=fails", ["2", "3"]),
        ("order=lowest", ["2", "3", "1"]),
        ("order=highest", ["1", "3", "2"]),
        ("page=2", ["1", "2", "3"]),
    ],
)
def test_filters(alone: Visitor, query: str, expected: list[str]) -> None:
    assert alone.items(query) == expected


def test_the_four_cells_of_two_models(visitor: Visitor, runs: tuple[Run, Run]) -> None:
    right = {run.name: set(run.results("agreement").filter(measure="verb", value=1)["item"]) for run in runs}
    items = {"1", "2", "3"}
    cells = {
        "11": right["Toy"] & right["Random"],
        "10": right["Toy"] - right["Random"],
        "01": right["Random"] - right["Toy"],
        "00": items - right["Toy"] - right["Random"],
    }
    for cell, expected in cells.items():
        assert set(visitor.items(f"a=Toy&b=Random&cell={cell}")) == expected
    [row] = visitor.rows("/suite/agreement.csv?table=cells")
    assert [int(row[name]) for name in ("both", "only_a", "only_b", "neither")] == [
        len(cell) for cell in cells.values()
    ]
    differing = (right["Toy"] | right["Random"]) - (right["Toy"] & right["Random"])
    assert set(visitor.items("verdict=differ")) == differing


def test_a_selection_is_saved_as_a_list_and_as_a_suite(alone: Visitor, tmp_path: Path) -> None:
    answer = alone.get("/suite/agreement.csv?table=exclude&verdict=fails")
    assert answer.text == "suite,item\nagreement,2\nagreement,3\n"
    (tmp_path / "suite.json").write_bytes(alone.get("/suite/agreement.json?table=suite&verdict=fails").body)
    [suite] = syntaxgym.read(tmp_path / "suite.json")
    assert [item.id for item in suite.items] == ["2", "3"]
    assert suite.items[0].sentences["good"].text == "The cat barks"
    assert [str(prediction.formula) for prediction in suite.predictions] == [
        "(2;%good%) < (2;%bad%)",
        "(*;%good%) < (*;%bad%)",
    ]
    assert suite.items[0].tags["noun"] == "cat"


@pytest.mark.parametrize(
    "query",
    ["verdict=wrong", "model=None", "least=many", "most=nan", "page=0", "page=-1", "page=x", "page=0000000019999999999999999",
     "cell=10", "value=cat", "unknown=1", "words=a&words=b", "measure=none", "tag=none", "condition=none", "words=" + "x" * 1001],
)  # fmt: skip
def test_a_wrong_filter_is_refused(visitor: Visitor, query: str) -> None:
    for target in (f"/suite/agreement?{query}", f"/suite/agreement.csv?{query}", f"/suite/agreement/1?{query}"):
        answer = visitor.get(target)
        assert answer.status == 400
        assert "expected" in answer.text


def test_what_does_not_exist_is_not_found(visitor: Visitor) -> None:
    for target in ("/suite/none", "/suite/agreement/9", "/suite/none/1.csv", "/run/none", "/suite/none.png?figure=x"):
        assert visitor.get(target).status == 404
    for target in (
        "/suite/agreement.csv?table=none", "/suite/agreement.svg?figure=none", "/search?page=x", "/search?page=0000019999999",
        "/search?x=1",
    ):  # fmt: skip
        assert visitor.get(target).status == 400


def test_the_page_of_an_item(visitor: Visitor) -> None:
    page = visitor.get("/suite/agreement/2?verdict=fails&model=Toy&measure=verb").text
    links = {
        element["rel"]: element["href"] for tag, element in Reader(page).elements if tag == "a" and "rel" in element
    }
    # The items beside it are those of the selection: 3 follows, and 1 holds.
    assert links == {"next": "/suite/agreement/3?measure=verb&verdict=fails&model=Toy"}
    for text in ("fails", "-1.00", "contradicts the prediction", "Difference of two models", "noun", "cat"):
        assert text in page
    other = visitor.get("/suite/agreement/2?first=Random&second=Toy").text
    assert "under <b><bdi>Toy</bdi></b> minus those under <b><bdi>Random</bdi></b>" in other
    assert visitor.get("/suite/agreement/2?first=none").status == 400


def test_search_in_sentences(visitor: Visitor) -> None:
    assert [(row["suite"], row["item"], row["condition"]) for row in visitor.rows("/search.csv?words=SLEEPS+the")] == [
        ("plain", "plain-1", "bad")
    ]
    page = visitor.get("/search?words=dog").text
    assert "4 sentences" in page
    assert 'href="/suite/plain/plain-0"' in page
    assert "0 sentences" in visitor.get("/search?words=elephant").text


def test_a_run_that_is_not_finished_shows_what_is_there_and_grows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy_run(tmp_path / "run", VERBS, PLAIN)
    ledger = (tmp_path / "run" / "ledger.jsonl").read_text()
    visitor = Visitor(interrupt(tmp_path / "run", 1))
    page = visitor.get("/").text
    assert "Unfinished" in page
    assert 'data-watch="/state"' in page
    assert visitor.get("/suite/agreement").status == 200
    assert visitor.get("/suite/plain").status == 200
    before = visitor.get("/state").text
    (tmp_path / "run" / "ledger.jsonl").write_text(ledger)
    monkeypatch.setattr(browse, "_LOOK", 0.0)
    assert visitor.get("/state").text != before
    assert visitor.rows("/suite/plain.csv")[0]["item"] == "plain-0"


def test_a_run_of_another_model_in_the_same_folder_has_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Numbers of a new model under the name of the old one would be wrong, unless the user labelled the folder."""
    first = toy_run(tmp_path / "run", PLAIN)
    plain, labelled = Visitor(first), Visitor(named := open_run(tmp_path / "run"))
    named.name = "Best so far"
    shutil.rmtree(tmp_path / "run")
    toy_run(tmp_path / "run", PLAIN, model="random")
    monkeypatch.setattr(browse, "_LOOK", 0.0)
    assert {row["model"] for row in plain.rows("/overview.csv")} == {open_run(tmp_path / "run").model}
    assert {row["model"] for row in labelled.rows("/overview.csv")} == {"Best so far"}


def test_a_run_is_renewed_where_it_was_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    toy_run(tmp_path / "run", PLAIN)
    opened = open_run("run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    shown = Visitor(opened)
    shutil.rmtree(tmp_path / "run")
    toy_run(tmp_path / "run", PLAIN, model="random")
    monkeypatch.setattr(browse, "_LOOK", 0.0)
    assert {row["model"] for row in shown.rows("/overview.csv")} == {open_run(tmp_path / "run").model}


def test_pages_are_kept_and_the_oldest_go(runs: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    shelf, made = Shelf(runs), []

    def make(name: str) -> bytes:
        return shelf.get((name,), lambda site: made.append(name) or b"x" * 60)

    monkeypatch.setattr(browse, "MOST_BYTES", 130)
    for name in "aabca":
        make(name)
    assert made == ["a", "b", "c", "a"]


def test_looking_changes_no_run(visitor: Visitor, runs: tuple[Run, Run]) -> None:
    def state(folder: Path) -> dict[str, tuple[int, int]]:
        return {str(path): (path.stat().st_mtime_ns, path.stat().st_size) for path in folder.rglob("*")}

    assert runs[0].folder
    before = state(runs[0].folder)
    for target in ("/", "/suite/agreement", "/suite/agreement/1", "/run/Toy", "/overview.csv"):
        visitor.get(target)
    assert state(runs[0].folder) == before


@pytest.mark.slow
def test_hostile_names_are_addresses_and_nothing_else(tmp_path: Path) -> None:
    visitor = Visitor(hostile(tmp_path))
    page = visitor.get("/").text
    links = {element["href"] for tag, element in Reader(page).elements if tag == "a" and "/suite/" in element["href"]}
    assert len(links) == len(ATTACKS) + 1
    for link in links:
        answer = visitor.get(link)
        assert answer.status == 200, link
        elements = Reader(answer.text).elements
        assert [element for tag, element in elements if tag in ("iframe", "object", "style")] == []
        assert all(element["src"].startswith(link) for tag, element in elements if tag == "img")
        assert [element.get("src") for tag, element in elements if tag == "script"] == ["/script.js"]
        assert not [name for _, element in elements for name in element if name.startswith("on")]
        led = [element.get(name) or "" for _, element in elements for name in ("href", "src", "action")]
        assert not [value for value in led if value and not value.startswith(("/", "#"))]
        assert visitor.get(f"{link}.csv").status == 200


def test_addresses() -> None:
    assert path_of(("suite", "a/b", "..")) == "/suite/a%2Fb/.."
    assert keys(["..", "..", "x", "x", "x (2)"]) == [".. (1)", ".. (2)", "x", "x (3)", "x (2)"]
    names = ["a", "", ".", "..", "a.csv", "b/c", "a", "%2F", "?", "#", "\u2028", "a (2)"]
    assert len(set(keys(names))) == len(names)
    assert not {"", ".", ".."} & set(keys(names))


@pytest.mark.slow
def test_fill_runs_have_their_report_and_their_runs(tmp_path: Path) -> None:
    run = hostile_fill(tmp_path)
    visitor = Visitor(run)
    assert "Nucleus cut-offs" in visitor.get("/").text
    assert visitor.get(path_of(("run", run.name))).status == 200
    assert visitor.get("/search?words=the").status == 200
    assert visitor.get("/suite/anything").status == 404
