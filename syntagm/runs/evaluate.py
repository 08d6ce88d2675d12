"""Evaluate a language model into a run directory: by the predictions of suites, by measures, or by a word list in gaps."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from syntagm.models.contract import LanguageModel
from syntagm.progress import Progress
from syntagm.runs.engine import Cache, execute
from syntagm.runs.store import Run
from syntagm.suite import Suite
from syntagm.tasks.align import Rule
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.tasks.gaps.task import Gaps
from syntagm.tasks.measure import Measure
from syntagm.tasks.measured import Measures
from syntagm.tasks.predictions.task import Predictions
from syntagm.word_list import WordList


def run(
    model: LanguageModel,
    suites: Iterable[Suite],
    folder: str | Path,
    *,
    measures: Sequence[Measure] = (),
    align: Rule = "strict",
    cache: Cache | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Evaluate `model` on `suites` into the run directory `folder`, or continue the run that stands there.

    Arguments:
        suites: gone through twice, so that files can be read one at a time; an iterator is made a list.
        measures: what to judge items by, in place of the predictions of the suites.
        align: which token belongs to which region, see `syntagm.tasks.align`.
        cache: answers of earlier runs, see `syntagm.runs.cache`.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed, see `syntagm.check`; or its file changed between the two times it was read.
        UsageError: two suites have one name, or there is none; or no prediction can be computed for this model.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call continues.
    """
    task = Measures(tuple(measures), align) if measures else Predictions(align)
    return execute(task, model, suites, folder, cache=cache, progress=progress, command=command)


def fill(
    model: LanguageModel,
    suites: Iterable[Suite],
    words: WordList,
    folder: str | Path,
    *,
    eligible: Eligible = "all",
    top: Sequence[float] = (),
    bottom: Sequence[float] = (),
    shared: bool = False,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Judge `model` by TSE, EW and MW into the run directory `folder`, or continue the run that stands there.

    Arguments:
        suites: gone through twice; an iterator is made a list. Which of their items make contexts: `tasks.gaps.context`.
        words: the word list.
        eligible: which rows of the list count: "all" that the model can be asked for, or "single-token" ones.
        top, bottom: nucleus cut-offs, as shares, in any order; see `tasks.gaps.shares`. Only rows of single tokens count
            there.
        shared: is the gap the word that the sentences of an item share, rather than the word in which they differ?
        command: the command line, for the record.

    Raises:
        ModelError: the model fills no gaps.
        InputError: a suite is malformed or changes on the way, or no item makes a context.
        UsageError: two suites have one name, there is none, or a cut-off is no share.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call continues.
    """
    task = Gaps(words, eligible, tuple(top), tuple(bottom), shared)
    return execute(task, model, suites, folder, progress=progress, command=command)
