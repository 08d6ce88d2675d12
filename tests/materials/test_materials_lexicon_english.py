"""The lexicon `english`: sizes, forms, features and frequencies."""

from collections import Counter
from itertools import pairwise

import pytest

from syntagm.suites import find, schema, spelling
from tools import lexicon

SCHEMA = lexicon.schema()
TREE = SCHEMA["trees"]["kind"]
CLASSES = {name: own for name, own in SCHEMA["classes"].items() if lexicon.rows(name)}
ARTICLE = spelling.of(find("en")).dependents[0].form
NOUNS = lexicon.rows("noun")
ADJECTIVES = lexicon.rows("adjective")


def number(rows, **wanted):
    return sum(all(value in row[column].split("/") for column, value in wanted.items()) for row in rows)


def test_every_kind_has_parents_that_are_kinds_and_a_word():
    used = set()
    for row in NOUNS + lexicon.rows("name") + lexicon.rows("place_name"):
        used |= lexicon.closure(row["kind"].split("/"), TREE)
    assert used == set(TREE)


def test_the_language_reads_it():
    of_phrases = {"counted", "custom", "deed", "errand", "incident", "itself", "news", "says", "shared", "spot"}
    assert set(schema.read(lexicon.LEXICON).classes) == set(SCHEMA["classes"]) | of_phrases


def test_there_are_enough_nouns_of_each_sort():
    count = {"count": "count"}
    assert number(NOUNS, **count) >= 1350
    assert number(NOUNS, plural="irregular") >= 60
    assert number(NOUNS, plural="irregular", animate="yes") >= 25
    assert number(NOUNS, count="mass") >= 120
    assert number(NOUNS, plural="same") >= 25
    assert number(NOUNS, complement="of") >= 60
    for gender in "fm":
        assert number(NOUNS, gender=gender, animate="yes", plural="regular") >= 40


def test_nouns_have_the_forms_that_their_features_say():
    for row in NOUNS:
        has = {form: row[form] != lexicon.NONE for form in ("sg", "pl")}
        assert has["sg"] == (row["plural"] != "only"), row
        assert has["pl"] == ("count" in row["count"]), row
        assert (row["sg"] == row["pl"]) == (row["plural"] == "same"), row
        assert (row["plural"] == lexicon.NONE) == (row["count"] == "mass"), row
        assert (row["of"] == lexicon.NONE) == (row["complement"] == lexicon.NONE), row
        assert "n" in row["gender"] or row["animate"] == "yes", row


@pytest.mark.parametrize(("name", "form"), [("noun", "sg"), ("noun", "pl"), ("name", "name"), ("adjective", "form")])
def test_no_entry_is_listed_twice(name, form):
    repeated = [word for word, times in Counter(row[form] for row in lexicon.rows(name)).items() if times > 1]
    assert repeated in ([], [lexicon.NONE])


def test_names_are_of_one_gender():
    names = lexicon.rows("name")
    assert number(names, gender="f") >= 130
    assert number(names, gender="m") >= 130
    assert not {row["name"] for row in names} & {row["name"] for row in lexicon.rows("place_name")}


def test_adjectives_have_frames_and_comparatives():
    assert len(ADJECTIVES) >= 420
    for frame, least in {"tough": 25, "raising": 10, "subject_control": 25, "clausal": 50}.items():
        assert number(ADJECTIVES, frame=frame) >= least
    for row in ADJECTIVES:
        assert (row["comparative"] == lexicon.NONE) == (row["superlative"] == lexicon.NONE), row
        assert row["comparative"] == lexicon.NONE or row["gradable"] == "yes", row
        assert (row["preposition"] == lexicon.NONE) == ("preposition" not in row["frame"].split("/")), row


def test_adverbs_that_need_a_negative_environment_are_marked():
    adverbs = lexicon.rows("adverb")
    assert len(adverbs) >= 120
    polarity = {row["form"]: row["polarity"] for row in adverbs}
    assert [polarity[word] for word in ("ever", "yet", "already", "quickly")] == ["negative"] * 2 + ["positive", "-"]


