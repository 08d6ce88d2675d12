"""Contexts for word lists: the gap where the sentences of an item differ in one word.

A prediction `(r;%a%) < (r;%b%)` means that condition a is better than b. If the two sentences differ in one word (words
are separated by white space), and that word is in region r, they make a context. The context is the text to the left
and right of the word, including the punctuation around the word, and the label in the word list of the word of a.
Comparisons joined by `&` make one context each.

With shared words instead, the gap is the one word of the list that is in region r of both sentences. Each sentence then
makes a context. In the context of a, the word itself is correct; in that of b, the other form of its row is correct (in
a list with two labels).
"""

import hashlib
import json
import re
import string
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from functools import cache

from syntagm.suites import Binary, Formula, Item, Node, Reference, Sentence, Suite, WordList, read_word_list

NO_COMPARISON = "no prediction compares one region of two sentences"
NO_LABEL = "no label: the words are not in the word list, and the item has no tag `number` to use instead"
ONE_KNOWN = "no label: only one of the two words is in the word list"
NOUNS = "no label: both words are also forms of a noun, and nothing shows that the suite is about the listed words"
_WORD = re.compile(r"\S+")
# The column of a word list that marks verbs whose forms are forms of a noun, too.
_NOUN = "noun"
_MARKS = string.punctuation + "…“”‘’«»¿¡、。"
_NUMBERS = {
    **dict.fromkeys(("sing", "sg", "singular", "-1"), "singular"),
    **dict.fromkeys(("plur", "pl", "plural", "-2"), "plural"),
}


@dataclass(frozen=True, slots=True)
class Context:
    """A gap in a sentence, between `left` and `right`."""

    left: str
    right: str
    good: str  # `good`, `bad`: the words in the gap in the two sentences
    bad: str
    label: str  # the label, in the word list, of the forms that are correct in the gap
    # Whether the word begins the sentence and is capitalised; if so, the forms of the list are capitalised, too.
    capital: bool = False


@dataclass(frozen=True, slots=True)
class ComparedConditions:
    """Two conditions to compare: `region` should be less surprising in `good` than in `bad`."""

    region: str
    good: str
    bad: str


class Labels:
    """The labels of words, from a word list or, failing that, from the tag `number` of an item."""

    # If no pair of a suite has both words in the list, no word of the suite gets a label, even if the list has one word
    # of some pair. Such pairs are about something else: `some` against `no` is not a contrast between polarity items,
    # and `grew` against `hurt` is not a contrast of number. Nor does a pair count of which both words are forms of a
    # noun, too, with the labels swapped, if other pairs of the suite are not in the list: `clocks` against `clock`
    # after `these` is about nouns, although a list of verbs has `clocks` as a singular.

    def __init__(self, words: WordList, shared: bool = False) -> None:
        self.labels, self.shared = words.labels, shared
        self._places: Mapping[str, Set[int]] = words.places()
        self._rows = {form: row.forms for row in words.rows for form in row.forms}
        has_column = any(_NOUN in row.tags for row in words.rows)
        # The labels by which a list without the column is judged.
        self.verbs = None if has_column or words.labels != ("singular", "plural") else _verbs()
        self._nouns: dict[str, tuple[str, ...]] = {
            form: row.forms
            for row in words.rows
            for form in row.forms
            if row.tags.get(_NOUN) == "yes" or (self.verbs and self.verbs.noun(form) == row.forms)
        }

    def find(self, good: str, bad: str, tag: str | None, has_listed_pair: bool = True) -> str | None:
        """Return the label of the good word; None if neither the list nor the tag determines it.

        Arguments:
            tag: the value of the tag `number`, if the item has one.
            has_listed_pair: whether the list has both words of some pair of the suite. If so, the tag, or one word in the
                list, is enough. If not, the list must have both words.

        Raises:
            ValueError: both words have the same label.

        >>> from syntagm.suites import WordRow
        >>> labels = Labels(WordList("one", ("singular", "plural"), (WordRow("be", ("is", "are")),)))
        >>> labels.find("is", "are", None), labels.find("swim", "swims", "pl"), labels.find("swim", "swims", None)
        ('singular', 'plural', None)
        """
        own, other = (self._places.get(word, frozenset()) for word in (good, bad))
        if len(own) == 1 and own == other:
            raise ValueError(self.labels[next(iter(own))])
        if not has_listed_pair and not (own and other):
            return None
        if len(own) == 1:
            return self.labels[next(iter(own))]
        if not own and len(other) == 1 and len(self.labels) == 2:
            return self.labels[1 - next(iter(other))]
        return next((label for label in self.labels if tag is not None and _number(label) == _number(tag)), None)

    def has(self, word: str) -> bool:
        """Return whether the list has labels for the word."""
        return word in self._places

    def noun(self, word: str) -> tuple[str, ...]:
        """Return the forms of a listed verb that are forms of a noun, too, if the word is one of them."""
        return self._nouns.get(word, ())

    def contains(self, word: str) -> bool:
        """Return whether the word is a form of the list."""
        return word in self._rows

    def other(self, word: str) -> tuple[int, str]:
        """Return the index of a listed word's label and the other form of its row, in a list with two labels."""
        number = self._rows[word].index(word)
        return number, self._rows[word][1 - number]


