"""Run suites through a model into a run directory, shard by shard, so that a kill loses one shard at most."""

import contextlib
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from syntagm import durable, evaluate, shard, table
from syntagm.align import Rule
from syntagm.check import check
from syntagm.errors import InputError, Interrupted, RunError, UsageError
from syntagm.measures._measure import Measure
from syntagm.models._model import LanguageModel
from syntagm.run import VERSION, Run, SuiteRecord, open_run, read_ledger, read_record, read_shard
from syntagm.shard import Shard
from syntagm.suite import Suite

# The temporary files that a killed run leaves behind; any other file in the folder is not ours to delete.
_LEFT = re.compile(r"\.(run\.json|results\.(csv|parquet)|[0-9a-f]{32}\.(results\.)?parquet)\.\d+\.tmp")
RESULT_COLUMNS = ("model", "suite", "item", "measure", "value", "margin")


class Progress(Protocol):
    """Who wants to know how a run goes on."""

    def planned(self, sentences: int, done: int, suites: int) -> None:
        """The work is known: sentences in all, those already done by an earlier start, suites."""

    def answered(self, suite: str, sentences: int) -> None:
        """Further sentences of `suite` are answered. May raise `Interrupted`."""

    def warned(self, message: str) -> None:
        """Something the user should know, in a sentence."""


