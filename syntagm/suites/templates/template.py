"""Templates for suites, read from TOML files. docs/reference/templates.md describes the language."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal

from syntagm.core import InputError, counted, known, need, toml
from syntagm.suites.formula import parse_at
from syntagm.suites.languages import spelling
from syntagm.suites.languages.spelling import Spelling
from syntagm.suites.languages.tags import UNKNOWN, find as find_language
from syntagm.suites.suite import AGGREGATES, Aggregate, Prediction, language_of
from syntagm.suites.templates import cells, edit, expression, lexicon, pattern
from syntagm.suites.templates.edit import Edit
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice, LexicalClass, Lexicon, Vocabulary
from syntagm.suites.templates.pattern import Pattern, Phrase, Variable

Fill = Literal["table", "cross", "sample"]
MAX_CONDITIONS = 100
MAX_PREDICTIONS = 100

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SUITE = re.compile(r"\w[\w .,()+-]{0,99}")
_ITEMS: dict[Fill, tuple[str, ...]] = {
    "table": ("fill", "rows"),
    "cross": ("fill",),
    "sample": ("fill", "n", "cells", "spread", "stream"),
}
_RESERVED = ("seed", "style", "vocabulary")
_AT_TOP = ("regions", "lexicon", "aggregate", "require")


@dataclass(frozen=True, slots=True)
class Section:
    """The entries for one suite: its own entries, and those that all suites of the file share."""

    content: Mapping[str, Any]  # all entries
    own: Mapping[str, Any]  # the entries in the suite's own section
    file: str  # the place of the shared entries, for messages
    place: str  # the place of the suite's own section, for messages

    def at(self, key: str, name: str = "") -> str:
        own = key in self.own and (not name or name in self.own[key])
        return f"{self.place if own else self.file}, [{key}]{' ' if name else ''}{name:.{toml.MAX_NAME}}"

    def texts(self, key: str) -> Iterator[tuple[str, str, str]]:
        """Yield the name, text and place of each entry in a table whose values are strings."""
        for name, value in toml.table(self.content, key, self.place).items():
            yield name, need(value, str, self.at(key, name)), self.at(key, name)

    def named(self, key: str) -> Iterator[tuple[str, Any, str]]:
        """Yield the name, value and place of each entry in a table whose names are used in patterns."""
        for name, value in self.content[key].items():
            yield toml.name(name, self.at(key)), value, self.at(key, name)


def name_of(content: Mapping[str, Any], stem: str, place: str) -> str:
    suite_name = toml.text(content, "name", place, stem)
    if not _SUITE.fullmatch(suite_name):
        cure = 'Write name = "..." at the top, or rename the file.' if suite_name == stem else ""
        raise InputError(
            place, f"the name {toml.shown(suite_name)} for a suite", "letters, digits, _, - and spaces", cure
        )
    return suite_name


def _tag(name: str, place: str) -> str:
    if not name.strip() or name in _RESERVED or name.startswith("json:"):
        expected = "another name: seed, style, vocabulary and names that begin with json: are reserved"
        raise InputError(place, f"a tag called {toml.shown(name)}", expected)
    return name


def item_tags_of(section: Section) -> dict[str, Pattern]:
    """Return the patterns of item tags, which have no regions."""
    patterns = {_tag(name, place): pattern.parse(text, place) for name, text, place in section.texts("item_tags")}
    for tag in patterns.values():
        if tag.split:
            raise InputError(tag.place, f"a region border in {toml.shown(tag.text)}", "one text", "Remove the |.")
    return patterns


def conditions_of(section: Section) -> dict[str, Pattern]:
    patterns = {}
    for name, text, place in section.texts("conditions"):
        if not _NAME.fullmatch(name):
            raise InputError(
                section.at("conditions"), f"the name {toml.shown(name)}", "letters from a to z, digits, _ and -"
            )
        patterns[name] = pattern.parse(text, place)
    if not 0 < len(patterns) <= MAX_CONDITIONS:
        expected = f"a pattern for each condition, at most {MAX_CONDITIONS}"
        raise InputError(section.at("conditions"), f"{len(patterns) or 'no'} patterns", expected)
    return patterns


def regions_of(section: Section, conditions: Mapping[str, Pattern]) -> tuple[str, ...]:
    """Return the names of the regions; empty if no pattern has regions."""
    names = tuple(part.strip() for part in toml.text(section.content, "regions", section.place, "").split("|"))
    if names == ("",):
        if not any(condition.split for condition in conditions.values()):
            return ()
        most = max(len(condition.regions) for condition in conditions.values())
        names = tuple(str(number + 1) for number in range(most))
    # Counted only once, since a line may have a million names.
    times = Counter(names)
    for name in names:
        if not _NAME.fullmatch(name) or times[name] > 1:
            found = f"the name {toml.shown(name)}" + (" twice" if times[name] > 1 else "")
            raise InputError(
                f"{section.place}, regions", found, "letters from a to z, digits, _ and -, with each name once"
            )
    for condition in conditions.values():
        if (count := len(condition.regions)) != len(names):
            found = f"{counted(count, 'region')}: {toml.shown(condition.text)}"
            listed = toml.shown(" | ".join(names[:20]))
            raise InputError(condition.place, found, f"{len(names)}: {listed}", "Put | between two regions.")
    return names


def predictions_of(section: Section) -> tuple[Prediction, ...]:
    result = []
    for name, text, place in section.texts("predictions"):
        if not name.strip():
            raise InputError(section.at("predictions"), "a prediction without a name", "a name")
        result.append(Prediction(name, parse_at(text, place)))
    if len(result) > MAX_PREDICTIONS:
        raise InputError(section.at("predictions"), f"{len(result):,} predictions", f"at most {MAX_PREDICTIONS}")
    return tuple(result)


def refuse_misplaced(content: Mapping[str, Any], place: str) -> None:
    """Refuse an entry of the top level that stands below the name of a table, where TOML makes it part of the table."""
    for table in ("tags", "item_tags", "conditions", "predictions"):
        entries = content.get(table)
        for key in _AT_TOP:
            if isinstance(entries, dict) and key in entries:
                cure = f"{key} belongs at the top of the file, above the first line in square brackets."
                raise InputError(f"{place}, [{table}]", f"an entry called {key}", f"no {key} in [{table}]", cure)


def requirements_of(section: Section) -> tuple[Expression, ...]:
    """Return the conditions on variables that every configuration meets."""
    place = f"{section.place}, require"
    texts = need(section.content.get("require", []), list, place)
    # A condition that is written twice counts once.
    different = dict.fromkeys(need(text, str, place) for text in texts)
    conditions = tuple(part for text in different for part in expression.parse(text, place, VARIABLE))
    expression.refuse_many(conditions, place)
    return conditions


def items_of(section: Section) -> tuple[Fill, cells.Table | None, int]:
    """Return the method of filling slots, its table (for the method `table`) and n (for the method `sample`)."""
    place, entries = section.at("items"), toml.table(section.content, "items", section.place)
    for fill, keys in _ITEMS.items():
        if entries.get("fill") == fill:
            known(entries, keys, place)
            n = entries.get("n", 0)
            if fill == "sample" and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
                raise InputError(place, f"n = {toml.shown(n)}", "the number of items to draw, from 1", "Write n = 100.")
            return fill, cells.read(toml.text(entries, "rows", place), f"{place} rows") if fill == "table" else None, n
    shown_fill = f"fill = {toml.shown(entries['fill'])}" if "fill" in entries else "no fill"
    raise InputError(place, shown_fill, "table, cross or sample", 'Write fill = "table".')


def words_of(section: Section) -> Lexicon:
    """Return the classes, the aliases of unions of classes (texts of one line), and the sections of phrases."""
    classes: dict[str, LexicalClass] = {}
    aliases: dict[str, Choice] = {}
    for key, text, at in section.named("classes"):
        need(text, str, at)
        if "\n" in text.strip():
            classes[key] = lexicon.lexical_class(key, text, at)
        else:
            aliases[key] = lexicon.choice(key, text, at)
    phrases = {key: (value, section.at("phrases", key)) for key, value in section.content.get("phrases", {}).items()}
    return Lexicon(classes, aliases, phrases)


def spread_of(section: Section) -> tuple[str, ...]:
    """Return the slots that `spread` of `[items]` lists: the first that a configuration has gets all entries equally."""
    place = f"{section.at('items')}, spread"
    value = section.content["items"].get("spread", [])
    return tuple(need(name, str, place) for name in ([value] if isinstance(value, str) else need(value, list, place)))


def cells_of(section: Section, rules: Mapping[str, object]) -> tuple[str, ...]:
    """Return the rules that `cells` of `[items]` lists: their alternatives get equal numbers of items."""
    place = f"{section.at('items')}, cells"
    names = tuple(need(name, str, place) for name in need(section.content["items"].get("cells", []), list, place))
    for name in names:
        if name not in rules:
            lexicon.refuse_unknown(name, "rule", rules, place)
    return names


def aggregate_of(content: Mapping[str, Any], place: str) -> Aggregate:
    """Return the aggregate: the function that turns the bits of a region's tokens into its value."""
    name = toml.text(content, "aggregate", place, "sum")
    for aggregate in AGGREGATES:
        if name == aggregate:
            return aggregate
    raise InputError(f"{place}, aggregate", toml.shown(name), "one of " + ", ".join(AGGREGATES))


