"""Filling of slots from the rows of a table, or by all combinations of words (a cross). `sample.py` fills them at random.

Random numbers come from `random.Random.random`. It is the only method of the standard library that is documented to give
the same sequence for a seed on every platform and in every version.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from syntagm.core import InputError
from syntagm.suites.templates import expression
from syntagm.suites.templates.cells import MISSING, Table
from syntagm.suites.templates.expand import Effort
from syntagm.suites.templates.expression import Expression
from syntagm.suites.templates.lexicon import Word
from syntagm.suites.templates.plan import Plan

MAX_ITEMS = 1_000_000
MAX_BOUND = 10**15
LISTED, DRAWS = 1_000_000, 250_000
# A comparison of words takes as long as three comparisons of groups of words.
_PAIRS = 3
TRIES = 1_000


# A text, and the bounds of its regions: start and end of each.
Spelled = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Filled:
    id: str
    plan: Plan  # its configuration
    words: Mapping[str, Word]  # the word in each slot
    # For each group of `plan.together`, condition -> sentence; empty if it was drawn without its sentences.
    spelled: Sequence[Mapping[str, Spelled]] = ()

    @property
    def own(self) -> Mapping[str, Spelled] | None:
        """Condition -> sentence of the item's own suite; None if it was drawn without its sentences."""
        groups = zip(self.plan.together, self.spelled, strict=False)
        return next((spelled for group, spelled in groups if group is self.plan.conditions), None)


def rows(plans: Sequence[Plan], table: Table, n: int | None) -> Iterator[Filled]:
    """Yield the items of a table: each row in all configurations, in order."""
    if (size := len(table.rows) * len(plans)) > MAX_ITEMS and (n is None or n > MAX_ITEMS):
        raise InputError(table.place, f"{size:,} items", f"at most {MAX_ITEMS:,}", "Remove rows or variables.")
    return islice(_rows(plans, table), n)


def _rows(plans: Sequence[Plan], table: Table) -> Iterator[Filled]:
    number = 0
    for row in table.rows:
        forms: dict[str, dict[str, str]] = {}
        for column, cell in row.cells.items():
            slot, _, form = column.partition(".")
            forms.setdefault(slot, {})[form] = cell
        words = {slot: Word(row.place, named_forms) for slot, named_forms in forms.items()}
        for plan in plans:
            number += 1
            if MISSING in row.cells.values():
                _refuse_missing(plan, words)
            yield Filled(str(number), plan, words)


def _refuse_missing(plan: Plan, words: Mapping[str, Word]) -> None:
    for pattern in plan.conditions.values():
        for piece in pattern.pieces():
            if piece.slot and words[piece.slot].forms[piece.form] == MISSING:
                place = f"{words[piece.slot].place}, {piece.slot}{'.' if piece.form else ''}{piece.form}"
                cure = 'Fill it in, or write "" for the empty text.'
                raise InputError(place, "no such form (-)", f"a form, for {pattern.place}", cure)


def cross(plans: Sequence[Plan], place: str, n: int | None, seed: int, effort: Effort) -> Iterator[Filled]:
    """Yield the combinations of a cross; the id of each is its rank from 1."""
    # A combination is computed from its rank, without a list of all combinations.
    total = sum(plan.size for plan in plans)
    if total > MAX_BOUND:
        cure = 'Remove words or slots, or write fill = "sample".'
        raise InputError(place, f"more than {MAX_BOUND:,} combinations", "fewer combinations", cure)
    if (n is None and total > MAX_ITEMS) or (n or 0) > MAX_ITEMS:
        found = f"{total:,} combinations" if n is None else f"{n:,} items requested"
        raise InputError(place, found, f"at most {MAX_ITEMS:,}", "Draw some of them (-n N), or remove words.")
    before = [0, *accumulate(plan.size for plan in plans)]
    chosen = [range(plan.size) for plan in plans] if n is None else _draw(plans, n, seed, place, effort)
    for plan, first, ranks in zip(plans, before, chosen, strict=False):
        cost = _comparisons(plan.joint)
        for rank in ranks:
            effort.compare(cost)
            if (words := unrank(plan, rank)) is not None:
                yield Filled(str(first + rank + 1), plan, words)


def unrank(plan: Plan, rank: int) -> dict[str, Word] | None:
    """Return the combination with a rank from 0, where the last slot varies fastest."""
    # The result is None if a condition between slots excludes the combination.
    words: dict[str, Word] = {}
    for slot in reversed(plan.slots):
        rank, index = divmod(rank, len(slot.words))
        words[slot.name] = slot.words[index]
    return words if meets(plan.joint, words) else None


