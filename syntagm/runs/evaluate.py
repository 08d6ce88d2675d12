"""Evaluate a language model by predictions, measures or word lists, in memory or in a run directory."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from syntagm.arguments import public
from syntagm.errors import UsageError
from syntagm.materials.suite_files import Suites, suites_of
from syntagm.models.contract import LanguageModel
from syntagm.models.in_memory import OwnModel, as_language_model
from syntagm.progress import Progress
from syntagm.runs.engine import Cache, execute
from syntagm.runs.store import Run
from syntagm.stats import precision
from syntagm.suite import Sampled, Suite, sample_of
from syntagm.tasks.align import Rule
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.tasks.gaps.task import Gaps
from syntagm.tasks.measure import Measure
from syntagm.tasks.measured import Measures
from syntagm.tasks.measures import parse
from syntagm.tasks.predictions.task import Predictions
from syntagm.tasks.task import Task
from syntagm.word_list import WordList, read


@public
def evaluate(
    model: LanguageModel | OwnModel,
    suites: Suites,
    *,
    measures: Sequence[Measure | str] | None = None,
    limit: int | None = None,
    stop_at: float | None = None,
    seed: int = 1,
    align: Rule = "strict",
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Run:
    """Evaluate a model on suites in memory. Nothing is written to disk; the run has the same interface as one in a folder.

    Arguments:
        model: the model; or an object with the method `score`, as a class of your own has it in a Python file.
        suites: the suites, or names as in `read_suites`. They are iterated over twice; an iterator is converted to a list.
        measures: measures that replace the predictions of the suites, as objects or as text:
            `surprisal(condition=good, region=verb)`.
        limit: the maximum number of items per suite, drawn at random; the run records it.
        stop_at: the half-width of the 95% interval of each suite's accuracy for which a pilot chooses the number of items,
            instead of a limit; see `stats.precision`. The run records it.
        seed: the seed of the random draw.
        align: the rule that assigns tokens to regions; see `syntagm.tasks.align`.
        cache: a cache of answers; see `syntagm.runs.cache`.
        progress: receives progress and warnings.

    Raises:
        UsageError: two suites have the same name, there are no suites, no prediction suits the model, or `stop_at` is not
            between 0 and 0.5, or is given beside a limit or measures.
        InputError: a suite is malformed; see `syntagm.check`.
        Interrupted: `progress` requested a stop.

    >>> from syntagm.materials.suite_files import read_suites
    >>> from syntagm.models.names import load
    >>> run = evaluate(load("toy"), read_suites("hu2020/mvrr"), limit=5)
    >>> run.results("mvrr").height, run.suites[0].tags["sample"]
    (5, '5 of 28 items, seed 1')
    """
    return run_suites(
        model, suites, None, measures=measures, limit=limit, stop_at=stop_at, seed=seed, align=align, cache=cache,
        progress=progress,
    )  # fmt: skip


@public
def run_suites(
    model: LanguageModel | OwnModel,
    suites: Suites,
    folder: str | Path | None,
    *,
    measures: Sequence[Measure | str] | None = None,
    limit: int | None = None,
    stop_at: float | None = None,
    seed: int = 1,
    align: Rule = "strict",
    cache: Cache | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Evaluate a model on suites and write a run directory, or resume the run that it already contains.

    Arguments:
        model: the model; or an object with the method `score`, as a class of your own has it in a Python file.
        suites: the suites, or names as in `read_suites`. They are iterated over twice, so that files can be read one at a
            time; an iterator is converted to a list.
        folder: the run directory; None for a run in memory, as in `evaluate`.
        measures: measures that replace the predictions of the suites, as objects or as text.
        limit: the maximum number of items per suite, drawn at random; the run records it.
        stop_at: the half-width of the 95% interval of each suite's accuracy for which a pilot chooses the number of items,
            instead of a limit; see `stats.precision`. The run records it.
        seed: the seed of the random draw.
        align: the rule that assigns tokens to regions; see `syntagm.tasks.align`.
        cache: a cache of answers; see `syntagm.runs.cache`.
        progress: receives progress and warnings.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed (see `syntagm.check`), or its file was changed during the run.
        UsageError: as in `evaluate`.
        RunError: the folder is in use, can't be written, or contains another run.
        Interrupted: `progress` requested a stop; making the same call again resumes the run.
    """
    asked, task = as_language_model(model), task_of(measures or (), align)
    sample = drawn(
        task, asked, suites_of(suites), limit=limit, seed=seed, stop_at=stop_at, cache=cache, progress=progress
    )
    return execute(task, asked, sample, folder, cache=cache, progress=progress, command=command)


