"""lme4's notation: what it means, the columns that R makes of it, and what is refused with a caret."""

import polars as pl
import pytest
from hypothesis import given, strategies as st

from syntagm.core import FormulaError
from syntagm.stats import factor_levels, formula, model_columns

TABLE = pl.DataFrame({"y": range(12), "x": range(1, 13), "f": ["a", "b", "c"] * 4, "h": ["u"] * 6 + ["v"] * 6})

# The second column is what R 4.2.2 prints for colnames(model.matrix(...)) on the same table.
IN_R = [
    ("0 + f + h", "fa fb fc hv"),
    ("x:f", "(Intercept) x:fa x:fb x:fc"),
    ("f:h", "(Intercept) fa:hu fb:hu fc:hu fa:hv fb:hv fc:hv"),
    ("x + f:h", "(Intercept) x fa:hu fb:hu fc:hu fa:hv fb:hv fc:hv"),
    ("f + f:h", "(Intercept) fb fc fa:hv fb:hv fc:hv"),
    ("0 + x + f*h", "x fa fb fc hv fb:hv fc:hv"),
    ("f*x + h:x", "(Intercept) fb fc x fb:x fc:x x:hv"),
    ("0 + x:f", "x:fa x:fb x:fc"),
    ("f:h + x:f", "(Intercept) fa:hu fb:hu fc:hu fa:hv fb:hv fc:hv fa:x fb:x fc:x"),
    ("0 + f:h + x", "x fa:hu fb:hu fc:hu fa:hv fb:hv fc:hv"),
]


@pytest.mark.parametrize(("text", "names"), IN_R)
def test_columns_and_their_names_are_those_of_r(text: str, names: str) -> None:
    model = formula.parse(f"y ~ {text}")
    assert " ".join(model_columns(model.fixed, TABLE, factor_levels(model, TABLE, {})).names) == names


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("y~x", "y ~ 1 + x"),
        ("y ~ x - 1", "y ~ 0 + x"),
        ("y ~ -1 + x", "y ~ 0 + x"),
        ("y ~ 1", "y ~ 1"),
        ("y ~ a:b + a", "y ~ 1 + a + a:b"),
        ("y ~ b*a*c - a:b:c", "y ~ 1 + b + a + c + b:a + b:c + a:c"),
        ("y ~ (a + b):c - b:c", "y ~ 1 + a:c"),
        ("y ~ a + a + a:a", "y ~ 1 + a"),
        ("log(y) ~ log2( x ) + (1|g)", "log(y) ~ 1 + log2(x) + (1 | g)"),
        ("y ~ (0 + x | g) + (x + f | g:h)", "y ~ 1 + (0 + x | g) + (1 + x + f | g:h)"),
        ("y ~ (x * f || g)", "y ~ 1 + (1 | g) + (0 + x | g) + (0 + f | g) + (0 + x:f | g)"),
        ("y ~ (1 | a/b/c)", "y ~ 1 + (1 | a) + (1 | a:b) + (1 | a:b:c)"),
        ("y ~ `my column` + .x_1", "y ~ 1 + my column + .x_1"),
    ],
)
def test_meaning(text: str, meaning: str) -> None:
    assert str(formula.parse(text)) == meaning


def test_an_interaction_is_named_in_the_order_of_first_mention() -> None:
    model = formula.parse("performance ~ log(numwords) * circuit + architecture * circuit")
    assert str(model.fixed).endswith("log(numwords):circuit + circuit:architecture")


@pytest.mark.parametrize(
    ("text", "place", "message"),
    [
        ("", 1, "the response"),
        ("y", 2, "~ after the response"),
        ("y = x", 3, "followed by ~"),
        ("y ~ ", 5, "a column"),
        ("y ~ x +", 8, "a column"),
        ("y ~ x ^ 2", 7, "out the products"),
        ("y ~ x | g", 7, "enclosed in brackets"),
        ("y ~ x / g", 7, "Only groups nest"),
        ("y ~ (1 | g", 11, "to close character 5"),
        ("y ~ (1 | g) * x", 13, r"\+ or - or the end"),
        ("y ~ x - (1 | g)", 9, "Remove the term"),
        ("y ~ (0 | g)", 5, "without an effect"),
        ("y ~ (1 | g:h/k)", 13, "separate random term"),
        ("y ~ (1 | g:g)", 13, "twice"),
        ("y ~ ((1 | g) + x)", 6, "inside another part"),
        ("y ~ poly(x, 2)", 5, "a computed column"),
        ("y ~ log(x + 1)", 11, "to close"),
        ("y ~ 2 * x", 5, "0, 1 or a column"),
        ("y ~ 1:x", 6, "after the intercept"),
        ("y ~ (0 + a):b", 5, "outside them"),
        ("y ~ a - b", 9, "the formula doesn't have"),
        ("y ~ y + x", 1, "among the predictors"),
        ("y ~ a*b*c*d*e*f*g*h", 5, "more than 128 terms"),
        ("y ~ " + "(" * 40 + "x" + ")" * 40, 0, "deep"),
        ("y ~ " + " + ".join(f"(1 | g{n})" for n in range(200)), 0, "more than 128"),
        ("y ~ x" + " " * formula.MAX_LENGTH, formula.MAX_LENGTH + 1, "characters"),
    ],
)
def test_refused_with_the_place(text: str, place: int, message: str) -> None:
    with pytest.raises(FormulaError, match=message) as caught:
        formula.parse(text)
    lines = str(caught.value).split("\n")
    assert lines[-1].strip() == "^"
    if place:
        assert f"character {place}:" in lines[0]
        assert len(lines[-1]) - 3 == min(place - 1, 60)


@given(st.text("yxfg()|~+-*:/01 `log", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        model = formula.parse(text)
    except FormulaError:
        pass
    else:
        # `)` and the like in backticks can't be told from notation when printed bare.
        assert "`" in text or str(formula.parse(str(model))) == str(model)
