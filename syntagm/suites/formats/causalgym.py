"""CausalGym's templates (Arora et al. 2024): prefixes with variables, and labels that continue them.

    {"agreement": {"templates": ["The {subject} that {verbed} the {object}"], "label": "subject",
                   "labels": {"plural": ["are", "were"], "singular": ["is", "was"]}, "result_prepend_space": true,
                   "variables": {"subject": {"singular": ["guard"], "plural": ["authors"]}, "verbed": ["hated"], ...}}}

Each entry is a suite. An item is a prefix, drawn at random, with a value of the variable `label`; its good sentence goes on
with a label of that value, its bad one with a label of another value at the same place of its list. If `label` is a list of
variables, all of them take their words from that value. `label_prepend_space` puts a blank before these words. The labels are
compared after the same prefix (BLiMP's one-prefix method), as well as the sentences. Items are distinct.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from syntagm.core import InputError, UsageError, json, shape, utf8
from syntagm.suites.formats import _pair
from syntagm.suites.suite import Item, Suite

ENDINGS = (".json",)
_SLOT = re.compile(r"{([^{}]*)}")
_KEYS = ("templates", "label", "labels", "variables")
MOST = 10_000


def claims(path: Path, head: str) -> bool:
    """Return whether the text is an object of objects with templates, labels and variables, as far as it begins."""
    return path.suffix == ".json" and head.lstrip()[:1] == "{" and all(f'"{key}"' in head for key in _KEYS)


def read_as(path: Path, head: str, **options: str) -> str:
    drawn = options.get("n") or "100"
    return f"templates: {drawn} items for each suite, drawn with the seed {options.get('seed') or '1'}"


def read(path: Path, *, n: str = "100", seed: str = "1", suite: str = "") -> Iterator[Suite]:
    """Draw the suites of a file.

    Arguments:
        path: the JSON file.
        n: the number of items for each suite; fewer if there are fewer different ones.
        seed: the seed of the random draws.
        suite: the name of the suite to draw; all by default.

    Raises:
        InputError: a template names a variable that there is not, or the file has another shape.
        UsageError: an option has a value that is not allowed, or there is no suite with the name.
    """
    number, first_seed = _number("n", n, 1), _number("seed", seed, 0)
    entries = shape.need(json.parsed(utf8.read(path), path), dict, str(path))
    if suite and suite not in entries:
        raise UsageError(str(path), f"no suite {suite!r}", "one of " + ", ".join(map(repr, entries)))
    for name, entry in entries.items():
        if not suite or name == suite:
            place = f"{path}, {name}"
            yield from _pair.suites(list(_items(name, shape.need(entry, dict, place), place, number, first_seed)),
                                    "one_prefix", place)  # fmt: skip


def _items(name: str, entry: dict[str, Any], place: str, n: int, seed: int) -> Iterator[tuple[str, Item]]:
    templates = _texts(entry, "templates", place)
    given = entry.get("label")
    deciding = _texts(entry, "label", place) if isinstance(given, list) else [shape.field(entry, "label", str, place)]
    labels = {
        key: _texts(entry["labels"], key, f"{place}, labels") for key in shape.field(entry, "labels", dict, place)
    }
    variables = shape.field(entry, "variables", dict, place)
    values = {name: _values(variables, name, labels, place) for name in deciding}
    blank = " " if entry.get("label_prepend_space", False) else ""
    joint = " " if entry.get("result_prepend_space", False) else blank
    chance, seen, tries = Random(f"{seed} {name}"), set[tuple[str, str, str]](), 0
    while len(seen) < n and tries < 20 * n:
        tries += 1
        template, value = chance.choice(templates), chance.choice(sorted(values[deciding[0]]))
        filled = {name: chance.choice(values[name][value]) for name in deciding}

        def word(match: re.Match[str]) -> str:
            before = blank if match[1] in deciding else ""
            return before + _filled(match[1], filled, variables, chance, place)  # noqa: B023

        prefix = _SLOT.sub(word, template).lstrip()
        position = chance.randrange(len(labels[value]))
        other = chance.choice([key for key in labels if key != value])
        good, bad = labels[value][position], labels[other][position % len(labels[other])]
        if good == bad or (prefix, good, bad) in seen:
            continue
        seen.add((prefix, good, bad))
        item, texts = f"{place}, item {len(seen) - 1}", (f"{prefix}{joint}{good}", f"{prefix}{joint}{bad}")
        for text in texts:
            shape.sentence(text, item)
        sentences = _pair.regions(*texts, "one_prefix", (prefix, good, bad), item)
        yield name, Item(str(len(seen) - 1), sentences, {"label": value, **filled})
    if not seen:
        raise InputError(place, "no two labels that differ", "labels of two values or more")


def _values(
    variables: Mapping[str, Any], labelled: str, labels: Mapping[str, Sequence[str]], place: str
) -> dict[str, list[str]]:
    """Return the words of the variable that decides the label: value -> words."""
    if not isinstance(variables.get(labelled), dict):
        raise InputError(
            f"{place}, variables, {labelled}", shape.shown(variables.get(labelled)), "words by their labels"
        )
    own = variables[labelled]
    found = {key: _texts(own, key, f"{place}, variables, {labelled}") for key in own}
    if len(found) < 2 or set(found) != set(labels):
        expected = "two labels or more, the same as in labels: " + ", ".join(map(str, labels))
        raise InputError(f"{place}, variables, {labelled}", "the labels " + ", ".join(map(str, found)), expected)
    return found


def _filled(slot: str, filled: dict[str, str], variables: Mapping[str, Any], chance: Random, place: str) -> str:
    if slot not in filled:
        options = variables.get(slot)
        if isinstance(options, dict):
            options = [word for words in options.values() if isinstance(words, list) for word in words]
        if not isinstance(options, list) or not options or not all(isinstance(word, str) for word in options):
            raise InputError(
                f"{place}, templates", f"the slot {{{slot}}}", "a variable: " + ", ".join(map(repr, variables))
            )
        filled[slot] = chance.choice(options)
    return filled[slot]


def _texts(value: dict[str, Any], key: str, place: str) -> list[str]:
    found = shape.field(value, key, list, place)
    if not found or not all(isinstance(text, str) and text.strip() for text in found):
        raise InputError(f"{place}, {key}", "no texts" if not found else "a value that is no text", "a list of texts")
    return found


def _number(option: str, text: str, least: int) -> int:
    if not re.fullmatch(r"[0-9]{1,9}", text) or not least <= int(text) <= (MOST if option == "n" else 10**9):
        raise UsageError(
            option, repr(text[:60]), f"a whole number from {least}" + (f" to {MOST}" if option == "n" else "")
        )
    return int(text)
