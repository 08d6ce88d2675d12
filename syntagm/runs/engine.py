"""Run suites through a model into a run directory, shard by shard, so that a kill loses one shard at most."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from syntagm.errors import UsageError
from syntagm.io import atomic, csv
from syntagm.models.contract import LanguageModel
from syntagm.runs import ledger, shard
from syntagm.runs.ledger import Progress, Silence, claim
from syntagm.runs.shard import Shard
from syntagm.runs.store import Run, SuiteRecord, open_run, read_record
from syntagm.suite import Suite
from syntagm.tasks.predictions import evaluate
from syntagm.tasks.predictions.align import Rule
from syntagm.tasks.task import Measure

__all__ = ["RESULT_COLUMNS", "Progress", "Silence", "claim", "run"]

RESULT_COLUMNS = ("model", "suite", "item", "measure", "value", "margin")


def run(
    model: LanguageModel,
    suites: Iterable[Suite],
    folder: str | Path,
    *,
    align: Rule = "strict",
    cache: evaluate.Cache | None = None,
    progress: Progress | None = None,
    command: str = "",
) -> Run:
    """Evaluate `model` on `suites` into the run directory `folder`, or go on with the run that stands there.

    Arguments:
        suites: gone through twice, so that files can be read one at a time; an iterator is made a list.
        align: which token belongs to which region, see `syntagm.tasks.predictions.align`.
        cache: answers of earlier runs, see `syntagm.runs.cache`.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed, see `syntagm.check`; or its file changed between the two times it was read.
        UsageError: two suites have one name, or there is none; or no prediction can be computed for this model.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call goes on.
    """
    folder, progress = Path(folder), progress or Silence()
    suites = list(suites) if isinstance(suites, Iterator) else suites
    with claim(folder):
        record, shards = _prepare(folder, model, suites, align, command)
        _say_left_out(record, progress)
        finished = ledger.verified(folder, [one.name for one in shards], shard.KINDS, progress)
        total = sum(one.sentences for one in shards)
        progress.planned(total, sum(one.sentences for one in shards if one.name in finished), len(record["suites"]))
        if len(finished) < len(shards) or record["status"] != "done":
            with ledger.interruptible(folder, record):
                _compute(folder, model, suites, shards, finished, record, cache, progress)
            _finish(folder, record)
    return open_run(folder)


def _prepare(
    folder: Path, model: LanguageModel, suites: Iterable[Suite], align: Rule, command: str
) -> tuple[dict[str, Any], list[Shard]]:
    """The record, new or as it stands, and all shards of the run."""
    standing = read_record(folder)
    # The tolerance rests on a measurement, so a run that goes on keeps the one it began with.
    tolerance = standing["options"]["tolerance"] if standing else evaluate.tolerance(model)
    options = {"align": align, "tolerance": tolerance}
    identity = json.dumps([model.fingerprint, options])
    records: dict[str, SuiteRecord] = {}
    shards: list[Shard] = []
    for suite in ledger.well_formed(suites):
        digest, parts = shard.plan(suite, identity)
        records[suite.name] = _suite_record(suite, digest, parts, evaluate.left_out(suite, model))
        shards += parts
    _refuse_nothing_left(records.values(), model)
    fresh = ledger.new_record(model, records.values(), options, command, "score")
    return ledger.settled(folder, standing, fresh), shards


def _refuse_nothing_left(suites: Collection[SuiteRecord], model: LanguageModel) -> None:
    without = [suite.name for suite in suites if suite.left_out]
    if without and not any(suite.predictions for suite in suites):
        raise UsageError(
            f"model {model.name}", f"predictions about parts of sentences only, in {', '.join(without[:3])}",
            "predictions about whole sentences, (*;%condition%): this model sees both sides of a part",
            "Add regions=yes to the model's options to compare sums of its pseudo-surprisals all the same.",
        )  # fmt: skip


def _say_left_out(record: Mapping[str, Any], progress: Progress) -> None:
    found = {suite["name"]: suite["left_out"] for suite in record["suites"] if suite.get("left_out")}
    if found:
        names = sorted({name for left in found.values() for name in left})
        shown = ", ".join(names[:5]) + (" ..." if len(names) > 5 else "")
        progress.warned(
            f"not computed, in {len(found)} of {len(record['suites'])} suites: {shown}. They are about parts of a sentence, "
            f"and {record['model']['name']} sees both sides of them (regions=yes computes them all the same)"
        )
    if firsts := [suite["name"] for suite in record["suites"] if suite.get("first_left_out")]:
        shown = ", ".join(firsts[:5]) + (" ..." if len(firsts) > 5 else "")
        progress.warned(
            f"{len(firsts)} of {len(record['suites'])} suites are in no score: their first prediction is not computed ({shown})"
        )


def _suite_record(suite: Suite, digest: str, parts: Sequence[Shard], left_out: tuple[str, ...]) -> SuiteRecord:
    formulas = {one.name: one.formula.text for one in suite.predictions if one.name not in left_out}
    made = ledger.suite_record(suite, digest, formulas, sum(part.sentences for part in parts))
    first = bool(suite.predictions) and suite.predictions[0].name in left_out
    return replace(made, shards=tuple(part.name for part in parts), left_out=left_out, first_left_out=first)


def _compute(
    folder: Path,
    model: LanguageModel,
    suites: Iterable[Suite],
    shards: Sequence[Shard],
    finished: set[str],
    record: dict[str, Any],
    cache: evaluate.Cache | None,
    progress: Progress,
) -> None:
    options, hashes = record["options"], {suite["name"]: suite["hash"] for suite in record["suites"]}
    for suite, parts in ledger.left_to_do(suites, shards, finished, hashes):
        measures = evaluate.predictions(suite, model, options["align"], options["tolerance"])
        for one in parts:
            _compute_shard(folder, model, suite, measures, one, cache, progress)


def _compute_shard(
    folder: Path,
    model: LanguageModel,
    suite: Suite,
    measures: Sequence[Measure],
    one: Shard,
    cache: evaluate.Cache | None,
    progress: Progress,
) -> None:
    items = suite.items[one.first : one.last]
    answered = 0

    def done(texts: int) -> None:
        nonlocal answered
        answered += texts
        progress.answered(suite.name, texts)

    found = evaluate.evaluate(items, suite, model, measures, cache, done)
    files = {
        "parquet": shard.sentences_table(items, found.answers),
        "results.parquet": shard.results_table(found.results),
    }
    undefined = dict(found.undefined)
    ledger.add_shard(folder, one.name, one.suite, files, undefined=undefined, cached=found.cached)
    progress.answered(suite.name, one.sentences - answered)


def _finish(folder: Path, record: dict[str, Any]) -> None:
    results = open_run(folder).results()
    rows = results.select(RESULT_COLUMNS).iter_rows()
    atomic.write(folder / "results.csv", "".join(csv.lines(RESULT_COLUMNS, rows)).encode())
    atomic.write(folder / "results.parquet", shard.parquet(results))
    ledger.finish(folder, record)
