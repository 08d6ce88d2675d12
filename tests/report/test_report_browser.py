"""The report in a real browser: nothing of the materials runs, nothing is loaded, and what the page offers works."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fill_for_tests import Drawn
from report_examples import ATTACKS, gaps, hostile
from toy_runs import agreement, pairs, toy_run

from syntagm.core import visible
from syntagm.report import report
from syntagm.runs import fill
from syntagm.suites import WordList, WordRow

pytestmark = pytest.mark.slow
NOTE_VIOLATIONS = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(event.violatedDirective + " " + event.blockedURI);
});
"""


class Visit:
    """A page opened in the browser, and everything that should not have happened there."""

    def __init__(self, browser: Any, path: Path, **options: Any) -> None:
        self.page = browser.new_page(**options)
        self.events: list[str] = []
        self.page.add_init_script(NOTE_VIOLATIONS)
        self.page.on("console", lambda message: self.events.append(f"console: {message.text}"))
        self.page.on("pageerror", lambda error: self.events.append(f"error: {error}"))
        self.page.on("dialog", lambda dialog: (self.events.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        self.page.on("request", lambda request: self.events.append(f"request: {request.url}"))
        self.page.goto(path.as_uri())
        self.requested = self.events.pop(0)

    def happened(self) -> list[str]:
        return [*self.events, *self.page.evaluate("violations")]


def test_hostile_texts_do_nothing(browser: Any, tmp_path: Path) -> None:
    visit = Visit(browser, report([hostile(tmp_path)], tmp_path / "report.html"))
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    page.wait_for_selector("#items-12 >> xpath=.. >> .item", state="attached")
    for mark in page.query_selector_all("svg :has(> title)")[:3]:
        mark.scroll_into_view_if_needed()
        mark.hover(force=True)
    for heading in page.query_selector_all("th button"):
        heading.click()
    page.wait_for_timeout(100)
    assert visit.happened() == []
    assert page.title() == "Targeted syntactic evaluation"
    assert page.evaluate("document.querySelectorAll('img, iframe, object, link').length") == 0
    assert page.evaluate("[...document.querySelectorAll('script:not([type])')].length") == 1
    shown = page.evaluate("[...document.querySelectorAll('.item h4 bdi')].map((one) => one.textContent)")
    assert set(shown) == set(map(visible, ATTACKS))
    page.close()


def test_the_policy_stops_what_would_slip_through(browser: Any, tmp_path: Path) -> None:
    path = report([toy_run(tmp_path, agreement())], tmp_path / "report.html")
    content = path.read_text("utf-8")
    attack = (
        "<script>document.title='pwned'</script><img src=x onerror=\"document.title='pwned'\"><p style='color:red'>"
    )
    path.write_text(content.replace("</header>", attack + "</header>"), "utf-8")
    visit = Visit(browser, path)
    visit.page.wait_for_timeout(100)
    assert visit.page.title() == "Targeted syntactic evaluation"
    stopped = {violation.split()[0] for violation in visit.page.evaluate("violations")}
    assert {"script-src-elem", "img-src", "style-src-attr"} <= stopped
    visit.page.close()


def test_items_sorting_tips_and_filters(browser: Any, tmp_path: Path) -> None:
    plain = pairs("plain", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))
    visit = Visit(browser, report([toy_run(tmp_path, agreement(), gaps(), plain)], tmp_path / "report.html"))
    page = visit.page

    page.click("#suite-1 details.items summary")
    verdicts = page.locator("#suite-1 .item").first.locator("h4, .verdict").all_inner_texts()
    assert verdicts == [
        "item 1",
        "prediction verb: ✓ holds by 1.58 bits",
        "prediction full_sentence: ✓ holds by 1.58 bits",
    ]
    sentence = "#suite-1 .item:nth-of-type(1) .sentence:first-of-type"
    texts = "all => all.map((one) => one.innerText.replace(/\\s+/g, ' '))"
    assert page.eval_on_selector_all(f"{sentence} .token", texts) == ["The 2.00", "dog 2.96", "barks 3.27"]
    assert page.eval_on_selector_all(f"{sentence} .region-name", texts) == ["1 subject", "2"]

    page.select_option("#suite-1 select", "ties")
    assert page.locator("#suite-1 .item:visible").count() == 1

    heading = page.locator("#suites th").nth(3)
    heading.locator("button").click()
    assert heading.get_attribute("aria-sort") == "descending"
    first = page.locator("#suites tbody tr").first
    assert first.locator("td b").inner_text() == "1.000"
    heading.locator("button").press("Enter")
    assert heading.get_attribute("aria-sort") == "ascending"

    assert "bits, n=3" in page.locator("#suite-1 svg title").first.text_content()
    assert visit.happened() == []
    page.close()


def compared(folder: Path) -> Path:
    runs = [toy_run(folder / model, agreement(), gaps(), model=model) for model in ("toy", "random")]
    return report(runs, folder / "report.html")


def test_filters_links_into_folds_and_saving(browser: Any, tmp_path: Path) -> None:
    plain = [pairs(f"plain{k}", ("the dog barks", "the dog bark"), ("a cat sleeps", "a cat sleep")) for k in range(2)]
    runs = [toy_run(tmp_path / str(k), agreement(), *plain, model=f"random:?seed={k}") for k in range(3)]
    visit = Visit(browser, report(runs, tmp_path / "report.html"))
    page = visit.page

    page.fill("#suites input[type=search]", "plain1")
    assert page.locator("#suites tbody tr:visible").count() == 1
    assert page.inner_text("#suites [role=status]") == "1 of 5 rows"
    page.fill("#suites input[type=search]", "")
    assert page.locator("#suites tbody tr:not(.divider):visible").count() == 5
    assert page.locator("#suites tbody tr.divider:visible").all_inner_texts() == ["no circuit", "Agreement"]
    page.locator("#suites th").nth(3).locator("button").click()
    assert page.locator("#suites tbody tr").count() == 5  # sorted rows are in no group
    assert page.locator("#suites tbody .group").last.is_visible()

    assert page.locator("#pair-2 table").is_hidden()
    page.click("#compared a[href='#pair-2']")
    assert page.locator("#pair-2 table").is_visible()

    with page.expect_download() as waiting:
        page.click("#compared a.data")
    saved = Path(waiting.value.path()).read_text("utf-8").splitlines()
    assert saved[0].startswith("a,b,suite,n,accuracy_a")
    assert len(saved) == 1 + 3 * 3
    assert [one for one in visit.happened() if not one.startswith("request: data:text/csv")] == []
    page.close()


def test_by_keyboard(browser: Any, tmp_path: Path) -> None:
    visit = Visit(browser, compared(tmp_path))
    page = visit.page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "content"
    order = []
    for _ in range(400):
        page.keyboard.press("Tab")
        place = page.evaluate("[document.activeElement.tagName, document.activeElement.closest('section')?.id]")
        if place[0] == "BODY":
            break
        order.append(place)
    sections = list(dict.fromkeys(section for _, section in order))
    assert sections == ["overview", "suites", "by-circuit", "effects", "compared", "suite-by-suite", "record"]
    assert {"A", "BUTTON", "INPUT", "SUMMARY", "DIV"} <= {tag for tag, _ in order}
    page.focus("#suites th:nth-child(4) button")
    page.keyboard.press("Space")
    assert page.get_attribute("#suites th:nth-child(4)", "aria-sort") == "descending"
    assert visit.happened() == []
    page.close()


def test_on_paper_the_comparison_is_open_and_nothing_is_cut_off(browser: Any, tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / str(k), agreement(), gaps(), model=f"random:?seed={k}") for k in range(3)]
    visit = Visit(browser, report(runs, tmp_path / "report.html"), color_scheme="dark")
    paper = visit.page.pdf(format="A4")
    assert paper.startswith(b"%PDF")
    assert visit.page.evaluate("[...document.querySelectorAll('details.pair')].every((fold) => fold.open)")
    visit.page.emulate_media(media="print")
    assert visit.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert (
        visit.page.evaluate("getComputedStyle(document.querySelector('mark')).backgroundColor") == "rgb(251, 227, 160)"
    )
    assert visit.page.locator("#suites input").is_hidden()
    visit.page.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_needs_no_sideways_scrolling(browser: Any, tmp_path: Path, scheme: str) -> None:
    visit = Visit(browser, compared(tmp_path), viewport={"width": 360, "height": 700}, color_scheme=scheme)
    visit.page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert visit.page.evaluate("document.documentElement.scrollWidth") == 360
    # A hint stands above what scrolls, and names break only after punctuation.
    assert visit.page.locator("#overview .scroll.more").count() >= 1
    assert visit.page.evaluate("getComputedStyle(document.querySelector('#suites th')).overflowWrap") != "anywhere"
    visit.page.evaluate("scrollTo(0, 2000)")
    assert visit.page.locator("nav").bounding_box()["y"] == 0
    paper = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(255, 254, 252)", "dark": "rgb(23, 24, 26)"}[scheme]
    assert visit.happened() == []
    visit.page.close()


