"""Simplified categories of Combinatory Categorial Grammar for the words of Penn-style trees.

This is an approximation to CCGbank (Hockenmaier & Steedman 2007), for treebanks that have no CCG annotation:

* The head of a constituent is found by rules for its label (`HEADS`), after Collins 1999. A constituent with the category X
  gives its head the category X with an argument for each complement, the nearest one last, so that a transitive verb is
  `(S[dcl]\\NP)/NP`.
* Complements are: the last noun phrase before a verb phrase; noun phrases, clauses, verb phrases, adjective phrases and
  particles after a verb; what follows a preposition, a complementizer or a relative word; and prepositional phrases after
  an adjective, or with a function tag that says so (`-CLR`, `-PRD`, `-DTV`, `-PUT`, `-BNF`). Constituents with an
  adverbial function tag (`-TMP`, `-LOC`, `-ADV` ...) are no complements.
* Other constituents are adjuncts, X/X or X\\X, where X has no features: `S\\NP` in a verb phrase, `S` in a clause, `N` before a
  noun and `NP` after it. Noun phrases, clauses and verb phrases that are adjuncts keep their own categories inside
  (CCGbank changes their type).
* Nouns are `N`, determiners `NP/N`, pronouns `NP`. In a coordination, each conjunct has the category of the head, and the
  conjunction is `conj`. Punctuation marks are their own categories.
* Clauses have the feature of their first verb, by its tag: `dcl`, `b`, `to`, `ng`, `pt`; `adj` without a verb. An `S`
  without a subject is `S\\NP`.

Traces are not used. So an extracted object is missing from its verb's category, and an object relative pronoun is
`(NP\\NP)/S[dcl]`, where CCGbank has `(NP\\NP)/(S[dcl]/NP)`; passives are past participles; noun phrases have no features, and
there is no type raising. In constituents without rules (`FRAG`, `PRN`, `UCP`, `X` ...), all children have categories of
their own; `coverage` counts the other words.

>>> from syntagm.training.corpora.trees import parse
>>> [tree] = parse(["(S (NP (DT The) (NN dog)) (VP (VBZ likes) (NP (JJ old) (NNS cats))) (. .))"])
>>> tagged(tree)
[('The', 'NP/N'), ('dog', 'N'), ('likes', '(S[dcl]\\\\NP)/NP'), ('old', 'N/N'), ('cats', 'N'), ('.', '.')]
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from syntagm.core import InputError
from syntagm.models import MOST_OPEN
from syntagm.training.corpora.trees import TRACE, Tree

_VERBS = ("MD", "VBD", "VBZ", "VBP", "VB", "VBN", "VBG", "TO", "VP")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")
_NOMINAL = (*_NOUNS, "PRP", "EX", "WP", "NP", "NX", "NML", "CD", "QP", "DT", "JJ", "FW")
_CLAUSE, _NOUN_PHRASE = ("S", "SINV", "SQ", "SBARQ", "RRC"), ("NP", "NX", "NAC", "NML")


@dataclass(frozen=True, slots=True)
class _Rule:
    """The labels of heads, the most likely first, and which child with this label is the head: the last or the first one."""

    labels: tuple[str, ...]
    last: bool = False


HEADS = {
    **dict.fromkeys(("S", "SINV", "RRC", "SBARQ"), _Rule(("VP", "S", "SQ", "SINV", "ADJP", "NP", "PP"), last=True)),
    "SQ": _Rule(("MD", "VBD", "VBZ", "VBP", "VP", "SQ", "S")),
    "VP": _Rule(_VERBS),
    **dict.fromkeys(_NOUN_PHRASE, _Rule(_NOMINAL, last=True)),
    "WHNP": _Rule(("WDT", "WP", "WP$", "WRB", "DT", "WHNP", "WHADJP", "NP")),
    **dict.fromkeys(("PP", "WHPP"), _Rule(("IN", "TO", "VBG", "RP", "JJ", "RB", "FW", "PP"))),
    "SBAR": _Rule(("WHNP", "WHADVP", "WHPP", "WHADJP", "IN", "DT", "TO", "SBAR", "S", "SQ", "SINV")),
    **dict.fromkeys(("ADJP", "WHADJP"), _Rule(("JJ", "JJR", "JJS", "VBN", "VBG", "ADJP", "WRB", "RB", "NN"), last=True)),
    **dict.fromkeys(("ADVP", "WHADVP"), _Rule(("RB", "RBR", "RBS", "WRB", "ADVP", "IN", "RP", "NP", "JJ"), last=True)),
    "PRT": _Rule(("RP", "IN", "RB")),
    "QP": _Rule(("CD", "NN", "NNS", "DT", "JJ", "RB"), last=True),
}  # fmt: skip
_COMPLEMENT = frozenset(("CLR", "PRD", "DTV", "PUT", "BNF"))
_ADJUNCT = frozenset(("TMP", "LOC", "ADV", "MNR", "DIR", "PRP", "EXT", "VOC"))
# Label of the constituent -> labels of its complements after the head.
_FOLLOWING: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("VP", "SQ", "SINV"), (*_NOUN_PHRASE, *_CLAUSE, "SBAR", "VP", "ADJP", "PRT", "WHNP")),
    "PP": (*_NOUN_PHRASE, *_CLAUSE, "SBAR", "VP", "PP", "WHNP", "ADJP", "ADVP"),
    "WHPP": ("WHNP", "NP"),
    "SBAR": (*_CLAUSE, "SBAR", "VP"),
    "SBARQ": ("SQ", "S"),
    "WHNP": (*_NOUNS, *_NOUN_PHRASE, "PP", "ADJP", "WHNP"),
    "ADJP": ("PP", "S", "SBAR", "VP"),
    "WHADJP": ("JJ", "ADJP"),
    "ADVP": ("PP",),
}
# Tag of a verb -> feature of its clause.
_FEATURES = {"VB": "b", "VBG": "ng", "VBN": "pt", "TO": "to"}
_MARKS = {",", ".", ":", "``", "''", "-LRB-", "-RRB-", "#", "$", "HYPH", "NFP", "LS", "SYM"}
# Tag -> category wherever the word is not a head.
_FIXED = {"DT": "NP/N", "PRP$": "NP/N", "WP$": "NP/N", "POS": r"(NP/N)\NP", "CC": "conj", "UH": "S/S"}
_PRONOUNS = {"PRP", "EX", "WP", "WDT", "DT", "PRP$", "WP$"}
_SUFFIX = re.compile(r"(?<=.)[-=|].*")


@dataclass(slots=True)
class _Node:
    """A constituent or a word of a simplified tree."""

    label: str
    functions: frozenset[str]
    children: list["_Node"]
    word: str = ""
    head: int = 0


def tagged(tree: Tree, place: str = "tree") -> list[tuple[str, str]]:
    """Return the words of a tree with their categories; none if it has no words."""
    return [(word, category) for word, category, _ in _leaves(tree, place)]


def coverage(trees: Iterable[Tree]) -> tuple[int, int]:
    """Count the words of trees that stand in a constituent with rules, and all words.

    >>> from syntagm.training.corpora.trees import parse
    >>> coverage(parse(["(S (NP (PRP We)) (VP (VBP sleep)) (FRAG (RB not) (NN now)))"]))
    (2, 4)
    """
    covered = [rule for tree in trees for _, _, rule in _leaves(tree, "tree")]
    return sum(covered), len(covered)


def _leaves(tree: Tree, place: str) -> list[tuple[str, str, bool]]:
    """Return the words of a tree with their categories, and whether the constituent of each has rules."""
    root = _simplified(tree, place)
    leaves: list[tuple[str, str, bool]] = []
    # Not recursive: trees may be deeper than Python's stack.
    stack = [(root, _category(root), True)] if root else []
    while stack:
        node, category, rule = stack.pop()
        if node.word:
            leaves.append((node.word, category, rule))
        else:
            stack += [(child, given, node.label in HEADS) for child, given in reversed(_divided(node, category))]
    return leaves


def _simplified(tree: Tree, place: str) -> _Node | None:
    """Return a tree without traces, empty constituents and a root above a single one; None if it has no words."""
    root = _Node("", frozenset(), [])
    stack: list[tuple[Tree | str, _Node, int]] = [(tree, root, 0)]
    order = []
    while stack:
        item, parent, opened = stack.pop()
        if isinstance(item, str):
            raise InputError(place, f"the word {item[:40]!r} without a tag", "(TAG word)", "Add tags to its words.")
        if len(item.children) == 1 and isinstance(word := item.children[0], str):
            if item.label != TRACE:
                parent.children.append(_Node(item.label, frozenset(), [], word))
            continue
        if opened == MOST_OPEN:
            found, cure = f"more than {MOST_OPEN} open constituents", "Remove the tree, or flatten it."
            raise InputError(place, found, f"at most {MOST_OPEN}", cure)
        label, functions = _SUFFIX.sub("", item.label), frozenset(re.split("[-=|]", item.label)[1:])
        node = _Node(label, functions, [])
        order.append(node)
        parent.children.append(node)
        stack += [(child, node, opened + 1) for child in reversed(item.children)]
    for node in reversed([root, *order]):
        node.children = [child for child in node.children if child.word or child.children]
        node.head = _head(node)
    while not root.word and len(root.children) == 1 and root.label not in HEADS:
        root = root.children[0]
    return root if root.word or root.children else None


def _head(node: _Node) -> int:
    rule = HEADS.get(node.label, _Rule(()))
    labels = [child.label for child in node.children]
    present = [label for label in rule.labels if label in labels]
    if node.label == "VP":
        # The first verb is the head: (VP (MD will) (VP ...)), (VP (VBD came) (CC and) (VBD saw)).
        present = [label for label in labels if label in present]
    elif node.label in _NOUN_PHRASE:
        # (NP (NP the dog) (PP ...)): the first noun phrase. (NP (NP Kim 's) (NN dog)): the last noun.
        if not (nouns := [label for label in labels if label in _NOUNS]) and "NP" in labels:
            return labels.index("NP")
        present = nouns[-1:] or present
    if present:
        first = labels.index(present[0])
        return len(labels) - 1 - labels[::-1].index(present[0]) if rule.last else first
    return next((index for index in range(len(labels) - 1, -1, -1) if labels[index] not in _MARKS), len(labels) - 1)


def _first_verb(node: _Node) -> _Node:
    while not node.word:
        node = node.children[node.head]
    return node


def _category(node: _Node) -> str:
    """Return the category of a constituent as a complement, or of a word that is no head."""
    if node.word:
        return _of_word(node)
    if node.label in (*_NOUN_PHRASE, "WHNP"):
        return "NP"
    if node.label in ("PP", "WHPP"):
        return "PP"
    if node.label == "SBAR":
        return "S[em]"
    if node.label == "PRT":
        return "PR"
    if node.label in ("ADJP", "WHADJP"):
        return r"S[adj]\NP"
    if node.label in ("ADVP", "WHADVP"):
        return r"(S\NP)\(S\NP)"
    if node.label == "QP":
        return "N"
    if node.label not in (*_CLAUSE, "VP"):
        return "S[frg]"
    clause = f"S[{_FEATURES.get(tag, 'dcl') if (tag := _first_verb(node).label) in _VERBS else 'adj'}]"
    bare = node.label == "VP" or (
        node.label in ("S", "RRC") and node.children[node.head].label in ("VP", "S", "ADJP") and not _subjects(node)
    )
    if bare and node.children[node.head].label == "S":
        return _category(node.children[node.head])
    return clause + "\\NP" * bare


def _subjects(node: _Node) -> list[int]:
    """Return the indices of the noun phrases before the head of a clause that may be its subject."""
    return [
        index
        for index, child in enumerate(node.children[: node.head])
        if child.label in (*_NOUN_PHRASE, "SBAR", "WHNP") and not child.functions & _ADJUNCT
    ]


def _of_word(node: _Node) -> str:
    tag = node.label
    if tag in _MARKS:
        return tag
    if tag in _FIXED:
        return _FIXED[tag]
    if tag in _PRONOUNS:
        return "NP"
    if tag.startswith("JJ") or tag == "CD":
        return "N/N"
    return "S/S" if tag in ("RB", "RBR", "RBS", "IN", "RP", "WRB") else "N"


def _divided(node: _Node, category: str) -> list[tuple[_Node, str]]:
    """Return the children of a node with their categories."""
    if node.label not in HEADS:
        return [(child, _category(child)) for child in node.children]
    head = node.children[node.head]
    if node.label in (*_NOUN_PHRASE, *_CLAUSE, "VP"):
        # As an adjunct, it keeps its own category inside.
        category = _category(node)
    conjuncts = _conjuncts(node)
    complements = [
        index for index in range(len(node.children)) if index not in conjuncts and _is_complement(node, index)
    ]
    of_head = _of_nominal_head(head) if node.label in _NOUN_PHRASE else _of_clause_head(node, category)
    for index in [*(i for i in complements if i < node.head), *(i for i in reversed(complements) if i > node.head)]:
        child = node.children[index]
        argument = "N" if child.label in _NOUNS else _category(child)
        of_head = _wrapped(of_head) + ("/" if index > node.head else "\\") + _wrapped(argument)
    found = []
    for index, child in enumerate(node.children):
        if index == node.head or index in conjuncts:
            given = of_head
        elif index in complements:
            given = "N" if child.label in _NOUNS else _category(child)
        else:
            given = _of_adjunct(node, index, category)
        found.append((child, given))
    return found


def _of_nominal_head(head: _Node) -> str:
    if not head.word:
        return _category(head)
    return "NP" if head.label in _PRONOUNS else "N"


def _of_clause_head(node: _Node, category: str) -> str:
    """Return the category of the head before its arguments are added."""
    head = node.children[node.head]
    if node.label in _CLAUSE and not head.word and head.label != "VP":
        # A clause without a verb phrase: its head is what it would be elsewhere.
        return _category(head)
    return category


def _conjuncts(node: _Node) -> set[int]:
    labels = [child.label for child in node.children]
    if not any(label in ("CC", "CONJP") for label in labels[1:]):
        return set()
    beside = {"CC", "CONJP", ",", ":"}
    return {
        index
        for index, label in enumerate(labels)
        if index != node.head
        and label[:2] == labels[node.head][:2]
        and bool(node.children[index].word) == bool(node.children[node.head].word)
        and beside & {*labels[max(0, index - 1) : index], *labels[index + 1 : index + 2]}
    }


def _is_complement(node: _Node, index: int) -> bool:
    child = node.children[index]
    if index == node.head or child.functions & _ADJUNCT:
        return False
    if index < node.head:
        return node.label in _CLAUSE and index in _subjects(node)[-1:] and node.children[node.head].label == "VP"
    following = _FOLLOWING.get(node.label, ())
    if child.word and child.label not in following:
        return False
    if node.label == "SINV" and node.children[node.head].label == "VP":
        return child.label in _NOUN_PHRASE
    if child.label == "SBAR" and node.label == "VP":
        # Other conjunctions begin adverbial clauses.
        first = child.children[0]
        return not (first.word and first.label == "IN" and first.word.lower() not in ("that", "whether", "if", "for"))
    return child.label in following or bool(child.functions & _COMPLEMENT)


def _of_adjunct(node: _Node, index: int, category: str) -> str:
    """Return the category of a child that is neither the head nor a complement nor a conjunct."""
    child = node.children[index]
    if child.word and (child.label in _MARKS or child.label in _FIXED):
        return _of_word(child)
    before = index < node.head
    if node.label in _NOUN_PHRASE:
        modified = "N" if before and node.children[node.head].word else "NP"
    else:
        modified = re.sub(r"\[\w+\]", "", category)
    return _wrapped(modified) + ("/" if before else "\\") + _wrapped(modified)


def _wrapped(category: str) -> str:
    return f"({category})" if "/" in category or "\\" in category else category
