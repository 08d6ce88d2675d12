"""Nested parts of a corpus by size: each a proper part of the next, drawn by chance, in the order of the corpus.

Sentences are put in a random order that depends on the seed and their number only; a part of n words is the fewest first of
them that have at least n. So the parts of two sizes are nested even where they were drawn in two calls.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.errors import UsageError
from syntagm.io import atomic
from syntagm.models.words import words as _words
from syntagm.training.corpora import corpus

Marks: TypeAlias = NDArray[np.bool_]


def subset(lengths: Sequence[int] | NDArray[np.int64], words: Sequence[int], seed: int) -> list[Marks]:
    """Which sentences belong to the part of each size.

    Arguments:
        lengths: the number of words of each sentence.
        words: the sizes, from small to large: a part has at least so many words, and fewer without any of its sentences
            that came last.
        seed: of the order.

    Returns:
        For each size, shape (sentences,).

    Raises:
        UsageError: no sizes, sizes below 1, not growing, or so close that two parts are the same, or beyond the corpus; a
            seed below 0.

    >>> small, large = subset([3, 3, 3, 3, 3], [4, 7], seed=1)
    >>> int(small.sum()), int(large.sum()), bool((small <= large).all())
    (2, 3, True)
    """
    if not words or words[0] < 1 or any(one >= other for one, other in pairwise(words)):
        raise UsageError("nested sizes", ", ".join(map(str, words)) or "none", "numbers of words, from small to large")
    if seed < 0:
        raise UsageError("seed of the nested parts", str(seed), "at least 0")
    order = np.random.default_rng(seed).permutation(len(lengths))
    total = np.cumsum(np.asarray(lengths, np.int64)[order])
    if not len(total) or words[-1] > total[-1]:
        have = int(total[-1]) if len(total) else 0
        raise UsageError("nested sizes", f"{words[-1]:,} words", f"at most the {have:,} of the corpus")
    counts = np.searchsorted(total, words) + 1
    if same := [pair for pair, count in zip(pairwise(words), np.diff(counts), strict=True) if not count]:
        found = "{:,} and {:,} words make the same part".format(*same[0])
        raise UsageError("nested sizes", found, "sizes further apart than a sentence")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return [rank < count for count in counts]


def texts(sentences: Iterable[str], marks: Marks) -> Iterator[str]:
    """The sentences of a part: those of the corpus that are marked."""
    return (text for text, marked in zip(sentences, marks, strict=True) if marked)


def write(
    paths: Sequence[str | Path], sizes: Mapping[str, int], folder: str | Path, seed: int, tokens: str = "blanks"
) -> dict[str, Path]:
    """Write nested parts of a corpus as text, one sentence a line: `FOLDER/NAME.txt` for each size.

    Arguments:
        paths: the corpus, as `corpus.texts` reads it.
        sizes: by name, in words: {"xs": 1_000_000, "sm": 4_800_000}.
        folder: made if it does not exist.
        seed: of the draw.
        tokens: what counts as a word: `blanks` or `treebank`. The text is written as it stands all the same.

    Returns:
        The file of each name.

    Raises:
        UsageError: sizes as `subset`, or names that are no names of files, or those of the corpus.
        InputError: as `corpus.texts`.
        RunError: the folder can't be written.
    """
    if odd := [name for name in sizes if not name or Path(name).name != name]:
        raise UsageError("nested sizes", f"the name {odd[0]!r}", "a name for a file")
    folder = Path(folder)
    goals = {name: folder / f"{name}.txt" for name in sizes}
    if lost := {path.resolve() for path in goals.values()} & {path.resolve() for path in corpus.files(paths)}:
        cure = "Choose another folder or name."
        raise UsageError("nested sizes", f"{lost.pop()} would be overwritten, which is read", "a new file", cure)
    ordered = sorted(sizes.items(), key=lambda named: named[1])
    lengths = np.fromiter((len(_words.split(text, tokens)) for text in corpus.texts(paths)), np.int64)
    parts = subset(lengths, [size for _, size in ordered], seed)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise atomic.refusal(folder, error, 0) from error
    for (name, _), marks in zip(ordered, parts, strict=True):
        lines = (text.encode() + b"\n" for text in texts(corpus.texts(paths), marks))
        atomic.write_parts(goals[name], lines)
    return goals
