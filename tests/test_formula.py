"""The prediction language: a table of facts, margins in bits, and what is refused."""

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from syntagm.core import FormulaError
from syntagm.suites import Binary, Formula, Node, Reference, expand, parse, read_suite_file
from syntagm.suites.formula import MAX_DEPTH, MAX_LENGTH, MAX_NUMBER, MAX_TERMS

BITS = {("1", "a"): 3.0, ("1", "b"): 5.0, ("2", "a"): 4.0, ("2", "b"): 1.0, ("*", "a"): 7.0, ("*", "b"): 6.0}


def margin(text: str) -> float:
    return float(parse(text).margin(lambda region, condition: BITS[region, condition]))


# The published spellings: round brackets as in the corrected files, square ones as on the main branch.
PUBLISHED = [
    "( (6;%p%) + (7;%p%) ) < ( (6;%i%) + (7;%i%) )",
    "[ (6;%p%) + (7;%p%) ] < [ (6;%i%) + (7;%i%) ]",
    "((6;%x_m%)-(6;%x%))+(((5;%v_m%)+(6;%v_m%))-((5;%v%)+(6;%v%)))>0",
    "[(6;%x_m%)-(6;%x%)]+[[(5;%v_m%)+(6;%v_m%)]-[(5;%v%)+(6;%v%)]]>0",
    "((6;%what_no-gap%)>(6;%that_no-gap%)) & ((7;%what_gap%)<(7;%that_gap%))",
    "[(6;%what_no-gap%)>(6;%that_no-gap%)] & [(7;%what_gap%)<(7;%that_gap%)]",
    "((9;%w%) =  (9;%t%))& ((6;%ws%) =  (6;%ts%))",
    "[(9;%w%) =  (9;%t%)]& [(6;%ws%) =  (6;%ts%)]",
    "(5;%nn_ambig%)>(5;%nn_unambig%)",
    "( (8;%np%) < (8;%pp%) ) & ( (8;%nn%) < (8;%pn%) ) & ( (8;%np%) < (8;%pn%) )",
    "((5;%ra%) > (5;%ua%)) & ((5;%ra%) > (5;%ru%)) & (((5;%ra%) - (5;%ua%)) > ((5;%ru%) - (5;%uu%)))",
    "[(5;%ra%) > (5;%ua%) ] &  [(5;%ra%) > (5;%ru%) ]  & [[(5;%ra%) - (5;%ua%) ] > [(5;%ru%) - (5;%uu%) ]]",
]


class TestReading:
    @pytest.mark.parametrize("text", PUBLISHED)
    def test_published_spellings(self, text: str) -> None:
        formula = parse(text)
        assert formula.text == text
        assert parse(str(formula)) == formula

    def test_square_brackets_say_the_same_as_round_ones(self) -> None:
        for round_, square in [(0, 1), (2, 3), (4, 5), (6, 7)]:
            assert parse(PUBLISHED[round_]) == parse(PUBLISHED[square])

    def test_all_published_suites(self, shared: Path) -> None:

        files = [file for file in expand([str(shared / "data" / "syntaxgym")]) if file.endswith(".json")]
        formulas = [prediction.formula for file in files for prediction in read_suite_file(file)[0].predictions]
        # 12 suites with one prediction each, two of them with a second.
        assert len(formulas) == 14
        assert all(parse(str(formula)) == formula for formula in formulas)

    @pytest.mark.parametrize(
        ("text", "printed"),
        [
            ("(01;%a%)>(1;%b%)", "(1;%a%) > (1;%b%)"),
            ("( 1 ;% a %)>(*;%b%)", "(1;%a%) > (*;%b%)"),
            ("(1;%a%) - (2;%a%) - (1;%b%) < 1", "(((1;%a%) - (2;%a%)) - (1;%b%)) < 1"),
            ("(1;%a%) < (2;%a%) + 1", "(1;%a%) < ((2;%a%) + 1)"),
            ("1 < 2 & 2 < 3 & 3 < 4", "((1 < 2) & (2 < 3)) & (3 < 4)"),
            ("1 < 2 | 2 < 3", "(1 < 2) | (2 < 3)"),
            ("5--3=8", "(5 - -3) = 8"),
            ("5 -4 > 0", "(5 - 4) > 0"),
            ("+1e-9 < .5", "1e-09 < 0.5"),
            ("1. < 2.50", "1 < 2.5"),
            ("[([(1;%a%)])] > 0", "(1;%a%) > 0"),
            ("(critical;%good%) < (critical;%bad%)", "(critical;%good%) < (critical;%bad%)"),
            ("(np.1;%été-2%) > 0", "(np.1;%été-2%) > 0"),
        ],
    )
    def test_precedence_and_printing(self, text: str, printed: str) -> None:
        assert str(parse(text)) == printed

    def test_equal_if_they_say_the_same(self) -> None:
        assert parse("(1;%a%)<2") == parse("[ (1;%a%) ] < (2.0)")
        assert hash(parse("(1;%a%)<2")) == hash(parse("((1;%a%) < 2)"))
        assert parse("(1;%a%)<2") != parse("2>(1;%a%)")

    def test_references_in_order_with_repeats(self) -> None:
        formula = parse("(1;%a%) + (*;%b%) < (1;%a%) & 1 < (x;%c%)")
        assert [(one.region, one.condition) for one in formula.references()] == [
            ("1", "a"),
            ("*", "b"),
            ("1", "a"),
            ("x", "c"),
        ]


