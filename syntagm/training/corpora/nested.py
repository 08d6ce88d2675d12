"""Nested random subsets of a corpus by size. Each subset contains the smaller ones; sentences keep the order of the corpus.
A subset of trees consists of trees.

Sentences are ranked in a random order that depends only on the seed and on the number of sentences. A subset of n words
consists of the first sentences in this order, up to the sentence with which it has at least n words. So two subsets are
nested even if they were drawn in two calls. Whole sections, such as documents, can be drawn in the same way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from syntagm.core import UsageError, atomic
from syntagm.models import splitting
from syntagm.training.corpora import corpus

Selection: TypeAlias = NDArray[np.bool_]


def subset(
    lengths: Sequence[int] | NDArray[np.int64], words: Sequence[int], seed: int, unit: str = "sentence"
) -> list[Selection]:
    """Choose the sentences, or the sections, of the subset of each size.

    >>> small, large = subset([3, 3, 3, 3, 3], [4, 7], seed=1)
    >>> int(small.sum()), int(large.sum()), bool((small <= large).all())
    (2, 3, True)
    """
    # `lengths`: the number of words of each. A subset has at least its size in words, and would have fewer without the last
    # sentence in the random order. For each size: whether each sentence belongs to the subset, shape (sentences,).
    if not words or words[0] < 1 or any(smaller >= larger for smaller, larger in pairwise(words)):
        raise UsageError("nested sizes", ", ".join(map(str, words)) or "none", "numbers of words, ascending")
    if seed < 0:
        raise UsageError("seed of the nested subsets", str(seed), "at least 0")
    order = np.random.default_rng(seed).permutation(len(lengths))
    total = np.cumsum(np.asarray(lengths, np.int64)[order])
    if not len(total) or words[-1] > total[-1]:
        available = int(total[-1]) if len(total) else 0
        raise UsageError("nested sizes", f"{words[-1]:,} words", f"at most the {available:,} of the corpus")
    counts = np.searchsorted(total, words) + 1
    if same := [pair for pair, count in zip(pairwise(words), np.diff(counts), strict=True) if not count]:
        found = "{:,} and {:,} words give the same subset".format(*same[0])
        raise UsageError("nested sizes", found, f"sizes that differ by more than a {unit}")
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return [rank < count for count in counts]


def _drawn(lengths: NDArray[np.int64], words: Sequence[int], seed: int, sections: Sequence[int]) -> list[Selection]:
    """Choose the sentences of each subset, drawn one by one, or with all others of their section."""
    if not sections:
        return subset(lengths, words, seed)
    number = np.array(sections)
    belongs = number >= 0
    by_section = np.bincount(number[belongs], lengths[belongs]).astype(np.int64)
    return [belongs & selected[number] for selected in subset(by_section, words, seed, "section")]


def texts(sentences: Iterable[str], selection: Selection) -> Iterator[str]:
    return (text for text, selected in zip(sentences, selection, strict=True) if selected)


def suffix(paths: Sequence[str | Path]) -> str:
    """Return the end of the names of a corpus's subsets."""
    return ".trees" if corpus.are_trees(paths) else ".txt"


def write(
    paths: Sequence[str | Path], sizes: Mapping[str, int], folder: str | Path, seed: int, tokens: str = "blanks",
    sections: str = "",
) -> dict[str, Path]:  # fmt: skip
    """Write nested subsets of a corpus, one sentence or tree per line: `FOLDER/NAME.txt` or `.trees` for each size."""
    if invalid := [name for name in sizes if not name or Path(name).name != name]:
        raise UsageError("nested sizes", f"the name {invalid[0]!r}", "a file name without folders")
    folder = Path(folder)
    targets = {name: folder / f"{name}{suffix(paths)}" for name in sizes}
    if overwritten := {path.resolve() for path in targets.values()} & {path.resolve() for path in corpus.files(paths)}:
        cure = "Choose another folder or name."
        found = f"{overwritten.pop()} belongs to the corpus and would be overwritten"
        raise UsageError("nested sizes", found, "a new file", cure)
    ordered = sorted(sizes.items(), key=lambda named: named[1])
    lengths = np.fromiter((len(splitting.split(text, tokens)) for text in corpus.texts(paths)), np.int64)
    selections = _drawn(
        lengths, [size for _, size in ordered], seed, [*corpus.sections(paths, sections)] if sections else []
    )
    atomic.make_folder(folder)
    for (name, _), selection in zip(ordered, selections, strict=True):
        lines = (text.encode() + b"\n" for text in texts(corpus.written(paths), selection))
        atomic.write_parts(targets[name], lines)
    return targets
