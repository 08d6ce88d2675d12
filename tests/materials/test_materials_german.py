"""The collection `german`: its size, and agreement and case in all its sentences, by an analyser of its own.

The analyser knows the paradigm of each article, from a grammar, and the forms of the nouns of the lexicon; it knows
nothing of the templates. A noun phrase (an article, perhaps an adjective, a noun) is well formed if article and noun share
a reading: case, number, gender.
"""

import csv
import re
from functools import cache
from pathlib import Path

import pytest

import syntagm
from syntagm.suites import Suite

LEXICON = Path(syntagm.__file__).parent / "suites" / "materials" / "lexicon" / "german"
Reading = tuple[str, str, str]
CASES = ("nom", "acc", "dat", "gen")
GENDERS = ("m", "f", "n")
# Singular masculine, feminine, neuter, and plural; nominative, accusative, dative, genitive.
PARADIGMS = [
    ("der den dem des", "die die der der", "das das dem des", "die die den der"),
    ("ein einen einem eines", "eine eine einer einer", "ein ein einem eines", ""),
    (
        "dieser diesen diesem dieses",
        "diese diese dieser dieser",
        "dieses dieses diesem dieses",
        "diese diese diesen dieser",
    ),
]


@cache
def articles() -> dict[str, set[Reading]]:
    found: dict[str, set[Reading]] = {}
    for *singular, plural in PARADIGMS:
        for gender, forms in zip(GENDERS, singular, strict=True):
            for case, form in zip(CASES, forms.split(), strict=True):
                found.setdefault(form, set()).add((case, "sg", gender))
        for case, form in zip(CASES, plural.split(), strict=False):
            found.setdefault(form, set()).update((case, "pl", gender) for gender in GENDERS)
    return found


@cache
def nouns() -> dict[str, set[Reading]]:
    found: dict[str, set[Reading]] = {}
    with (LEXICON / "noun.csv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            plural = row["nom_pl"]
            forms = {(case, "sg"): row[f"{case}_sg"] for case in CASES}
            forms |= {("nom", "pl"): plural, ("acc", "pl"): plural, ("gen", "pl"): plural, ("dat", "pl"): row["dat_pl"]}
            for (case, number), form in forms.items():
                found.setdefault(form, set()).add((case, number, row["gender"]))
    return found


@cache
def suites() -> dict[str, Suite]:
    return {suite.name: suite for suite in syntagm.read_suites("german")}


def phrases(text: str) -> list[set[Reading]]:
    """Return the readings of each article with a noun right after it, or after one adjective."""
    words = re.findall(r"\w+", text)
    found = []
    for place, word in enumerate(words):
        if word.lower() not in articles():
            continue
        following = [other for other in words[place + 1 : place + 3] if other in nouns()][:1]
        # An article without a noun is a relative pronoun, or stands before "ganzen Tag".
        if following and (words[place + 1] == following[0] or words[place + 1].islower()):
            relative = words[place + 1] != following[0] and words[place + 1] in articles()
            if not relative:
                found.append(articles()[word.lower()] & nouns()[following[0]])
    return found


def test_the_analyser_by_hand() -> None:
    assert phrases("Anna lobt den Zeugen.") == [{("acc", "sg", "m"), ("dat", "pl", "m")}]
    assert phrases("Hier ist der Lampe.") == [{("dat", "sg", "f"), ("gen", "sg", "f")}]
    assert phrases("Anna lobt dem Zeuge.") == [set()]
    assert phrases("der Arzt, den die Kinder kennen, spricht mit dem alten Lehrer") == [
        {("nom", "sg", "m")}, {("nom", "pl", "n"), ("acc", "pl", "n")}, {("dat", "sg", "m")},
    ]  # fmt: skip


@pytest.mark.slow
def test_the_suites_are_there_and_each_says_what_it_tests() -> None:
    assert len(suites()) == 23
    for suite in suites().values():
        assert len(suite.items) == 100
        assert suite.tags["language"] == "de"
        assert all(suite.tags[key] for key in ("circuit", "phenomenon", "reference", "contrast", "ungrammatical"))
        assert set(suite.tags["ungrammatical"].split()) < suite.items[0].sentences.keys()


@pytest.mark.slow
def test_articles_and_nouns_agree_in_every_good_sentence() -> None:
    for suite in suites().values():
        starred = suite.tags["ungrammatical"].split()
        for item in suite.items:
            for condition, sentence in item.sentences.items():
                if condition not in starred:
                    assert all(phrases(sentence.text)), sentence.text


@pytest.mark.parametrize(
    ("name", "condition"),
    [("weak_masculine", "bad"), ("genitive_ending", "bad"), ("genitive_ending", "base_bad")],
)
@pytest.mark.slow
def test_bad_noun_phrases_have_no_reading(name: str, condition: str) -> None:
    for item in suites()[name].items:
        assert not all(phrases(item.sentences[condition].text)), item.sentences[condition].text


@pytest.mark.slow
def test_a_wrong_gender_leaves_no_nominative() -> None:
    for item in suites()["determiner_gender"].items:
        [readings] = phrases(item.sentences["bad"].text)
        assert not any(reading[0] == "nom" and reading[1] == "sg" for reading in readings)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["case_verb", "case_preposition"])
def test_the_wrong_case_is_no_dative_plural(name: str) -> None:
    """ "Klara vertraut den Zeugen" is right: they are several."""
    for item in suites()[name].items:
        readings = phrases(item.sentences["dative_bad"].text)[-1]
        assert {case for case, _, _ in readings} == {"acc"}, item.sentences["dative_bad"].text
