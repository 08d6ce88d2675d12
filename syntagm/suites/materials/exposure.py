"""Exposure: how often a training text contains the words, the bigrams and the constructions of the items of suites.

    word           a word of a sentence of the item
    bigram         two words with nothing but white space between them (or nothing, as before a possessive 's)
    construction   a pattern of words, as "both * and *"

Words are found by the rules of the suites' language, in lower case; without a tag `language`, by those of English. A line
of a text is divided at punctuation, and nothing is counted across a division or a line end. All occurrences count, also
overlapping ones. Counts are exact.

A construction is a sequence of words. `*` stands for one word, `a/b` for one of two, `...` for none to five words. An
occurrence is a place where the pattern begins. A suite names its construction in the tag `construction`, an item may
name its own; others are given to `Wanted`.

A construction with `>` is one over trees (`Tree`), which a treebank in CoNLL-U has. The words of a treebank are those
of the texts of its sentences.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from syntagm.core import InputError, lines
from syntagm.suites.languages import tags, words as words_of
from syntagm.suites.languages.tags import Language
from syntagm.suites.materials import treebank
from syntagm.suites.materials.treebank import Parsed, Word
from syntagm.suites.suite import Item, Suite

# A construction over trees:
#
#     VERB >nsubj NOUN[Number=Plur] >obj *
#
# It counts the verbs that have a plural noun as subject, and an object. A word is described by its part of speech (or `*`)
# and, in brackets, by its features in Universal Dependencies, `lemma` or `form`: `NOUN[Number=Plur, lemma=dog]`.
# `>RELATION` names a dependent; a relation stands for its subtypes, too (`nsubj` for `nsubj:pass`). Each named
# dependent must be a different word. A word that has them in several ways counts once.

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


UNITS = ("word", "bigram", "construction")
COLUMNS = ("suite", "item", "unit", "text", "count")
TAG = "construction"
# The largest number of words that `...` stands for: what is farther apart is rarely one construction.
MOST = 5
_ANY, _SOME = "*", "..."
_BETWEEN = re.compile(r"[^\w\s'’-]+|(?<!\w)['’-]+|['’-]+(?!\w)")
_MAX_PATTERN = 20

Row = tuple[str, str, str, str, int]


def segments(text: str, language: Language = tags.UNKNOWN) -> Iterator[list[str]]:
    """Yield the words between punctuation, in lower case.

    >>> list(segments("The cook's dog, a poodle, wasn't well-fed."))
    [['the', 'cook', "'s", 'dog'], ['a', 'poodle'], ["wasn't", 'well-fed']]
    """
    words = words_of.english if language is tags.UNKNOWN else words_of.segmenter(language).words
    for part in _BETWEEN.split(text):
        if found := words(tags.lower(part, language)):
            yield list(found)


@dataclass(frozen=True, slots=True)
class Construction:
    """A pattern of words."""

    text: str  # the pattern as the author wrote it
    parts: tuple[frozenset[str] | None, ...]  # for each part the words that fit; empty for any word, None for `...`

    @classmethod
    def read(cls, text: str, place: str) -> "Construction":
        parts: list[frozenset[str] | None] = []
        for part in text.lower().split():
            if part == _SOME:
                parts.append(None)
            elif part == _ANY:
                parts.append(frozenset())
            else:
                choices = part.split("/")
                if any([*segments(choice)] != [[choice]] for choice in choices):
                    expected = "words, `*` for one word, `...` for up to five, and a/b for one of two"
                    raise InputError(place, f"{part!r} in the construction {text!r}", expected)
                parts.append(frozenset(choices))
        if not any(parts):
            raise InputError(place, f"the construction {text!r}", "at least one word")
        if parts[0] is None or parts[-1] is None:
            raise InputError(place, f"the construction {text!r}", "a word or * at both ends")
        if len(parts) > _MAX_PATTERN:
            raise InputError(place, f"a construction of {len(parts)} parts", f"at most {_MAX_PATTERN}")
        return cls(text, tuple(parts))

    def occurrences(self, segment: Sequence[str]) -> int:
        """Return at how many places of a segment the pattern begins."""
        # The places that the parts read so far can lead to, for each beginning: few, as a segment is short.
        found = 0
        for start in range(len(segment)):
            ends = {start}
            for part in self.parts:
                if part is None:
                    ends = {end + more for end in ends for more in range(MOST + 1)}
                else:
                    ends = {end + 1 for end in ends if end < len(segment) and (not part or segment[end] in part)}
                if not ends:
                    break
            found += bool(ends)
        return found

    @property
    def key(self) -> frozenset[str]:
        """The words of the part with the fewest alternatives: a segment without any of them has no occurrence."""
        return min((part for part in self.parts if part), key=len)


def read_construction(text: str, place: str) -> "Construction | Tree":
    return Tree.read(text, place) if ">" in text else Construction.read(text, place)


@dataclass(slots=True)
class Wanted:
    """What is to be counted, and the counts."""

    constructions: "Sequence[Construction | Tree]" = ()
    units: dict[str, set[str]] = field(default_factory=lambda: {"word": set(), "bigram": set()})
    patterns: "dict[str, Construction | Tree]" = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    total: int = 0
    language: Language | None = None

    def add(self, suite: Suite) -> None:
        """Note the words, bigrams and constructions of a suite."""
        if self.language not in (None, suite.language):
            found = f"the language {suite.language.name}, after suites in {self.language.name if self.language else ''}"
            raise InputError(
                f"suite {suite.name}", found, "one language", "Count the suites of each language by themselves."
            )
        self.language = suite.language
        for item in suite.items:
            for unit, text in self.of_item(suite, item):
                if unit in self.units:
                    self.units[unit].add(text)

    def of_item(self, suite: Suite, item: Item) -> list[tuple[str, str]]:
        """Return the units of an item and their texts, each once, in the order in which they occur."""
        found: dict[str, dict[str, None]] = {unit: {} for unit in UNITS}
        for sentence in item.sentences.values():
            for segment in segments(sentence.text, suite.language):
                found["word"] |= dict.fromkeys(segment)
                found["bigram"] |= dict.fromkeys(map(" ".join, pairwise(segment)))
        named = item.tags.get(TAG) or suite.tags.get(TAG)
        if named and named not in self.patterns:
            self.patterns[named] = read_construction(named, f"suite {suite.name}, item {item.id}")
        for construction in self.constructions:
            self.patterns.setdefault(construction.text, construction)
        found["construction"] = dict.fromkeys([
            *([named] if named else []), *(construction.text for construction in self.constructions)
        ])  # fmt: skip
        return [(unit, text) for unit, texts in found.items() for text in texts]

    def count(self, paths: Iterable[Path]) -> None:
        """Count in texts and treebanks (.conllu), gzipped or not, line by line."""
        trees = [pattern for pattern in self.patterns.values() if isinstance(pattern, Tree)]
        by_word: dict[str, list[Construction]] = defaultdict(list)
        for pattern in self.patterns.values():
            if isinstance(pattern, Construction):
                for word in pattern.key:
                    by_word[word].append(pattern)
        for path in paths:
            if path.name.endswith(ENDINGS):
                for sentence in treebank.sentences(path):
                    self._count(sentence.text, by_word)
                    for tree in trees:
                        self.counts["construction"][tree.text] += tree.occurrences(sentence)
            elif trees:
                cure = "Parse the text, or leave this construction out."
                raise InputError(
                    str(path), f"no trees, for the construction {trees[0].text!r}", "a treebank (.conllu)", cure
                )
            else:
                for _, line in lines.prose(path):
                    self._count(line, by_word)

    def _count(self, line: str, by_word: "dict[str, list[Construction]]") -> None:
        single, double = self.units["word"], self.units["bigram"]
        one, two, constructions = self.counts["word"], self.counts["bigram"], self.counts["construction"]
        for segment in segments(line, self.language or tags.UNKNOWN):
            self.total += len(segment)
            one.update(word for word in segment if word in single)
            two.update(pair for pair in map(" ".join, pairwise(segment)) if pair in double)
            if by_word:
                here = {pattern.text: pattern for word in segment if word in by_word for pattern in by_word[word]}
                for text, construction in here.items():
                    constructions[text] += construction.occurrences(segment)

    def rows(self, suite: Suite) -> Iterator[Row]:
        for item in suite.items:
            for unit, text in self.of_item(suite, item):
                yield suite.name, item.id, unit, text, self.counts[unit][text]