class TestMargins:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("(1;%a%) < (1;%b%)", 5 - 3),
            ("(1;%a%) > (1;%b%)", 3 - 5),
            ("(1;%a%) = (1;%b%)", 1e-3 + 1e-5 * 5 - abs(3 - 5)),
            ("(1;%a%) = (1;%a%)", 1e-3 + 1e-5 * 3),
            ("(1;%a%) + (2;%a%) < (1;%b%) + (2;%b%)", (5 + 1) - (3 + 4)),
            ("(1;%b%) - (1;%a%) - (2;%b%) > 0.5", (5 - 3 - 1) - 0.5),
            ("(1;%b%) - ((1;%a%) - (2;%b%)) > 0.5", (5 - (3 - 1)) - 0.5),
            ("(1;%a%) < (1;%b%) & (2;%a%) > (2;%b%)", min(5 - 3, 4 - 1)),
            ("(1;%a%) > (1;%b%) | (2;%a%) > (2;%b%)", max(3 - 5, 4 - 1)),
            ("((1;%a%) > (1;%b%) | (2;%a%) > (2;%b%)) & (1;%a%) < 4", min(max(3 - 5, 4 - 1), 4 - 3)),
            ("(*;%a%) < (*;%b%)", 6 - 7),
        ],
    )
    def test_arithmetic(self, text: str, expected: float) -> None:
        assert margin(text) == expected

    def test_a_tie_has_margin_0(self) -> None:
        assert margin("(1;%a%) < (1;%a%)") == margin("(1;%a%) > (1;%a%)") == 0

    def test_arrays_item_by_item(self) -> None:
        values = {"a": np.array([1.0, 2.0, np.nan]), "b": np.array([3.0, 1.0, 0.0])}
        found = parse("(1;%a%) < (1;%b%) & (1;%b%) > 0.5").margin(lambda region, condition: values[condition])
        np.testing.assert_array_equal(found, [min(3 - 1, 3 - 0.5), min(1 - 2, 1 - 0.5), np.nan])

    @pytest.mark.parametrize("joint", ["&", "|"])
    @pytest.mark.parametrize("sign", [1, -1])
    def test_nan_anywhere_is_nan(self, joint: str, sign: int) -> None:
        for text in (f"(1;%n%) < 1 {joint} {sign} > 0", f"{sign} > 0 {joint} (1;%n%) = 1", "(1;%n%) - (1;%n%) > 0"):
            assert np.isnan(parse(text).margin(lambda region, condition: float("nan")))


