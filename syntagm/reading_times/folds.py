"""Folds for held-out likelihood: rows in contiguous parts as R's `cut`, or whole sentences, texts or participants."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, whole

KINDS = ("contiguous", "sentence", "text", "participant")
Ints = NDArray[np.int64]


def read(text: str) -> tuple[str, int]:
    """Read the option --folds: a kind and a number.

    Raises:
        UsageError: there is no such kind, or the number is not a whole number from 2.

    >>> read("contiguous:10"), read("sentence")
    (('contiguous', 10), ('sentence', 10))
    """
    kind, colon, number = text.partition(":")
    if kind not in KINDS:
        raise UsageError("--folds", repr(text), "one of " + ", ".join(f"{name}:K" for name in KINDS))
    return kind, whole("--folds", number, least=2) if colon else 10


def contiguous(rows: int, count: int) -> Ints:
    """Cut rows into contiguous folds as R's `cut(1:n, K)` does, with its arithmetic; folds count from 1.

    The inner borders are `seq.int(1, n, length.out = K + 1)`; a row belongs to the part whose upper border it doesn't
    exceed.

    Raises:
        InputError: there are fewer rows than folds.

    >>> contiguous(10, 4).tolist()
    [1, 1, 1, 2, 2, 3, 3, 4, 4, 4]
    """
    if rows < count:
        raise InputError("folds", f"{rows} complete rows", f"at least {count}, one for each fold")
    step = (float(rows) - 1.0) / count
    borders = 1.0 + np.arange(1, count, dtype=np.float64) * step
    numbers = np.arange(1, rows + 1, dtype=np.float64)
    return np.searchsorted(borders, numbers, "left").astype(np.int64) + 1


def of_groups(labels: Sequence[str], count: int, what: str) -> Ints:
    """Cut groups, such as sentences, into folds: contiguous parts of the groups in the order of their first rows.

    Arguments:
        labels: the group of each row.
        count: the number of folds.
        what: the groups, for messages.

    Raises:
        InputError: there are fewer groups than folds.

    >>> of_groups(["a", "a", "b", "c", "c", "c"], 3, "sentences").tolist()
    [1, 1, 2, 3, 3, 3]
    """
    order = {label: number for number, label in enumerate(dict.fromkeys(labels))}
    if len(order) < count:
        raise InputError(
            "folds",
            f"{len(order)} {what}",
            f"at least {count}, one for each fold",
            f"Use fewer folds: --folds {what.rstrip('s')}:{max(2, len(order))}.",
        )
    fold_of = contiguous(len(order), count)
    found: Ints = fold_of[np.array([order[label] for label in labels])]
    return found
