"""Random filling of slots: each slot in turn gets a word that the words in earlier slots allow."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syntagm.errors import InputError
from syntagm.templates import lexicon
from syntagm.templates.draw import MAX_ITEMS, TRIES, Filled, where
from syntagm.templates.lexicon import Word
from syntagm.templates.plan import Plan

MAX_TRIES = 100_000
MAX_CACHED = 2_000_000

Allowed = dict[tuple[int, int, tuple[str, ...]], list[Word]]


def sample(
    plans: Sequence[Plan], place: str, n: int, seed: int, texts: Callable[[Filled], Sequence[tuple[str, ...]]]
) -> Iterator[Filled]:
    """Draw `n` different items, using the configurations in turn. The first k items are the same for every `n` >= k.

    Arguments:
        plans: the configurations.
        place: the template, for messages.
        n: the number of items.
        seed: the seed of the random draws.
        texts: function that returns the sentences of an item for each suite that shares the draws. If they repeat an
            earlier item in any of these suites, the item is drawn again. So the items of all these suites have the same
            words.

    Raises:
        InputError: no words meet the conditions, or there are fewer than `n` different items.
    """
    if n > MAX_ITEMS:
        raise InputError(place, f"{n:,} items", f"at most {MAX_ITEMS:,}", "Ask for fewer.")
    draws = _Draws(plans, place, random.Random(f"syntagm {seed}"))
    seen: dict[int, set[tuple[str, ...]]] = {}
    # If there are just a thousand different items, the last one takes a thousand draws on average, and often many more.
    tries = min(max(TRIES, 20 * n), MAX_TRIES)
    for number in range(n):
        turn = number % len(plans)
        for _ in range(tries):
            item = Filled(str(number + 1), plans[turn], draws.draw(turn))
            item_texts = texts(item)
            if not any(sentences in seen.get(suite, ()) for suite, sentences in enumerate(item_texts)):
                break
        else:
            found = f"{number:,} different items and then {tries:,} repetitions{where(plans[turn])}"
            raise InputError(place, found, f"{n:,} different items", "Ask for fewer (-n N), or add words.")
        for suite, sentences in enumerate(item_texts):
            seen.setdefault(suite, set()).add(sentences)
        yield item


@dataclass(slots=True)
class _Draws:
    """The random generator, and a cache of the words that can fill a slot, by the features of earlier words."""

    plans: Sequence[Plan]
    place: str
    generator: random.Random
    allowed: Allowed = field(default_factory=dict)
    cached: int = 0

    def draw(self, number: int) -> dict[str, Word]:
        """Draw the words of an item.

        Arguments:
            number: the index of the plan.

        Raises:
            InputError: in a thousand successive draws, there was a slot that no word could fill.
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
        raise InputError(f"{self.place}, slot {stuck}", found, "at least one word", cure)

    def _words(self, number: int, index: int, words: Mapping[str, Word]) -> Sequence[Word]:
        slot = self.plans[number].slots[index]
        if not slot.depends:
            return slot.words
        features = [condition for condition in slot.depends if condition.column]
        key = number, index, tuple(words[condition.slot].forms[condition.other] for condition in features)
        if key not in self.allowed:
            if self.cached > MAX_CACHED:
                self.allowed.clear()
                self.cached = 0
            met = [
                word for word in slot.words if all(lexicon.holds(condition, word, {}, words) for condition in features)
            ]
            self.allowed[key] = met
            self.cached += len(met) + 1
        excluded = [words[condition.slot] for condition in slot.depends if not condition.column]
        if not excluded:
            return self.allowed[key]
        return [word for word in self.allowed[key] if all(word is not other for other in excluded)]
