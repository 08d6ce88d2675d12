"""The words of a slot in groups, by the cells that conditions between slots compare, and which groups go together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import Any

from syntagm.suites.templates import expression
from syntagm.suites.templates.cells import MISSING
from syntagm.suites.templates.effort import Effort
from syntagm.suites.templates.expression import Expression, Ref
from syntagm.suites.templates.index import Index, flags
from syntagm.suites.templates.lexicon import Word

# What else costs as much as a pair of groups: a union of 64 groups. Sorting a word into a group costs ten pairs, and finding
# what goes with a group a hundred.
_UNITED, _WORD, _EACH = 64, 10, 100


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The words of a slot, grouped by the cells of some columns."""

    names: tuple[str, ...]  # the columns
    keys: tuple[tuple[str, ...], ...]  # the cells of each group
    words: tuple[tuple[Word, ...], ...]  # the words of each group
    index: Index  # the groups by their cells

    def cells(self, group: int) -> dict[str, str]:
        """Return the cells of a group by column."""
        return dict(zip(self.names, self.keys[group], strict=True))


@dataclass(frozen=True, slots=True, eq=False)
class Relation:
    """Which groups of one slot go with those of another."""

    sets: tuple[int, ...]  # the different sets of groups of the other slot, as bits
    of: tuple[int, ...]  # the number of the set that goes with each group


@dataclass(slots=True)
class Grouper:
    """A maker of groups and relations, which remembers them: many slots have the same words and the same conditions."""

    effort: Effort
    _memory: dict[Any, Any] = field(default_factory=dict)

    def groups(self, words: Sequence[Word], columns: tuple[str, ...]) -> Groups:
        key = id(words), columns
        if key not in self._memory:
            self.effort.compare(len(words) * _WORD)
            by_key: dict[tuple[str, ...], list[Word]] = {}
            for word in words:
                by_key.setdefault(tuple([word.forms.get(name, MISSING) for name in columns]), []).append(word)
            index = Index([dict(zip(columns, cells, strict=True)) for cells in by_key])
            # The words are kept, because their identity is the key.
            self._memory[key] = Groups(columns, tuple(by_key), tuple(map(tuple, by_key.values())), index), words
        groups: Groups = self._memory[key][0]
        return groups

    def relation(self, edge: Expression, groups: Groups, others: Groups) -> Relation:
        """Return which groups of one slot go with those of another."""
        self.effort.compare(_EACH)
        key = edge, id(groups), id(others)
        if key not in self._memory:
            self._memory[key] = self._related(edge, groups, others), groups, others
        relation: Relation = self._memory[key][0]
        return relation

    def _related(self, edge: Expression, groups: Groups, others: Groups) -> Relation:
        compared = columns(edge, "0")
        places = [place for place, name in enumerate(groups.names) if name in compared]
        numbers: dict[int, int] = {}
        by_cells: dict[tuple[str, ...], int] = {}
        of = []
        for group, key in enumerate(groups.keys):
            cells = tuple([key[place] for place in places])
            if cells not in by_cells:
                self.effort.compare(len(others.keys) // _UNITED + _EACH)
                chosen = others.index.meeting(edge, "1", {"0": groups.cells(group)})
                by_cells[cells] = numbers.setdefault(chosen, len(numbers))
            of.append(by_cells[cells])
        return Relation(tuple(numbers), tuple(of))


def columns(edge: Expression, slot: str) -> tuple[str, ...]:
    """Return the columns of a slot that a condition compares, in alphabetical order."""
    return tuple(sorted({ref.name for ref in expression.columns(edge) if ref.slot == slot}))


def members(chosen: int, size: int) -> Iterable[int]:
    """Return the numbers of a set of bits, in order.

    >>> list(members(0b1010, 5)), list(members(1 << 99, 100))
    ([1, 3], [99])
    """
    if chosen.bit_count() * 100 > size:
        return compress(range(size), flags(chosen, size))
    return _few(chosen)


def _few(chosen: int) -> Iterable[int]:
    numbers = []
    while chosen:
        lowest = chosen & -chosen
        numbers.append(lowest.bit_length() - 1)
        chosen ^= lowest
    return numbers


def renamed(edge: Expression, slot: str, other: str) -> Expression:
    """Return a condition with `0` and `1` as the names of its two slots: the relation doesn't depend on the names."""
    names = {slot: "0", other: "1"}
    return expression.bound(edge, lambda ref: Ref(names[ref.slot], ref.name), names.__getitem__)
