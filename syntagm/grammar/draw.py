"""Three ways to fill the slots: a table row by row, a cross combination by combination, a sample draw by draw.

Random numbers come from `random.Random.random`, the only method of the standard library whose sequence is promised to stay
the same for a seed, on every platform and in every version.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from syntagm.errors import InputError
from syntagm.grammar import lexicon
from syntagm.grammar.cells import MISSING, Table
from syntagm.grammar.lexicon import Word
from syntagm.grammar.plan import Plan

MAX_ITEMS = 1_000_000
TRIES = 1_000


@dataclass(frozen=True, slots=True)
class Filled:
    """One item to be: its id, the plan that it follows, and the word in each slot."""

    id: str
    plan: Plan
    words: Mapping[str, Word]


def rows(plans: Sequence[Plan], table: Table, n: int | None) -> Iterator[Filled]:
    """The items of a table, the first `n` if a number is given; InputError if a pattern needs a form that is `-`."""
    for row in table.rows[:n]:
        forms: dict[str, dict[str, str]] = {}
        for column, cell in row.cells.items():
            slot, _, form = column.partition(".")
            forms.setdefault(slot, {})[form] = cell
        words = {slot: Word(row.place, named) for slot, named in forms.items()}
        for plan in plans:
            _refuse_missing(plan, words)
            values = "-".join(plan.values.values())
            yield Filled(f"{row.number}-{values}" if len(plans) > 1 else str(row.number), plan, words)


def _refuse_missing(plan: Plan, words: Mapping[str, Word]) -> None:
    for one in plan.conditions.values():
        for piece in one.pieces():
            if piece.slot and words[piece.slot].forms[piece.form] == MISSING:
                column = f"{piece.slot}.{piece.form}" if piece.form else piece.slot
                cure = 'Fill it in, or write "" for nothing.'
                raise InputError(
                    f"{words[piece.slot].place}, {column}", "no such form (-)", f"one, for {one.place}", cure
                )


def bound(plans: Sequence[Plan]) -> int:
    """How many combinations a cross has, before the conditions between slots; nothing is generated for it."""
    return sum(plan.size for plan in plans)


def cross(plans: Sequence[Plan], place: str, n: int | None, seed: int) -> Iterator[Filled]:
    """The combinations of a cross, each under its rank from 1 as id: all, or `n` drawn evenly from the configurations.

    A combination is computed from its rank; no list of them is made.

    Raises:
        InputError: more than a million combinations and no `n`.
    """
    if n is None and bound(plans) > MAX_ITEMS:
        cure = "Draw some of them (-n N), or take words out."
        raise InputError(place, f"{bound(plans):,} combinations", f"at most {MAX_ITEMS:,}", cure)
    before = [0, *accumulate(plan.size for plan in plans)]
    generator = random.Random(f"syntagm {seed}")
    for plan, first, quota in zip(plans, before, _quotas(n, len(plans)), strict=False):
        chosen = range(plan.size) if quota is None else _ranks(plan, quota, generator)
        for rank in chosen:
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


def _quotas(n: int | None, number: int) -> list[int | None]:
    """`n` divided among the configurations, one more for the first ones if it doesn't come out even."""
    return [None] * number if n is None else [n // number + (index < n % number) for index in range(number)]


def _ranks(plan: Plan, quota: int, generator: random.Random) -> list[int]:
    """At most `quota` ranks that no condition excludes, each as likely as any other, in order."""
    if plan.size <= max(2 * quota, TRIES):
        allowed = [rank for rank in range(plan.size) if unrank(plan, rank) is not None]
        return sorted(_shuffled(allowed, quota, generator))
    found: set[int] = set()
    tried: set[int] = set()
    while len(found) < quota and len(tried) < plan.size // 2:
        rank = int(generator.random() * plan.size)
        if rank not in tried and unrank(plan, rank) is not None:
            found.add(rank)
        tried.add(rank)
    return sorted(found)


def _shuffled(ranks: list[int], quota: int, generator: random.Random) -> list[int]:
    """The first `quota` of a random order (Fisher and Yates)."""
    for place in range(min(quota, len(ranks))):
        other = place + int(generator.random() * (len(ranks) - place))
        ranks[place], ranks[other] = ranks[other], ranks[place]
    return ranks[:quota]


class Sample:
    """Draws of a sample: the slots in order, each word as likely as any other that the slots before allow."""

    def __init__(self, plans: Sequence[Plan], place: str, seed: int) -> None:
        self.plans, self.place = plans, place
        self.generator = random.Random(f"syntagm {seed}")
        self._allowed: dict[tuple[int, int, tuple[str, ...]], list[Word]] = {}

    def draw(self, number: int) -> dict[str, Word]:
        """The words of one item of the plan of this number.

        Raises:
            InputError: a thousand draws in a row came to a slot that no word can fill.
        """
        stuck = ""
        for _ in range(TRIES):
            words: dict[str, Word] = {}
            for index, slot in enumerate(self.plans[number].slots):
                allowed = self._words(number, index, words)
                if not allowed:
                    stuck = slot.name
                    break
                words[slot.name] = allowed[int(self.generator.random() * len(allowed))]
            else:
                return words
        found = f"no word meets the conditions in {TRIES:,} draws{_where(self.plans[number])}"
        cure = "Loosen the conditions of this slot or of those before it, or add words."
        raise InputError(f"{self.place}, slot {stuck}", found, "at least one", cure)

    def _words(self, number: int, index: int, words: Mapping[str, Word]) -> list[Word]:
        """The words that a slot can have after those before it; kept by the features that count."""
        slot = self.plans[number].slots[index]
        features = [one for one in slot.depends if one.column]
        key = number, index, tuple(words[one.slot].forms[one.other] for one in features)
        if key not in self._allowed:
            allowed = [word for word in slot.words if all(lexicon.holds(one, word, {}, words) for one in features)]
            self._allowed[key] = allowed
        taken = [words[one.slot] for one in slot.depends if not one.column]
        return [word for word in self._allowed[key] if all(word is not other for other in taken)]


def sample(
    plans: Sequence[Plan], place: str, n: int, seed: int, texts: Callable[[Filled], tuple[str, ...]]
) -> Iterator[Filled]:
    """`n` different items, the configurations by turns; the first k of them are those of a smaller `n`.

    Arguments:
        plans: the configurations.
        place: for messages.
        n: how many.
        seed: of the draws.
        texts: the sentences of an item; an item whose sentences were there before is drawn again.

    Raises:
        InputError: no words meet the conditions, or there are fewer than `n` different items.
    """
    if n > MAX_ITEMS:
        raise InputError(place, f"{n:,} items", f"at most {MAX_ITEMS:,}")
    source, seen = Sample(plans, place, seed), set[tuple[str, ...]]()
    for number in range(n):
        for _ in range(TRIES):
            turn = number % len(plans)
            made = Filled(str(number + 1), plans[turn], source.draw(turn))
            if (said := texts(made)) not in seen:
                break
        else:
            found = f"{number:,} different items and then {TRIES:,} repetitions{_where(plans[turn])}"
            raise InputError(place, found, f"{n:,} different items", "Ask for fewer (-n N), or add words.")
        seen.add(said)
        yield made


def _where(plan: Plan) -> str:
    return " where " + ", ".join(f"{name} = {value}" for name, value in plan.values.items()) if plan.values else ""
