"""Texts that differ a little: those of a minimal pair, and sentences that stand in two items or two files.

The rules are simple, so that a message can state them. They tell tables of pairs from tables of other things (counts,
translations, tags, primes and targets), not good pairs from bad ones.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath

from syntagm.suites.suite import Suite

_TRAIN = re.compile(r"(?:^|[^a-z])train(?:ing)?(?:[^a-z]|$)")
_TEST = re.compile(r"(?:^|[^a-z])(?:test|dev|valid(?:ation)?|eval)(?:[^a-z]|$)")


def shared(files: Mapping[str, Sequence[Suite]]) -> Iterator[tuple[str, str, str, str, str]]:
    """Find items of test files with a sentence that differs from one of a training file by at most one word."""
    # The names of files tell which they are: `train`, and `test`, `dev` or `valid`. Case and punctuation are ignored.
    train = {file: suites for file, suites in files.items() if _TRAIN.search(PurePath(file).stem.lower())}
    test = {
        file: suites
        for file, suites in files.items()
        if file not in train and _TEST.search(PurePath(file).stem.lower())
    }
    if not train or not test:
        return
    known: dict[tuple[str, ...], str] = {}
    for file, suites in train.items():
        for suite in suites:
            for item in suite.items:
                for sentence in item.sentences.values():
                    for key in _keys(sentence.text):
                        known.setdefault(key, f"{file}, item {item.id}")
    for file, suites in test.items():
        for suite in suites:
            for item in suite.items:
                for condition, sentence in item.sentences.items():
                    if place := next((known[key] for key in _keys(sentence.text) if key in known), ""):
                        yield file, suite.name, item.id, condition, place
                        break


def within(suite: Suite) -> Iterator[tuple[str, str, str, str]]:
    """Find items of a suite with a sentence that differs from one of an earlier item by at most one word."""
    known: dict[tuple[str, ...], tuple[str, str]] = {}
    for item in suite.items:
        keys = {condition: _keys(sentence.text) for condition, sentence in item.sentences.items()}
        found = ((name, known[key]) for name, own in keys.items() for key in own if key in known)
        if near := next(found, None):
            yield item.id, near[0], *near[1]
        for name, own in keys.items():
            for key in own:
                known.setdefault(key, (item.id, name))


def _keys(text: str) -> list[tuple[str, ...]]:
    """Return the words of a text, and all but one of them: texts that differ in one word have one of these in common."""
    words = tuple(re.findall(r"\w+", text.casefold()))
    if len(words) < 4:
        return [words]
    return [words, *((*words[:place], "\0", *words[place + 1 :]) for place in range(len(words)))]


LEAST_WORDS, LEAST_CHARACTERS = 3, 5
# Scripts without spaces between words: Thai to Tibetan, Burmese, Khmer, kana, and Chinese characters.
_UNSPACED = re.compile(r"[\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")


def alike(first: str, second: str) -> bool:
    """Return whether two texts are sentences that differ a little.

    They have three words or more, of which at least half are the same in any order, and about the same length: they differ
    by at most two words or a quarter. Case and the punctuation around words are ignored, but not all words may be the same.
    More than half of the words have no digits, unlike lines of a log. Texts in a script without spaces have five characters or
    more, and the same beginning and end; see `same_ends`.

    >>> alike("The keys are here.", "The keys is here."), alike("The keys are here.", "Die Schlüssel sind hier.")
    (True, False)
    >>> alike("2024-01-01 10:00 INFO job 1", "2024-01-01 10:05 INFO job 2")
    False
    >>> alike("dogs", "dog"), alike("It rained again.", "It rained again. It rained again.")
    (False, False)
    """
    if _unspaced(first, second) and same_ends(first, second):
        return min(len(first), len(second)) >= LEAST_CHARACTERS
    words, others = _words(first), _words(second)
    long = min(len(words), len(others)) >= LEAST_WORDS
    return words != others and long and _near(words, others) and _of_words(words) and _of_words(others)


def unlike(first: str, second: str) -> bool:
    """Return whether two texts have less in common than those of a pair, of sentences or of words, would have.

    Neither are half of their words (characters, in a script without spaces) the same, with about the same length, nor
    have they the same beginning and end.

    >>> unlike("dogs", "dog"), unlike("dog", "Hund"), unlike("Ida slept.", "Slept Ida."), unlike("the", "1061396")
    (False, True, False, True)
    """
    of = _characters if _unspaced(first, second) else _words
    return first != second and not _near(of(first), of(second)) and not same_ends(first, second)


def same_ends(first: str, second: str) -> bool:
    """Return whether two different texts have the same beginning and end, which are at least half of the longer one.

    >>> same_ends("dogs", "dog"), same_ends("dog", "Hund")
    (True, False)
    """
    shorter, longer = sorted((first.strip(), second.strip()), key=len)
    start = next((place for place, sign in enumerate(shorter) if sign != longer[place]), len(shorter))
    rest, other = shorter[start:][::-1], longer[start:][::-1]
    end = next((place for place, sign in enumerate(rest) if sign != other[place]), len(rest))
    return shorter != longer and 2 * (start + end) >= len(longer)


def mostly(values: Iterable[bool]) -> bool:
    """Return whether at least half of the values are true, and there are any."""
    listed = list(values)
    return bool(listed) and 2 * sum(listed) >= len(listed)


def _unspaced(first: str, second: str) -> bool:
    return _UNSPACED.search(first) is not None and _UNSPACED.search(second) is not None


def _near(units: Sequence[str], others: Sequence[str]) -> bool:
    shorter, longer = sorted((len(units), len(others)))
    same = (Counter(units) & Counter(others)).total()
    return 0 < longer <= 2 * same and longer - shorter <= max(2, longer / 4)


def _of_words(words: Sequence[str]) -> bool:
    return 2 * sum(any(map(str.isdigit, word)) for word in words) < len(words)


def _characters(text: str) -> list[str]:
    return [sign for sign in text if not sign.isspace()]


def _words(text: str) -> list[str]:
    return [bare for word in text.casefold().split() if (bare := _bare(word))]


def _bare(word: str) -> str:
    """Return a word without the punctuation around it. (Vowel signs of Indic scripts are no punctuation.)"""
    kept = [place for place, sign in enumerate(word) if unicodedata.category(sign)[0] not in "PS"]
    return word[kept[0] : kept[-1] + 1] if kept else ""
