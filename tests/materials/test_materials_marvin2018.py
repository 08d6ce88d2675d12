"""The suites of Marvin & Linzen 2018: sizes, names, and what their sentences have in common."""

import tomllib
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import syntagm
from syntagm.suites import Suite, expand, plans, read_suite_file, template, violations
from syntagm.suites.formats import marvin2018

FOLDER = Path(syntagm.__file__).parent / "suites" / "materials" / "marvin2018"
LEXICON = FOLDER.parent / "lexicon" / "marvin2018.toml"
# Products of the sizes of the classes, those of EMNLP2018/templates: D = C = AND = 1, MS = ES = IS = 10, MV = IV = 7, EV = 4,
# P = 6, IP = 2, BS = 2, BV = 3, LMV = 5, RMV = 7, ANPHR = 2, NO = 2; times 2 for each number that varies.
PAIRS = {
    "simple_agrmt": 2 * 10 * 7,
    "sent_comp": 4 * 2 * 3 * 10 * 7,
    "vp_coord": 2 * 10 * 7 * 6,
    "long_vp_coord": 2 * 10 * 5 * 4,
    "prep_anim": 4 * 10 * 6 * 10 * 7,
    "prep_inanim": 4 * 10 * 2 * 10 * 7,
    "subj_rel": 4 * 10 * 4 * 10 * 7,
    **{
        f"obj_rel_{that}{where}_{kind}": 4 * 10 * 10 * 4 * 7
        for that in ("", "no_comp_")
        for where in ("across", "within")
        for kind in ("anim", "inanim")
    },
    "simple_reflexives": 2 * 10 * 7 * 2,
    "reflexive_sent_comp": 4 * 2 * 3 * 10 * 7 * 2,
    "reflexives_across": 4 * 10 * 10 * 4 * 7 * 2,
}
# Two tenses; of predicates, 3 for people and 4 for things.
TRIPLES = {
    "simple_npi_anim": 2 * 2 * 10 * 3,
    "simple_npi_inanim": 2 * 2 * 10 * 4,
    "npi_across_anim": 2 * 2 * 10 * 10 * 4 * 3,
    "npi_across_inanim": 2 * 2 * 10 * 10 * 4 * 4,
}
NAMES = sorted(PAIRS | TRIPLES)
# What stands after the number of the tested dependency in a key, and after that of the other one: positions that agree with the
# tested one, and those that vary. In `within` the tested dependency is the embedded one.
KEYS = {
    "simple_agrmt": ("MS_MV", ""),
    "sent_comp": ("MS_MV", "BS"),
    "vp_coord": ("MS_MV_MV", ""),
    "long_vp_coord": ("MS_LMV_LMV", ""),
    "prep_anim": ("MS_MV", "ES"),
    "prep_inanim": ("IS_IV", "ES"),
    "subj_rel": ("MS_EV_MV", "ES"),
    **{f"obj_rel_{that}across_anim": ("MS_MV", "ES_EV") for that in ("", "no_comp_")},
    **{f"obj_rel_{that}across_inanim": ("IS_IV", "ES_EV") for that in ("", "no_comp_")},
    **{f"obj_rel_{that}within_anim": ("ES_EV", "MS_MV") for that in ("", "no_comp_")},
    **{f"obj_rel_{that}within_inanim": ("ES_EV", "IS_IV") for that in ("", "no_comp_")},
    "simple_reflexives": ("MS_ANPHR", ""),
    "reflexive_sent_comp": ("MS_ANPHR", "BS"),
    "reflexives_across": ("MS_ANPHR", "ES_EV"),
}


@cache
def suite(name: str, options: str = "?n=40") -> Suite:
    [found] = read_suite_file(f"{FOLDER / name}.toml{options}")
    return found


def test_the_files_are_the_constructions() -> None:
    assert [Path(file).stem for file in expand(["marvin2018"])] == NAMES