# Words whose letters are on more than one line.
BROKEN = """
[...document.querySelectorAll("#suites th bdi")].flatMap((name) => [...name.childNodes]).filter((word) => {
  const range = document.createRange();
  range.selectNodeContents(word);
  return new Set([...range.getClientRects()].map((line) => Math.round(line.top))).size > 1;
}).map((word) => word.textContent)
"""


def test_tables_fit_a_wide_screen_and_on_a_phone_numbers_have_their_headings_beside_them(
    browser: Any, tmp_path: Path
) -> None:
    suites = [replace(agreement(), name=name) for name in ("comma_short", "filler_gap_dependencies_object")]
    runs = [toy_run(tmp_path / str(k), *suites, model=f"random:?seed={k}") for k in range(2)]
    path = report(runs, tmp_path / "report.html")
    phone = Visit(browser, path, viewport={"width": 390, "height": 800})
    cell = phone.page.locator("#suites tbody td.number").last
    assert "seed=1" in cell.evaluate("(cell) => getComputedStyle(cell, '::before').content + cell.dataset.label")
    assert phone.page.locator("#suites .scroll.more").count() == 0
    assert phone.page.evaluate("document.documentElement.scrollWidth") == 390
    figure = phone.page.locator("#overview figure .scroll.more")
    assert "scroll sideways" in figure.evaluate("(box) => getComputedStyle(box, '::before').content")
    assert phone.page.evaluate(BROKEN) == []
    phone.page.close()
    wide = Visit(browser, path, viewport={"width": 1400, "height": 800})
    assert wide.page.locator("#compared table").count() == 1
    assert wide.page.locator("#compared .scroll.more").count() == 0
    wide.page.close()


