"""What every kind of run shares: the folder held, the record, the ledger, shards that are written whole and verified."""

import contextlib
import hashlib
import json
import os
import platform
import re
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol, TypeVar

from syntagm.check import check
from syntagm.errors import InputError, Interrupted, RunError, UsageError
from syntagm.io import atomic, lock
from syntagm.models.contract import LanguageModel
from syntagm.runs import shard
from syntagm.runs.store import VERSION, SuiteRecord, read_ledger, read_shard
from syntagm.suite import Suite

# The temporary files that a killed run leaves behind; any other file in the folder is not ours to delete.
_LEFT = re.compile(r"\.(run\.json|words\.csv|results\.(csv|parquet)|[0-9a-f]{32}\.([a-z]+\.)?parquet)\.\d+\.tmp")


class Progress(Protocol):
    """Who wants to know how a run goes on."""

    def planned(self, sentences: int, done: int, suites: int) -> None:
        """The work is known: sentences in all, those already done by an earlier start, suites."""

    def answered(self, suite: str, sentences: int) -> None:
        """Further sentences of `suite` are answered. May raise `Interrupted`."""

    def warned(self, message: str) -> None:
        """Something the user should know, in a sentence."""


class Named(Protocol):
    """A shard, of whatever kind of run."""

    @property
    def name(self) -> str:
        """That of its files."""

    @property
    def suite(self) -> str:
        """Whose items it holds."""


Part = TypeVar("Part", bound=Named)


class Silence:
    """No one wants to know."""

    def planned(self, sentences: int, done: int, suites: int) -> None:
        """Say nothing."""

    def answered(self, suite: str, sentences: int) -> None:
        """Say nothing."""

    def warned(self, message: str) -> None:
        """Say nothing."""


@contextlib.contextmanager
def claim(folder: Path) -> Iterator[None]:
    """Hold the run directory, made if it does not exist, against other processes.

    Raises:
        RunError: it can't be made or written, or another process holds it.
    """
    with lock.held(folder):
        try:
            (folder / "shards").mkdir(exist_ok=True)
        except OSError as error:
            raise atomic.refusal(folder, error, 0) from error
        for left in (*folder.glob(".*.tmp"), *(folder / "shards").glob(".*.tmp")):
            if _LEFT.fullmatch(left.name):
                left.unlink(missing_ok=True)
        yield


@contextlib.contextmanager
def interruptible(folder: Path, record: Mapping[str, Any]) -> Iterator[None]:
    """Enter into the record that the work inside was interrupted, if it was."""
    try:
        yield
    except (Interrupted, KeyboardInterrupt):
        write_record(folder, {**record, "status": "interrupted"})
        raise


