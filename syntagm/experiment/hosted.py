"""The pages of a study on our own server: for people who take part, and for the experimenter.

People need neither the token nor the password. Whoever agrees gets a place and its address, /study/SECRET, whose secret is
random; the file of answers has only its hash. Trials are numbered in the order of the person, so that a page tells
neither conditions nor which trials check attention.
"""

import json
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from markupsafe import Markup
from starlette.responses import JSONResponse, Response

from syntagm.core import InputError, RunError, UsageError, csv, shown, utf8
from syntagm.experiment import alarms, answers, plan, texts
from syntagm.experiment.deployed import KINDS, html
from syntagm.experiment.designs import HIGHEST, LOWEST
from syntagm.experiment.plan import Trial
from syntagm.experiment.store import Person, Study
from syntagm.report import Asked, Missing, Route, content, download, html_page, moved, shell

_PAGES = Path(__file__).resolve().parent / "pages"
STYLE, SCRIPT = (utf8.read(_PAGES / name) for name in ("study.css", "study.js"))
# The most bytes of an answer: the times of a sentence of 1,000 words.
MAX_ANSWER = 50_000
# The fields of the address by which panels name a person.
PANELS = ("PROLIFIC_PID", "participant", "id", "workerId")
_MAX_ID = 200
_PAUSED = "This study is paused. Please come again later."
_CLOSED = "This study has ended. Thank you for your interest."
_FULL = "All places of this study are taken at the moment. Please come again later."
_TAKEN = "You were away for long, and your place was given to somebody else. Thank you for what you did; it is kept."
_LATER = "This study can't be reached at the moment. Please come again later."
_UNKNOWN = "This address belongs to nobody who takes part."
_DISK = "Your answer could not be stored at the moment. It is kept in your browser, and sent again."


