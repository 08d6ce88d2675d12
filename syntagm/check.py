"""Is this suite well formed? One small function a rule; the first sentence of its docstring is the message, the rest the cure.

Codes that begin with E are errors: a run would refuse the suite, or its numbers would be wrong. Codes that begin with W
are warnings: the suite runs, but someone should look. E001, a file that can't be read, comes from the command `check`.
To add a rule, write the function and give it a code in `RULES`.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from syntagm.formula import Binary, Formula, Node, Reference
from syntagm.suite import Item, Sentence, Suite


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong or odd, where it is, and what to do about it."""

    code: str
    file: str
    suite: str
    item: str
    condition: str
    region: str
    message: str
    cure: str

    @property
    def error(self) -> bool:
        """Is it an error, not only a warning?"""
        return self.code.startswith("E")

    def __str__(self) -> str:
        parts = [self.file or self.suite]
        parts += [f"{kind} {name}" for kind, name in self._places() if name]
        return f"{', '.join(parts)}: {self.code} {self.message}. {self.cure}".rstrip()

    def _places(self) -> tuple[tuple[str, str], ...]:
        return ("item", self.item), ("condition", self.condition), ("region", self.region)


@dataclass(frozen=True, slots=True)
class Spot:
    """Where a rule is broken, and what stands there."""

    item: str = ""
    condition: str = ""
    region: str = ""
    found: str = ""


Rule = Callable[[Suite], Iterator[Spot]]


def check(suites: Sequence[Suite], file: str = "") -> Iterator[Finding]:
    """Everything that is wrong or odd in the suites of one file, rule by rule.

    >>> from syntagm.suite import Item, Sentence, Suite
    >>> pair = Item("1", {"good": Sentence("The dog barks."), "bad": Sentence(" The dog bark.")})
    >>> for finding in check([Suite("agreement", (pair,), ())]):
    ...     print(finding)
    agreement: W101 no predictions. Add one, or nothing is tested.
    agreement, item 1, condition bad: W302 white space at the ends of the sentence. Take it out.
    """
    for suite in suites:
        for code, rule in RULES.items():
            for spot in rule(suite):
                yield _finding(code, rule, file, suite.name, spot)


def repeated(files: Mapping[str, Sequence[Suite]]) -> Iterator[Finding]:
    """Suites of the same name, within a file or in different ones: a run would mix up their results."""
    seen: dict[str, str] = {}
    for file, suites in files.items():
        for suite in suites:
            if suite.name in seen:
                message = f"a second suite called {suite.name!r}, the first is in {seen[suite.name]}"
                yield Finding("E103", file, suite.name, "", "", "", message, "Rename one.")
            seen.setdefault(suite.name, file)


def _finding(code: str, rule: Rule, file: str, suite: str, spot: Spot) -> Finding:
    message, _, cure = " ".join((rule.__doc__ or "").split()).partition(". ")
    message = message + (f": {spot.found}" if spot.found else "")
    return Finding(code, file, suite, spot.item, spot.condition, spot.region, message, cure)


def _no_items(suite: Suite) -> Iterator[Spot]:
    """no items. Add some."""
    if not suite.items:
        yield Spot()


_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE | re.ASCII)


def _bad_suite_name(suite: Suite) -> Iterator[Spot]:
    """a suite name that can't be part of a file name.
    Use letters, digits, _ - and . only, at most 100 of them, and no dot at the beginning or end."""
    name = suite.name
    foreign = any(character in '/\\:*?"<>|' or not character.isprintable() for character in name)
    edges = name != name.strip() or name != name.strip(".")
    if not name or foreign or edges or len(name.encode(errors="replace")) > 100 or _RESERVED.fullmatch(name):
        yield Spot(found=repr(name[:120]))


def _no_predictions(suite: Suite) -> Iterator[Spot]:
    """no predictions. Add one, or nothing is tested."""
    if not suite.predictions:
        yield Spot()


def _repeated_prediction(suite: Suite) -> Iterator[Spot]:
    """two predictions of the same name. Rename one."""
    for name, number in Counter(prediction.name for prediction in suite.predictions).items():
        if number > 1:
            yield Spot(found=repr(name))


def _label_of_nothing(suite: Suite) -> Iterator[Spot]:
    """a display name for a region that no sentence has. Take it out of region_meta, or correct the number."""
    labels = [key.removeprefix("region.") for key in suite.tags if key.startswith("region.")]
    names = {region.name for _, _, sentence in _sentences(suite) for region in sentence.regions} if labels else set()
    for label in labels:
        if suite.items and label not in names:
            yield Spot(region=label)


def _star_of_nothing(suite: Suite) -> Iterator[Spot]:
    """the tag ungrammatical names a condition that no item has. Correct it, or the star is missing where it belongs."""
    names = {name for item in suite.items for name in item.sentences}
    starred = suite.tags.get("ungrammatical", "").split() if names else ()
    yield from (Spot(condition=name) for name in starred if name not in names)


