"""Rules for a suite as a whole: its name, its tags, its items and its predictions."""

import re
from collections import Counter
from collections.abc import Iterator

from syntagm.suites.check._spot import Spot, rule, sentences
from syntagm.suites.suite import Suite


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
