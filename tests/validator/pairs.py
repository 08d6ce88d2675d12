"""The rules for sentences, for pairs and for whole paradigms; input is a list of records of BLiMP's JSON lines."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from math import prod
from typing import Any, NamedTuple

from . import english, grammar, lexical
from .paradigms import PARADIGMS, Paradigm

Record = Mapping[str, Any]
VERB_TAGS = ("VB", "VBP", "VBZ", "VBD", "VBN", "VBG")


class Finding(NamedTuple):
    rule: str
    place: str
    text: str


def words_of(sentence: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", sentence)


# Sentences


def sentence_faults(text: str) -> Iterator[str]:
    """Yield the rules that a sentence breaks, be it meant as good or bad."""
    listed = words_of(text)
    lower = [word.casefold() for word in listed]
    if not re.fullmatch(r"[A-Z][^.?!,;:]*[^\W_][.?]", text) or "  " in text:
        yield "form"
    if any(first in ("a", "an") and not english.article_fits(first, second) for first, second in pairwise(lower)):
        yield "article"
    if any(first == second for first, second in pairwise(lower)):
        yield "doubled word"
    if lower[-1] in english.DANGLING and not (
        english.lemmas(lower[-2], *VERB_TAGS) & english.PARTICLE_VERBS.get(lower[-1], frozenset())
    ):
        yield "dangling word"
    if any(
        first == "of" and (second in english.AUXILIARIES or second in ("and", "but"))
        for first, second in pairwise(lower)
    ):
        yield "of without complement"
    if not english.question(lower) and any(
        first in ("do", "does", "did") and "VB" in english.tags(second) and second not in english.AUXILIARIES
        for first, second in pairwise(lower)
    ):
        yield "emphatic do"
    if not all(english.is_known(word) for word in listed):
        yield "unknown word"
    for before, word in pairwise(lower):
        mass = english.lemmas(word, "NN", "NNS") & english.MASS and not english.tags(word) & {"JJ", "VB", "VBZ"}
        if mass and (before in ("a", "an", "every", "each") or word not in english.MASS):
            yield "mass noun"
    for before, word, after in zip(["", *lower], lower, [*lower[1:], ""], strict=False):
        relational = english.lemmas(word, "NN", "NNS") & english.RELATIONAL and "JJ" not in english.tags(word)
        if relational and before in grammar.ANY and before not in POSSESSIVE and after != "of":
            yield "relational noun"
    for before, word, after in zip(lower, lower[1:], listed[2:], strict=False):
        if word == "which" and english.lemmas(before, "NN", "NNS") & lexical.PEOPLE:
            yield "which of people"
        if word == "whom" and (after in english.AUXILIARIES or (english.finite(after) and not english.noun(after))):
            yield "whom as a subject"


POSSESSIVE = frozenset(["my", "your", "his", "her", "its", "our", "their"])


def good_faults(text: str) -> Iterator[str]:
    """Yield what is wrong with a good sentence of any paradigm: determiner and noun, subject and verb."""
    words = grammar.tokens(text)
    for place, word in enumerate(words[:-1]):
        numbers = set(english.DETERMINERS.get(word, "sg pl").replace("mass", "sg").split())
        if len(numbers) == 1 and word != "that":
            nouns = [english.noun(after) for after in takewhile(_may_be_nominal, words[place + 1 :])]
            if any(nouns) and not {number for noun in nouns for number, _ in noun} & numbers:
                yield "determiner and noun"
    # A bare plural may begin a sentence; an unknown word ("Curtis") is rather a name.
    bare = english.is_known(words[0]) and not english.name(words[0])
    for phrase in grammar.PHRASES["OBJ" if bare else "NP"](words, 0):
        after = words[phrase.end]
        agreed = english.AUXILIARIES[after][1] if after in english.AUXILIARIES else english.finite(after)
        if agreed and not agreed & phrase.features and not english.noun(after):
            yield "subject and verb"


def _may_be_nominal(word: str) -> bool:
    return bool(english.tags(word) & {"JJ", "NN", "NNS", "VBG", "VBN"})


# Pairs


def pair_faults(record: Record, paradigm: Paradigm) -> Iterator[str]:
    good, bad = record["sentence_good"], record["sentence_bad"]
    if words_of(good) == words_of(bad) and good[-1:] == bad[-1:]:
        yield "same sentence"
    yield from prefix_faults(record)
    yield from field_faults(record, paradigm)
    shapes = {}
    for side, text, patterns in (("good", good, paradigm.good), ("bad", bad, paradigm.bad)):
        shapes[side] = grammar.match(patterns, text)
        if shapes[side] is None:
            yield f"shape of the {side} sentence"
    yield from edit_faults(good, bad, paradigm)
    for rule in paradigm.never:
        side, slot, wanted = rule.split()
        found = shapes[side]
        if found is not None and found.words.get(slot):
            yield from word_faults(side, found.words[slot], wanted)


def field_faults(record: Record, paradigm: Paradigm) -> Iterator[str]:
    """Yield what is wrong with the fields of a record."""
    expected = {"linguistics_term": paradigm.term, "field": paradigm.field, "simple_LM_method": True}
    expected |= {f"{method}_method": paradigm.prefix == method for method in ("one_prefix", "two_prefix")}
    yield from (f"field {key}: {record.get(key)}" for key, value in expected.items() if record.get(key) != value)
    if any(isinstance(value, str) and re.search(r"[{}\[\]$]", value) for value in record.values()):
        yield "field with the text of a template"


def word_faults(side: str, word: str, wanted: str) -> Iterator[str]:
    """Yield a fault if a lemma of a word is in the list that it must not be in; adjectives are listed as they are."""
    tags = ("NN", "NNS") if wanted in ("ALSO_ANIMATE", "PEOPLE") else VERB_TAGS
    lemmas = {word} if wanted.endswith("ADJECTIVES") else english.lemmas(word, *tags)
    if lemmas & getattr(lexical if hasattr(lexical, wanted) else english, wanted):
        yield f"{side} word: {word} is in {wanted}"


def edit_faults(good: str, bad: str, paradigm: Paradigm) -> Iterator[str]:
    """Yield a fault if the sentences differ in another way than the paradigm says."""
    first, second = ([word.casefold() for word in words_of(text)] for text in (good, bad))
    if len(first) != len(second):
        yield "unequal length"
    lost, gained = Counter(first) - Counter(second), Counter(second) - Counter(first)
    if paradigm.edit == "order":
        if lost or gained:
            yield "edit: other words"
    elif paradigm.edit in ("word", "words"):
        changed = [pair for pair in zip(first, second, strict=False) if pair[0] != pair[1]]
        if not 1 <= len(changed) <= (1 if paradigm.edit == "word" else 2):
            yield "edit: not one word"
        elif paradigm.edit == "word" and not related(*changed[0], paradigm.relation):
            yield f"edit: {changed[0][0]} and {changed[0][1]}"
    else:
        before, after = (side.split("/") for side in paradigm.edit.split(" -> "))
        if (
            sum(lost.values()) != 1
            or sum(gained.values()) != 1
            or not (_is(next(iter(lost)), before) and _is(next(iter(gained)), after))
        ):
            yield "edit: other words"


def _is(word: str, choices: Sequence[str]) -> bool:
    return any(
        bool(list(grammar.PHRASES[choice]([word, "."], 0))) if choice.isupper() else word == choice
        for choice in choices
    )


TENSES = [{"is", "are"}, {"was", "were"}, {"has", "have"}, {"does", "do"}]
TENSES += [{f"{word}n't" for word in pair} for pair in TENSES]
DISTANCES = [{"this", "these"}, {"that", "those"}]


def related(first: str, second: str, relation: str) -> bool:
    """Say whether two words differ only as they may: in number, or in their lemma, or (with no relation) anyhow."""
    if relation == "number":
        if first in english.AUXILIARIES:
            return {first, second} in TENSES
        if first in english.DETERMINERS:
            return {first, second} in DISTANCES
        nouns = english.lemmas(first, "NN", "NNS") & english.lemmas(second, "NN", "NNS")
        verbs = english.lemmas(first, "VBZ", "VBP") & english.lemmas(second, "VBZ", "VBP")
        return bool(nouns or verbs)
    if relation == "form":
        return bool(english.lemmas(first, *VERB_TAGS) & english.lemmas(second, *VERB_TAGS))
    if relation == "lemma":
        return bool(_kinds(first) & _kinds(second))
    return True


def _kinds(word: str) -> frozenset[str]:
    """Return the tags of a word, where participles are also adjectives."""
    tags = english.tags(word)
    return tags | {"JJ"} if tags & {"VBN", "VBG"} else tags


def prefix_faults(record: Record) -> Iterator[str]:
    """Yield what is wrong with the prefixes of a pair: initial segments, the same remainders, one critical word."""
    for method, parts in (
        ("one_prefix", ("one_prefix_prefix", "one_prefix_word_good", "one_prefix_prefix", "one_prefix_word_bad")),
        ("two_prefix", ("two_prefix_prefix_good", "two_prefix_word", "two_prefix_prefix_bad", "two_prefix_word")),
    ):
        if bool(record[f"{method}_method"]) != any(key in record for key in parts):
            yield f"{method}: flag without fields, or fields without flag"
        if parts[0] not in record:
            continue
        texts = [record[key] for key in parts]
        if any(text != text.strip() for text in texts):
            yield f"{method}: outer spaces"
        rests = []
        for side, prefix, critical in (("good", *texts[:2]), ("bad", *texts[2:])):
            begin = f"{prefix} {critical.strip()}"
            sentence = record[f"sentence_{side}"]
            if not (sentence + " ").startswith(begin) or sentence[len(begin) : len(begin) + 1] not in (" ", ".", "?"):
                yield f"{method}: not an initial segment"
            rests.append(sentence[len(begin) :].strip(" .?"))
            if not prefix or (" " in critical.strip() and record["UID"] not in SEVERAL_WORDS):
                yield f"{method}: critical string of several words"
        if rests[0] != rests[1]:
            yield f"{method}: different remainders"
        if (texts[0], texts[1]) == (texts[2], texts[3]):
            yield f"{method}: the same twice"


# "At least"; the whole verb group; the whole object.
SEVERAL_WORDS = ("superlative_quantifiers_2", "animate_subject_trans", "transitive")


# Paradigms


def faults(uid: str, records: Sequence[Record], cells: Mapping[str, int] | None = None) -> list[Finding]:
    """Return all findings in the pairs of a paradigm.

    `cells` are the fields whose combinations get equal numbers, with the number of their values.
    """
    paradigm = PARADIGMS[uid]
    found = []
    seen: dict[str, str] = {}
    for record in records:
        place = str(record["pairID"])
        rules = [*pair_faults(record, paradigm)]
        if record["UID"] != uid:
            rules.append(f"field UID: {record['UID']}")
        for side in ("good", "bad"):
            text = record[f"sentence_{side}"]
            rules += [f"{rule} ({side})" for rule in sentence_faults(text)]
            if text in seen:
                rules.append(f"twice ({seen[text]} and {side})")
            seen[text] = side
        rules += good_faults(record["sentence_good"])
        text = f"{record['sentence_good']} // {record['sentence_bad']}"
        found += [Finding(rule, place, text) for rule in dict.fromkeys(rules)]
    # A tag whose value is its own name: the name of a slot without its braces. (An adjective may be called *tough*, once.)
    idle = [key for key in records[0] if all(record.get(key) == key for record in records)]
    found += [Finding("field with its own name", "", key) for key in idle]
    named = {name: number for name, number in (cells or {}).items() if any(name in record for record in records)}
    counts = Counter(tuple(record.get(name) for name in named) for record in records)
    found += [Finding("balance", "", f"{dict(counts)}")] * (not balanced(counts, list(named.values())))
    return found


def balanced(counts: Mapping[tuple[object, ...], int], values: Sequence[int]) -> bool:
    """Say whether all cells have the same number of pairs, or one more.

    A variable that a sentence doesn't need leaves no field (None). Then the pairs of one cell, or of as many as the variable
    has values, look alike.
    """
    least = min((count for cell, count in counts.items() if None not in cell), default=0)
    for cell, count in counts.items():
        merged = prod(number for number, value in zip(values, cell, strict=True) if value is None)
        if not any(times * least <= count <= times * (least + 1) for times in {1, merged}):
            return False
    return True
