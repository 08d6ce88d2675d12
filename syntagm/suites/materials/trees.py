"""Constructions over trees: a word of a treebank, and dependents that it has.

    VERB >nsubj NOUN[Number=Plur] >obj *

counts the verbs that have a plural noun as subject, and an object. A word is described by its part of speech (or `*`) and,
in brackets, by its features in Universal Dependencies, `lemma` or `form`: `NOUN[Number=Plur, lemma=dog]`. `>RELATION`
names a dependent; a relation stands for its subtypes, too (`nsubj` for `nsubj:pass`). Each named dependent must be a
different word. A word that has them in several ways counts once.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from syntagm.core import InputError
from syntagm.suites.materials.treebank import Parsed, Word

ENDINGS = (".conllu", ".conllu.gz")
_MAX_PARTS = 8
_WORD = r"(\*|[A-Z]+)(?:\[([^\[\]]*)\])?"
_PART = re.compile(rf"\s*>\s*([a-z]+(?::[a-z]+)?)\s+{_WORD}")
_HEAD = re.compile(rf"\s*{_WORD}")
_EXPECTED = "a word and its dependents, as in VERB >nsubj NOUN[Number=Plur]"


@dataclass(frozen=True, slots=True)
class Described:
    """What a word must be: its part of speech ("" for any), its features, lemma and form."""

    upos: str
    values: Mapping[str, str]

    def fits(self, word: Word) -> bool:
        """Return whether a word is so."""
        return self.upos in ("", word.upos) and all(
            value == {"lemma": word.lemma.lower(), "form": word.form.lower()}.get(name, word.features.get(name))
            for name, value in self.values.items()
        )


@dataclass(frozen=True, slots=True)
class Tree:
    """A construction over trees."""

    text: str  # the construction as the author wrote it
    head: Described  # the word that counts
    dependents: tuple[tuple[str, Described], ...]

    @classmethod
    def read(cls, text: str, place: str) -> "Tree":
        """Read a construction.

        Raises:
            InputError: it has another form, or more than eight dependents.

        >>> Tree.read("VERB[lemma=give] >iobj *", "here").dependents[0][0]
        'iobj'
        """
        match = _HEAD.match(text)
        head, end = (_described(match[1], match[2], text, place), match.end()) if match else (None, 0)
        dependents: list[tuple[str, Described]] = []
        while head and (part := _PART.match(text, end)):
            dependents.append((part[1], _described(part[2], part[3], text, place)))
            end = part.end()
        if not head or not dependents or text[end:].strip():
            raise InputError(place, f"the construction {text!r:.200}", _EXPECTED)
        if len(dependents) > _MAX_PARTS:
            raise InputError(place, f"a construction with {len(dependents)} dependents", f"at most {_MAX_PARTS}")
        return cls(text, head, tuple(dependents))

    def occurrences(self, sentence: Parsed) -> int:
        """Return how many words of a sentence have such dependents."""
        by_head: dict[int, list[Word]] = {}
        for word in sentence.words:
            by_head.setdefault(word.head, []).append(word)
        return sum(
            self.head.fits(word) and _assigned(self.dependents, by_head.get(word.id, [])) for word in sentence.words
        )


def _assigned(wanted: Sequence[tuple[str, Described]], words: Sequence[Word]) -> bool:
    """Return whether each wanted dependent can be a word of its own."""
    # This is a matching in a bipartite graph by augmenting paths (Kuhn 1955): to try all assignments takes hours for
    # one long list of conjuncts.
    fitting = [
        [
            place
            for place, word in enumerate(words)
            if (word.relation == relation or word.relation.partition(":")[0] == relation) and described.fits(word)
        ]
        for relation, described in wanted
    ]
    taken: dict[int, int] = {}

    def assign(dependent: int, tried: set[int]) -> bool:
        for place in fitting[dependent]:
            if place not in tried:
                tried.add(place)
                if place not in taken or assign(taken[place], tried):
                    taken[place] = dependent
                    return True
        return False

    return all(assign(dependent, set()) for dependent in range(len(wanted)))


def _described(upos: str, features: str | None, text: str, place: str) -> Described:
    values: dict[str, str] = {}
    for part in (features or "").split(",") if features is not None else ():
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not (name and equals and value) or name in values:
            expected = "features with one value each, as in [Number=Plur, lemma=dog]"
            raise InputError(place, f"{part.strip()!r:.100} in the construction {text!r:.200}", expected)
        values[name] = value.lower() if name in ("lemma", "form") else value
    return Described("" if upos == "*" else upos, values)
