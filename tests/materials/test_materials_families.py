"""What is particular to each family of the bundled suites: the conditions of an item differ in what the design says, and in
nothing else. A row is the list of the regions of a sentence."""

import re

import pytest
from hu2020_for_tests import DESIGNS, items, suite


def family(*beginnings: str) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", [name for name in sorted(DESIGNS) if name.startswith(beginnings)])


def differ(one: list[str], other: list[str]) -> set[int]:
    """The numbers of the regions, from 1, in which two rows differ."""
    return {number for number, (a, b) in enumerate(zip(one, other, strict=True), 1) if a != b}


def plurals(noun: str) -> set[str]:
    irregular = {"child": "children", "wolf": "wolves", "midwife": "midwives", "thief": "thieves", "knife": "knives"}
    irregular |= {"fisherman": "fishermen", "wife": "wives", "leaf": "leaves", "loaf": "loaves", "mouse": "mice"}
    if noun in irregular:
        return {irregular[noun]}
    if re.search("man$", noun):
        return {noun.removesuffix("man") + "men"}
    return {noun + "es" if re.search("(s|x|z|ch|sh)$", noun) else re.sub("([^aeiou])y$", r"\1ie", noun) + "s"}


def singular_verb(plural: str) -> str:
    irregular = {"are": "is", "were": "was", "have": "has", "do": "does"}
    if plural in irregular:
        return irregular[plural]
    if re.search(r"[^aeiou]y$", plural):
        return plural[:-1] + "ies"
    return plural + ("es" if re.search(r"(s|x|z|ch|sh|o)$", plural) else "s")


@pytest.mark.parametrize(
    ("name", "head", "attractor", "verb"),
    [("number_prep", 2, 5, 6), ("number_src", 2, 6, 7), ("number_orc", 2, 5, 7)],
)
def test_number_differs_in_number_alone(name: str, head: int, attractor: int, verb: int) -> None:
    for item in items(name):
        sing, plural = item["match_sing"], item["match_plural"]
        assert plural[head - 1] in plurals(sing[head - 1])
        assert sing[attractor - 1] in plurals(plural[attractor - 1]), (
            "the attractor has the number opposite to the head"
        )
        assert sing[verb - 1] == singular_verb(plural[verb - 1])
        assert differ(sing, plural) == {head, attractor, verb}
        assert differ(item["mismatch_sing"], sing) == differ(item["mismatch_plural"], plural) == {verb}
        assert item["mismatch_sing"][verb - 1] == plural[verb - 1]
        assert item["mismatch_plural"][verb - 1] == sing[verb - 1]


@pytest.mark.parametrize("name", ["number_prep", "number_src", "number_orc"])
def test_number_repeats_no_noun(name: str) -> None:
    sings = [item["match_sing"] for item in items(name)]
    attractor = DESIGNS[name].critical[0] - (3 if name == "number_orc" else 2)
    nouns = [sing[1] for sing in sings] + [re.sub("s$", "", sing[attractor]) for sing in sings]
    assert len(set(nouns)) == 2 * len(sings)


REFLEXIVES = {"masc": "himself", "fem": "herself"}


@family("reflexive")
def test_reflexives_differ_in_number_alone(name: str) -> None:
    attractor = 6 if "_src" in name else 5
    last = DESIGNS[name].regions
    for item in items(name):
        sing, plural = item["match_sing"], item["match_plural"]
        assert plural[1] in plurals(sing[1])
        assert sing[attractor - 1] in plurals(plural[attractor - 1])
        assert differ(sing, plural) == {2, attractor, last}
        assert (sing[-1], plural[-1]) == (REFLEXIVES[name.split("_")[-1]], "themselves")
        assert item["mismatch_sing"] == [*sing[:-1], "themselves"]
        assert item["mismatch_plural"] == [*plural[:-1], sing[-1]]


@pytest.mark.parametrize("structure", ["orc", "prep", "src"])
def test_the_two_genders_share_their_items(structure: str) -> None:
    masculine = [
        {condition: [word.replace("himself", "herself") for word in row] for condition, row in item.items()}
        for item in items(f"reflexive_{structure}_masc")
    ]
    assert masculine == items(f"reflexive_{structure}_fem")


@family("npi")
def test_npi_differs_in_the_two_determiners_alone(name: str) -> None:
    inner = 4 if "_orc_" in name else 5
    for item in items(name):
        for condition, row in item.items():
            first, second = condition.split("_")
            assert row[0] == {"neg": "No", "pos": "The"}[first]
            assert row[inner - 1] == {"neg": "no", "pos": "the"}[second]
            assert differ(row, item["neg_pos"]) <= {1, inner}
            assert row[7] == name.split("_")[-1]


# Verbs whose object could be the subject of a clause: "The nurse that trusted no surgeon has voiced any doubts".
TAKE_CLAUSES = "believed claimed forgot heard knew mentioned noticed recalled remembered reported saw thought trusted"