def _bad_id(suite: Suite) -> Iterator[Spot]:
    """an item id or condition name that is blank or holds unprintable characters. Give it a plain name."""
    for item in suite.items:
        for name in (item.id, *item.sentences):
            if not name.strip() or not name.isprintable():
                yield Spot(item.id, found=repr(name))


def _repeated_item(suite: Suite) -> Iterator[Spot]:
    """an item id that is used more than once. Number the items anew; results are kept by these ids."""
    for name, number in Counter(item.id for item in suite.items).items():
        if number > 1:
            yield Spot(name, found=f"{number} times")


def _missing_condition(suite: Suite) -> Iterator[Spot]:
    """a prediction names a condition that the item does not have.
    Add the condition to the item, or correct the formula."""
    for item, reference in _references(suite):
        if reference.condition not in item.sentences:
            yield Spot(item.id, reference.condition)


def _missing_region(suite: Suite) -> Iterator[Spot]:
    """a prediction names a region that the sentence does not have.
    Add the region, empty if need be, or correct the formula."""
    for item, reference in _references(suite):
        sentence = item.sentences.get(reference.condition)
        if sentence is not None and reference.region != "*" and _span(sentence, reference.region) is None:
            yield Spot(item.id, reference.condition, reference.region)


def _repeated_region(suite: Suite) -> Iterator[Spot]:
    """two regions of the same name in one sentence. Rename one; a formula can't tell them apart."""
    for item, condition, sentence in _sentences(suite):
        names = [region.name for region in sentence.regions]
        if len(set(names)) < len(names):
            yield Spot(item.id, condition, next(name for name in names if names.count(name) > 1))


def _different_conditions(suite: Suite) -> Iterator[Spot]:
    """other conditions than the first item. Give every item the same conditions."""
    expected = set(suite.items[0].sentences) if suite.items else set()
    for item in suite.items:
        if (found := set(item.sentences)) != expected:
            missing = [f"{name} is missing" for name in sorted(expected - found)]
            extra = [f"{name} is new" for name in sorted(found - expected)]
            yield Spot(item.id, found=", ".join(missing + extra))


def _empty_sentence(suite: Suite) -> Iterator[Spot]:
    """an empty sentence. Fill it in, or take the condition out."""
    for item, condition, sentence in _sentences(suite):
        if not sentence.text.strip():
            yield Spot(item.id, condition)


def _empty_region_undefined(suite: Suite) -> Iterator[Spot]:
    """a compared region is empty, so that its value is undefined.
    Fill the region in, or use the metric sum, under which it counts 0 bits."""
    if suite.aggregate != "sum":
        yield from _empty_regions(suite)


def _empty_region(suite: Suite) -> Iterator[Spot]:
    """a compared region is empty and counts 0 bits. Check that this is meant."""
    if suite.aggregate == "sum":
        yield from _empty_regions(suite)


def _empty_regions(suite: Suite) -> Iterator[Spot]:
    for item, reference in _references(suite):
        span = (
            _span(item.sentences[reference.condition], reference.region)
            if reference.condition in item.sentences
            else None
        )
        if span and not item.sentences[reference.condition].text[slice(*span)].strip():
            yield Spot(item.id, reference.condition, reference.region)


def _inner_white_space(suite: Suite) -> Iterator[Spot]:
    """two spaces together, a tab, a line break or an odd space inside the sentence.
    Use single spaces; a model sees the difference."""
    for item, condition, sentence in _sentences(suite):
        if found := _ODD_SPACE.search(sentence.text.strip()):
            yield Spot(item.id, condition, found=repr(found[0]))


_ODD_SPACE = re.compile(r"\s{2,}|[^\S ]")


def _outer_white_space(suite: Suite) -> Iterator[Spot]:
    """white space at the ends of the sentence. Take it out."""
    for item, condition, sentence in _sentences(suite):
        if sentence.text != sentence.text.strip() and sentence.text.strip():
            yield Spot(item.id, condition)


def _not_normalised(suite: Suite) -> Iterator[Spot]:
    """letters and accents as separate characters (not in Unicode's form NFC).
    Normalise the file to NFC; a model sees the difference."""
    for item, condition, sentence in _sentences(suite):
        if not sentence.text.isascii() and not unicodedata.is_normalized("NFC", sentence.text):
            yield Spot(item.id, condition)


def _hidden_character(suite: Suite) -> Iterator[Spot]:
    """a character that can't be seen, or that stands for a damaged one. Take it out or put the right one in."""
    for item, condition, sentence in _sentences(suite):
        hidden = [
            one
            for one in sentence.text
            if not (one.isprintable() or one.isspace() or one in _JOINERS) or one == "\ufffd"
        ]
        if hidden:
            yield Spot(item.id, condition, found=", ".join(f"U+{ord(one):04X}" for one in dict.fromkeys(hidden)))


# The joiner and the non-joiner are part of the spelling of many languages.
_JOINERS = "\u200c\u200d"


def _final_stop(suite: Suite) -> Iterator[Spot]:
    """some sentences of the item end in punctuation and some do not. End all of them alike."""
    for item in suite.items:
        ends = {name: _STOP.search(sentence.text) is not None for name, sentence in item.sentences.items()}
        if len(set(ends.values())) == 2:
            yield Spot(item.id, found="without it: " + ", ".join(name for name, stop in ends.items() if not stop))


