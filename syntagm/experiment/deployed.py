"""What the pages have that run without us: the plan of an experiment as data, and the texts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from markupsafe import Markup, escape

from syntagm.experiment import plan, texts
from syntagm.experiment.designs import HIGHEST, LOWEST
from syntagm.experiment.plan import Plan

_STRONG = re.compile(r"\*\*(.+?)\*\*")
_EMPHASIS = re.compile(r"(?<![*\w])[*_](?! )(.+?)(?<! )[*_](?![*\w])")


def html(text: str) -> Markup:
    """Return a text as HTML. Everything in it is escaped, so that it can't contain markup of its own.

    >>> print(html("# Hello\\n\\nYou *may* stop <now>.\\n\\n* one\\n* two"))
    <h1>Hello</h1>
    <p>You <em>may</em> stop &lt;now&gt;.</p>
    <ul><li>one</li><li>two</li></ul>
    """
    return Markup("\n").join(_blocks(text))


def _blocks(text: str) -> Iterator[Markup]:
    for block in re.split(r"\n\s*\n", text.strip()):
        lines = [line.strip() for line in block.splitlines() if line.strip()]
        if not lines:
            continue
        if heading := re.fullmatch(r"(#{1,3}) +(.+)", lines[0]):
            level = len(heading[1])
            yield Markup("<h%d>%s</h%d>") % (level, _inline(heading[2]), level)
            lines = lines[1:]
        if lines and all(re.match(r"[*-] ", line) for line in lines):
            yield Markup("<ul>%s</ul>") % Markup().join(Markup("<li>%s</li>") % _inline(line[2:]) for line in lines)
        elif lines:
            yield Markup("<p>%s</p>") % _inline(" ".join(lines))


def _inline(text: str) -> Markup:
    marked = _STRONG.sub(r"<strong>\1</strong>", str(escape(text)))
    return Markup(_EMPHASIS.sub(r"<em>\1</em>", marked))


KINDS = {
    "forced-choice": "pair", "acceptability": "rating", "yes-no": "verdict", "magnitude": "magnitude",
    "self-paced": "reading", "maze": "maze",
}  # fmt: skip


def people(made: Plan) -> list[tuple[int, list[plan.Shown]]]:
    """Return the list and the ordered trials of each planned person; people of all lists alternate."""
    count = len(made.lists)
    return [
        (number % count, plan.ordered(made, number % count, number // count)) for number in range(made.participants)
    ]


def data(folder: Path) -> dict[str, Any]:
    """Return the data of pages that run in a browser alone."""
    made, settings = plan.read(folder), texts.settings(folder)
    read = texts.read(folder, made.design)
    return {
        "plan": plan.digest(folder),
        "kind": KINDS[made.design.name],
        "title": settings.title,
        "consent": html(read.consent),
        "instructions": html(read.instructions),
        "question": read.question.strip(),
        "reference": read.reference,
        "debriefing": html(read.debriefing),
        "address": settings.address,
        "datapipe": settings.datapipe,
        "completion_code": settings.completion_code,
        # Only our server's page has hidden questions; here their texts are empty.
        "ask": [*(text if refused else "" for text, refused in made.questions), *settings.ask],
        "scale": list(range(LOWEST, HIGHEST + 1)),
        "errors": made.options.get("errors", "redo"),
        "trials": [
            {
                "id": trial.id, "texts": list(trial.texts), "choices": list(trial.choices),
                "words": [word for word, _ in trial.words], "distractors": list(trial.distractors), "question": trial.question,
            }
            for trial in made.trials
        ],
        "people": [{"list": number + 1, "trials": [[trial, first] for trial, first in shown]} for number, shown in people(made)],
    }  # fmt: skip
