"""Builder of `syntagm/suites/materials/lexicon/verbs.csv`: python recipes/verbs/build.py CORPORA VERBS.csv

CORPORA is a folder with classics.{1,2,3}, brown.* and the treebanks *.trees. The package lemminflect 0.2.3 must be installed.
Its dictionary tells which words are verbs and which of them are also nouns, and it checks the spelling. See
docs/guide/verbs.md.
"""

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import evidence
import lemminflect
import spelling
from lemminflect.core.Inflections import Inflections

TRANSITIVITY_AT_LEAST = 3
# Verbs with a past tense like their base, for which the dictionary has only the regular past tense.
ALSO_PAST = frozenset(["bid", "broadcast", "forecast", "sublet", "sweat"])
HEADER = ["lemma", "form:singular", "form:plural", "frequency", "band", "transitivity", "noun", "past"]


def dictionary() -> dict[str, dict[str, tuple[str, ...]]]:
    """Return all verbs of lemminflect that are one lower-case word, and the added ones, with their forms by tag."""
    entries = Inflections()._getInflDict()  # it offers no public list
    lemmas = sorted(lemma for lemma, tags in entries.items() if "VBZ" in tags and re.fullmatch("[a-z]+", lemma))
    verbs = {lemma: lemminflect.getAllInflections(lemma, upos="VERB") for lemma in lemmas}
    missing = [lemma for lemma in [*spelling.listed("taken_in.txt"), *spelling.variants(())] if lemma not in verbs]
    verbs |= {lemma: lemminflect.getAllInflectionsOOV(lemma, upos="VERB") for lemma in missing}
    return {lemma: {"VBN": forms.get("VBD", ())} | forms for lemma, forms in verbs.items()}


class Evidence:
    """Counts of words in the corpora."""

    def __init__(self, corpora: Path) -> None:
        books = [next(corpora.glob(f"classics.{number}.txt*")) for number in (1, 2, 3)]
        self.books, self.pairs = evidence.words(books)
        self.brown = evidence.words(sorted(corpora.glob("brown.*.txt")))[0]
        self.tags, self.objects = evidence.tagged(sorted(corpora.glob("*.trees")))

    def shown(self, forms: dict[str, tuple[str, ...]]) -> bool:
        """Check that a form is tagged as a verb in a treebank, or that two of base, third person and -ed/-ing form occur."""
        kinds = [forms.get("VB", ()), forms.get("VBZ", ()), (*forms.get("VBD", ()), *forms.get("VBG", ()))]
        occurring = sum(any(self.books[form] + self.brown[form] for form in kind) for kind in kinds)
        return occurring > 1 or any(self.tags[form, tag] for tag, kind in forms.items() for form in kind)

    def noun(self, word: str) -> bool:
        """Check whether a word is also a noun.

        It must be a noun in the dictionary, and tagged as a noun in a treebank or five times after an article or possessive
        in the books.
        """
        after = sum(self.pairs[before, word] for before in evidence.SETS["noun"])
        return "NOUN" in lemminflect.getAllLemmas(word) and (self.tags[word, "NN"] > 0 or after >= 5)


def candidates(verbs: dict[str, dict[str, tuple[str, ...]]], seen: Evidence) -> list[str]:
    """Return the lemmas of the list: attested or added, not excluded, with one spelling each."""
    other = spelling.variants(verbs)
    lemmas = {other.get(lemma, lemma) for lemma, forms in verbs.items() if seen.shown(forms)}
    lemmas |= {other.get(lemma, lemma) for lemma in spelling.listed("taken_in.txt")}
    return sorted(lemmas - set(spelling.listed("left_out.txt")))


def roles(lemmas: list[str], verbs: dict[str, dict[str, tuple[str, ...]]]) -> dict[str, dict[str, set[str]]]:
    """Return the tags of each form by lemma: form -> lemma -> tags."""
    owners: dict[str, dict[str, set[str]]] = {}
    for lemma, kept in spelling.variants(verbs).items():
        if kept in lemmas and lemma in verbs:
            _enter(owners, kept, verbs[lemma])
    for lemma in lemmas:
        _enter(owners, lemma, verbs.get(lemma, {}) | {"VB": (lemma,), "VBZ": (third_person(lemma),)})
    return owners


def _enter(owners: dict[str, dict[str, set[str]]], lemma: str, forms: dict[str, tuple[str, ...]]) -> None:
    for tag, kind in forms.items():
        for form in kind:
            owners.setdefault(form, {}).setdefault(lemma, set()).add("VB" if tag == "VBP" else tag)


def third_person(lemma: str) -> str:
    """Return the third person singular of a verb, by exception or by rule."""
    return spelling.exceptions().get(lemma) or spelling.rule(lemma)


def frequencies(forms: dict[str, dict[str, set[str]]], seen: Evidence) -> Counter[str]:
    """Count the occurrences of all forms of each lemma in the books.

    A form that belongs to one verb only counts always; any other counts only after a word that shows which it is.
    """
    total: Counter[str] = Counter()
    for form, owners in forms.items():
        parts = set(lemminflect.getAllLemmas(form))
        for lemma, tags in owners.items():
            if len(owners) == 1 and (parts <= {"VERB"} or "AUX" in parts):
                total[lemma] += seen.books[form]
                continue
            before = _announcing(tags)
            for rival in owners.keys() - {lemma}:
                before -= _announcing(owners[rival])
            total[lemma] += sum(seen.pairs[word, form] for word in before)
    return total


def _announcing(tags: set[str]) -> set[str]:
    return set().union(*(evidence.SETS[tag] for tag in tags))


def transitivity(lemma: str, forms: dict[str, dict[str, set[str]]], seen: Evidence) -> str:
    """Classify a verb by how often it has an object.

    `transitive`: at least nine times of ten; `intransitive`: at most once in ten; otherwise `both`. The class is empty with
    fewer than three occurrences.
    """
    own = [form for form, owners in forms.items() if set(owners) == {lemma}]
    having, lacking = (sum(seen.objects[form, flag] for form in own) for flag in (True, False))
    if lemma == "be" or having + lacking < TRANSITIVITY_AT_LEAST:
        return ""
    share = having / (having + lacking)
    return "transitive" if share >= 0.9 else "intransitive" if share <= 0.1 else "both"


def rows(corpora: Path) -> Iterator[list[str]]:
    """Yield the rows of the list, ordered by lemma."""
    verbs, seen = dictionary(), Evidence(corpora)
    lemmas = candidates(verbs, seen)
    forms = roles(lemmas, verbs)
    counted = frequencies(forms, seen)
    for lemma in lemmas:
        compare(lemma, verbs)
        past = lemma in ALSO_PAST or "VBD" in set().union(*forms[lemma].values())
        base, band = ("are" if lemma == "be" else lemma), len(str(counted[lemma])) if counted[lemma] else 0
        flags = ["yes" if flag else "" for flag in (seen.noun(lemma), past)]
        yield [
            lemma,
            third_person(lemma),
            base,
            str(counted[lemma]),
            str(band),
            transitivity(lemma, forms, seen),
            *flags,
        ]


def compare(lemma: str, verbs: dict[str, dict[str, tuple[str, ...]]]) -> None:
    """Print a line if the dictionary has another third person singular, or several."""
    theirs = verbs.get(lemma, {}).get("VBZ", ())
    if theirs != (third_person(lemma),):
        print(f"{lemma}: {third_person(lemma)}, lemminflect {' '.join(theirs) or 'nothing'}", file=sys.stderr)


if __name__ == "__main__":
    with Path(sys.argv[2]).open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(rows(Path(sys.argv[1])))
