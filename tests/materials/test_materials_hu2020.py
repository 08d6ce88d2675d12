"""The 34 bundled suites in the design of Hu et al. 2020: what is fixed of them, and what each must keep so that a verdict is
about its contrast and nothing else. What is particular to a family is in test_materials_families.py."""

import fnmatch
import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from hu2020_for_tests import DESIGNS, compared, items, joined, numbered, rows, suite, suites

import syntagm
from syntagm.suites import bundled_suites, collections

every_suite = pytest.mark.parametrize("name", sorted(DESIGNS))


def texts(name: str) -> list[str]:
    return [sentence.text for item in suite(name).items for sentence in item.sentences.values()]


def labels(name: str) -> list[str]:
    return [region.name for region in next(iter(suite(name).items[0].sentences.values())).regions]


def test_the_34_suites_are_there() -> None:
    assert len(DESIGNS) == 34
    assert sorted(one.name for one in suites()) == sorted(DESIGNS)


def test_nothing_is_odd_in_the_eyes_of_check() -> None:
    # An empty region that is compared is meant in no suite, so not even warnings.
    assert [str(finding) for finding in syntagm.check_suites(suites())] == []


@every_suite
def test_the_design_is_that_of_the_released_suite(name: str) -> None:
    found, design = suite(name), DESIGNS[name]
    assert found.aggregate == "sum"
    assert found.tags.get("circuit", "") == design.circuit
    for item in found.items:
        assert sorted(item.sentences) == sorted(design.conditions)
        assert {len(contents) for contents in rows(item).values()} == {design.regions}


@every_suite
def test_the_predictions_are_those_of_the_paper_and_the_release(name: str) -> None:
    predictions, design = suite(name).predictions, DESIGNS[name]
    assert [prediction.name for prediction in predictions] == list(design.formulas)
    for prediction in predictions:
        assert numbered(name, prediction.formula.text) == numbered(name, design.formulas[prediction.name])


@every_suite
def test_the_critical_regions_have_the_published_numbers(name: str) -> None:
    named = {
        reference.region for prediction in suite(name).predictions for reference in prediction.formula.references()
    }
    assert {labels(name).index(region) + 1 for region in named} == set(DESIGNS[name].critical)


@every_suite
def test_items_are_numbered_and_have_the_same_conditions_regions_and_tags(name: str) -> None:
    found = suite(name)
    assert len(found.items) >= 24
    assert [item.id for item in found.items] == [str(number) for number in range(1, len(found.items) + 1)]
    assert len({tuple(item.sentences) for item in found.items}) == 1
    sentences = [sentence for item in found.items for sentence in item.sentences.values()]
    assert len({tuple(region.name for region in sentence.regions) for sentence in sentences}) == 1
    assert len({tuple(item.tags) for item in found.items}) == 1
    assert found.items[0].tags
    assert all(value for item in found.items for value in item.tags.values())


@every_suite
def test_a_suite_says_what_it_tests_and_where_it_comes_from(name: str) -> None:
    tags = suite(name).tags
    assert (tags["paper"], tags["author"], tags["licence"]) == ("Hu et al. 2020", "Syntagm", "MIT")
    assert all(tags[key].strip() for key in ("phenomenon", "reference", "textbook", "contrast", "comment"))
    assert re.fullmatch(r"[A-Z'‘\"][^\n]+\.", tags["contrast"]), "one sentence"
    assert ". " not in tags["contrast"], "one sentence"
    assert not any("chance" in key for key in tags), "chance is computed, never written"


@every_suite
def test_no_sentence_occurs_twice(name: str) -> None:
    # Two equal conditions tie, so their item could never be passed.
    assert [text for text, number in Counter(texts(name)).items() if number > 1] == []


@every_suite
def test_no_two_items_share_two_phrases(name: str) -> None:
    shared = {"who was", "that was", "who were", "that were"}
    for one, other in combinations(items(name), 2):
        for condition in one:
            pairs = zip(one[condition], other[condition], strict=True)
            # A region that is the same in both, of three words or more, is a phrase taken over.
            same = [a for a, b in pairs if a == b and a.count(" ") > 1 and a not in shared]
            assert len(same) <= 1, (joined(one[condition]), joined(other[condition]))


WORD = r"(?:[A-Za-z]+(?:['’-][a-z]+)*|[0-9]+)"
CLEAN = re.compile(rf"[A-Z](?:['’]?[a-z-]+)?(?:,? {WORD})*")


@every_suite
def test_text_is_clean(name: str) -> None:
    for item in suite(name).items:
        for sentence in item.sentences.values():
            text = sentence.text
            if name.startswith("subordination"):
                assert text.endswith(".")
                text = text.removesuffix(".")
            assert CLEAN.fullmatch(text), text
        assert all(contents[0] for contents in rows(item).values()), "the first region must not be blank"


@every_suite
def test_the_regions_cover_the_sentence(name: str) -> None:
    for item in suite(name).items:
        for sentence in item.sentences.values():
            ends = [0, *(region.end for region in sentence.regions)]
            gaps = [sentence.text[end : region.start] for end, region in zip(ends, sentence.regions, strict=False)]
            assert set(gaps) <= {"", " "}
            assert ends[-1] == len(sentence.text)


@every_suite
def test_articles_fit_the_next_word(name: str) -> None:
    vowel = re.compile(r"(?!uni[^mn]|use|usu|eu|one\b|once\b)[aeiou]|hour|honest|honor|heir|X-ray", re.IGNORECASE)
    for text in texts(name):
        for article, word in re.findall(r"\b(an?) ([\w-]+)", text, re.IGNORECASE):
            assert (article.lower() == "an") == bool(vowel.match(word)), text
        assert not re.search(r"\b(\w+) \1\b", text), f"a word twice: {text}"


