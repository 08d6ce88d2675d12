"""Random filling of slots: all combinations of words that meet the conditions of a configuration are equally likely.

Each combination of values of the variables is a cell, and cells take turns. Within a cell, alternatives of rules and
phrases are drawn, each with its weight, and then a combination of words.
"""

import random
from bisect import bisect_right
from collections import Counter as Tally
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate

from syntagm.core import InputError
from syntagm.suites.templates.count import Counted, Counter
from syntagm.suites.templates.draw import MAX_ITEMS, TRIES, Filled, Spelled, meets, where
from syntagm.suites.templates.expand import MAX_VARIABLES, TOP, Effort, Expansion, Impossible, Needs
from syntagm.suites.templates.expression import FALSE
from syntagm.suites.templates.plan import MAX_CONFIGURATIONS, Plan, Planner, refuse_many
from syntagm.suites.templates.template import Template

MAX_TRIES = 100_000
# What is tried in vain for one item, in words, comparisons and pieces of patterns, which take a microsecond each.
MAX_TRIED = 1_500_000
MAX_REASONS = 5
# How often words are drawn for conditions that are not counted. If none of them fits, the alternatives are drawn anew.
UNCOUNTED_TRIES = 100
_BITS = 53

Spell = Callable[[Filled], Sequence[Mapping[str, Spelled]]]


def sample(template: Template, n: int, seed: int, spell: Spell, effort: Effort) -> Iterator[Filled]:
    """Draw `n` different items, using the cells in turn. The first k items are the same for every `n` >= k."""
    if n > MAX_ITEMS:
        raise InputError(template.place, f"{n:,} items", f"at most {MAX_ITEMS:,}", "Ask for fewer.")
    draws = Draws(template, random.Random(f"syntagm {seed} {template.stream}".rstrip()), effort)
    cells = draws.cells()
    seen: dict[int, set[str]] = {}
    # If there are just a thousand different items, the last one takes a thousand draws on average, and often many more.
    tries = min(max(TRIES, 20 * n), MAX_TRIES)
    for number in range(n):
        cell = cells[number % len(cells)]
        refused: Tally[str] = Tally()
        draws.tried = 0
        drawn, tried = None, 0
        while drawn is None:
            if tried == tries or draws.tried > max(MAX_TRIED, 100 * tries):
                found = f"{number:,} different items and then none in {tried:,} draws{where(cell.values)} ({_reasons(refused)})"
                more = "use a larger vocabulary." if template.vocabulary else "add words."
                cure = f"Ask for fewer (-n N), or {more}"
                raise InputError(template.place, found, f"{n:,} different items", cure)
            tried += 1
            drawn = _drawn(draws, cell, str(number + 1), spell, seen, refused)
        item, item_texts = drawn
        for suite, sentences in enumerate(item_texts):
            seen.setdefault(suite, set()).update(sentences)
        yield item


def _drawn(
    draws: "Draws", cell: "Cell", identifier: str, spell: Spell, seen: Mapping[int, set[str]], refused: Tally[str]
) -> tuple[Filled, Sequence[tuple[str, ...]]] | None:
    """Draw an item with its sentences; None if it can't be used, for a reason that is counted in `refused`."""
    item = draws.draw(cell, identifier, refused)
    if item is None:
        return None
    item = replace(item, spelled=spell(item))
    item_texts = [tuple(text for text, _ in group.values()) for group in item.spelled]
    if reason := _unknown(draws.template, item_texts) or _repeated(item, item_texts, seen):
        refused[reason] += 1
        groups = item.plan.together
        draws.tried += sum(len(region) for group in groups for pattern in group.values() for region in pattern.regions)
        return None
    return item, item_texts


def _reasons(refused: Tally[str]) -> str:
    """List the most frequent reasons for which draws were refused: each configuration may have another one."""
    shown = sorted(sorted(refused.items()), key=lambda pair: -pair[1])[:MAX_REASONS]
    rest = refused.total() - sum(count for _, count in shown)
    listed = [f"{reason:.300}: {count:,}" for reason, count in sorted(shown)]
    return "; ".join([*listed, f"other reasons: {rest:,}"] if rest else listed)


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
class _Fork:
    """A choice: its name, its options, the sums of their weights up to each, and the nodes that they lead to."""

    # A node is the next choice, a counted plan, or the reason why the configuration is impossible.

    name: str
    options: Sequence[str]
    cumulative: Sequence[int]
    nodes: "dict[str, _Node]" = field(default_factory=dict)


_Node = _Fork | tuple[Plan, Counted] | str


@dataclass(slots=True)
class Cell:
    """The values of variables that share their number of items, and what is known of the configurations that have them."""

    # `first` is the first choice, whose only option leads to what needs no choice.

    values: Mapping[str, str]
    first: _Fork = field(default_factory=lambda: _Fork("", ("",), (1,)))


