"""Three ways to fill the slots: a table row by row, a cross combination by combination, a sample draw by draw.

Random numbers come from `random.Random.random`, the only method of the standard library whose sequence is promised to stay
the same for a seed, on every platform and in every version.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, islice

from syntagm.errors import InputError
from syntagm.templates import lexicon
from syntagm.templates.cells import MISSING, Table
from syntagm.templates.lexicon import Word
from syntagm.templates.plan import Plan

MAX_ITEMS = 1_000_000
MAX_BOUND = 10**15
LISTED = 1_000_000
TRIES = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """One item to be: its id, the plan that it follows, and the word in each slot."""

    id: str
    plan: Plan
    words: Mapping[str, Word]


def rows(plans: Sequence[Plan], table: Table, n: int | None) -> Iterator[Filled]:
    """The items of a table, row by row, each row in all configurations; the first `n` if a number is given.

    Raises:
        InputError: a pattern needs a form that is `-`; more than a million items.
    """
    if (size := len(table.rows) * len(plans)) > MAX_ITEMS and (n is None or n > MAX_ITEMS):
        raise InputError(table.place, f"{size:,} items", f"at most {MAX_ITEMS:,}", "Take rows or variables out.")
    return islice(_rows(plans, table), n)


def _rows(plans: Sequence[Plan], table: Table) -> Iterator[Filled]:
    number = 0
    for row in table.rows:
        forms: dict[str, dict[str, str]] = {}
        for column, cell in row.cells.items():
            slot, _, form = column.partition(".")
            forms.setdefault(slot, {})[form] = cell
        words = {slot: Word(row.place, named) for slot, named in forms.items()}
        for plan in plans:
            number += 1
            if MISSING in row.cells.values():
                _refuse_missing(plan, words)
            yield Filled(str(number), plan, words)


def _refuse_missing(plan: Plan, words: Mapping[str, Word]) -> None:
    for one in plan.conditions.values():
        for piece in one.pieces():
            if piece.slot and words[piece.slot].forms[piece.form] == MISSING:
                place = f"{words[piece.slot].place}, {piece.slot}{'.' if piece.form else ''}{piece.form}"
                raise InputError(
                    place, "no such form (-)", f"one, for {one.place}", 'Fill it in, or write "" for nothing.'
                )


def bound(plans: Sequence[Plan]) -> int:
    """How many combinations a cross has, before the conditions between slots; nothing is generated for it."""
    return sum(plan.size for plan in plans)


def cross(plans: Sequence[Plan], place: str, n: int | None, seed: int) -> Iterator[Filled]:
    """The combinations of a cross, each under its rank from 1 as id: all, or `n` drawn evenly from the configurations.

    A combination is computed from its rank; no list of them is made. If there are fewer than `n`, all are taken.

    Raises:
        InputError: more than a million combinations and no `n`; more than 10^15; too few that meet the conditions are
            found.
    """
    total = bound(plans)
    if total > MAX_BOUND:
        cure = 'Take words or slots out, or write fill = "sample".'
        raise InputError(place, f"more than {MAX_BOUND:,} combinations", "fewer", cure)
    if (n is None and total > MAX_ITEMS) or (n or 0) > MAX_ITEMS:
        found = f"{total:,} combinations" if n is None else f"{n:,} items asked for"
        raise InputError(place, found, f"at most {MAX_ITEMS:,}", "Draw some of them (-n N), or take words out.")
    before = [0, *accumulate(plan.size for plan in plans)]
    chosen = [range(plan.size) for plan in plans] if n is None else _drawn(plans, n, seed, place)
    for plan, first, ranks in zip(plans, before, chosen, strict=False):
        for rank in ranks:
            if (words := unrank(plan, rank)) is not None:
                yield Filled(str(first + rank + 1), plan, words)


def unrank(plan: Plan, rank: int) -> dict[str, Word] | None:
    """The combination of a rank, from 0, the last slot fastest; None if a condition between slots excludes it."""
    words: dict[str, Word] = {}
    for slot in reversed(plan.slots):
        rank, index = divmod(rank, len(slot.words))
        words[slot.name] = slot.words[index]
    for slot in plan.slots:
        if slot.depends and not all(lexicon.holds(one, words[slot.name], {}, words) for one in slot.depends):
            return None
    return words


def _drawn(plans: Sequence[Plan], n: int, seed: int, place: str) -> list[list[int]]:
    """`n` ranks that no condition excludes, as evenly from the plans as can be, each plan's in order."""
    generator = random.Random(f"syntagm {seed}")
    allowed: list[Sequence[int] | None] = []
    listed = 0
    for plan in plans:
        if not any(slot.depends for slot in plan.slots):
            allowed.append(range(plan.size))
        elif (listed := listed + plan.size) <= LISTED:
            allowed.append([rank for rank in range(plan.size) if unrank(plan, rank) is not None])
        else:
            allowed.append(None)
    sizes = [plan.size if ranks is None else len(ranks) for plan, ranks in zip(plans, allowed, strict=True)]
    return [
        sorted(_tried(plan, quota, generator, place) if ranks is None else _shuffled(ranks, quota, generator))
        for plan, ranks, quota in zip(plans, allowed, quotas(n, sizes), strict=True)
    ]


def quotas(n: int, sizes: Sequence[int]) -> list[int]:
    """`n` divided among groups as evenly as their sizes let it, one more for the first ones if it doesn't come out even.

    >>> quotas(10, [1, 20, 20, 0]), quotas(9, [2, 3])
    ([1, 5, 4, 0], [2, 3])
    """
    made = [0] * len(sizes)
    while n and (free := [index for index, size in enumerate(sizes) if made[index] < size]):
        share = max(1, n // len(free))
        for index in free[:n]:
            more = min(share, sizes[index] - made[index])
            made[index] += more
            n -= more
    return made


def _tried(plan: Plan, quota: int, generator: random.Random, place: str) -> set[int]:
    """`quota` allowed ranks of a plan that is too big to list, each as likely as any other."""
    found: set[int] = set()
    for _ in range(LISTED + 20 * quota):
        if len(found) == quota:
            return found
        rank = int(generator.random() * plan.size)
        if rank not in found and unrank(plan, rank) is not None:
            found.add(rank)
    said = f"{len(found):,} of {quota:,} items in {LISTED + 20 * quota:,} draws{where(plan)}"
    raise InputError(place, said, "more words that meet the conditions", 'Ask for fewer (-n N), or fill = "sample".')


def _shuffled(ranks: Sequence[int], quota: int, generator: random.Random) -> list[int]:
    """The first `quota` of a random order (Fisher and Yates), of which only what was moved is kept."""
    moved: dict[int, int] = {}
    chosen = []
    for place in range(quota):
        other = place + int(generator.random() * (len(ranks) - place))
        chosen.append(ranks[moved.get(other, other)])
        moved[other] = moved.get(place, place)
    return chosen


def where(plan: Plan) -> str:
    """The configuration of a plan, for messages."""
    return " where " + ", ".join(f"{name} = {value}" for name, value in plan.values.items()) if plan.values else ""
