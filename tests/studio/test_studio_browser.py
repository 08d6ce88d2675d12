"""The studio in a real browser: from an empty page to a scored suite, on a phone, and with hostile texts."""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

pytest.importorskip("starlette")

from axe_for_tests import faults, needed
from studio_for_tests import ATTACKS, hostile

from syntagm.cli import main

pytestmark = pytest.mark.slow
TYPED = """(field, text) => {
    field.value = text;
    for (const kind of ["input", "change"]) field.dispatchEvent(new Event(kind, { bubbles: true }));
}"""
NOUNS = ("dog", "cat", "bird", "cow", "horse", "goat")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    folder = tmp_path_factory.mktemp("studio") / "own"
    line = [sys.executable, "-m", "syntagm", "serve", "--model", "toy", "--model", "random", "--write", str(folder)]
    process = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    yield process.stdout.readline().strip(), folder
    process.send_signal(signal.SIGINT)
    process.stdout.close()
    assert process.wait(30) == 0


def opened(browser: Any, address: str, **options: Any) -> tuple[Any, list[str]]:
    page, events = browser.new_page(**options), []
    page.set_default_timeout(60_000)
    page.on("console", lambda message: events.append(f"console: {message.text}"))
    page.on("pageerror", lambda error: events.append(f"error: {error}"))
    page.on("dialog", lambda dialog: (events.append(f"dialog {dialog.type}"), dialog.accept()))
    page.goto(address)
    return page, events


def two_by_two() -> str:
    """What a spreadsheet copies: six items, four conditions, three regions."""
    rows = ["item\tcondition\tsubject\tverb\tend"]
    for number, noun in enumerate(NOUNS, 1):
        for subject, name in ((f"The {noun}", "s"), (f"The {noun}s", "p")):
            rows += [
                f"{number}\t{name}{(verb[-1] == 's' and 's') or 'p'}\t{subject}\t{verb}\t~."
                for verb in ("barks", "bark")
            ]
    return "\n".join(rows) + "\n"


def paste(page: Any, text: str) -> None:
    """Paste into the field that has the focus, as a browser does."""
    page.evaluate(
        """(text) => {
            const data = new DataTransfer();
            data.setData("text/plain", text);
            const event = new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(event);
        }""",
        text,
    )


