"""Fill the slots by draws: each slot in its order, by a word that the slots before allow."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syntagm.errors import InputError
from syntagm.templates import lexicon
from syntagm.templates.draw import MAX_ITEMS, TRIES, Filled, where
from syntagm.templates.lexicon import Word
from syntagm.templates.plan import Plan

MAX_TRIES = 100_000
MAX_KEPT = 2_000_000

Allowed = dict[tuple[int, int, tuple[str, ...]], list[Word]]


def sample(
    plans: Sequence[Plan], place: str, n: int, seed: int, texts: Callable[[Filled], Sequence[tuple[str, ...]]]
) -> Iterator[Filled]:
    """`n` different items, the configurations by turns; the first k of them are those of a smaller `n`.

    Arguments:
        plans: the configurations.
        place: for messages.
        n: how many.
        seed: of the draws.
        texts: the sentences that the draws make, for each suite that shares them. What makes the sentences of an item a
            second time, in one suite or another, is drawn again, so that suites with the same draws keep the same draws.

    Raises:
        InputError: no words meet the conditions, or there are fewer than `n` different items.
    """
    if n > MAX_ITEMS:
        raise InputError(place, f"{n:,} items", f"at most {MAX_ITEMS:,}", "Ask for fewer.")
    draws = _Draws(plans, place, random.Random(f"syntagm {seed}"))
    seen: dict[int, set[tuple[str, ...]]] = {}
    # The last of a thousand different items takes a thousand draws to be found, and often many more.
    tries = min(max(TRIES, 20 * n), MAX_TRIES)
    for number in range(n):
        turn = number % len(plans)
        for _ in range(tries):
            made = Filled(str(number + 1), plans[turn], draws.draw(turn))
            said = texts(made)
            if not any(one in seen.get(suite, ()) for suite, one in enumerate(said)):
                break
        else:
            found = f"{number:,} different items and then {tries:,} repetitions{where(plans[turn])}"
            raise InputError(place, found, f"{n:,} different items", "Ask for fewer (-n N), or add words.")
        for suite, one in enumerate(said):
            seen.setdefault(suite, set()).add(one)
        yield made


@dataclass(slots=True)
class _Draws:
    """The random numbers, and which words a slot can have, kept by the features that count."""

    plans: Sequence[Plan]
    place: str
    generator: random.Random
    allowed: Allowed = field(default_factory=dict)
    kept: int = 0

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
        found = f"no word meets the conditions in {TRIES:,} draws{where(self.plans[number])}"
        cure = "Loosen the conditions of this slot or of those before it, or add words."
        raise InputError(f"{self.place}, slot {stuck}", found, "at least one", cure)

    def _words(self, number: int, index: int, words: Mapping[str, Word]) -> Sequence[Word]:
        slot = self.plans[number].slots[index]
        if not slot.depends:
            return slot.words
        features = [one for one in slot.depends if one.column]
        key = number, index, tuple(words[one.slot].forms[one.other] for one in features)
        if key not in self.allowed:
            if self.kept > MAX_KEPT:
                self.allowed.clear()
                self.kept = 0
            met = [word for word in slot.words if all(lexicon.holds(one, word, {}, words) for one in features)]
            self.allowed[key] = met
            self.kept += len(met) + 1
        taken = [words[one.slot] for one in slot.depends if not one.column]
        if not taken:
            return self.allowed[key]
        return [word for word in self.allowed[key] if all(word is not other for other in taken)]
