"""The plan of a fill run: units of the distinct contexts of all its suites.

Each context is scored once, and belongs to the suite in which it first appears. Items of later suites with the same
context are judged by the same answer; they are the only items that the plan keeps in memory.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from syntagm.core import InputError, Shape
from syntagm.evaluation.gaps.context import ContextItem, DistinctContext, Labels, SuiteContexts, suite_contexts
from syntagm.evaluation.slices import suite_hash
from syntagm.evaluation.task import Plan, SuiteRecord, Unit, suite_record
from syntagm.suites import Suite

SIZE = 512
TSE = "(word;%good%) < (word;%bad%)"
VERSION = 1
# The shape of the counts of a suite in run.json; see `io.shape.check`.
COUNTS_SHAPE: Shape = {
    "contexts": int,
    "asked": int,
    "items": int,
    "left_out": {str: int},
    "conflicts": int,
    "contradicted": int,
}


@dataclass(slots=True)
class Owners:
    """The unit of each context, and the items of later suites with the same context."""

    units: dict[bytes, int] = field(default_factory=dict)  # digest of a context -> the index of its unit in the plan
    suites: list[str] = field(default_factory=list)  # the suite of each unit
    # Digest -> the items of later suites with this context.
    guests: dict[bytes, list[ContextItem]] = field(default_factory=dict)

    def own(self, suite: str, of_suite: SuiteContexts) -> dict[bytes, DistinctContext]:
        """Return the contexts that first appear in a given suite, in order, with their items from all suites."""
        contexts = {
            digest: context for digest, context in of_suite.contexts.items() if self.suites[self.units[digest]] == suite
        }
        for digest, context in contexts.items():
            context.items.extend(self.guests.get(digest, ()))
        return contexts


def plan(suites: Iterable[Suite], labels: Labels, left_only: bool, measures: Iterable[str], identity: str) -> Plan:
    """Plan a run in one pass over all suites, keeping one suite in memory at a time."""
    owners, units, records = Owners(), list[Unit](), list[SuiteRecord]()
    contexts: dict[str, dict[str, Any]] = {}
    digests: list[Any] = []
    # TSE is a comparison of two words, with a formula to show. The other measures have no formula.
    predictions = {name: TSE if name == "tse" else "" for name in measures}
    for suite in suites:
        of_suite = suite_contexts(suite, labels, left_only)
        first_seen = [digest for digest in of_suite.contexts if digest not in owners.units]
        _guests(owners, of_suite, digests)
        own = list[Unit]()
        for first in range(0, len(first_seen), SIZE):
            digests_of_unit = first_seen[first : first + SIZE]
            owners.units |= dict.fromkeys(digests_of_unit, len(units) + len(own))
            owners.suites.append(suite.name)
            own.append(Unit("", suite.name, first, first + len(digests_of_unit), len(digests_of_unit)))
            digests.append(_hash(VERSION, identity, suite.name, first))
            for digest in digests_of_unit:
                context = of_suite.contexts[digest]
                items = [asdict(item) for item in context.items]
                _update(digests[-1], context.left, context.right, context.capital, items)
        units += own
        records.append(suite_record(suite, suite_hash(suite), predictions, own))
        contexts[suite.name] = _counted(of_suite, len(first_seen))
    if not units:
        raise _no_contexts(contexts)
    # A unit's name depends on the items of later suites, too.
    units = [replace(unit, name=digest.hexdigest()[:32]) for unit, digest in zip(units, digests, strict=True)]
    names = {record.name: tuple(unit.name for unit in units if unit.suite == record.name) for record in records}
    records = [replace(record, shards=own, asked=bool(own)) for record in records for own in [names[record.name]]]
    return Plan(
        tuple(records), tuple(units), {"contexts": contexts}, warnings=tuple(_warnings(contexts)), shared=owners
    )


def _warnings(contexts: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield a warning about each unexpected property of the suites."""
    for name, counts in contexts.items():
        for reason, count in counts["left_out"].items():
            yield f"{name}: {count:,} without a context: {reason}"
        if count := counts["conflicts"]:
            yield f"{name}: {count:,} items share a context with an item of another label, which is used"
        if count := counts["contradicted"]:
            yield f"{name}: {count:,} items have another number than their good word in the list, which is used"


def _guests(owners: Owners, of_suite: SuiteContexts, digests: list[Any]) -> None:
    """Record the items whose context belongs to an earlier suite, and add them to the digest of that suite's unit."""
    for digest, context in of_suite.contexts.items():
        if digest in owners.units:
            owners.guests.setdefault(digest, []).extend(context.items)
            _update(digests[owners.units[digest]], digest.hex(), [asdict(item) for item in context.items])


def _counted(of_suite: SuiteContexts, first_seen: int) -> dict[str, Any]:
    return {
        "contexts": len(of_suite.contexts),
        "asked": first_seen,
        "items": of_suite.item_count,
        "left_out": dict(of_suite.skipped),
        "conflicts": of_suite.conflicts,
        "contradicted": of_suite.contradicted,
    }


def _no_contexts(contexts: dict[str, dict[str, Any]]) -> InputError:
    reasons = {
        f"{name}: {reason} ({count} items)"
        for name, counts in contexts.items()
        for reason, count in counts["left_out"].items()
    }
    return InputError(
        "the suites", "no item has a context", "pairs of sentences that differ in one word",
        "; ".join(sorted(reasons)[:5]) + ". docs/guide/gaps.md explains contexts.",
    )  # fmt: skip


def _hash(*content: object) -> Any:
    return hashlib.sha256(json.dumps(content).encode())


def _update(digest: Any, *content: object) -> None:
    digest.update(json.dumps(content).encode())
