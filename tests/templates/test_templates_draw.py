"""Filling slots: unranking is the product, crosses are shared out evenly, samples are different and go on."""

import re
from collections import Counter
from itertools import product

import pytest
from grammar_for_tests import CROSS, SAMPLE, TABLE, made, one, read, texts
from hypothesis import given, settings, strategies as st

from syntagm.core import InputError, UsageError
from syntagm.suites import Effort, Index, Plan, Planner, Slot, Word, choice, expression, lexical_class, plans
from syntagm.suites.templates import draw, sample


def slot(name: str, number: int) -> Slot:
    """A slot of `number` words called 0, 1, 2 ..., each with the remainder by 3 as feature."""
    words = tuple(Word("here", {"form": str(index), "third": str(index % 3)}) for index in range(number))
    return Slot(name, words)


def plan(*slots: Slot, joint: tuple[expression.Expression, ...] = (), **chosen: str) -> Plan:
    return Plan(chosen, {}, {}, slots, joint, ())


EQUAL = (expression.Share(expression.Ref("b", "third"), expression.Ref("a", "third")),)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=4))
@settings(derandomize=True, max_examples=50)
def test_unranking_is_the_product(sizes: list[int]) -> None:
    slots = [slot(f"s{index}", size) for index, size in enumerate(sizes)]
    unranked = []
    for rank in range(plan(*slots).size):
        words = draw.unrank(plan(*slots), rank)
        assert words
        unranked.append(tuple(words[slot.name] for slot in slots))
    assert unranked == list(product(*(slot.words for slot in slots)))


@given(st.integers(1, 6), st.integers(1, 6), st.integers(1, 90), st.integers(0, 5))
@settings(derandomize=True, max_examples=100)
def test_crosses_draw_different_allowed_combinations_evenly(first: int, second: int, n: int, seed: int) -> None:
    two = [plan(slot("a", first), slot("b", second), joint=EQUAL, x="1"), plan(slot("a", first), x="2")]
    # 0 to first - 1 against 0 to second - 1, equal remainders by 3.
    there = [sum(a % 3 == b % 3 for a in range(first) for b in range(second)), first]
    drawn = list(draw.cross(two, "here", n, seed, Effort("here")))
    assert len({filled.id for filled in drawn}) == len(drawn) == min(n, sum(there))
    number = Counter(filled.plan.values["x"] for filled in drawn)
    if min(n, sum(there)) == n:
        assert all(number[x] == there[i] or number[x] >= max(number.values()) - 1 for i, x in enumerate("12"))
    assert all(
        filled.words["a"].forms["third"] == filled.words["b"].forms["third"] for filled in drawn if "b" in filled.words
    )
    everything = [filled.id for filled in draw.cross(two, "here", None, seed, Effort("here"))]
    assert [identifier for identifier in everything if identifier in {filled.id for filled in drawn}] == [
        f.id for f in drawn
    ]


def test_draws_of_a_cross_are_even() -> None:
    # 2,000 draws of 1 in 10: 200 each, standard deviation sqrt(2000 * 0.1 * 0.9) = 13.4; 4 of them are 54.
    counted = Counter(
        next(draw.cross([plan(slot("a", 10))], "here", 1, seed, Effort("here"))).id for seed in range(2000)
    )
    assert all(146 <= counted[str(number)] <= 254 for number in range(1, 11))


def test_a_cross_too_big_to_list_is_drawn_without_a_list() -> None:
    big = plan(slot("a", 1000), slot("b", 1000), slot("c", 100), joint=EQUAL)
    drawn = list(draw.cross([big], "here", 50, 1, Effort("here")))
    assert len({filled.id for filled in drawn}) == 50
    assert all(int(filled.id) <= 100_000_000 for filled in drawn)


@pytest.mark.parametrize(
    ("number", "n", "said"),
    [
        (6, 5, "more than 1,000,000,000,000,000 combinations; expected fewer combinations. Remove words or slots"),
        (3, None, "1,000,000,000 combinations; expected at most 1,000,000. Draw some of them"),
        (3, 2_000_000, "2,000,000 items requested; expected at most 1,000,000"),
    ],
)
def test_product_bombs_are_refused_before_anything_is_made(number: int, n: int | None, said: str) -> None:
    with pytest.raises(InputError, match=re.escape(said)):
        next(draw.cross([plan(*(slot(f"s{index}", 1000) for index in range(number)))], "here", n, 1, Effort("here")))


