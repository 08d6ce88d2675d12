"""Evaluate a language model by predictions, measures or word lists, in memory or in a run directory."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from syntagm.core import Progress, UsageError, public
from syntagm.evaluation import DEFAULT, Eligible, Gaps, Measure, Measures, Predictions, Rule, Task, parse
from syntagm.models import LanguageModel, OwnModel, as_language_model
from syntagm.runs.carrying_out import carry_out
from syntagm.runs.engine import Cache
from syntagm.runs.evaluation import Evaluation, Job
from syntagm.runs.store import Run
from syntagm.suites import Draw, Excluded, Suites, WordList, excluded, read_word_list, suites_of


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
    convention: str = DEFAULT,
    exclude: Excluded = (),
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
        align: the rule that assigns tokens to regions; see `syntagm.evaluation.alignment`.
        convention: the number of a sentence that is compared, where predictions compare two whole sentences: the sum of
            bits, the name of another convention, or `published` for that of each dataset's authors.
        exclude: items that are left out, as pairs of suite and item; or a CSV file with these columns.
        cache: a cache of answers; see `syntagm.runs.cache`.
        progress: receives progress and warnings.

    Raises:
        UsageError: two suites have the same name, there are no suites, no prediction suits the model, or `stop_at` is not
            between 0 and 0.5, or is given beside a limit or measures.
        InputError: a suite is malformed; see `check_suites`.
        Interrupted: `progress` requested a stop.

    >>> from syntagm.suites import read_suites
    >>> from syntagm.models.names import load
    >>> run = evaluate(load("toy"), read_suites("hu2020/mvrr"), limit=5)
    >>> run.results("mvrr").height, run.suites[0].tags["sample"]
    (5, '5 of 28 items, seed 1')
    """
    return run_suites(
        model, suites, None, measures=measures, limit=limit, stop_at=stop_at, seed=seed, align=align,
        convention=convention, exclude=exclude, cache=cache, progress=progress,
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
    convention: str = DEFAULT,
    exclude: Excluded = (),
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
        align: the rule that assigns tokens to regions; see `syntagm.evaluation.alignment`.
        convention: the number of a sentence that is compared, where predictions compare two whole sentences: the sum of
            bits, the name of another convention, or `published` for that of each dataset's authors.
        exclude: items that are left out, as pairs of suite and item; or a CSV file with these columns.
        cache: a cache of answers; see `syntagm.runs.cache`.
        progress: receives progress and warnings.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed (see `check_suites`), or its file was changed during the run.
        UsageError: as in `evaluate`.
        RunError: the folder is in use, can't be written, or contains another run.
        Interrupted: `progress` requested a stop; making the same call again resumes the run.
    """
    job, task = _job(model, folder), task_of(measures or (), align, convention)
    found, listed = suites_of(suites), excluded.given(exclude)
    if listed:
        if isinstance(found, Iterator):
            # It yields the suites once, and the list is compared with them, too.
            found = list(found)
        excluded.refuse_unknown(listed, found)
    draw = Draw(limit, seed, stop_at, listed)
    return carry_out(Evaluation(task, found, (job,), draw, cache=cache, command=command), job, progress)


def _job(model: LanguageModel | OwnModel, folder: str | Path | None) -> Job:
    if folder == "":
        raise UsageError(
            "folder", "an empty text", "a folder, or None for a run in memory", "'.' is the current folder."
        )
    return Job(as_language_model(model), folder=None if folder is None else Path(folder))


def task_of(measures: Sequence[Measure | str], align: Rule, convention: str = DEFAULT) -> Task[Any]:
    """Return the task that computes measures, or the suites' own predictions if there are none."""
    parsed = [parse(measure) if isinstance(measure, str) else measure for measure in measures]
    judged = Predictions(align, convention)
    if parsed and convention != DEFAULT:
        raise UsageError(
            "convention", f"{convention} beside measures", "one of them", "A convention judges predictions."
        )
    return Measures(tuple(parsed), align) if parsed else judged


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
            `evaluation.gaps.context` explains which items have a context.
        words: the word list, or the name of a bundled list (`verbs`) or a file.
        folder: the run directory; None for a run in memory.
        limit: the maximum number of items per suite, drawn at random; the run records it.
        seed: the seed of the random draw.
        eligible: which rows of the list to use: "all" that the model can score, or only "single-token" rows.
        top, bottom: nucleus cut-offs as probability masses, in any order; see `evaluation.gaps.weights`. With a cut-off, only
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
    word_list = words if isinstance(words, WordList) else read_word_list(words)
    task = Gaps(word_list, eligible, tuple(top), tuple(bottom), shared, most_probable)
    found, job = suites_of(suites), _job(model, folder)
    return carry_out(Evaluation(task, found, (job,), Draw(limit, seed), command=command), job, progress)
