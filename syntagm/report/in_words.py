"""Predictions as English sentences in Markdown, such as "the `verb` is less surprising in `good` than in `bad`"."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import TypeAlias

from syntagm.suites import Binary, Formula, Node, Reference

_MORE = {"<": "less", ">": "more"}
_SIZE = {"<": "smaller than", ">": "larger than", "=": "as large as"}
_SIDE = {"<": "below", ">": "above", "=": "exactly"}

Clause: TypeAlias = tuple[str, str, str]
Pooled: TypeAlias = tuple[tuple[str, ...], str]
Rise: TypeAlias = tuple[tuple[str, ...], str, str]


def in_words(formula: Formula, labels: Mapping[str, str] | None = None) -> str:
    """Return the prediction as a clause without a full stop, with names between backquotes.

    Arguments:
        formula: the prediction.
        labels: region name -> label, for suites that number their regions.

    >>> from syntagm.suites import parse
    >>> in_words(parse("(verb;%fits%) < (verb;%clashes%) & (verb;%fit%) < (verb;%clash%)"))
    'the `verb` is less surprising in `fits` than in `clashes`, and in `fit` than in `clash`'
    >>> in_words(parse("(*;%good%) < (*;%bad%)"))
    'the whole sentence is less surprising in `good` than in `bad`'
    >>> in_words(parse("(5;%a%) - (5;%b%) > (5;%c%) - (5;%d%)"), {"5": "verb"})
    'the surprisal of region 5 (`verb`) rises more from `b` to `a` than from `d` to `c`'
    """
    return _verdict(formula.tree, labels or {})


def _verdict(node: Node, labels: Mapping[str, str]) -> str:
    assert isinstance(node, Binary)
    if node.operator not in ("&", "|"):
        return " ".join(filter(None, _comparison(node, labels)))
    word = ", and " if node.operator == "&" else ", or "
    clauses = [_clause(part, labels) for part in _flat(node, node.operator)]
    # Neighbouring clauses with the same beginning are joined.
    groups = [_join_clauses(list(group), word) for _, group in groupby(clauses, lambda clause: clause[0])]
    return ("" if node.operator == "&" else "either ") + word.join(groups)


def _join_clauses(clauses: Sequence[Clause], word: str) -> str:
    """Join clauses that begin with the same words."""
    if not clauses[0][0]:
        return word.join(rest for _, _, rest in clauses)
    tails = []
    for place, group in groupby(clauses, lambda clause: clause[1]):
        joined = word.replace(",", "").join(rest for _, _, rest in group)
        tails.append(f"{place} {joined}".strip())
    return f"{clauses[0][0]} {word.join(tails)}"


def _clause(node: Node, labels: Mapping[str, str]) -> Clause:
    assert isinstance(node, Binary)
    if node.operator in ("&", "|"):
        return "", "", f"({_verdict(node, labels)})"
    return _comparison(node, labels)


def _flat(node: Node, operator: str) -> list[Node]:
    """Return the operands of a chain of the same operator, regardless of brackets."""
    if isinstance(node, Binary) and node.operator == operator:
        return [*_flat(node.left, operator), *_flat(node.right, operator)]
    return [node]


def _comparison(node: Binary, labels: Mapping[str, str]) -> Clause:
    """Return the three parts of a comparison: what is compared, its condition, and what it is compared with."""
    left, right = _pool(node.left), _pool(node.right)
    if left and right and sorted(left[0]) == sorted(right[0]):
        more, than = (_MORE[node.operator], "than") if node.operator in _MORE else ("as", "as")
        head = f"{_regions(left[0], labels)} {'are' if len(left[0]) > 1 else 'is'} {more} surprising"
        return head, f"in `{left[1]}`", f"{than} in `{right[1]}`"
    rise, other_rise = _rise(node.left), _rise(node.right)
    if rise and other_rise and sorted(rise[0]) == sorted(other_rise[0]) and node.operator in _MORE:
        rises = "rises more" if node.operator == ">" else "rises by less"
        return (
            f"the surprisal of {_regions(rise[0], labels)} {rises}",
            "",
            f"{_direction(rise)} than {_direction(other_rise)}",
        )
    if isinstance(node.right, float):
        return f"{_quantity(node.left, labels)} is {_SIDE[node.operator]}", "", _bits(node.right)
    return f"{_quantity(node.left, labels)} is {_SIZE[node.operator]}", "", _quantity(node.right, labels)


def _pool(node: Node) -> Pooled | None:
    """Return the regions of a sum of surprisals and their condition; None if they belong to several conditions."""
    parts = _flat(node, "+")
    references = [part for part in parts if isinstance(part, Reference)]
    if len(references) < len(parts) or len({reference.condition for reference in references}) != 1:
        return None
    return tuple(reference.region for reference in references), references[0].condition


def _rise(node: Node) -> Rise | None:
    """Return the regions of a difference between two conditions, and the conditions; None if the node is something else."""
    if not isinstance(node, Binary) or node.operator != "-":
        return None
    end, start = _pool(node.left), _pool(node.right)
    return (end[0], start[1], end[1]) if end and start and sorted(end[0]) == sorted(start[0]) else None


def _direction(rise: Rise) -> str:
    return f"from `{rise[1]}` to `{rise[2]}`"


def _quantity(node: Node, labels: Mapping[str, str]) -> str:
    """Return a number of bits as a noun phrase."""
    if isinstance(node, float):
        return _bits(node)
    if pooled := _pool(node):
        return f"the surprisal of {_regions(pooled[0], labels)} in `{pooled[1]}`"
    if rise := _rise(node):
        return f"the rise in surprisal of {_regions(rise[0], labels)} {_direction(rise)}"
    assert isinstance(node, Binary)
    right = _quantity(node.right, labels)
    if node.operator == "-" and isinstance(node.right, Binary) and not (_pool(node.right) or _rise(node.right)):
        right = f"({right})"
    return f"{_quantity(node.left, labels)} {'plus' if node.operator == '+' else 'minus'} {right}"


def _regions(names: Sequence[str], labels: Mapping[str, str]) -> str:
    shown = [_region(name, labels) for name in names]
    return f"{', '.join(shown[:-1])} and {shown[-1]} together" if len(shown) > 1 else shown[0]


def _region(name: str, labels: Mapping[str, str]) -> str:
    if name == "*":
        return "the whole sentence"
    label = f" (`{labels[name]}`)" if labels.get(name) else ""
    return f"region {name}{label}" if name.isdecimal() else f"the `{name}`"


def _bits(number: float) -> str:
    return f"{number:g} bits" if number else "0"