def test_from_an_empty_page_to_a_scored_suite(
    browser: Any, server: tuple[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    address, folder = server
    page, events = opened(browser, address, viewport={"width": 900, "height": 900})
    page.click("nav >> text=Write")
    page.click("text=New suite")
    page.fill("input[name=name]", "agreement")
    page.focus(".grid tbody input >> nth=1")
    paste(page, two_by_two())
    page.wait_for_selector("#findings >> text=W101")
    assert page.locator(".grid tbody tr").count() == 24
    # The arrow keys move, and what is typed is in the text.
    page.focus(".grid tbody input >> nth=2")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.type("!")
    assert page.input_value("textarea").splitlines()[2] == "1\tsp\tThe dog!\tbark\t~."
    page.keyboard.press("Backspace")
    page.click("button[value=items]")
    page.wait_for_selector(".grid thead th:nth-child(13)")
    for name, value in (("region", "verb"), ("relation", "<"), ("first", "ss"), ("second", "sp")):
        page.select_option(f"select[name={name}]", value)
    told = "the verb is less surprising in ss than in sp: (verb;%ss%) < (verb;%sp%)"
    page.wait_for_selector(f"#words:text-is('{told}')")
    page.fill("input[name=prediction]", "number")
    page.click("button[value=predict]")
    page.wait_for_selector(".grid td.compared")
    page.click("button[value=preview]")
    assert "6 items, 4 conditions, 24 sentences" in page.inner_text("main")
    page.select_option("select[name=model]", "toy")
    page.select_option("select[name=beside]", "random")
    page.click("button[value=score]")
    page.wait_for_url("**/jobs/0001")
    page.click("text=Results, figures and tables")
    page.click("#suites a:has-text('agreement')")
    assert page.locator("main figure").count() >= 1
    assert events == []
    page.close()
    assert (folder / "agreement.tsv").is_file()
    for model in ("toy", "random"):
        line = ["run", model, "--suite", str(folder / "agreement.tsv"), "--name", model, "-o", str(tmp_path / model)]
        assert main([*line, "--quiet", "--no-report"]) == 0
        scored = folder / "jobs" / "0001" / "runs" / model / "results.csv"
        assert (tmp_path / model / "results.csv").read_bytes() == scored.read_bytes()


def test_a_sentence_is_tried_on_a_phone_and_no_page_is_wider_than_its_screen(
    browser: Any, server: tuple[str, Path]
) -> None:
    page, events = opened(browser, server[0], viewport={"width": 400, "height": 800}, has_touch=True)
    page.fill("textarea >> nth=0", "The dog | barks")
    page.tap("button.main")
    page.wait_for_selector("#original")
    page.fill("textarea >> nth=0", "The dog | bark")
    page.tap("button.main")
    page.wait_for_selector("#edited")
    assert "The dog | barks" in page.inner_text(".pinned")
    root = page.url.partition("/try")[0]
    for path in ("/try?model=toy&text=The+dog+%7C+barks", "/write", "/write?new=table", "/write?new=template", "/jobs"):
        page.goto(root + path)
        for width in (400, 900, 1600):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    assert events == []
    page.close()


@needed
def test_axe_finds_no_serious_fault(browser: Any, server: tuple[str, Path]) -> None:
    paths = [
        "try?model=toy&model=random&text=The+dog+%7C+barks",
        "write",
        "write?new=table",
        "write?new=template",
        "jobs",
    ]
    assert faults(browser, server[0], paths) == []


def test_without_scripts_a_suite_is_written_as_text(browser: Any, server: tuple[str, Path]) -> None:
    page, _ = opened(browser, server[0], java_script_enabled=False)
    page.click("nav >> text=Write")
    page.click("text=New suite")
    page.click("summary >> text=As text")
    page.fill("textarea", two_by_two())
    page.fill("input[name=name]", "by_text")
    page.click("button[value=save]")
    assert "Saved." in page.inner_text("main")
    assert (server[1] / "by_text.tsv").read_text() == two_by_two()
    page.close()


def test_a_text_that_is_not_saved_is_not_lost(browser: Any, server: tuple[str, Path], tmp_path: Path) -> None:
    page, events = opened(browser, server[0])
    root = page.url.partition("/try")[0]
    page.goto(f"{root}/write?new=table")
    page.focus(".grid tbody input >> nth=1")
    paste(page, two_by_two())
    # The builder follows the table, and the server says what it would add.
    page.wait_for_selector("#builder:not([hidden])")
    page.select_option("select[name=first]", "sp")
    page.wait_for_selector("#words:has-text('(subject;%sp%) < (subject;%sp%)')")
    page.fill("input[name=name]", "kept")
    page.click("button[value=preview]")
    page.wait_for_selector("#preview")
    # The preview is shown before the script of its page has run.
    page.wait_for_load_state("load")
    # Leaving the page is asked about, and coming back finds the text.
    page.goto(f"{root}/jobs")
    assert events.count("dialog beforeunload") == 1
    page.goto(f"{root}/write?new=table")
    page.click("#left [value=take]")
    assert page.input_value("textarea") == two_by_two()
    page.click("button[value=save]")
    page.wait_for_url("**/write/kept.tsv?saved=1")
    assert page.evaluate("Object.keys(sessionStorage)") == []
    # A cell with a line break is not joined by the table of fields.
    page.click("summary >> text=As text")
    page.fill("textarea", 'item\tcondition\tv\n1\ta\t"two\nlines"\n')
    page.dispatch_event("textarea", "change")
    page.wait_for_selector("#too-much:not([hidden])")
    # A file that is not UTF-8 is not read with other letters.
    (tmp_path / "old.csv").write_bytes("item,condition,v\n1,a,f\u00fcr\n".encode("latin-1"))
    page.goto(f"{root}/write")
    page.set_input_files("#open [type=file]", tmp_path / "old.csv")
    page.wait_for_selector("#open [role=alert]:not([hidden])")
    assert "old.csv is not text in UTF-8" in page.inner_text("#open [role=alert]")
    page.close()


def test_100_hostile_suites_run_no_script(browser: Any, server: tuple[str, Path]) -> None:
    page, events = opened(browser, server[0])
    root = page.url.partition("/try")[0]
    before = {path for path in server[1].parent.rglob("*") if path.is_file()}
    texts = hostile()
    assert len(texts) == 100
    answers = []
    page.on("response", lambda answer: answers.append(answer.status))
    page.goto(f"{root}/write?new=table")
    for number, (text, ending, name) in enumerate(texts):
        if number % 3 == 0:  # pasted, checked, and saved under a name of its own
            if not page.locator(".grid tbody input >> nth=1").count():
                page.goto(f"{root}/write?new=table")
            page.focus(".grid tbody input >> nth=1")
            if re.search(r"[\t\n].", text):
                with page.expect_response("**/write/check"):
                    paste(page, text)
            else:  # nothing for a table: the browser pastes it into the field
                page.fill(".grid tbody input >> nth=1", text)
            page.fill("input[name=name]", name[:80])
            if number % 2:
                with page.expect_navigation():
                    page.click("button[value=save]")
        elif number % 3 == 1:  # typed as text, and previewed
            # Chromium takes long to type thousands of lines.
            page.eval_on_selector("textarea", TYPED, text)
            with page.expect_navigation():
                page.click("button[value=preview]")
        else:  # a file
            page.goto(f"{root}/write")
            file = {"name": f"{name[:40].replace('/', '_')}{ending}", "mimeType": "text/plain", "buffer": text.encode()}
            with page.expect_navigation():
                page.set_input_files("#open [type=file]", file)
            if not page.locator("textarea").count():
                page.goto(f"{root}/write?new=table")
    for path in ("/write", "/try", f"/try?{urlencode([('text', ATTACKS[2]), ('model', 'toy')])}"):
        page.goto(root + path)
    # Leaving an edited page is asked about; nothing else may speak.
    assert [event for event in events if "beforeunload" not in event and "status of 4" not in event] == []
    assert max(answers) < 500
    made = {path for path in server[1].parent.rglob("*") if path.is_file()} - before
    assert {path.relative_to(server[1]).parts[0] for path in made} <= {"history", "_7_7__x_.tsv"}, made
    # A larger text than a request may have is refused.
    page.goto(f"{root}/write?new=table")
    page.eval_on_selector("textarea", TYPED, "x" * 1_000_000)
    with page.expect_response(lambda answer: answer.url.endswith("/write")) as refused:
        page.click("button[value=save]")
    assert refused.value.status == 413
    page.close()