def comparisons(formula: Formula) -> tuple[ComparedConditions, ...]:
    """Return the comparisons of a region between two conditions that a formula joins with `&`.

    The result is empty if the formula has any other part.

    >>> from syntagm.suites import parse
    >>> formula = parse("((2;%a%) < (2;%b%)) & ((2;%c%) > (2;%d%))")
    >>> [(compared.good, compared.bad) for compared in comparisons(formula)]
    [('a', 'b'), ('d', 'c')]
    """
    compared = list(_compared(formula.tree))
    return tuple(dict.fromkeys(pair for pair in compared if pair)) if all(compared) else ()


def chosen(suite: Suite, labels: Labels) -> tuple[ComparedConditions, ...]:
    """Return the comparisons of the prediction from which contexts are made."""
    # This is the first prediction that has a context with both words in the list. If there is none, it is the first
    # prediction with comparisons.
    candidates = [compared for prediction in suite.predictions if (compared := comparisons(prediction.formula))]
    listed = (compared for compared in candidates if knows(suite, compared, labels))
    return next(listed, candidates[0] if candidates else ())


def knows(suite: Suite, compared: Sequence[ComparedConditions], labels: Labels) -> bool:
    """Return whether the list has both words of at least one context of the suite."""
    # If not, the gaps are about something else. In that case neither a single listed word nor the tag `number`
    # determines a label. Words that are forms of a noun, too, count if the tag `number` confirms their label, or if all
    # pairs are in the list; in the bundled list of verbs, if the list doesn't mark nouns.
    listed, others = False, False
    for item in suite.items:
        tag = item.tags.get("number", suite.tags.get("number")) if len(compared) == 1 else None
        for context in contexts(item, compared, labels, False):
            if isinstance(context, str):
                others |= context in (NO_LABEL, ONE_KNOWN)
            elif labels.shared or not _is_noun(context, labels) or labels.find("", "", tag) == context.label:
                return True
            else:
                listed = True
    if listed and labels.verbs:
        return knows(suite, compared, labels.verbs)
    return listed and not others


def _is_noun(context: Context, labels: Labels) -> bool:
    words = (context.good, context.bad)
    return all(labels.noun(_lower(word) if context.capital else word) for word in words)


@cache
def _verbs() -> Labels:
    return Labels(read_word_list("verbs"))


def contexts(
    item: Item, compared: Sequence[ComparedConditions], labels: Labels, has_listed_pair: bool = True
) -> Iterator[Context | str]:
    """Yield the context of each comparison, or the reason why it has none."""
    # A tag belongs to the item. If the item has two contexts, the tag may be true of only one of them.
    tag = item.tags.get("number") if has_listed_pair and len(compared) == 1 else None
    for comparison in compared:
        good, bad = item.sentences.get(comparison.good), item.sentences.get(comparison.bad)
        if good is None or bad is None:
            yield "a condition of the prediction is missing"
        elif labels.shared:
            yield from _shared(good, bad, comparison.region, labels)
        else:
            yield _context(good, bad, comparison.region, labels, tag, has_listed_pair)


