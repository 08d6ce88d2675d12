"""Templates for suites, read from TOML files. docs/reference/templates.md describes the language."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from syntagm.core import InputError, known, need, toml
from syntagm.suites.languages import spelling, tags
from syntagm.suites.languages.spelling import Spelling
from syntagm.suites.suite import Aggregate, Prediction, language_of
from syntagm.suites.templates import cells, edit, lexicon, parts, phrases
from syntagm.suites.templates.edit import Edit
from syntagm.suites.templates.expression import Expression
from syntagm.suites.templates.lexicon import Choice, Lexicon
from syntagm.suites.templates.parts import Fill, Section
from syntagm.suites.templates.pattern import Pattern
from syntagm.suites.templates.phrases import Phrase, Variable
from syntagm.suites.templates.vocabulary import Vocabulary

MAX_SUITES = 200
MAX_SHARED = 10_000_000
MAX_CLASSES = 10_000
MAX_ENTRIES = 50_000

_TABLES = ("tags", "slots", "vary", "rules", "phrases", "classes", "item_tags")
_SECTIONS = (
    "name",
    "regions",
    "lexicon",
    "aggregate",
    "require",
    *_TABLES,
    "conditions",
    "predictions",
    "edit",
    "items",
)
_SHARED = ("lexicon", "require", "slots", "vary", "rules", "phrases", "classes", "items")
_PLACED = ("slots", "vary", "rules", "phrases", "classes")


@dataclass(frozen=True, slots=True)
class Template:
    """The template of one suite."""

    name: str
    place: str  # the file, and the section if there are several, for messages
    tags: Mapping[str, str]
    regions: tuple[str, ...]
    conditions: Mapping[str, Pattern]
    predictions: tuple[Prediction, ...]
    item_tags: Mapping[str, Pattern]
    variables: Mapping[str, Variable]  # the variables of `[vary]`
    rules: tuple[str, ...]  # the names of the rules
    phrases: Mapping[str, Phrase]  # the rules, and the phrases of the template and of the lexicon, by name
    require: tuple[Expression, ...]  # the conditions on variables that every configuration meets
    choices: Mapping[str, Choice]  # slot -> the words that can fill it
    lexicon: Lexicon  # the classes of the template and of its lexicon
    fill: Fill  # how slots are filled: from a table, by all combinations, or by a random sample
    table: cells.Table | None  # the table of items if `fill` is `table`, else None
    n: int  # the number of items if `fill` is `sample`, else 0
    cells: tuple[str, ...]  # the rules whose alternatives get equal numbers of items, as the values of variables do
    spread: tuple[str, ...]  # slots; the entries of the first that a configuration has are equally likely
    stream: str  # name of the random numbers: samples with another name are independent. Empty by default.
    aggregate: Aggregate
    edit: Edit | None  # what makes the bad sentence from the good one, if the template declares it
    # (section, name) -> place of each entry of `[slots]`, `[vary]`, `[rules]`, `[phrases]` and `[classes]`, for
    # messages.
    places: Mapping[tuple[str, str], str]
    together: tuple[tuple[Mapping[str, Pattern], Mapping[str, Pattern]], ...] = ()
    vocabulary: Vocabulary | None = None  # the words that sentences are limited to; None for all words

    @property
    def spelling(self) -> Spelling:
        """The spelling of its language: the one that its tag says, or else its lexicon."""
        tagged = language_of(self.tags)
        return spelling.of(tagged if tagged is not tags.UNKNOWN else tags.find(self.lexicon.language))


def read(text: str, place: str, name: str, lexicon_of: Callable[[str], Lexicon]) -> list[Template]:
    """Read the templates of a file, one for each suite."""
    top = toml.read(text, place)
    has_sections = "suite" in top
    sections = top.pop("suite", [{}])
    if not isinstance(sections, list) or not 0 < len(sections) <= MAX_SUITES:
        raise InputError(
            f"{place}, [suite]", toml.shown(sections), f"1 to {MAX_SUITES} sections", "Begin each with [[suite]]."
        )
    known(top, _SECTIONS, place)
    parts.refuse_misplaced(top, place)
    _refuse_long(top, len(sections), place)
    for own in sections:
        if isinstance(own, dict):
            _refuse_long(own, 1, place)
    templates: list[Template] = []
    shared: list[dict[str, Any]] = []
    for number, own in enumerate(sections, 1):
        section = _section(top, own, place, number if has_sections else None)
        templates.append(_template(section, name, lexicon_of))
        if templates[-1].name in [earlier.name for earlier in templates[:-1]]:
            found = f"the name {toml.shown(templates[-1].name)} for a second suite"
            raise InputError(section.place, found, "each name once", 'Give each [[suite]] a name = "...".')
        shared.append({key: section.content.get(key) for key in _SHARED})
    return [
        _joined(template, templates, [entries == other for other in shared])
        for template, entries in zip(templates, shared, strict=True)
    ]


def _refuse_long(top: Mapping[str, Any], suites: int, place: str) -> None:
    """Refuse too many entries, and long entries that many suites share, because each suite reads them again."""
    # Tables of items are exempt, because they are read once.
    entries, length = _size(top)
    if entries * suites > MAX_ENTRIES:
        found = f"{entries:,} names, texts and values" + (f" that {suites} suites share" if suites > 1 else "")
        raise InputError(place, found, f"at most {MAX_ENTRIES // suites:,}", "List words in classes, which are tables.")
    if suites > 1 and length * suites > MAX_SHARED:
        found = f"{length:,} characters that {suites} suites share"
        raise InputError(place, found, f"at most {MAX_SHARED // suites:,}", "Put the words into a separate lexicon.")


def _size(section: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of names, texts and values in a section, and the number of their characters."""
    entries, length, pending = 0, 0, [value for key, value in section.items() if key not in ("items", "suite")]
    while pending:
        value = pending.pop()
        entries += 1
        if isinstance(value, dict):
            pending += [*value, *value.values()]
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str):
            length += len(value)
    return entries, length