def new_record(
    model: LanguageModel, suites: Iterable[SuiteRecord], options: dict[str, Any], command: str, kind: str
) -> dict[str, Any]:
    """The record of a run that begins now."""
    about = {key: getattr(model, key) for key in ("name", "fingerprint", "start", "end", "noise", "left_to_right")}
    return {
        "format": VERSION,
        "kind": kind,
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


def suite_record(suite: Suite, digest: str, predictions: Mapping[str, str], sentences: int) -> SuiteRecord:
    """What a run keeps of a suite; its shards are added when they have names.

    Arguments:
        digest: the hash of its content.
        predictions: measure -> formula, as results call them.
        sentences: how many questions it makes.
    """
    tags = shard.public_tags(suite.tags)
    return SuiteRecord(
        suite.name,
        digest,
        suite.aggregate,
        predictions,
        tuple(suite.items[0].sentences) if suite.items else (),
        {key.removeprefix("region."): value for key, value in tags.items() if key.startswith("region.")},
        {key: value for key, value in tags.items() if not key.startswith("region.")},
        len(suite.items),
        sentences,
        (),
    )


def settled(folder: Path, standing: dict[str, Any] | None, fresh: dict[str, Any]) -> dict[str, Any]:
    """The record to go on with, written: the fresh one, or that of the run that stands there if it is the same run.

    Raises:
        RunError: another run stands there.
    """
    if standing is not None:
        _refuse_another(folder, standing, fresh)
        # Tags that are not refused change no number, so the latest hold, and what is counted by them.
        fresh = standing | {key: fresh[key] for key in ("suites", "contexts") if key in fresh}
    write_record(folder, fresh)
    return fresh


def _refuse_another(folder: Path, standing: dict[str, Any], fresh: dict[str, Any]) -> None:
    cure = "Choose another folder, or give the command that began this run."
    kinds = [record.get("kind", "score") for record in (standing, fresh)]
    if kinds[0] != kinds[1]:
        raise RunError(str(folder), f"a run of the kind {kinds[0]}", f"one of the kind {kinds[1]}", cure)
    if standing["model"]["fingerprint"] != fresh["model"]["fingerprint"]:
        found = f"a run of {standing['model']['name']} ({standing['model']['fingerprint'][:8]})"
        raise RunError(
            str(folder), found, f"a run of {fresh['model']['name']} ({fresh['model']['fingerprint'][:8]})", cure
        )
    if standing["options"] != fresh["options"]:
        found, wanted = (
            _unlike(one["options"], other["options"]) for one, other in [(standing, fresh), (fresh, standing)]
        )
        raise RunError(str(folder), f"a run with {found}", f"a run with {wanted}", cure)
    here = {suite["name"]: suite["hash"] for suite in standing["suites"]}
    there = {suite["name"]: suite["hash"] for suite in fresh["suites"]}
    if list(here.items()) != list(there.items()):
        odd = sorted(name for name in here.keys() | there.keys() if here.get(name) != there.get(name))
        differs = f"Different: {', '.join(odd[:5])}." if odd else "Their order is another."
        raise RunError(str(folder), "a run on other suites", "the same, in the same order", f"{differs} {cure}")
    if fresh["kind"] == "fill":
        _refuse_other_labels(folder, standing, fresh, cure)


def _refuse_other_labels(folder: Path, standing: dict[str, Any], fresh: dict[str, Any], cure: str) -> None:
    """Refuse another tag `number` of a suite, which is not in its hash, where a fill run would ask otherwise by it."""
    both = list(zip(standing["suites"], fresh["suites"], strict=True))
    # Names of shards rest on contexts and labels: counts may be the same where labels are not.
    if all(list(one["shards"]) == list(other["shards"]) for one, other in both):
        return
    for one, other in both:
        found, wanted = (each["tags"].get("number", "none") for each in (one, other))
        if found != wanted:
            raise RunError(
                str(folder), f"a run of {one['name']} with the number {found}", f"{one['name']} with the number {wanted}",
                f"That tag says the labels of contexts. {cure}",
            )  # fmt: skip


def _unlike(options: Mapping[str, Any], others: Mapping[str, Any]) -> str:
    """The options that differ from others, nested ones by their path: `eligible=all, words.rows=3`."""
    found = _flat(options).items() - _flat(others).items()
    return ", ".join(f"{name}={json.loads(value)}" for name, value in sorted(found)) or "fewer options"


def _flat(options: Mapping[str, Any], path: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in options.items():
        flat |= _flat(value, f"{path}{name}.") if isinstance(value, Mapping) else {path + name: json.dumps(value)}
    return flat


def well_formed(suites: Iterable[Suite]) -> Iterator[Suite]:
    """The suites one by one, for a plan.

    Raises:
        InputError: `syntagm check` finds an error in a suite.
        UsageError: two suites have one name, or there is none.
    """
    names: set[str] = set()
    for suite in suites:
        _refuse_malformed(suite)
        if suite.name in names:
            cure = "Results are kept by name: rename one."
            raise UsageError(f"suite {suite.name}", "two suites of that name", "one", cure)
        names.add(suite.name)
        yield suite
    if not names:
        raise UsageError("--suite", "no suites", "at least one")


def _refuse_malformed(suite: Suite) -> None:
    if errors := [str(finding) for finding in check([suite]) if finding.error]:
        cure = f"The first: {errors[0]} `syntagm check` lists all of them."
        raise InputError(f"suite {suite.name}", f"errors: {len(errors)}", "none", cure)


def left_to_do(
    suites: Iterable[Suite], shards: Iterable[Part], finished: Collection[str], hashes: Mapping[str, str]
) -> Iterator[tuple[Suite, list[Part]]]:
    """The suites that have shards to compute, with these; nothing is read when there are none.

    Arguments:
        finished: names of shards.
        hashes: suite -> the hash of its content when the run was planned.

    Raises:
        InputError: a suite is not what it was when the run was planned.
    """
    missing: dict[str, list[Part]] = {}
    for one in shards:
        if one.name not in finished:
            missing.setdefault(one.suite, []).append(one)
    for suite in suites if missing else ():
        if parts := missing.pop(suite.name, None):
            if shard.plan(suite, "")[0] != hashes[suite.name]:
                raise _changed(suite.name, "it has changed since the run began")
            yield suite, parts
    for name in missing:
        raise _changed(name, "it is gone since the run began")


def _changed(suite: str, found: str) -> InputError:
    return InputError(
        f"suite {suite}", found, "files that stay as they are while a run goes on",
        "Put back what it was and give the same command again, or choose another folder.",
    )  # fmt: skip


def verified(folder: Path, names: Iterable[str], kinds: Sequence[str], progress: Progress) -> set[str]:
    """Those of the shards that are finished and undamaged; damaged files are moved aside."""
    ledger = read_ledger(folder, kinds)
    finished = set()
    for name in (one for one in names if one in ledger):
        if all(read_shard(folder, name, kind, ledger) is not None for kind in ledger[name]["files"]):
            finished.add(name)
            continue
        for path in sorted((folder / "shards").glob(f"{name}.*")):
            os.replace(path, path.with_name(f"damaged-{time.time_ns()}-{path.name}"))
        progress.warned(f"{folder}: shard {name[:8]} is damaged; it is moved aside and computed again")
    return finished


def add_shard(folder: Path, name: str, suite: str, files: Mapping[str, bytes], **more: Any) -> None:
    """Write the files of a finished shard, by kind, and then its line in the ledger, with whatever else is to stand there."""
    for kind, content in files.items():
        atomic.write(folder / "shards" / f"{name}.{kind}", content)
    digests = {kind: hashlib.sha256(content).hexdigest() for kind, content in files.items()}
    atomic.append(folder / "ledger.jsonl", json.dumps({"shard": name, "suite": suite, "files": digests} | more))


def finish(folder: Path, record: Mapping[str, Any]) -> None:
    """Enter into the record that the run is done."""
    finished = datetime.now(UTC).isoformat(timespec="seconds")
    write_record(folder, {**record, "status": "done", "finished": finished})


def write_record(folder: Path, record: Mapping[str, Any]) -> None:
    """Write run.json."""
    atomic.write(folder / "run.json", json.dumps(record, indent=2, ensure_ascii=False, default=str).encode())
