"""From the sentences of an item to blanks: where they differ in one word, that word is taken out.

A prediction `(r;%a%) < (r;%b%)` says that condition a is better than b. If the two sentences differ in one word, divided
at white space, and that word stands in region r, they make a context: what stands left and right of the word (marks
around it belong to left and right), and the label of the word of a in the word list. ComparedConditionss joined by `&` make a
context each.

Asked for shared words instead, the blank is the one word of the list that stands in region r of both sentences. Each of
them makes a context: in that of a the word itself is right, in that of b the other form of its row (in a list of two labels).
"""

import re
import string
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass

from syntagm.formula import Binary, Formula, Node, Reference
from syntagm.suite import Item, Sentence, Suite
from syntagm.word_list import WordList

NO_COMPARISON = "no prediction compares one region of two sentences"
NO_LABEL = "no label: the words are not in the word list, and the item has no tag `number` that could be asked"
ONE_KNOWN = "no label: only one of the two words is in the word list"
_WORD = re.compile(r"\S+")
_MARKS = string.punctuation + "…“”‘’«»¿¡、。"
_NUMBERS = {
    **dict.fromkeys(("sing", "sg", "singular", "-1"), "singular"),
    **dict.fromkeys(("plur", "pl", "plural", "-2"), "plural"),
}


@dataclass(frozen=True, slots=True)
class Context:
    """A blank in a sentence: which form stands between `left` and `right`?

    Arguments:
        good, bad: the words that stand there in the two sentences.
        label: the label, in the word list, of the forms that are right here.
        capital: does the word begin the sentence with a capital? The forms of the list are capitalised, too, then.
    """

    left: str
    right: str
    good: str
    bad: str
    label: str
    capital: bool = False


@dataclass(frozen=True, slots=True)
class ComparedConditions:
    """`region` should be less surprising in condition `good` than in `bad`."""

    region: str
    good: str
    bad: str


class Labels:
    """Which label a word of a context has; by the list, or else by the tag `number` of its item.

    The list has the last word on what a blank is about: where it knows both words of no pair of a suite, it says nothing of
    the suite, even if it knows one of the words. `Some` beside `No` is no polarity item, and `grew` beside `hurt` no number.

    Arguments:
        shared: are blanks the words that sentences share, rather than those in which they differ?
    """

    def __init__(self, words: WordList, shared: bool = False) -> None:
        self.labels, self.shared = words.labels, shared
        self._places: Mapping[str, Set[int]] = words.places()
        self._rows = {form: row.forms for row in words.rows for form in row.forms}

    def find(self, good: str, bad: str, tag: str | None, known: bool = True) -> str | None:
        """The label of the good word, or None if neither the list nor the tag knows it.

        Arguments:
            known: may the tag say it, or the list by one word only? Otherwise it must know both.

        Raises:
            ValueError: both words have it.

        >>> from syntagm.word_list import WordRow
        >>> labels = Labels(WordList("one", ("singular", "plural"), (WordRow("be", ("is", "are")),)))
        >>> labels.find("is", "are", None), labels.find("swim", "swims", "pl"), labels.find("swim", "swims", None)
        ('singular', 'plural', None)
        """
        own, other = (self._places.get(word, frozenset()) for word in (good, bad))
        if len(own) == 1 and own == other:
            raise ValueError(self.labels[next(iter(own))])
        if not known and not (own and other):
            return None
        if len(own) == 1:
            return self.labels[next(iter(own))]
        if not own and len(other) == 1 and len(self.labels) == 2:
            return self.labels[1 - next(iter(other))]
        return next((label for label in self.labels if tag is not None and _number(label) == _number(tag)), None)

    def has(self, word: str) -> bool:
        """Does the list say the label of the word?"""
        return word in self._places

    def asked(self, word: str) -> bool:
        """Is the word a form of the list?"""
        return word in self._rows

    def other(self, word: str) -> tuple[int, str]:
        """The number of the label of a word of the list, and the other form of its row; of a list of two labels."""
        number = self._rows[word].index(word)
        return number, self._rows[word][1 - number]


def comparisons(formula: Formula) -> tuple[ComparedConditions, ...]:
    """The comparisons of one region in two conditions that a formula joins by `&`; none if it says anything else.

    >>> from syntagm.formula import parse
    >>> [(one.good, one.bad) for one in comparisons(parse("((2;%a%) < (2;%b%)) & ((2;%c%) > (2;%d%))"))]
    [('a', 'b'), ('d', 'c')]
    """
    return tuple(dict.fromkeys(one for one in _compared(formula.tree) if one)) if all(_compared(formula.tree)) else ()


def chosen(suite: Suite, labels: Labels) -> tuple[ComparedConditions, ...]:
    """The comparisons of the first prediction of which the list knows a context; of the first that compares, if of none."""
    found = [one for one in (comparisons(prediction.formula) for prediction in suite.predictions) if one]
    return next((one for one in found if knows(suite, one, labels)), found[0] if found else ())


