"""A small grammar: whole sentences are matched with patterns of phrases that agree.

A pattern is a row of words and phrases, as in "DEF:n VG:n NP .". Words in small letters stand for themselves (`and/but`:
either). The letter after the colon names what agrees: the first phrase with it binds it, a further one must share a
number and gender, and one with `!n` must share none. `AUX:n>a` remembers which verb form the auxiliary takes, and `REST<a`
is the rest of that verb group. `=v` keeps the head of a phrase under the name v.

    N ADJ ADV      a noun, an adjective, an adverb
    DET DEM WEAK   a determiner: any, a demonstrative, an indefinite one, a strong one (STRONG), a number (NUM)
    NP             a name, pronoun, or determiner and noun
    DEF            the same without indefinite determiners
    SOME           an indefinite determiner and a noun
    THE            "the" and a noun
    OBJ            NP, or a plural without a determiner
    POSS           a definite noun phrase with 's
    TAIL           an object or none, and up to two adjuncts ("in the garden", "too fast"); ADJUNCTS: the same without object
    VG PASS BE     a finite verb group: active, passive, or of "be"
    AUX AUXQ       an auxiliary that agrees; AUXQ may be "do"
    BASE ING EN PAST  one verb form; ONLYEN is a participle that is no other form, ONLYPAST a past that is nothing else
    REFL NOM ACC   himself, he, him
    WHO WHICH      who or what; which, what or whose; REL: that, who, whom or which
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from . import english
from .english import ALL, AUXILIARIES, DETERMINERS

Features = frozenset[tuple[str, str]]
TOKEN = re.compile(r"([A-Z]+)(?::([\w!,]+))?(?:>(\w+))?(?:<(\w+))?(?:=(\w+))?")


@dataclass(frozen=True)
class Match:
    """What the phrases of a sentence agree with, which forms auxiliaries take, and the words kept by name."""

    features: Mapping[str, Features] = field(default_factory=dict)
    kinds: Mapping[str, str] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Phrase:
    end: int
    features: Features = ALL
    kind: str = ""
    head: str = ""


def tokens(sentence: str) -> list[str]:
    """Return the words and the final mark; the first word begins with a small letter unless it's a name."""
    words = [*sentence[:-1].split(" "), sentence[-1:]]
    if not english.name(words[0].removesuffix("'s")):
        words[0] = words[0][:1].lower() + words[0][1:]
    return words


def match(patterns: Sequence[str], sentence: str) -> Match | None:
    """Return how a sentence fits one of the patterns, or None."""
    words = tokens(sentence)
    return next((found for pattern in patterns for found in _match(pattern.split(), words, 0, Match())), None)


def _match(pattern: list[str], words: list[str], start: int, state: Match) -> Iterator[Match]:
    if not pattern:
        if start == len(words):
            yield state
        return
    if start >= len(words):
        return
    first, rest = pattern[0], pattern[1:]
    parsed = TOKEN.fullmatch(first)
    if not parsed:
        if words[start] in first.split("/"):
            yield from _match(rest, words, start + 1, state)
        return
    kind, references, binds, takes, keeps = parsed.groups()
    for phrase in (
        PHRASES[kind](words, start) if kind != "REST" else _complete(state.kinds[takes], words, start, "active")
    ):
        after = _agree(state, references, phrase.features)
        if after is not None:
            kinds = {**after.kinds, binds: phrase.kind} if binds else after.kinds
            kept = {**after.words, keeps: phrase.head} if keeps else after.words
            yield from _match(rest, words, phrase.end, Match(after.features, kinds, kept))


def _agree(state: Match, references: str | None, features: Features) -> Match | None:
    bound = dict(state.features)
    for reference in (references or "").split(",") if references else ():
        name = reference.lstrip("!")
        shared = bound.get(name, ALL) & features
        if reference.startswith("!"):
            if shared:
                return None
        elif not shared:
            return None
        else:
            bound[name] = shared
    return Match(bound, state.kinds, state.words)


