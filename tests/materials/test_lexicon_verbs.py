"""The verbs of the lexicon `english`: their tables fit the schema, and the classes that paradigms draw from are large enough."""

import csv
import tomllib
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import pytest

import syntagm

LEXICON = Path(syntagm.__file__).parent / "suites" / "materials" / "lexicon" / "english"
SCHEMA = tomllib.loads((LEXICON / "schema.toml").read_text(encoding="utf-8"))
NONE = "-"

Row = dict[str, str]


def table(name: str) -> list[Row]:
    with (LEXICON / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


VERBS = {row["base"]: row for row in table("verb")}
USES: dict[str, list[Row]] = defaultdict(list)
for use in table("verb_use"):
    USES[use["verb"]].append(use)

# Uses of verbs without a noun phrase as object, and uses that put a noun phrase behind the verb.
WITHOUT_OBJECT = {
    "intransitive", "unaccusative", "object_drop", "inchoative", "reciprocal", "clause", "bare_clause", "question",
    "subject_control", "subject_raising", "gerund", "linking", "predicate", "locative", "measure", "quotative",
}  # fmt: skip
WITH_NOUN_PHRASE = {
    "transitive", "causative", "ditransitive", "dative", "object_control", "object_raising",
    "gerund_clause", "bare_infinitive", "small_clause", "resultative", "linking", "predicate", "measure",
    "object_clause", "object_question",
}  # fmt: skip


def frames(verb: str) -> set[str]:
    return {use["frame"] for use in USES[verb]}


def has(verb: str, *wanted: str) -> bool:
    """Return whether the verb has all these uses with kinds: marginal uses have none."""
    return set(wanted) <= {use["frame"] for use in USES[verb] if use["subject"] != NONE}


def strictly_transitive(verb: str) -> bool:
    return has(verb, "transitive") and not frames(verb) & WITHOUT_OBJECT


def strictly_intransitive(verb: str) -> bool:
    intransitive = has(verb, "intransitive") or has(verb, "unaccusative")
    return intransitive and not frames(verb) & (WITH_NOUN_PHRASE | {"object_drop"})


def animate(kind: str) -> bool:
    return kind in ("human", "animal") or any(animate(p) for p in SCHEMA["trees"]["kind"][kind].split("/") if p)


def objects(verb: str) -> set[bool]:
    """Return whether the objects of a transitive verb are animate: both for some."""
    kinds = [kind for use in USES[verb] if use["frame"] == "transitive" for kind in use["object"].split("/")]
    return {animate(kind) for kind in kinds if kind != NONE}


@pytest.mark.parametrize(("name", "features"), [("verb", "features"), ("verb_use", "use_features")])
def test_cells_fit_the_schema(name: str, features: str) -> None:
    declared = SCHEMA["classes"]["verb"][features]
    for row in table(name):
        for column in set(row) & set(declared):
            values = declared[column].get("values") or SCHEMA["trees"][declared[column]["tree"]]
            cell = row[column]
            wrong = [value for value in cell.split("/") if value not in values] if cell != NONE else []
            assert not wrong, f"{row}: {column} {wrong}"


def test_every_verb_has_its_forms_and_a_use_and_every_use_a_verb() -> None:
    assert len(VERBS) == len(table("verb"))
    assert set(VERBS) == set(USES)
    for row in VERBS.values():
        assert all(row[form].isalpha() for form in SCHEMA["classes"]["verb"]["forms"]), row


def test_derived_columns_agree_with_the_forms() -> None:
    for row in VERBS.values():
        assert (row["en"] == "same") == (row["past"] == row["participle"]), row
        assert ("past" in row["homograph"].split("/")) == (row["past"] == row["base"]), row


def test_columns_of_a_use_belong_to_its_frame() -> None:
    no_object = {
        "intransitive",
        "unaccusative",
        "object_drop",
        "inchoative",
        "reciprocal",
        "linking",
        "subject_raising",
    }
    for verb, uses in USES.items():
        assert len({tuple(use.values()) for use in uses}) == len(uses), f"{verb}: repeated use"
        for use in uses:
            full = use["subject"] != NONE
            assert full or {use["object"], use["indirect"], use["animate"]} == {NONE}, use
            assert (use["indirect"] != NONE) == (full and use["frame"] in ("ditransitive", "dative")), use
            assert (use["preposition"] != NONE) <= (use["frame"] in ("prepositional", "locative")), use
            assert not (use["reflexive"] == "yes" and use["frame"] in no_object), use
            assert (use["particle"] != NONE) <= (use["frame"] == "particle"), use
            assert not (use["passive"] == "yes" and use["frame"] in no_object), use
            if full and use["frame"] in ("transitive", "causative", "prepositional", "object_control"):
                assert use["object"] != NONE, use
        if has(verb, "causative"):
            assert "inchoative" in frames(verb), verb


@pytest.mark.parametrize(
    ("condition", "least"),
    [
        (lambda verb: True, 800),
        (lambda verb: VERBS[verb]["inflection"] == "irregular", 130),
        (lambda verb: VERBS[verb]["en"] == "different" and VERBS[verb]["adjectival"] == "yes", 45),
        (lambda verb: strictly_transitive(verb) and True in objects(verb), 60),
        (lambda verb: strictly_transitive(verb) and False in objects(verb), 60),
        (strictly_intransitive, 70),
        (lambda verb: has(verb, "unaccusative") and strictly_intransitive(verb), 30),
        (lambda verb: has(verb, "causative", "inchoative"), 60),
        (lambda verb: has(verb, "object_raising") and "object_control" not in frames(verb), 25),
        (lambda verb: has(verb, "object_control") and "object_raising" not in frames(verb), 20),
        (lambda verb: has(verb, "subject_control") and "subject_raising" not in frames(verb), 20),
        (lambda verb: has(verb, "clause"), 60),
        (lambda verb: has(verb, "clause", "question"), 35),
        (lambda verb: has(verb, "question"), 35),
        (lambda verb: has(verb, "transitive", "question"), 20),
        (lambda verb: any(use["reflexive"] == "yes" for use in USES[verb]), 60),
        (
            lambda verb: VERBS[verb]["psych"] == "yes" and any("event" in u["subject"].split("/") for u in USES[verb]),
            30,
        ),
        (lambda verb: has(verb, "gerund_clause"), 12),
        (lambda verb: has(verb, "ditransitive"), 30),
        (lambda verb: has(verb, "particle"), 30),
        (lambda verb: any(use["frame"] == "transitive" and use["animate"] == "yes" for use in USES[verb]), 150),
    ],
)
def test_classes_are_large_enough(condition: Callable[[str], bool], least: int) -> None:
    assert sum(1 for verb in VERBS if condition(verb)) >= least


@pytest.mark.parametrize("verb", ["notice", "hear", "see", "find", "warn", "recognize", "know", "remember", "tell"])
def test_verbs_that_take_clauses_say_so(verb: str) -> None:
    assert {"clause", "bare_clause"} <= frames(verb)
    assert not strictly_transitive(verb)


@pytest.mark.parametrize("verb", ["resemble", "lack", "have", "fit", "cost", "suit"])
def test_transitive_verbs_without_passive(verb: str) -> None:
    assert {use["passive"] for use in USES[verb] if use["frame"] == "transitive"} == {"no"}
