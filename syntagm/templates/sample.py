"""Random filling of slots: all combinations of words that meet the conditions of a configuration are equally likely.

Each combination of values of the variables is a cell, and cells take turns. Within a cell, alternatives of rules and
phrases are drawn, each with its weight, and then a combination of words.
"""

import random
from collections import Counter as Counts
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from syntagm.errors import InputError
from syntagm.templates.count import Counted, Counter
from syntagm.templates.draw import MAX_ITEMS, TRIES, Filled, meets, where
from syntagm.templates.expand import TOP, Expansion, Impossible, Needs
from syntagm.templates.expression import FALSE
from syntagm.templates.plan import Plan, Planner, refuse_many
from syntagm.templates.template import Template

MAX_TRIES = 100_000
# How often words are drawn for conditions that are not counted. If none of them fits, the alternatives are drawn anew.
UNCOUNTED_TRIES = 100
_BITS = 53


def sample(
    template: Template, n: int, seed: int, texts: Callable[[Filled], Sequence[tuple[str, ...]]]
) -> Iterator[Filled]:
    """Draw `n` different items, using the cells in turn. The first k items are the same for every `n` >= k.

    Arguments:
        template: the template.
        n: the number of items.
        seed: the seed of the random draws.
        texts: function that returns the sentences of an item for each suite that shares the draws. If one of them
            repeats a sentence of the same suite, the item is drawn again. So the items of all these suites have the
            same words.

    Raises:
        InputError: no words meet the conditions, or there are fewer than `n` different items.
    """
    if n > MAX_ITEMS:
        raise InputError(template.place, f"{n:,} items", f"at most {MAX_ITEMS:,}", "Ask for fewer.")
    draws = Draws(template, random.Random(f"syntagm {seed} {template.stream}".rstrip()))
    cells = draws.cells()
    seen: dict[int, set[str]] = {}
    # If there are just a thousand different items, the last one takes a thousand draws on average, and often many more.
    tries = min(max(TRIES, 20 * n), MAX_TRIES)
    for number in range(n):
        cell = cells[number % len(cells)]
        refused: Counts[str] = Counts()
        for _ in range(tries):
            item = draws.draw(cell, str(number + 1), refused)
            if item is None:
                continue
            item_texts = texts(item)
            if reason := _unknown(template, item_texts) or _repeated(item, item_texts, seen):
                refused[reason] += 1
            else:
                break
        else:
            reasons = "; ".join(f"{reason}: {count:,}" for reason, count in sorted(refused.items()))
            found = f"{number:,} different items and then none in {tries:,} draws{_values(cell.values)} ({reasons})"
            cure = "Ask for fewer (-n N), or " + ("use a larger vocabulary." if template.vocabulary else "add words.")
            raise InputError(template.place, found, f"{n:,} different items", cure)
        for suite, sentences in enumerate(item_texts):
            seen.setdefault(suite, set()).update(sentences)
        yield item


def _unknown(template: Template, texts: Sequence[tuple[str, ...]]) -> str:
    """Return why an item can't be used if one of its sentences has a word that is not in the vocabulary."""
    if template.vocabulary:
        for text in (text for sentences in texts for text in sentences):
            if word := template.vocabulary.words.unknown(text):
                return f"{word:.50} is not in the vocabulary"
    return ""


def _repeated(item: Filled, texts: Sequence[tuple[str, ...]], seen: Mapping[int, set[str]]) -> str:
    """Return why an item can't be used: a sentence occurs twice. Conditions with the same pattern may be equal."""
    for suite, sentences in enumerate(texts):
        if not seen.get(suite, set()).isdisjoint(sentences):
            return "a sentence of an earlier item"
        if len(set(sentences)) < len(sentences):
            patterns = {pattern.regions for pattern in item.plan.together[suite].values()}
            if len(set(sentences)) < len(patterns):
                return "the same sentence in two conditions"
    return ""


@dataclass(slots=True)
class Cell:
    """The values of variables that share their number of items, and what is known of the configurations that have them.

    A node is the next choice (its name, its options, and the nodes that they lead to), a counted plan, or the reason why
    the configuration is impossible.
    """

    values: Mapping[str, str]
    nodes: "dict[tuple[tuple[str, str], ...], Node]" = field(default_factory=dict)


Node = Needs | tuple[Plan, Counted] | str