def _section(top: dict[str, Any], own: Any, file: str, number: int | None) -> Section:
    """Return the entries for one suite. `number` is that of its section [[suite]], or None if the file has no such sections."""
    place = file if number is None else f"{file}, suite {number}"
    own = need(own, dict, place)
    if number is not None and isinstance(own.get("name"), str):
        place = f"{file}, suite {own['name']:.100}"
    known(own, _SECTIONS, place)
    parts.refuse_misplaced(own, place)
    tables = {key: toml.table(top, key, file) | toml.table(own, key, place) for key in _TABLES}
    return Section(top | own | tables, own, file, place)


def _joined(template: Template, templates: Sequence[Template], same: Sequence[bool]) -> Template:
    """Return the template with the patterns of all suites that are filled by the same draws, in the order of the file."""
    if template.fill != "sample":
        return template
    family = [other for other, is_same in zip(templates, same, strict=True) if is_same]
    return replace(template, together=tuple((other.conditions, other.item_tags) for other in family))


@lru_cache(maxsize=4)
def read_lexicon(text: str, place: str) -> Lexicon:
    """Read a lexicon from a TOML file that contains only `[classes]` and `[phrases]`."""
    top = toml.read(text, place)
    known(top, ("classes", "phrases"), place)
    tables = {key: toml.table(top, key, place) for key in ("classes", "phrases")}
    if len(tables["classes"]) > MAX_CLASSES:
        raise InputError(place, f"{len(tables['classes']):,} classes", f"at most {MAX_CLASSES:,}")
    return parts.words(Section(top | tables, top, place, place))


def _template(section: Section, stem: str, lexicon_of: Callable[[str], Lexicon]) -> Template:
    content, place = section.content, section.place
    rules = {key: phrases.rule(key, value, at) for key, value, at in section.named("rules")}
    vary = {key: phrases.variable(value, at) for key, value, at in section.named("vary")}
    choices = {key: lexicon.choice(key, need(value, str, at), at) for key, value, at in section.named("slots")}
    own = parts.words(section)
    own_phrases = phrases.of_lexicon(own)
    base = lexicon_of(toml.text(content, "lexicon", place)) if "lexicon" in content else Lexicon()
    places = {(key, entry): section.at(key, entry) for key in _PLACED for entry in content[key]}
    conditions = parts.conditions(section)
    regions = parts.regions(section, conditions)
    fill, table, n = parts.items(section)
    template = Template(
        parts.name(content, stem, place), place, parts.tags(section), regions, conditions,
        parts.predictions(section), parts.item_tags(section),
        vary, tuple(rules), {**phrases.of_lexicon(base), **own_phrases, **rules}, parts.require(section), choices,
        _together(base, own), fill, table, n, parts.cells_of(section, rules),
        parts.spread(section), parts.stream(section), parts.aggregate(content, place),
        edit.edit(content, conditions, regions, place), places,
    )  # fmt: skip
    _refuse_clashes(template, own_phrases)
    _refuse_unknown(template)
    return template


def _together(base: Lexicon, own: Lexicon) -> Lexicon:
    """Return the words of both. A class or alias of the template replaces that of the lexicon with the same name."""
    classes = {name: words for name, words in base.classes.items() if name not in own.aliases}
    aliases = {name: choice for name, choice in base.aliases.items() if name not in own.classes}
    return Lexicon(classes | dict(own.classes), aliases | dict(own.aliases), language=base.language)


def _refuse_clashes(template: Template, own: Mapping[str, Phrase]) -> None:
    """Refuse a name that has two meanings, in braces or as an item tag."""
    words = {**template.lexicon.classes, **template.lexicon.aliases}
    kinds = (("variable", template.variables), ("slot", template.choices), ("class", words))
    for name in (*template.rules, *own):
        for kind, names in kinds:
            if name in names:
                raise InputError(template.phrases[name].place, f"a {kind} of the same name", "another name")
    for name in template.rules:
        if name in own:
            raise InputError(template.phrases[name].place, "a phrase of the same name", "another name")
    for name, tag in template.item_tags.items():
        if name in template.variables or name in template.rules:
            found = "a variable of the same name, which is already a tag of each item"
            raise InputError(tag.place, found, "another name")


def _refuse_unknown(template: Template) -> None:
    """Refuse predictions that name regions or conditions that don't exist, and slots of `spread` that don't."""
    known = {**template.choices, **template.lexicon.classes, **template.lexicon.aliases}
    for name in template.spread:
        # A slot of a phrase has the name of the use before the dot, which is known only in a configuration.
        if name not in known and "." not in name:
            lexicon.refuse_unknown(name, "slot", known, f"{template.place}, [items], spread")
    regions = {"*", *template.regions}
    for prediction in template.predictions:
        place = f"{template.place}, [predictions] {prediction.name}"
        for reference in prediction.formula.references():
            if reference.region not in regions:
                listed = ", ".join(("*", *template.regions))
                raise InputError(place, f"no region {reference.region!r}", f"one of: {listed}")
            if reference.condition not in template.conditions:
                raise InputError(
                    place, f"no condition {reference.condition!r}", f"one of: {', '.join(template.conditions)}"
                )
