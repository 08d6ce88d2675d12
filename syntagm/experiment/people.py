"""Answers as results: a run of people, with the record and the tables of every run."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from syntagm.core import Progress, UsageError
from syntagm.evaluation import people
from syntagm.experiment import answers
from syntagm.experiment.answers import COLUMNS, Answer, Applied, Audit
from syntagm.experiment.plan import Plan
from syntagm.models import LanguageModel
from syntagm.runs import Run, engine

_ASKS: Mapping[str, people.Asks] = {
    "forced-choice": "pairs", "yes-no": "verdicts", "acceptability": "ratings", "magnitude": "magnitudes",
    "self-paced": "times", "maze": "times",
}  # fmt: skip
_LABEL = re.compile(r"[\w.\-]{1,60}")


class Group(LanguageModel):
    """The people of a study in the place of a model. They have answered already, and can't be asked again."""

    worth_caching = False

    def __init__(self, label: str, fingerprint: str, record: Mapping[str, object]) -> None:
        self.name, self.fingerprint, self.record = f"people:{label}", fingerprint, record
        self.sees, self.settings = "both", {}

    def score(self, texts: Sequence[str], done: Any = None) -> Iterator[Any]:
        """Refuse: people have no surprisals."""
        raise UsageError(self.name, "people, who have no surprisals", "a language model")


def run_of(
    made: Plan,
    digest: str,
    given: Sequence[Answer],
    audit: Audit,
    label: str,
    folder: Path | None,
    progress: Progress | None = None,
    command: str = "",
    simulated: bool = False,
) -> tuple[Run, Applied]:
    if not _LABEL.fullmatch(label):
        raise UsageError("--label", repr(label), "letters, digits, '_', '.' and '-', at most 60")
    if not given:
        raise UsageError(f"people:{label}", "no answers", "at least one")
    applied = answers.apply(made, given, audit.refused)
    rows = list(answers.rows(made, given, applied.excluded))
    trials = made.by_id
    tables = {
        suite.name: [row for row in rows if row.suite == suite.name and trials[row.trial].role == "critical"]
        for suite in made.suites
    }
    frames = {name: _frame(found) for name, found in tables.items()}
    everyone = list(dict.fromkeys(answer.person for answer in given))
    counts = Counter[str]({"people": len(everyone), "excluded people": len(applied.people), "answers": len(given)})
    counts.update({f"excluded, {reason}": count for reason, count in Counter(applied.people.values()).items()})
    counts.update({"simulated people": len(everyone)} if simulated else {})
    counts.update({kind: len(places) for kind, places in audit.found.items()})
    content = hashlib.sha256(repr([row.cells for row in rows]).encode()).hexdigest()
    about = {"design": made.design.name, "plan": digest, "exclusions": made.rules}
    group = Group(label, hashlib.sha256(f"people 1|{label}|{digest}|{content}".encode()).hexdigest(), dict(counts))
    task = people.People(_ASKS[made.design.name], frames, about, dict(counts))
    return engine.execute(task, group, made.suites, folder, progress=progress, command=command), applied


def _frame(rows: Sequence[answers.Row]) -> pl.DataFrame:
    columns = {name: [getattr(row, name) for row in rows] for name in COLUMNS}
    return pl.DataFrame(columns, schema=people.ANSWERS)
