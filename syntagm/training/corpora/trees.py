"""Reading of Penn-style bracketed trees of any depth, with line numbers in error messages.

    (S (NP (DT the) (NNS dogs)) (VP (VBP bark)))

A tree may span several lines, and a line may contain several trees. The root may be `(S1 ...`, `(ROOT ...`, or have no
label: `( (S ...`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from syntagm.core import InputError, lines as _lines

SUFFIXES = (".trees", ".ptb", ".mrg", ".parse")
TRACE = "-NONE-"
MAX_TREE = 1_000_000

# A word with its label; an opening bracket with its label; a closing bracket; a word. Only ASCII white space separates
# words, so a word may contain a no-break space.
_TOKEN = re.compile(r"\([^\s()]+ [^\s()]+\)|\([^\s()]*|\)|[^\s()]+", re.ASCII)
_Open: TypeAlias = tuple[str, list["Tree | str"]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A tree: a node with its label and its children.

    Arguments:
        label: the label; empty for a root without one.
        children: nodes and words, from left to right.

    >>> tree = Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("dog",))))
    >>> print(tree)
    (NP (DT the) (NN dog))
    """

    label: str
    children: "tuple[Tree | str, ...]"

    def __str__(self) -> str:
        # Not recursive: trees may be deeper than Python's stack. None closes a node.
        parts: list[str] = []
        stack: list[Tree | str | None] = [self]
        while stack:
            node = stack.pop()
            if isinstance(node, Tree):
                parts.append(f" ({node.label}")
                stack += [None, *reversed(node.children)]
            else:
                parts.append(")" if node is None else f" {node}")
        return "".join(parts).strip()

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def words(tree: Tree) -> list[str]:
    """Return the words of a tree from left to right, without those labelled -NONE- (traces). `-LRB-` is not converted.

    >>> [tree] = parse(["( (S (NP-SBJ (-NONE- *)) (VP (VB Listen) (-LRB- -LRB-))))"])
    >>> words(tree)
    ['Listen', '-LRB-']
    """
    leaves: list[str] = []
    stack: list[Tree | str] = [tree]
    while stack:
        node = stack.pop()
        if isinstance(node, str):
            leaves.append(node)
        elif node.label != TRACE:
            stack += reversed(node.children)
    return leaves


def read(path: str | Path) -> Iterator[Tree]:
    """Read the trees of a file, gzipped or not."""
    return _trees(_lines.read(Path(path)), str(path))


def parse(lines: Iterable[str], place: str = "trees") -> Iterator[Tree]:
    """Parse the trees in lines of text; the errors are the same as for `read`, with `place` instead of the file."""
    return _trees(enumerate(lines, 1), place)


def _trees(lines: Iterable[tuple[int, str]], place: str) -> Iterator[Tree]:
    stack: list[_Open] = []
    start = size = 0
    for number, line in lines:
        size += len(line)
        for token in _TOKEN.findall(line):
            if not stack:
                start, size = number, len(line)
            if (tree := _take(token, stack, place, number)) is not None:
                yield tree
        if stack and size > MAX_TREE:
            raise _unclosed(f"{place}, line {start}", len(stack), f"after {MAX_TREE:,} characters")
    if stack:
        raise _unclosed(f"{place}, line {start}", len(stack), "at the end of the file")


def _take(token: str, stack: list[_Open], place: str, number: int) -> Tree | None:
    """Process a token; return the tree that it completes, if any."""
    if token[0] != "(" and not stack:
        found = "a closing bracket without an opening one" if token == ")" else f"{token[:40]!r} outside brackets"
        raise InputError(f"{place}, line {number}", found, "a tree", "Remove it, or add what is missing.")
    if token == ")":
        tree = _node(*stack.pop(), f"{place}, line {number}")
    elif token[0] != "(":
        stack[-1][1].append(token)
        return None
    elif token[-1] == ")":
        label, word = token[1:-1].split(" ")
        tree = Tree(label, (word,))
    else:
        stack.append((token[1:], []))
        return None
    if not stack:
        return tree
    stack[-1][1].append(tree)
    return None


def _node(label: str, children: "list[Tree | str]", place: str) -> Tree:
    cure = "Correct it, or remove its tree."
    if not children:
        raise InputError(place, f"a node without children: {f'({label})'[:40]}", "a word or nodes in it", cure)
    if not label and any(isinstance(child, str) for child in children):
        found = next(child for child in children if isinstance(child, str))
        raise InputError(place, f"the word {found[:40]!r} in a node without a label", "(LABEL word)", cure)
    return Tree(label, tuple(children))


def _unclosed(place: str, brackets: int, where: str) -> InputError:
    found = f"the tree that begins here lacks {brackets} closing bracket{'s' * (brackets != 1)} {where}"
    return InputError(
        place, found, "as many closing as opening brackets", "Add the missing brackets, or remove the tree."
    )
