"""The distinct contexts of a suite, with the items of each context."""

import hashlib
import json
from collections import Counter
from dataclasses import dataclass, field, replace

from syntagm.evaluation.gaps.context import NO_COMPARISON, NOUNS, Context, Labels, chosen, contexts, knows
from syntagm.suites import Item, Suite


@dataclass(frozen=True, slots=True)
class ContextItem:
    """An item in a context: its two words, and the label of the good one."""

    suite: str
    item: str
    good: str
    bad: str
    label: str


@dataclass(slots=True)
class DistinctContext:
    """A distinct context with its items, in order."""

    left: str
    right: str
    capital: bool
    items: list[ContextItem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SuiteContexts:
    """The distinct contexts of a suite, and counts for the record."""

    contexts: dict[bytes, DistinctContext]  # digest -> context, in order of first appearance
    skipped: Counter[str]  # the reasons why items have no context, with their counts
    conflicts: int
    # The number of items whose tag `number` differs from their label in the list. The label in the list is used.
    contradicted: int

    @property
    def item_count(self) -> int:
        """The number of items with a context; an item with two comparisons counts twice."""
        return sum(len(context.items) for context in self.contexts.values())


def suite_contexts(suite: Suite, labels: Labels, left_only: bool) -> SuiteContexts:
    """Find the distinct contexts of a suite."""
    compared = chosen(suite, labels)
    has_listed_pair = knows(suite, compared, labels)
    distinct_contexts: dict[bytes, DistinctContext] = {}
    skipped: Counter[str] = Counter() if compared else Counter({NO_COMPARISON: len(suite.items)})
    conflicts, contradicted, several = 0, 0, len(compared) * (2 if labels.shared else 1) > 1
    for item in (_tagged(item, suite) for item in suite.items):
        for number, context in enumerate(contexts(item, compared, labels, has_listed_pair), 1):
            if isinstance(context, str) or not has_listed_pair:
                skipped[context if isinstance(context, str) else NOUNS] += 1
                continue
            item_id = f"{item.id}/{number}" if several else item.id
            context_item = ContextItem(suite.name, item_id, context.good, context.bad, context.label)
            empty = DistinctContext(context.left, context.right, context.capital)
            distinct = distinct_contexts.setdefault(_digest(context, left_only), empty)
            conflicts += bool(distinct.items) and distinct.items[0].label != context.label
            contradicted += not several and labels.find("", "", item.tags.get("number")) not in (None, context.label)
            distinct.items.append(context_item)
    return SuiteContexts(distinct_contexts, skipped, conflicts, contradicted)


def _tagged(item: Item, suite: Suite) -> Item:
    """Add the suite's tag `number` to an item without one. A suite has the tag if it is the same for all items."""
    if "number" not in suite.tags or "number" in item.tags:
        return item
    return replace(item, tags={**item.tags, "number": suite.tags["number"]})


def _digest(context: Context, left_only: bool) -> bytes:
    key = [context.left, "" if left_only else context.right, context.capital]
    return hashlib.sha256(json.dumps(key).encode()).digest()[:16]
