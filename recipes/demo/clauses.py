"""Cloze lines for the second training of the bundled model: clauses up to their verb, which shows the number of its subject.

    python -m recipes.demo.clauses CORPUS... > clauses.txt

The text is searched for clauses that begin with their subject, at the beginning of a sentence or after a comma or conjunction:
`The walls of the castle were very thick`. Nouns, verbs and their number are recognized by spelling, a word list and
neighbouring words. A clause whose subject and verb seem not to agree is dropped, because it was probably misread. Each clause
is cut off after the verb, and only the verb is a training target (`syntagm train gpt2 --cloze`).

In most clauses of a text, the noun nearest to the verb is the subject or is singular, so a small model learns to look at the
nearest noun. Therefore each clause is used in up to four forms, with head and nearest noun in either number, if the text has
such a form (`The wall of the castles was very thick`); Zmigrod et al. 2019 do the same for gender. Then rare kinds of clauses
are oversampled: each kind is drawn in proportion to the fourth root of its frequency.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from recipes.demo.clause_words import (
    ADVERBS,
    ALONE,
    BEFORE_INFINITIVES,
    BEHIND_VERBS,
    CONJUNCTIONS,
    COORDINATORS,
    DEFINITE,
    DETERMINERS,
    FORMS_OF_AUXILIARIES,
    OTHERS,
    PLURAL,
    PREPOSITIONS,
    PRONOUNS,
    RELATIVES,
    SINGULAR,
    Lexicon,
    is_plural,
)
from syntagm.training.corpora import corpus

LONGEST = 20
SEED, NUMBER, REPEATS = 1, 150_000, 20

_TOKEN = re.compile(r"[A-Za-z]+(?:['’-][A-Za-z]+)*|[^\sA-Za-z]+")


@dataclass(frozen=True, slots=True)
class Clause:
    """A clause up to its verb.

    Arguments:
        words: its words, in lower case.
        head, verb: the indices of the subject's head and of the verb.
        nouns: the indices of nouns between them that can take the other number.
        kind: the material between head and verb: `nothing`, `phrase`, `clause` (a relative clause), or `its own` (only the
            relative pronoun, if the verb is that of the relative clause).
        plural: True if the head is plural.
        near: the index of the last noun between head and verb, if there is one.
    """

    words: tuple[str, ...]
    head: int
    verb: int
    nouns: tuple[int, ...]
    kind: str
    plural: bool
    near: int | None

    @property
    def cell(self) -> tuple[str, bool, bool, bool]:
        """The properties by which clauses are grouped for sampling: kind, number, attraction, auxiliary."""
        verb = self.words[self.verb]
        attracted = self.near is not None and is_plural(self.words[self.near]) != self.plural
        return self.kind, self.plural, attracted, verb in FORMS_OF_AUXILIARIES

    def __str__(self) -> str:
        text = " ".join(self.words)
        return text[:1].upper() + text[1:]


def clauses(text: str, lexicon: Lexicon) -> Iterator[Clause]:
    """Yield the clauses of a sentence that begin with a determiner and show the number of their subject."""
    tokens = [token.replace("’", "'") for token in _TOKEN.findall(text)]
    read = 0
    for first, token in enumerate(tokens):
        if first >= read and token.lower() in DETERMINERS and _begins(tokens, first):
            words: list[str] = []
            for word in tokens[first : first + LONGEST + 1]:
                if not word[0].isalpha():
                    break
                words.append(word if word[0].isupper() and words else word.lower())
            if clause := _read(words, lexicon):
                read = first + clause.verb
                yield clause


def _begins(tokens: Sequence[str], first: int) -> bool:
    """Check by the preceding words whether a clause begins at a token."""
    before = [token.lower() for token in tokens[max(0, first - 2) : first]]
    if not before or not before[-1][0].isalpha() or before[-1] in CONJUNCTIONS:
        return True
    return before[-1] in ("and", "but", "for") and len(before) == 2 and not before[0][0].isalpha()


def _read(words: Sequence[str], lexicon: Lexicon) -> Clause | None:
    head = _head(words, lexicon)
    if head is None:
        return None
    noun = words[head]
    plural = noun in PLURAL if noun in ALONE else is_plural(noun)
    if head and ((words[0] in SINGULAR and plural) or (words[0] in PLURAL and not plural)):
        return None
    relative = False
    for place in range(head + 1, len(words)):
        word = words[place]
        if word in COORDINATORS:
            return None
        relative = relative or word in RELATIVES or word in PRONOUNS
        if word in lexicon.verbs and lexicon.verbs[word] == plural and _finite(words, head, place, lexicon):
            return _clause(words, head, place, plural, lexicon)
        # An auxiliary that does not agree is the verb of a relative clause, or else the clause was misread.
        if word in lexicon.verbs and word in FORMS_OF_AUXILIARIES and not relative:
            return None
    return None


def _head(words: Sequence[str], lexicon: Lexicon) -> int | None:
    """Return the index of the subject's head, which precedes the first word that can't belong to the noun phrase."""
    if words[0] in ALONE and len(words) > 1 and words[1] in PREPOSITIONS | RELATIVES:
        return 0
    for place in range(1, len(words)):
        word, before = words[place], words[place - 1]
        if word in COORDINATORS:
            return None
        agrees = word in lexicon.verbs and lexicon.verbs[word] == is_plural(before) and place > 1
        if word in PREPOSITIONS | RELATIVES | PRONOUNS | FORMS_OF_AUXILIARIES or (
            agrees and _finite(words, place - 1, place, lexicon)
        ):
            head = place - 1
            while head > 0 and (words[head] in ADVERBS or words[head].endswith("ly")):
                head -= 1
            return head if head and words[head] not in DETERMINERS and len(words[head]) > 2 else None
    return None


def _finite(words: Sequence[str], head: int, place: int, lexicon: Lexicon) -> bool:
    """Check whether a form that agrees is a finite verb here, and no noun, infinitive or participle."""
    word, before = words[place], words[place - 1]
    if word in FORMS_OF_AUXILIARIES:
        return True
    if before in DETERMINERS | PREPOSITIONS | BEFORE_INFINITIVES or word in lexicon.past:
        return False
    if lexicon.verbs[word]:
        return word not in lexicon.nominal or place == head + 1
    return word not in lexicon.nominal or (
        not is_plural(before) and frozenset(words[place + 1 : place + 2]) <= BEHIND_VERBS
    )


def _clause(words: Sequence[str], head: int, verb: int, plural: bool, lexicon: Lexicon) -> Clause:
    between = words[head + 1 : verb]
    relative = next((word for word in between if word in RELATIVES | PRONOUNS), None)
    kind = "nothing" if not between else "phrase" if relative is None else "clause"
    if relative is not None and between[-1] in RELATIVES:
        kind = "its own"
    nouns = [place for place in range(head + 1, verb) if _noun(words, place, lexicon)]
    changeable = tuple(place for place in nouns if place > head + 1 and _changeable(words, place, verb, lexicon))
    return Clause(tuple(words[: verb + 1]), head, verb, changeable, kind, plural, nouns[-1] if nouns else None)


def _changeable(words: Sequence[str], place: int, verb: int, lexicon: Lexicon) -> bool:
    """Check whether a noun can take the other number in its context."""
    word, before, behind = words[place], words[place - 1], words[place + 1]
    if place + 1 < verb and behind in lexicon.verbs:
        return False
    if not (before in DEFINITE or place + 1 == verb or behind in PREPOSITIONS | RELATIVES):
        return False
    near = frozenset(words[max(0, place - 3) : place])
    if is_plural(word):
        free = near & DEFINITE and not near & (PLURAL | OTHERS | {"one"})
    else:
        free = not near & (SINGULAR | OTHERS | {"that", "much"})
    return bool(free)


def _noun(words: Sequence[str], place: int, lexicon: Lexicon) -> bool:
    """Check whether a word is a noun that has a form in the other number."""
    word = words[place]
    if not word.islower() or word in DETERMINERS | PREPOSITIONS | RELATIVES | PRONOUNS:
        return False
    return (word not in lexicon.verbs or words[place - 1] in DETERMINERS) and lexicon.other_noun(word) is not None


def forms(clause: Clause, lexicon: Lexicon) -> list[Clause]:
    """Return a clause and its variants with nouns, or head and verb, or all of these in the other number, where possible."""
    variants = [clause]
    if clause.nouns:
        variants.append(_changed(clause, clause.nouns, lexicon))
    before, noun = clause.words[: clause.head], clause.words[clause.head]
    definite = before and before[0] in DEFINITE and not frozenset(before) & PLURAL
    if definite and lexicon.other_noun(noun):
        variants += [
            replace(_changed(variant, (clause.head, clause.verb), lexicon), plural=not variant.plural)
            for variant in tuple(variants)
        ]
    return variants


def _changed(clause: Clause, places: Iterable[int], lexicon: Lexicon) -> Clause:
    words = list(clause.words)
    for place in places:
        word = words[place]
        words[place] = lexicon.other_verb[word] if place == clause.verb else lexicon.other_noun(word) or word
    return replace(clause, words=tuple(words))


def draw(by_cell: Mapping[tuple[str, bool, bool, bool], Sequence[Clause]], number: int, seed: int) -> list[Clause]:
    """Sample clauses from each cell in proportion to the fourth root of its size, each clause of a cell equally often.

    Arguments:
        by_cell: clauses by cell.
        number: the largest number of clauses. No clause is drawn more than `REPEATS` times.
        seed: the seed of the sample.
    """
    generator = np.random.default_rng(seed)
    total = sum(len(members) ** 0.25 for members in by_cell.values())
    sample: list[Clause] = []
    for _, members in sorted(by_cell.items()):
        share = min(REPEATS * len(members), round(number * len(members) ** 0.25 / total))
        sample += list(members) * (share // len(members))
        sample += [members[index] for index in generator.permutation(len(members))[: share % len(members)]]
    return sample


def main(paths: Sequence[str]) -> None:
    """Print the clauses of corpora, one per line."""
    lexicon = Lexicon(corpus.texts(paths))
    by_cell: dict[tuple[str, bool, bool, bool], list[Clause]] = {}
    for text in corpus.texts(paths):
        for clause in clauses(text, lexicon):
            for form in forms(clause, lexicon):
                by_cell.setdefault(form.cell, []).append(form)
    for cell, members in sorted(by_cell.items()):
        print(f"{len(members):7,} {cell}", file=sys.stderr)
    for clause in draw(by_cell, NUMBER, SEED):
        print(clause)


if __name__ == "__main__":
    main(sys.argv[1:])