@given(st.lists(st.integers(0, 5), min_size=4, max_size=4), st.sets(st.sampled_from(["ab", "ac", "bd", "cd", "ad"])))
@settings(derandomize=True, max_examples=50)
def test_listing_is_trying_every_rank(sizes: list[int], pairs: set[str]) -> None:
    joint = tuple(
        expression.Share(expression.Ref(first, "third"), expression.Ref(second, "third"))
        for first, second in sorted(pairs)
    )
    whole = plan(*map(slot, "abcd", sizes), joint=joint)
    assert list(draw._allowed(whole, Effort("here"))) == [
        rank for rank in range(whole.size) if draw.unrank(whole, rank)
    ]


def test_conditions_that_nothing_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draw, "LISTED", 1000)
    monkeypatch.setattr(draw, "DRAWS", 1000)
    first = Slot("a", tuple(Word("here", {"third": "-"}) for _ in range(2000)))
    # Too many combinations to list now, so that 1,000 + 20 × 3 are tried.
    with pytest.raises(InputError, match=r"0 of 3 items in 1,060 draws"):
        next(draw.cross([plan(first, slot("b", 2000), joint=EQUAL)], "here", 3, 1, Effort("here")))


@pytest.mark.parametrize(
    ("n", "sizes", "expected"),
    [
        (5, [9, 9], [3, 2]),
        (5, [1, 9], [1, 4]),
        (50, [2, 3], [2, 3]),
        (3, [9] * 5, [1, 1, 1, 0, 0]),
        (1, [], []),
        (4, [0, 9], [0, 4]),
    ],
)
def test_quotas(n: int, sizes: list[int], expected: list[int]) -> None:
    assert draw.quotas(n, sizes) == expected


def test_a_whole_cross() -> None:
    suite = one(CROSS)
    # 2 numbers × 3 nouns × 2 others × 2 verbs; ids are ranks of 2 × 3 × 2 × 3.
    assert len(suite.items) == 24
    assert texts(suite)[:2] == ["The ox by the jug falls.", "The ox by the jug fall."]
    assert suite.items[0].tags == {"number": "sg"}
    assert "seed" not in suite.tags
    assert len({item.id for item in suite.items}) == 24


def test_a_part_of_a_cross_keeps_the_ids_of_the_whole() -> None:
    whole = {item.id: item for item in one(CROSS).items}
    part = one(CROSS, 7, 3)
    assert part.tags["seed"] == "3"
    assert [whole[item.id] for item in part.items] == list(part.items)
    assert Counter(item.tags["number"] for item in part.items) == {"sg": 4, "pl": 3}
    assert one(CROSS, 7, 4) != part == one(CROSS, 7, 3)
    assert list(one(CROSS, 999).items) == list(whole.values())


def test_the_first_draws_of_a_sample_are_those_of_a_smaller_one() -> None:
    large = one(SAMPLE, 24)
    for n in (1, 9, 23):
        assert one(SAMPLE, n).items == large.items[:n]
    assert len({tuple(s.text for s in item.sentences.values()) for item in large.items}) == 24
    assert Counter(item.tags["number"] for item in large.items) == {"sg": 12, "pl": 12}
    assert len(one(SAMPLE).items) == 10
    assert [item.id for item in large.items] == [str(number) for number in range(1, 25)]


def test_no_slot_has_the_word_of_another_it_must_not_have() -> None:
    for text in texts(one(SAMPLE, 24)):
        first, second = re.findall(r"ox|jug|elm", text)
        assert first != second


LATE = '''
[vary]
the = ["the", "this"]
[rules.size]
small = "it is small"
big = "it is big"
[classes]
noun = """
form | size
mouse | small
ant | small
cow | big
horse | big
"""
[slots]
beast = "noun[size = $size]"
[conditions]
x = "{$the} {beast}"
[predictions]
p = "(*;%x%) > 0"
[items]
fill = "sample"
n = 8
'''


def test_a_choice_that_a_slot_needs_first_is_drawn_for_each_item() -> None:
    """No pattern uses the rule, so the condition of the slot comes to it first; what it selects depends on the choice."""
    [template] = read(LATE)

    def told(item: draw.Filled) -> list[dict[str, draw.Spelled]]:
        return [{"x": (item.plan.values["the"] + item.words["beast"].entry, ())}]

    drawn = list(sample.sample(template, 8, 1, told, Effort("here")))
    assert {item.words["beast"].forms["form"] for item in drawn} == {"mouse", "ant", "cow", "horse"}
    for item in drawn:
        again = Planner(template, Effort("here")).plan(item.plan.values)
        assert (again.values, again.slots) == (item.plan.values, item.plan.slots)
        # What was spelled to draw an item is carried by it, however many are drawn before it is written.
        assert [item.own] == told(item)