def _context(
    good: Sentence, bad: Sentence, region: str, labels: Labels, tag: str | None, has_listed_pair: bool
) -> Context | str:
    spans = _difference(good.text, bad.text)
    if isinstance(spans, str):
        return spans
    (start, end), (other_start, other_end) = spans
    if not _inside(good, region, start, end):
        return "the word that differs is not in the region that is compared"
    word, other = good.text[start:end], bad.text[other_start:other_end]
    capital = _capital(good.text, start, labels)
    right, wrong = (_lower(text) if capital else text for text in (word, other))
    try:
        label = labels.find(right, wrong, tag, has_listed_pair)
    except ValueError as error:
        return f"both words are {error} in the word list"
    if label is None:
        return ONE_KNOWN if labels.has(right) or labels.has(wrong) else NO_LABEL
    return Context(good.text[:start], good.text[end:], word, other, label, capital)


def _shared(good: Sentence, bad: Sentence, region: str, labels: Labels) -> Iterator[Context | str]:
    """Yield the contexts of two sentences that share a listed word, or the reason why there is none."""
    if len(labels.labels) != 2:
        yield "shared words need a word list with two labels"
        return
    listed = [_listed(sentence, region, labels) for sentence in (good, bad)]
    common = [word for word in listed[0] if word in listed[1]]
    if len(common) != 1:
        yield f"{'more than one word' if common else 'no word'} of the list in both sentences"
        return
    word = common[0]
    number, other = labels.other(word)
    own, opposite = labels.labels[number], labels.labels[1 - number]
    start, end, capital = listed[0][word]
    yield Context(good.text[:start], good.text[end:], spelled(word, capital), spelled(other, capital), own, capital)
    start, end, capital = listed[1][word]
    good_word, bad_word = spelled(other, capital), spelled(word, capital)
    yield Context(bad.text[:start], bad.text[end:], good_word, bad_word, opposite, capital)


def _listed(sentence: Sentence, region: str, labels: Labels) -> dict[str, tuple[int, int, bool]]:
    """Return the listed words of a region: word -> (start, end, capital). Repeated words are excluded."""
    # `capital` is true if the word is capitalised because it begins the sentence.
    spans: dict[str, tuple[int, int, bool]] = {}
    repeated = set()
    for start, end in map(_without_marks, _WORD.finditer(sentence.text)):
        if start < end and _inside(sentence, region, start, end):
            capital = _capital(sentence.text, start, labels)
            word = _lower(sentence.text[start:end]) if capital else sentence.text[start:end]
            repeated |= {word} & spans.keys()
            if labels.contains(word):
                spans[word] = start, end, capital
    return {word: place for word, place in spans.items() if word not in repeated}


def spelled(word: str, capital: bool) -> str:
    return word[0].upper() + word[1:] if capital else word


def _inside(sentence: Sentence, region: str, start: int, end: int) -> bool:
    return region == "*" or any(
        candidate.name == region and candidate.start < end and start < candidate.end for candidate in sentence.regions
    )


def _capital(text: str, start: int, labels: Labels) -> bool:
    """Return whether a word is capitalised because it begins the sentence."""
    # A word that is capitalised in the list does not count.
    word = _WORD.match(text, start)
    begins = not text[:start].strip(_MARKS + " ") and text[start].isupper()
    return begins and word is not None and not labels.has(word[0].rstrip(_MARKS))


def _lower(word: str) -> str:
    return word[0].lower() + word[1:]


