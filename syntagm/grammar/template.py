"""Templates: what a TOML file says about the suites that it makes. The language is described in docs/templates.md."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from syntagm.errors import FormulaError, InputError
from syntagm.formula import parse as parse_formula
from syntagm.grammar import cells, lexicon, pattern
from syntagm.grammar.lexicon import Choice, LexicalClass
from syntagm.grammar.pattern import Pattern
from syntagm.suite import AGGREGATES, Aggregate, Prediction

Fill = Literal["table", "cross", "sample"]
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_TABLES = ("tags", "slots", "vary", "rules", "classes", "item_tags")
_TEXTS = ("name", "regions", "lexicon", "aggregate")
_SECTIONS = (*_TEXTS, *_TABLES, "conditions", "predictions", "items")
_ITEMS = {"table": ("fill", "rows"), "cross": ("fill",), "sample": ("fill", "n")}


@dataclass(frozen=True, slots=True)
class Template:
    """How the sentences of one suite are made.

    `variables` are those of `[vary]` and the rules, each with its values; `table` is there if `fill` is `table`, `n` if it
    is `sample`.
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


def read(text: str, place: str, name: str, classes_of: Callable[[str], Mapping[str, LexicalClass]]) -> list[Template]:
    """The templates of a file, one for each suite that it makes.

    Arguments:
        text: the TOML text.
        place: for messages, the file.
        name: of the suite, if the file doesn't say it.
        classes_of: the classes of the lexicon of a name.

    Raises:
        InputError: no TOML, or not what docs/templates.md says; with the section, slot or row.
    """
    top = _toml(text, place)
    sections = _need(top.pop("suite", [{}]), list, f"{place}, [[suite]]")
    _known(top, _SECTIONS, place)
    made = []
    for number, section in enumerate(sections, 1):
        where = f"{place}, suite {number}" if len(sections) > 1 else place
        section = _need(section, dict, where)
        _known(section, _SECTIONS, where)
        merged = top | section | {key: _table(top, key, place) | _table(section, key, where) for key in _TABLES}
        made.append(_template(merged, place, name, classes_of))
    names = [template.name for template in made]
    for twice in {one for one in names if names.count(one) > 1}:
        raise InputError(place, f"two suites called {twice!r}", "each name once", "Give each [[suite]] a name.")
    return made


def classes(text: str, place: str) -> dict[str, LexicalClass]:
    """The classes of a lexicon, a TOML file with nothing but `[classes]`; InputError if it is something else."""
    top = _toml(text, place)
    _known(top, ("classes",), place)
    return _classes(_table(top, "classes", place), f"{place}, [classes]")