@pytest.mark.parametrize("name", ["npi_src_any", "npi_src_ever", "number_src"])
def test_the_verb_of_a_subject_relative_takes_no_clause(name: str) -> None:
    verbs = {item.tags["embedded_verb"] for item in suite(name).items}
    assert not verbs & set(TAKE_CLAUSES.split())


# What people do when they "do" it: clean a mirror, write a contract, visit a temple.
DONE = "book ceiling contract dress flat floor homework laundry mirror nails report temple thesis wine"


def test_nobody_does_what_a_cleft_is_about() -> None:
    assert not {item.tags["noun"] for item in suite("cleft").items} & set(DONE.split())


@pytest.mark.parametrize("structure", ["orc", "src"])
def test_any_and_ever_share_their_subjects(structure: str) -> None:
    def subjects(name: str) -> list[list[str]]:
        return [item["neg_pos"][:6] for item in items(name)]

    assert subjects(f"npi_{structure}_any") == subjects(f"npi_{structure}_ever")


# The region that is the gap, and the condition without one that it is made from.
GAPS = {"fgd_object": 5, "fgd_pp": 7, "fgd_subject": 3}


@pytest.mark.parametrize("name", GAPS)
def test_fgd_differs_in_filler_and_gap_alone(name: str) -> None:
    gap = GAPS[name]
    for item in items(name):
        full = item["that_nogap"]
        assert all(full)
        assert full[1] == "that"
        assert item["what_nogap"][1] in {"what", "who"}
        assert differ(item["what_nogap"], full) == {2}
        assert item["that_gap"] == [*full[: gap - 1], "", *full[gap:]]
        assert item["what_gap"] == [full[0], item["what_nogap"][1], *item["that_gap"][2:]]


@pytest.mark.parametrize("name", ["fgd_object", "fgd_pp", "fgd_subject"])
def test_fgd_repeats_no_subject_verb_or_object(name: str) -> None:
    full = [item["that_nogap"] for item in items(name)]
    for place in (2, 3, 4):
        assert len({row[place] for row in full}) == len(full)


def test_fgd_hierarchy_has_a_gap_in_the_subject_or_in_the_matrix_clause() -> None:
    for item in items("fgd_hierarchy"):
        full = item["that_nogap"]
        assert (full[2], all(full)) == ("that", True)
        assert item["that_subjgap"] == [*full[:4], "", *full[5:]]
        assert item["that_matrixgap"] == [*full[:7], "", *full[8:]]
        fillers = {item[f"what_{kind}"][2] for kind in ("nogap", "subjgap", "matrixgap")}
        assert fillers <= {"what", "who"}
        assert len(fillers) == 1
        for kind in ("nogap", "subjgap", "matrixgap"):
            assert differ(item[f"what_{kind}"], item[f"that_{kind}"]) == {3}


@pytest.mark.parametrize(("name", "layers"), [("fgd-embed3", 3), ("fgd-embed4", 4)])
def test_embedded_gaps_differ_in_filler_and_gap_alone(name: str, layers: int) -> None:
    for item in items(name):
        full = item["that_no-gap"]
        assert all(full)
        assert full[1] == "that"
        # One complementizer a layer, of which one may be left out.
        assert full[2].split().count("that") in (layers - 1, layers)
        assert item["what_no-gap"] == [full[0], "what", *full[2:]]
        assert item["that_gap"] == [*full[:5], "", full[6]]
        assert item["what_gap"] == [full[0], "what", *full[2:5], "", full[6]]


def test_the_two_depths_share_their_items() -> None:
    for shallow, deep in zip(items("fgd-embed3"), items("fgd-embed4"), strict=True):
        assert all(differ(shallow[condition], deep[condition]) == {3} for condition in shallow)
        assert deep["that_gap"][2].count("that ") == shallow["that_gap"][2].count("that ") + 1


@pytest.mark.parametrize("name", ["cleft", "cleft_modifier"])
def test_clefts_differ_in_did_and_the_verb_phrase_alone(name: str) -> None:
    verb = DESIGNS[name].critical[0]
    for item in items(name):
        did, other = item["vp_match"], item["vp_mismatch"]
        assert did[2] == "did"
        assert differ(did, other) == differ(item["np_mismatch"], item["np_match"]) == {3}
        assert differ(did, item["np_mismatch"]) == differ(other, item["np_match"]) == {verb}
        assert item["np_mismatch"][verb - 1] == ""
        assert other[2] != did[verb - 1]


@pytest.mark.parametrize("name", ["center_embed", "center_embed_mod"])
def test_center_embedding_swaps_the_two_verbs(name: str) -> None:
    for item in items(name):
        *before, first, second = item["plaus"]
        assert item["implaus"] == [*before, second, first]
        assert first != second


