"""The distinct contexts of a suite, and which of its items ask in each."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field, replace

from syntagm.suite import Item, Suite
from syntagm.tasks.gaps.context import NO_COMPARISON, Context, Labels, chosen, contexts, knows


@dataclass(frozen=True, slots=True)
class Asker:
    """An item that asks in a context: its two words, and the label of the good one."""

    suite: str
    item: str
    good: str
    bad: str
    label: str


@dataclass(slots=True)
class Asked:
    """A distinct context and its askers, in the order of their items."""

    left: str
    right: str
    capital: bool
    askers: list[Asker] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Asking:
    """What a suite asks.

    Arguments:
        contexts: digest -> context, in order of first appearance.
        left_out: why items make no context, and how many for each reason.
        conflicts: how many items have another label than the first item of their context, whose label is taken.
        contradicted: how many items have a tag `number` that is not the label which the list gives them, and which is taken.
    """

    contexts: dict[bytes, Asked]
    left_out: Counter[str]
    conflicts: int
    contradicted: int

    @property
    def items(self) -> int:
        """How many items ask; one with two comparisons counts twice."""
        return sum(len(one.askers) for one in self.contexts.values())


def asking(suite: Suite, labels: Labels, left_only: bool) -> Asking:
    """Go through the items of a suite.

    Arguments:
        left_only: are contexts with the same left side the same, whatever stands on their right?
    """
    compared = chosen(suite, labels)
    known = knows(suite, compared, labels)
    found: dict[bytes, Asked] = {}
    left_out: Counter[str] = Counter() if compared else Counter({NO_COMPARISON: len(suite.items)})
    conflicts, contradicted, several = 0, 0, len(compared) * (2 if labels.shared else 1) > 1
    for item in (_tagged(item, suite) for item in suite.items):
        for number, made in enumerate(contexts(item, compared, labels, known), 1):
            if isinstance(made, str):
                left_out[made] += 1
                continue
            asker = Asker(suite.name, f"{item.id}/{number}" if several else item.id, made.good, made.bad, made.label)
            one = found.setdefault(_digest(made, left_only), Asked(made.left, made.right, made.capital))
            conflicts += bool(one.askers) and one.askers[0].label != made.label
            contradicted += not several and labels.find("", "", item.tags.get("number")) not in (None, made.label)
            one.askers.append(asker)
    return Asking(found, left_out, conflicts, contradicted)


def _tagged(item: Item, suite: Suite) -> Item:
    """With the tag `number` of the suite, which is where it stands if all items share it."""
    if "number" not in suite.tags or "number" in item.tags:
        return item
    return replace(item, tags={**item.tags, "number": suite.tags["number"]})


def _digest(context: Context, left_only: bool) -> bytes:
    key = [context.left, "" if left_only else context.right, context.capital]
    return hashlib.sha256(json.dumps(key).encode()).digest()[:16]
