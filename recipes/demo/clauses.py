"""What the bundled model reads in its second training: clauses as far as their verb, which shows the number of its subject.

    python -m recipes.demo.clauses CORPUS... > clauses.txt

The text is searched for clauses that begin with their subject, at the beginning of a sentence or behind a comma or conjunction:
`The walls of the castle were very thick`. What is a noun, a verb and their number is told by spelling, a word list and the
company that words keep; a clause in which subject and verb don't agree by these lights is dropped, since it was misread. Each
is cut off behind the verb, and the verb alone is learnt (`syntagm train gpt2 --cloze`).

Most subjects of a text have a singular noun or none beside the verb, so that a small model learns to look at the nearest noun.
Each clause therefore comes in up to four forms, head and nearest noun in either number, where the text has a noun of that form
(`The wall of the castles was very thick`); Zmigrod et al. 2019 do as much for gender. Then rare kinds of clauses are drawn more
often than they are found: each kind in proportion to the fourth root of how many there are.
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
    """A clause as far as its verb.

    Arguments:
        words: in lower case.
        head, verb: where they stand.
        nouns: where nouns between them stand that have a form of the other number.
        kind: what stands between: nothing, a phrase, a relative clause, or only its first word, if the verb is its own.
        plural: is the head?
        near: where the last noun between them stands, if there is one.
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
        """Clauses of one cell are drawn alike."""
        verb = self.words[self.verb]
        attracted = self.near is not None and is_plural(self.words[self.near]) != self.plural
        return self.kind, self.plural, attracted, verb in FORMS_OF_AUXILIARIES

    def __str__(self) -> str:
        text = " ".join(self.words)
        return text[:1].upper() + text[1:]


def clauses(text: str, lexicon: Lexicon) -> Iterator[Clause]:
    """The clauses of a sentence that begin with a determiner and show the number of their subject."""
    tokens = [token.replace("’", "'") for token in _TOKEN.findall(text)]
    read = 0
    for first, token in enumerate(tokens):
        if first >= read and token.lower() in DETERMINERS and _begins(tokens, first):
            words: list[str] = []
            for word in tokens[first : first + LONGEST + 1]:
                if not word[0].isalpha():
                    break
                words.append(word if word[0].isupper() and words else word.lower())
            if found := _read(words, lexicon):
                read = first + found.verb
                yield found


def _begins(tokens: Sequence[str], first: int) -> bool:
    """Does a clause begin here, by what stands before it?"""
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
        # The verb of a relative clause may agree with a subject of its own; any other has been misread.
        if word in lexicon.verbs and word in FORMS_OF_AUXILIARIES and not relative:
            return None
    return None


def _head(words: Sequence[str], lexicon: Lexicon) -> int | None:
    """Where the head of the subject stands: before the first word that can't belong to what precedes it."""
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
    """Is a form of the right number a finite verb here, rather than a noun, an infinitive or a participle?"""
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
    """Can a noun take its other number where it stands?"""
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
    """Is this a noun that has a form of the other number?"""
    word = words[place]
    if not word.islower() or word in DETERMINERS | PREPOSITIONS | RELATIVES | PRONOUNS:
        return False
    return (word not in lexicon.verbs or words[place - 1] in DETERMINERS) and lexicon.other_noun(word) is not None


def forms(clause: Clause, lexicon: Lexicon) -> list[Clause]:
    """The clause itself, and with its nouns, or its head and verb, or both in the other number, where that can be."""
    made = [clause]
    if clause.nouns:
        made.append(_changed(clause, clause.nouns, lexicon))
    before, noun = clause.words[: clause.head], clause.words[clause.head]
    definite = before and before[0] in DEFINITE and not frozenset(before) & PLURAL
    if definite and lexicon.other_noun(noun):
        made += [
            replace(_changed(one, (clause.head, clause.verb), lexicon), plural=not one.plural) for one in tuple(made)
        ]
    return made


def _changed(clause: Clause, places: Iterable[int], lexicon: Lexicon) -> Clause:
    words = list(clause.words)
    for place in places:
        word = words[place]
        words[place] = lexicon.other_verb[word] if place == clause.verb else lexicon.other_noun(word) or word
    return replace(clause, words=tuple(words))


def draw(found: Mapping[tuple[str, bool, bool, bool], Sequence[Clause]], number: int, seed: int) -> list[Clause]:
    """Some clauses, those of each cell in proportion to the fourth root of its size, each of a cell as often as the others.

    Arguments:
        found: clauses by cell.
        number: how many are drawn at most; none is drawn more than `REPEATS` times.
    """
    generator = np.random.default_rng(seed)
    total = sum(len(some) ** 0.25 for some in found.values())
    drawn: list[Clause] = []
    for _, some in sorted(found.items()):
        wanted = min(REPEATS * len(some), round(number * len(some) ** 0.25 / total))
        drawn += list(some) * (wanted // len(some))
        drawn += [some[index] for index in generator.permutation(len(some))[: wanted % len(some)]]
    return drawn


def main(paths: Sequence[str]) -> None:
    """Write the clauses of corpora, a line each."""
    lexicon = Lexicon(corpus.texts(paths))
    found: dict[tuple[str, bool, bool, bool], list[Clause]] = {}
    for text in corpus.texts(paths):
        for clause in clauses(text, lexicon):
            for form in forms(clause, lexicon):
                found.setdefault(form.cell, []).append(form)
    for cell, some in sorted(found.items()):
        print(f"{len(some):7,} {cell}", file=sys.stderr)
    for clause in draw(found, NUMBER, SEED):
        print(clause)


if __name__ == "__main__":
    main(sys.argv[1:])