WHETHER = """
[vary]
kind = ["short", "long"]
depth = { values = ["flat", "deep"], when = "kind = long" }
[rules.size]
small = { text = "it is small", when = "kind = short" }
big = { text = "it is big", weight = 2 }
[rules.where]
here = "here"
there = { text = "there {$depth}", when = "kind = long" }
[conditions]
x = "{size} {where} {noun}"
[classes]
noun = "form\\nant\\nbee\\ncat\\ndog\\nelk\\nfox"
[predictions]
p = "(*;%x%) > 0"
[items]
fill = "sample"
n = 12
"""


def test_a_drawn_item_has_the_variables_that_it_needs_and_not_those_that_decided_on_a_choice() -> None:
    """Whether a configuration was drawn before, or a part of it, must not be seen in the tags of an item."""
    for item in one(WHETHER).items:
        used = {"size", "where"} | (
            {"kind"} if item.tags["size"] == "small" or item.tags["where"] == "there" else set()
        )
        assert item.tags.keys() == used | ({"depth"} if item.tags["where"] == "there" else set())


TWICE = """
require = ["size != small", "size != big"]
[rules.kind]
short = "short"
long = "long"
[rules.size]
small = { text = "small", when = "kind = short" }
big = { text = "big", when = "kind = short" }
huge = "huge"
[conditions]
x = "{size} {kind} {noun}"
[classes]
noun = "form\\nant\\nbee\\ncat"
[predictions]
p = "(*;%x%) > 0"
[items]
fill = "sample"
n = 6
"""


def test_two_required_conditions_may_name_one_choice_that_depends_on_another() -> None:
    """The first one stops at what is not chosen yet, which is not a choice that depends on itself."""
    assert {item.tags["size"] for item in one(TWICE).items} == {"huge"}
    assert {item.tags["kind"] for item in one(TWICE).items} == {"short", "long"}


NOWHERE = """
require = ["size != big"]
[vary]
kind = ["short", "long"]
[rules.size]
small = { text = "small", when = "kind = short" }
big = { text = "big", when = "kind = short" }
[conditions]
x = "{size} {$kind} {noun}"
[classes]
noun = "form\\nant\\nbee\\ncat"
[predictions]
p = "(*;%x%) > 0"
[items]
"""


@pytest.mark.parametrize("fill", ['fill = "sample"\nn = 3', 'fill = "cross"'])
def test_a_required_condition_on_a_choice_without_options_excludes_the_configuration(fill: str) -> None:
    drawn = sorted(texts(one(f"{NOWHERE}{fill}", 3)))
    assert drawn == ["Small short ant", "Small short bee", "Small short cat"]


def test_a_table_with_variables_takes_row_by_row() -> None:
    text = TABLE.replace("[predictions]", '[vary]\nnumber = ["sg", "pl"]\n[predictions]').replace(
        "{verb.sg}", "{verb.$number}"
    )
    text = text.replace("{verb.pl}", "{verb.!number}")
    whole = one(text)
    assert [(item.id, item.tags["number"]) for item in whole.items] == [
        ("1", "sg"),
        ("2", "pl"),
        ("3", "sg"),
        ("4", "pl"),
    ]
    assert one(text, 3).items == whole.items[:3]
    assert one(text, 99) == whole


@pytest.mark.parametrize("n", [0, -1])
def test_no_items_can_not_be_asked_for(n: int) -> None:
    with pytest.raises(UsageError, match="a number from 1"):
        made(SAMPLE, n)


PAIR = SAMPLE.replace("[classes]", '[classes]\nadjective = """\nform\nold\nnew\nbig\n"""').replace(
    "[vary]", 'adjective = "adjective"\n[vary]'
)
PAIR = PAIR.replace("n = 10", "n = 24") + (
    '[[suite]]\nname = "plain"\n[[suite]]\nname = "mod"\n[suite.conditions]\n'
    'good = "The {adjective} {noun.$number} by the {other.sg} {verb.$number}."\n'
    'bad = "The {adjective} {noun.$number} by the {other.sg} {verb.!number}."\n'
)