# Participles that no past tense shares, and past tenses that serve as participles too.
ONLY_PARTICIPLES = re.compile(
    "beaten|blown|broken|chosen|driven|eaten|flown|forbidden|forgiven|forgotten|frozen|given|hidden|known|seen|shown"
    "|taken|thrown|torn|drawn|stolen|written|bitten|shaken|spoken|woken|ridden|sung|begun|drunk"
)
IRREGULAR_BOTH = {
    "brought",
    "left",
    "paid",
    "read",
    "sent",
    "sold",
    "spread",
    "taught",
    "told",
    "found",
    "held",
    "kept",
}


@pytest.mark.parametrize("name", ["mvrr", "mvrr_mod"])
def test_mvrr_differs_in_participle_and_reduction_alone(name: str) -> None:
    for item in items(name):
        ambig, unambig = item["reduced_ambig"], item["reduced_unambig"]
        assert ambig[2].endswith("ed") or ambig[2] in IRREGULAR_BOTH
        assert ONLY_PARTICIPLES.fullmatch(unambig[2])
        assert differ(ambig, unambig) == {3}
        openings = set()
        for reduced, full in ((ambig, item["unreduced_ambig"]), (unambig, item["unreduced_unambig"])):
            relative, copula, participle = full[2].split()
            assert participle == reduced[2]
            assert differ(reduced, full) == {3}
            openings.add((relative, copula))
        ((relative, copula),) = openings
        assert relative in {"who", "that"}
        assert copula == ("were" if ambig[1].endswith("s") and not ambig[1].endswith("ss") else "was")


def test_mvrr_repeats_no_noun_ambiguous_verb_or_relative_clause() -> None:
    found = [item["reduced_ambig"] for item in items("mvrr")]
    for place in (1, 2, 3):
        assert len({row[place] for row in found}) == len(found)


@family("npz_ambig")
def test_npz_ambig_differs_in_verb_and_comma_alone(name: str) -> None:
    for item in items(name):
        assert {condition: row[2] for condition, row in item.items()} == {
            "ambig_nocomma": "", "unambig_nocomma": "", "ambig_comma": ",", "unambig_comma": ",",
        }  # fmt: skip
        assert differ(item["ambig_nocomma"], item["unambig_nocomma"]) == {2}
        assert differ(item["ambig_comma"], item["unambig_comma"]) == {2}
        for verb in ("ambig", "unambig"):
            assert differ(item[f"{verb}_nocomma"], item[f"{verb}_comma"]) == {3}


@family("npz_obj")
def test_npz_obj_differs_in_object_and_comma_alone(name: str) -> None:
    for item in items(name):
        for comma, mark in (("no-comma", ""), ("comma", ",")):
            bare, full = item[f"no-obj_{comma}"], item[f"obj_{comma}"]
            assert bare[2] == full[2] == mark
            assert differ(bare, full) == {2}
            assert (bare[1] == "", full[1] == "") == (True, False)
        assert differ(item["obj_no-comma"], item["obj_comma"]) == {3}


SUBORDINATORS = {"after", "although", "as", "because", "before", "since", "until", "when", "while"}


@family("subordination")
def test_subordination_differs_in_subordinator_and_main_clause_alone(name: str) -> None:
    for item in items(name):
        last = DESIGNS[name].regions
        for main in ("no-matrix", "matrix"):
            with_it, without = item[f"sub_{main}"], item[f"no-sub_{main}"]
            subordinator, subject = with_it[0].split(" ", 1)
            assert subordinator.lower() in SUBORDINATORS
            assert without[0] == subject[0].upper() + subject[1:]
            assert differ(with_it, without) == {1}
        assert differ(item["sub_matrix"], item["sub_no-matrix"]) == {last}
        assert item["sub_no-matrix"][-1] == "."
        assert re.fullmatch(r", [a-z].*\.", item["sub_matrix"][-1])


def test_subordination_varies_its_subordinator() -> None:
    found = [item["sub_matrix"][0].split()[0] for item in items("subordination")]
    assert set(map(str.lower, found)) == SUBORDINATORS
    assert max(map(found.count, found)) <= 4


SINGULAR = {"This", "Each", "Every", "One", "Another"}
PLURAL = {"These", "Those", "Two", "Both", "Several", "Many", "Most"}
EITHER = {"The", "Our", "My"}


def test_nn_nv_rpl_differs_in_the_determiner_alone() -> None:
    for item in items("nn-nv-rpl"):
        for kind, decided in (("nn", PLURAL), ("nv", SINGULAR)):
            ambiguous, unambiguous = item[f"{kind}_ambig"], item[f"{kind}_unambig"]
            assert differ(ambiguous, unambiguous) == {1}
            assert ambiguous[0] in EITHER
            assert unambiguous[0] in decided
        noun, verb = item["nn_ambig"], item["nv_ambig"]
        assert noun[:3] == verb[:3]
        # A form in -s is both a plural noun and a singular verb; what comes in the end decides.
        assert noun[2].endswith("s")
        assert noun[4] != verb[4]