def test_the_totals_are_at_least_the_published_ones() -> None:
    assert sum(PAIRS.values()) == 152_300
    assert sum(TRIPLES.values()) == 11_480 >= 10_824
    assert max((PAIRS | TRIPLES).values()) < 25_000


@pytest.mark.parametrize("name", NAMES)
def test_sizes(name: str) -> None:
    [found] = template.templates(FOLDER / f"{name}.toml")
    if name.endswith("vp_coord"):
        # Two different verb phrases: the bound counts the equal ones as well, 7 * 7 for 7 * 6 and 5 * 5 for 5 * 4.
        assert len(suite(name, "").items) == PAIRS[name]
    else:
        assert sum(plan.size for plan in plans(found)) == (PAIRS | TRIPLES)[name]


@pytest.mark.parametrize("name", NAMES)
def test_conditions_predictions_and_tags(name: str) -> None:
    found = suite(name)
    size = 2 if name in PAIRS else 3
    assert found.predictions == marvin2018.PREDICTIONS[size]
    assert {tuple(item.sentences) for item in found.items} == {marvin2018.PAIR if size == 2 else marvin2018.TRIPLE}
    told = marvin2018.tags(name)
    assert {key: found.tags[key] for key in told if key != "source"} == {
        key: told[key] for key in told if key != "source"
    }
    assert (found.tags["author"], found.tags["contrast"][-1]) == ("Syntagm", ".")
    for item in found.items:
        numbers = marvin2018._NUMBERS.fullmatch(item.tags["configuration"])
        if size == 2:
            assert numbers
            assert (item.tags["number"], item.tags.get("attractor")) == numbers.groups()
        else:
            assert item.tags["configuration"] == item.tags["tense"]
    configurations = Counter(item.tags["configuration"] for item in found.items)
    assert len(set(configurations.values())) == 1
    assert {"lemma", "subject"} <= found.items[0].tags.keys()


@pytest.mark.parametrize("name", PAIRS)
def test_configurations_are_the_published_keys(name: str) -> None:
    tested, other = KEYS[name]
    numbers = ("sing", "plur")
    keys = {f"{one}_{tested}" + (f"_{two}_{other}" if other else "") for one in numbers for two in numbers}
    assert {item.tags["configuration"] for item in suite(name).items} == keys


@pytest.mark.parametrize("name", NAMES)
def test_sentences_differ_where_they_should_and_nowhere_else(name: str) -> None:
    for item in suite(name).items:
        texts = [sentence.text for sentence in item.sentences.values()]
        assert all(text[0].isupper() and text.endswith(".") and "  " not in text for text in texts)
        assert len({len(text.split()) for text in texts}) == 1
        if name in PAIRS:
            good, bad = item.sentences.values()
            assert [good.content(part) for part in ("prefix", "rest")] == [
                bad.content(part) for part in ("prefix", "rest")
            ]
            assert len({good.content("critical"), bad.content("critical")}) == 2
            assert " " not in good.content("critical") + bad.content("critical")
        else:
            assert [one.content("critical") for one in item.sentences.values()] == ["ever"] * 3
            assert len({one.content("rest") for one in item.sentences.values()}) == 1


@pytest.mark.parametrize("name", NAMES)
def test_the_published_style_is_that_of_the_pickles(name: str) -> None:
    texts = [one.text for item in suite(name, "?n=8&style=published").items for one in item.sentences.values()]
    assert all(set(text) <= set("abcdefghijklmnopqrstuvwxyz ") for text in texts)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_find(name: str) -> None:
    assert {finding.code for finding in violations([suite(name)])} <= {"W213"}


