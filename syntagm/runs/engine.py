"""The engine: plan a task, compute its units and commit them. A killed process loses at most one unit.

    plan -> open the ledger -> for each missing unit: ask, judge, commit -> finish

A unit is computed by a pure function of its content and the model (`compute`); only the engine writes.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from syntagm.core import InputError, Progress, SyntagmError, UsageError, counted
from syntagm.evaluation import Judged, Options, Plan, Task, Unit, suite_hash
from syntagm.models import Asking, LanguageModel, Surprisals, families, frozen
from syntagm.runs.ledger import Ledger, is_unchanged, locked, opening, options_of
from syntagm.runs.memory import MemoryLedger
from syntagm.runs.store import Run
from syntagm.suites import SHOWN_BY_RUNS, Finding, Suite, violations

# The number of texts after which a model that computes each on its own is asked again what it has answered before.
_CONFIRMED = 256
# How the texts of a run are scored: `Asking.score`, or `Asking.reduce`.
_Score: TypeAlias = Callable[[Sequence[str], Callable[[int], None]], Iterator[Surprisals]]


class Cache(Protocol):
    """A cache of answers from earlier runs; see `syntagm.runs.cache`."""

    def get(self, model: LanguageModel, texts: Sequence[str], reduced: bool = False) -> dict[str, Surprisals]:
        """Return a mapping from each cached text among `texts` to its answer; if `reduced`, to one with reductions."""

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
    before: Run | None = None,
    place: int | None = None,
) -> Run:
    """Run a task, or resume the run that the folder already contains."""
    # The suites are iterated over twice, so that files can be read one at a time; an iterator is
    # converted to a list.
    progress = progress or Progress()
    suites = list(suites) if isinstance(suites, Iterator) else suites
    with _ledger(folder, place) as ledger:
        began = time.monotonic()
        if (
            before
            and folder
            and isinstance(ledger, Ledger)
            and is_unchanged(Path(folder), task, model, before.record["suites"])
        ):
            ledger.renew_place()
            finished = ledger.run()
            finished.report_finished(progress)
            progress.noted(f"checked in {time.monotonic() - began:.2f} s")
            return finished
        options, plan = planned(task, model, suites, ledger.options)
        for warning in plan.warnings:
            progress.warned(warning)
        missing = ledger.open(opening(task, model, options, plan, command), progress)
        progress.noted(
            f"planned in {time.monotonic() - began:.2f} s; units to compute: {len(missing):,} of {len(plan.units):,}"
        )
        asking = Asking(model)
        if not model.steady and 0 < len(missing) < len(plan.units):
            recall(asking, ledger.run().first_answer())
        with ledger.finishing():
            for suite, units in missing_units(suites, missing, plan):
                for unit, content in task.contents(suite, units, plan, model, options):
                    began = time.monotonic()
                    judged, cached = compute(task, asking, unit, content, cache, progress)
                    computed = time.monotonic()
                    ledger.commit(unit, judged, cached)
                    done = f"{unit}: {unit.size:,} {task.noun}s in {computed - began:.2f} s, {cached:,} answers from the cache"
                    progress.noted(f"{done}; committed in {time.monotonic() - computed:.3f} s")
            began = time.monotonic()
        progress.noted(f"results written in {time.monotonic() - began:.2f} s")
    return ledger.run()


def planned(task: Task[Any], model: LanguageModel, suites: Iterable[Suite], recorded: Options) -> tuple[Options, Plan]:
    families.refuse_unable(model, task.queries)
    options = options_of(task, model, recorded)
    noted: list[Finding] = []
    plan = task.plan(well_formed(suites, noted), model, options)
    # Models over words divide texts themselves, and know marks that stand apart.
    noted = [finding for finding in noted if finding.code != "W310" or "tokens" not in model.settings]
    about_model = (f"{model.name}: {warning}" for warning in model.warnings)
    return options, replace(plan, warnings=(*about_model, *_warnings(noted), *plan.warnings))


def _warnings(noted: Sequence[Finding]) -> Iterator[str]:
    """Yield the first finding of each code, with the number of suites that have another."""
    for code in dict.fromkeys(finding.code for finding in noted):
        first, *others = [finding for finding in noted if finding.code == code]
        suites = {finding.suite for finding in others} - {first.suite}
        yield str(first) + (f" ({code} in {counted(len(suites), 'more suite')}.)" if suites else "")


@contextlib.contextmanager
def _ledger(folder: str | Path | None, place: int | None) -> Iterator[Ledger | MemoryLedger]:
    if folder is None:
        yield MemoryLedger()
    else:
        with locked(Path(folder)):
            yield Ledger(Path(folder), place)


def recall(asking: Asking, answer: Surprisals | None) -> None:
    """Ask a model again about a text that was scored when the run was begun; `Run.first_answer` has it."""
    if answer:
        asking.recall(answer)
        asking.confirm()


def compute(
    task: Task[Any], asking: Asking, unit: Unit, content: Any, cache: Cache | None, progress: Progress
) -> tuple[Judged, int]:
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
                yield from asking.fill(portion, done)  # type: ignore[arg-type]  # `ask` returned gaps
            else:
                cached_answers = _cached(cache, asking.model, portion, task.reduces)  # type: ignore[arg-type]
                cached += len(cached_answers)
                score = asking.reduce if task.reduces else asking.score
                yield from _score_portion(asking, score, portion, cached_answers, cache, done)  # type: ignore[arg-type]

    judged = task.judge(content, answers())
    if task.needs == "fill":
        asking.confirm()
    # A question that several items share is asked once, and counts as answered for all of them here.
    progress.answered(unit.suite, unit.size - answered)
    return judged, cached


def _cached(cache: Cache | None, model: LanguageModel, texts: Sequence[str], reduced: bool) -> dict[str, Surprisals]:
    if cache is None:
        return {}
    # A cache of a user's own may know nothing of reductions.
    cached = cache.get(model, texts, reduced=True) if reduced else cache.get(model, texts)
    return {text: frozen(answer, cache) for text, answer in cached.items()}


def _score_portion(
    asking: Asking,
    score: _Score,
    texts: Sequence[str],
    cached_answers: dict[str, Surprisals],
    cache: Cache | None,
    done: Callable[[int], None],
) -> Iterator[Surprisals]:
    # Portions don't depend on the content of the cache, and the answers of each are cached as soon as it is finished.
    # So a run that is resumed after a kill computes each portion either fully or not at all. A model that computes each
    # text on its own, such as one on a server, loses little: what it answered before an error is cached, too.
    # No answer is used or cached before the model has confirmed that it has not changed.
    if cached_answers:
        done(len(cached_answers))
        for answer in cached_answers.values():
            asking.recall(answer)
    missing = [text for text in texts if text not in cached_answers]
    answers = dict(cached_answers)
    size = _CONFIRMED if asking.model.one_by_one else len(texts)
    for first in range(0, max(1, len(missing)), size):
        computed = _confirmed(asking, score, missing[first : first + size], cache, done)
        if cache and computed:
            cache.put(asking.model, computed.values())
        answers |= computed
    for text in texts:
        yield answers[text]


def _confirmed(
    asking: Asking, score: _Score, texts: Sequence[str], cache: Cache | None, done: Callable[[int], None]
) -> dict[str, Surprisals]:
    """Score texts, and ask the model again; if it fails before, cache what it has answered and can confirm."""
    computed: dict[str, Surprisals] = {}
    try:
        for answer in score(texts, done) if texts else ():
            computed[answer.text] = answer
    except BaseException:
        if cache and computed and asking.model.one_by_one:
            with contextlib.suppress(SyntagmError):
                asking.confirm()
                cache.put(asking.model, computed.values())
        raise
    asking.confirm()
    return computed


def well_formed(suites: Iterable[Suite], noted: list[Finding] | None = None) -> Iterator[Suite]:
    """Yield the suites, checking each one first."""
    names: set[str] = set()
    for suite in suites:
        findings = list(violations([suite]))
        if noted is not None:
            noted += [finding for finding in findings if finding.code in SHOWN_BY_RUNS]
        if errors := [str(finding) for finding in findings if finding.error]:
            cure = f"The first: {errors[0]} Run `syntagm check` to list all of them."
            raise InputError(f"suite {suite.name}", f"errors: {len(errors)}", "no errors", cure)
        if suite.name in names:
            cure = "Results are stored by name: rename one of them."
            raise UsageError(f"suite {suite.name}", "two suites with this name", "only one", cure)
        names.add(suite.name)
        yield suite
    if not names:
        raise UsageError("--suite", "no suites", "at least one suite")


def missing_units(suites: Iterable[Suite], missing: Sequence[Unit], plan: Plan) -> Iterator[tuple[Suite, list[Unit]]]:
    """Yield each suite that has missing units, with these units. If no unit is missing, no suite is read."""
    units: dict[str, list[Unit]] = {}
    for unit in missing:
        units.setdefault(unit.suite, []).append(unit)
    hashes = {suite.name: suite.hash for suite in plan.suites}
    for suite in suites if units else ():
        if suite_units := units.pop(suite.name, None):
            if suite_hash(suite) != hashes[suite.name]:
                raise _changed(suite.name, "it has changed since the run began")
            yield suite, suite_units
    for name in units:
        raise _changed(name, "it has disappeared since the run began")


def _changed(suite: str, reason: str) -> InputError:
    return InputError(
        f"suite {suite}", reason, "files that do not change during a run",
        "Restore the suite and run the same command again, or choose another folder.",
    )  # fmt: skip
