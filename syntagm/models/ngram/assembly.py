"""From the n-grams that a file lists, in any order, to sorted arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import ModelError
from syntagm.models.ngram.ngrams import END, START, UNKNOWN, Ngrams


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The n-grams of one order, as a file lists them.

    Arguments:
        words: shape (n-grams, order), int32: the numbers of their words, first to last.
        logs: shape (n-grams,), float32: log10 p of the last word given the others.
        weights: shape (n-grams,), float32: log10 of the back-off weight.
    """

    words: NDArray[np.int32]
    logs: NDArray[np.float32]
    weights: NDArray[np.float32]

    @staticmethod
    def joined(parts: Iterable["Listed"], order: int) -> "Listed":
        """All parts as one."""
        empty = Listed(np.zeros((0, order), np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))
        found = [empty, *parts]
        return Listed(
            np.concatenate([part.words for part in found]),
            np.concatenate([part.logs for part in found]),
            np.concatenate([part.weights for part in found]),
        )


def assemble(place: str, words: Sequence[str], listed: Sequence[Listed]) -> Ngrams:
    """A model of the n-grams of a file.

    The ends of some n-grams may be missing (SRILM prunes so): they are added, with the probability that they have anyway by
    backing off. If the unknown word is missing, its probability is 0.

    Arguments:
        place: what to call the file in errors.
        words: by number.
        listed: the n-grams of each order, from 1.

    Raises:
        ModelError: an n-gram listed twice, no start or end symbol, or a start symbol that is not first.
    """
    words, listed = _renumbered(place, words, listed)
    return _sorted(place, words, listed) or _whole(place, words, _closed(listed))


def _renumbered(place: str, words: Sequence[str], listed: Sequence[Listed]) -> tuple[tuple[str, ...], list[Listed]]:
    """Words and n-grams by the numbers of `Ngrams`: END, UNKNOWN, the others as they come, START."""
    numbers = {word: number for number, word in enumerate(words)}
    for symbol in (START, END):
        if symbol not in numbers:
            raise ModelError(place, f"no {symbol} among the 1-grams", "start and end symbol")
    # KenLM, too, takes this spelling for the unknown word.
    unknown = numbers.get(UNKNOWN, numbers.get("<UNK>"))
    special = [numbers[END], len(words) if unknown is None else unknown, numbers[START]]
    others = [number for number in range(len(words)) if number not in special]
    old = np.array([*special[:2], *others, special[2]], np.int32)
    new = np.empty(len(words) + 1, np.int32)
    new[old] = np.arange(len(old), dtype=np.int32)
    if any((ngrams.words[:, 1:] == special[2]).any() for ngrams in listed):
        raise ModelError(place, f"{START} inside an n-gram", "at its beginning only")
    logs, weights = np.append(listed[0].logs, np.float32(-np.inf)), np.append(listed[0].weights, np.float32(0))
    unigrams = Listed(np.arange(len(old), dtype=np.int32)[:, None], logs[old], weights[old])
    longer = [Listed(new[ngrams.words], ngrams.logs, ngrams.weights) for ngrams in listed[1:]]
    return (END, UNKNOWN, *(words[number] for number in others), START), [unigrams, *longer]


def _whole(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams:
    made = _sorted(place, words, listed)
    assert made is not None
    return made


def _sorted(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams | None:
    """The model, or None if an n-gram's end is missing."""
    made = Ngrams(words, (), (), (listed[0].logs,), ())
    weights = listed[0].weights
    for ngrams in listed[1:]:
        suffixes = made.located(ngrams.words[:, 1:])
        if (suffixes < 0).any():
            return None
        keys = suffixes.astype(np.int64) * len(words) + ngrams.words[:, 0]
        rows = np.argsort(keys)
        if len(twice := np.flatnonzero(np.diff(keys[rows]) == 0)):
            spelled = " ".join(words[word] for word in ngrams.words[rows[twice[0]]])
            raise ModelError(place, f"the n-gram {spelled!r} twice", "each n-gram once")
        logs = _filled(made, weights, ngrams, suffixes)
        made = Ngrams(
            words, (*made.firsts, ngrams.words[rows, 0]), (*made.suffixes, suffixes[rows]),
            (*made.probabilities, logs[rows]), (*made.backoffs, weights),
        )  # fmt: skip
        weights = ngrams.weights[rows]
    return made


def _filled(
    made: Ngrams, weights: NDArray[np.float32], ngrams: Listed, suffixes: NDArray[np.int32]
) -> NDArray[np.float32]:
    """The probabilities of n-grams; of those added, by backing off to the order below, which has these back-off weights."""
    added = np.flatnonzero(np.isnan(ngrams.logs))
    logs = ngrams.logs.copy()
    contexts = made.located(ngrams.words[added, :-1])
    logs[added] = made.probabilities[-1][suffixes[added]] + np.where(contexts >= 0, weights[contexts], np.float32(0))
    return logs


def _closed(listed: Sequence[Listed]) -> list[Listed]:
    """N-grams of each order with the ends of those one order above; what is added has the probability nan."""
    found = list(listed)
    for index in reversed(range(1, len(found) - 1)):
        here = found[index]
        ends = np.unique(found[index + 1].words[:, 1:], axis=0)
        rows, first, counts = np.unique(
            np.concatenate([here.words, ends]), axis=0, return_index=True, return_counts=True
        )
        added = rows[(first >= len(here.words)) & (counts == 1)]
        empty = np.zeros(len(added), np.float32)
        found[index] = Listed.joined([here, Listed(added, empty + np.float32(np.nan), empty)], index + 1)
    return found
