"""The collections `islands` and `distance`: that their designs are balanced, and that the same words are compared."""

from collections import Counter
from functools import cache

import pytest

import syntagm
from syntagm.suites import Suite

ISLANDS = ["adjunct", "complex_np", "coordination", "relative_clause", "subject", "wh"]
CELLS = [
    f"{filler}_{gap}_{place}"
    for place in ("control", "island")
    for filler in ("wh", "that")
    for gap in ("gap", "nogap")
]


@cache
def suites(collection: str) -> dict[str, Suite]:
    return {suite.name: suite for suite in syntagm.read_suites(collection)}


@pytest.mark.slow
def test_the_suites_are_there_and_check_finds_only_that_words_are_few() -> None:
    assert sorted(suites("islands")) == ISLANDS
    assert sorted(suites("distance")) == ["agreement", "filler_gap"]
    found = [finding for name in ("islands", "distance") for finding in syntagm.check_suites([*suites(name).values()])]
    # 100 items of this suite have seven verbs.
    assert [(finding.code, finding.suite) for finding in found] == [("W213", "complex_np")]


@pytest.mark.slow
@pytest.mark.parametrize("name", ISLANDS)
def test_filler_gap_and_island_are_crossed(name: str) -> None:
    suite = suites("islands")[name]
    assert len(suite.items) == 100
    for item in suite.items:
        texts = {
            cell: {region.name: sentence.text[region.start : region.end] for region in sentence.regions}
            for cell, sentence in item.sentences.items()
        }
        assert [*texts] == CELLS
        # What follows the gap is the same everywhere; the object is there or not; the filler is "that" or not.
        assert len({text["end"].rstrip(".") for text in texts.values()}) == 1
        assert len({text["object"] for cell, text in texts.items() if "nogap" in cell}) == 1
        assert {text["object"] for cell, text in texts.items() if "_gap_" in cell} == {""}
        assert {text["filler"] for cell, text in texts.items() if cell.startswith("that")} == {"that"}
        # Island and control are told apart by the clause (and by what follows the end of a subject), by nothing else.
        for place in ("control", "island"):
            assert len({text["clause"] for cell, text in texts.items() if cell.endswith(place)}) == 1


@pytest.mark.slow
def test_distances_are_balanced_and_count_the_phrases_between() -> None:
    agreement, filler_gap = (suites("distance")[name] for name in ("agreement", "filler_gap"))
    cells = Counter((item.tags["distance"], item.tags["attractors"], item.tags["number"]) for item in agreement.items)
    assert len(cells) == 22
    assert set(cells.values()) == {50}
    assert set(Counter(item.tags["distance"] for item in filler_gap.items).values()) == {100}
    for suite in (agreement, filler_gap):
        for item in suite.items:
            sentence = next(iter(item.sentences.values()))
            [between] = [region for region in sentence.regions if region.name == "between"]
            assert sentence.text[between.start : between.end].split().count("the") == int(item.tags["distance"])


@pytest.mark.slow
def test_no_object_repeats_a_noun_between_filler_and_gap() -> None:
    for item in suites("distance")["filler_gap"].items:
        sentence = item.sentences["that_nogap"]
        region = {region.name: sentence.text[region.start : region.end] for region in sentence.regions}
        assert region["object"].split()[-1] not in region["between"].split(), sentence.text


@pytest.mark.slow
def test_verbs_need_an_object() -> None:
    """A sentence without filler is ungrammatical with a gap, which "she cleaned last week" is not."""
    designs = [*suites("islands").values(), suites("distance")["filler_gap"]]
    verbs = {item.tags["verb"] for suite in designs for item in suite.items}
    assert not verbs & {
        "clean",
        "copy",
        "decorate",
        "iron",
        "paint",
        "plant",
        "read",
        "steal",
        "sweep",
        "translate",
        "write",
    }


@pytest.mark.slow
def test_attractors_have_the_number_that_their_tag_says() -> None:
    for item in suites("distance")["agreement"].items:
        sentence = item.sentences["good"]
        region = {region.name: sentence.text[region.start : region.end] for region in sentence.regions}
        plural = item.tags["number"] == "pl"
        same = item.tags["attractors"] == "same"
        nouns = [noun.endswith("s") for noun in region["between"].split()[2::3]]
        assert nouns == [plural == same] * int(item.tags["distance"]), sentence.text
