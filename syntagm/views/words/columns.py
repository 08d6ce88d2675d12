"""The words of several sentences in columns: words that sentences share stand under each other."""

from collections.abc import Sequence
from difflib import SequenceMatcher


def columns(sentences: Sequence[Sequence[str]]) -> list[list[int]]:
    """The column of each word of each sentence, from 0, ascending within a sentence.

    Each sentence is laid beside those before it: equal words share a column, words that differ between equal ones share
    columns, the last with the last, as far as there are as many; what is left has columns of its own.

    >>> columns([["the", "dog", "barks"], ["the", "old", "dog", "bark"]])
    [[0, 2, 3], [0, 1, 2, 3]]
    >>> columns([["he", "was", "seen"], ["he", "left"]])
    [[0, 1, 2], [0, 2]]
    """
    order: list[int] = []  # numbers of columns, as they stand from left to right
    words: dict[int, str] = {}
    placed: list[list[int]] = []
    for sentence in sentences:
        found = _beside(sentence, order, words)
        placed.append(found)
    places = {column: place for place, column in enumerate(order)}
    return [[places[column] for column in found] for found in placed]


def _beside(sentence: Sequence[str], order: list[int], words: dict[int, str]) -> list[int]:
    """The columns of one sentence; new ones are put into `order`, and named in `words`."""
    found: list[int] = []
    before = [words[column] for column in order]
    steps = SequenceMatcher(None, before, list(sentence), autojunk=False).get_opcodes()
    added = 0
    for _, low, high, first, last in steps:
        shared = min(high - low, last - first)
        # New columns stand before those that are shared.
        place = high - shared + added
        for k in range(first, last - shared):
            column = len(words)
            words[column] = sentence[k]
            order.insert(place, column)
            found.append(column)
            place, added = place + 1, added + 1
        found += order[place : place + shared]
    return found
