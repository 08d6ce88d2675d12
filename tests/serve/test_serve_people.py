"""The pages about runs of people and of other tools, which have no surprisals: their numbers, and hostile names."""

import re
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from people_for_tests import SUITES, of_people
from report_examples import ATTACKS, Reader
from toy_runs import pairs

import syntagm as sg
from syntagm.core import RunError, UsageError
from syntagm.models import load
from syntagm.report import Place, Served, Site, report, shell
from syntagm.report.site import pages
from syntagm.runs import Run, import_results, run_suites
from syntagm.suites import Suite
from syntagm.views import effects
from tests.test_imported import sample, written

pytestmark = pytest.mark.slow


def site_of(design: str, name: str = "Students", person: str = "p") -> Site:
    run, model = of_people(design, person), run_suites(load("random"), [SUITES[design]], None)
    run.name, model.name = name, "Random"
    return Site([run, model])


def places(site: Site) -> list[Place]:
    [suite] = site.suites
    items: list[Place] = [("suite", suite, key) for key in site.items(suite).numbers]
    return [(), ("suite", suite), *items, *(("run", name) for name in site.columns)]


def shown(page: str) -> str:
    """What people read, in one line."""
    text = re.sub(r"<head>.*?</head>|<svg.*?</svg>|<form.*?</form>", "", page, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", "", text)).split())


def table(site: Site, place: Place, name: str) -> list[dict[str, Any]]:
    return pages.table_of(site.page(place, Served()), name).to_dicts()


@pytest.mark.parametrize("design", SUITES)
def test_each_number_of_people_is_on_its_pages_and_no_bits(design: str) -> None:
    site = site_of(design)
    [(key, subject)] = site.suites.items()
    run, model = site.runs
    overview = shown(site.html((), Served(), shell.LINKED))
    for name in ("people", "ceiling"):
        numbers = [cell for row in sg.table(name, [run, model]).rows for cell in row if isinstance(cell, float)]
        assert numbers or name == "ceiling"
        assert all(f"{number:.3f}" in overview for number in numbers if number == number), name
    # Every value and margin of an item, on its own page and among all items.
    first = subject.first
    for item in site.items(key).numbers:
        page = shown(site.html(("suite", key, item), Served(), shell.LINKED))
        for row in run.results().filter(item=item).iter_rows(named=True):
            number = f"{row['margin']:+.2f}" if row["measure"] == first else f"{row['value']:.3f}"
            assert number in page, row
        assert {row["model"] for row in table(site, ("suite", key, item), "regions")} == {"Random"}
        assert {row["model"] for row in table(site, ("suite", key, item), "tokens")} == {"Random"}
        assert "none" not in page
        assert "Difference of two models" not in page
    suite = site.html(("suite", key), Served(), shell.LINKED)
    for row in run.results().filter(measure=first).iter_rows(named=True):
        assert f"{row['margin']:+.2f}" in shown(suite)
    for name in ("effects", "regions"):
        assert {row["model"] for row in table(site, ("suite", key), name)} == {"Random"}, name
    assert str(run.signature(key, first)) in shown(suite)
    settings = {row["setting"]: row["value"] for row in table(site, ("run", "Students"), "settings")}
    assert (settings["task"], settings["option: design"]) == ("people", design)


def test_people_alone_have_no_sections_about_bits() -> None:
    for design, unit in (("forced-choice", "bits"), ("acceptability", "points"), ("self-paced", "ms")):
        site = Site([of_people(design)])
        [key] = site.suites
        suite, item = (site.page(place, Served()) for place in (("suite", key), ("suite", key, "1")))
        assert {"figure", "effects"}.isdisjoint(section.anchor for section in suite.sections())
        assert {"tokens", "difference"}.isdisjoint(section.anchor for section in item.sections())
        assert f"margin in {unit}" in shown(site.html(("suite", key), Served(), shell.LINKED))
        assert "bits" not in shown(site.html(("suite", key, "1"), Served(), shell.LINKED))


def test_what_other_tools_said_of_pairs_has_no_bits_of_sentences_and_no_effects(tmp_path: Path) -> None:
    path = written(
        tmp_path, *(sample(number, f"a {number}", f"b {number}", (-1.0 - number, -3.0)) for number in range(4))
    )
    run = import_results("lm-eval", [path], None, "m")
    site = Site([run])
    item = site.page(("suite", "two", "i1"), Served())
    assert item.bits == {}
    assert {"tokens", "difference"}.isdisjoint(section.anchor for section in item.sections())
    assert "effects" not in [section.anchor for section in site.page(("suite", "two"), Served()).sections()]
    # The sentences without their bits are no reason to compute differences of nothing.
    with pytest.raises(RunError, match="no surprisals"):
        effects.differences(run, "two", "each", run.sentences("two"))
    # Beside a model that has bits, it is compared with it, and the bits are the model's.
    suite = pairs("two", *((f"a {number}", f"b {number}") for number in range(4)))
    run, model = import_results("lm-eval", [path], None, "m", [suite]), run_suites(load("random"), [suite], None)
    both = Site([run, model])
    assert {row["model"] for row in table(both, ("suite", "two"), "effects")} == {model.model}
    assert {row["model"] for row in table(both, ("suite", "two", "two-1"), "tokens")} == {model.model}
    assert {row["model"] for row in table(both, ("suite", "two"), "items")} == {run.model, model.model}
    assert "McNemar" in report([run, model], tmp_path / "page.html").read_text("utf-8")
    with pytest.raises(UsageError, match=r"import-results.*beside a run of .syntagm run --measure"):
        Site([run, measured(suite)])


def measured(suite: Suite) -> Run:
    """A run of measures, which no page can show beside runs of pairs."""
    return run_suites(load("toy"), [suite], None, measures=["surprisal(condition=good)"])


@pytest.mark.parametrize("design", SUITES)
def test_hostile_names_of_people_are_text_and_the_persons_are_on_no_page(design: str, tmp_path: Path) -> None:
    attack, person = ATTACKS[1] + ATTACKS[3], "PERSON<img src=x onerror=alert(1)>"
    site = site_of(design, attack, person)
    contents = [site.html(place, Served(), shell.LINKED) for place in places(site)]
    contents.append(report(site.runs, tmp_path / "report.html").read_text("utf-8"))
    figures = 0
    for place in places(site):
        page = site.page(place, Served())
        for section in page.sections():
            if section.saved:
                assert "PERSON" not in pages.encode(pages.frame_of(section.saved.rows(page)), "csv").decode()
            for drawing in section.figures(page, False):
                contents.append(drawing.figure.svg())
                figures += 1
    assert figures > 1
    for content in contents:
        elements = Reader(content).elements
        assert not [name for name, attributes in elements if attributes.get("src") == "x" or "onload" in attributes]
        assert all("pwned" not in (attributes.get("src") or "") for _, attributes in elements)
        assert "document.title='pwned'</script>" not in content
        assert "PERSON" not in content
    assert any("document.title" in shown(content) for content in contents)