class Hosted:
    """A study with its pages."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self.texts = texts.read(study.folder, study.plan.design)
        self.name = plan.digest(study.folder)
        study.connect()

    def routes(self) -> list[Route]:
        return [
            Route("/study.css", lambda asked: content(STYLE.encode(), "text/css"), "open"),
            Route("/study.js", lambda asked: content(SCRIPT.encode(), "text/javascript"), "open"),
            Route("/take", self._public(self.consent), "open"),
            Route("/take", self._public(self.begin), "open", ("POST",)),
            Route("/study/{secret}", self._public(self.shown), "open"),
            Route("/study/{secret}/state", self._answering(self.state), "open"),
            Route("/study/{secret}/answer", self._answering(self.answer), "open", ("POST",)),
            Route("/study/{secret}/finish", self._answering(self.finish), "open", ("POST",)),
            Route("/experiment", self.overview),
            Route("/experiment", self.change, methods=("POST",)),
            Route("/experiment/answers.csv", self.export),
            Route("/experiment/preview/{list}", self.preview),
            Route("/experiment/state/{list}", self.preview_state),
        ]

    def consent(self, asked: Asked) -> Response:
        """Show the consent form. Looking at it takes no place."""
        if self.study.state() != "open":
            return self._message(_PAUSED if self.study.state() == "paused" else _CLOSED)
        known = next((value for name in PANELS if (value := asked.field(name))), "")
        if len(known) > _MAX_ID:
            raise InputError("the address", "an id that is too long", f"at most {_MAX_ID} characters")
        form = (
            Markup(
                '<form method="post" action="/take"><input type="hidden" name="id" value="%s">'
                '<button class="main">I agree, and want to begin</button></form>'
            )
            % known
        )
        return self._page(html(self.texts.consent) + form, take=self.name)

    def begin(self, asked: Asked) -> Response:
        """Give a place to somebody who agrees, and lead to its address."""
        state = self.study.state()
        if state != "open":
            return self._message(_PAUSED if state == "paused" else _CLOSED)
        known = asked.form().get("id", "")
        if len(known) > _MAX_ID:
            raise InputError("the form", "an id that is too long", f"at most {_MAX_ID} characters")
        admitted = self.study.admit(known)
        return self._message(_FULL, 503) if admitted is None else moved(f"/study/{admitted[1]}")

    def shown(self, asked: Asked) -> Response:
        """Show the page on which a person takes part."""
        secret = asked.names["secret"]
        if self.study.person(secret) is None:
            raise Missing("the address", "no such place", "the address of a person who takes part", "Begin at /take.")
        return self._page(Markup("<p>One moment.</p>"), place=secret)

    def _public(self, respond: Callable[[Asked], Response]) -> Callable[[Asked], Response]:
        """Return a function that tells strangers nothing of the files of the study; the experimenter's terminal has it."""

        def answered(asked: Asked) -> Response:
            try:
                return respond(asked)
            except RunError as error:
                print(error, file=sys.stderr)
                return self._message(_LATER, 503)

        return answered

    def _answering(self, respond: Callable[[Asked, Person], Response]) -> Callable[[Asked], Response]:
        """Return a function that answers the script of a page, in JSON whatever happens."""

        def answered(asked: Asked) -> Response:
            try:
                person = self.study.person(asked.names["secret"])
                if person is None:
                    return JSONResponse({"stop": _CLOSED if self.study.state() == "closed" else _UNKNOWN}, 404)
                if self.study.state() == "closed" and not person.finished:
                    return JSONResponse({"stop": _CLOSED}, 410)
                return respond(asked, person)
            except (InputError, UsageError) as error:
                return JSONResponse({"refused": str(error)}, 400)
            except RunError as error:
                return JSONResponse({"later": _DISK, "why": error.found}, 503)

        return answered

    def state(self, asked: Asked, person: Person) -> Response:
        """Return the trials of a person, and which are answered."""
        current = person if person.finished else self.study.resume(person)
        if current is None:
            return JSONResponse({"stop": _TAKEN}, 409)
        shown_trials = self.study.trials_of(current)
        told = self._told(shown_trials)
        names = [self.study.plan.trials[number].id for number, _ in shown_trials]
        answered = [place for place, name in enumerate(names) if name in current.answered]
        finished = self._finished(current) if current.finished else None
        return JSONResponse({**told, "study": self.name, "answered": answered, "finished": finished})

    def _told(self, trials: Sequence[plan.Shown]) -> dict[str, Any]:
        made, settings = self.study.plan, self.study.settings
        return {
            "kind": KINDS[made.design.name], "title": settings.title, "instructions": html(self.texts.instructions),
            "question": self.texts.question.strip(), "reference": self.texts.reference, "ask": texts.asked_at_end(made, settings),
            "hidden": [place for place, (_, refused) in enumerate(made.questions) if not refused],
            "scale": list(range(LOWEST, HIGHEST + 1)), "errors": made.options.get("errors", "redo"),
            "trials": [trial_of(made.trials[number], first, place) for place, (number, first) in enumerate(trials)],
        }  # fmt: skip

    def answer(self, asked: Asked, person: Person) -> Response:
        """Store an answer, and return its receipt. A replay gets the same receipt."""
        body = body_of(asked)
        trials = self.study.trials_of(person)
        place = body.pop("n", None)
        if type(place) is not int or not 0 <= place < len(trials):
            raise InputError("answer", f"the trial {str(place)[:50]}", f"0 to {len(trials) - 1}")
        number, first = trials[place]
        stored = self.study.answer(person, stored_answer(self.study.plan.trials[number], first, body))
        return JSONResponse({"stored": True, "new": stored})

    def finish(self, asked: Asked, person: Person) -> Response:
        said = body_of(asked).get("said", [])
        if not isinstance(said, list) or not all(isinstance(text, str) for text in said):
            raise InputError("finish", "no list of texts", "the answers to the questions at the end")
        if not self.study.finish(person, said):
            return JSONResponse({"missing": True}, 409)
        return JSONResponse({"finished": True, **self._finished(person)})

    def _finished(self, person: Person) -> dict[str, Any]:
        code = self.study.settings.completion_code
        prolific = code and len(code) < 40 and code.isalnum()
        complete = f"https://app.prolific.com/submissions/complete?cc={code}" if prolific else ""
        return {
            "code": person.code,
            "completion_code": code,
            "complete": complete,
            "debriefing": html(self.texts.debriefing),
        }

    def overview(self, asked: Asked) -> Response:
        progress, made = self.study.progress(), self.study.plan
        done, live, gone = progress.totals
        rung = alarms.of_study(self.study, ())
        variables = {
            "title": self.study.settings.title,
            "state": progress.state,
            "simulated": self.study.simulated,
            "facts": [
                ("design", made.design.name), ("finished", f"{done} of {made.participants}"), ("taking part", live),
                ("gone", gone), ("answers", f"{progress.answers:,}"),
                ("median time", "" if progress.minutes is None else f"{progress.minutes:.1f} minutes"),
            ],
            "lists": [
                (number, *kinds, quota)
                for number, (kinds, quota) in enumerate(zip(progress.lists, progress.quotas, strict=True), 1)
            ],
            "alarms": [(alarm.person, shown(alarm.sentence)) for alarm in rung],
            "buttons": [
                (name, text)
                for name, text in (("open", "Open"), ("paused", "Pause"), ("closed", "Close"))
                if name != progress.state
            ],
            "rules": made.rules,
        }  # fmt: skip
        inner = shell.render_part("overview.html", variables, _PAGES)
        return html_page(shell.render("plain.html", {"heading": "Experiment", "content": Markup(inner)}, shell.LINKED))

    def change(self, asked: Asked) -> Response:
        """Open, pause or close the study."""
        match asked.form().get("state"):
            case "open" | "paused" | "closed" as state:
                self.study.set_state(state)
            case other:
                raise UsageError("state", repr(other), "open, paused or closed")
        return moved("/experiment")

    def export(self, asked: Asked) -> Response:
        table = answers.table(self.study.plan, self.study.answers(), self.study.refused())
        return download("".join(csv.lines(*table)).encode(), "text/csv", "answers.csv")

    def preview(self, asked: Asked) -> Response:
        """Show the pages of a list; nothing is recorded."""
        return self._page(Markup("<p>One moment.</p>"), preview=str(self._list(asked) + 1))

    def preview_state(self, asked: Asked) -> Response:
        """Return the trials of the first person on a list."""
        trials = plan.ordered(self.study.plan, self._list(asked), 0)
        return JSONResponse({**self._told(trials), "study": self.name, "answered": [], "finished": None})

    def _list(self, asked: Asked) -> int:
        text, count = asked.names["list"], len(self.study.plan.lists)
        if not text.isdecimal() or len(text) > 9 or not 1 <= int(text) <= count:
            raise Missing("the address", f"list {text[:20]!r}", f"1 to {count}")
        return int(text) - 1

    def _page(self, body: Markup, script: bool = True, status: int = 200, **data: str) -> Response:
        settings = self.study.settings
        variables = {
            "language": settings.language,
            "title": settings.title,
            "body": body,
            "script": script,
            "data": data,
        }
        return html_page(shell.render_part("study.html", variables, _PAGES), status)

    def _message(self, text: str, status: int = 200) -> Response:
        title = self.study.settings.title
        return self._page(Markup("<h1>%s</h1><p>%s</p>") % (title, text), False, status)