def meets(conditions: Sequence[Expression], words: Mapping[str, Word]) -> bool:
    if not conditions:
        return True
    cells = {slot: word.forms for slot, word in words.items()}
    entries = {slot: word.entry for slot, word in words.items()}
    return all(expression.holds(condition, cells, entries) for condition in conditions)


def _draw(plans: Sequence[Plan], n: int, seed: int, place: str, effort: Effort) -> list[list[int]]:
    """Draw `n` ranks that no condition excludes, spread over the plans as evenly as possible. The ranks of a plan are sorted."""
    generator = random.Random(f"syntagm {seed}")
    allowed: list[Sequence[int] | None] = []
    listed = 0
    for plan in plans:
        if not plan.joint:
            allowed.append(range(plan.size))
        elif (listed := listed + plan.size) <= LISTED:
            allowed.append(list(_allowed(plan, effort)))
        else:
            allowed.append(None)
    sizes = [plan.size if ranks is None else len(ranks) for plan, ranks in zip(plans, allowed, strict=True)]
    return [
        sorted(
            _draw_unlisted(plan, quota, generator, place, effort)
            if ranks is None
            else _draw_listed(ranks, quota, generator)
        )
        for plan, ranks, quota in zip(plans, allowed, quotas(n, sizes), strict=True)
    ]


def _comparisons(conditions: Sequence[Expression]) -> int:
    return sum(1 for condition in conditions for _ in expression.atoms(condition))


def _allowed(plan: Plan, effort: Effort) -> Iterator[int]:
    """Yield the ranks of a plan with slots that no condition excludes, in order."""
    # Slots get words from the first to the last. A condition is checked as soon as its slots have words, so that what
    # it excludes is never listed.
    names = [slot.name for slot in plan.slots]
    due: list[list[Expression]] = [[] for _ in names]
    for condition in plan.joint:
        due[max(map(names.index, expression.slots(condition)))].append(condition)
    costs = [_PAIRS * _comparisons(conditions) for conditions in due]
    cells: dict[str, Mapping[str, str]] = {}
    entries: dict[str, str] = {}
    place, indices, ranks = 0, [-1] * len(names), [0] * len(names)
    while place >= 0:
        words = plan.slots[place].words
        index = indices[place] = indices[place] + 1
        if index == len(words):
            indices[place] = -1
            place -= 1
            continue
        effort.compare(costs[place])
        cells[names[place]], entries[names[place]] = words[index].forms, words[index].entry
        if all(expression.holds(condition, cells, entries) for condition in due[place]):
            rank = ranks[place] * len(words) + index
            if place + 1 == len(names):
                yield rank
            else:
                place += 1
                ranks[place] = rank


def quotas(n: int, sizes: Sequence[int]) -> list[int]:
    """Divide `n` among groups as evenly as their sizes allow. The first groups get the remainder.

    >>> quotas(10, [1, 20, 20, 0]), quotas(9, [2, 3])
    ([1, 5, 4, 0], [2, 3])
    """
    shares = [0] * len(sizes)
    while n and (free := [index for index, size in enumerate(sizes) if shares[index] < size]):
        step = max(1, n // len(free))
        for index in free[:n]:
            more = min(step, sizes[index] - shares[index])
            shares[index] += more
            n -= more
    return shares


def _draw_unlisted(plan: Plan, quota: int, generator: random.Random, place: str, effort: Effort) -> set[int]:
    """Draw `quota` allowed ranks, uniformly, from a plan that is too big to list."""
    ranks: set[int] = set()
    size, draws, cost = plan.size, DRAWS + 20 * quota, len(plan.slots) + _comparisons(plan.joint)
    for _ in range(draws):
        if len(ranks) == quota:
            return ranks
        rank = int(generator.random() * size)
        if rank not in ranks and unrank(plan, rank) is not None:
            ranks.add(rank)
        else:
            effort.compare(cost)
    found = f"{len(ranks):,} of {quota:,} items in {draws:,} draws{where(plan.values)}"
    raise InputError(place, found, "more words that meet the conditions", 'Ask for fewer (-n N), or fill = "sample".')


def _draw_listed(ranks: Sequence[int], quota: int, generator: random.Random) -> list[int]:
    """Return the first `quota` of the ranks in random order (Fisher-Yates). Only moved entries are kept in memory."""
    moved: dict[int, int] = {}
    chosen = []
    for place in range(quota):
        other = place + int(generator.random() * (len(ranks) - place))
        chosen.append(ranks[moved.get(other, other)])
        moved[other] = moved.get(place, place)
    return chosen


def where(values: Mapping[str, str]) -> str:
    """Describe a configuration by the values of its variables, for messages."""
    listed = ", ".join(f"{name:.100} = {value:.100}" for name, value in values.items())
    return f" where {listed:.300}" if values else ""
