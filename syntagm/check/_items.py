"""Rules for items: their ids, conditions and regions, and repeated items."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from syntagm.check._spot import Spot, references, rule, sentences
from syntagm.suite import Suite


@rule("E207")
def bad_id(suite: Suite) -> Iterator[Spot]:
    """an item id or condition name that is empty or has unprintable characters. Give it a plain name."""
    for item in suite.items:
        for name in (item.id, *item.sentences):
            if not name.strip() or not name.isprintable():
                yield Spot(item.id, found=repr(name))


@rule("E201")
def repeated_item(suite: Suite) -> Iterator[Spot]:
    """an item id that is used more than once. Renumber the items; results are stored under these ids."""
    for name, number in Counter(item.id for item in suite.items).items():
        if number > 1:
            yield Spot(name, found=f"{number} times")


@rule("E206")
def repeated_region(suite: Suite) -> Iterator[Spot]:
    """two regions with the same name in one sentence. Rename one of them, because formulas refer to regions by name."""
    for item, condition, sentence in sentences(suite):
        names = [region.name for region in sentence.regions]
        if len(set(names)) < len(names):
            yield Spot(item.id, condition, next(name for name in names if names.count(name) > 1))


@rule("W201")
def different_conditions(suite: Suite) -> Iterator[Spot]:
    """other conditions than the first item. Give every item the same conditions."""
    expected = set(suite.items[0].sentences) if suite.items else set()
    for item in suite.items:
        if (conditions := set(item.sentences)) != expected:
            missing = [f"{name} is missing" for name in sorted(expected - conditions)]
            extra = [f"{name} is new" for name in sorted(conditions - expected)]
            yield Spot(item.id, found=", ".join(missing + extra))


@rule("W202")
def repeated_sentences(suite: Suite) -> Iterator[Spot]:
    """the same sentences as another item. Change or delete one; the same observation would count twice."""
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for item in suite.items:
        key = tuple(sorted((name, sentence.text) for name, sentence in item.sentences.items()))
        if key in seen:
            yield Spot(item.id, found=f"item {seen[key]}")
        seen.setdefault(key, item.id)


@rule("W206")
def foreign_condition(suite: Suite) -> Iterator[Spot]:
    """a condition name that SyntaxGym's formulas can't contain.
    If SyntaxGym should read the suite, use only ASCII letters, digits, _ and -."""
    for name in dict.fromkeys(name for item in suite.items for name in item.sentences):
        if not re.fullmatch("[A-Za-z0-9_-]+", name):
            yield Spot(condition=name)


@rule("W207")
def mostly_empty_region(suite: Suite) -> Iterator[Spot]:
    """a region that no prediction compares and that is empty in most sentences.
    If it is a note and not part of the sentence, remove it: models read it."""
    compared = {reference.region for _, reference in references(suite)}
    filled: dict[str, dict[tuple[str, str], bool]] = {}
    for item, condition, sentence in sentences(suite):
        for region in sentence.regions:
            text = sentence.text[region.start : region.end].strip()
            filled.setdefault(region.name, {})[item.id, condition] = bool(text)
    for name, cells in filled.items():
        empty = sum(not cell for cell in cells.values())
        if name in compared or not len(cells) / 2 < empty < len(cells):
            continue
        # A region that only some conditions have, or only some items, belongs to the design.
        if not any(_follows(cells, place) for place in (0, 1)):
            yield Spot(region=name, found=f"{empty} of {len(cells)}")


def _follows(cells: Mapping[tuple[str, str], bool], place: int) -> bool:
    """Return whether a region is filled alike in all sentences with the same item (place 0) or condition (1)."""
    groups: dict[str, set[bool]] = {}
    for key, cell in cells.items():
        groups.setdefault(key[place], set()).add(cell)
    return all(len(cells_of_group) == 1 for cells_of_group in groups.values())