REFUSED = [
    ("", 1, "the end"),
    ("   ", 4, "the end"),
    ("(1;%a%)", 1, "a number of bits; expected a comparison"),
    ("(1;%a%) - (1;%b%)", 1, "a number of bits; expected a comparison"),
    ("3", 1, "a number of bits"),
    ("1 < 2 < 1", 7, "a second comparison"),
    ("3>2>5", 4, "a second comparison"),
    ("1 <= 2", 3, "'<='; expected one of < > ="),
    ("1 == 2", 3, "'=='"),
    ("1 >= 2", 3, "'>='"),
    ("1 != 2", 3, "'!'"),
    ("1 * 2 > 0", 3, "'*'"),
    ("1 / 2 > 0", 3, "'/'"),
    ("!(1 < 2)", 1, "There is no negation"),
    ("1<2 && 2<3", 6, "'&'"),
    ("1<2 and 2<3", 5, "'a'"),
    ("1<2 | 1<2 & 2<1", 11, "& beside |; expected brackets"),
    ("1<2 & 1<2 | 2<1", 11, "| beside &"),
    ("(1;%a%) & 1 < 2", 1, "a number of bits beside &"),
    ("1 < 2 | 5", 9, "a number of bits beside |"),
    ("(1 < 2) + 1 > 0", 1, "a comparison beside +"),
    ("(1 < 2) < 3", 1, "a comparison beside <"),
    ("-(1;%a%) < 0", 1, "Only a number may have a sign"),
    ("((1;%a%) < 2", 13, "the end; expected ')', to close character 1"),
    ("((1;%a%) < 2]", 13, "']'; expected ')'"),
    ("(1;%a%) < 2)", 12, "')' without its opening bracket"),
    ("(1; %a%) < 2", 1, "nothing comes between ; and %"),
    ("(1;%a b%) < 2", 1, "a region that can't be read"),
    ("(1;%'a'%) < 2", 1, "a region that can't be read"),
    ("(;%a%) < 2", 1, "a region that can't be read"),
    ("(1;%%) < 2", 1, "a region that can't be read"),
    ("(1;%a%) < 1e999", 11, "1e999; expected a number from -1,000,000,000 to 1,000,000,000"),
    ("(1;%a%) < -1000000001", 11, "-1000000001; expected a number from -1,000,000,000 to 1,000,000,000"),
    ("1 < 2, 3 < 4", 6, "Write each formula as a separate prediction"),
    ("__import__('os') > 0", 1, "'_'"),
    ("1 < 2\0", 6, "'\\x00'"),
]


class TestRefusals:
    @pytest.mark.parametrize(
        ("text", "place", "message"), REFUSED, ids=[text[:20] or "empty" for text, _, _ in REFUSED]
    )
    def test_the_place_and_the_cure(self, text: str, place: int, message: str) -> None:
        with pytest.raises(FormulaError) as caught:
            parse(text)
        assert caught.value.place == f"formula, character {place}"
        assert message in str(caught.value)

    def test_the_caret_stands_under_the_place(self) -> None:
        with pytest.raises(FormulaError) as caught:
            parse("(1;%a%) < 2 < 3")
        assert str(caught.value).endswith("\n  (1;%a%) < 2 < 3\n              ^")
        assert "(1;%a%) < 2 < 3"[14 - 2] == "<"

    def test_the_caret_in_a_long_formula(self) -> None:
        text = "(1;%a%) + " * 100 + "? > 0"
        with pytest.raises(FormulaError) as caught:
            parse(text)
        _, window, caret = str(caught.value).split("\n")
        assert window[caret.index("^")] == "?"


