"""Read Penn-style bracketed trees, of any depth, with line numbers in errors.

    (S (NP (DT the) (NNS dogs)) (VP (VBP bark)))

A tree may stand on one line or on many, and many on one line. Roots are `(S1 ...`, `(ROOT ...`, or without a name, `( (S ...`.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from syntagm.errors import InputError
from syntagm.io import lines as _lines

SUFFIXES = (".trees", ".ptb", ".mrg", ".parse")
TRACE = "-NONE-"
MAX_TREE = 1_000_000

# A word with its label; an opening bracket with its label; a closing one; a word. Words may hold a no-break space: only the
# white space of ASCII divides.
_SIGN = re.compile(r"\([^\s()]+ [^\s()]+\)|\([^\s()]*|\)|[^\s()]+", re.ASCII)
_Open: TypeAlias = tuple[str, list["Tree | str"]]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Tree:
    """A node and what is below it.

    Arguments:
        label: its name; empty for a root without one.
        children: nodes and words, from left to right.

    >>> tree = Tree("NP", (Tree("DT", ("the",)), Tree("NN", ("dog",))))
    >>> print(tree)
    (NP (DT the) (NN dog))
    """

    label: str
    children: "tuple[Tree | str, ...]"

    def __str__(self) -> str:
        # Without recursion: trees may be deeper than Python's stack. None closes a node.
        parts: list[str] = []
        waiting: list[Tree | str | None] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, Tree):
                parts.append(f" ({one.label}")
                waiting += [None, *reversed(one.children)]
            else:
                parts.append(")" if one is None else f" {one}")
        return "".join(parts).strip()

    def __repr__(self) -> str:
        return f"<Tree {self}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tree) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))


def words(tree: Tree) -> list[str]:
    """The words of a tree from left to right, without traces and what else has the label -NONE-. `-LRB-` stays as it is.

    >>> [tree] = parse(["( (S (NP-SBJ (-NONE- *)) (VP (VB Listen) (-LRB- -LRB-))))"])
    >>> words(tree)
    ['Listen', '-LRB-']
    """
    found: list[str] = []
    waiting: list[Tree | str] = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            found.append(one)
        elif one.label != TRACE:
            waiting += reversed(one.children)
    return found


def read(path: str | Path) -> Iterator[Tree]:
    """The trees of a file, gzipped or not.

    Raises:
        InputError: brackets that don't match, a node without children, words outside brackets, a tree of more than a million
            characters, or what `corpus.texts` refuses in any file.
    """
    return _trees(_lines.read(Path(path)), str(path))


def parse(lines: Iterable[str], place: str = "trees") -> Iterator[Tree]:
    """The trees in lines of text; errors as `read`, with `place` for the file."""
    return _trees(enumerate(lines, 1), place)


def _trees(lines: Iterable[tuple[int, str]], place: str) -> Iterator[Tree]:
    stack: list[_Open] = []
    start = size = 0
    for number, line in lines:
        size += len(line)
        for sign in _SIGN.findall(line):
            if not stack:
                start, size = number, len(line)
            if (tree := _take(sign, stack, place, number)) is not None:
                yield tree
        if stack and size > MAX_TREE:
            raise _unclosed(f"{place}, line {start}", len(stack), f"after {MAX_TREE:,} characters")
    if stack:
        raise _unclosed(f"{place}, line {start}", len(stack), "at the end of the file")


def _take(sign: str, stack: list[_Open], place: str, number: int) -> Tree | None:
    """Take a sign into account; give the tree if it ends one."""
    if sign[0] != "(" and not stack:
        found = "a closing bracket without an opening one" if sign == ")" else f"{sign[:40]!r} outside brackets"
        raise InputError(f"{place}, line {number}", found, "a tree", "Remove it, or add what is missing.")
    if sign == ")":
        tree = _node(*stack.pop(), f"{place}, line {number}")
    elif sign[0] != "(":
        stack[-1][1].append(sign)
        return None
    elif sign[-1] == ")":
        label, word = sign[1:-1].split(" ")
        tree = Tree(label, (word,))
    else:
        stack.append((sign[1:], []))
        return None
    if not stack:
        return tree
    stack[-1][1].append(tree)
    return None


def _node(label: str, children: "list[Tree | str]", here: str) -> Tree:
    cure = "Correct it, or remove its tree."
    if not children:
        raise InputError(here, f"a node without children: {f'({label})'[:40]}", "a word or nodes in it", cure)
    if not label and any(isinstance(child, str) for child in children):
        found = next(child for child in children if isinstance(child, str))
        raise InputError(here, f"the word {found[:40]!r} in a node without a label", "(LABEL word)", cure)
    return Tree(label, tuple(children))


def _unclosed(place: str, brackets: int, where: str) -> InputError:
    found = f"the tree that begins here lacks {brackets} closing bracket{'s' * (brackets != 1)} {where}"
    return InputError(place, found, "as many closing as opening brackets", "Add them, or remove the tree.")