def _complete(kind: str, words: list[str], start: int, goal: str) -> Iterator[Phrase]:
    """Yield the ends of a verb group after an auxiliary that takes a base form, a participle or an -ing form."""
    word = words[start] if start < len(words) else ""
    if word in english.MIDDLE:
        yield from _complete(kind, words, start + 1, goal)
    tags = english.tags(word)
    if kind == "be":
        if goal == "copula":
            yield Phrase(start, head="be")
        elif (goal == "passive" and "VBN" in tags) or (goal == "active" and "VBG" in tags):
            yield Phrase(start + 1, head=word)
        if word == "being" and goal == "passive":
            yield from _complete("be", words, start + 1, goal)
    elif kind == "have":
        if word == "been":
            yield from _complete("be", words, start + 1, goal)
        if goal == "active" and "VBN" in tags:
            yield Phrase(start + 1, head=word)
    else:
        if word in ("have", "be"):
            yield from _complete(word, words, start + 1, goal)
        if goal == "active" and "VB" in tags and word not in AUXILIARIES:
            yield Phrase(start + 1, head=word)


def _group(goal: str, words: list[str], start: int) -> Iterator[Phrase]:
    word = words[start]
    if word in AUXILIARIES:
        kind, features = AUXILIARIES[word]
        # "The clerk does sing" is emphatic: not a group of its own; "does not sing" is.
        if kind != "do" or word in english.CONTRACTED or words[start + 1] == "not":
            for phrase in _complete(kind, words, start + 1, goal):
                yield Phrase(phrase.end, frozenset(features), head=phrase.head)
    elif goal == "active" and english.finite(word):
        yield Phrase(start + 1, english.finite(word), head=word)
    if goal == "active" and word in english.FREQUENCY and words[start + 1] not in AUXILIARIES:
        yield from _group(goal, words, start + 1)


def _determined(allowed: frozenset[str], words: list[str], start: int) -> Iterator[Phrase]:
    if words[start] in allowed and start + 1 < len(words):
        numbers = DETERMINERS[words[start]].replace("mass", "sg").split()
        features = frozenset(pair for pair in english.noun(words[start + 1]) if pair[0] in numbers)
        if features:
            yield Phrase(start + 2, features, head=words[start + 1])


def _noun_phrase(allowed: frozenset[str], words: list[str], start: int) -> Iterator[Phrase]:
    word = words[start]
    if english.name(word):
        yield Phrase(start + 1, english.name(word), head=word)
    elif word in english.PRONOUNS:
        yield Phrase(start + 1, frozenset(english.PRONOUNS[word]), head=word)
    else:
        yield from _determined(allowed, words, start)


def _object(words: list[str], start: int) -> Iterator[Phrase]:
    yield from _noun_phrase(ANY, words, start)
    plural = frozenset(pair for pair in english.noun(words[start]) if pair[0] == english.PL)
    if plural:
        yield Phrase(start + 1, plural, head=words[start])


def _adjunct(words: list[str], start: int) -> Iterator[Phrase]:
    word = words[start]
    if "RB" in english.tags(word) or word in english.PARTICLES:
        yield Phrase(start + 1)
    if words[start : start + 2] == ["next", "door"] or (word in ("every", "all") and words[start + 1] in english.TIMES):
        yield Phrase(start + 2)
    if words[start : start + 3] == ["all", "the", "time"]:
        yield Phrase(start + 3)
    if word in english.PREPOSITIONS:
        for end in range(start + 2, min(start + 5, len(words))):
            inner = words[start + 1 : end]
            first = inner[0] in DETERMINERS or inner[0][:1].isupper() or len(inner) == 1
            if first and (english.noun(inner[-1]) or inner[-1][:1].isupper()):
                yield Phrase(end)


def _adjuncts(words: list[str], start: int, most: int = 2) -> Iterator[Phrase]:
    yield Phrase(start)
    if most and start < len(words) - 1:
        for phrase in _adjunct(words, start):
            yield from _adjuncts(words, phrase.end, most - 1)


def _tail(words: list[str], start: int) -> Iterator[Phrase]:
    yield from _adjuncts(words, start)
    for phrase in _object(words, start):
        yield from _adjuncts(words, phrase.end)
    # "Money", "raw fish", "a football game".
    noun = start + (words[start] in DETERMINERS)
    for end in (noun, noun + 1):
        if end < len(words) - 1 and (noun > start or words[end] in english.STUFF):
            before = words[noun:end]
            named = english.noun(words[end]) or words[end] in english.STUFF
            if named and all(english.tags(word) & {"JJ", "NN"} for word in before):
                yield from _adjuncts(words, end + 1)