def _difference(good: str, bad: str) -> tuple[tuple[int, int], tuple[int, int]] | str:
    """Return the span of the only differing word in each of two texts, without punctuation; or the reason why there is none."""
    words, others = list(_WORD.finditer(good)), list(_WORD.finditer(bad))
    if len(words) != len(others):
        return "the sentences have different numbers of words"
    differing = [pair for pair in zip(words, others, strict=True) if pair[0][0] != pair[1][0]]
    if len(differing) != 1:
        return "more than one word differs" if differing else "no word differs"
    first, second = (_without_marks(match) for match in differing[0])
    if first[0] == first[1] or second[0] == second[1]:
        return "only punctuation differs"
    if good[: first[0]] != bad[: second[0]] or good[first[1] :] != bad[second[1] :]:
        return "the text around the word differs"
    return first, second


def _without_marks(word: re.Match[str]) -> tuple[int, int]:
    start = len(word[0]) - len(word[0].lstrip(_MARKS))
    core = word[0].strip(_MARKS)
    return word.start() + start, word.start() + start + len(core)


def _compared(node: Node) -> Iterator[ComparedConditions | None]:
    """Yield the comparisons of a formula, and None for each part that does not compare one region between two conditions."""
    match node:
        case Binary("&", left, right):
            yield from _compared(left)
            yield from _compared(right)
        case Binary("<", Reference(region, good), Reference(other, bad)) if region == other:
            yield ComparedConditions(region, good, bad)
        case Binary(">", Reference(region, bad), Reference(other, good)) if region == other:
            yield ComparedConditions(region, good, bad)
        case _:
            yield None


def _number(text: str) -> str:
    return _NUMBERS.get(text.lower(), text.lower())


@dataclass(frozen=True, slots=True)
class ContextItem:
    """An item in a context: its two words, and the label of the good one."""

    suite: str
    item: str
    good: str
    bad: str
    label: str


@dataclass(slots=True)
class DistinctContext:
    """A distinct context with its items, in order."""

    left: str
    right: str
    capital: bool
    items: list[ContextItem] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SuiteContexts:
    """The distinct contexts of a suite, and counts for the record."""

    contexts: dict[bytes, DistinctContext]  # digest -> context, in order of first appearance
    skipped: Counter[str]  # the reasons why items have no context, with their counts
    conflicts: int
    # The number of items whose tag `number` differs from their label in the list. The label in the list is used.
    contradicted: int

    @property
    def item_count(self) -> int:
        """The number of items with a context; an item with two comparisons counts twice."""
        return sum(len(context.items) for context in self.contexts.values())


def suite_contexts(suite: Suite, labels: Labels, left_only: bool) -> SuiteContexts:
    compared = chosen(suite, labels)
    has_listed_pair = knows(suite, compared, labels)
    distinct_contexts: dict[bytes, DistinctContext] = {}
    skipped: Counter[str] = Counter() if compared else Counter({NO_COMPARISON: len(suite.items)})
    conflicts, contradicted, several = 0, 0, len(compared) * (2 if labels.shared else 1) > 1
    for item in (_tagged(item, suite) for item in suite.items):
        for number, context in enumerate(contexts(item, compared, labels, has_listed_pair), 1):
            if isinstance(context, str) or not has_listed_pair:
                skipped[context if isinstance(context, str) else NOUNS] += 1
                continue
            item_id = f"{item.id}/{number}" if several else item.id
            context_item = ContextItem(suite.name, item_id, context.good, context.bad, context.label)
            empty = DistinctContext(context.left, context.right, context.capital)
            distinct = distinct_contexts.setdefault(_digest(context, left_only), empty)
            conflicts += bool(distinct.items) and distinct.items[0].label != context.label
            contradicted += not several and labels.find("", "", item.tags.get("number")) not in (None, context.label)
            distinct.items.append(context_item)
    return SuiteContexts(distinct_contexts, skipped, conflicts, contradicted)


def _tagged(item: Item, suite: Suite) -> Item:
    """Add the suite's tag `number` to an item without one. A suite has the tag if it is the same for all items."""
    if "number" not in suite.tags or "number" in item.tags:
        return item
    return replace(item, tags={**item.tags, "number": suite.tags["number"]})


def _digest(context: Context, left_only: bool) -> bytes:
    key = [context.left, "" if left_only else context.right, context.capital]
    return hashlib.sha256(json.dumps(key).encode()).digest()[:16]
