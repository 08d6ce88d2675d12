"""A check for unused entries of a template, which are nearly always typing errors."""

from collections.abc import Iterator, Sequence

from syntagm.errors import InputError
from syntagm.templates.plan import Plan
from syntagm.templates.template import Template

_KINDS = {
    "slots": ("a slot", "no pattern and no other slot"),
    "vary": ("a variable", "no pattern and no slot"),
    "rules": ("a rule", "no pattern"),
    "classes": ("a class", "no slot"),
}


def refuse_unused(templates: Sequence[Template], plans: Sequence[Sequence[Plan]]) -> None:
    """Refuse slots, variables, rules, classes and columns of a table that no suite of the file uses.

    An entry in the section of a suite must be used by that suite; an entry for the whole file must be used by at least
    one suite.

    Arguments:
        templates: the templates of one file.
        plans: the plans of each template.

    Raises:
        InputError: an entry is not used; the message names the first one.
    """
    pairs = list(zip(templates, plans, strict=True))
    used = {place for template, planned in pairs for place in _used(template, planned)}
    for template in templates:
        for (section, name), place in template.places.items():
            if place not in used:
                kind, users = _KINDS[section]
                raise InputError(
                    place,
                    f"{kind} that {users} uses",
                    f"{kind} that is used",
                    f"Correct the spelling of {name}, or remove it.",
                )
        for column in template.table.columns if template.table else ():
            place = f"{template.table.place if template.table else ''}, column {column}"
            if place not in used:
                cure = "Correct its spelling, use it in a pattern or in [item_tags], or remove it."
                raise InputError(place, "a column that no pattern uses", "a column that is used", cure)


def _used(template: Template, plans: Sequence[Plan]) -> Iterator[str]:
    """Yield the places of the entries used by the plans of a suite."""
    used: set[tuple[str, str]] = set()
    for plan in plans:
        for name in plan.values:
            used |= {("vary", name), ("rules", name)}
        for slot in plan.slots:
            if slot.name in plan.used:
                used |= {("slots", slot.name), ("classes", slot.lexical_class)}
        if template.table:
            pieces = (piece for pattern in plan.patterns() for piece in pattern.pieces() if piece.slot)
            columns = {f"{piece.slot}.{piece.form}".removesuffix(".") for piece in pieces}
            yield from (f"{template.table.place}, column {column}" for column in columns)
    yield from (template.places[entry] for entry in used if entry in template.places)