def knows(suite: Suite, compared: Sequence[ComparedConditions], labels: Labels) -> bool:
    """Does the list know both words of any context of the suite?

    If not, the blanks are about something else, and then neither one word nor the tag `number` of an item says their label.
    """
    return any(isinstance(made, Context) for item in suite.items for made in contexts(item, compared, labels, False))


def contexts(
    item: Item, compared: Sequence[ComparedConditions], labels: Labels, known: bool = True
) -> Iterator[Context | str]:
    """The context of each comparison, or the reason why there is none.

    Arguments:
        known: does the list know both words of some pair of the suite? If so, one word suffices elsewhere, and the tag `number`
            of the item may say the label of words that are not in the list.
    """
    # A tag speaks of the item: of two contexts it could be true of one only.
    tag = item.tags.get("number") if known and len(compared) == 1 else None
    for one in compared:
        good, bad = item.sentences.get(one.good), item.sentences.get(one.bad)
        if good is None or bad is None:
            yield "a condition of the prediction is missing"
        elif labels.shared:
            yield from _shared(good, bad, one.region, labels)
        else:
            yield _context(good, bad, one.region, labels, tag, known)


def _context(good: Sentence, bad: Sentence, region: str, labels: Labels, tag: str | None, known: bool) -> Context | str:
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
        label = labels.find(right, wrong, tag, known)
    except ValueError as error:
        return f"both words are {error} in the word list"
    if label is None:
        return ONE_KNOWN if labels.has(right) or labels.has(wrong) else NO_LABEL
    return Context(good.text[:start], good.text[end:], word, other, label, capital)


def _shared(good: Sentence, bad: Sentence, region: str, labels: Labels) -> Iterator[Context | str]:
    """The context of each of two sentences that share a word of the list, or the reason why there is none."""
    if len(labels.labels) != 2:
        yield "a shared word says nothing in a list of more than two labels"
        return
    found = [_listed(sentence, region, labels) for sentence in (good, bad)]
    common = [word for word in found[0] if word in found[1]]
    if len(common) != 1:
        yield f"{'more than one word' if common else 'no word'} of the list in both sentences"
        return
    word = common[0]
    number, other = labels.other(word)
    own, opposite = labels.labels[number], labels.labels[1 - number]
    start, end, capital = found[0][word]
    yield Context(good.text[:start], good.text[end:], _spelled(word, capital), _spelled(other, capital), own, capital)
    start, end, capital = found[1][word]
    unlike, again = _spelled(other, capital), _spelled(word, capital)
    yield Context(bad.text[:start], bad.text[end:], unlike, again, opposite, capital)


def _listed(sentence: Sentence, region: str, labels: Labels) -> dict[str, tuple[int, int, bool]]:
    """The words of the list in a region: where each stands, and whether it has the capital of a beginning. Once each."""
    found: dict[str, tuple[int, int, bool]] = {}
    repeated = set()
    for start, end in map(_without_marks, _WORD.finditer(sentence.text)):
        if start < end and _inside(sentence, region, start, end):
            capital = _capital(sentence.text, start, labels)
            word = _lower(sentence.text[start:end]) if capital else sentence.text[start:end]
            repeated |= {word} & found.keys()
            if labels.asked(word):
                found[word] = start, end, capital
    return {word: place for word, place in found.items() if word not in repeated}


def _spelled(word: str, capital: bool) -> str:
    return word[0].upper() + word[1:] if capital else word


def _inside(sentence: Sentence, region: str, start: int, end: int) -> bool:
    return region == "*" or any(one.name == region and one.start < end and start < one.end for one in sentence.regions)


def _capital(text: str, start: int, labels: Labels) -> bool:
    """Does a word begin the sentence with a capital that is not its own? The list may have it so."""
    word = _WORD.match(text, start)
    begins = not text[:start].strip(_MARKS + " ") and text[start].isupper()
    return begins and word is not None and not labels.has(word[0].rstrip(_MARKS))


def _lower(word: str) -> str:
    return word[0].lower() + word[1:]


def _difference(good: str, bad: str) -> tuple[tuple[int, int], tuple[int, int]] | str:
    """Where the only word that differs stands in each of two texts, without the marks around it; or why there is none."""
    words, others = list(_WORD.finditer(good)), list(_WORD.finditer(bad))
    if len(words) != len(others):
        return "the sentences have different numbers of words"
    differing = [pair for pair in zip(words, others, strict=True) if pair[0][0] != pair[1][0]]
    if len(differing) != 1:
        return "more than one word differs" if differing else "no word differs"
    first, second = (_without_marks(found) for found in differing[0])
    if first[0] == first[1] or second[0] == second[1]:
        return "only marks differ"
    if good[: first[0]] != bad[: second[0]] or good[first[1] :] != bad[second[1] :]:
        return "what stands around the word differs"
    return first, second


def _without_marks(found: re.Match[str]) -> tuple[int, int]:
    left = len(found[0]) - len(found[0].lstrip(_MARKS))
    core = found[0].strip(_MARKS)
    return found.start() + left, found.start() + left + len(core)


def _compared(node: Node) -> Iterator[ComparedConditions | None]:
    """The comparisons of a formula; None for whatever is no comparison of one region."""
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