@dataclass(slots=True)
class Draws:
    """The random generator, and what is known of a template's configurations."""

    template: Template
    generator: random.Random
    planner: Planner = field(init=False)
    counter: Counter = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.planner = Planner(self.template)

    def cells(self) -> list[Cell]:
        """Return the cells: the combinations of values of variables, and of alternatives of the rules that are cells.

        Raises:
            InputError: there are none.
        """
        refuse_many(self.template)
        found = list(self._cells({}, [*self.template.variables, *self.template.cells]))
        if not found:
            cure = "Correct the conditions of [vary] and require."
            raise InputError(self.template.place, "no combination of variables", "at least one", cure)
        return found

    def _cells(self, values: dict[str, str], names: Sequence[str]) -> Iterator[Cell]:
        expansion = Expansion(self.template, values)
        if not names:
            if self._allowed(expansion):
                yield Cell(values)
            return
        try:
            if names[0] in self.template.variables and not expansion.exists(names[0], self.template.place):
                yield from self._cells(values, names[1:])
                return
            expansion.value(names[0], TOP, self.template.place)
        except Impossible:
            return
        except Needs as needs:
            if needs.name != names[0]:
                place = self.template.places.get(("vary", names[0]), self.template.place)
                cure = f"List {needs.name} before it, in [vary] or in cells."
                raise InputError(place, f"a condition on {needs.name}", "one on variables before it", cure) from None
            for value, _ in needs.options:
                yield from self._cells({**values, names[0]: value}, names[1:])

    def _allowed(self, expansion: Expansion) -> bool:
        for condition in self.template.require:
            try:
                if expansion.bound(condition, "", TOP, f"{self.template.place}, require") == FALSE:
                    return False
            except Needs:
                continue
        return True

    def draw(self, cell: Cell, identifier: str, refused: Counts[str]) -> Filled | None:
        """Draw an item of a cell; None if the drawn configuration is impossible, or no words meet its conditions.

        Arguments:
            cell: the cell.
            identifier: the id of the item.
            refused: the reasons for which nothing was drawn are counted here.
        """
        chosen: tuple[tuple[str, str], ...] = ()
        while isinstance(node := self._node(cell, chosen), Needs):
            rank = self.below(sum(weight for _, weight in node.options))
            for value, weight in node.options:
                rank -= weight
                if rank < 0:
                    chosen = (*chosen, (node.name, value))
                    break
        if isinstance(node, str):
            refused[node] += 1
            return None
        plan, counted = node
        if not counted.total:
            refused[f"no words of {' and '.join(counted.empty)} meet their conditions{where(plan)}"] += 1
            return None
        entry = counted.entries[self.below(len(counted.entries))] if counted.entries else None
        drawn_from = entry or counted
        for _ in range(UNCOUNTED_TRIES if counted.checks else 1):
            words = drawn_from.combination(self.below(drawn_from.total))
            if meets(counted.checks, words):
                return Filled(identifier, plan, words)
        refused[f"conditions between slots not met in {UNCOUNTED_TRIES} draws{where(plan)}"] += 1
        return None

    def _node(self, cell: Cell, chosen: tuple[tuple[str, str], ...]) -> Node:
        if chosen not in cell.nodes:
            try:
                plan = self.planner.plan({**cell.values, **dict(chosen)})
                cell.nodes[chosen] = plan, self.count(plan)
            except Needs as needs:
                cell.nodes[chosen] = needs
            except Impossible as reason:
                cell.nodes[chosen] = str(reason) or "alternatives that exclude each other"
        return cell.nodes[chosen]

    def count(self, plan: Plan) -> Counted:
        """Count the combinations of words of a configuration."""
        slots = {slot.name: slot.words for slot in plan.slots}
        spread = next((slot for slot in self.template.spread if slot in slots), "")
        return self.counter.count(slots, plan.joint, spread)

    def below(self, limit: int) -> int:
        """Return a random whole number from 0 to `limit - 1`. All are equally likely, and no rounding occurs."""
        bits = (limit - 1).bit_length()
        while True:
            number, drawn = 0, 0
            while drawn < bits:
                # `random` has 53 bits, so that this product is exact.
                number = number << _BITS | int(self.generator.random() * (1 << _BITS))
                drawn += _BITS
            number >>= drawn - bits
            if number < limit:
                return number


def _values(values: Mapping[str, str]) -> str:
    return " where " + ", ".join(f"{name} = {value}" for name, value in values.items()) if values else ""
