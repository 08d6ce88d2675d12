"""The 16 bundled suites of `textbook`: sizes, tags, and what their formulas compare."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from hu2020_for_tests import compared

import syntagm
from syntagm.suites import Suite

# Suite: its topic on the page about coverage.
TOPICS = {
    "auxiliary_form": "auxiliaries and verb movement",
    "case_clause": "case",
    "case_infinitive": "case",
    "comparative": "comparatives",
    "coordination_gap": "coordination",
    "coordination_parallel": "coordination",
    "ditransitive": "ditransitive verbs",
    "do_support": "auxiliaries and verb movement",
    "ellipsis": "ellipsis",
    "gapping": "ellipsis",
    "inversion_negative": "auxiliaries and verb movement",
    "inversion_question": "auxiliaries and verb movement",
    "particle": "particle verbs",
    "passive": "passive",
    "small_clause": "small clauses",
    "superiority": "superiority",
}
every_suite = pytest.mark.parametrize("name", sorted(TOPICS))
FUNCTION = """
after also although away because been before behind could does each every from have into more most much never
nowhere only other over that their them then these they this those under until were what when where which will
with without would your
"""


@cache
def suites() -> dict[str, Suite]:
    return {suite.name: suite for suite in syntagm.read_suites("textbook")}


def columns(name: str, *tags: str) -> list[tuple[str, ...]]:
    """Return the values of some tags, item by item."""
    return [tuple(item.tags[tag] for tag in tags) for item in suites()[name].items]


def test_the_suites_are_there_and_check_finds_nothing() -> None:
    assert suites().keys() == TOPICS.keys()
    # W205 among others: a comparison changes the region or the text before it, never both.
    assert [str(finding) for finding in syntagm.check_suites(list(suites().values()))] == []


@every_suite
def test_tags_and_sizes(name: str) -> None:
    suite = suites()[name]
    tags = suite.tags
    assert (tags["author"], tags["licence"], tags["textbook"]) == ("Syntagm", "MIT", TOPICS[name])
    assert all(tags[key].strip() for key in ("circuit", "phenomenon", "reference", "comment"))
    assert re.fullmatch(r"[A-Z][^\n.]+\.", tags["contrast"]), "one sentence"
    assert len(suite.items) >= 24
    assert set(tags["ungrammatical"].split()) < suite.items[0].sentences.keys()


@every_suite
def test_text_is_clean_varied_and_never_repeated(name: str) -> None:
    texts = [sentence.text for item in suites()[name].items for sentence in item.sentences.values()]
    assert len(set(texts)) == len(texts)
    for text in texts:
        assert re.fullmatch(r"[A-Z][a-z]*(?:,? [A-Za-z]+(?:-[a-z]+)?| \d{4})*[.?]", text), text
        assert not re.search(r"\b(\w+) \1\b", text), text
        for article, vowel in re.findall(r"\b(an?) (hour|[aeiou]?)", text, re.IGNORECASE):
            assert (article.lower() == "an") == bool(vowel), text
    number = Counter(
        word
        for item in suites()[name].items
        for word in {w for s in item.sentences.values() for w in re.findall("[a-z]{4,}", s.text.lower())}
    )
    few = {word: n for word, n in number.items() if 4 < n < 24 and word not in FUNCTION.split()}
    assert few == {}


@every_suite
def test_what_is_compared_are_the_same_words(name: str) -> None:
    """So a model blind to context ties or contradicts itself."""
    for left, right in compared(suites()[name]):
        for item in suites()[name].items:
            words = [
                sorted(
                    word
                    for part in side
                    for region in item.sentences[part.condition].regions
                    if region.name == part.region
                    for word in item.sentences[part.condition].text[region.start : region.end].lower().split()
                )
                for side in (left, right)
            ]
            assert words[0]
            # The two cases of a pronoun: in one comparison nominative before accusative, in the other the reverse.
            assert words[0] == words[1] or name == "case_clause"


@every_suite
def test_a_starred_condition_is_never_expected_to_be_better(name: str) -> None:
    suite = suites()[name]
    starred = set(suite.tags["ungrammatical"].split())
    good = suite.items[0].sentences.keys() - starred
    used = {part.condition for pair in compared(suite) for side in pair for part in side}
    assert used == good | starred
    for prediction in suite.predictions:
        for better, worse in re.findall(r"%(\w+)%\)\)* < \(*\(\w+;%(\w+)%", prediction.formula.text):
            assert (better in good, worse in starred) == (True, True)
        for worse, better in re.findall(r"%(\w+)%\)\)* > \(*\(\w+;%(\w+)%", prediction.formula.text):
            assert worse in starred or " - " in prediction.formula.text
            assert better in good


def test_forms_that_must_differ_do() -> None:
    for name, condition, other in (
        ("do_support", "question_plain", "question_past"),
        ("auxiliary_form", "will_plain", "will_participle"),
        ("passive", "active_object", "passive_by"),
    ):
        for item in suites()[name].items:
            contents = [item.sentences[one].content("verb").removeprefix("was ") for one in (condition, other)]
            assert contents[0] != contents[1]


def test_verbs_with_and_without_a_frame_are_different_sets() -> None:
    for name, tags in (("ditransitive", ("alternating", "other")), ("small_clause", ("taking", "other"))):
        with_it, without = (set(column) for column in zip(*columns(name, *tags), strict=True))
        assert not with_it & without


def test_no_particle_is_a_preposition() -> None:
    assert {particle for (particle,) in columns("particle", "particle")} <= {
        "apart", "aside", "away", "back", "out", "together",
    }  # fmt: skip


def test_no_subordinator_of_gapping_is_a_preposition() -> None:
    assert {word for (word,) in columns("gapping", "subordinator")} == {"although", "because"}


def test_the_page_on_coverage_names_every_suite_beside_its_topic() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "coverage.md").read_text(encoding="utf-8")
    section = page.partition("\n## What `textbook` adds\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| ([^|`]+) \| ((?:`[^`|]+`(?:, )?)+) \|", section, re.MULTILINE)
    assert {(topic, name) for topic, names in lines for name in re.findall("`([^`]+)`", names)} == {
        (topic, name) for name, topic in TOPICS.items()
    }
