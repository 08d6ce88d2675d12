"""The actions that generate a tree, after it has been simplified.

Trees of the Penn Treebank are simplified by these rules:

* traces (`-NONE-`) are removed, and constituents without words;
* the tag of a word is removed, so that words stand directly in constituents;
* of a label, what follows the first `-`, `=` or `|` is removed: function tags and indices;
* a root labelled ROOT, TOP, S1 or without a label is removed if it has a single constituent in it; otherwise its label
  is ROOT.

>>> from syntagm.training.corpora.trees import parse
>>> [tree] = parse(["( (S (NP-SBJ-1 (DT the) (NN dog)) (VP (VBZ barks) (NP (-NONE- *-1)))))"])
>>> derivation(tree)
Derivation(words=('the', 'dog', 'barks'), actions=('S', 'NP', '', '', ')', 'VP', '', ')', ')'))
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.models import MOST_OPEN, OPEN, REDUCE, SHIFT, Vocabulary
from syntagm.training.corpora import corpus
from syntagm.training.corpora.trees import TRACE, Tree

ROOT = "ROOT"
ROOTS = (ROOT, "TOP", "S1")
# The label of a constituent whose label does not occur in training.
UNKNOWN_LABEL = "X"
# An action that generates a word, and one that closes a constituent; any other action is the label that it opens.
WORD, CLOSE = "", ")"
_SUFFIX = re.compile(r"(?<=.)[-=|].*")
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Derivation:
    """The words of a tree, and the actions that generate it."""

    words: tuple[str, ...]
    actions: tuple[str, ...]


def derivations(paths: Sequence[str | Path]) -> Iterator[Derivation]:
    """Yield the derivations of the trees in files; trees without words are skipped."""
    for path in paths:
        for number, tree in enumerate(corpus.treebank([path]), 1):
            found = derivation(tree, f"{path}, tree {number}")
            if found.words:
                yield found


def derivation(tree: Tree, place: str = "tree") -> Derivation:
    """Return the derivation of a tree, after it has been simplified."""
    words: list[str] = []
    actions: list[str] = []
    opened = 0
    # Not recursive: trees may be deeper than Python's stack. None closes a constituent.
    stack: list[Tree | str | None] = [tree]
    while stack:
        node = stack.pop()
        if node is None:
            opened -= 1
            if actions[-1] not in (WORD, CLOSE):
                # Nothing is left in this constituent.
                actions.pop()
            else:
                actions.append(CLOSE)
        elif isinstance(node, str) or _is_word(node):
            if isinstance(node, str):
                raise InputError(place, f"the word {node[:40]!r} without a tag", "(TAG word)", "Add tags to its words.")
            if node.label != TRACE:
                words.append(str(node.children[0]))
                actions.append(WORD)
        else:
            opened += 1
            if opened > MOST_OPEN:
                found, cure = f"more than {MOST_OPEN} open constituents", "Remove the tree, or flatten it."
                raise InputError(place, found, f"at most {MOST_OPEN}", cure)
            actions.append(_SUFFIX.sub("", node.label) or ROOT)
            stack += [None, *reversed(node.children)]
    return Derivation(tuple(words), tuple(_rooted(actions)))


def _is_word(node: Tree) -> bool:
    return len(node.children) == 1 and isinstance(node.children[0], str)


def _rooted(actions: list[str]) -> list[str]:
    """Remove a root of another treebank's making, or give it its label."""
    if actions == [WORD]:
        return [ROOT, WORD, CLOSE]
    if not actions or actions[0] not in ROOTS:
        return actions
    if len(actions) > 1 and actions[1] not in (WORD, CLOSE):
        depth = np.cumsum([0 if action == WORD else -1 if action == CLOSE else 1 for action in actions[1:-1]])
        if not (depth[:-1] == 0).any():
            return actions[1:-1]
    return [ROOT, *actions[1:]]


def labels(found: Sequence[Derivation]) -> list[str]:
    """Return the labels of constituents in order, with the one for unknown labels."""
    used = {action for one in found for action in one.actions if action not in (WORD, CLOSE)}
    return sorted(used | {UNKNOWN_LABEL})


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A derivation as numbers. Each action adds an element to the stack: a constituent, a word, or a closed constituent."""

    words: Ints  # the ids of the words
    actions: Ints  # the actions by number, as in `models.rnng.search`
    below: Ints  # the element below that of each action, as the number of its action; -1 for the bottom
    depth: Ints  # the number of elements on the stack after each action, without the bottom
    closing: Ints  # the actions that close a constituent
    closed: Ints  # the label of each closed constituent
    height: Ints  # the height of each closed constituent: 1, or one more than that of its highest child
    children: Ints  # the elements of all closed constituents, one constituent after the other
    counts: Ints  # the number of children of each closed constituent


def encoded(derivation: Derivation, vocabulary: Vocabulary, labels: Sequence[str]) -> Encoded:
    """Return a derivation as numbers; a label that is not in `labels` becomes `X`."""
    numbers = {label: OPEN + number for number, label in enumerate(labels)}
    unknown = numbers[UNKNOWN_LABEL]
    actions = [
        SHIFT if action == WORD else REDUCE if action == CLOSE else numbers.get(action, unknown)
        for action in derivation.actions
    ]
    stack: list[int] = []
    below, depth, children = [], [], []
    heights = [0] * len(actions)
    closing, closed, height, counts = [], [], [], []
    for time, action in enumerate(actions):
        if action == REDUCE:
            first = len(stack) - 1
            while actions[stack[first]] < OPEN:
                first -= 1
            inside = stack[first + 1 :]
            heights[time] = 1 + max(heights[element] for element in inside)
            closing.append(time)
            closed.append(actions[stack[first]] - OPEN)
            height.append(heights[time])
            children += inside
            counts.append(len(inside))
            del stack[first:]
        below.append(stack[-1] if stack else -1)
        stack.append(time)
        depth.append(len(stack))
    parts = vocabulary.ids(derivation.words), actions, below, depth, closing, closed, height, children, counts
    return Encoded(*(np.array(part, np.int64) for part in parts))