MAX_SUITES = 200
MAX_SHARED = 10_000_000
MAX_CLASSES = 10_000
MAX_ENTRIES = 50_000

_TABLES = ("tags", "slots", "vary", "rules", "phrases", "classes", "item_tags")
_SECTIONS = ("name", *_AT_TOP, *_TABLES, "conditions", "predictions", "edit", "items")
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
        return spelling.of(tagged if tagged is not UNKNOWN else find_language(self.lexicon.language))


def read(text: str, place: str, name: str, lexicon_of: Callable[[str], Lexicon]) -> list[Template]:
    top = toml.read(text, place)
    has_sections = "suite" in top
    sections = top.pop("suite", [{}])
    if not isinstance(sections, list) or not 0 < len(sections) <= MAX_SUITES:
        raise InputError(
            f"{place}, [suite]", toml.shown(sections), f"1 to {MAX_SUITES} sections", "Begin each with [[suite]]."
        )
    known(top, _SECTIONS, place)
    refuse_misplaced(top, place)
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
    refuse_misplaced(own, place)
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
    return words_of(Section(top | tables, top, place, place))


def _template(section: Section, stem: str, lexicon_of: Callable[[str], Lexicon]) -> Template:
    content, place = section.content, section.place
    rules = {key: pattern.rule(key, value, at) for key, value, at in section.named("rules")}
    vary = {key: pattern.variable(value, at) for key, value, at in section.named("vary")}
    choices = {key: lexicon.choice(key, need(value, str, at), at) for key, value, at in section.named("slots")}
    own = words_of(section)
    own_phrases = pattern.of_lexicon(own)
    base = lexicon_of(toml.text(content, "lexicon", place)) if "lexicon" in content else Lexicon()
    places = {(key, entry): section.at(key, entry) for key in _PLACED for entry in content[key]}
    conditions = conditions_of(section)
    regions = regions_of(section, conditions)
    fill, table, n = items_of(section)
    tags = {_tag(key, at): text for key, text, at in section.texts("tags")}
    stream = toml.text(content["items"], "stream", section.at("items"), "")
    template = Template(
        name_of(content, stem, place), place, tags, regions, conditions,
        predictions_of(section), item_tags_of(section),
        vary, tuple(rules), {**pattern.of_lexicon(base), **own_phrases, **rules}, requirements_of(section), choices,
        _together(base, own), fill, table, n, cells_of(section, rules),
        spread_of(section), stream, aggregate_of(content, place),
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
