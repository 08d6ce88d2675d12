"""The plan of a fill run: each distinct context of all its suites asked once, cut into shards.

A context belongs to the suite in which it first appears. Items of later suites that have it are judged by the same answer;
they are the only items that the plan keeps.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from syntagm.errors import InputError
from syntagm.runs import ledger, shard
from syntagm.runs.store import SuiteRecord
from syntagm.suite import Suite
from syntagm.tasks.gaps.context import Labels
from syntagm.tasks.gaps.distinct_contexts import Asker, Asking, asking

SIZE = 512
TSE = "(word;%good%) < (word;%bad%)"
VERSION = 1


@dataclass(frozen=True, slots=True)
class FillShard:
    """Contexts `first` up to, not including, `last` of those that first appear in a suite."""

    name: str
    suite: str
    first: int
    last: int


@dataclass(slots=True)
class Plan:
    """What a fill run is going to ask.

    Arguments:
        suites: the records of the suites, in order.
        shards: in order.
        owners: digest of a context -> the number of its shard.
        guests: digest -> items of later suites that have the context.
        contexts: suite -> what its items make, for the record.
    """

    suites: list[SuiteRecord] = field(default_factory=list)
    shards: list[FillShard] = field(default_factory=list)
    owners: dict[bytes, int] = field(default_factory=dict)
    guests: dict[bytes, list[Asker]] = field(default_factory=dict)
    contexts: dict[str, dict[str, Any]] = field(default_factory=dict)

    def own(self, suite: str, found: Asking) -> list[bytes]:
        """The digests of the contexts that first appear in a suite, in order."""
        return [digest for digest in found.contexts if self.shards[self.owners[digest]].suite == suite]


def plan(suites: Iterable[Suite], labels: Labels, left_only: bool, measures: Iterable[str], identity: str) -> Plan:
    """Go through all suites once, one in memory at a time.

    Arguments:
        left_only: does the model see the left side alone? Then contexts with the same left side are the same.
        measures: the names of the measures of the run.
        identity: what else the numbers depend on: model, word list, options.

    Raises:
        InputError: a suite is malformed, or none makes a context.
        UsageError: two suites have one name, or there is none.
    """
    made = Plan()
    digests: list[Any] = []
    # What tse says is a comparison like any other; the other measures are no formulas.
    predictions = {name: TSE if name == "tse" else "" for name in measures}
    for suite in ledger.well_formed(suites):
        found = asking(suite, labels, left_only)
        fresh = [digest for digest in found.contexts if digest not in made.owners]
        _guests(made, found, digests)
        for first in range(0, len(fresh), SIZE):
            part = fresh[first : first + SIZE]
            made.owners |= dict.fromkeys(part, len(made.shards))
            made.shards.append(FillShard("", suite.name, first, first + len(part)))
            digests.append(_hash(VERSION, identity, suite.name, first))
            for digest in part:
                one = found.contexts[digest]
                _enter(digests[-1], one.left, one.right, one.capital, [asdict(asker) for asker in one.askers])
        content = shard.plan(suite, "")[0]
        made.suites.append(ledger.suite_record(suite, content, predictions, len(fresh)))
        made.contexts[suite.name] = _told(found, len(fresh))
    if not made.shards:
        raise _nothing(made)
    return _named(made, [digest.hexdigest()[:32] for digest in digests])


def warnings(made: Plan) -> Iterator[str]:
    """What of the suites is not as one might think, a sentence each."""
    for name, told in made.contexts.items():
        for reason, count in told["left_out"].items():
            yield f"{name}: {count:,} without a context: {reason}"
        if count := told["conflicts"]:
            yield f"{name}: {count:,} items share a context with an item of another label, which is taken"
        if count := told["contradicted"]:
            yield f"{name}: {count:,} items have another number than their good word in the list, which is taken"


def _guests(made: Plan, found: Asking, digests: list[Any]) -> None:
    """Keep the items whose context an earlier suite owns, and let the names of its shards depend on them."""
    for digest, one in found.contexts.items():
        if digest in made.owners:
            made.guests.setdefault(digest, []).extend(one.askers)
            _enter(digests[made.owners[digest]], digest.hex(), [asdict(asker) for asker in one.askers])


def _told(found: Asking, fresh: int) -> dict[str, Any]:
    return {
        "contexts": len(found.contexts),
        "asked": fresh,
        "items": found.items,
        "left_out": dict(found.left_out),
        "conflicts": found.conflicts,
        "contradicted": found.contradicted,
    }


def _named(made: Plan, names: list[str]) -> Plan:
    made.shards = [replace(one, name=name) for one, name in zip(made.shards, names, strict=True)]
    shards = {suite.name: tuple(one.name for one in made.shards if one.suite == suite.name) for suite in made.suites}
    made.suites = [replace(suite, shards=shards[suite.name]) for suite in made.suites]
    return made


def _nothing(made: Plan) -> InputError:
    reasons = {
        f"{name}: {reason} ({count} items)"
        for name, told in made.contexts.items()
        for reason, count in told["left_out"].items()
    }
    return InputError(
        "the suites", "no item makes a context", "pairs of sentences that differ in one word",
        "; ".join(sorted(reasons)[:5]) + ". docs/blanks.md says what makes one.",
    )  # fmt: skip


def _hash(*content: object) -> Any:
    return hashlib.sha256(json.dumps(content).encode())


def _enter(digest: Any, *content: object) -> None:
    digest.update(json.dumps(content).encode())
