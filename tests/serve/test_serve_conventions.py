"""The switch of conventions on the pages of a server: another convention has addresses of its own, without scripts."""

from pathlib import Path
from urllib.parse import quote

import polars as pl
import pytest

pytest.importorskip("starlette")

from asking import Visitor
from report_examples import Reader
from toy_runs import agreement, pairs, toy_run

import syntagm as sg
from syntagm.report import Filed, NoPage, Served, Site, routes, shell
from syntagm.runs import Rejudged, Run
from syntagm.runs.evaluate import evaluate
from syntagm.views import accuracies

PAIRS = pairs(
    "lengths",
    ("The dog barks", "The dog bark"),
    ("The dogs near the cat bark", "The dogs bark"),
    ("a b", "a b"),
    ("The old dog barks", "The dogs bark"),
)


def links(visitor: Visitor, target: str) -> list[str]:
    elements = Reader(visitor.get(target).text).elements
    return [element.get("href") or element.get("action") or "" for tag, element in elements if tag in ("a", "form")]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    regions = agreement("regions")
    one = sg.Suite(regions.name, regions.items, regions.predictions[:1], regions.tags)
    return toy_run(tmp_path_factory.mktemp("run") / "a", PAIRS, one)


@pytest.fixture(scope="module")
def visitor(run: Run) -> Visitor:
    return Visitor([*routes([run])])


@pytest.mark.parametrize("name", ["mean_token", "bits+ties_as_hits"])
def test_the_numbers_are_those_of_the_convention(visitor: Visitor, run: Run, name: str) -> None:
    judged = Rejudged(run, name, everywhere=False)
    shown = {(row["name"], row["measure"]): float(row["value"]) for row in visitor.rows(f"/under/{name}/overview.csv")}
    for estimate in accuracies(judged):
        assert shown[estimate.group.suite, estimate.group.measure] == estimate.value
    rows = visitor.rows(f"/under/{name}/suite/lengths.csv")
    expected = judged.results("lengths").select("value", "margin").rows()
    assert [(float(row["value"]), float(row["margin"])) for row in rows] == expected
    signatures = [row["signature"] for row in visitor.rows(f"/under/{name}/suite/lengths.csv?table=scores")]
    assert all(f"|convention:{name}|" in signature for signature in signatures)
    # Regions are judged as ever, and a page by the convention of the run is another one.
    assert visitor.get(f"/under/{name}/suite/regions.csv").text == visitor.get("/suite/regions.csv").text
    plain = [(float(row["value"]), float(row["margin"])) for row in visitor.rows("/suite/lengths.csv")]
    assert plain == run.results("lengths").select("value", "margin").rows()
    assert plain != expected


@pytest.mark.slow
def test_every_link_keeps_the_convention(visitor: Visitor) -> None:
    for place in ("/", "/suite/lengths", "/suite/lengths/lengths-1"):
        found = links(visitor, f"/under/mean_token{place}")
        text = visitor.get(f"/under/mean_token{place}").text
        assert "Judged by mean_token" in text
        assert "Convention: mean_token (surprisal per token)" in text
        own = [link for link in found if link.startswith("/")]
        others = [link for link in own if not link.startswith("/under/mean_token/")]
        # Those of the switch lead to the same page under the others, and as the run was judged.
        assert others == [
            place,
            *(f"/under/{quote(name)}{place}" for name in Site([toy()]).conventions if name != "mean_token"),
        ]
        assert len(own) > len(others)
        assert visitor.get(others[-1]).status == 200
    switch = links(visitor, "/suite/lengths?verdict=fails")
    assert "/under/mean_token/suite/lengths?verdict=fails" in switch
    assert "Judged by bits" in visitor.get("/").text
    assert "as the runs were judged" not in visitor.get("/").text


def toy() -> Run:
    return evaluate(sg.load_model("toy"), [PAIRS])


def test_an_item_is_judged_by_the_convention(visitor: Visitor) -> None:
    """The comparison of the sums, in bits, may contradict the verdict: the head of the margin says what it is in."""
    page = visitor.get("/under/mean_token/suite/lengths/lengths-1").text
    assert "margin (mean_token)" in page
    tie = visitor.get("/under/bits+ties_as_hits/suite/lengths/lengths-2").text
    assert "tie, holds" in tie
    assert "tie, does not hold" in visitor.get("/suite/lengths/lengths-2").text


@pytest.mark.parametrize("name", ["mean_tokens", "slor", "published", "bits+", "%2e%2e"])
def test_conventions_that_no_page_has(visitor: Visitor, name: str) -> None:
    assert visitor.get(f"/under/{name}/").status == 404
    assert visitor.get(f"/under/{name}/suite/lengths.csv").status == 404


@pytest.mark.slow
def test_runs_without_pairs_have_no_switch(tmp_path: Path) -> None:
    for run in (
        sg.fill(sg.load_model("toy"), [agreement()], "verbs", limit=2),
        evaluate(sg.load_model("toy"), sg.read_suites("hu2020/mvrr"), limit=2),
    ):
        site = Site([run])
        assert site.conventions == []
        assert "Judged by" not in site.html((), Served(), shell.LINKED)
        with pytest.raises(NoPage):
            site.under("mean_token")
        assert "Judged by" not in site.html((), Filed({(): "index"}, "index"), shell.LINKED)


def test_a_folder_says_its_convention_and_how_to_see_others() -> None:
    asked = evaluate(sg.load_model("toy"), [PAIRS], convention="mean_token")
    site, files = Site([asked]), {(): "index", ("suite", "lengths"): "suite/lengths"}
    for place, path in files.items():
        html = site.html(place, Filed(files, path), shell.LINKED)
        assert "Judged by mean_token; <code>syntagm serve DIR</code> shows this page under other conventions" in html
        assert "/under/" not in html


def test_a_run_under_a_convention_can_be_seen_by_bits(run: Run) -> None:
    asked = evaluate(sg.load_model("toy"), [PAIRS], convention="mean_token")
    visitor = Visitor([*routes([asked])])
    assert "Judged by mean_token" in visitor.get("/").text
    rows = visitor.rows("/under/bits/suite/lengths.csv")
    by_bits = run.results("lengths").select(pl.col("value")).to_series().to_list()
    assert [float(row["value"]) for row in rows] == by_bits
