"""Templates: what a TOML file says about the suites that it makes. The language is described in docs/reference/templates.md."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from syntagm.errors import InputError
from syntagm.io import toml
from syntagm.io.toml import known, need, shown
from syntagm.suite import Aggregate, Prediction
from syntagm.templates import cells, lexicon, parts
from syntagm.templates.lexicon import Choice, LexicalClass
from syntagm.templates.parts import Fill, Section
from syntagm.templates.pattern import Pattern

MAX_SUITES = 200
MAX_SHARED = 10_000_000
MAX_CLASSES = 10_000

_TABLES = ("tags", "slots", "vary", "rules", "classes", "item_tags")
_SECTIONS = ("name", "regions", "lexicon", "aggregate", *_TABLES, "conditions", "predictions", "items")
_SHARED = ("lexicon", "slots", "vary", "rules", "classes", "items")


@dataclass(frozen=True, slots=True)
class Template:
    """How the sentences of one suite are made.

    `variables` are those of `[vary]` and the rules, each with its values; `table` is there if `fill` is `table`, `n` if it
    is `sample`. `together` are conditions and item tags of all suites of the file that the same draws fill. `places` says of
    each entry of `[slots]`, `[vary]`, `[rules]` and `[classes]` where it stands: in the file, or in the section of the suite.
    """

    name: str
    place: str
    tags: Mapping[str, str]
    regions: tuple[str, ...]
    conditions: Mapping[str, Pattern]
    predictions: tuple[Prediction, ...]
    item_tags: Mapping[str, Pattern]
    variables: Mapping[str, tuple[str, ...]]
    rules: Mapping[str, Mapping[str, Pattern]]
    choices: Mapping[str, Choice]
    classes: Mapping[str, LexicalClass]
    fill: Fill
    table: cells.Table | None
    n: int
    aggregate: Aggregate
    places: Mapping[tuple[str, str], str]
    together: tuple[tuple[Mapping[str, Pattern], Mapping[str, Pattern]], ...] = ()


def read(text: str, place: str, name: str, classes_of: Callable[[str], Mapping[str, LexicalClass]]) -> list[Template]:
    """The templates of a file, one for each suite that it makes.

    Arguments:
        text: the TOML text.
        place: for messages, the file.
        name: of the suite, if the file doesn't say it.
        classes_of: the classes of the lexicon of a name.

    Raises:
        InputError: no TOML, or not what docs/reference/templates.md says; with the section, slot or row.
    """
    top = toml.read(text, place)
    several = "suite" in top
    listed = top.pop("suite", [{}])
    if not isinstance(listed, list) or not 0 < len(listed) <= MAX_SUITES:
        raise InputError(
            f"{place}, [suite]", shown(listed), f"1 to {MAX_SUITES} sections", "Begin each with [[suite]]."
        )
    known(top, _SECTIONS, place)
    _refuse_much(top, len(listed), place)
    made: list[Template] = []
    shared: list[dict[str, Any]] = []
    for number, own in enumerate(listed, 1):
        section = _section(top, own, place, number if several else None)
        made.append(_template(section, name, classes_of))
        if made[-1].name in [one.name for one in made[:-1]]:
            found = f"the name {shown(made[-1].name)} for a second suite"
            raise InputError(section.place, found, "each name once", 'Give each [[suite]] a name = "...".')
        shared.append({key: section.content.get(key) for key in _SHARED})
    return [_joined(one, made, [what == other for other in shared]) for one, what in zip(made, shared, strict=True)]


def _refuse_much(top: Mapping[str, Any], suites: int, place: str) -> None:
    """Refuse what many suites share if it is long, for it is read for each; a table of items is read once."""
    length, waiting = 0, [value for key, value in top.items() if key != "items"]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += [*value, *value.values()]
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str):
            length += len(value)
    if suites > 1 and length * suites > MAX_SHARED:
        found = f"{length:,} characters that {suites} suites share"
        raise InputError(
            place, found, f"at most {MAX_SHARED // suites:,}", "Put the words into a lexicon of their own."
        )


def _section(top: dict[str, Any], own: Any, file: str, number: int | None) -> Section:
    """What a suite says with what the file says; `number` is that of its [[suite]], if there are such."""
    place = file if number is None else f"{file}, suite {number}"
    own = need(own, dict, place)
    if number is not None and isinstance(own.get("name"), str):
        place = f"{file}, suite {own['name']:.100}"
    known(own, _SECTIONS, place)
    tables = {key: toml.table(top, key, file) | toml.table(own, key, place) for key in _TABLES}
    return Section(top | own | tables, own, file, place)


def _joined(one: Template, made: Sequence[Template], same: Sequence[bool]) -> Template:
    """The template with what the same draws fill, in the order of the file."""
    if one.fill != "sample":
        return one
    family = [other for other, is_same in zip(made, same, strict=True) if is_same]
    return replace(one, together=tuple((other.conditions, other.item_tags) for other in family))


@lru_cache(maxsize=4)
def classes(text: str, place: str) -> Mapping[str, LexicalClass]:
    """The classes of a lexicon, a TOML file with nothing but `[classes]`; InputError if it is something else."""
    top = toml.read(text, place)
    known(top, ("classes",), place)
    listed = toml.table(top, "classes", place)
    if len(listed) > MAX_CLASSES:
        raise InputError(place, f"{len(listed):,} classes", f"at most {MAX_CLASSES:,}")
    return parts.classes(Section(top | {"classes": listed}, top, place, place))


def _template(section: Section, stem: str, classes_of: Callable[[str], Mapping[str, LexicalClass]]) -> Template:
    content, place = section.content, section.place
    rules = {key: parts.alternatives(value, at) for key, value, at in section.named("rules")}
    vary = {key: parts.values(value, at) for key, value, at in section.named("vary")}
    choices = {key: lexicon.choice(key, need(value, str, at), at) for key, value, at in section.named("slots")}
    lexical = dict(classes_of(toml.text(content, "lexicon", place))) if "lexicon" in content else {}
    places = {(key, one): section.at(key, one) for key in ("slots", "vary", "rules", "classes") for one in content[key]}
    conditions = parts.conditions(section)
    fill, table, n = parts.items(section)
    made = Template(
        parts.name(content, stem, place), place, parts.tags(section), parts.regions(section, conditions), conditions,
        parts.predictions(section), parts.item_tags(section),
        vary | {key: tuple(value) for key, value in rules.items()}, rules, choices,
        lexical | parts.classes(section), fill, table, n, parts.aggregate(content, place), places,
    )  # fmt: skip
    _refuse_clashes(made, vary)
    _refuse_unknown(made)
    return made


def _refuse_clashes(made: Template, vary: Mapping[str, object]) -> None:
    """One name must not mean two things: in braces, or as a tag of an item."""
    for name in made.rules:
        for kind, names in (("variable", vary), ("slot", made.choices), ("class", made.classes)):
            if name in names:
                raise InputError(made.places["rules", name], f"a {kind} of the same name", "another name")
    for name, one in made.item_tags.items():
        if name in made.variables:
            found = "a variable of the same name, which is a tag of each item already"
            raise InputError(one.place, found, "another name")


def _refuse_unknown(made: Template) -> None:
    """Refuse predictions about regions or conditions that there aren't."""
    for prediction in made.predictions:
        place = f"{made.place}, [predictions] {prediction.name}"
        for one in prediction.formula.references():
            if one.region != "*" and one.region not in made.regions:
                listed = ", ".join(("*", *made.regions))
                raise InputError(place, f"no region {one.region!r}", f"one of: {listed}")
            if one.condition not in made.conditions:
                raise InputError(place, f"no condition {one.condition!r}", f"one of: {', '.join(made.conditions)}")