def test_without_scripts_the_numbers_are_there(browser: Any, tmp_path: Path) -> None:
    path = report([toy_run(tmp_path, agreement())], tmp_path / "report.html")
    visit = Visit(browser, path, java_script_enabled=False)
    assert "0.333" in visit.page.inner_text("#suites")
    assert "need JavaScript" in visit.page.inner_text("main")
    visit.page.close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_of_fill_runs(browser: Any, tmp_path: Path, width: int) -> None:
    tags = {"construction": "Agreement", "comment": ATTACKS[2]}
    suites = [pairs(f"s{k}", *_sentences(noun), tags=tags) for k, noun in enumerate(("dog", "cat"))]
    rows = tuple(WordRow(one, (f"{one}s", one), {"band": "1"}) for one in ("bark", "sleep", "run"))
    words = WordList(ATTACKS[0], ("singular", "plural"), rows)
    vocabulary = [form for row in rows for form in row.forms]
    runs = []
    for k in range(2):
        model = Drawn([*vocabulary, *"abc"[: k + 1]])
        model.name = f"{ATTACKS[1]} {k}"
        runs.append(fill(model, suites, words, tmp_path / str(k), top=[0.9, 0.5], bottom=[0.1]))
    visit = Visit(browser, report(runs, tmp_path / "page.html"), viewport={"width": width, "height": 900})
    page = visit.page
    page.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true; })")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.title() == "Words in gaps"
    sections = "[...document.querySelectorAll('main > section')].map((one) => one.id)"
    assert page.evaluate(sections) == ["overview", "cut-offs", "bands", "suite-by-suite", "methods", "record"]
    assert page.locator("#cut-offs figure svg").count() == 4
    by_suite = page.locator("#overview table").nth(1)
    heading = by_suite.locator("th", has_text="equal weight")
    heading.locator("button").press("Enter")
    shown = by_suite.locator("tbody tr td:nth-child(4) b").all_inner_texts()
    assert shown == sorted(shown, reverse=True)
    assert len(set(shown)) > 1
    assert len(shown) == 4
    assert "band 1" in page.locator("#bands svg title").first.text_content()
    with page.expect_download() as waiting:
        page.click("#overview a.data")
    assert Path(waiting.value.path()).read_text("utf-8").startswith("model,of,name,measure,value,low,high,n")
    assert [one for one in visit.happened() if not one.startswith("request: data:text/csv")] == []
    page.close()


def _sentences(noun: str) -> list[tuple[str, str]]:
    plural = [(f"Some {noun}s bark.", f"Some {noun}s barks.")]
    return [*((f"{one} {noun} barks.", f"{one} {noun} bark.") for one in ("The", "A", "That")), *plural]


def test_many_models_are_rows_in_sight(browser: Any, tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / f"run{seed}", agreement(), model=f"random:?seed={seed}") for seed in range(30)]
    visit = Visit(browser, report(runs, tmp_path / "report.html"), viewport={"width": 1200, "height": 700})
    page = visit.page
    # The headings stay in sight while the rows are scrolled.
    box = page.locator("#overview .tall")
    top = box.locator("thead th").first.bounding_box()["y"]
    box.evaluate("(box) => { box.scrollTop = 300; }")
    assert abs(box.locator("thead th").first.bounding_box()["y"] - top) < box.bounding_box()["height"] / 4
    page.click("#overview th button >> nth=1")
    values = box.locator("tbody td:nth-child(2)").evaluate_all("(cells) => cells.map((cell) => +cell.dataset.value)")
    assert values == sorted(values, reverse=True)
    # The numbers of a suite are in a fold.
    fold = page.locator("#suite-1 details.pair")
    assert not fold.locator("table").is_visible()
    fold.locator("summary").click()
    assert fold.locator("tbody tr").count() == 30
    assert visit.happened() == []
    page.close()