BOMBS = [
    "(" * 100_000,
    "(" * MAX_LENGTH,
    "[" * (MAX_DEPTH + 1) + "1 < 2" + "]" * (MAX_DEPTH + 1),
    "1+" * (MAX_LENGTH // 2),
    "1+" * MAX_TERMS + "1 > 0",
    "(1;%a%) < 1 & " * 250,
    "(" + "1" * 4000 + ";",
    "(1" + " " * 4000 + ";",
    "((" * 2000 + ";",
    "(x" * 1300 + ";%",
    "(1;%" + "a" * 4000,
    "9" * 4096,
    "1." + "0" * 4000 + "e",
    " " * 4096,
    "(1;%a%)" + " " * 4000 + "!",
]


class TestBombs:
    @pytest.mark.parametrize("text", BOMBS, ids=[text[:8].strip() + f" x {len(text)}" for text in BOMBS])
    def test_refused(self, text: str) -> None:
        with pytest.raises(FormulaError):
            parse(text)

    def test_the_limits_themselves_are_allowed(self) -> None:
        deep = parse("(" * MAX_DEPTH + "1 < 2" + ")" * MAX_DEPTH)
        assert deep == parse("1 < 2")
        long = parse("1" + " + 1" * (MAX_TERMS - 2) + " > 0")
        # 255 ones above 0.
        assert long.margin(lambda region, condition: 0) == MAX_TERMS - 1
        assert parse("1<2".ljust(MAX_LENGTH)) == deep


names = st.from_regex(r"[A-Za-z0-9_.\-]{1,8}", fullmatch=True).map(
    lambda name: str(int(name)) if name.isdecimal() else name
)
references = st.builds(Reference, names | st.just("*"), names)
numbers = st.floats(-MAX_NUMBER, MAX_NUMBER).map(lambda number: number + 0.0)


def sums() -> st.SearchStrategy[Node]:
    return st.recursive(
        references | numbers, lambda part: st.builds(Binary, st.sampled_from(["+", "-"]), part, part), max_leaves=6
    )


comparisons = st.builds(Binary, st.sampled_from(["<", ">", "="]), sums(), sums())
trees = st.recursive(comparisons, lambda part: st.builds(Binary, st.sampled_from(["&", "|"]), part, part), max_leaves=5)


@pytest.mark.slow
@settings(max_examples=200)
@given(trees)
def test_printed_and_read_again_it_is_the_same(tree: Binary) -> None:
    formula = Formula("", tree)
    assert parse(str(formula)) == formula


@pytest.mark.slow
@settings(max_examples=200)
@given(trees, st.integers(0, 2**32))
def test_the_margin_says_whether_it_holds(tree: Binary, seed: int) -> None:
    chance = random.Random(seed)
    bits: dict[tuple[str, str], float] = {}

    def value(region: str, condition: str) -> float:
        return bits.setdefault((region, condition), chance.uniform(0, 30))

    found = float(Formula("", tree).margin(value))
    if not np.isnan(found):
        assert (found > 0) == holds(tree, value)


def holds(node: Node, value: object) -> bool:
    """The verdict by the obvious slow way, straight from the definition."""
    assert isinstance(node, Binary)
    if node.operator in "&|":
        left, right = holds(node.left, value), holds(node.right, value)
        return (left and right) if node.operator == "&" else (left or right)
    one, other = amount(node.left, value), amount(node.right, value)
    if node.operator == "=":
        return abs(one - other) < 1e-3 + 1e-5 * abs(other)
    return one < other if node.operator == "<" else one > other


def amount(node: Node, value: object) -> float:
    if isinstance(node, Reference):
        return value(node.region, node.condition)  # type: ignore[operator]
    if isinstance(node, float):
        return node
    left, right = amount(node.left, value), amount(node.right, value)
    return left + right if node.operator == "+" else left - right


PIECES = [
    "1 < 2",
    "(1;%a%) > 0",
    "(",
    ")",
    "[",
    "]",
    "(1;%a%)",
    "(*;%b%)",
    "(x;%",
    "%)",
    ";",
    "%",
    "<",
    ">",
    "=",
    "+",
    "-",
    "&",
    "|",
    "1",
    "2.5",
    "1e",
    " ",
    "é",
    "!",
    "a",
    "\n",
]


def fuzz(seeds: range) -> int:
    """How many of so many random strings are formulas; anything but a FormulaError ends the test."""
    read = 0
    for seed in seeds:
        chance = random.Random(seed)
        text = "".join(chance.choices(PIECES, k=chance.randrange(12)))
        try:
            formula = parse(text)
        except FormulaError as refusal:
            assert refusal.place.startswith("formula, character ")
            continue
        assert parse(str(formula)) == formula
        read += 1
    return read


def test_ten_thousand_random_strings() -> None:
    assert fuzz(range(10_000)) > 10


@pytest.mark.slow
def test_a_hundred_thousand_random_strings() -> None:
    assert fuzz(range(10_000, 110_000)) > 100


@pytest.mark.slow
@settings(max_examples=300)
@given(st.text(max_size=60))
def test_any_unicode(text: str) -> None:
    try:
        parse(text)
    except FormulaError as refusal:
        assert str(refusal)
