"""Comparison of parses with the trees of a treebank: precision and recall of constituents."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from syntagm.training.corpora.trees import Tree

Bracket = tuple[str, int, int]


@dataclass(slots=True)
class Agreement:
    """The constituents that parses have in common with trees, summed over sentences."""

    # With labels, all constituents count. Without labels, those of several words that are not the whole sentence count,
    # each span once: the others agree in any two trees.

    labelled: list[int] = field(default_factory=lambda: [0, 0, 0])
    unlabelled: list[int] = field(default_factory=lambda: [0, 0, 0])  # the same without labels

    def add(self, gold: Sequence[Bracket], parsed: Sequence[Bracket], words: int) -> None:
        _count(self.labelled, Counter(gold), Counter(parsed))
        gold_spans, spans = (
            Counter({(start, end) for _, start, end in found if 1 < end - start < words}) for found in (gold, parsed)
        )
        _count(self.unlabelled, gold_spans, spans)


def _count(sums: list[int], gold: Counter[Any], parsed: Counter[Any]) -> None:
    for index, found in enumerate((gold, parsed, gold & parsed)):
        sums[index] += found.total()


def precision_recall_f1(gold: int, parsed: int, both: int) -> tuple[float, float, float]:
    """Return precision, recall and F1; nan without constituents.

    >>> precision_recall_f1(4, 5, 3)
    (0.6, 0.75, 0.6666666666666666)
    """
    return tuple(both / n if n else float("nan") for n in (parsed, gold, (gold + parsed) / 2))  # type: ignore[return-value]


def of_tree(tree: Tree) -> list[Bracket]:
    """Return the constituents of a tree without tags: label, first word, and the word after the last.

    >>> from syntagm.training.corpora.trees import parse
    >>> [tree] = parse(["(S (NP the dog) (VP barks))"])
    >>> of_tree(tree)
    [('NP', 0, 2), ('VP', 2, 3), ('S', 0, 3)]
    """
    actions: list[str] = []
    stack: list[Tree | str | None] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, Tree):
            actions.append(node.label)
            stack += [None, *reversed(node.children)]
        else:
            actions.append(")" if node is None else "")
    return of_actions(actions)


def of_actions(actions: Iterable[str]) -> list[Bracket]:
    """Return the constituents of a derivation: "" is a word, ")" closes a constituent, any other text is a label.

    >>> of_actions(["S", "NP", "", "", ")", "", ")"])
    [('NP', 0, 2), ('S', 0, 3)]
    """
    found: list[Bracket] = []
    opened: list[tuple[str, int]] = []
    words = 0
    for action in actions:
        if action == ")":
            found.append((*opened.pop(), words))
        elif action:
            opened.append((action, words))
        else:
            words += 1
    return found