def task_of(measures: Sequence[Measure | str], align: Rule) -> Task[Any]:
    """Return the task that computes measures, or the suites' own predictions if there are none.

    Raises:
        UsageError: a measure does not exist.
    """
    parsed = [parse(measure) if isinstance(measure, str) else measure for measure in measures]
    return Measures(tuple(parsed), align) if parsed else Predictions(align)


def drawn(
    task: Task[Any],
    model: LanguageModel,
    suites: Iterable[Suite],
    *,
    limit: int | None,
    seed: int,
    stop_at: float | None,
    cache: Cache | None,
    progress: Progress | None,
) -> Sampled:
    """Return the items of the suites that a run evaluates: all, a limited number, or as many as a pilot chooses.

    Raises:
        UsageError: as in `refuse_beside_stop_at`.
    """
    if stop_at is None:
        return Sampled(suites, limit, seed)
    refuse_beside_stop_at(task, limit, stop_at)
    kept = list(suites) if isinstance(suites, Iterator) else suites
    sizes = sizes_after([pilot(task, model, kept, seed, stop_at, cache, progress)], stop_at, progress)
    return Sampled(kept, sizes, seed, stop_at)


def refuse_beside_stop_at(task: Task[Any], limit: int | None, stop_at: float) -> None:
    """Refuse a half-width for which a pilot can't choose the number of items.

    Raises:
        UsageError: `stop_at` is not between 0 and 0.5, or is given beside a limit or measures.
    """
    if limit is not None or not isinstance(task, Predictions):
        other = "a limit" if limit is not None else "measures"
        raise UsageError("--stop-at", f"{other} beside it", "one of them", "It chooses the items by predictions.")
    if not 0 < stop_at < 0.5:
        raise UsageError("--stop-at", f"{stop_at:g}", "a half-width between 0 and 0.5, for example 0.05")


def pilot(
    task: Task[Any],
    model: LanguageModel,
    suites: Iterable[Suite],
    seed: int,
    stop_at: float,
    cache: Cache | None,
    progress: Progress | None,
) -> Run:
    """Evaluate a model in memory on the items with which the samples of all sizes begin; see `sizes_after`."""
    return execute(task, model, Sampled(suites, precision.PILOT, seed, stop_at), None, cache=cache, progress=progress)


def sizes_after(pilots: Iterable[Run], stop_at: float, progress: Progress | None) -> dict[str, int]:
    """Return how many items of each suite give the accuracy of every model an interval of this half-width.

    All models get the number that one of them needs most, so that they are compared on the same items. Pilots are computed
    again when a run is resumed, with the same result.

    Arguments:
        pilots: the runs of the pilots of all models.
        stop_at: the half-width.
        progress: receives a warning about each suite that is too small.
    """
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


@public
def fill(
    model: LanguageModel | OwnModel,
    suites: Suites,
    words: WordList | str | Path,
    folder: str | Path | None = None,
    *,
    limit: int | None = None,
    seed: int = 1,
    eligible: Eligible = "all",
    top: Sequence[float] = (),
    bottom: Sequence[float] = (),
    shared: bool = False,
    most_probable: int = 0,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Evaluate a model by TSE, EW and MW (Newman et al. 2021), or resume the run that the folder already contains.

    Arguments:
        model: the model, as in `evaluate`.
        suites: the suites, or names as in `read_suites`. They are iterated over twice; an iterator is converted to a list.
            `tasks.gaps.context` explains which items have a context.
        words: the word list, or the name of a bundled list (`verbs`) or a file.
        folder: the run directory; None for a run in memory.
        limit: the maximum number of items per suite, drawn at random; the run records it.
        seed: the seed of the random draw.
        eligible: which rows of the list to use: "all" that the model can score, or only "single-token" rows.
        top, bottom: nucleus cut-offs as probability masses, in any order; see `tasks.gaps.shares`. With a cut-off, only
            rows whose forms are single tokens count.
        shared: whether the gap replaces the word that an item's sentences share, instead of the word in which they
            differ.
        most_probable: the number of most probable entries of the model's vocabulary to keep for each context, which the
            view `top_words` shows.
        progress: receives progress and warnings.
        command: the command line, for the record.

    Raises:
        ModelError: the model can't fill gaps, or can't list the entries of its vocabulary.
        InputError: a suite is malformed or was changed during the run, or no item has a context.
        UsageError: two suites have the same name, there are no suites, or a cut-off is not a proportion.
        RunError: the folder is in use, can't be written, or contains another run.
        Interrupted: `progress` requested a stop; making the same call again resumes the run.
    """
    word_list = words if isinstance(words, WordList) else read(words)
    task = Gaps(word_list, eligible, tuple(top), tuple(bottom), shared, most_probable)
    sample = Sampled(suites_of(suites), limit, seed)
    return execute(task, as_language_model(model), sample, folder, progress=progress, command=command)
