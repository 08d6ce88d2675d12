"""Predictions in words: each kind of comparison, and what is said once."""

import pytest

from syntagm.report.in_words import in_words
from syntagm.suites import parse


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("(v;%a%) < (v;%b%)", "the `v` is less surprising in `a` than in `b`"),
        ("(v;%a%) = (v;%b%)", "the `v` is as surprising in `a` as in `b`"),
        ("(*;%a%) > (*;%b%)", "the whole sentence is more surprising in `a` than in `b`"),
        ("(5;%a%) > (5;%b%)", "region 5 is more surprising in `a` than in `b`"),
        (
            "(v;%a%) + (w;%a%) < (w;%b%) + (v;%b%)",
            "the `v` and the `w` together are less surprising in `a` than in `b`",
        ),
        ("(v;%a%) < (w;%a%)", "the surprisal of the `v` in `a` is smaller than the surprisal of the `w` in `a`"),
        ("(v;%a%) > 2.5", "the surprisal of the `v` in `a` is above 2.5 bits"),
        ("(v;%a%) - (v;%b%) > 0", "the rise in surprisal of the `v` from `b` to `a` is above 0"),
        (
            "(v;%a%) - (v;%b%) > (v;%c%) - (v;%d%)",
            "the surprisal of the `v` rises more from `b` to `a` than from `d` to `c`",
        ),
        (
            "(v;%a%) - (v;%b%) < (v;%c%) - (v;%d%)",
            "the surprisal of the `v` rises by less from `b` to `a` than from `d` to `c`",
        ),
        (
            "((v;%a%) - (v;%b%)) + ((w;%c%) - (w;%d%)) > 0",
            "the rise in surprisal of the `v` from `b` to `a` plus the rise in surprisal of the `w` from `d` to `c` is above 0",
        ),
        (
            "(v;%a%) - ((v;%b%) - (w;%c%)) < 3",
            "the surprisal of the `v` in `a` minus (the surprisal of the `v` in `b` minus the surprisal of the `w` in `c`)"
            " is below 3 bits",
        ),
    ],
)
def test_one_comparison(formula: str, words: str) -> None:
    assert in_words(parse(formula)) == words


def test_what_comparisons_share_is_said_once() -> None:
    same_subject = parse("(v;%a%) < (v;%b%) & (v;%c%) < (v;%d%)")
    assert in_words(same_subject) == "the `v` is less surprising in `a` than in `b`, and in `c` than in `d`"
    same_place = parse("(v;%a%) > (v;%b%) & (v;%a%) > (v;%c%)")
    assert in_words(same_place) == "the `v` is more surprising in `a` than in `b` and than in `c`"
    other = parse("(v;%a%) > (v;%b%) & (v;%a%) < (v;%c%)")
    assert (
        in_words(other)
        == "the `v` is more surprising in `a` than in `b`, and the `v` is less surprising in `a` than in `c`"
    )


def test_and_inside_or_keeps_its_brackets() -> None:
    said = in_words(parse("(v;%a%) < (v;%b%) | ((v;%c%) < (v;%d%) & (w;%c%) < (w;%d%))"))
    inner = "(the `v` is less surprising in `c` than in `d`, and the `w` is less surprising in `c` than in `d`)"
    assert said == f"either the `v` is less surprising in `a` than in `b`, or {inner}"


def test_numbered_regions_have_their_labels() -> None:
    assert (
        in_words(parse("(5;%a%) < (5;%b%)"), {"5": "verb"}) == "region 5 (`verb`) is less surprising in `a` than in `b`"
    )