@dataclass(slots=True)
class Draws:
    """The random generator, and what is known of a template's configurations."""

    # `tried` is the number of words, comparisons and pieces of patterns that were tried in vain since it was last set
    # to 0.

    template: Template
    generator: random.Random
    effort: Effort
    tried: int = 0
    planner: Planner = field(init=False)
    counter: Counter = field(init=False)

    def __post_init__(self) -> None:
        self.planner, self.counter = Planner(self.template, self.effort), Counter(self.effort)

    def cells(self) -> list[Cell]:
        """Return the cells: the combinations of values of variables, and of alternatives of the rules that are cells."""
        refuse_many(self.template)
        # A rule may be listed twice.
        names = list(dict.fromkeys([*self.template.variables, *self.template.cells]))
        if len(names) > MAX_VARIABLES:
            place = f"{self.template.place}, [items], cells"
            raise InputError(
                place, f"{len(names):,} variables and rules", f"at most {MAX_VARIABLES}", "List fewer rules."
            )
        found = list(self._cells({}, names))
        if not found:
            cure = "Correct the conditions of [vary] and require."
            raise InputError(self.template.place, "no combination of variables", "at least one", cure)
        return found

    def _cells(self, values: dict[str, str], names: Sequence[str]) -> Iterator[Cell]:
        # Copying the values costs something, too.
        self.effort.plan(1 + len(values) // 20)
        expansion = Expansion(self.template, values, self.effort)
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
            except Impossible:
                return False
        return True

    def draw(self, cell: Cell, identifier: str, refused: Tally[str]) -> Filled | None:
        """Draw an item of a cell; None if the drawn configuration is impossible, or no words meet its conditions."""
        node = self._configuration(cell)
        if isinstance(node, str):
            refused[node] += 1
            return None
        plan, counted = node
        if not counted.total:
            refused[f"no words of {' and '.join(counted.empty)} meet their conditions{where(plan.values)}"] += 1
            return None
        entry = counted.entries[self.below(len(counted.entries))] if counted.entries else None
        drawn_from = entry or counted
        for _ in range(UNCOUNTED_TRIES if counted.checks else 1):
            words = drawn_from.combination(self.below(drawn_from.total))
            if meets(counted.checks, words):
                return Filled(identifier, plan, words)
            self.tried += counted.cost
        refused[f"conditions between slots not met in {UNCOUNTED_TRIES} draws{where(plan.values)}"] += 1
        return None

    def _configuration(self, cell: Cell) -> tuple[Plan, Counted] | str:
        """Draw a configuration, and return its plan, or why it is impossible."""
        chosen = dict(cell.values)
        fork, option = cell.first, ""
        while isinstance(node := fork.nodes.get(option), _Fork):
            fork, option = node, self._option(node)
            chosen[fork.name] = option
        if node is not None:
            return node

        # What isn't known yet is expanded only once: choices are drawn as the expansion comes to them.
        def choose(needs: Needs) -> str:
            nonlocal fork, option
            weights = accumulate(weight for _, weight in needs.options)
            following = _Fork(needs.name, [value for value, _ in needs.options], list(weights))
            fork.nodes[option] = following
            fork, option = following, self._option(following)
            return option

        try:
            plan = self.planner.plan(chosen, choose)
            node = plan, self.count(plan)
        except Impossible as reason:
            node = str(reason) or "alternatives that exclude each other"
        fork.nodes[option] = node
        return node

    def _option(self, fork: _Fork) -> str:
        return fork.options[bisect_right(fork.cumulative, self.below(fork.cumulative[-1]))]

    def count(self, plan: Plan) -> Counted:
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


@dataclass(frozen=True, slots=True)
class CellCount:
    """A cell and what can be drawn in it."""

    values: Mapping[str, str]  # the values of the variables
    configurations: int  # the number of configurations with at least one combination of words
    combinations: int  # the number of combinations of words in all of them
    exact: bool  # whether all conditions are counted; if not, `combinations` is an upper bound


@dataclass(frozen=True, slots=True)
class Counts:
    """What a template can draw."""

    cells: tuple[CellCount, ...]
    entries: Mapping[str, int]  # slot -> the number of entries that can fill it
    unused: Mapping[str, tuple[str, ...]]  # class of the template itself -> the words that can fill no slot


def counts(template: Template, most: int = MAX_CONFIGURATIONS) -> Counts:
    """Count what a template with `fill = "sample"` can draw."""
    draws = Draws(template, random.Random(0), Effort(template.place, most // 10))
    found: list[CellCount] = []
    # Most configurations have portions in common, which are united only once.
    portions: dict[str, set[frozenset[str]]] = {}
    visited = 0
    for cell in draws.cells():
        configurations, combinations, exact = 0, 0, True
        for plan in draws.planner.every(cell.values):
            if (visited := visited + 1) > most:
                text = f"more than {most:,} configurations"
                raise InputError(template.place, text, "fewer", "Remove variables, rules or alternatives.")
            counted = draws.count(plan)
            configurations += counted.total > 0
            combinations += counted.total
            exact = exact and not counted.checks
            words = {slot.name: slot.words for slot in plan.slots}
            for name, names in draws.counter.entries(words, plan.joint) if counted.total else ():
                portions.setdefault(name, set()).add(names)
        found.append(CellCount(cell.values, configurations, combinations, exact))
    entries = {name: set[str]().union(*sets) for name, sets in portions.items()}
    every = set[str]().union(*entries.values())
    own = {name for section, name in template.places if section == "classes" and name in template.lexicon.classes}
    unused = {
        name: tuple(word.forms[""] for word in template.lexicon.classes[name].words if word.entry not in every)
        for name in sorted(own)
    }
    return Counts(
        tuple(found),
        {name: len(fitting) for name, fitting in entries.items()},
        {name: words for name, words in unused.items() if words},
    )