def test_determiners_have_strength_and_licensing():
    rows = {
        next(row[form] for form in ("sg", "pl", "mass") if row[form] != "-"): row for row in lexicon.rows("determiner")
    }
    assert {word for word, row in rows.items() if row["strength"] == "strong" and row["type"] == "quantifier"} == {
        *("every", "each", "either", "neither", "both", "all", "most")
    }
    assert rows["no"]["licenses"] == "restrictor/scope"
    assert rows["few"]["licenses"] == "scope"
    assert rows["every"]["licenses"] == "restrictor"


def test_auxiliaries_agree_and_invert():
    rows = lexicon.rows("auxiliary")
    for row in rows:
        assert (row["sg"] != row["pl"]) == (row["agreement"] == "yes"), row
        assert ("not" in row["sg"] or "n't" in row["sg"] or "not" in row["rest"].split()) == (
            row["polarity"] == "negative"
        ), row
    questions = {f"{row['sg']} she {row['rest']}".strip() for row in rows if row["inversion"] == "yes"}
    assert {"is she going to", "has she not", "doesn't she", "would she have", "can't she"} <= questions
    assert "is she going" not in questions


@pytest.mark.slow
def test_forms_agree_with_lemminflect_or_the_reason_is_listed(capsys):
    pytest.importorskip("lemminflect")
    assert lexicon.check() == 0, capsys.readouterr().out


@pytest.mark.slow
def test_a_wrong_form_is_found(monkeypatch):
    pytest.importorskip("lemminflect")
    monkeypatch.setattr(lexicon, "rows", lambda name: [{"sg": "goose", "pl": "gooses"}] if name == "noun" else [])
    assert list(lexicon.disagreements()) == [("noun", "goose", "pl", "gooses", "geese/goose")]


def test_a_or_an_fits_every_word_that_breaks_the_rule_of_the_first_letter():
    listed = {row["ours"] for row in lexicon.rows("disagreements") if row["theirs"].split(" ")[0] in ("a", "an")}
    assert {"an hour", "an heir", "a university", "a ewe", "a useful", "an honest", "a European"} <= listed
    assert all(entry == f"{ARTICLE(entry.split(' ', 1)[1])} {entry.split(' ', 1)[1]}" for entry in listed)


def test_bands_follow_from_the_counts():
    counts = {row["form"]: int(row["count"]) for row in lexicon.rows("frequency")}
    total = counts[lexicon.ALL]
    values = list(counts.values())
    assert all(left >= right for left, right in pairwise(values))
    for name, own in CLASSES.items():
        for row in lexicon.rows(name) if "band" in own["features"] else []:
            words = [word for word in dict.fromkeys(lexicon.forms(row, own["forms"])) if " " not in word]
            expected = lexicon.band(sum(counts[word] for word in words), total) if words else lexicon.NONE
            assert row["band"] == expected, row


def test_counting_writes_frequencies_and_bands(tmp_path, monkeypatch, capsys):
    for name in ("noun", "adjective"):
        (tmp_path / f"{name}.csv").write_bytes((lexicon.LEXICON / f"{name}.csv").read_bytes())
    monkeypatch.setattr(lexicon, "LEXICON", tmp_path)
    monkeypatch.setattr(lexicon, "FREQUENCY", tmp_path / "frequency.csv")
    monkeypatch.setattr(lexicon, "schema", lambda: SCHEMA)
    text = tmp_path / "text.txt"
    text.write_text("The goose saw geese. Goose! The dog's red bone.\n" * 10, encoding="utf-8")
    assert lexicon.main(["count", str(text)]) == 0
    counts = {row["form"]: row["count"] for row in lexicon.rows("frequency")}
    assert [counts[word] for word in (lexicon.ALL, "goose", "geese", "red", "cat")] == ["90", "20", "10", "10", "0"]
    assert {row["sg"]: row["band"] for row in lexicon.rows("noun")}["goose"] == "1"
    assert "of them not in 90 words" in capsys.readouterr().out


@pytest.mark.slow
def test_random_phrases_are_those_that_the_features_allow(capsys):
    assert lexicon.main(["read", "-n", "40", "--seed", "3"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 90
    assert lines == list(lexicon.phrases(40, 3))
    assert sum(" of the " in line for line in lines) >= 40
