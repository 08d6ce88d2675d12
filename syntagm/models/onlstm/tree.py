"""Trees from the distances between neighbouring words (Shen et al. 2018, 2019)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syntagm.models.contract import UNLABELLED
from syntagm.models.words.words import leaf


def of_distances(words: Sequence[str], distances: NDArray[np.floating]) -> str:
    """Return the tree of a text.

    The word with the largest distance to the word before it begins a new constituent: the text is split into what stands
    before it, and the word with what stands after it. Both parts are split in the same way. (Of equal distances, the first
    counts.)

    Arguments:
        words: the words, at least one.
        distances: shape (words,): the distance of each word to the word before it.

    >>> of_distances(["the", "dog", "barks"], np.array([0.5, 0.1, 0.7]))
    '(X (X the dog) barks)'
    >>> of_distances(["the", "dog", "barks", "loudly"], np.array([0.3, 0.5, 0.7, 0.1]))
    '(X (X the dog) (X barks loudly))'
    """
    if len(words) == 1:
        return f"({UNLABELLED} {leaf(words[0])})"
    left, right, root = _split(distances)
    parts: list[str] = []
    # Not recursive: texts may be long. A pair is a word, and whether what stands before it belongs to the constituent.
    stack: list[str | tuple[int, bool]] = [(root, True)]
    while stack:
        part = stack.pop()
        if isinstance(part, str):
            parts.append(part)
            continue
        word, whole = part
        if whole and word in left:
            stack += [")", (word, False), (left[word], True), f" ({UNLABELLED}"]
        elif word in right:
            stack += [")", (right[word], True), f" {leaf(words[word])}", f" ({UNLABELLED}"]
        else:
            parts.append(f" {leaf(words[word])}")
    return "".join(parts)[1:]


def _split(distances: NDArray[np.floating]) -> tuple[dict[int, int], dict[int, int], int]:
    """Return the word that splits the part before each word, that which splits the part after it, and that of the whole."""
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    path: list[int] = []
    for word, distance in enumerate(distances.tolist()):
        while path and distances[path[-1]] < distance:
            left[word] = path.pop()
        if path:
            right[path[-1]] = word
        path.append(word)
    return left, right, path[0]
