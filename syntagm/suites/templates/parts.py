"""Reading of the sections of a template's TOML file."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from syntagm.core import FormulaError, InputError, counted, known, need, toml
from syntagm.suites.formula import parse as parse_formula
from syntagm.suites.suite import AGGREGATES, Aggregate, Prediction
from syntagm.suites.templates import cells, expression, lexicon, pattern
from syntagm.suites.templates.expression import VARIABLE, Expression
from syntagm.suites.templates.lexicon import Choice, LexicalClass, Lexicon
from syntagm.suites.templates.pattern import Pattern

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
        """Return the place of an entry, for messages."""
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


def name(content: Mapping[str, Any], stem: str, place: str) -> str:
    """Return the name of the suite; the default is the name of the file."""
    suite_name = toml.text(content, "name", place, stem)
    if not _SUITE.fullmatch(suite_name):
        cure = 'Write name = "..." at the top, or rename the file.' if suite_name == stem else ""
        raise InputError(
            place, f"the name {toml.shown(suite_name)} for a suite", "letters, digits, _, - and spaces", cure
        )
    return suite_name


def tags(section: Section) -> dict[str, str]:
    """Return the tags of the suite."""
    return {_tag(name, place): text for name, text, place in section.texts("tags")}


def _tag(name: str, place: str) -> str:
    if not name.strip() or name in _RESERVED or name.startswith("json:"):
        expected = "another name: seed, style, vocabulary and names that begin with json: are reserved"
        raise InputError(place, f"a tag called {toml.shown(name)}", expected)
    return name


def item_tags(section: Section) -> dict[str, Pattern]:
    """Return the patterns of item tags, which have no regions."""
    patterns = {_tag(name, place): pattern.parse(text, place) for name, text, place in section.texts("item_tags")}
    for tag in patterns.values():
        if tag.split:
            raise InputError(tag.place, f"a region border in {toml.shown(tag.text)}", "one text", "Remove the |.")
    return patterns


def conditions(section: Section) -> dict[str, Pattern]:
    """Return the patterns of the sentences, by condition."""
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


def regions(section: Section, conditions: Mapping[str, Pattern]) -> tuple[str, ...]:
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


def predictions(section: Section) -> tuple[Prediction, ...]:
    """Return the predictions, in order."""
    result = []
    for name, text, place in section.texts("predictions"):
        if not name.strip():
            raise InputError(section.at("predictions"), "a prediction without a name", "a name")
        try:
            result.append(Prediction(name, parse_formula(text)))
        except FormulaError as error:
            raise FormulaError(f"{place}, {error.place}", error.found, error.expected, error.cure) from None
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


def require(section: Section) -> tuple[Expression, ...]:
    """Return the conditions on variables that every configuration meets."""
    place = f"{section.place}, require"
    texts = need(section.content.get("require", []), list, place)
    # A condition that is written twice counts once.
    different = dict.fromkeys(need(text, str, place) for text in texts)
    conditions = tuple(part for text in different for part in expression.parse(text, place, VARIABLE))
    expression.refuse_many(conditions, place)
    return conditions


def items(section: Section) -> tuple[Fill, cells.Table | None, int]:
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


def words(section: Section) -> Lexicon:
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


def spread(section: Section) -> tuple[str, ...]:
    """Return the slots that `spread` of `[items]` lists: the first that a configuration has gets all entries equally."""
    place = f"{section.at('items')}, spread"
    value = section.content["items"].get("spread", [])
    return tuple(need(name, str, place) for name in ([value] if isinstance(value, str) else need(value, list, place)))


def stream(section: Section) -> str:
    """Return the name of the random numbers of a sample, `stream` of `[items]`; empty by default."""
    return toml.text(section.content["items"], "stream", section.at("items"), "")


def cells_of(section: Section, rules: Mapping[str, object]) -> tuple[str, ...]:
    """Return the rules that `cells` of `[items]` lists: their alternatives get equal numbers of items."""
    place = f"{section.at('items')}, cells"
    names = tuple(need(name, str, place) for name in need(section.content["items"].get("cells", []), list, place))
    for name in names:
        if name not in rules:
            lexicon.refuse_unknown(name, "rule", rules, place)
    return names


def aggregate(content: Mapping[str, Any], place: str) -> Aggregate:
    """Return the aggregate: the function that turns the bits of a region's tokens into its value."""
    name = toml.text(content, "aggregate", place, "sum")
    for aggregate_name in AGGREGATES:
        if name == aggregate_name:
            return aggregate_name
    raise InputError(f"{place}, aggregate", toml.shown(name), "one of " + ", ".join(AGGREGATES))