def body_of(asked: Asked) -> dict[str, Any]:
    if asked.kind != "application/json" or len(asked.body) > MAX_ANSWER:
        raise InputError(
            asked.path[:100], f"{len(asked.body):,} bytes of {asked.kind[:50]}", f"JSON of at most {MAX_ANSWER:,} bytes"
        )
    try:
        value = json.loads(asked.body, parse_constant=_refuse, object_pairs_hook=_once)
        # A lone surrogate could be stored, but in no file of ours and in no answer to the page.
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        raise InputError(asked.path[:100], "no JSON", "an object in braces") from None
    if not isinstance(value, dict):
        raise InputError(asked.path[:100], "no object", "an object in braces")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a repeated key")
    return dict(pairs)


def _refuse(name: str) -> None:
    raise ValueError(name)


def trial_of(trial: Trial, first: bool, place: int) -> dict[str, Any]:
    """Return what a page needs to show a trial. Neither its name nor its conditions are among it."""
    told: dict[str, Any] = {"n": place, "practice": trial.role == "practice"}
    if trial.words:
        told["words"] = [word for word, _ in trial.words]
    else:
        told["texts"] = list(trial.texts if first or len(trial.texts) == 1 else trial.texts[::-1])
    if trial.distractors:
        told["distractors"] = list(trial.distractors)
    if trial.question:
        told["question"] = trial.question
    return told


def stored_answer(trial: Trial, first: bool, body: Mapping[str, Any]) -> dict[str, Any]:
    """Return an answer as it is stored: with the name of the trial, and of a pair the condition that was chosen."""
    stored = {**body, "trial": trial.id}
    if len(trial.texts) == 2:
        choice = body.get("choice")
        if type(choice) is not int or choice not in (1, 2):
            raise InputError("answer", f"the choice {str(choice)[:50]!r}", "1 or 2")
        stored["choice"] = trial.choices[(choice == 1) != first]
    return stored


def of_folder(folder: Path) -> Hosted:
    study = Study(folder)
    if (error := texts.unreachable(folder, study.plan.design)) and not study.simulated:
        raise error
    return Hosted(study)
