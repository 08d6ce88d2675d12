"""Configurations of a template: patterns without variables, and the slots in order with their candidate words."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod

from syntagm.core import InputError
from syntagm.suites.templates import lexicon
from syntagm.suites.templates.effort import Effort
from syntagm.suites.templates.expand import MAX_VARIABLES, TOP, Expansion, Impossible, Needs
from syntagm.suites.templates.expression import FALSE, Expression
from syntagm.suites.templates.lexicon import Word
from syntagm.suites.templates.pattern import Pattern, Piece
from syntagm.suites.templates.selection import Selector
from syntagm.suites.templates.template import Template

MAX_CONFIGURATIONS = 10_000


@dataclass(frozen=True, slots=True)
class Slot:
    """A slot of a plan and the words that meet its own conditions."""

    name: str
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """One configuration of a template.

    Arguments:
        values: variable -> value, for the variables that the configuration needs.
        conditions, item_tags: the patterns, with every form named.
        slots: the slots, in order.
        joint: the conditions on several slots.
        together: the conditions of all suites that are filled by the same draws; empty unless slots are sampled.
    """

    values: Mapping[str, str]
    conditions: Mapping[str, Pattern]
    item_tags: Mapping[str, Pattern]
    slots: tuple[Slot, ...]
    joint: tuple[Expression, ...]
    together: tuple[Mapping[str, Pattern], ...]

    @property
    def size(self) -> int:
        """The number of combinations of words, ignoring conditions between slots; an upper bound for the number of items."""
        return prod(len(slot.words) for slot in self.slots)


def plans(template: Template, effort: Effort | None = None) -> list[Plan]:
    """Return a plan for each configuration of a template, in the order of its variables; the last variable varies fastest."""
    # Configurations that differ only in variables that they don't need count once, for instance if a variable occurs in
    # only one alternative of a rule.
    refuse_many(template)
    planner = Planner(template, effort or Effort(template.place))
    found: list[tuple[tuple[tuple[int, int], ...], Plan]] = []
    for plan in planner.every({}):
        found.append((planner.rank(plan), plan))
        if len(found) > MAX_CONFIGURATIONS:
            _refuse_configurations(template, len(found))
    return [plan for _, plan in sorted(found, key=lambda pair: pair[0])]


def refuse_many(template: Template) -> None:
    """Refuse variables with more than 10,000 combinations of values, and more than 200 variables."""
    sizes = [len(variable.values) for variable in template.variables.values()]
    # Twenty variables of two values exceed the limit already, and the exact product may be too long to print.
    if (number := prod(size for size in islice((size for size in sizes if size > 1), 20))) > MAX_CONFIGURATIONS:
        _refuse_configurations(template, number)
    if len(sizes) > MAX_VARIABLES:
        raise InputError(f"{template.place}, [vary]", f"{len(sizes):,} variables", f"at most {MAX_VARIABLES}")


def _refuse_configurations(template: Template, number: int) -> None:
    raise InputError(
        f"{template.place}, [vary]", f"{number:,} configurations or more", f"at most {MAX_CONFIGURATIONS:,}",
        "Remove variables, rules or values.",
    )  # fmt: skip


@dataclass(slots=True)
class Planner:
    """The maker of the plans of a template's configurations."""

    template: Template
    effort: Effort
    selector: Selector = field(init=False)
    _order: dict[str, int] = field(init=False)
    _ranks: dict[str, dict[str, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.effort.place = self.template.place
        self.selector = Selector(self.template)
        names = dict.fromkeys([*self.template.variables, *self.template.rules])
        self._order = {name: number for number, name in enumerate(names)}

    def every(self, assigned: Mapping[str, str]) -> Iterator[Plan]:
        """Yield the plans of all configurations that begin with the given values."""
        try:
            yield self.plan(assigned)
        except Impossible:
            return
        except Needs as needs:
            for value, _ in needs.options:
                yield from self.every({**assigned, needs.name: value})

    def rank(self, plan: Plan) -> tuple[tuple[int, int], ...]:
        """Return a key that sorts plans in the order of variables and rules. A plan without one has its first value."""
        # There may be many rules, and a plan names few. So the key has only values other than the first; of two plans,
        # the one that has another value than the first in an earlier variable comes later.
        ranks = (
            (self._order[name], self._rank(name, value)) for name, value in plan.values.items() if name in self._order
        )
        return tuple((-place, rank) for place, rank in ranks if rank)

    def _rank(self, name: str, value: str) -> int:
        if name not in self._ranks:
            variable = self.template.variables.get(name)
            values = variable.values if variable else self.template.phrases[name].alternatives
            self._ranks[name] = {value: rank for rank, value in enumerate(values)}
        return self._ranks[name][value]

    def plan(self, assigned: Mapping[str, str], choose: Callable[[Needs], str] | None = None) -> Plan:
        """Return the plan of a configuration."""
        template = self.template
        # A configuration costs something even if its patterns are empty.
        self.effort.plan(len(assigned))
        expansion = Expansion(template, dict(assigned), self.effort, choose)
        assigned = expansion.assigned
        own = (template.conditions, template.item_tags)
        # Suites that share their draws fill the same slots in the same order.
        family = [
            {name: expansion.pattern(pattern) for name, pattern in group.items()}
            for pair in template.together or (own,)
            for group in pair
        ]
        at = [pair[0] is template.conditions for pair in template.together or (own,)].index(True)
        used: dict[str, str] = {}
        for group in family:
            for pattern in group.values():
                for piece in pattern.pieces():
                    if piece.slot:
                        used.setdefault(piece.slot, pattern.place)
        for condition in template.require:
            if expansion.bound(condition, "", TOP, f"{template.place}, require") == FALSE:
                raise Impossible
        if template.fill == "table" and expansion.guards:
            place = next(iter(expansion.guards.values()))
            raise InputError(place, "a condition on words", "conditions on variables", "The rows of a table are fixed.")
        joint: list[Expression] = []
        slots = {} if template.fill == "table" else self.selector.conditions(expansion, used, joint)
        forms = _table_forms(template) or {name: self.selector.columns(name, expansion) for name in slots}
        # Equal regions become the same object, so that their text is built only once for each item.
        interned: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
        family = [_named(group, forms, interned) for group in family]
        needed = _needed(family[::2])
        filled = tuple(
            Slot(name, self.selector.candidates(name, arms, needed.get(name, set()), expansion))
            for name, arms in slots.items()
        )
        names = (name for name in assigned if name in expansion.needed)
        values = {
            name: assigned[name] for name in sorted(names, key=lambda name: self._order.get(name, len(self._order)))
        }
        conditions, tags = family[2 * at : 2 * at + 2]
        return Plan(values, conditions, tags, filled, tuple(joint), tuple(family[::2]) if template.together else ())


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    """Return the forms of each slot that the columns of the table provide."""
    # Forms are in the order of the columns, but a column named like the slot comes first.
    forms: dict[str, tuple[str, ...]] = {}
    for column in template.table.columns if template.table else ():
        slot, _, form = column.partition(".")
        forms[slot] = (*forms.get(slot, ()), form) if form else ("", *forms.get(slot, ()))
    return forms


def _named(
    group: Mapping[str, Pattern],
    forms: Mapping[str, Sequence[str]],
    interned: dict[tuple[Piece, ...], tuple[Piece, ...]],
) -> dict[str, Pattern]:
    """Return patterns in which every slot names a form; the first form is added where the pattern names none."""
    result = {}
    for name, pattern in group.items():
        regions = (tuple(_with_form(piece, forms, pattern.place) for piece in region) for region in pattern.regions)
        result[name] = replace(pattern, regions=tuple(interned.setdefault(region, region) for region in regions))
    return result


def _with_form(piece: Piece, forms: Mapping[str, Sequence[str]], place: str) -> Piece:
    if not piece.slot:
        return piece
    if piece.slot not in forms:
        lexicon.refuse_unknown(piece.slot, "slot", forms, place)
    known = forms[piece.slot]
    if not piece.form:
        return replace(piece, form=known[0])
    if piece.form not in known:
        found = f"no form {piece.form!r} of {piece.slot}"
        if tuple(known) == ("",):
            raise InputError(place, found, f"{{{piece.slot}}}", f"{piece.slot} has only one form.")
        lexicon.refuse_unknown(piece.form, "form", filter(None, known), place, of=f" of {piece.slot}")
    return piece


def _needed(groups: Sequence[Mapping[str, Pattern]]) -> dict[str, set[str]]:
    """Return the forms of each slot that sentences need. Forms in tags are not required, because a tag may be `-`."""
    needed: dict[str, set[str]] = {}
    for group in groups:
        for pattern in group.values():
            for piece in pattern.pieces():
                needed.setdefault(piece.slot, set()).add(piece.form)
    return needed
