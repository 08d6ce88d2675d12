"""People take part in a real browser: with clicks, with keys, and on a phone; hosted by us, and with jsPsych alone."""

import json
import math
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from syntagm.experiment import Audit, Study, answers, jspsych, read, simulate, walk
from tests.experiment_for_tests import pairs, planned, written

pytestmark = pytest.mark.slow
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}


@contextmanager
def hosted(folder: Path, port: int = 0) -> Iterator[str]:
    """Host an experiment with the command line, and yield its address without the token."""
    command = [sys.executable, "-m", "syntagm", "serve", "--experiment", str(folder), "--port", str(port)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            yield server.stdout.readline().partition("?")[0].strip().rstrip("/")
        finally:
            server.kill()


def begin(browser: Any, address: str, **options: Any) -> Any:
    page = browser.new_page(**options)
    page.goto(f"{address}/take?PROLIFIC_PID=someone")
    page.get_by_role("button", name="I agree").click()
    page.get_by_role("button", name="Begin").click()
    return page


def test_a_forced_choice_with_clicks_goes_on_after_a_reload_and_a_kill_of_the_server(
    browser: Any, tmp_path: Path
) -> None:
    folder = written(planned([pairs(items=4)], "forced-choice", 2), tmp_path)
    with hosted(folder) as address:
        page = begin(browser, address)
        page.get_by_role("button", name="The cat").or_(page.locator(".pair button")).first.click()
        page.locator("progress[value='1']").wait_for()
        page.reload()
        page.locator("progress[value='1']").wait_for()
        port = int(address.rpartition(":")[2])
    # The server is gone; the answer is kept, and sent when it is there again.
    page.locator(".pair button").first.click()
    page.get_by_text("There is no connection").wait_for()
    with hosted(folder, port):
        for _ in range(2):
            page.locator(".pair button").first.click()
        page.locator("form input").fill("yes")
        page.get_by_role("button", name="Finish").click()
        page.locator(".code").wait_for()
        code = page.locator(".code").inner_text()
    page.close()
    study = Study(folder)
    given = study.answers()
    assert len(given) == 4
    assert {answer.person for answer in given} == {code}
    assert study.progress().totals == (1, 0, 0)
    assert study.said() == {code: ["yes"]}
    study.close()


def test_ratings_with_keys_and_reading_on_a_phone(browser: Any, tmp_path: Path) -> None:
    folder = written(planned([pairs(items=2)], "acceptability", 2), tmp_path / "rating")
    with hosted(folder) as address:
        page = begin(browser, address)
        for key in "62":
            page.locator(".scale").wait_for()
            page.keyboard.press(key)
        # The code is shown when all answers have been received.
        page.locator("form input").fill("yes")
        page.get_by_role("button", name="Finish").click()
        page.locator(".code").wait_for()
    study = Study(folder)
    assert sorted(answer.rating for answer in study.answers()) == [2, 6]
    study.close()
    folder = written(planned([pairs(items=2)], "self-paced", 2), tmp_path / "reading")
    with hosted(folder) as address:
        page = begin(browser, address, **PHONE)
        for number in range(2):
            page.locator(f"progress[value='{number}']").wait_for()
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing to scroll sideways"
            for _ in range(6):
                page.locator(".window").tap()
        page.locator("form input").fill("yes")
        page.get_by_role("button", name="Finish").tap()
        page.locator(".code").wait_for()
    page.close()
    study = Study(folder)
    assert [[region for region, _, _ in answer.regions] for answer in study.answers()] == [
        ["subject", "verb", "rest"]
    ] * 2
    study.close()


def test_only_machines_meet_a_hidden_question(browser: Any, tmp_path: Path) -> None:
    made = planned([pairs(items=2)], "forced-choice", 2)
    questions = [["Here?", "no"], ["7 + 4?", ""]]
    folder = written(replace(made, options={**made.options, "questions": questions}), tmp_path)
    with hosted(folder) as address:
        context = browser.new_context()
        # Browsers of a few years ago know the attribute, but not the property.
        context.add_init_script("delete Element.prototype.ariaHidden")
        page = begin(context, address)
        for _ in range(2):
            page.locator(".pair button").first.click()
        page.get_by_role("button", name="Finish").wait_for()
        heard = page.locator("form").aria_snapshot()
        assert "Here?" in heard
        assert "7 + 4?" not in heard
        page.locator("form input").first.focus()
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Finish"
        assert page.locator("label", has_text="7 + 4?").bounding_box()["height"] <= 1
        context.close()


class Store(SimpleHTTPRequestHandler):
    """A web server for static pages that takes answers, and loses the first receipts."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        taken: list[Any] = self.server.taken  # type: ignore[attr-defined]
        taken.append(body)
        self.send_response(500 if len(taken) <= 2 else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


def test_pages_of_jspsych_send_each_answer(browser: Any, tmp_path: Path) -> None:
    if not jspsych.LIBRARY.exists() and not shutil.which("npm"):
        pytest.skip("no packages of jsPsych, and no npm")
    made = planned([pairs(items=2)], "forced-choice", 2)
    folder = written(made, tmp_path / "plan")
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace('address = ""', 'address = "/answers"'))
    try:
        list(jspsych.write(folder, tmp_path / "pages"))
    except Exception as error:  # no network
        pytest.skip(f"the packages of jsPsych can't be had: {error}")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Store, directory=str(tmp_path / "pages")))
    server.taken = []  # type: ignore[attr-defined]
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        page = browser.new_page()
        page.goto(f"http://127.0.0.1:{server.server_port}/index.html?slot=1&id=x")
        page.get_by_role("button", name="I agree").click()
        page.get_by_role("button", name="Begin").click()
        for _ in range(2):
            page.locator(".jspsych-btn").first.click()
        page.locator("input[type=text]").fill("yes")
        page.get_by_role("button", name="Continue").click()
        page.get_by_text("Thank you").wait_for()
        page.close()
    finally:
        server.shutdown()
        server.server_close()
    (tmp_path / "sent.json").write_text(json.dumps(server.taken))  # type: ignore[attr-defined]
    audit = Audit()
    given = answers.audited(made, read.read(tmp_path / "sent.json", made, {}, audit), audit)
    assert len(given) == 2
    assert all(answer.list == 0 and answer.ms > 0 for answer in given)
    assert list(audit.found) == ["second answers to a trial, left out"], "receipts that were lost give replays"


@pytest.mark.usefixtures("browser")
@pytest.mark.parametrize("design", ["forced-choice", "magnitude", "self-paced"])
def test_simulated_people_walk_through_the_pages(tmp_path: Path, design: str) -> None:
    made = planned([pairs(items=2)], design, 2, built_in=True)
    folder = written(made, tmp_path)
    people = simulate.Simulated(made, simulate.Truth(simulate.EFFECTS[design]), 1)
    # The browser of the other tests occupies this thread.
    with ThreadPoolExecutor(1) as pool:
        lines = pool.submit(lambda: list(walk.walk(folder, people, 2, pace=0))).result()
    assert ["phone" in line for line in lines] == [False, True]
    study = Study(folder)
    assert study.simulated
    assert study.progress().totals == (2, 0, 0)
    given = study.answers()
    assert len(given) == 2 * len(made.lists[0])
    if design != "self-paced":
        # What was clicked is what these people answer; times are those of the page.
        again, expected = dict[str, simulate.SimulatedPerson](), []
        for number, code in enumerate(dict.fromkeys(answer.person for answer in given)):
            again[code] = people.person(number)
            person = study.by_code(code)
            assert person is not None
            for trial, _ in study.trials_of(person):
                body = again[code].answer(made.trials[trial])
                expected.append((code, body["trial"], body.get("choice", ""), body.get("rating")))
        found = [(a.person, a.trial, a.choice, None if math.isnan(a.rating) else a.rating) for a in given]
        assert sorted(found) == sorted(expected)
    study.close()
