"""Configurations of a template: patterns without variables, and the slots in order with their candidate words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from math import prod

from syntagm.errors import InputError
from syntagm.templates import lexicon
from syntagm.templates.expand import TOP, Expansion, Impossible, Needs
from syntagm.templates.expression import FALSE, Expression
from syntagm.templates.lexicon import Word
from syntagm.templates.pattern import Pattern, Piece
from syntagm.templates.selection import Selector
from syntagm.templates.template import Template

MAX_CONFIGURATIONS = 10_000
MAX_VARIABLES = 200
MAX_SLOTS = 100
MAX_PIECES = 300_000


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

    def patterns(self) -> Iterable[Pattern]:
        """Yield all patterns of the suite itself."""
        yield from self.conditions.values()
        yield from self.item_tags.values()


def plans(template: Template) -> list[Plan]:
    """Return a plan for each configuration of a template, in the order of its variables; the last variable varies fastest.

    Configurations that differ only in variables that they don't need count once, for instance if a variable occurs in
    only one alternative of a rule.

    Raises:
        InputError: there are more than 10,000 configurations, a slot, form or variable does not exist, or a slot has no
            word.
    """
    refuse_many(template)
    planner = Planner(template)
    found: list[tuple[tuple[int, ...], Plan]] = []
    pieces = 0
    for plan in planner.every({}):
        found.append((planner.rank(plan), plan))
        pieces += sum(len(region) for pattern in plan.patterns() for region in pattern.regions)
        if pieces > MAX_PIECES:
            text = f"patterns of more than {MAX_PIECES:,} pieces in all configurations"
            raise InputError(template.place, text, "fewer pieces", "Remove variables, rules or conditions.")
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
    selector: Selector = field(init=False)

    def __post_init__(self) -> None:
        self.selector = Selector(self.template)

    def every(self, assigned: Mapping[str, str]) -> Iterator[Plan]:
        """Yield the plans of all configurations that begin with the given values."""
        try:
            yield self.plan(assigned)
        except Impossible:
            return
        except Needs as needs:
            for value, _ in needs.options:
                yield from self.every({**assigned, needs.name: value})

    def rank(self, plan: Plan) -> tuple[int, ...]:
        """Return the place of a plan among all plans, in the order of variables and rules."""
        template = self.template
        listed = [(name, variable.values) for name, variable in template.variables.items()]
        listed += [(name, tuple(template.phrases[name].alternatives)) for name in template.rules]
        return tuple(values.index(plan.values[name]) if name in plan.values else 0 for name, values in listed)

    def plan(self, assigned: Mapping[str, str]) -> Plan:
        """Return the plan of a configuration.

        Raises:
            Needs: the configuration lacks a value.
            Impossible: the conditions on its variables exclude the configuration.
            InputError: a slot, form or variable doesn't exist, or a slot has no word.
        """
        template = self.template
        if len(assigned) > len(template.variables) + MAX_VARIABLES:
            found = f"more than {MAX_VARIABLES} rules and phrases with alternatives"
            raise InputError(template.place, found, "fewer in one configuration")
        expansion = Expansion(template, assigned)
        own = (template.conditions, template.item_tags)
        # Suites that share their draws fill the same slots in the same order.
        family = [_resolved(group, expansion) for pair in template.together or (own,) for group in pair]
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
        if len(slots) > MAX_SLOTS:
            raise InputError(template.place, f"{len(slots):,} slots in one configuration", f"at most {MAX_SLOTS}")
        forms = _table_forms(template) or {name: self.selector.columns(name, expansion) for name in slots}
        # Equal regions become the same object, so that their text is built only once for each item.
        interned: dict[tuple[Piece, ...], tuple[Piece, ...]] = {}
        family = [_named(group, forms, interned) for group in family]
        needed = _needed(family[::2])
        filled = tuple(
            Slot(name, self.selector.candidates(name, arms, needed.get(name, set()), expansion))
            for name, arms in slots.items()
        )
        order = dict.fromkeys([*template.variables, *template.rules, *assigned])
        values = {name: assigned[name] for name in order if name in expansion.needed}
        conditions, tags = family[2 * at : 2 * at + 2]
        return Plan(values, conditions, tags, filled, tuple(joint), tuple(family[::2]) if template.together else ())


def _resolved(group: Mapping[str, Pattern], expansion: Expansion) -> dict[str, Pattern]:
    return {name: expansion.pattern(pattern) for name, pattern in group.items()}


def _table_forms(template: Template) -> dict[str, tuple[str, ...]]:
    """Return the forms of each slot that the columns of the table provide.

    Forms are in the order of the columns, but a column named like the slot comes first.
    """
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
