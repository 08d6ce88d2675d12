"""Rules for suites and items: names and tags; ids, conditions and regions; repeated and odd items."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping

from syntagm.suites.check._spot import STOP, Spot, references, rule, sentences
from syntagm.suites.check.alike import unlike
from syntagm.suites.suite import Item, Suite, few_words, shared_words


@rule("E101")
def no_items(suite: Suite) -> Iterator[Spot]:
    """no items. Add some."""
    if not suite.items:
        yield Spot()


_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)


@rule("E102")
def bad_suite_name(suite: Suite) -> Iterator[Spot]:
    """a suite name that can't be part of a file name.
    Use at most 100 letters, digits, _, -, . and /, and no dot or / at the beginning or end."""
    name = suite.name
    # File names escape the slash, which is part of names in published data.
    foreign = any(character in '\\:*?"<>|' or not character.isprintable() for character in name)
    edges = name != name.strip() or name != name.strip("./")
    if not name or foreign or edges or len(name.encode(errors="replace")) > 100 or _RESERVED.fullmatch(name):
        yield Spot(found=repr(name[:120]))


@rule("W101")
def no_predictions(suite: Suite) -> Iterator[Spot]:
    """no predictions. Add one, or nothing is tested."""
    if not suite.predictions:
        yield Spot()


@rule("E104")
def repeated_prediction(suite: Suite) -> Iterator[Spot]:
    """two predictions with the same name. Rename one of them."""
    for name, number in Counter(prediction.name for prediction in suite.predictions).items():
        if number > 1:
            yield Spot(found=repr(name))


@rule("W102")
def label_of_nothing(suite: Suite) -> Iterator[Spot]:
    """a display name for a region that no sentence has. Remove it from region_meta, or correct the number."""
    labels = [key.removeprefix("region.") for key in suite.tags if key.startswith("region.")]
    names = {region.name for _, _, sentence in sentences(suite) for region in sentence.regions} if labels else set()
    for label in labels:
        if suite.items and label not in names:
            yield Spot(region=label)


@rule("W103")
def star_of_nothing(suite: Suite) -> Iterator[Spot]:
    """the tag ungrammatical names a condition that no item has. Correct it, so that the right sentence gets the star."""
    names = {name for item in suite.items for name in item.sentences}
    starred = suite.tags.get("ungrammatical", "").split() if names else ()
    yield from (Spot(condition=name) for name in starred if name not in names)


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


# The regions of minimal pairs, which are cut out of the sentence; and names of columns that are no part of it.
_OF_PAIRS = {"prefix", "critical", "rest"}
_NOTES = ("note", "notes", "comment", "comments", "remark", "remarks")


@rule("W207")
def note(suite: Suite) -> Iterator[Spot]:
    """a region that no prediction compares and that looks like a note.
    If it is not part of the sentence, remove it, or make it a tag of the item (in a table: tag.NAME); models read it."""
    compared = {reference.region for _, reference in references(suite)}
    cells: dict[str, dict[tuple[str, str], str]] = {}
    follows: dict[str, bool] = {}
    for item, condition, sentence in sentences(suite):
        for region in sentence.regions:
            text = sentence.text[region.start : region.end].strip()
            cells.setdefault(region.name, {})[item.id, condition] = text
            if text:
                ended = STOP.search(sentence.text, max(0, region.start - 20), region.start) is not None
                # What stands before a compared region is a part of its context.
                ended &= not any(other.name in compared and other.start > region.start for other in sentence.regions)
                follows[region.name] = follows.get(region.name, True) and ended
    for name, of_region in cells.items() if cells.keys() != _OF_PAIRS else ():
        if name not in compared and (found := _noted(name, of_region, follows.get(name, False))):
            yield Spot(region=name, found=found)


def _noted(name: str, cells: Mapping[tuple[str, str], str], follows: bool) -> str:
    """Return what makes a region look like a note; "" if nothing does."""
    empty = sum(not text for text in cells.values())
    if name.strip().lower() in _NOTES:
        return "its name"
    # A region that only some conditions have belongs to the design.
    if len(cells) / 2 < empty < len(cells) and not _same({key: str(bool(text)) for key, text in cells.items()}, 1):
        return f"empty in {empty} of {len(cells)} sentences"
    return "the same in all conditions, after the end of the sentence" if follows and _same(cells, 0) else ""


def _same(cells: Mapping[tuple[str, str], str], place: int) -> bool:
    """Return whether a region is the same in all sentences with the same item (place 0) or condition (1)."""
    groups: dict[str, set[str]] = {}
    for key, cell in cells.items():
        groups.setdefault(key[place], set()).add(cell)
    return all(len(cells_of_group) == 1 for cells_of_group in groups.values())


LOOKED_AT = 100


@rule("W208")
def unlike_pairs(suite: Suite) -> Iterator[Spot]:
    """pairs with little in common, so that they may be something else, such as words with counts, or translations.
    Check which columns are the good and the bad sentence."""
    pairs = [item.sentences for item in suite.items[:LOOKED_AT] if set(item.sentences) == {"good", "bad"}]
    found = sum(unlike(sentences["good"].text, sentences["bad"].text) for sentences in pairs)
    if pairs and 2 * found > len(pairs):
        yield Spot(found=f"{found} of the first {len(pairs)}")


# Tags by which published tables mark rows that their authors left out, and the values of rows that they did not.
_LEFT_OUT = (
    "discard", "discarded", "drop", "dropped", "exclude", "excluded", "invalid", "omit", "reject", "rejected", "remove",
    "removed", "skip",
)  # fmt: skip
_NOT = ("", "0", "0.0", "false", "f", "no", "n", "none", "nan", "na", "null", "-")


def is_left_out(suite: Suite, item: Item) -> bool:
    """Return whether a tag marks an item as left out by the authors of the data."""
    return any(_marks(name, value) for name, value in {**suite.tags, **item.tags}.items())


def _marks(name: str, value: str) -> bool:
    return name.strip().lower() in _LEFT_OUT and value.strip().lower() not in _NOT


@rule("W209")
def left_out(suite: Suite) -> Iterator[Spot]:
    """items that a tag marks as left out by the authors of the data. They count like the others.
    Leave them out if they should not count: check --exclude-list FILE writes a list for run --exclude FILE."""
    marked = Counter(
        name for item in suite.items for name, value in {**suite.tags, **item.tags}.items() if _marks(name, value)
    )
    for name, count in marked.items():
        yield Spot(found=f"{count} of {len(suite.items)}, by the tag {name!r}")


@rule("W213")
def few_words_shared(suite: Suite) -> Iterator[Spot]:
    """many items share few words, so that they may say little about other words.
    Use more words, or report intervals for other words: table clustered RUN by=TAG."""
    first = [(item.tags, next(iter(item.sentences.values())).text) for item in suite.items if item.sentences]
    if tag := few_words(shared := shared_words(first)):
        count = len({*shared[tag]} - {""})
        yield Spot(found=f"{len(suite.items)} items have {count} values of the tag {tag!r}")
