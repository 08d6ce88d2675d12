"""Which token belongs to which region."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import AlignmentError
from syntagm.evaluation import Reading, Rule, align
from syntagm.models import Surprisals
from syntagm.suites import Region, Sentence

# Letters, punctuation, white space of many kinds, marks that combine, characters without width, right-to-left, emoji.
CHARACTERS = (
    "ab.,' \t\n\u00a0\u2003\u3000\u2028\x1fé\u0301\u20dd雪語\u05e2\u0627\u200b\u200d\ufeff\u202e\U0001f600\U0001f3fd"
)
TEXTS = st.text(st.sampled_from(CHARACTERS), max_size=14)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Sentence, Surprisals]:
    """A text, regions anywhere in it (empty ones and gaps included) and tokens that partition it, with or without end symbol."""
    text = draw(TEXTS)
    places = st.integers(0, len(text))
    borders = sorted(draw(st.lists(places, max_size=8)))
    pairs = list(zip(borders[::2], borders[1::2], strict=False))
    regions = tuple(Region(str(number), start, end) for number, (start, end) in enumerate(pairs, 1))
    starts = sorted(draw(st.lists(st.integers(0, max(0, len(text) - 1)), max_size=10)))
    starts = [0, *starts] if text else []
    if draw(st.booleans()):
        starts.append(len(text))
    bits = [float(2**place) for place in range(len(starts))]
    return Sentence(text, regions), Surprisals(
        text, np.array(starts, np.int32), np.array(bits), np.ones(len(bits), bool)
    )


def test_no_example_has_a_deadline() -> None:
    assert settings().deadline is None


def owner_of(sentence: Sentence, place: int) -> int:
    for index, region in enumerate(sentence.regions):
        if region.start <= place < region.end:
            return index
    return -1


def slowly(sentence: Sentence, starts: list[int]) -> list[tuple[int, set[int]]]:
    """By the words of the rule: each token's region, and the owners of all its visible characters."""
    text, found = sentence.text, []
    for start in starts:
        stop = min([other for other in starts if other > start], default=len(text))
        visible = [place for place in range(start, stop) if not text[place].isspace()]
        after = [place for place in range(start, len(text)) if not text[place].isspace()]
        before = [place for place in range(start) if not text[place].isspace()]
        # White space goes with the visible character after it; at the end, with the last.
        near = (after or before[-1:])[:1] if start < len(text) else []
        home = owner_of(sentence, near[0]) if near else -1
        found.append((home, {owner_of(sentence, place) for place in visible}))
    return found


@pytest.mark.slow
@given(cases())
def test_every_token_lands_where_the_rule_says(case: tuple[Sentence, Surprisals]) -> None:
    sentence, answer = case
    expected = [home for home, _ in slowly(sentence, answer.starts.tolist())]
    assert align(sentence, answer, "start").tolist() == expected


@pytest.mark.slow
@given(cases())
def test_strict_agrees_or_refuses_exactly_what_has_two_owners(case: tuple[Sentence, Surprisals]) -> None:
    sentence, answer = case
    crossing = any(len(owners) > 1 for _, owners in slowly(sentence, answer.starts.tolist()))
    if crossing:
        with pytest.raises(AlignmentError, match="crosses the region border"):
            align(sentence, answer)
    else:
        assert align(sentence, answer).tolist() == align(sentence, answer, "start").tolist()


@pytest.mark.slow
@given(cases())
def test_regions_and_the_rest_make_the_total(case: tuple[Sentence, Surprisals]) -> None:
    # The bits are powers of two, so a sum says which tokens are in it.
    sentence, answer = case
    regions = Reading(rule="start").regions(sentence, answer)
    unowned = answer.bits[align(sentence, answer, "start") == -1].sum()
    assert regions.sum() + unowned == answer.bits.sum() == Reading(rule="start").region(sentence, answer, "*")


@pytest.mark.slow
@given(cases(), st.integers(0, 14), st.sampled_from(["strict", "start"]))
def test_empty_regions_take_nothing_and_move_nothing(case: tuple[Sentence, Surprisals], at: int, rule: Rule) -> None:
    sentence, answer = case
    after = [region for region in sentence.regions if region.start >= at]
    before = [region for region in sentence.regions if region.end <= at]
    at = min(at, len(sentence.text))
    with_empty = Sentence(sentence.text, (*before, Region("empty", at, at), *after))
    without = Sentence(sentence.text, (*before, *after))
    try:
        expected = Reading(rule=rule).regions(without, answer).tolist()
    except AlignmentError:
        with pytest.raises(AlignmentError):
            align(with_empty, answer, rule)
        return
    found = Reading(rule=rule).regions(with_empty, answer).tolist()
    assert found.pop(len(before)) == 0
    assert found == expected


def answer_to(text: str, *starts: int) -> Surprisals:
    return Surprisals(text, np.array(starts, np.int32), np.ones(len(starts)), np.ones(len(starts), bool))


SENTENCE = Sentence("The dogs bark", (Region("1", 0, 3), Region("2", 4, 8), Region("3", 9, 13)))


def test_the_blank_before_a_token_does_not_count() -> None:
    assert align(SENTENCE, answer_to(SENTENCE.text, 0, 3, 8)).tolist() == [0, 1, 2]


def test_the_end_symbol_belongs_to_no_region() -> None:
    assert align(SENTENCE, answer_to(SENTENCE.text, 0, 3, 8, 13)).tolist() == [0, 1, 2, -1]


def test_a_blank_first_region_moves_nothing() -> None:
    blank = Sentence(SENTENCE.text, (Region("0", 0, 0), *SENTENCE.regions))
    assert align(blank, answer_to(SENTENCE.text, 0, 3, 8)).tolist() == [1, 2, 3]


def test_a_token_over_a_border_is_named() -> None:
    with pytest.raises(AlignmentError, match="token 'dogs bark' crosses the region border at character 9"):
        align(SENTENCE, answer_to(SENTENCE.text, 0, 3))
    assert align(SENTENCE, answer_to(SENTENCE.text, 0, 3), "start").tolist() == [0, 1]


def test_a_token_that_reaches_out_of_all_regions_is_refused_too() -> None:
    only = Sentence("don't", (Region("1", 0, 2),))
    with pytest.raises(AlignmentError, match='"don\'t"'):
        align(only, answer_to("don't", 0))


def test_tokens_that_share_characters_cross_together() -> None:
    # Three tokens of one letter's bytes share its start; the letter lies in one region, so none crosses.
    sentence = Sentence("a雪b", (Region("1", 0, 1), Region("2", 1, 2), Region("3", 2, 3)))
    assert align(sentence, answer_to("a雪b", 0, 1, 1, 1, 2)).tolist() == [0, 1, 1, 1, 2]
    with pytest.raises(AlignmentError, match="'雪b'"):
        align(sentence, answer_to("a雪b", 0, 1, 1))


def test_white_space_at_the_end_follows_the_last_visible_character() -> None:
    sentence = Sentence("the dog  ", (Region("1", 0, 3), Region("2", 4, 7)))
    assert align(sentence, answer_to(sentence.text, 0, 3, 7, 8, 9)).tolist() == [0, 1, 1, 1, -1]


def test_nothing_but_white_space_or_nothing_at_all() -> None:
    assert align(Sentence("  ", (Region("1", 0, 2),)), answer_to("  ", 0)).tolist() == [-1]
    assert align(Sentence(""), answer_to("")).tolist() == []
    assert align(Sentence("", (Region("1", 0, 0),)), answer_to("", 0)).tolist() == [-1]
