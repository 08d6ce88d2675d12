"""The engine: plan a task, compute its units, commit them, finish. A kill loses one unit at most.

    plan -> open the ledger -> for each missing unit: ask, judge, commit -> finish

A unit is computed by a pure function of its content and the model (`compute`); only the engine writes.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from syntagm.answers import Surprisals
from syntagm.check import check
from syntagm.errors import InputError, ModelError, UsageError
from syntagm.models.contract import LanguageModel
from syntagm.progress import Progress
from syntagm.runs.ledger import Ledger, locked
from syntagm.runs.memory import MemoryLedger
from syntagm.runs.store import Run
from syntagm.suite import Suite
from syntagm.tasks.slices import suite_hash
from syntagm.tasks.task import Judged, Plan, Task, Unit


class Cache(Protocol):
    """Answers kept from earlier runs; see `syntagm.runs.cache`."""

    def get(self, model: LanguageModel, texts: Sequence[str]) -> dict[str, Surprisals]:
        """Return the stored answers to some of `texts`."""

    def put(self, model: LanguageModel, answers: Iterable[Surprisals]) -> None:
        """Store answers."""


def execute(
    task: Task[Any],
    model: LanguageModel,
    suites: Iterable[Suite],
    folder: str | Path | None,
    *,
    cache: Cache | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Run a task into the run directory `folder`, or continue the run that stands there.

    Arguments:
        folder: None keeps the run in memory.
        suites: gone through twice, so that files can be read one at a time; an iterator is made a list.
        command: the command line, for the record.

    Raises:
        ModelError: the model can't do what the task needs.
        InputError: a suite is malformed, see `syntagm.check`; or its file changed between the two times it was read.
        UsageError: two suites have one name, or there is none; or there is nothing to ask.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call continues.
    """
    if task.needs not in model.can:
        raise ModelError(model.name, "this model fills no blanks", "one that does")
    progress = progress or Progress()
    suites = list(suites) if isinstance(suites, Iterator) else suites
    with _ledger(folder) as ledger:
        options = task.options(model, ledger.tolerance(model), ledger.options)
        plan = task.plan(well_formed(suites), model, options)
        for warning in plan.warnings:
            progress.warned(warning)
        missing = ledger.open(task, model, options, plan, command, progress)
        with ledger.finishing():
            for suite, units in left_to_do(suites, missing, plan):
                for unit, content in task.contents(suite, units, plan, model, options):
                    judged, cached = compute(task, model, unit, content, cache, progress)
                    ledger.commit(unit, judged, cached)
    return ledger.run()


@contextlib.contextmanager
def _ledger(folder: str | Path | None) -> Iterator[Ledger | MemoryLedger]:
    if folder is None:
        yield MemoryLedger()
    else:
        with locked(Path(folder)):
            yield Ledger(Path(folder))


def compute(
    task: Task[Any], model: LanguageModel, unit: Unit, content: Any, cache: Cache | None, progress: Progress
) -> tuple[Judged, int]:
    """Ask the questions of a unit and judge the answers.

    Returns:
        What came of it, and how many answers were in the cache.
    """
    questions = task.ask(content)
    answered = cached = 0

    def done(count: int) -> None:
        nonlocal answered
        answered += count
        progress.answered(unit.suite, count)

    def answers() -> Iterator[Any]:
        nonlocal cached
        for first in range(0, len(questions), task.portion):
            portion = questions[first : first + task.portion]
            if task.needs == "fill":
                yield from model.fill(portion, done)  # type: ignore[arg-type]  # `ask` returned gaps
            else:
                known = cache.get(model, portion) if cache else {}  # type: ignore[arg-type]
                cached += len(known)
                yield from _scored(model, portion, known, cache, done)  # type: ignore[arg-type]

    judged = task.judge(content, answers())
    # Sentences that items share are asked once.
    progress.answered(unit.suite, unit.size - answered)
    return judged, cached


def _scored(
    model: LanguageModel,
    texts: Sequence[str],
    known: dict[str, Surprisals],
    cache: Cache | None,
    done: Callable[[int], None],
) -> Iterator[Surprisals]:
    """Answer a portion of texts. Portions don't depend on what is cached, and each is kept as soon as it is done, so that a
    run which continues after a kill computes the same portions again, or none.
    """
    if known:
        done(len(known))
    missing = [text for text in texts if text not in known]
    fresh = {answer.text: answer for answer in model.score(missing, done)} if missing else {}
    if cache and fresh:
        cache.put(model, fresh.values())
    for text in texts:
        yield known[text] if text in known else fresh[text]


def well_formed(suites: Iterable[Suite]) -> Iterator[Suite]:
    """Give the suites one by one, for a plan.

    Raises:
        InputError: `syntagm check` finds an error in a suite.
        UsageError: two suites have one name, or there is none.
    """
    names: set[str] = set()
    for suite in suites:
        if errors := [str(finding) for finding in check([suite]) if finding.error]:
            cure = f"The first: {errors[0]} `syntagm check` lists all of them."
            raise InputError(f"suite {suite.name}", f"errors: {len(errors)}", "none", cure)
        if suite.name in names:
            cure = "Results are kept by name: rename one."
            raise UsageError(f"suite {suite.name}", "two suites of that name", "one", cure)
        names.add(suite.name)
        yield suite
    if not names:
        raise UsageError("--suite", "no suites", "at least one")


def left_to_do(suites: Iterable[Suite], missing: Sequence[Unit], plan: Plan) -> Iterator[tuple[Suite, list[Unit]]]:
    """Give the suites that have units to compute, with these; nothing is read when there are none.

    Raises:
        InputError: a suite is not what it was when the run was planned.
    """
    units: dict[str, list[Unit]] = {}
    for unit in missing:
        units.setdefault(unit.suite, []).append(unit)
    hashes = {suite.name: suite.hash for suite in plan.suites}
    for suite in suites if units else ():
        if own := units.pop(suite.name, None):
            if suite_hash(suite) != hashes[suite.name]:
                raise _changed(suite.name, "it has changed since the run began")
            yield suite, own
    for name in units:
        raise _changed(name, "it is gone since the run began")


def _changed(suite: str, found: str) -> InputError:
    return InputError(
        f"suite {suite}", found, "files that stay as they are while a run goes on",
        "Put back what it was and give the same command again, or choose another folder.",
    )  # fmt: skip
