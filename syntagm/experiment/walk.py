"""Simulated people who walk through the very pages, in Chromium: with keys, and with taps on a phone's screen.

The pages are served as for people, from a copy of the experiment whose answers are marked as simulated. What is answered
is that of `simulate`; times are those that the page measures.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from syntagm.core import RunError, UsageError
from syntagm.experiment import texts
from syntagm.experiment.deployed import KINDS
from syntagm.experiment.plan import Plan, Trial
from syntagm.experiment.simulate import Simulated, SimulatedPerson
from syntagm.experiment.store import Study

# The screen of a phone.
PHONE = {"viewport": {"width": 360, "height": 640}, "has_touch": True, "is_mobile": True}
_PATIENCE = 20_000
_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
              "--disable-component-update", "--disable-sync")  # fmt: skip


def walk(folder: Path, people: Simulated, count: int, pace: float = 1.0) -> Iterator[str]:
    """Let people walk through the pages, every second one on a phone's screen; yield a sentence about each."""
    if not 1 <= count <= people.plan.participants:
        raise UsageError("--browser", str(count), f"1 to {people.plan.participants}, the people of the plan")
    study = Study(folder)
    study.mark_simulated()
    with browser() as opened, _served(folder) as address:
        from playwright.sync_api import Error

        for number in range(count):
            phone = number % 2 == 1
            page = opened.new_page(**(PHONE if phone else {}))
            page.set_default_timeout(_PATIENCE)
            person = people.person(number)
            try:
                code = _Walk(page, study, person, phone, pace).through(f"{address}/take?id=s{number + 1:04}")
            except Error as error:
                what = str(error).splitlines()[0]
                raise RunError(f"{address}, person {number + 1}", what, "a page that leads on") from error
            finally:
                page.close()
            if (found := study.by_code(code)) is None:
                raise RunError("the last page", f"the code {code}, which belongs to nobody", "the code of the person")
            trials = len(study.trials_of(found))
            screen = "a phone, with taps" if phone else "a screen, with keys"
            yield f"person {number + 1} on {screen}: {trials} trials, code {code}"
    study.close()


@contextmanager
def browser() -> Iterator[Any]:
    """Open a Chromium of this machine without a screen, and yield playwright's object."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        raise UsageError("--browser", "no package playwright", "it", "pip install playwright") from None
    names = ("chromium", "chromium-browser", "google-chrome")
    place = next((found for name in names if (found := shutil.which(name))), None)
    if place is None:
        raise UsageError("--browser", "no Chromium on this machine", "one of " + ", ".join(names))
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=place, args=list(_ARGUMENTS))
        try:
            yield opened
        finally:
            opened.close()


@contextmanager
def _served(folder: Path) -> Iterator[str]:
    """Serve an experiment from another process, and yield its address without the token."""
    command = [sys.executable, "-m", "syntagm", "serve", "--experiment", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout
            address = server.stdout.readline().partition("?")[0].strip().rstrip("/")
            if not address:
                raise RunError(" ".join(command), "no address", "a server")
            yield address
        finally:
            server.kill()


class _Walk:
    """One person on the pages."""

    def __init__(self, page: Any, study: Study, person: SimulatedPerson, phone: bool, pace: float) -> None:
        self.page, self.study, self.person, self.phone, self.pace = page, study, person, phone, pace
        self.plan: Plan = study.plan

    def through(self, address: str) -> str:
        """Take part from the consent form to the last page, and return the code on it."""
        page = self.page
        page.goto(address)
        self._press(page.get_by_role("button", name="I agree"))
        page.wait_for_url("**/study/*")
        found = self.study.person(page.url.rpartition("/")[2])
        assert found is not None, "the page belongs to a person"
        self._press(page.get_by_role("button", name="Begin"))
        practised = False
        for place, (number, first) in enumerate(self.study.trials_of(found)):
            trial = self.plan.trials[number]
            if practised and trial.role != "practice":
                self._press(page.get_by_role("button", name="Begin"))
            practised = trial.role == "practice"
            page.locator(f"progress[value='{place}']").wait_for()
            self._answer(trial, first, self.person.answer(trial))
        if texts.asked_at_end(self.plan, self.study.settings):
            (finish := page.get_by_role("button", name="Finish")).wait_for()
            for field in page.locator("form label:not(.hidden) input").all():
                field.fill("simulated")
            self._press(finish)
        page.locator(".code").first.wait_for()
        return str(page.locator(".code").first.inner_text())

    def _press(self, place: Any) -> None:
        if self.phone:
            place.tap()
        else:
            place.click()

    def _wait(self, ms: float) -> None:
        if self.pace:
            self.page.wait_for_timeout(ms * self.pace)

    def _choose(self, kind: str, number: int, key: str) -> None:
        """Choose one of the buttons of a trial, by tap or by key."""
        button = self.page.locator(f".{kind} button").nth(number)
        button.wait_for()
        if self.phone:
            button.tap()
        else:
            self.page.keyboard.press(key)

    def _answer(self, trial: Trial, first: bool, body: dict[str, Any]) -> None:
        self._wait(body.get("ms", 0.0))
        match KINDS[self.plan.design.name]:
            case "pair":
                upper = (body["choice"] == trial.choices[0]) == first
                self._choose("pair", 0 if upper else 1, "1" if upper else "2")
            case "verdict":
                self._choose("answers", 0 if body["choice"] == "yes" else 1, body["choice"][0])
                return
            case "rating":
                self._choose("scale", int(body["rating"]) - 1, str(body["rating"]))
            case "magnitude":
                self.page.locator("form input").fill(str(body["rating"]))
                self._press(self.page.get_by_role("button", name="Next"))
            case "reading":
                self._read(body["times"])
            case "maze":
                self._find_words(trial, body)
        if trial.question:
            self._choose("answers", 0 if body["choice"] == "yes" else 1, body["choice"][0])

    def _read(self, times: list[float]) -> None:
        window = self.page.locator(".window")
        window.wait_for()
        for ms in (0.0, *times):
            self._wait(ms)
            if self.phone:
                window.tap()
            else:
                self.page.keyboard.press(" ")

    def _find_words(self, trial: Trial, body: dict[str, Any]) -> None:
        for place, (ms, wrong) in enumerate(zip(body["times"], body["wrong"], strict=True)):
            self._wait(ms)
            if wrong:
                self._word(trial.distractors[place])
                if self.plan.options.get("errors") == "stop":
                    return
            self._word(trial.words[place][0])

    def _word(self, text: str) -> None:
        buttons = self.page.locator(".maze button")
        buttons.filter(has_text=text).first.wait_for()
        side = next(side for side in (0, 1) if buttons.nth(side).inner_text() == text)
        self._choose("maze", side, str(side + 1))
