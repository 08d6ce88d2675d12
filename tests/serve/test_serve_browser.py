"""The pages in a real browser: by keys only, without scripts, with hostile texts, and for people who can't see well."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from axe_for_tests import faults, needed
from people_for_tests import SUITES, of_people
from report_examples import hostile
from toy_runs import agreement, pairs, toy_run

from syntagm.report import write_pages
from syntagm.suites import Item, Region, Sentence, Suite, read_suites

pytest.importorskip("starlette")
pytestmark = pytest.mark.slow
PLAIN = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))
# 20 forms of an attack; each has 10 surroundings, which close what it may stand in.
SCRIPTS = [
    *("<script>hit()</script>", "</script><script>hit()</script>", "<img src=x onerror=hit()>", "<svg onload=hit()>"),
    *('"><svg/onload=hit()>', "' autofocus onfocus='hit()", '" autofocus onfocus="hit()', "javascript:hit()"),
    *(
        "<iframe srcdoc='<script>parent.hit()</script>'>",
        "<a href=javascript:hit()>x</a>",
        "</title><script>hit()</script>",
    ),
    *(
        "</textarea><script>hit()</script>",
        "--><script>hit()</script>",
        "]]><script>hit()</script>",
        "<body onload=hit()>",
    ),
    *("<input autofocus onfocus=hit()>", "<details open ontoggle=hit()>", "</option></select><script>hit()</script>"),
    *(
        "{{constructor.constructor('hit()')()}}",
        "<math><mtext></form><form><mglyph><style></math><img src onerror=hit()>",
    ),
]

AROUND = [
    *(("", ""), ('">', "<"), ("'>", "<"), ("-->", "<!--"), ("]]>", "<![CDATA["), ("</code></bdi>", "<p>")),
    *(("</td></tr></table>", "<table>"), ("&quot;>", "&lt;"), ("\u202e", "\u2028"), ("%22%3E", "%3C")),
]


class Server:
    """`syntagm serve`, started as users do."""

    def __init__(self, *folders: Path, names: tuple[str, ...] = (), more: tuple[str, ...] = ()) -> None:
        labels = [word for name in names for word in ("--name", name)]
        line = [sys.executable, "-m", "syntagm", "serve", *map(str, folders), *labels, *more]
        self.process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout
        self.opening = self.process.stdout.readline().strip()
        self.url = self.opening.partition("?")[0]

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        assert self.process.stdout
        self.process.stdout.close()
        return self.process.wait(30)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("served")
    for name in ("toy", "random"):
        toy_run(folder / name, agreement(), PLAIN, model=name)
    started = Server(folder / "toy", folder / "random", names=("Toy", "Random"))
    yield started
    assert started.stop() == 0


def opened(browser: Any, server: Server, **options: Any) -> tuple[Any, list[str]]:
    page, events = browser.new_page(**options), []
    page.on("console", lambda message: events.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: events.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (events.append("dialog"), dialog.dismiss()))
    page.on("request", lambda request: request.url.startswith(server.url) or events.append(f"request: {request.url}"))
    page.goto(server.opening)
    return page, events


def tab_to(page: Any, text: str) -> None:
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == text:
            return
    raise AssertionError(f"no key leads to {text}")


def test_from_the_overview_to_an_item_and_back_by_keys_only(browser: Any, server: Server) -> None:
    page, events = opened(browser, server)
    assert "token" not in page.url
    tab_to(page, "agreement")
    page.keyboard.press("Enter")
    page.wait_for_url("**/suite/agreement")
    tab_to(page, "2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/suite/agreement/2")
    assert "fails" in page.inner_text("#verdicts")
    page.keyboard.press("ArrowRight")
    page.wait_for_url("**/suite/agreement/3")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/suite/agreement/2")
    tab_to(page, "Overview")
    page.keyboard.press("Enter")
    page.wait_for_url(server.url)
    assert events == []
    page.close()


def test_without_scripts_every_number_is_there_and_filters_work(browser: Any, server: Server) -> None:
    page, _ = opened(browser, server, java_script_enabled=False)
    assert "0.333" in page.inner_text("#suites")
    page.click("#suites a:has-text('agreement')")
    assert "+1.58" in page.inner_text("#items")
    page.select_option("select[name=verdict]", "fails")
    page.select_option("select[name=model]", "Toy")
    page.click("form.choices button")
    assert "verdict=fails" in page.url
    assert "2 of 3 items" in page.inner_text("#items .count")
    page.click("#items tbody a >> nth=0")
    assert "1.58" not in page.inner_text("#verdicts")
    assert "-1.00" in page.inner_text("#verdicts")
    assert page.inner_text("#tokens").count("barks") == 2
    page.close()


def test_without_scripts_each_number_of_each_kind_of_page_is_in_sight(browser: Any, server: Server) -> None:
    number, counts = re.compile(r"[-+\u2212]?\d[\d,]*\.\d+"), []
    with_scripts, without = opened(browser, server)[0], opened(browser, server, java_script_enabled=False)[0]
    for path in ("", "suite/agreement", "suite/plain", "suite/agreement/2", "run/Toy"):
        shown = []
        for page in (with_scripts, without):
            page.goto(server.url + path)
            # What is folded can be opened without scripts, too.
            for fold in page.query_selector_all("main details:not([open]) > summary"):
                fold.click()
            shown.append([found for text in page.locator("main :is(table, .tokens)").all_inner_texts()
                          for found in number.findall(text)])  # fmt: skip
        assert shown[0] == shown[1], path
        # The number by which a cell is sorted is the one that it shows, rounded.
        cells = without.eval_on_selector_all(
            "main [data-value]:not([data-value=''])", "(all) => all.map((one) => [one.dataset.value, one.innerText])"
        )
        for value, text in cells:
            read = number.search(text.replace("\u2212", "-")) or re.search(r"\d[\d,]*", text)
            assert read, (path, value, text)
            assert abs(float(read[0].replace(",", "")) - float(value)) < 0.006, (path, value, text)
        counts.append(len(shown[1]))
    # The page of a run has settings and signatures, with few numbers.
    assert min(counts[:4]) > 10
    with_scripts.close()
    without.close()


def test_the_slider_leads_from_checkpoint_to_checkpoint_by_keys(browser: Any, tmp_path: Path) -> None:
    for seed, step in enumerate((100, 1000, 10_000), 1):
        toy_run(tmp_path / f"step{step}", agreement(), model=f"random:?seed={seed}")
    folders = sorted(tmp_path.iterdir())
    server = Server(*folders, names=tuple(folder.name for folder in folders))
    page, events = opened(browser, server)
    tab_to(page, "3 checkpoints, one by one")
    page.keyboard.press("Enter")
    page.wait_for_url("**/checkpoints")
    page.locator("input[type=range]").focus()
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/checkpoints/2#slide")
    # The slider keeps the focus, so the next key goes on.
    page.locator("input[type=range]:focus").wait_for()
    assert page.inner_text("output") == "1,000"
    page.keyboard.press("ArrowLeft")
    page.wait_for_url("**/checkpoints/1#slide")
    page.locator("#trajectories svg").wait_for()
    assert events == []
    page.close()
    assert server.stop() == 0


@pytest.mark.parametrize("width", [400, 900, 1600])
def test_no_page_is_wider_than_the_screen(browser: Any, server: Server, width: int) -> None:
    page, events = opened(browser, server, viewport={"width": width, "height": 900})
    for path in ("", "suite/agreement", "suite/agreement/2", "suite/plain/plain-0", "run/Toy", "search?words=dog"):
        page.goto(server.url + path)
        assert page.evaluate("document.documentElement.scrollWidth") == width, path
    assert events == []
    page.close()


def test_hostile_texts_run_nothing(browser: Any, tmp_path: Path) -> None:
    suites, texts = [], []
    for before, after in AROUND:
        items = []
        for text in (before + script + after for script in SCRIPTS):
            whole = Sentence(f"The dog {text}", (Region(text, 0, 7), Region(f"{text}.", 8, 8 + len(text))))
            items.append(Item(text, {text: whole, f"{text}'": whole}, {text: text, "tag": text}))
            texts.append(text)
        suites.append(Suite(text, tuple(items), (), {"circuit": text, "comment": text, f"region.{text}": text}))
    assert len(set(texts)) == 200
    # `run` would refuse such names; but a run directory may come from anyone.
    refused = "syntagm.evaluation.predictions.refuse_no_predictions"
    with patch("syntagm.runs.engine.violations", lambda suites: []), patch(refused, lambda suite: None):
        toy_run(tmp_path / "many", *suites)
    hostile(tmp_path / "run")
    # People, with effects and agreement, beside a model: both with hostile names.
    of_people("self-paced", SCRIPTS[2], tmp_path / "people")
    toy_run(tmp_path / "model", SUITES["self-paced"])
    served = [
        ((tmp_path / "many",), (SCRIPTS[0],), 10),
        ((tmp_path / "run",), (SCRIPTS[4],), 10),
        ((tmp_path / "people", tmp_path / "model"), (SCRIPTS[1], SCRIPTS[5]), 1),
    ]
    for folders, names, count in served:
        server = Server(*folders, names=names)
        page, events = opened(browser, server)
        page.add_init_script("window.hits = 0; window.hit = () => { window.hits += 1; };")
        page.goto(server.url)
        suites_led = page.evaluate(
            "[...new Set([...document.querySelectorAll('#suites a, #by-circuit a')].map((a) => a.href))]"
        )
        assert len(suites_led) >= count
        runs_led = page.evaluate("[...document.querySelectorAll('.models a')].map((a) => a.href)")
        for link in [*suites_led, *runs_led]:
            page.goto(link)
            page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
            assert page.evaluate("window.hits") == 0
            items_led = page.evaluate("[...document.querySelectorAll('#items tbody a')].map((a) => a.href)")
            for item in items_led[::8]:
                page.goto(item)
                assert page.evaluate("window.hits") == 0
        page.goto(f"{server.url}search?words=dog")
        assert page.evaluate("window.hits") == 0
        assert events == []
        page.close()
        assert server.stop() == 0


def test_the_folder_opens_from_the_disk_with_style_and_script(browser: Any, tmp_path: Path) -> None:
    path = write_pages(
        [toy_run(tmp_path / name, agreement(), model=name) for name in ("toy", "random")], tmp_path / "pages"
    )
    page, events = browser.new_page(), []
    page.on("console", lambda message: events.append(message.text))
    page.goto(path.as_uri())
    page.click("#suites a >> nth=0")
    page.wait_for_url("**/suite/01-agreement.html")
    assert page.evaluate("getComputedStyle(document.querySelector('table')).borderCollapse") == "collapse"
    page.click("#items th button >> nth=0")
    page.click("#items tbody a >> nth=0")
    page.wait_for_url("**/suite/01-agreement/*.html")
    assert "bits" in page.inner_text("#conditions")
    assert events == []
    page.close()


def test_arabic_is_laid_out_from_right_to_left_and_signs_without_a_font_are_named(browser: Any, tmp_path: Path) -> None:
    parts = ("\u0627\u0644\u0648\u0644\u062f", "\u064a\u0643\u062a\u0628", "\u0631\u0633\u0627\u0644\u0629")
    # The last sign is of the private use area: no font has it.
    lines = {"good": parts, "bad": (parts[0], "\u064a\u0643\u062a\u0628\u0648\u0646", f"{parts[2]}\ue83a")}
    header = ["item\tcondition\tsubject\tverb\tobject", "#tag\tlanguage\tar\t\t"]
    header.append("#prediction\tverb\t(verb;%good%) < (verb;%bad%)\t\t")
    rows = [f"1\t{condition}\t" + "\t".join(words) for condition, words in lines.items()]
    (tmp_path / "arabic.tsv").write_text("\n".join([*header, *rows]) + "\n")
    [suite] = read_suites(tmp_path / "arabic.tsv")
    server = Server(toy_run(tmp_path / "run", suite, model="random").folder or tmp_path)
    page, events = opened(browser, server)
    page.goto(f"{server.url}suite/arabic/1")

    def lefts(selector: str) -> list[float]:
        places: list[float] = page.eval_on_selector_all(
            selector, "(all) => all.map((one) => one.getBoundingClientRect().x)"
        )
        return places

    for selector in (
        ".conditions thead th",  # condition, subject, verb, object, sentence
        ".conditions tbody tr:first-child :is(td, th):not(:empty)",
        ".tokens:first-of-type .region",
        ".tokens:first-of-type .token",
    ):
        found = lefts(f"#conditions {selector}" if "conditions" in selector else f".sentence:first-of-type {selector}")
        assert len(found) >= 3, selector
        assert found == sorted(found, reverse=True), selector
    assert page.eval_on_selector(".tokens", "(one) => [one.lang, one.dir]") == ["ar", "rtl"]
    page.wait_for_selector("#fontless:has-text('U+E83A')")
    assert "U+06" not in page.inner_text("#fontless")
    # The figure of the regions begins on the right, too, and so does its axis.
    page.goto(f"{server.url}suite/arabic")
    page.wait_for_selector("figure svg text:text-is('object')")
    assert lefts("figure svg text:text-is('subject')")[0] > lefts("figure svg text:text-is('object')")[0]
    assert events == []
    page.close()
    assert server.stop() == 0


@needed
def test_axe_finds_no_serious_fault(browser: Any, server: Server, tmp_path: Path) -> None:
    paths = ["", "suite/agreement", "suite/agreement/2", "run/Toy", "search?words=dog", "none"]
    assert faults(browser, server.opening, paths) == []
    # Checkpoints, and a suite without results.
    for seed, step in enumerate((100, 1000, 10_000), 1):
        toy_run(tmp_path / f"step{step}", agreement(), model=f"random:?seed={seed}")
    folders = sorted(tmp_path.iterdir())
    other = Server(*folders, names=tuple(folder.name for folder in folders), more=("--suites", "hu2020/mvrr"))
    paths = ["", "checkpoints", "checkpoints/2", "suite/mvrr", "suite/mvrr/1"]
    assert faults(browser, other.opening, paths) == []
    assert other.stop() == 0
    of_people("self-paced", folder=tmp_path / "people")
    toy_run(tmp_path / "model", SUITES["self-paced"])
    beside = Server(tmp_path / "people", tmp_path / "model")
    assert faults(browser, beside.opening, ["", "suite/agreement", "suite/agreement/1"]) == []
    assert beside.stop() == 0