class Silence:
    """No one wants to know."""

    def planned(self, sentences: int, done: int, suites: int) -> None:
        """Say nothing."""

    def answered(self, suite: str, sentences: int) -> None:
        """Say nothing."""

    def warned(self, message: str) -> None:
        """Say nothing."""


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
        align: which token belongs to which region, see `syntagm.align`.
        cache: answers of earlier runs, see `syntagm.cache`.
        command: the command line, for the record.

    Raises:
        InputError: a suite is malformed, see `syntagm.check`; or its file changed between the two times it was read.
        UsageError: two suites have one name, or there is none.
        RunError: the folder is in use, can't be written, or holds another run.
        Interrupted: `progress` said so; the same call goes on.
    """
    folder, progress = Path(folder), progress or Silence()
    suites = list(suites) if isinstance(suites, Iterator) else suites
    with claim(folder):
        record, shards = _prepare(folder, model, suites, align, command)
        finished = _verified(folder, shards, progress)
        total = sum(one.sentences for one in shards)
        progress.planned(total, sum(one.sentences for one in shards if one.name in finished), len(record["suites"]))
        if len(finished) < len(shards) or record["status"] != "done":
            try:
                _compute(folder, model, suites, shards, finished, record, cache, progress)
            except (Interrupted, KeyboardInterrupt):
                _write_record(folder, record | {"status": "interrupted"})
                raise
            _finish(folder, record)
    return open_run(folder)


@contextlib.contextmanager
def claim(folder: Path) -> Iterator[None]:
    """Hold the run directory, made if it does not exist, against other processes.

    Raises:
        RunError: it can't be made or written, or another process holds it.
    """
    with durable.held(folder):
        try:
            (folder / "shards").mkdir(exist_ok=True)
        except OSError as error:
            raise durable.refusal(folder, error, 0) from error
        for left in (*folder.glob(".*.tmp"), *(folder / "shards").glob(".*.tmp")):
            if _LEFT.fullmatch(left.name):
                left.unlink(missing_ok=True)
        yield


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
    for suite in suites:
        _refuse_malformed(suite)
        if suite.name in records:
            raise UsageError(
                f"suite {suite.name}", "two suites of that name", "one", "Results are kept by name: rename one."
            )
        digest, parts = shard.plan(suite, identity)
        records[suite.name] = _suite_record(suite, digest, parts)
        shards += parts
    if not records:
        raise UsageError("--suite", "no suites", "at least one")
    fresh = _new_record(model, list(records.values()), options, command)
    if standing is None:
        _write_record(folder, fresh)
        return fresh, shards
    _refuse_another(folder, standing, fresh)
    # Tags and labels change no number, so the latest hold.
    record = standing | {"suites": fresh["suites"]}
    _write_record(folder, record)
    return record, shards


def _refuse_malformed(suite: Suite) -> None:
    if errors := [str(finding) for finding in check([suite]) if finding.error]:
        cure = f"The first: {errors[0]} `syntagm check` lists all of them."
        raise InputError(f"suite {suite.name}", f"errors: {len(errors)}", "none", cure)


def _suite_record(suite: Suite, digest: str, parts: Sequence[Shard]) -> SuiteRecord:
    tags = shard.public_tags(suite.tags)
    return SuiteRecord(
        suite.name,
        digest,
        suite.aggregate,
        {prediction.name: prediction.formula.text for prediction in suite.predictions},
        tuple(suite.items[0].sentences) if suite.items else (),
        {key.removeprefix("region."): value for key, value in tags.items() if key.startswith("region.")},
        {key: value for key, value in tags.items() if not key.startswith("region.")},
        len(suite.items),
        sum(part.sentences for part in parts),
        tuple(part.name for part in parts),
    )


def _new_record(
    model: LanguageModel, suites: Sequence[SuiteRecord], options: dict[str, Any], command: str
) -> dict[str, Any]:
    about = {key: getattr(model, key) for key in ("name", "fingerprint", "start", "end", "noise", "left_to_right")}
    return {
        "format": VERSION,
        "status": "running",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "finished": None,
        "command": command,
        "versions": {
            "syntagm": version("syntagm"),
            "python": platform.python_version(),
            "platform": platform.platform(),
        },
        "model": about | {"policies": dict(model.policies), "record": dict(model.record)},
        "options": options,
        "suites": [asdict(suite) for suite in suites],
    }


def _refuse_another(folder: Path, standing: dict[str, Any], fresh: dict[str, Any]) -> None:
    cure = "Choose another folder, or give the command that began this run."
    if standing["model"]["fingerprint"] != fresh["model"]["fingerprint"]:
        found = f"a run of {standing['model']['name']} ({standing['model']['fingerprint'][:8]})"
        raise RunError(
            str(folder), found, f"a run of {fresh['model']['name']} ({fresh['model']['fingerprint'][:8]})", cure
        )
    if standing["options"] != fresh["options"]:
        raise RunError(str(folder), f"a run with {standing['options']}", f"a run with {fresh['options']}", cure)
    here = {suite["name"]: suite["hash"] for suite in standing["suites"]}
    there = {suite["name"]: suite["hash"] for suite in fresh["suites"]}
    if list(here.items()) != list(there.items()):
        odd = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        raise RunError(
            str(folder), "a run on other suites", "the same, in the same order", f"Different: {odd[:5]}. {cure}"
        )


def _verified(folder: Path, shards: Sequence[Shard], progress: Progress) -> set[str]:
    """The names of the shards that are finished and undamaged; damaged files are moved aside."""
    ledger = read_ledger(folder)
    finished = set()
    for name in (one.name for one in shards if one.name in ledger):
        if all(read_shard(folder, name, kind, ledger) is not None for kind in ledger[name]["files"]):
            finished.add(name)
            continue
        for path in sorted((folder / "shards").glob(f"{name}.*")):
            os.replace(path, path.with_name(f"damaged-{time.time_ns()}-{path.name}"))
        progress.warned(f"{folder}: shard {name[:8]} is damaged; it is moved aside and computed again")
    return finished


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
    missing: dict[str, list[Shard]] = {}
    for one in shards:
        if one.name not in finished:
            missing.setdefault(one.suite, []).append(one)
    options, hashes = record["options"], {suite["name"]: suite["hash"] for suite in record["suites"]}
    for suite in suites if missing else ():
        parts = missing.pop(suite.name, [])
        if not parts:
            continue
        if shard.plan(suite, "")[0] != hashes[suite.name]:
            raise _changed(suite.name, "it has changed since the run began")
        measures = evaluate.predictions(suite, model, options["align"], options["tolerance"])
        for one in parts:
            _compute_shard(folder, model, suite, measures, one, cache, progress)
    for name in missing:
        raise _changed(name, "it is gone since the run began")


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
    for kind, content in files.items():
        durable.write(folder / "shards" / f"{one.name}.{kind}", content)
    digests = {kind: hashlib.sha256(content).hexdigest() for kind, content in files.items()}
    entry = {"shard": one.name, "suite": one.suite, "files": digests, "undefined": dict(found.undefined)}
    durable.append(folder / "ledger.jsonl", json.dumps(entry | {"cached": found.cached}))
    progress.answered(suite.name, one.sentences - answered)


def _changed(suite: str, found: str) -> InputError:
    return InputError(
        f"suite {suite}", found, "files that stay as they are while a run goes on",
        "Put back what it was and give the same command again, or choose another folder.",
    )  # fmt: skip


def _finish(folder: Path, record: dict[str, Any]) -> None:
    results = open_run(folder).results()
    rows = results.select(RESULT_COLUMNS).iter_rows()
    durable.write(folder / "results.csv", "".join(table.lines(RESULT_COLUMNS, rows)).encode())
    durable.write(folder / "results.parquet", shard.parquet(results))
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    _write_record(folder, record | {"status": "done", "finished": finished})


def _write_record(folder: Path, record: dict[str, Any]) -> None:
    durable.write(folder / "run.json", json.dumps(record, indent=2, ensure_ascii=False, default=str).encode())
