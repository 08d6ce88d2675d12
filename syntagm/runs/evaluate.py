"""Evaluate a language model by the predictions of suites, by measures, or by a word list in gaps: in memory or into a folder."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from syntagm.errors import UsageError
from syntagm.models.contract import LanguageModel
from syntagm.progress import Progress
from syntagm.runs.engine import Cache, execute
from syntagm.runs.store import Run
from syntagm.suite import Suite, sampled
from syntagm.tasks.align import Rule
from syntagm.tasks.gaps.nucleus import Eligible
from syntagm.tasks.gaps.task import Gaps
from syntagm.tasks.measure import Measure
from syntagm.tasks.measured import Measures
from syntagm.tasks.measures import parse
from syntagm.tasks.predictions.task import Predictions
from syntagm.word_list import WordList, read


def evaluate(
    model: LanguageModel,
    suites: Iterable[Suite],
    *,
    measures: Sequence[Measure | str] | None = None,
    limit: int | None = None,
    seed: int = 1,
    align: Rule = "strict",
    cache: Cache | None = None,
    progress: Progress | None = None,
) -> Run:
    """Evaluate `model` on `suites` in memory: nothing is written, and the run has the interface of one in a folder.

    Arguments:
        suites: gone through twice; an iterator is made a list.
        measures: what to judge items by in place of the predictions of the suites, as objects or as text:
            `surprisal(condition=good, region=verb)`.
        limit: at most so many items of each suite, drawn by `seed`; the run says so.
        align: which token belongs to which region, see `syntagm.tasks.align`.
        cache: answers of earlier runs, see `syntagm.runs.cache`.

    Raises:
        UsageError: two suites have one name, or there is none; or no prediction can be computed for this model.
        InputError: a suite is malformed, see `syntagm.check`.
        Interrupted: `progress` said so.

    >>> from syntagm.materials.suite_files import read_suites
    >>> from syntagm.models.names import load
    >>> run = evaluate(load("toy"), read_suites("hu2020/mvrr"), limit=5)
    >>> run.results("mvrr").height, run.suites[0].tags["sample"]
    (5, '5 of 28 items, seed 1')
    """
    return run_suites(
        model, suites, None, measures=measures, limit=limit, seed=seed, align=align, cache=cache, progress=progress
    )


def run_suites(
    model: LanguageModel,
    suites: Iterable[Suite],
    folder: str | Path | None,
    *,
    measures: Sequence[Measure | str] | None = None,
    limit: int | None = None,
    seed: int = 1,
    align: Rule = "strict",
    cache: Cache | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Evaluate `model` on `suites` into the run directory `folder`, or continue the run that stands there.

    Arguments:
        suites: gone through twice, so that files can be read one at a time; an iterator is made a list.
        folder: None keeps the run in memory, as `evaluate` does.
        measures: what to judge items by, in place of the predictions of the suites.
        limit: at most so many items of each suite, drawn by `seed`; the run says so.
        align: which token belongs to which region, see `syntagm.tasks.align`.
        cache: answers of earlier runs, see `syntagm.runs.cache`.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed, see `syntagm.check`; or its file changed between the two times it was read.
        UsageError: two suites have one name, or there is none; or no prediction can be computed for this model.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call continues.
    """
    _refuse_no_model(model)
    named = [parse(measure) if isinstance(measure, str) else measure for measure in measures or ()]
    task = Measures(tuple(named), align) if named else Predictions(align)
    chosen = _Sampled(suites, limit, seed)
    return execute(task, model, chosen, folder, cache=cache, progress=progress, command=command)


def fill(
    model: LanguageModel,
    suites: Iterable[Suite],
    words: WordList | str,
    folder: str | Path | None = None,
    *,
    limit: int | None = None,
    seed: int = 1,
    eligible: Eligible = "all",
    top: Sequence[float] = (),
    bottom: Sequence[float] = (),
    shared: bool = False,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Judge `model` by TSE, EW and MW (Newman et al. 2021), in memory or into a run directory, or continue the run there.

    Arguments:
        suites: gone through twice; an iterator is made a list. Which of their items make contexts: `tasks.gaps.context`.
        words: the word list, or its name: a bundled one (`verbs`) or a file.
        folder: the run directory; None keeps the run in memory.
        limit: at most so many items of each suite, drawn by `seed`; the run says so.
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
    _refuse_no_model(model)
    listed = read(words) if isinstance(words, str) else words
    task = Gaps(listed, eligible, tuple(top), tuple(bottom), shared)
    return execute(task, model, _Sampled(suites, limit, seed), folder, progress=progress, command=command)


class _Sampled:
    """Suites with at most `limit` of their items, on each pass the same."""

    def __init__(self, suites: Iterable[Suite], limit: int | None, seed: int) -> None:
        self.suites = list(suites) if isinstance(suites, Iterator) else suites
        self.limit, self.seed = limit, seed

    def __iter__(self) -> Iterator[Suite]:
        return (sampled(suite, self.limit, self.seed) for suite in self.suites)


def _refuse_no_model(model: object) -> None:
    if not isinstance(model, LanguageModel):
        cure = (
            "Use syntagm.load_model(name), or syntagm.from_transformers(model, tokenizer, name=...) for one in memory."
        )
        raise UsageError("model", repr(model)[:80], "a language model of this package", cure)
