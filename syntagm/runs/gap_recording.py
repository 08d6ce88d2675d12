"""Ask a model for every form of a word list in every context of suites, shard by shard, into a run directory."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from syntagm.answers import Fill
from syntagm.errors import ModelError, UsageError
from syntagm.io import atomic, csv
from syntagm.models.contract import LanguageModel
from syntagm.result import Result
from syntagm.runs import ledger
from syntagm.runs.engine import RESULT_COLUMNS
from syntagm.runs.gap_run import FillRun
from syntagm.runs.ledger import Progress, Silence
from syntagm.runs.store import open_run, read_record
from syntagm.suite import Suite
from syntagm.tasks.gaps import nucleus, tables
from syntagm.tasks.gaps.candidates import Candidates
from syntagm.tasks.gaps.context import Labels
from syntagm.tasks.gaps.distinct_contexts import Asked, Asker, asking
from syntagm.tasks.gaps.nucleus import Cut, Eligible
from syntagm.tasks.gaps.pair_accuracy import Tse
from syntagm.tasks.gaps.plan import FillShard, Plan, plan, warnings
from syntagm.tasks.gaps.queries import Question, questions
from syntagm.tasks.gaps.shares import shares
from syntagm.tasks.predictions import evaluate
from syntagm.word_list import WordList

# Blanks asked at a time; an answer to one with a long list takes some 200 kB.
PORTION = 64


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
) -> FillRun:
    """Judge `model` by `tse`, `equal_weight` and `model_weight` into the run directory `folder`, or go on with what stands there.

    Arguments:
        suites: gone through twice; an iterator is made a list. Which of their items make contexts: `tasks.gaps.context`.
        eligible: which rows of the list count: "all" that the model can be asked for, or "single-token" ones.
        shared: are blanks the words that the sentences of an item share, rather than the word in which they differ?
        top, bottom: cut-offs, as shares, in any order; see `tasks.gaps.shares`. Rows of single tokens only count there.
        command: the command line, for the record.

    Raises:
        ModelError: the model fills no blanks.
        InputError: a suite is malformed or changes on the way, or no item makes a context.
        UsageError: two suites have one name, there is none, or a cut-off is no share.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call goes on.
    """
    if "fill" not in model.can:
        raise ModelError(model.name, "this model fills no blanks", "one that does")
    folder, progress = Path(folder), progress or Silence()
    suites = list(suites) if isinstance(suites, Iterator) else suites
    cuts = nucleus.cuts(tuple(top), tuple(bottom))
    with ledger.claim(folder):
        record, made = _prepare(folder, model, suites, Labels(words, shared), words, eligible, cuts, command)
        for warning in (*(f"word list {words.name}: {remark}" for remark in words.remarks), *warnings(made)):
            progress.warned(warning)
        finished = ledger.verified(folder, [one.name for one in made.shards], tables.KINDS, progress)
        sizes = {one.name: one.last - one.first for one in made.shards}
        progress.planned(sum(sizes.values()), sum(sizes[name] for name in finished), len(made.suites))
        # Tags change no number, so the latest hold, as those of suites do.
        atomic.write(folder / "words.csv", words.csv().encode())
        whole = record["status"] == "done" and (folder / "results.csv").is_file()
        if len(finished) < len(made.shards) or not whole:
            with ledger.interruptible(folder, record):
                tse = Tse(record["options"]["tolerance"], eligible)
                work = _Work(folder, model, words, shared, cuts, tse, progress)
                _compute(work, suites, made, finished)
            _finish(folder, record)
    found = open_run(folder)
    assert isinstance(found, FillRun)
    return found


def _prepare(
    folder: Path,
    model: LanguageModel,
    suites: Iterable[Suite],
    labels: Labels,
    words: WordList,
    eligible: Eligible,
    cuts: tuple[Cut, ...],
    command: str,
) -> tuple[dict[str, Any], Plan]:
    """The record, new or as it stands, and the plan."""
    standing = read_record(folder)
    # The tolerance rests on a measurement, so a run that goes on keeps the one it began with.
    tolerance = standing["options"]["tolerance"] if standing else evaluate.tolerance(model)
    if eligible not in nucleus.ELIGIBLE:
        raise UsageError("--eligible", repr(eligible), " or ".join(nucleus.ELIGIBLE))
    options = {
        "tolerance": tolerance,
        "words": {"name": words.name, "hash": words.hash, "labels": list(words.labels), "rows": len(words.rows)},
        "blank": "shared" if labels.shared else "differing",
        "eligible": eligible,
        "top": _as_recorded([cut.top for cut in cuts if cut.top < 1], standing, "top"),
        "bottom": _as_recorded([cut.bottom for cut in cuts if cut.bottom < 1], standing, "bottom"),
    }
    measures = ["tse", *map(str, tables.measures(cuts))]
    identity = f"{model.fingerprint}|{sorted(options.items())}"
    made = plan(suites, labels, model.sees == "left", measures, identity)
    fresh = ledger.new_record(model, made.suites, options, command, "fill")
    return ledger.settled(folder, standing, fresh | {"contexts": made.contexts, "remarks": list(words.remarks)}), made


def _as_recorded(limits: list[float], standing: Mapping[str, Any] | None, end: str) -> list[float]:
    """The cut-offs in the order in which the run that stands there names them: the names of its shards rest on it."""
    recorded: list[float] = standing["options"].get(end, []) if standing else []
    return recorded if set(recorded) == set(limits) else limits


class _Work:
    """What the shards of a run have in common."""

    def __init__(
        self,
        folder: Path,
        model: LanguageModel,
        words: WordList,
        shared: bool,
        cuts: tuple[Cut, ...],
        tse: Tse,
        progress: Progress,
    ) -> None:
        self.folder, self.model, self.words, self.shared, self.progress = folder, model, words, shared, progress
        self.cuts, self.tse, self.measures = cuts, tse, tables.measures(cuts)


def _compute(work: _Work, suites: Iterable[Suite], made: Plan, finished: set[str]) -> None:
    hashes = {suite.name: suite.hash for suite in made.suites}
    labels = Labels(work.words, work.shared)
    for suite, parts in ledger.left_to_do(suites, made.shards, finished, hashes):
        found = asking(suite, labels, work.model.sees == "left")
        own = made.own(suite.name, found)
        asked = {digest: found.contexts[digest] for digest in own}
        for digest in own:
            asked[digest].askers.extend(made.guests.get(digest, ()))
        both = questions(work.model, work.words, work.tse.which, asked.values())
        for one in parts:
            _compute_shard(work, one, {digest: asked[digest] for digest in own[one.first : one.last]}, both)


def _compute_shard(work: _Work, one: FillShard, asked: dict[bytes, Asked], both: tuple[Question, Question]) -> None:
    rows, undefined = tables.Rows(work.cuts), Counter[str]()
    answered = 0

    def done(blanks: int) -> None:
        nonlocal answered
        answered += blanks
        work.progress.answered(one.suite, blanks)

    entries = list(asked.items())
    for first in range(0, len(entries), PORTION):
        portion = entries[first : first + PORTION]
        blanks = [both[context.capital].blank(context) for _, context in portion]
        for (digest, context), answer in zip(portion, work.model.fill(blanks, done), strict=True):
            question = both[context.capital]
            _judge(work, rows, undefined, digest, context, question.answer(context, answer), question.words)
    suites = list(dict.fromkeys(asker.suite for context in asked.values() for asker in context.askers))
    files = rows.files(work.words)
    ledger.add_shard(work.folder, one.name, one.suite, files, suites=suites, undefined=dict(undefined))
    work.progress.answered(one.suite, len(entries) - answered)


def _judge(
    work: _Work,
    rows: tables.Rows,
    undefined: Counter[str],
    digest: bytes,
    context: Asked,
    fill: Fill,
    words: Candidates,
) -> None:
    """The rows of a context: one for each suite that has it, with the label of the first of the suite's items, and its items'."""
    first: dict[str, Asker] = {}
    for asker in context.askers:
        first.setdefault(asker.suite, asker)
        rows.results.append(_tse(work, undefined, asker, fill, words))
    by_label = {
        label: shares(fill, words, label, work.cuts, work.tse.which) for label in {one.label for one in first.values()}
    }
    for asker in first.values():
        found = by_label[asker.label]
        items = sum(one.suite == asker.suite for one in context.askers)
        about = (asker.suite, digest.hex(), asker.item, context.left, context.right, asker.label, items)
        rows.add(about, asker.suite, asker.label, found)
        if not found.eligible.any():
            _count(undefined, "a context without eligible rows", asker)
        n = int(found.eligible.sum())
        for measure in work.measures:
            value = measure.of(found, work.cuts)
            rows.results.append(Result(work.model.name, asker.suite, asker.item, str(measure), value, n, np.nan))


def _tse(work: _Work, undefined: Counter[str], asker: Asker, fill: Fill, words: Candidates) -> Result:
    found = work.tse.judge(fill, words, asker.good, asker.bad)
    if np.isnan(found.value):
        _count(undefined, "tse: a word of the pair is not eligible", asker)
    return Result(work.model.name, asker.suite, asker.item, "tse", found.value, found.n, found.margin)


def _count(undefined: Counter[str], reason: str, asker: Asker) -> None:
    """Count a reason under its first example."""
    known = next((one for one in undefined if one.startswith(reason)), None)
    example = f"item {asker.item} of {asker.suite} ({asker.good}, {asker.bad})"
    undefined[known or f"{reason}, for example in {example}"] += 1


def _finish(folder: Path, record: dict[str, Any]) -> None:
    run = FillRun(folder, record)
    atomic.write_parts(folder / "results.csv", _lines(run))
    ledger.finish(folder, record)


def _lines(run: FillRun) -> Iterator[bytes]:
    yield from (line.encode() for line in csv.lines(RESULT_COLUMNS, []))
    for suite in run.suites:
        rows = run.results(suite.name).select(RESULT_COLUMNS).iter_rows()
        lines = csv.lines(RESULT_COLUMNS, rows)
        next(lines)
        yield from (line.encode() for line in lines)
