"""What templates cost, counted in steps, so that a hostile one is refused instead of running for hours.

Steps are counted instead of seconds, so that a template is refused on every machine or on none.
"""

from dataclasses import dataclass

from syntagm.core import InputError

# Bundled templates need 9,000 steps of planning, and a million pairs, for three items.
PLANNED, PLANNED_PER_SUITE, PLANNED_PER_ITEM = 800_000, 10_000, 5_000
COMPARED, COMPARED_PER_ITEM = 20_000_000, 500_000


@dataclass(slots=True)
class Effort:
    """The steps that the suites of a file have taken. The more items are asked for, the more steps are allowed."""

    place: str  # the suite at work, for messages
    items: int = 0  # the number of items
    suites: int = 1  # the number of suites
    planned: int = 0  # the number of slots, texts, rules and comparisons that were visited in configurations
    compared: int = 0  # the number of pairs of groups of words that were compared in counting

    def plan(self, steps: int = 1) -> None:
        """Count steps of planning."""
        self.planned += steps
        if self.planned > PLANNED + PLANNED_PER_SUITE * self.suites + PLANNED_PER_ITEM * self.items:
            found = f"more than {self.planned - 1:,} slots, texts and comparisons in all configurations"
            raise InputError(self.place, found, "fewer", "Remove variables, rules, alternatives or conditions.")

    def compare(self, pairs: int) -> None:
        """Count pairs of groups of words."""
        self.compared += pairs
        if self.compared > (most := COMPARED + COMPARED_PER_ITEM * self.items):
            found = f"conditions between slots that compare more than {most:,} pairs of words"
            cure = "Remove slots or conditions between slots, or compare columns with fewer different cells."
            raise InputError(self.place, found, "fewer", cure)
