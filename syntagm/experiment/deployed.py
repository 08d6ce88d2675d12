"""What the pages have that run without us: the plan of an experiment as data, and the texts."""

from pathlib import Path
from typing import Any

from syntagm.experiment import order, plan, texts
from syntagm.experiment.designs import HIGHEST, LOWEST
from syntagm.experiment.markup import html
from syntagm.experiment.plan import Plan

KINDS = {
    "forced-choice": "pair", "acceptability": "rating", "yes-no": "verdict", "magnitude": "magnitude",
    "self-paced": "reading", "maze": "maze",
}  # fmt: skip


def people(made: Plan) -> list[tuple[int, list[order.Shown]]]:
    """Return the list and the ordered trials of each planned person; people of all lists alternate."""
    count = len(made.lists)
    return [
        (number % count, order.of_person(made, number % count, number // count)) for number in range(made.participants)
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
