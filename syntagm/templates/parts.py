"""The parts of a template: what each section of the TOML file says."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from syntagm.errors import FormulaError, InputError
from syntagm.formula import parse as parse_formula
from syntagm.io import toml
from syntagm.io.toml import known, need, shown
from syntagm.suite import AGGREGATES, Aggregate, Prediction
from syntagm.templates import cells, lexicon, pattern
from syntagm.templates.lexicon import LexicalClass
from syntagm.templates.pattern import Pattern
from syntagm.templates.spelling import tidy

Fill = Literal["table", "cross", "sample"]
MAX_CONDITIONS = 100
MAX_PREDICTIONS = 100

_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SUITE = re.compile(r"\w[\w .,()+-]{0,99}")
_ITEMS: dict[Fill, tuple[str, ...]] = {"table": ("fill", "rows"), "cross": ("fill",), "sample": ("fill", "n")}
_RESERVED = ("seed", "style")


@dataclass(frozen=True, slots=True)
class Section:
    """What one suite says, its own and what it shares with others; `file` and `place` are where the two stand."""

    content: Mapping[str, Any]
    own: Mapping[str, Any]
    file: str
    place: str

    def at(self, key: str, name: str = "") -> str:
        """Where an entry stands, for messages."""
        own = key in self.own and (not name or name in self.own[key])
        return f"{self.place if own else self.file}, [{key}]{' ' if name else ''}{name:.{toml.MAX_NAME}}"

    def texts(self, key: str) -> Iterator[tuple[str, str, str]]:
        """The entries of a table whose values are texts: name, text and place."""
        for name, value in toml.table(self.content, key, self.place).items():
            yield name, need(value, str, self.at(key, name)), self.at(key, name)

    def named(self, key: str) -> Iterator[tuple[str, Any, str]]:
        """The entries of a table whose names patterns can use: name, value and place."""
        for name, value in self.content[key].items():
            yield toml.name(name, self.at(key)), value, self.at(key, name)


def name(content: Mapping[str, Any], stem: str, place: str) -> str:
    """The name of the suite; that of the file if it says none."""
    found = toml.text(content, "name", place, stem)
    if not _SUITE.fullmatch(found):
        cure = 'Say name = "..." at the top, or call the file something else.' if found == stem else ""
        raise InputError(place, f"the name {shown(found)} for a suite", "letters, digits, _, - and blanks", cure)
    return found


def tags(section: Section) -> dict[str, str]:
    """The tags of the suite."""
    return {_tag(name, place): text for name, text, place in section.texts("tags")}


def _tag(name: str, place: str) -> str:
    if not name.strip() or name in _RESERVED or name.startswith("json:"):
        expected = "another name: seed, style and those that begin with json: are given by syntagm itself"
        raise InputError(place, f"a tag called {shown(name)}", expected)
    return name


def item_tags(section: Section) -> dict[str, Pattern]:
    """The tags of items, patterns without regions."""
    found = {_tag(name, place): pattern.parse(text, place) for name, text, place in section.texts("item_tags")}
    for one in found.values():
        if one.split:
            raise InputError(one.place, f"a border of regions in {shown(one.text)}", "one text", "Take out the |.")
    return found


def conditions(section: Section) -> dict[str, Pattern]:
    """The patterns of the sentences."""
    found = {}
    for name, text, place in section.texts("conditions"):
        if not _NAME.fullmatch(name):
            raise InputError(
                section.at("conditions"), f"the name {shown(name)}", "letters from a to z, digits, _ and -"
            )
        found[name] = pattern.parse(text, place)
    if not 0 < len(found) <= MAX_CONDITIONS:
        expected = f"a pattern for each condition, at most {MAX_CONDITIONS}"
        raise InputError(section.at("conditions"), f"{len(found) or 'no'} patterns", expected)
    return found


def regions(section: Section, conditions: Mapping[str, Pattern]) -> tuple[str, ...]:
    """The names of the regions; none if no pattern has regions."""
    names = tuple(part.strip() for part in toml.text(section.content, "regions", section.place, "").split("|"))
    if names == ("",):
        if not any(one.split for one in conditions.values()):
            return ()
        names = tuple(str(number + 1) for number in range(max(len(one.regions) for one in conditions.values())))
    # Counted once: a line of a million names is a short text.
    times = Counter(names)
    for name in names:
        if not _NAME.fullmatch(name) or times[name] > 1:
            found = f"the name {shown(name)}" + (" twice" if times[name] > 1 else "")
            raise InputError(f"{section.place}, regions", found, "letters from a to z, digits, _ and -, each name once")
    for one in conditions.values():
        if len(one.regions) != len(names):
            found = f"{len(one.regions)} region{'' if len(one.regions) == 1 else 's'}: {shown(one.text)}"
            listed = shown(" | ".join(names[:20]))
            raise InputError(one.place, found, f"{len(names)}: {listed}", "| stands between two regions.")
    return names


def predictions(section: Section) -> tuple[Prediction, ...]:
    """The predictions, by name."""
    found = []
    for name, text, place in section.texts("predictions"):
        if not name.strip():
            raise InputError(section.at("predictions"), "a prediction without a name", "a name")
        try:
            found.append(Prediction(name, parse_formula(text)))
        except FormulaError as error:
            raise FormulaError(f"{place}, {error.place}", error.found, error.expected, error.cure) from None
    if len(found) > MAX_PREDICTIONS:
        raise InputError(section.at("predictions"), f"{len(found):,} predictions", f"at most {MAX_PREDICTIONS}")
    return tuple(found)


def items(section: Section) -> tuple[Fill, cells.Table | None, int]:
    """How the slots are filled, the table if by one, and the number if by draws."""
    place, found = section.at("items"), toml.table(section.content, "items", section.place)
    for fill, keys in _ITEMS.items():
        if found.get("fill") == fill:
            known(found, keys, place)
            n = found.get("n", 0)
            if fill == "sample" and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
                raise InputError(place, f"n = {shown(n)}", "how many items to draw, a number from 1", "Write n = 100.")
            return fill, cells.read(toml.text(found, "rows", place), f"{place} rows") if fill == "table" else None, n
    shown_fill = f"fill = {shown(found['fill'])}" if "fill" in found else "no fill"
    raise InputError(place, shown_fill, "table, cross or sample", 'Write fill = "table".')


def alternatives(value: Any, place: str) -> dict[str, Pattern]:
    """The alternatives of a rule by name; those of a list are called 1, 2, 3."""
    if isinstance(value, list):
        value = {str(number): one for number, one in enumerate(value, 1)}
    if not isinstance(value, dict) or not value:
        raise InputError(place, shown(value), "a list of patterns, or patterns by name")
    made = {key: pattern.parse(need(one, str, f"{place}, {key}"), f"{place}, {key}") for key, one in value.items()}
    for one in made.values():
        if one.split:
            raise InputError(one.place, "a border of regions", "one without |", "Put the borders into the conditions.")
    return made


def values(value: Any, place: str) -> tuple[str, ...]:
    """The values of a variable, tidied."""
    listed = tuple(tidy(need(one, str, place)) for one in need(value, list, place))
    if not listed or len(set(listed)) < len(listed):
        raise InputError(place, shown(list(listed)), "a list of different values")
    if longest := next((one for one in listed if len(one) > cells.MAX_CELL), ""):
        raise InputError(place, f"a value of {len(longest):,} characters", f"at most {cells.MAX_CELL:,}")
    return listed


def classes(section: Section) -> dict[str, LexicalClass]:
    """The lexical classes, by name."""
    return {name: lexicon.lexical_class(name, need(text, str, at), at) for name, text, at in section.named("classes")}


def aggregate(content: Mapping[str, Any], place: str) -> Aggregate:
    """How the bits of tokens make the value of a region."""
    found = toml.text(content, "aggregate", place, "sum")
    for one in AGGREGATES:
        if found == one:
            return one
    raise InputError(f"{place}, aggregate", shown(found), "one of " + ", ".join(AGGREGATES))
