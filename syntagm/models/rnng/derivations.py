"""Partial derivations of many prefixes at once, the history of their actions, and ranking prefix by prefix."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.int64]
Floats = NDArray[np.float64]
Marks = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Items:
    """Partial derivations, sorted by prefix. Each field has the shape (derivations,)."""

    prefix: Numbers  # the number of the prefix that the derivation has generated
    score: Floats  # the logarithm of the derivation's probability
    state: Numbers  # its state in the grammar
    opened: Numbers  # the number of its open constituents
    row: Numbers  # the number of constituents opened since the last other action
    past: Numbers  # its last entry in the history

    def __len__(self) -> int:
        return len(self.prefix)

    def at(self, index: Numbers | Marks) -> "Items":
        """Return a selection of derivations."""
        return Items(*(getattr(self, field.name)[index] for field in fields(self)))

    def with_state(self, state: Numbers) -> "Items":
        """Return the same derivations with other numbers of their states."""
        return Items(self.prefix, self.score, state, self.opened, self.row, self.past)

    def after(self, parents: Numbers) -> "Items":
        """Return a copy of the derivations of prefix `parents[i]` as those of prefix i, for each i."""
        first, last = (np.searchsorted(self.prefix, parents, side) for side in ("left", "right"))
        copies = self.at(_ranges(first, last))
        prefix = np.repeat(np.arange(len(parents)), last - first)
        return Items(prefix, copies.score, copies.state, copies.opened, copies.row, copies.past)

    def joined(self, others: "Items") -> "Items":
        """Return these derivations and then the others; they are no longer sorted."""
        return Items(
            *(np.concatenate([getattr(items, field.name) for items in (self, others)]) for field in fields(self))
        )

    def pruned(self, count: int) -> "Items":
        """Return the `count` best derivations of each prefix; of equally good ones, the first."""
        order = np.lexsort((-self.score, self.prefix))
        prefix = self.prefix[order]
        rank = np.arange(len(order)) - np.searchsorted(prefix, prefix)
        return self.at(order[rank < count])

    def log_sums(self, prefixes: int) -> Floats:
        """Return the logarithm of the summed probability of the derivations of each prefix; -inf without derivations."""
        maxima = np.full(prefixes, -np.inf)
        np.maximum.at(maxima, self.prefix, self.score)
        sums = np.zeros(prefixes)
        np.add.at(sums, self.prefix, np.exp(self.score - maxima[self.prefix]))
        with np.errstate(divide="ignore"):
            return maxima + np.log(sums)

    def best(self, prefixes: int) -> Numbers:
        """Return the last entry in the history of the best derivation of each prefix; -1 without derivations."""
        best = np.full(prefixes, -1)
        first = self.pruned(1)
        best[first.prefix] = first.past
        return best


class History:
    """The actions of all derivations, as a forest: each entry has an action and the entry before it."""

    def __init__(self) -> None:
        self._before: list[Numbers] = []
        self._actions: list[Numbers] = []
        self._size = 0

    def add(self, before: Numbers, actions: Numbers) -> Numbers:
        """Add an entry after each of the given entries; -1 is the empty derivation. Return the new entries."""
        self._before.append(before)
        self._actions.append(actions)
        self._size += len(before)
        return np.arange(self._size - len(before), self._size)

    def derivations(self, entries: Sequence[int]) -> list[list[int]]:
        """Return the actions that lead to each entry."""
        before = np.concatenate([np.empty(0, np.int64), *self._before])
        actions = np.concatenate([np.empty(0, np.int64), *self._actions])
        derivations = []
        for entry in entries:
            derivation: list[int] = []
            while entry >= 0:
                derivation.append(int(actions[entry]))
                entry = int(before[entry])
            derivations.append(derivation[::-1])
        return derivations


def places(prefix: Numbers) -> tuple[Numbers, Numbers, tuple[int, int]]:
    """Return row and column of each derivation in a table with one row for each prefix, and the shape of the table."""
    _, row, count = np.unique(prefix, return_inverse=True, return_counts=True)
    return row, np.arange(len(prefix)) - (np.cumsum(count) - count)[row], (len(count), int(count.max()))


def nth(table: Floats, count: int) -> Floats:
    """Return the `count`-th highest value of each row, shape (rows, 1); -inf if there are fewer, inf if `count` is 0."""
    if not 0 < count <= table.shape[1]:
        return np.full((len(table), 1), -np.inf if count else np.inf)
    values: Floats = np.partition(table, -count, axis=1)[:, -count, None]
    return values


def highest(table: Floats, count: int) -> Marks:
    """Mark the `count` highest values of each row that are not -inf. Of equal values, the first are taken."""
    if count >= table.shape[1]:
        return table > -np.inf
    if not count:
        return np.zeros(table.shape, bool)
    # The choice must not depend on the width of the table, which depends on the other prefixes.
    lowest = nth(table, count)
    higher, equal = table > lowest, table == lowest
    remaining = count - higher.sum(1, keepdims=True)
    chosen: Marks = (higher | (equal & (np.cumsum(equal, 1) <= remaining))) & (table > -np.inf)
    return chosen


def _ranges(first: Numbers, last: Numbers) -> Numbers:
    """Return the numbers from first[i] to last[i] - 1, for one i after the other."""
    sizes = last - first
    numbers: Numbers = np.arange(sizes.sum()) + np.repeat(first - (np.cumsum(sizes) - sizes), sizes)
    return numbers
