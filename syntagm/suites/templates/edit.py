"""The declared edit: what makes the bad sentence of a pair from the good one, checked on every pair."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from syntagm.core import InputError, known, need, toml
from syntagm.suites.suite import Item, Prediction, Sentence

Type = Literal["substitution", "permutation", "insertion", "deletion"]
TYPES: tuple[Type, ...] = get_args(Type)
_WORDS: dict[Type, str] = {"substitution": "1 -> 1", "permutation": "", "insertion": "0 -> 1", "deletion": "1 -> 0"}
_RANGE = r"(\d{1,3})(?:-(\d{1,3}))?"
_NUMBERS = re.compile(rf"\s*{_RANGE}\s*->\s*{_RANGE}\s*")
_PUNCTUATION = '.,;:?!…()[]“”"'


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit: its type, how many words it replaces by how many, the region that holds it, and the two conditions."""

    type: Type
    place: str
    words: str
    before: range
    after: range
    region: str
    good: str
    bad: str

    def refuse_other(self, item: Item) -> None:
        """Refuse an item whose sentences differ in another way."""
        good, bad = item.sentences[self.good], item.sentences[self.bad]
        first, second = _tokens(good.text), _tokens(bad.text)
        old, new = _difference(first, second)
        if self.type == "permutation":
            fits = first != second and sorted(first) == sorted(second)
        else:
            fits = len(old) in self.before and len(new) in self.after and old != new
        if not fits:
            found = f"{' '.join(old) or 'nothing'} -> {' '.join(new) or 'nothing'}, in {good.text[:200]!r} -> {bad.text[:200]!r}"
            raise InputError(f"{self.place}, item {item.id}", found, f"a {self.type} {self.words}".rstrip())
        if self.region and _outside(good, self.region) != _outside(bad, self.region):
            found = f"a difference outside of {self.region}: {good.text[:200]!r} -> {bad.text[:200]!r}"
            raise InputError(f"{self.place}, item {item.id}", found, f"one within the region {self.region}")

    def tags(self, items: Sequence[Item], predictions: Sequence[Prediction]) -> dict[str, str]:
        """Return the tags of the suite that follow from the edit: its type, and the flags of BLiMP's files."""
        named = {prediction.name for prediction in predictions}
        identical = all(
            sorted(_tokens(item.sentences[self.good].text)) == sorted(_tokens(item.sentences[self.bad].text))
            for item in items
        )
        flags = {
            "simple_LM_method": "full_sentence" in named,
            "one_prefix_method": "one_prefix" in named,
            "two_prefix_method": "two_prefix" in named,
            "lexically_identical": identical,
        }
        return {"edit": self.type} | {name: "true" if flag else "false" for name, flag in flags.items()}


def edit(
    content: Mapping[str, Any], conditions: Mapping[str, object], regions: tuple[str, ...], place: str
) -> Edit | None:
    if "edit" not in content:
        return None
    at = f"{place}, [edit]"
    entries = toml.table(content, "edit", place)
    known(entries, ("type", "words", "region", "conditions"), at)
    name = toml.text(entries, "type", at)
    for kind in TYPES:
        if name == kind:
            break
    else:
        raise InputError(f"{at}, type", toml.shown(name), "one of " + ", ".join(TYPES))
    words = toml.text(entries, "words", at, _WORDS[kind])
    match = _NUMBERS.fullmatch(words)
    if (kind == "permutation") != (words == "") or (words and not match):
        raise InputError(
            f"{at}, words", toml.shown(words), 'numbers of words, as in "1 -> 1" or "1-2 -> 1"; none for a permutation'
        )
    before, after = (_range(match[1], match[2]), _range(match[3], match[4])) if match else (range(0), range(0))
    if match and ((0 in before) != (kind == "insertion") or (0 in after) != (kind == "deletion")):
        raise InputError(f"{at}, words", toml.shown(words), f"numbers for a {kind}, such as {_WORDS[kind]}")
    region = toml.text(entries, "region", at, "")
    if region and region not in regions:
        raise InputError(f"{at}, region", toml.shown(region), f"one of: {', '.join(regions) or 'none'}")
    named = [need(one, str, f"{at}, conditions") for one in need(entries.get("conditions", ["good", "bad"]), list, at)]
    if len(named) != 2 or any(one not in conditions for one in named):
        raise InputError(f"{at}, conditions", toml.shown(named), f"two of: {', '.join(conditions)}")
    return Edit(kind, at, words, before, after, region, *named)


def _range(first: str, last: str | None) -> range:
    return range(int(first), int(last or first) + 1)


def _tokens(text: str) -> list[str]:
    """Return the words of a text without capitals and punctuation. *a* and *an* count as the same word."""
    words = [bare for word in text.lower().split() if (bare := word.strip(_PUNCTUATION))]
    return ["a" if word == "an" else word for word in words] if "an" in words else words


def _difference(first: list[str], second: list[str]) -> tuple[list[str], list[str]]:
    """Return what is left of two lists without their common beginning and end."""
    start, most = 0, min(len(first), len(second))
    while start < most and first[start] == second[start]:
        start += 1
    end = 0
    while end < most - start and first[len(first) - 1 - end] == second[len(second) - 1 - end]:
        end += 1
    return first[start : len(first) - end], second[start : len(second) - end]


def _outside(sentence: Sentence, name: str) -> tuple[list[str], list[str]]:
    [region] = [region for region in sentence.regions if region.name == name]
    return _tokens(sentence.text[: region.start]), _tokens(sentence.text[region.end :])
