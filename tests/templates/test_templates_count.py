"""Exact counts against enumeration, and draws that are as likely as each other."""

import random
from collections import Counter as Counts
from itertools import product

import pytest
from grammar_for_tests import LANGUAGE, read
from hypothesis import given, settings, strategies as st
from scipy import stats

from syntagm.suites import Counted, Counter, Draws, Effort, Word, counts, expression, meets, of_words

COLUMNS = ("a", "b")
SLOTS = ("p", "q", "r", "s")


def words(cells: list[tuple[str, str]]) -> tuple[Word, ...]:
    """Words with two features; two words in a row are uses of one entry."""
    rows = [("here", str(number // 2), dict(zip(COLUMNS, row, strict=True))) for number, row in enumerate(cells)]
    return of_words("class", "here", COLUMNS, rows).words


cell = st.sampled_from(["x", "y", "z", "x/y", "y/z", "x/y/z", "-"])
ref = st.builds(expression.Ref, st.sampled_from(SLOTS), st.sampled_from(COLUMNS))
atom = st.one_of(
    st.builds(expression.Has, ref, st.sampled_from([("x",), ("x", "z"), ("-",)])),
    st.builds(expression.Share, ref, ref),
    st.builds(expression.Differ, st.sampled_from(SLOTS[:2]), st.sampled_from(SLOTS[2:])),
)
condition = st.recursive(
    atom,
    lambda part: st.one_of(
        st.builds(expression.Not, part),
        st.builds(lambda *parts: expression.conjunction(parts), part, part),
        st.builds(lambda *parts: expression.disjunction(parts), part, part),
    ),
    max_leaves=3,
)


def combinations(counted: Counted) -> list[tuple[int, ...]]:
    drawn = [counted.combination(rank) for rank in range(counted.total)]
    return sorted(tuple(id(one[slot]) for slot in SLOTS) for one in drawn if meets(counted.checks, one))


@pytest.mark.slow
@given(
    st.lists(st.lists(st.tuples(cell, cell), min_size=1, max_size=4), min_size=4, max_size=4),
    st.lists(condition.filter(lambda one: len(expression.slots(one)) > 1), max_size=4),
    st.sampled_from(["", *SLOTS]),
)
@settings(derandomize=True, max_examples=60)
def test_ranks_are_the_combinations_that_meet_the_conditions(
    cells: list[list[tuple[str, str]]], joint: list[expression.Expression], spread: str
) -> None:
    slots = {slot: words(rows) for slot, rows in zip(SLOTS, cells, strict=True)}
    every = [dict(zip(SLOTS, row, strict=True)) for row in product(*slots.values())]
    allowed = sorted(tuple(id(one[slot]) for slot in SLOTS) for one in every if meets(joint, one))
    counter = Counter(Effort("here"))
    counted = counter.count(slots, joint, spread)
    assert combinations(counted) == allowed
    assert combinations(counter.count(dict(reversed(slots.items())), joint)) == allowed
    if not counted.checks:
        assert counted.total == len(allowed)
    if not counted.total:
        assert counted.empty
    if spread:
        of_entries = [
            tuple(id(one[slot]) for slot in SLOTS)
            for entry in counted.entries
            for one in (entry.combination(rank) for rank in range(entry.total))
            if meets(counted.checks, one)
        ]
        assert sorted(of_entries) == allowed
        assert len({one.words[0][1].entry for one in counted.entries}) == len(counted.entries)


CYCLE = '''
[classes]
noun = """
form  | kind
cook  | person/human
child | human
dog   | animal/mammal
cat   | animal/mammal
bread | food
cake  | food
"""
verb = """
form  | subject      | object
fed   | person       | animal/human
saw   | human/animal | animal/human/food
chased| animal/human | animal
ate   | human/animal | food
"""
[slots]
{slots}
[conditions]
good = "The {subject} {verb} the {object} and {inner} the {second}."
[items]
fill = "sample"
n = 1
'''
CHOICES = {
    "subject": "noun",
    "verb": "verb[subject = subject.kind]",
    "object": "noun[kind = verb.object, != subject]",
    "inner": "verb[subject = subject.kind, != verb]",
    "second": "noun[kind = inner.object, kind = object.kind or kind = animal]",
}


def drawn(order: list[str], number: int, spread: str = "") -> Counts[tuple[str, ...]]:
    """The words of many draws of a template whose slots are listed in some order."""
    listed = "\n".join(f'{slot} = "{CHOICES[slot]}"' for slot in order)
    text = CYCLE.replace("{slots}", listed).replace("n = 1\n", f"n = 1\n{spread}\n")
    draws = Draws(read(text)[0], random.Random(7), Effort("here"))
    [place] = draws.cells()
    found: Counts[tuple[str, ...]] = Counts()
    while found.total() < number:
        item = draws.draw(place, "1", Counts())
        assert item
        found[tuple(item.words[slot].forms["form"] for slot in CHOICES)] += 1
    return found


def allowed() -> list[tuple[str, ...]]:
    nouns = {
        "cook": {"person", "human"}, "child": {"human"}, "dog": {"animal", "mammal"}, "cat": {"animal", "mammal"},
        "bread": {"food"}, "cake": {"food"},
    }  # fmt: skip
    verbs = {
        "fed": ({"person"}, {"animal", "human"}), "saw": ({"human", "animal"}, {"animal", "human", "food"}),
        "chased": ({"animal", "human"}, {"animal"}), "ate": ({"human", "animal"}, {"food"}),
    }  # fmt: skip
    return [
        (subject, verb, thing, inner, second)
        for subject, verb, thing, inner, second in product(nouns, verbs, nouns, verbs, nouns)
        if nouns[subject] & verbs[verb][0]
        and nouns[thing] & verbs[verb][1]
        and thing != subject
        and nouns[subject] & verbs[inner][0]
        and inner != verb
        and nouns[second] & verbs[inner][1]
        and (nouns[second] & nouns[thing] or "animal" in nouns[second])
    ]


@pytest.mark.parametrize("order", [list(CHOICES), list(reversed(CHOICES)), sorted(CHOICES)])
def test_combinations_are_equally_likely_whatever_the_order_of_slots(order: list[str]) -> None:
    expected = allowed()
    found = drawn(order, 20 * len(expected))
    assert set(found) == set(expected)
    assert stats.chisquare([found[one] for one in expected]).pvalue > 0.001


def test_entries_of_a_spread_slot_are_equally_likely() -> None:
    found = drawn(list(CHOICES), 4000, 'spread = "verb"')
    verbs = Counts[str]()
    for (_, verb, *_), number in found.items():
        verbs[verb] += number
    assert stats.chisquare([verbs[verb] for verb in ("fed", "saw", "chased", "ate")]).pvalue > 0.001
    free = Counts(one[1] for one in allowed())
    assert free["saw"] > 2 * free["chased"]


def test_random_whole_numbers_are_equally_likely() -> None:
    draws = Draws(read(LANGUAGE)[0], random.Random(1), Effort("here"))
    found = Counts(draws.below(5) for _ in range(5000))
    assert stats.chisquare([found[number] for number in range(5)]).pvalue > 0.001
    large = 3 * 10**40
    third = Counts(draws.below(large) // 10**40 for _ in range(3000))
    assert stats.chisquare([third[number] for number in range(3)]).pvalue > 0.001
    assert {draws.below(1) for _ in range(10)} == {0}


def test_counts_of_a_template() -> None:
    found = counts(read(LANGUAGE)[0])
    assert [(dict(one.values)["number"], one.configurations) for one in found.cells][:2] == [("sg", 4), ("sg", 4)]
    assert set(found.entries) >= {"subject", "verb", "object", "np(subject).det"}
    assert found.entries["verb"] == 3
    spare = LANGUAGE.replace("ate     | eat", "sang    | sing   | animal        | person\nate     | eat")
    assert counts(read(spare)[0]).unused == {"verb": ("sang",)}
    exact = counts(
        read(CYCLE.replace("{slots}", 'inner = "verb"\nobject = "noun"\nsecond = "noun"\nsubject = "noun"'))[0]
    )
    assert [(one.combinations, one.exact) for one in exact.cells] == [(4 * 4 * 6**3, True)]