@every_suite
def test_a_comparison_changes_the_context_or_the_region_never_both(name: str) -> None:
    assert compared(suite(name))
    for left, right in compared(suite(name)):
        assert [one.region for one in left] == [one.region for one in right]
        for item in suite(name).items:
            before, content = [], []
            for part in (left, right):
                (condition,) = {reference.condition for reference in part}
                sentence = item.sentences[condition]
                spans = {region.name: region for region in sentence.regions}
                start, end = spans[part[0].region].start, spans[part[-1].region].end
                before.append(sentence.text[:start].strip())
                content.append(sentence.text[start:end])
            assert all(content)
            assert (before[0] == before[1]) != (content[0] == content[1]), (item.id, before, content)


MODIFIED = {
    "center_embed_mod": ("center_embed", [5]),
    "cleft_modifier": ("cleft", [3]),
    "mvrr_mod": ("mvrr", [4]),
    "npz_ambig_mod": ("npz_ambig", [4]),
    "npz_obj_mod": ("npz_obj", [4]),
    "subordination_orc-orc": ("subordination", [1, 3]),
    "subordination_pp-pp": ("subordination", [1, 3]),
    "subordination_src-src": ("subordination", [1, 3]),
}  # suite: its base, and the places of the modifiers, from 0


def test_these_are_the_modified_suites() -> None:
    tagged = {name: suite(name).tags.get("modifies", "") for name in DESIGNS}
    assert {name: base for name, base in tagged.items() if base} == {name: base for name, (base, _) in MODIFIED.items()}


@pytest.mark.parametrize("name", MODIFIED)
def test_without_its_modifiers_a_modified_suite_is_its_base(name: str) -> None:
    base, places = MODIFIED[name]
    stripped = [
        {
            condition: [a for place, a in enumerate(contents) if place not in places]
            for condition, contents in item.items()
        }
        for item in items(name)
    ]
    assert stripped == items(base)
    # The regions of subordination are called otherwise than those of its modified versions.
    kept = [label for place, label in enumerate(labels(name)) if place not in places]
    assert kept == labels(base) or base == "subordination"
    for item in items(name):
        # The modifiers are there, and the same in all conditions.
        modifiers = {tuple(contents[place] for place in places) for contents in item.values()}
        assert len(modifiers) == 1
        assert all(modifiers.pop())


# Words that say little by themselves; and the verbs that let a question word out of their clause, which are few.
FUNCTION = """
about above across after again against all along alongside also although always among another around because been before
behind below beneath beside besides between beyond both could down during each even every everyone first from have herself
himself inside into just last mainly many more most mostly much near never next often once only opposite other outside over
rarely second several since some still than that their them themselves then there these they this those three through today
toward twice under until upon upstairs usually very were what when where whether while will with within without would your
"""
BRIDGES = "believe believed think thought claim claimed suspect suspected assume assumed said"


@every_suite
def test_words_vary(name: str) -> None:
    # No word of the open classes may stand in more than four items: the suite would be about the word.
    number = Counter(
        word
        for item in suite(name).items
        for word in {w for s in item.sentences.values() for w in re.findall("[a-z]{4,}", s.text.lower())}
    )
    few = {
        *FUNCTION.split(),
        *{"fgd-embed": BRIDGES, "fgd_hierarchy": "fact"}.get(re.split("[0-9]", name)[0], "").split(),
    }
    assert {word: n for word, n in number.items() if n > 4 and n < len(items(name)) and word not in few} == {}


# Item tags whose values are words of the open classes.
OPEN = """
lemma verb head attractor noun main_verb matrix_verb embedded_verb ambiguous unambiguous cleft_verb word subject
embedded_subject subordinate_verb object np
"""


@every_suite
def test_no_critical_lemma_dominates(name: str) -> None:
    found = set(OPEN.split()) & suite(name).items[0].tags.keys()
    assert found
    for tag in found:
        (most, number), *_ = Counter(item.tags[tag] for item in suite(name).items).most_common(1)
        # Few nouns take a clause as "the fact that" does.
        assert number <= 4 or (name, most) == ("fgd_hierarchy", "fact"), f"{most} in {number} items"


def test_the_page_on_coverage_names_every_suite_beside_its_topic() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "coverage.md").read_text(encoding="utf-8")
    page = page.partition("\n## What `textbook` adds\n")[0]
    lines = re.findall(r"^\| ([^|`]+) \| ((?:`[^`|]+`(?:, )?)+) \|", page, re.MULTILINE)
    # `npi_*` stands for all suites whose names begin so.
    shown = [
        (topic, name)
        for topic, names in lines
        for each in re.findall("`([^`]+)`", names)
        for name in fnmatch.filter(DESIGNS, each)
    ]
    assert sorted(shown) == sorted((suite(name).tags["textbook"], name) for name in DESIGNS)


@pytest.mark.slow
def test_the_table_of_all_collections_counts_every_suite() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "coverage.md").read_text(encoding="utf-8")
    section = page.partition("\n## All collections by topic\n")[2].partition("\n## ")[0]
    counted = re.findall(r"[|,] `(\w+)` (\d+)", section)
    assert {name for name, _ in counted} == set(collections())
    for collection in collections():
        total = sum(int(count) for name, count in counted if name == collection)
        assert (collection, total) == (collection, len(bundled_suites(collection)))
