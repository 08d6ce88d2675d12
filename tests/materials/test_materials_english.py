"""The English lexicon: forms that follow the rules of spelling unless marked, features with stated values, kinds that exist."""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import pytest

import syntagm.materials
from syntagm.templates import template
from syntagm.templates.expression import values
from syntagm.templates.lexicon import LexicalClass

FILE = Path(syntagm.materials.__file__).parent / "lexicon" / "blimp_like.toml"
TEXT = FILE.read_text(encoding="utf-8")
CLASSES: Mapping[str, LexicalClass] = template.read_lexicon(TEXT, "blimp_like.toml").classes
STATED: dict[tuple[str, str], set[str]] = {}
for one, feature, found in re.findall(r"^#   (\w+)\.(\w+) +([^;\n]+)", TEXT, re.MULTILINE):
    STATED.setdefault((one, feature), set()).update(found.split())


def rows(name: str) -> list[Mapping[str, str]]:
    return [word.forms for word in CLASSES[name].words]


def with_s(word: str) -> str:
    """The -s of plurals and of the third person."""
    if re.search(r"(s|x|z|ch|sh)$", word) or word in ("potato", "tomato"):
        return word + "es"
    return word[:-1] + "ies" if re.search(r"[^aeiou]y$", word) else word + "s"


def stems(word: str, ending: str) -> set[str]:
    """The word with an ending that begins with a vowel; doubling depends on stress, so both spellings where it can be."""
    if word.endswith("ie") and ending == "ing":
        return {word[:-2] + "ying"}
    if word.endswith("e") and not (ending == "ing" and word.endswith("ee")):
        return {word[:-1] + ending}
    if ending == "ed" and re.search(r"[^aeiou]y$", word):
        return {word[:-1] + "ied"}
    doubled = {word + word[-1] + ending} if re.search(r"[^aeiou][aeiou][^aeiouwxy]$", word) else set()
    return {word + ending} | doubled


def test_nothing_but_classes_of_a_size_that_a_person_can_read() -> None:
    assert set(tomllib.loads(TEXT)) == {"classes"}
    sizes = {name: len(found.words) for name, found in CLASSES.items()}
    assert sizes == {
        "noun": 344, "name": 50, "verb": 244, "adjective": 71, "determiner": 31, "pronoun": 8, "auxiliary": 27,
        "adverb": 25, "relative": 4, "wh": 5, "connective": 8,
    }  # fmt: skip


@pytest.mark.parametrize("name", ["noun", "name", "verb", "adjective", "adverb", "relative", "wh", "connective"])
def test_each_word_once(name: str) -> None:
    first = CLASSES[name].columns[0]
    assert [word for word, times in Counter(row[first] for row in rows(name)).items() if times > 1] == []


@pytest.mark.parametrize("name", CLASSES)
def test_no_two_rows_are_the_same(name: str) -> None:
    assert len({tuple(row.values()) for row in rows(name)}) == len(rows(name))


@pytest.mark.parametrize("name", CLASSES)
def test_every_feature_has_stated_values_only(name: str) -> None:
    nouns = {row["sg"] for row in rows("noun")}
    for feature in [feature for one, feature in STATED if one == name]:
        for row in rows(name):
            # A noun that is asked for by itself is its own kind.
            own = {row["sg"]} & nouns if (name, feature) == ("noun", "kind") else set()
            assert values(row[feature]) <= STATED[name, feature] | own, row


def test_every_stated_value_occurs() -> None:
    for (name, feature), stated in STATED.items():
        assert stated <= set().union(*(values(row[feature]) for row in rows(name))), (name, feature)


def test_every_column_is_a_form_or_states_its_values() -> None:
    kinds = {("verb", "subject"), ("verb", "object"), ("adjective", "kind")}
    forms = {
        "noun": "sg pl", "name": "name", "verb": "base sg pl past participle ing", "adjective": "adjective",
        "determiner": "sg pl", "pronoun": "nominative accusative possessive reflexive", "auxiliary": "sg pl",
        "adverb": "adverb", "relative": "relative", "wh": "wh", "connective": "connective",
    }  # fmt: skip
    for name, found in CLASSES.items():
        assert set(found.columns) == {*forms[name].split(), *(one for of, one in {*STATED, *kinds} if of == name)}


def test_plurals_are_regular_unless_marked() -> None:
    for row in rows("noun"):
        by_rule = {with_s(row["sg"]): "regular", row["sg"]: "same", "-": "-"}
        assert row["plural"] == by_rule.get(row["pl"], "irregular"), row
        assert (row["count"] == "mass") == (row["pl"] == "-"), row


def test_the_third_person_ends_in_s_and_the_plural_is_the_base() -> None:
    for row in rows("verb"):
        assert (row["sg"], row["pl"]) == (with_s(row["base"]), row["base"])


def test_past_and_participle_are_regular_unless_marked() -> None:
    for row in rows("verb"):
        regular = row["past"] in stems(row["base"], "ed") and row["participle"] == row["past"]
        assert row["inflection"] == ("regular" if regular else "irregular"), row
        assert row["ing"] in stems(row["base"], "ing"), row


def test_verbs_with_an_object_say_which_and_others_have_none() -> None:
    for row in rows("verb"):
        takes_object = bool(values(row["frame"]) & {"transitive", "causative", "ditransitive"})
        assert takes_object == (row["object"] != "-") == (row["passive"] == "yes"), row
        assert ("causative" in values(row["frame"])) == ("inchoative" in values(row["frame"])), row
        assert values(row["subject"]), row
        assert row["reflexive"] == "no" or "person" in values(row["object"]), row


def test_kinds_that_are_asked_for_exist() -> None:
    kinds = set().union(*(values(row["kind"]) for row in rows("noun")))
    for row in rows("verb"):
        assert values(row["subject"]) | values(row["object"]) <= kinds, row
    for row in rows("adjective"):
        assert values(row["kind"]) <= kinds, row


def test_animacy_and_gender_follow_from_the_kind() -> None:
    for row in rows("noun"):
        animate = bool(values(row["kind"]) & {"person", "infant", "animal"})
        assert (row["animate"] == "yes") == animate, row
        inanimate = values(row["kind"]) & {"thing", "place", "idea", "event"}
        assert animate != bool(inanimate), row
        assert row["gender"] in ({"f", "m", "c", "c/n", "f/n", "m/n"} if animate else {"n"}), row