@pytest.mark.parametrize("text", [PAIR, PAIR.replace("[slots]", "[slots]\nverb = 'verb'")])
def test_suites_of_one_file_share_their_draws(text: str) -> None:
    plain, mod = made(text)
    stripped = [re.sub(" (old|new|big)", "", line) for line in texts(mod)]
    assert stripped == texts(plain)
    # All 24 there are, though there would be 72 with an adjective: in neither a sentence comes twice.
    assert len(set(texts(plain))) == len(set(texts(mod))) == 48
    alone = list(made(text.replace('name = "mod"', 'name = "mod"\n[suite.items]\nfill = "sample"\nn = 23')))
    assert len(alone[1].items) == 23


def test_suites_with_the_same_table_share_their_rows() -> None:
    first, second = read(TABLE + '[[suite]]\nname = "a"\n[[suite]]\nname = "b"\n')
    assert first.table is second.table


def test_a_configuration_has_the_variables_that_it_needs() -> None:
    text = CROSS.replace(
        "[vary]", '[rules]\nrc = { none = "", that = "that {verb.$when}" }\n[vary]\nwhen = ["sg", "pl"]'
    )
    text = text.replace("by the {other.sg}", "{rc}").replace('other = "noun[!= noun]"', "")
    found = [dict(one.values) for one in plans(read(text)[0])]
    assert found == [
        {"number": "sg", "rc": "none"},
        {"when": "sg", "number": "sg", "rc": "that"},
        {"number": "pl", "rc": "none"},
        {"when": "sg", "number": "pl", "rc": "that"},
        {"when": "pl", "number": "sg", "rc": "that"},
        {"when": "pl", "number": "pl", "rc": "that"},
    ]
    assert texts(one(text))[0] == "The ox falls."


def test_conditions_lead_to_conditions() -> None:
    # `third` refers to `second`, which no pattern uses, and that to `noun`, which isn't listed.
    text = CROSS.replace('other = "noun[!= noun]"', 'second = "noun[!= noun]"\nother = "noun[!= second, != noun]"')
    for item in one(text).items:
        first, second = re.findall(r"ox|jug|elm", item.sentences["good"].text)
        assert first != second
    assert len(one(text).items) == 24


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("kind = person", ["a", "c"]),
        ("kind = animal/person", ["a", "b", "c"]),
        ("kind != person", ["b", "d", "e"]),
        ("kind = $x", ["b", "c"]),
        ("kind != $x", ["a", "d", "e"]),
        ("kind = before.kind", ["b", "c"]),
        ("kind != before.kind", ["a", "d", "e"]),
        ("kind = before.none", []),
        ("kind != before.none", ["a", "b", "c", "d", "e"]),
        ("kind = before.empty", []),
        ("kind=person,form!=a", ["c"]),
    ],
)
def test_conditions(condition: str, expected: list[str]) -> None:
    words = lexical_class("noun", 'form|kind\na|person\nb|animal\nc|person / animal\nd|-\ne|""', "here").words
    before = {"before": {"kind": "animal/fish", "none": "-", "empty": ""}}

    def ref(named: expression.Ref) -> expression.Ref | str:
        return "animal" if named.slot == "$" else expression.Ref(named.slot or "x", named.name)

    [arm] = choice("x", f"noun[{condition}]", "here").arms
    tests = [expression.bound(part, ref, str) for part in arm.conditions]
    found = [
        word.forms["form"]
        for word in words
        if all(expression.holds(test, {**before, "x": word.forms}, {}) for test in tests)
    ]
    assert found == expected
    index = Index([word.forms for word in words])
    mask = index.full
    for test in tests:
        mask &= index.meeting(test, "x", before)
    assert [word.forms["form"] for number, word in enumerate(words) if mask >> number & 1] == expected


def test_another_row_is_another_entry_even_if_it_reads_the_same() -> None:
    same = lexical_class("noun", "form\na\na", "here")
    differ = expression.Differ("x", "y")
    entries = [word.entry for word in same.words]
    assert [expression.holds(differ, {}, {"x": entry, "y": entries[0]}) for entry in entries] == [False, True]


@pytest.mark.parametrize(
    ("cell", "expected"), [("a/b", ["a", "b"]), (" a / b ", ["a", "b"]), ("a//", ["a"]), ("-", []), ("", [])]
)
def test_values(cell: str, expected: list[str]) -> None:
    assert sorted(expression.values(cell)) == expected