def test_examples() -> None:
    def texts(name: str, **tags: str) -> list[str]:
        item = next(item for item in suite(name, "").items if tags.items() <= item.tags.items())
        return [sentence.text for sentence in item.sentences.values()]

    numbers = {"number": "plur", "attractor": "sing"}
    assert texts("sent_comp", **numbers, lemma="be") == [
        "The reporter claimed the doctors are happy.",
        "The reporter claimed the doctors is happy.",
    ]
    assert texts("simple_reflexives", number="plur", lemma="herself") == [
        "The doctors blamed themselves.",
        "The doctors blamed herself.",
    ]
    assert texts("simple_npi_anim", tense="future", licensor="few", lemma="ask") == [
        "Few doctors will ever ask for help.",
        "Some doctors will ever ask for help.",
        "Many doctors will ever ask for help.",
    ]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("where", "good"),
    [
        ("across", "The films that the judge praises are long."),
        ("within", "The film that the judges praise is long."),
    ],
)
def test_number_is_that_of_the_tested_dependency(where: str, good: str) -> None:
    nouns = ("film", "judge") if where == "across" else ("judge", "film")
    tags = {"number": "plur", "attractor": "sing", "subject": nouns[0], "attractor_noun": nouns[1]}
    items = suite(f"obj_rel_{where}_inanim", "").items
    texts = [item.sentences["good"].text for item in items if tags.items() <= item.tags.items()]
    # 4 embedded verbs and 7 main verbs.
    assert len(texts) == 28
    assert good in texts


def test_no_word_is_in_two_classes_of_nouns_and_plurals_differ() -> None:
    classes = tomllib.loads(LEXICON.read_text(encoding="utf-8"))["classes"]
    nouns = []
    for name in ("ms", "es", "is", "bs"):
        rows = [[cell.strip() for cell in line.split("|")] for line in classes[name].strip().splitlines()[1:]]
        assert all(one != many for one, many in rows)
        nouns += [word for row in rows for word in row]
    assert len(nouns) == len(set(nouns))


def test_an_attractor_is_no_subject_of_a_clause_and_no_second_subject() -> None:
    # "The doctor that remembers the judges are happy"; "The doctor with the judges are happy".
    classes = tomllib.loads(LEXICON.read_text(encoding="utf-8"))["classes"]
    verbs = {line.split("|")[-1].strip() for line in classes["ev"].strip().splitlines()[1:]}
    assert not verbs & {"know", "remember", "mention", "see", "hear", "notice", "trust", "believe", "recall", "find"}
    assert not set(classes["p"].split()) & {"with", "and", "alongside"}


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["prep_inanim", "sent_comp", "simple_agrmt", "simple_npi_anim", "simple_reflexives", "vp_coord"]
)
def test_names_are_those_of_the_published_pickles(name: str, shared: Path) -> None:
    [published] = read_suite_file(shared / "data" / "marvin_linzen" / f"{name}.pickle", allow_pickle=True)
    ours = suite(name)
    assert (ours.name, ours.predictions) == (published.name, published.predictions)
    assert {item.tags["configuration"] for item in ours.items} == {
        item.tags["configuration"] for item in published.items
    }
    assert [one.name for one in ours.items[0].sentences["good" if name in PAIRS else "intrusive"].regions] == [
        one.name for one in published.items[0].sentences["good" if name in PAIRS else "intrusive"].regions
    ]
    assert list(ours.items[0].sentences) == list(published.items[0].sentences)
    assert published.items[0].tags.keys() <= ours.items[0].tags.keys()
    assert {
        key: published.tags[key]
        for key in published.tags
        if key not in ("source", "style", "language", "json:language")
    }.items() <= ours.tags.items()
    # No sentence of ours is one of theirs, letter case and full stop aside.
    theirs = {one.text for item in published.items for one in item.sentences.values()}
    assert not theirs & {one.text for item in suite(name, "?style=published").items for one in item.sentences.values()}


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_every_item(name: str) -> None:
    found = suite(name, "")
    assert len(found.items) == (PAIRS | TRIPLES)[name]
    # The published templates recombine few words (W213).
    assert {finding.code for finding in violations([found])} <= {"W213"}
    good = Counter(tuple(one.text for one in item.sentences.values()) for item in found.items)
    assert max(good.values()) == 1
