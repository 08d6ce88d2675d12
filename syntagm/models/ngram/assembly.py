"""Assembly of a file's n-grams, which may be in any order, into sorted arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.core import ModelError
from syntagm.models.ngram.ngrams import END, START, UNKNOWN, Ngrams


@dataclass(frozen=True, slots=True, eq=False)
class Listed:
    """The n-grams of one length, in file order."""

    words: NDArray[np.int32]  # shape (n-grams, order), int32: word ids, first to last
    logs: NDArray[np.float32]  # shape (n-grams,), float32: log10 p of the last word given the others
    weights: NDArray[np.float32]  # shape (n-grams,), float32: log10 of the back-off weight

    @staticmethod
    def joined(parts: Iterable["Listed"], order: int) -> "Listed":
        """Concatenate parts."""
        empty = Listed(np.zeros((0, order), np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))
        parts = [empty, *parts]
        return Listed(
            np.concatenate([part.words for part in parts]),
            np.concatenate([part.logs for part in parts]),
            np.concatenate([part.weights for part in parts]),
        )


def assemble(place: str, words: Sequence[str], listed: Sequence[Listed]) -> Ngrams:
    """Build a model from the n-grams of a file."""
    # Suffixes of some n-grams may be missing, because SRILM prunes them. They are added with the probability that
    # backing off gives them. If the unknown word is missing, its probability is 0.
    words, listed = _renumbered(place, words, listed)
    return _sorted(place, words, listed) or _whole(place, words, _closed(listed))


def _renumbered(place: str, words: Sequence[str], listed: Sequence[Listed]) -> tuple[tuple[str, ...], list[Listed]]:
    """Renumber words and n-grams as in `Ngrams`: END, UNKNOWN, the other words in order, START."""
    numbers = {word: number for number, word in enumerate(words)}
    for symbol in (START, END):
        if symbol not in numbers:
            raise ModelError(place, f"no {symbol} among the 1-grams", "both the start and the end symbol")
    # Like KenLM, accept this spelling of the unknown word, too.
    unknown = numbers.get(UNKNOWN, numbers.get("<UNK>"))
    special = [numbers[END], len(words) if unknown is None else unknown, numbers[START]]
    others = [number for number in range(len(words)) if number not in special]
    old = np.array([*special[:2], *others, special[2]], np.int32)
    new = np.empty(len(words) + 1, np.int32)
    new[old] = np.arange(len(old), dtype=np.int32)
    if any((ngrams.words[:, 1:] == special[2]).any() for ngrams in listed):
        raise ModelError(place, f"{START} inside an n-gram", "only at its beginning")
    logs, weights = np.append(listed[0].logs, np.float32(-np.inf)), np.append(listed[0].weights, np.float32(0))
    unigrams = Listed(np.arange(len(old), dtype=np.int32)[:, None], logs[old], weights[old])
    longer = [Listed(new[ngrams.words], ngrams.logs, ngrams.weights) for ngrams in listed[1:]]
    return (END, UNKNOWN, *(words[number] for number in others), START), [unigrams, *longer]


def _whole(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams:
    ngrams = _sorted(place, words, listed)
    assert ngrams is not None
    return ngrams


def _sorted(place: str, words: tuple[str, ...], listed: Sequence[Listed]) -> Ngrams | None:
    """Sort the n-grams; return None if a suffix of an n-gram is missing."""
    model = Ngrams(words, (), (), (listed[0].logs,), ())
    weights = listed[0].weights
    for ngrams in listed[1:]:
        suffixes = model.located(ngrams.words[:, 1:])
        if (suffixes < 0).any():
            return None
        keys = suffixes.astype(np.int64) * len(words) + ngrams.words[:, 0]
        rows = np.argsort(keys)
        if len(repeated := np.flatnonzero(np.diff(keys[rows]) == 0)):
            spelled = " ".join(words[word] for word in ngrams.words[rows[repeated[0]]])
            raise ModelError(place, f"the n-gram {spelled!r} twice", "each n-gram once")
        logs = _filled(model, weights, ngrams, suffixes)
        model = Ngrams(
            words, (*model.firsts, ngrams.words[rows, 0]), (*model.suffixes, suffixes[rows]),
            (*model.probabilities, logs[rows]), (*model.backoffs, weights),
        )  # fmt: skip
        weights = ngrams.weights[rows]
    return model


def _filled(
    model: Ngrams, weights: NDArray[np.float32], ngrams: Listed, suffixes: NDArray[np.int32]
) -> NDArray[np.float32]:
    """Return the probabilities of n-grams. Those of added n-grams are computed by backing off with `weights`."""
    added = np.flatnonzero(np.isnan(ngrams.logs))
    logs = ngrams.logs.copy()
    contexts = model.located(ngrams.words[added, :-1])
    logs[added] = model.probabilities[-1][suffixes[added]] + np.where(contexts >= 0, weights[contexts], np.float32(0))
    return logs


def _closed(listed: Sequence[Listed]) -> list[Listed]:
    """Add to each order the missing suffixes of n-grams one order above, with the probability nan."""
    closed = list(listed)
    for index in reversed(range(1, len(closed) - 1)):
        ngrams = closed[index]
        suffixes = np.unique(closed[index + 1].words[:, 1:], axis=0)
        rows, first, counts = np.unique(
            np.concatenate([ngrams.words, suffixes]), axis=0, return_index=True, return_counts=True
        )
        added = rows[(first >= len(ngrams.words)) & (counts == 1)]
        empty = np.zeros(len(added), np.float32)
        closed[index] = Listed.joined([ngrams, Listed(added, empty + np.float32(np.nan), empty)], index + 1)
    return closed