_STOP = re.compile(r"[.?!…。？！।؟][\"'”’»)\]]*\s*\Z")


def _repeated_sentences(suite: Suite) -> Iterator[Spot]:
    """the same sentences as another item. Change or delete one; the same observation would count twice."""
    seen: dict[tuple[tuple[str, str], ...], str] = {}
    for item in suite.items:
        key = tuple(sorted((name, sentence.text) for name, sentence in item.sentences.items()))
        if key in seen:
            yield Spot(item.id, found=f"item {seen[key]}")
        seen.setdefault(key, item.id)


def _certain_tie(suite: Suite) -> Iterator[Spot]:
    """a comparison that no left-to-right model can pass, both sides are the same.
    Change one of the sentences, or leave the item out."""
    for prediction in suite.predictions:
        comparisons = [node for node in _nodes(prediction.formula.tree) if node.operator in "<>"]
        for item in suite.items:
            for node in comparisons:
                if _is_tie(Formula("", node), item):
                    yield Spot(item.id, found=f"{Formula('', node)} in prediction {prediction.name}")


def _two_differences(suite: Suite) -> Iterator[Spot]:
    """two compared regions differ in their words and in what stands before them.
    Change only one of the two, or the comparison mixes two effects."""
    for prediction in suite.predictions:
        for node in _nodes(prediction.formula.tree):
            left, right = node.left, node.right
            if node.operator in "<>" and isinstance(left, Reference) and isinstance(right, Reference):
                for item in suite.items:
                    if _differ_twice(item, left, right):
                        found = f"prediction {prediction.name}, conditions {left.condition} and {right.condition}"
                        yield Spot(item.id, region=left.region, found=found)


def _foreign_condition(suite: Suite) -> Iterator[Spot]:
    """a condition name that SyntaxGym's formulas can't hold.
    Use ASCII letters, digits, _ and - only, if the suite is to be used there."""
    for name in dict.fromkeys(name for item in suite.items for name in item.sentences):
        if not re.fullmatch("[A-Za-z0-9_-]+", name):
            yield Spot(condition=name)


RULES: dict[str, Rule] = {
    "E101": _no_items,
    "E102": _bad_suite_name,
    "E104": _repeated_prediction,
    "E201": _repeated_item,
    "E202": _missing_condition,
    "E203": _missing_region,
    "E204": _empty_sentence,
    "E205": _empty_region_undefined,
    "E206": _repeated_region,
    "E207": _bad_id,
    "W101": _no_predictions,
    "W102": _label_of_nothing,
    "W103": _star_of_nothing,
    "W201": _different_conditions,
    "W202": _repeated_sentences,
    "W203": _empty_region,
    "W204": _certain_tie,
    "W205": _two_differences,
    "W206": _foreign_condition,
    "W301": _inner_white_space,
    "W302": _outer_white_space,
    "W303": _not_normalised,
    "W304": _hidden_character,
    "W305": _final_stop,
}


def _sentences(suite: Suite) -> Iterator[tuple[Item, str, Sentence]]:
    for item in suite.items:
        for condition, sentence in item.sentences.items():
            yield item, condition, sentence


def _references(suite: Suite) -> Iterator[tuple[Item, Reference]]:
    """Each item with each region that some prediction names, once."""
    named = dict.fromkeys(
        reference for prediction in suite.predictions for reference in prediction.formula.references()
    )
    for item in suite.items:
        for reference in named:
            yield item, reference


def _span(sentence: Sentence, region: str) -> tuple[int, int] | None:
    return next(((found.start, found.end) for found in sentence.regions if found.name == region), None)


def _nodes(node: Node) -> Iterator[Binary]:
    if isinstance(node, Binary):
        yield node
        yield from _nodes(node.left)
        yield from _nodes(node.right)


def _is_tie(formula: Formula, item: Item) -> bool:
    """Is the margin 0 whatever bits a left-to-right model gives? Hashes stand for bits, and are summed without rounding."""

    def bits(region: str, condition: str) -> int:
        text = item.sentences[condition].text
        if region == "*":
            return hash(text)
        start, end = spans[region, condition]
        return hash((text[:end], start)) if start < end else 0

    spans = {}
    for reference in formula.references():
        sentence = item.sentences.get(reference.condition)
        span = _span(sentence, reference.region) if sentence is not None else None
        if sentence is None or (span is None and reference.region != "*"):
            return False
        spans[reference.region, reference.condition] = span or (0, 0)
    return bool(formula.margin(bits) == 0)


def _differ_twice(item: Item, left: Reference, right: Reference) -> bool:
    words, contexts = set(), set()
    for reference in (left, right):
        sentence = item.sentences.get(reference.condition)
        span = _span(sentence, reference.region) if sentence is not None else None
        if sentence is None or span is None:
            return False
        words.add(sentence.text[slice(*span)])
        contexts.add(sentence.text[: span[0]].strip())
    return len(words) == 2 and len(contexts) == 2 and "" not in words
