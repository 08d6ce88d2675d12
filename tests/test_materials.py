"""The bundled suites: what each must keep so that a verdict is about its contrast and nothing else."""

import json
import re
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import syntagm.materials
from syntagm.formula import Binary, Reference, parse

FOLDER = Path(syntagm.materials.__file__).parent
FILES = sorted(FOLDER.glob("*/*.json"))
SUITES: dict[str, dict[str, Any]] = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in FILES}
HU2020 = {"number_prep": (28, 7), "fgd_object": (28, 8), "mvrr": (28, 6)}  # items, regions

every_suite = pytest.mark.parametrize("name", sorted(SUITES))


def items(name: str) -> list[dict[str, list[str]]]:
    """The contents of the regions by condition, one dict an item."""
    return [
        {c["condition_name"]: [region["content"] for region in c["regions"]] for c in item["conditions"]}
        for item in SUITES[name]["items"]
    ]


def text(contents: list[str]) -> str:
    return " ".join(content for content in contents if content)


def texts(name: str) -> list[str]:
    return [text(contents) for item in items(name) for contents in item.values()]


def comparisons(node: object) -> list[tuple[Reference, Reference]]:
    """Those comparisons of a formula that set one region against one region."""
    if not isinstance(node, Binary):
        return []
    if node.operator in "<>" and isinstance(node.left, Reference) and isinstance(node.right, Reference):
        return [(node.left, node.right)]
    return comparisons(node.left) + comparisons(node.right)


def test_the_three_suites_are_there() -> None:
    assert {path.stem for path in (FOLDER / "hu2020").glob("*.json")} == set(HU2020)


@pytest.mark.parametrize("name", HU2020)
def test_size(name: str) -> None:
    count, regions = HU2020[name]
    assert len(items(name)) == count
    assert {len(contents) for item in items(name) for contents in item.values()} == {regions}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_file_is_written_in_the_published_manner(path: Path) -> None:
    suite = SUITES[path.stem]
    assert path.read_text(encoding="utf-8") == json.dumps(suite, indent=4, ensure_ascii=False)
    assert suite["meta"]["name"] == path.stem
    assert suite["meta"]["metric"] == "sum"
    assert {"author", "reference", "comment", "circuit", "phenomenon", "paper", "licence"} <= set(suite["meta"])


@every_suite
def test_numbers_and_conditions_are_the_same_everywhere(name: str) -> None:
    suite = SUITES[name]
    assert [item["item_number"] for item in suite["items"]] == list(range(1, len(suite["items"]) + 1))
    assert len({tuple(item) for item in items(name)}) == 1
    expected = list(range(1, len(suite["region_meta"]) + 1))
    assert [int(number) for number in suite["region_meta"]] == expected
    for item in suite["items"]:
        assert len({c["condition_name"] for c in item["conditions"]}) == len(item["conditions"])
        for condition in item["conditions"]:
            assert [region["region_number"] for region in condition["regions"]] == expected


@every_suite
def test_no_sentence_occurs_twice(name: str) -> None:
    # Two equal conditions tie, so their item could never be passed.
    assert len(set(texts(name))) == len(texts(name))


@every_suite
def test_no_two_items_share_two_phrases(name: str) -> None:
    for one, other in combinations(items(name), 2):
        condition = next(iter(one))
        same = [a for a, b in zip(one[condition], other[condition], strict=True) if a == b and " " in a]
        assert len(same) <= 1, (text(one[condition]), text(other[condition]))


@every_suite
def test_text_is_clean(name: str) -> None:
    for item in items(name):
        for contents in item.values():
            assert all(content == " ".join(content.split()) for content in contents)
            assert contents[0], "the first region of a sentence must not be blank"
            assert re.fullmatch(r"[A-Z][A-Za-z0-9]*( [A-Za-z0-9]+)*", text(contents)), text(contents)


@every_suite
def test_articles_fit_the_next_word(name: str) -> None:
    vowel = re.compile(r"(?!uni|use|usu|eu|one\b)[aeiou]|hour|honest|heir", re.IGNORECASE)
    for sentence in texts(name):
        for article, word in re.findall(r"\b(an?) (\w+)", sentence, re.IGNORECASE):
            assert (article.lower() == "an") == bool(vowel.match(word)), sentence


@every_suite
def test_a_comparison_changes_the_context_or_the_region_never_both(name: str) -> None:
    for prediction in SUITES[name]["predictions"]:
        assert prediction["type"] == "formula"
        pairs = comparisons(parse(prediction["formula"]).tree)
        assert pairs
        for item in items(name):
            for left, right in pairs:
                assert left.region == right.region
                place = int(left.region) - 1
                a, b = item[left.condition], item[right.condition]
                assert a[place], text(a)
                assert b[place], text(b)
                assert (a[:place] == b[:place]) != (a[place] == b[place]), (text(a), text(b))


