"""The collection `frontier`: what each suite says of itself, and that no baseline explains a prediction unsaid."""

import math
import re
import statistics
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

import syntagm
from syntagm.evaluation import baselines, chance_level
from syntagm.suites import TAG, Construction, Suite, find, frequency, segments

# What a corrected variant is a variant of.
VARIANTS = {
    "irregular_past_pronoun": "irregular_past_participle_verbs",
    "gerund_subject_case": "principle_A_case_2",
    "there_object_raising": "existential_there_object_raising",
}


@cache
def suites() -> dict[str, Suite]:
    return {suite.name: suite for suite in syntagm.read_suites("frontier?n=6")}


@pytest.mark.slow
def test_every_suite_has_regions_a_reference_a_contrast_and_a_known_chance() -> None:
    assert len(suites()) == 61
    for suite in suites().values():
        assert re.fullmatch(r"[A-Z][^\n]+\.", suite.tags["contrast"]), suite.name
        assert all(suite.tags[key] for key in ("circuit", "phenomenon", "reference", "author", "licence")), suite.name
        assert all(sentence.regions for item in suite.items for sentence in item.sentences.values()), suite.name
        assert not any(math.isnan(chance_level.known(prediction.formula).value) for prediction in suite.predictions), (
            suite.name
        )


@pytest.mark.slow
def test_what_is_compared_differs_in_every_item() -> None:
    for suite in suites().values():
        for item in suite.items:
            texts = [sentence.text for sentence in item.sentences.values()]
            assert len(set(texts)) == len(texts), (suite.name, item.id)
            assert not any(re.search(r"\b(\w+) \1\b", text) for text in texts if "that that" not in text), texts


@pytest.mark.slow
def test_constructions_are_patterns() -> None:
    named = {suite.name: suite.tags[TAG] for suite in suites().values() if TAG in suite.tags}
    assert len(named) >= 50
    for name, pattern in named.items():
        Construction.read(pattern, name)


@pytest.mark.slow
def test_a_construction_occurs_in_the_sentences_that_it_is_said_of() -> None:
    for suite in suites().values():
        if TAG in suite.tags:
            pattern = Construction.read(suite.tags[TAG], suite.name)
            sentences = [sentence.text for item in suite.items for sentence in item.sentences.values()]
            assert any(pattern.occurrences(segment) for text in sentences for segment in segments(text)), suite.name


@pytest.mark.slow
def test_twins_have_words_of_their_band_and_equally_many_items_of_each() -> None:
    words = sg_frequencies()
    for name in ("agreement_band", "agreement_band_simple", "agreement_band_relative", "determiner_band"):
        [suite] = syntagm.read_suites(f"frontier/{name}?n=160&seed=3")
        tag = "noun" if name == "determiner_band" else "verb"
        by_band = {band: [item for item in suite.items if item.tags["band"] == band] for band in "1234"}
        assert {len(items) for items in by_band.values()} == {40}, name
        # Bands are of books; the words of today follow in the mean, too.
        means = [
            statistics.mean(math.log10(words.get(item.tags[tag], 0) + 1) for item in items)
            for items in by_band.values()
        ]
        assert means == sorted(means, reverse=True), (name, means)


def sg_frequencies() -> Mapping[str, int]:
    pytest.importorskip("wordfreq")
    return frequency.per_billion(find("en"))


def test_variants_have_the_method_that_they_correct() -> None:
    for name, original in VARIANTS.items():
        assert f"As {original}," in _head(name)
        [suite] = syntagm.read_suites(f"frontier/{name}?n=6")
        assert suite.predictions[0].name in ("one_prefix", "two_prefix")


def _head(name: str) -> str:
    file = Path(syntagm.__file__).parent / "suites" / "materials" / "frontier" / f"{name}.toml"
    return file.read_text(encoding="utf-8").partition("\n")[0]


@pytest.mark.slow
def test_no_baseline_explains_a_prediction_unsaid() -> None:
    for suite in syntagm.read_suites("frontier"):
        found = baselines.baselines(suite, baselines.books())
        assert not baselines.warnings(suite, found), suite.name
