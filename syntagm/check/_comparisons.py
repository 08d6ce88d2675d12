"""Rules for comparisons in predictions: conditions and regions must exist, and either side must be able to win."""

from collections.abc import Iterator

from syntagm.check._spot import Spot, extent, references, rule
from syntagm.formula import Binary, Formula, Node, Reference
from syntagm.suite import Item, Suite


@rule("E202")
def missing_condition(suite: Suite) -> Iterator[Spot]:
    """a prediction names a condition that the item does not have.
    Add the condition to the item, or correct the formula."""
    for item, reference in references(suite):
        if reference.condition not in item.sentences:
            yield Spot(item.id, reference.condition)


@rule("E203")
def missing_region(suite: Suite) -> Iterator[Spot]:
    """a prediction names a region that the sentence does not have.
    Add the region, which may be empty, or correct the formula."""
    for item, reference in references(suite):
        sentence = item.sentences.get(reference.condition)
        if sentence is not None and reference.region != "*" and extent(sentence, reference.region) is None:
            yield Spot(item.id, reference.condition, reference.region)


@rule("E205")
def empty_region_undefined(suite: Suite) -> Iterator[Spot]:
    """a compared region is empty, so its value is undefined.
    Fill in the region, or use the metric sum, under which an empty region counts as 0 bits."""
    if suite.aggregate != "sum":
        yield from _empty_regions(suite)


@rule("W203")
def empty_region(suite: Suite) -> Iterator[Spot]:
    """a compared region is empty and counts as 0 bits. Check that this is intended."""
    if suite.aggregate == "sum":
        yield from _empty_regions(suite)


def _empty_regions(suite: Suite) -> Iterator[Spot]:
    for item, reference in references(suite):
        span = (
            extent(item.sentences[reference.condition], reference.region)
            if reference.condition in item.sentences
            else None
        )
        if span and not item.sentences[reference.condition].text[slice(*span)].strip():
            yield Spot(item.id, reference.condition, reference.region)


@rule("W204")
def certain_tie(suite: Suite) -> Iterator[Spot]:
    """a comparison that no left-to-right model can pass, because both sides are the same.
    Change one of the sentences, or remove the item."""
    for prediction in suite.predictions:
        comparisons = [node for node in _nodes(prediction.formula.tree) if node.operator in "<>"]
        for item in suite.items:
            for node in comparisons:
                if _is_tie(Formula("", node), item):
                    yield Spot(item.id, found=f"{Formula('', node)} in prediction {prediction.name}")


@rule("W205")
def two_differences(suite: Suite) -> Iterator[Spot]:
    """two compared regions differ in their words and in the text before them.
    Change only one of these, or the comparison mixes two effects."""
    for prediction in suite.predictions:
        for node in _nodes(prediction.formula.tree):
            left, right = node.left, node.right
            if node.operator in "<>" and isinstance(left, Reference) and isinstance(right, Reference):
                for item in suite.items:
                    if _differ_twice(item, left, right):
                        found = f"prediction {prediction.name}, conditions {left.condition} and {right.condition}"
                        yield Spot(item.id, region=left.region, found=found)


def _nodes(node: Node) -> Iterator[Binary]:
    if isinstance(node, Binary):
        yield node
        yield from _nodes(node.left)
        yield from _nodes(node.right)


def _is_tie(formula: Formula, item: Item) -> bool:
    """Return whether the margin is 0 for every left-to-right model.

    Hashes of region and left context take the place of bits, because integers are added without rounding.
    """

    def bits(region: str, condition: str) -> int:
        text = item.sentences[condition].text
        if region == "*":
            return hash(text)
        start, end = spans[region, condition]
        return hash((text[:end], start)) if start < end else 0

    spans = {}
    for reference in formula.references():
        sentence = item.sentences.get(reference.condition)
        span = extent(sentence, reference.region) if sentence is not None else None
        if sentence is None or (span is None and reference.region != "*"):
            return False
        spans[reference.region, reference.condition] = span or (0, 0)
    return bool(formula.margin(bits) == 0)


def _differ_twice(item: Item, left: Reference, right: Reference) -> bool:
    words, contexts = set(), set()
    for reference in (left, right):
        sentence = item.sentences.get(reference.condition)
        span = extent(sentence, reference.region) if sentence is not None else None
        if sentence is None or span is None:
            return False
        words.add(sentence.text[slice(*span)])
        contexts.add(sentence.text[: span[0]].strip())
    return len(words) == 2 and len(contexts) == 2 and "" not in words
