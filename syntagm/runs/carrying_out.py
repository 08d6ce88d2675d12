"""Carrying out an evaluation: one model in this process, all models with workers, and the pilots of `--stop-at`."""

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl

from syntagm.core import Progress, SyntagmError, atomic
from syntagm.models import LanguageModel, families, names
from syntagm.runs import executors
from syntagm.runs.cache import AnswerCache
from syntagm.runs.computing import Work
from syntagm.runs.driver import drive
from syntagm.runs.engine import Cache, execute
from syntagm.runs.evaluation import Evaluation, Job
from syntagm.runs.executors import Executor
from syntagm.runs.ledger import locked
from syntagm.runs.store import Run
from syntagm.stats import precision
from syntagm.suites import Draw, SuiteFiles, sample_of


def carry_out(asked: Evaluation, job: Job, progress: Progress | None = None, before: Run | None = None) -> Run:
    """Evaluate one of the models of an evaluation in this process, or resume its run."""
    progress = progress or Progress()
    model = load(asked, job, progress)
    cache = _opened(asked.cache, progress)
    if asked.draw.needs_pilot:
        if isinstance(asked.suites, Iterator):
            # It yields the suites once, and the pilot needs them, too.
            asked = replace(asked, suites=list(asked.suites))
        asked = after_pilots(asked, [_pilot(asked, model, cache, progress)], progress)
    items, command = asked.draw.of(asked.suites), asked.command
    return execute(
        asked.task, model, items, job.folder, cache=cache, progress=progress, command=command, before=before,
        place=job.place,
    )  # fmt: skip


def load(asked: Evaluation, job: Job, progress: Progress) -> LanguageModel:
    """Load a model of an evaluation, after checking that it can do the task, and that its run directory can be written."""
    if isinstance(job.model, LanguageModel):
        return job.model
    refuse_unable(asked, job)
    if job.folder:
        with locked(job.folder):
            pass
    began = time.monotonic()
    # The engine shows the model's warnings, as it does for workers.
    model = names.load_permitted(job.model, asked.permissions, queries=asked.task.queries)
    progress.noted(f"loaded in {time.monotonic() - began:.2f} s")
    model.label = job.label
    return model


def refuse_unable(asked: Evaluation, job: Job) -> None:
    """Refuse a model as far as its name tells that it can't do the task. Its files may be elsewhere, where workers are."""
    declared = names.declared(job.name)
    asked.task.refuse_unasked(asked.suites, declared)
    families.refuse_unable(declared, asked.task.queries)


def check(asked: Evaluation, job: Job) -> None:
    """Check all of a model that can be checked without reading its weights; `load` checks the same."""
    refuse_unable(asked, job)
    names.check(job.name, asked.permissions, asked.task.queries)


def pilots(asked: Evaluation, progress: Progress, began: Callable[[int, Job], None]) -> Iterator[Run]:
    """Evaluate each model in memory on the items with which the samples of all sizes begin; see `after_pilots`."""
    for number, job in enumerate(asked.jobs, 1):
        began(number, job)
        try:
            model = load(asked, replace(job, folder=None), Progress())
            yield _pilot(asked, model, _opened(asked.cache, progress), progress)
        except SyntagmError as error:
            _name_pilot(f"{job.shown}, pilot", error)
            raise


def _pilot(asked: Evaluation, model: LanguageModel, cache: Cache | None, progress: Progress) -> Run:
    items = replace(asked.draw, limit=precision.PILOT).of(asked.suites)
    return execute(asked.task, model, items, None, cache=cache, progress=progress)


def _opened(cache: Cache | Path | None, progress: Progress) -> Cache | None:
    return AnswerCache(cache, progress.warned) if isinstance(cache, Path) else cache


def with_workers(asked: Evaluation, progress: Progress) -> Iterator[tuple[Job, Run | SyntagmError]]:
    """Evaluate the models with workers. Yield each model when it is finished or has failed."""
    # The suites must be a `SuiteFiles`, and the folder of the runs must exist: workers and this process exchange files
    # in it.
    yield from drive(asked.jobs, _work(asked, asked.draw), _folder(asked), _workers(asked), progress)


def pilots_of_workers(asked: Evaluation, progress: Progress) -> Iterator[Run]:
    """Compute the pilots of all models with workers, in a temporary folder."""
    with atomic.scratch(_folder(asked) / "pilots") as place:
        jobs = [
            replace(job, label=f"{job.shown}, pilot", folder=place / str(number))
            for number, job in enumerate(asked.jobs)
        ]
        work = _work(asked, replace(asked.draw, limit=precision.PILOT))
        for job, result in drive(jobs, work, place, _workers(asked), progress):
            if isinstance(result, SyntagmError):
                _name_pilot(job.label, result)
                raise result
            yield result


def _work(asked: Evaluation, draw: Draw) -> Work:
    assert isinstance(asked.suites, SuiteFiles), "workers read the suites themselves"
    assert asked.cache is None or isinstance(asked.cache, Path), "workers open the cache themselves"
    return Work(asked.task, asked.suites.files, draw, asked.cache, asked.command)


def _folder(asked: Evaluation) -> Path:
    assert asked.output, "workers write no runs in memory"
    return asked.output


def _workers(asked: Evaluation) -> Executor:
    executor = executors.find(asked.executor)
    executor.permissions = asked.permissions
    return executor


def _name_pilot(label: str, error: SyntagmError) -> None:
    """Say in an error that it is of a model's pilot, without which no model can be evaluated."""
    error.place = f"{label}: {error.place}" if error.place else label
    error.cure = f"{error.cure} --stop-at needs a pilot of each model, so none was evaluated.".lstrip()


def after_pilots(asked: Evaluation, pilots: Iterable[Run], progress: Progress | None) -> Evaluation:
    """Return the evaluation with as many items of each suite as its pilots ask for; see `sizes_after`."""
    assert asked.draw.stop_at is not None, "only then there are pilots"
    return replace(asked, draw=replace(asked.draw, limit=sizes_after(pilots, asked.draw.stop_at, progress)))


def sizes_after(pilots: Iterable[Run], stop_at: float, progress: Progress | None) -> dict[str, int]:
    """Return how many items of each suite give the accuracy of every model an interval of this half-width."""
    # All models get the number that one of them needs most, so that they are compared on the same items. Pilots are
    # computed again when a run is resumed, with the same result.
    sizes: dict[str, int] = {}
    items: dict[str, int] = {}
    for run in pilots:
        for suite in run.suites:
            sample = sample_of(suite.tags)
            items[suite.name] = sample.of if sample else suite.items
            first = next(iter(suite.predictions_for("first")), None)
            values = run.results(suite.name).filter(pl.col("measure") == first)["value"]
            defined = int(values.is_not_nan().sum())
            # A suite without a defined item has no accuracy: all its items are evaluated.
            size = items[suite.name]
            if first and defined:
                size = precision.items_after(int(values.fill_nan(0).sum()), defined, len(values), stop_at)
            sizes[suite.name] = max(size, sizes.get(suite.name, 0))
    for name, size in sizes.items():
        if size > items[name]:
            (progress or Progress()).warned(f"{name}: {items[name]} items are too few for a half-width of {stop_at:g}")
    return sizes
