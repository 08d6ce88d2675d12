"""What a template says and nothing uses: nearly always a typing error, and a silent one."""

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

    What stands in the section of one suite must be used by this suite; what stands in the file, by any.

    Arguments:
        templates: all suites of one file.
        plans: those of each.

    Raises:
        InputError: naming the first one, in the order of the file.
    """
    pairs = list(zip(templates, plans, strict=True))
    used = {place for template, planned in pairs for place in _used(template, planned)}
    for template in templates:
        for (section, name), place in template.places.items():
            if place not in used:
                what, who = _KINDS[section]
                raise InputError(
                    place, f"{what} that {who} uses", "one that is used", f"Is {name} misspelled? Or take it out."
                )
        for column in template.table.columns if template.table else ():
            place = f"{template.table.place if template.table else ''}, column {column}"
            if place not in used:
                cure = "Is it misspelled? Use it in a pattern or in [item_tags], or take it out."
                raise InputError(place, "a column that no pattern uses", "one that is used", cure)


def _used(template: Template, plans: Sequence[Plan]) -> Iterator[str]:
    """The places of what the plans of a suite use."""
    named: set[tuple[str, str]] = set()
    for plan in plans:
        for name in plan.values:
            named |= {("vary", name), ("rules", name)}
        for slot in plan.slots:
            if slot.name in plan.used:
                named |= {("slots", slot.name), ("classes", slot.lexical_class)}
        if template.table:
            pieces = (piece for one in plan.patterns() for piece in one.pieces() if piece.slot)
            columns = {f"{piece.slot}.{piece.form}".removesuffix(".") for piece in pieces}
            yield from (f"{template.table.place}, column {column}" for column in columns)
    yield from (template.places[one] for one in named if one in template.places)
