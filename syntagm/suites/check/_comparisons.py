"""Rules for comparisons in predictions: conditions and regions must exist, and either side must be able to win."""

from collections.abc import Iterator
from itertools import permutations

from syntagm.suites.check._spot import Spot, extent, references, rule
from syntagm.suites.formula import Formula
from syntagm.suites.suite import Item, Suite

# Comparisons of more stretches of text on a side than this are not checked by W205.
_MOST_STRETCHES = 5


@rule("E202")
def missing_condition(suite: Suite) -> Iterator[Spot]:
    """a prediction names a condition that the item does not have.
    Add the condition to the item, or correct the formula."""
    conditions = dict.fromkeys(condition for item in suite.items for condition in item.sentences)
    named = dict.fromkeys(reference.condition for _, reference in references(suite))
    for condition in named:
        lacking = [item for item in suite.items if condition not in item.sentences]
        if len(lacking) > 1 and condition not in conditions:
            yield Spot(condition=condition, found=f"no item has it; there are {', '.join(conditions)}")
        else:
            yield from (Spot(item.id, condition) for item in lacking)


@rule("E203")
def missing_region(suite: Suite) -> Iterator[Spot]:
    """a prediction names a region that the sentence does not have.
    Add the region, which may be empty, or correct the formula."""
    for reference in dict.fromkeys(reference for _, reference in references(suite)):
        items = [item for item in suite.items if reference.condition in item.sentences and reference.region != "*"]
        lacking = [item for item in items if extent(item.sentences[reference.condition], reference.region) is None]
        if len(lacking) > 1 and lacking == items:
            regions = dict.fromkeys(span.name for item in items for span in item.sentences[reference.condition].regions)
            found = f"no item has it; there are {', '.join(regions) or 'none'}"
            yield Spot(condition=reference.condition, region=reference.region, found=found)
        else:
            yield from (Spot(item.id, reference.condition, reference.region) for item in lacking)


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
        comparisons = [part for part in prediction.formula.comparisons() if part.tree.operator != "="]
        for item in suite.items:
            for comparison in comparisons:
                if _is_tie(comparison, item):
                    yield Spot(item.id, found=f"{comparison} in prediction {prediction.name}")


@rule("W205")
def two_differences(suite: Suite) -> Iterator[Spot]:
    """two compared regions differ in their words and in the text before them.
    Change only one of these, or the comparison mixes two effects."""
    for prediction in suite.predictions:
        for comparison in prediction.formula.comparisons():
            if comparison.tree.operator == "=":
                continue
            references = [reference for _, reference in comparison.terms()]
            conditions = sorted({reference.condition for reference in references})
            for item in suite.items:
                if _confounded(item, comparison):
                    found = (
                        f"prediction {prediction.name}, conditions {', '.join(conditions[:-1])} and {conditions[-1]}"
                    )
                    yield Spot(item.id, region=references[0].region, found=found)


def _is_tie(formula: Formula, item: Item) -> bool:
    """Return whether the margin is 0 for every left-to-right model."""
    # Hashes of region and left context take the place of bits, because integers are added without rounding.

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


def _confounded(item: Item, comparison: Formula) -> bool:
    """Return whether both words and left contexts differ, in every pairing of added and subtracted regions."""
    # In a difference of differences, each pair may differ in one of the two, like the conditions of a 2x2 design.
    added, subtracted = _stretches(item, comparison, 1), _stretches(item, comparison, -1)
    if not added or len(added) != len(subtracted) or len(added) > _MOST_STRETCHES:
        return False

    def alike(pair: tuple[tuple[str, str], tuple[str, str]]) -> bool:
        (words, context), (other_words, other_context) = pair
        return words == other_words or context == other_context

    return not any(all(map(alike, zip(added, order, strict=True))) for order in permutations(subtracted))


def _stretches(item: Item, comparison: Formula, sign: int) -> list[tuple[str, str]]:
    """Return the words and the left context of each stretch of neighbouring regions with a given sign in a comparison."""
    # Empty regions are omitted. The list is empty if a region is missing, or if whole sentences are compared.
    spans: dict[str, list[tuple[int, int]]] = {}
    for term_sign, reference in comparison.terms():
        sentence = item.sentences.get(reference.condition)
        span = extent(sentence, reference.region) if sentence is not None else None
        if span is None:
            return []
        if term_sign == sign and span[0] < span[1]:
            spans.setdefault(reference.condition, []).append(span)
    stretches: list[tuple[str, str]] = []
    for condition, of_condition in spans.items():
        text, end = item.sentences[condition].text, -1
        for span in sorted(of_condition):
            if end >= 0 and not text[end : span[0]].strip():
                words, context = stretches.pop()
                stretches.append((f"{words} {text[slice(*span)]}", context))
            else:
                stretches.append((text[slice(*span)], text[: span[0]].strip()))
            end = span[1]
    return stretches
