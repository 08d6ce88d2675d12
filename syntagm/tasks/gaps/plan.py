"""The plan of a run over gaps: each distinct context of all its suites is asked once, and cut into units.

A context belongs to the suite in which it first appears. Items of later suites that have it are judged by the same answer;
they are the only items that the plan keeps.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from syntagm.errors import InputError
from syntagm.suite import Suite
from syntagm.tasks.gaps.context import Labels
from syntagm.tasks.gaps.distinct_contexts import Asked, Asker, Asking, asking
from syntagm.tasks.slices import suite_hash
from syntagm.tasks.task import Plan, SuiteRecord, Unit, suite_record

SIZE = 512
TSE = "(word;%good%) < (word;%bad%)"
VERSION = 1


@dataclass(slots=True)
class Owners:
    """Which unit asks each context, for whom else.

    Arguments:
        units: digest of a context -> the number of its unit in the plan.
        suites: the suite of each unit.
        guests: digest -> items of later suites that have the context.
    """

    units: dict[bytes, int] = field(default_factory=dict)
    suites: list[str] = field(default_factory=list)
    guests: dict[bytes, list[Asker]] = field(default_factory=dict)

    def own(self, suite: str, found: Asking) -> dict[bytes, Asked]:
        """Return the contexts that first appear in a suite, in order, with all who ask in them."""
        contexts = {
            digest: context for digest, context in found.contexts.items() if self.suites[self.units[digest]] == suite
        }
        for digest, context in contexts.items():
            context.askers.extend(self.guests.get(digest, ()))
        return contexts


def plan(suites: Iterable[Suite], labels: Labels, left_only: bool, measures: Iterable[str], identity: str) -> Plan:
    """Go through all suites once, one in memory at a time.

    Arguments:
        left_only: does the model see the left side alone? Then contexts with the same left side are the same.
        measures: the names of the measures of the run.
        identity: what else the numbers depend on: model, word list, options.

    Raises:
        InputError: no suite makes a context.
    """
    owners, units, records = Owners(), list[Unit](), list[SuiteRecord]()
    contexts: dict[str, dict[str, Any]] = {}
    digests: list[Any] = []
    # What tse says is a comparison like any other; the other measures are no formulas.
    predictions = {name: TSE if name == "tse" else "" for name in measures}
    for suite in suites:
        found = asking(suite, labels, left_only)
        fresh = [digest for digest in found.contexts if digest not in owners.units]
        _guests(owners, found, digests)
        own = list[Unit]()
        for first in range(0, len(fresh), SIZE):
            part = fresh[first : first + SIZE]
            owners.units |= dict.fromkeys(part, len(units) + len(own))
            owners.suites.append(suite.name)
            own.append(Unit("", suite.name, first, first + len(part), len(part)))
            digests.append(_hash(VERSION, identity, suite.name, first))
            for digest in part:
                one = found.contexts[digest]
                _enter(digests[-1], one.left, one.right, one.capital, [asdict(asker) for asker in one.askers])
        units += own
        records.append(suite_record(suite, suite_hash(suite), predictions, own))
        contexts[suite.name] = _counted(found, len(fresh))
    if not units:
        raise _nothing(contexts)
    # A unit's name rests on the items of later suites, too.
    units = [replace(unit, name=digest.hexdigest()[:32]) for unit, digest in zip(units, digests, strict=True)]
    names = {record.name: tuple(unit.name for unit in units if unit.suite == record.name) for record in records}
    records = [replace(record, shards=own, asked=bool(own)) for record in records for own in [names[record.name]]]
    return Plan(
        tuple(records), tuple(units), {"contexts": contexts}, warnings=tuple(_warnings(contexts)), shared=owners
    )


def _warnings(contexts: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Say what of the suites is not as one might think, a sentence each."""
    for name, counts in contexts.items():
        for reason, count in counts["left_out"].items():
            yield f"{name}: {count:,} without a context: {reason}"
        if count := counts["conflicts"]:
            yield f"{name}: {count:,} items share a context with an item of another label, which is taken"
        if count := counts["contradicted"]:
            yield f"{name}: {count:,} items have another number than their good word in the list, which is taken"


def _guests(owners: Owners, found: Asking, digests: list[Any]) -> None:
    """Keep the items whose context an earlier suite owns, and let the names of its shards depend on them."""
    for digest, one in found.contexts.items():
        if digest in owners.units:
            owners.guests.setdefault(digest, []).extend(one.askers)
            _enter(digests[owners.units[digest]], digest.hex(), [asdict(asker) for asker in one.askers])


def _counted(found: Asking, fresh: int) -> dict[str, Any]:
    return {
        "contexts": len(found.contexts),
        "asked": fresh,
        "items": found.items,
        "left_out": dict(found.left_out),
        "conflicts": found.conflicts,
        "contradicted": found.contradicted,
    }


def _nothing(contexts: dict[str, dict[str, Any]]) -> InputError:
    reasons = {
        f"{name}: {reason} ({count} items)"
        for name, counts in contexts.items()
        for reason, count in counts["left_out"].items()
    }
    return InputError(
        "the suites", "no item makes a context", "pairs of sentences that differ in one word",
        "; ".join(sorted(reasons)[:5]) + ". docs/guide/gaps.md says what makes one.",
    )  # fmt: skip


def _hash(*content: object) -> Any:
    return hashlib.sha256(json.dumps(content).encode())


def _enter(digest: Any, *content: object) -> None:
    digest.update(json.dumps(content).encode())