def _toml(text: str, place: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        shown = "nested too deep" if isinstance(error, RecursionError) else f"no TOML: {error}"
        raise InputError(place, shown, "a template (docs/templates.md)") from None


def _template(
    section: dict[str, Any], file: str, name: str, classes_of: Callable[[str], Mapping[str, LexicalClass]]
) -> Template:
    name = _text(section, "name", file, name)
    place = f"{file}, suite {name}"
    rules = {key: _alternatives(value, f"{place}, [rules] {key}") for key, value in section["rules"].items()}
    vary = {key: _values(value, f"{place}, [vary] {key}") for key, value in section["vary"].items()}
    for both in rules.keys() & vary.keys():
        raise InputError(f"{place}, [rules] {both}", "a variable of the same name", "another name")
    conditions = _patterns(section, "conditions", place)
    if not conditions:
        raise InputError(f"{place}, [conditions]", "nothing", "a pattern for each condition")
    fill, table, n = _items(section, place)
    choices = {
        key: lexicon.choice(key, value, f"{place}, [slots] {key}") for key, value in _texts(section, "slots", place)
    }
    known = dict(classes_of(_text(section, "lexicon", place))) if "lexicon" in section else {}
    return Template(
        name, place, dict(_texts(section, "tags", place)), _regions(section, conditions, place), conditions,
        tuple(_predictions(section, place)), _patterns(section, "item_tags", place),
        vary | {key: tuple(value) for key, value in rules.items()}, rules, choices,
        known | _classes(section["classes"], f"{place}, [classes]"), fill, table, n, _aggregate(section, place),
    )  # fmt: skip


def _items(section: dict[str, Any], place: str) -> tuple[Fill, cells.Table | None, int]:
    place = f"{place}, [items]"
    items = _table(section, "items", place)
    fill = items.get("fill")
    if fill not in _ITEMS:
        raise InputError(place, f"fill = {fill!r}" if "fill" in items else "no fill", "table, cross or sample")
    _known(items, _ITEMS[fill], place)
    table = cells.read(_text(items, "rows", place), f"{place} rows") if fill == "table" else None
    n = items.get("n", 0)
    if fill == "sample" and (isinstance(n, bool) or not isinstance(n, int) or n < 1):
        raise InputError(place, f"n = {n!r}", "how many items to draw, a number from 1")
    return fill, table, n


def _regions(section: dict[str, Any], conditions: Mapping[str, Pattern], place: str) -> tuple[str, ...]:
    """The names of the regions; none if no pattern has regions."""
    names = tuple(part.strip() for part in _text(section, "regions", place, "").split("|"))
    if names == ("",):
        if not any(one.split for one in conditions.values()):
            return ()
        names = tuple(str(number + 1) for number in range(max(len(one.regions) for one in conditions.values())))
    for name in names:
        if not _NAME.fullmatch(name) or names.count(name) > 1:
            found = f"the name {name!r}" + (" twice" if names.count(name) > 1 else "")
            raise InputError(f"{place}, regions", found, "letters, digits, _ and -, each name once")
    for one in conditions.values():
        if len(one.regions) != len(names):
            raise InputError(one.place, f"{len(one.regions)} regions: {one.text}", f"{len(names)}: {' | '.join(names)}")
    return names


def _predictions(section: dict[str, Any], place: str) -> Iterator[Prediction]:
    for name, text in _texts(section, "predictions", place):
        try:
            yield Prediction(name, parse_formula(text))
        except FormulaError as error:
            where = f"{place}, [predictions] {name}, {error.place}"
            raise FormulaError(where, error.found, error.expected, error.cure) from None


def _alternatives(value: Any, place: str) -> dict[str, Pattern]:
    if isinstance(value, list):
        value = {str(number): one for number, one in enumerate(value, 1)}
    named = _need(value, dict, place)
    if not named:
        raise InputError(place, "no alternatives", "a list of patterns, or patterns by name")
    made = {key: pattern.parse(_need(one, str, f"{place}.{key}"), f"{place}.{key}") for key, one in named.items()}
    for one in made.values():
        if one.split:
            raise InputError(one.place, "a border of regions", "one without |", "Put the borders into the conditions.")
    return made


def _values(value: Any, place: str) -> tuple[str, ...]:
    listed = tuple(_need(one, str, place) for one in _need(value, list, place))
    if not listed or len(set(listed)) < len(listed):
        raise InputError(place, str(list(listed)), "a list of different values")
    return listed


def _patterns(section: dict[str, Any], key: str, place: str) -> dict[str, Pattern]:
    found = {}
    for name, text in _texts(section, key, place):
        where = f"{place}, [{key}] {name}"
        if key == "conditions" and not _NAME.fullmatch(name):
            raise InputError(where, repr(name), "letters, digits, _ and -")
        found[name] = pattern.parse(text, where)
        if key == "item_tags" and found[name].split:
            raise InputError(where, f"a border of regions in {text!r}", "one text")
    return found


def _classes(tables: dict[str, Any], place: str) -> dict[str, LexicalClass]:
    texts = {name: _need(text, str, f"{place} {name}") for name, text in tables.items()}
    return {name: lexicon.lexical_class(name, text, f"{place} {name}") for name, text in texts.items()}


def _aggregate(section: dict[str, Any], place: str) -> Aggregate:
    found = _text(section, "aggregate", place, "sum")
    for one in AGGREGATES:
        if found == one:
            return one
    raise InputError(f"{place}, aggregate", repr(found), "one of " + ", ".join(AGGREGATES))


def _texts(section: dict[str, Any], key: str, place: str) -> Iterator[tuple[str, str]]:
    for name, value in _table(section, key, place).items():
        yield name, _need(value, str, f"{place}, [{key}] {name}")


def _text(section: dict[str, Any], key: str, place: str, default: str | None = None) -> str:
    if key not in section and default is None:
        raise InputError(place, f"no {key}", "one")
    return str(_need(section.get(key, default), str, f"{place}, {key}"))


def _table(section: dict[str, Any], key: str, place: str) -> dict[str, Any]:
    return dict(_need(section.get(key, {}), dict, f"{place}, [{key}]"))


def _known(section: Mapping[str, Any], names: tuple[str, ...], place: str) -> None:
    for key in section:
        if key not in names:
            raise InputError(place, f"{key!r}, which means nothing here", "one of " + ", ".join(names))


_KINDS: dict[type, str] = {str: "a text", dict: "a table", list: "a list"}


def _need(value: Any, kind: type, place: str) -> Any:
    if not isinstance(value, kind):
        raise InputError(place, f"{value!r:.60}", _KINDS[kind])
    return value
