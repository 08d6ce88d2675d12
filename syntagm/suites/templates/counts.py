"""What a template with `fill = "sample"` can draw: its cells, their combinations of words, and the entries of each slot."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

from syntagm.core import InputError
from syntagm.suites.templates.effort import Effort
from syntagm.suites.templates.plan import MAX_CONFIGURATIONS
from syntagm.suites.templates.sample import Draws
from syntagm.suites.templates.template import Template


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