def _possessor(words: list[str], start: int) -> Iterator[Phrase]:
    for end in (start + 1, start + 2):
        if words[end - 1].endswith("'s"):
            part = [*words[start : end - 1], words[end - 1].removesuffix("'s"), "."]
            yield from (
                Phrase(end, phrase.features, head=phrase.head)
                for phrase in _noun_phrase(DEFINITE, part, 0)
                if phrase.end == end - start
            )


def _one_of(choices: frozenset[str] | Mapping[str, object], words: list[str], start: int) -> Iterator[Phrase]:
    word = words[start]
    if word in choices:
        features = choices[word] if isinstance(choices, Mapping) else ALL
        yield Phrase(start + 1, frozenset(features), head=word)


def _determiner(allowed: frozenset[str], words: list[str], start: int) -> Iterator[Phrase]:
    if words[start] in allowed:
        numbers = DETERMINERS[words[start]].replace("mass", "sg").split()
        yield Phrase(start + 1, frozenset(pair for pair in ALL if pair[0] in numbers), head=words[start])


def _form(wanted: frozenset[str], words: list[str], start: int) -> Iterator[Phrase]:
    if words[start] not in AUXILIARIES and english.tags(words[start]) & wanted:
        yield Phrase(start + 1, head=words[start])


def _only(wanted: str, words: list[str], start: int) -> Iterator[Phrase]:
    tags = english.tags(words[start])
    if wanted in tags and not tags & UNLESS[wanted]:
        yield Phrase(start + 1, head=words[start])


def _auxiliary(do: bool, words: list[str], start: int) -> Iterator[Phrase]:
    kind, features = AUXILIARIES.get(words[start], ("", ALL))
    if kind and (do or kind != "do"):
        yield Phrase(start + 1, frozenset(features), kind=kind, head=words[start])


def _noun(words: list[str], start: int) -> Iterator[Phrase]:
    if english.noun(words[start]):
        yield Phrase(start + 1, english.noun(words[start]), head=words[start])


UNLESS = {
    "VBN": frozenset(("VBD", "VB", "VBP", "VBZ")),
    "VBD": frozenset(("VBN", "NN", "NNS")),
}
ANY = frozenset(DETERMINERS)
DEFINITE = ANY - english.INDEFINITE
DEMONSTRATIVE = frozenset(("this", "that", "these", "those"))


PHRASES: Mapping[str, Callable[[list[str], int], Iterator[Phrase]]] = {
    "N": _noun,
    "ADJ": partial(_form, frozenset(("JJ", "JJR", "JJS", "VBN", "VBG"))),
    "ADV": partial(_form, frozenset(("RB",))),
    "DET": partial(_determiner, ANY),
    "DEM": partial(_determiner, DEMONSTRATIVE),
    "WEAK": partial(_determiner, english.INDEFINITE),
    "STRONG": partial(_determiner, english.STRONG),
    "NUM": partial(_determiner, english.NUMERALS),
    "NP": partial(_noun_phrase, ANY),
    "DEF": partial(_noun_phrase, DEFINITE),
    "SOME": partial(_determined, english.INDEFINITE),
    "THE": partial(_determined, frozenset(("the",))),
    "OBJ": _object,
    "POSS": _possessor,
    "TAIL": _tail,
    "ADJUNCTS": _adjuncts,
    "VG": partial(_group, "active"),
    "PASS": partial(_group, "passive"),
    "BE": partial(_group, "copula"),
    "AUX": partial(_auxiliary, False),
    "AUXQ": partial(_auxiliary, True),
    "BASE": partial(_form, frozenset(("VB",))),
    "ING": partial(_form, frozenset(("VBG",))),
    "EN": partial(_form, frozenset(("VBN",))),
    "ONLYEN": partial(_only, "VBN"),
    "ONLYPAST": partial(_only, "VBD"),
    "PAST": partial(_form, frozenset(("VBD",))),
    "REFL": partial(_one_of, english.REFLEXIVES),
    "NOM": partial(_one_of, english.PRONOUNS),
    "ACC": partial(_one_of, english.ACCUSATIVES),
    "WHO": partial(_one_of, frozenset(("who", "what"))),
    "WHICH": partial(_one_of, frozenset(("which", "what", "whose"))),
    "REL": partial(_one_of, frozenset(("that", "who", "whom", "which"))),
}
