"""The paradigms of warstadt2020, read from the sentences alone: with rules of their own, without the lexicon."""

import re
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

import syntagm as sg
from syntagm import materials
from syntagm.suite import Suite

FOLDER = Path(materials.__file__).parent / "warstadt2020"
NAMES = sorted(path.stem for path in FOLDER.glob("*.toml"))
PHENOMENA = {
    "anaphor_agreement": 2, "argument_structure": 9, "binding": 7, "control_raising": 5, "determiner_noun_agreement": 8,
    "ellipsis": 2,
    "filler_gap_dependency": 7, "irregular_forms": 2, "island_effects": 8, "npi_licensing": 7, "quantifiers": 4,
    "subject_verb_agreement": 6,
}  # fmt: skip
FIELDS = {"morphology": 18, "semantics": 9, "syntax": 26, "syntax_semantics": 14}
# Warstadt et al. 2020: the methods that fit a paradigm besides whole sentences.
ONE_PREFIX = """anaphor_gender_agreement anaphor_number_agreement animate_subject_passive principle_A_c_command
principle_A_case_1 principle_A_case_2 principle_A_domain_1 principle_A_domain_2 determiner_noun_agreement_1
determiner_noun_agreement_irregular_1 determiner_noun_agreement_with_adjective_1 determiner_noun_agreement_with_adj_irregular_1
irregular_past_participle_verbs wh_island npi_present_1 npi_present_2 regular_plural_subject_verb_agreement_1
irregular_plural_subject_verb_agreement_1 distractor_agreement_relational_noun distractor_agreement_relative_clause"""
TWO_PREFIX = """animate_subject_trans transitive principle_A_domain_3 existential_there_object_raising expletive_it_object_raising
determiner_noun_agreement_2 determiner_noun_agreement_irregular_2 determiner_noun_agreement_with_adj_2
determiner_noun_agreement_with_adj_irregular_2 irregular_past_participle_adjectives
coordinate_structure_constraint_complex_left_branch left_branch_island_echo_question matrix_question_npi_licensor_present
only_npi_licensor_present only_npi_scope sentential_negation_npi_licensor_present sentential_negation_npi_scope
superlative_quantifiers_2 regular_plural_subject_verb_agreement_2 irregular_plural_subject_verb_agreement_2"""
PREFIXES = {"one_prefix": set(ONE_PREFIX.split()), "two_prefix": set(TWO_PREFIX.split())}
# By their first sound; all other words by their first letter.
CONSONANTS = (
    "eu",
    "ewe",
    "one",
    "ouija",
    "ubiquit",
    "unanim",
    "unicorn",
    "unif",
    "union",
    "uniq",
    "unit",
    "univers",
    "ura",
    "usa",
    "use",
    "usu",
    "utens",
    "util",
)
VOWELS = ("heir", "honest", "hono", "hour")


def paradigm(name: str, n: int) -> Suite:
    [suite] = sg.read_suites(f"warstadt2020/{name}?n={n}")
    return suite


def words(sentence: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", sentence)


def article_fits(article: str, word: str) -> bool:
    vowel = word.lower().startswith(VOWELS) or (word.lower()[0] in "aeiou" and not word.lower().startswith(CONSONANTS))
    return (article.lower() == "an") == vowel


def faults(suite: Suite) -> list[str]:
    """Return what is wrong with the sentences of a paradigm."""
    found, seen = [], Counter[str]()
    regions = {prediction.name for prediction in suite.predictions} - {"full_sentence"}
    for item in suite.items:
        good, bad = item.sentences["good"], item.sentences["bad"]
        for text in (good.text, bad.text):
            seen[text] += 1
            listed = words(text)
            if not re.fullmatch(r"[A-Z][^.?!]*[^\s.?!][.?]", text) or "  " in text or " ." in text or " ?" in text:
                found.append(f"form: {text!r}")
            if re.search(r"\b(and|the|of|a|an|some|these|those|to|by) \1\b", text, re.IGNORECASE):
                found.append(f"a doubled word: {text}")
            if re.search(r"\b(the|of|a|an|and|by|not|some|these|those|this)[.?]$", text):
                found.append(f"a dangling word: {text}")
            found += [
                f"article: {text}"
                for first, second in pairwise(listed)
                if first.lower() in ("a", "an") and not article_fits(first, second)
            ]
        if text_of(good.text) == text_of(bad.text):
            found.append(f"the same sentence twice: {good.text}")
        if regions:
            (good_prefix, good_word, good_rest), (bad_prefix, bad_word, bad_rest) = (
                [sentence.text[region.start : region.end].strip().casefold() for region in sentence.regions]
                for sentence in (good, bad)
            )
            same = [good_prefix == bad_prefix, good_word == bad_word, good_rest.strip(".?") == bad_rest.strip(".?")]
            if same != ([True, False, True] if regions == {"one_prefix"} else [False, True, True]):
                found.append(f"prefixes: {good.text} / {bad.text}")
    return found + [f"twice: {text}" for text, times in seen.items() if times > 1]


def text_of(sentence: str) -> str:
    return " ".join(words(sentence)).casefold()


def test_the_paradigms_of_the_paper_in_its_groups() -> None:
    assert len(NAMES) == 67
    templates = [tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8")) for name in NAMES]
    tags = [template["tags"] for template in templates]
    assert Counter(tag["linguistics_term"] for tag in tags) == PHENOMENA
    assert Counter(tag["field"] for tag in tags) == FIELDS
    assert [tag["UID"] for tag in tags] == NAMES
    assert {next(iter(template["predictions"])) for template in templates} == {"full_sentence"}
    for method, names in PREFIXES.items():
        assert {template["tags"]["UID"] for template in templates if method in template["predictions"]} == names


@pytest.mark.parametrize("name", NAMES[::11])
def test_a_sample_is_well_formed(name: str) -> None:
    suite = paradigm(name, 30)
    assert len(suite.items) == 30
    assert faults(suite) == []


@pytest.mark.slow
def test_all_67_000_pairs_are_well_formed_and_hardly_a_sentence_is_in_two_paradigms() -> None:
    seen = Counter[str]()
    for name in NAMES:
        suite = paradigm(name, 1000)
        assert len(suite.items) == 1000
        assert (name, faults(suite)) == (name, [])
        seen.update(item.sentences["good"].text for item in suite.items)
    # Paradigms are drawn independently, so that each is the same alone. The published files share 16 good sentences.
    assert sum(times > 1 for times in seen.values()) <= 30


def test_the_rules_find_faults() -> None:
    assert article_fits("an", "heir")
    assert article_fits("a", "unicorn")
    assert not article_fits("a", "apple")
    assert not article_fits("an", "uniform")