@every_suite
def test_formulas_name_only_what_exists(name: str) -> None:
    suite = SUITES[name]
    for prediction in suite["predictions"]:
        for reference in parse(prediction["formula"]).references():
            assert reference.region in suite["region_meta"]
            assert reference.condition in items(name)[0]


def plurals(noun: str) -> set[str]:
    irregular = {"child": "children", "wolf": "wolves", "midwife": "midwives"}
    if noun in irregular:
        return {irregular[noun]}
    return {noun + "s", noun + "es", re.sub("y$", "ies", noun)} - {noun}


def singular_verb(plural: str) -> str:
    irregular = {"are": "is", "were": "was", "have": "has", "do": "does"}
    if plural in irregular:
        return irregular[plural]
    if re.search(r"[^aeiou]y$", plural):
        return plural[:-1] + "ies"
    return plural + ("es" if re.search(r"(s|x|z|ch|sh|o)$", plural) else "s")


def test_number_prep_differs_in_number_alone() -> None:
    for item in items("number_prep"):
        sing, plural = item["match_sing"], item["match_plural"]
        assert plural[1] in plurals(sing[1])
        assert sing[4] in plurals(plural[4]), "the attractor has the number opposite to the head"
        assert sing[5] == singular_verb(plural[5])
        assert [sing[i] for i in (0, 2, 3, 6)] == [plural[i] for i in (0, 2, 3, 6)]
        assert item["mismatch_sing"] == [*sing[:5], plural[5], sing[6]]
        assert item["mismatch_plural"] == [*plural[:5], sing[5], plural[6]]


def test_number_prep_varies_its_words() -> None:
    sings = [item["match_sing"] for item in items("number_prep")]
    assert len({sing[1] for sing in sings} | {sing[4] for sing in sings}) == 2 * 28
    assert len({sing[5] for sing in sings}) >= 22
    assert len({sing[2] for sing in sings}) >= 20


def test_fgd_object_differs_in_filler_and_gap_alone() -> None:
    for item in items("fgd_object"):
        full = item["that_nogap"]
        assert full[1] == "that"
        assert all(full)
        assert item["what_nogap"] == [full[0], "what", *full[2:]]
        assert item["that_gap"] == [*full[:4], "", *full[5:]]
        assert item["what_gap"] == [full[0], "what", *full[2:4], "", *full[5:]]


def test_fgd_object_repeats_no_subject_verb_or_object() -> None:
    rows = [item["that_nogap"] for item in items("fgd_object")]
    for place in (2, 3, 4):
        assert len({row[place] for row in rows}) == 28


# Participles that no past tense shares, and past tenses that serve as participles too.
ONLY_PARTICIPLES = re.compile(
    "beaten|blown|broken|chosen|driven|eaten|flown|forbidden|forgiven|forgotten|frozen|given|hidden|known|seen|shown"
    "|taken|thrown|torn"
)
IRREGULAR_BOTH = {"brought", "left", "paid", "read", "sent", "sold", "spread", "taught"}


def test_mvrr_differs_in_participle_and_reduction_alone() -> None:
    for item in items("mvrr"):
        ambig, unambig = item["reduced_ambig"], item["reduced_unambig"]
        assert ambig[2].endswith("ed") or ambig[2] in IRREGULAR_BOTH
        assert ONLY_PARTICIPLES.fullmatch(unambig[2])
        assert [*ambig[:2], *ambig[3:]] == [*unambig[:2], *unambig[3:]]
        openings = set()
        for reduced, full in ((ambig, item["unreduced_ambig"]), (unambig, item["unreduced_unambig"])):
            relative, copula, participle = full[2].split()
            assert participle == reduced[2]
            assert [*full[:2], *full[3:]] == [*reduced[:2], *reduced[3:]]
            openings.add((relative, copula))
        assert len(openings) == 1
        relative, copula = openings.pop()
        assert relative in {"who", "that"}
        assert copula == ("were" if ambig[1].endswith("s") and not ambig[1].endswith("ss") else "was")


def test_mvrr_repeats_no_noun_ambiguous_verb_or_relative_clause() -> None:
    rows = [item["reduced_ambig"] for item in items("mvrr")]
    for place in (1, 2, 3):
        assert len({row[place] for row in rows}) == 28


@every_suite
def test_the_reader_assembles_the_same_sentences(name: str) -> None:
    reader = pytest.importorskip("syntagm.formats._read", reason="no reader of suites", exc_type=ModuleNotFoundError)
    path = next(path for path in FILES if path.stem == name)
    (suite,) = reader.read(path)
    assert (suite.name, suite.aggregate, suite.tags["circuit"]) == (name, "sum", SUITES[name]["meta"]["circuit"])
    assert [sentence.text for item in suite.items for sentence in item.sentences.values()] == texts(name)
