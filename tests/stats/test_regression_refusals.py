"""What the data don't allow is refused by name, or said in the fit."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.stats import Fit, linear, logistic

DRAW = np.random.default_rng(0)
ROWS = 60
TABLE = pl.DataFrame(
    {
        "y": DRAW.normal(size=ROWS),
        "x": DRAW.normal(size=ROWS),
        "f": DRAW.choice(list("abc"), ROWS),
        "g": DRAW.integers(0, 6, ROWS),
        "yes": DRAW.random(ROWS) < 0.5,
        "id": range(ROWS),
        "one": ["only"] * ROWS,
        "constant": [3.0] * ROWS,
    }
).with_columns(
    double=2 * pl.col("x"),
    line=3 * pl.col("x") + 1,
    holes=pl.when(pl.col("id") > 2).then("x"),
    nan=pl.when(pl.col("id") > 4).then("x").otherwise(float("nan")),
    infinite=pl.when(pl.col("id") > 0).then("x").otherwise(float("inf")),
    positive=pl.when(pl.col("id") == 7).then(0.0).otherwise(1.0),
    cell=pl.when(pl.col("f") == "a").then(pl.lit("u")).otherwise(pl.when(pl.col("yes")).then(pl.lit("v")).otherwise(pl.lit("u"))),
    above=(pl.col("x") > 0).cast(pl.Int64),
    count=pl.col("g"),
    five=pl.lit(5),
)  # fmt: skip


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ hole + (1 | g)", "no column hole; .* Did you mean holes?"),
        ("y ~ x + (1 | h)", "no column h;"),
        ("y ~ holes + (1 | g)", r"3 of 60 rows lack a value \(holes\)"),
        ("y ~ holes + nan + (1 | g)", r"5 of 60 rows lack a value \(holes, nan\)"),
        ("y ~ infinite + (1 | g)", "column infinite: 1 infinite"),
        ("y ~ log(positive) + (1 | g)", r"column positive, row 8: log\(positive\) is undefined in 1 rows"),
        ("y ~ log(f) + (1 | g)", "column f: String, for example '.'; expected numbers"),
        ("f ~ x + (1 | g)", "it is the response"),
        ("y ~ x + double + (1 | g)", "that the others determine: double"),
        ("y ~ constant + (1 | g)", "that the others determine: constant"),
        ("y ~ f * cell + (1 | g)", "that the others determine: fb:cellv|that the others determine: fc:cellv"),
        ("y ~ one + (1 | g)", "column one: only the level only"),
        ("y ~ x + (1 | one)", "group one: only the level only"),
        ("y ~ x + (1 | id)", "60 random effects by id for 60 rows"),
        ("y ~ x + (x + f | g:f:cell)", "random effects by g:f:cell for 60 rows"),
        ("y ~ (x | g) + (1 | g)", r"\(Intercept\) given twice for group g"),
        ("constant ~ x + (1 | g)", "a constant response"),
        ("line ~ x + (1 | g)", "fixed effects that explain the response exactly"),
        ("count ~ x + (1 | g)", "groups that explain the response exactly"),
        ("y ~ id:f:cell + (1 | f) + x:id:f:cell", "column|determine"),
    ],
)
def test_refused(formula: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        linear.fit(formula, TABLE)


def test_groups_that_explain_nearly_everything_are_refused() -> None:
    """The standard deviation of the groups is 9,950 times that of the residuals, and 10,000 is the largest ratio tried."""
    nearly = TABLE.with_columns(nearly=pl.col("g") + 1.9397e-4 * pl.col("y"))
    with pytest.raises(InputError, match=r"groups that explain the response exactly; .*\. Remove a random term"):
        linear.fit("nearly ~ x + (1 | g)", nearly, starts=1)
    less = TABLE.with_columns(nearly=pl.col("g") + 2e-4 * pl.col("y"))
    assert linear.fit("nearly ~ x + (1 | g)", less, starts=1).place == pytest.approx([9650], rel=0.01)


def test_too_much_is_refused_before_it_is_made() -> None:
    big = pl.DataFrame({"y": np.arange(20_000.0) % 7, "a": np.arange(20_000) % 900, "b": np.arange(20_000) % 901})
    text = big.with_columns(pl.col("a", "b").cast(pl.String))
    with pytest.raises(InputError, match="at most 40000000 cells"):
        linear.fit("y ~ a * b", text)
    with pytest.raises(InputError, match="crossed with"):
        linear.fit("y ~ (1 | c) + (1 | d)", big.with_columns(c=pl.int_range(20_000) // 2, d=pl.int_range(20_000) // 3))
    few = pl.DataFrame(
        {"y": np.arange(500.0) % 7, "a": [f"a{n % 40}" for n in range(500)], "b": [n % 3 for n in range(500)]}
    )
    with pytest.raises(InputError, match="820 variances and covariances"):  # 40 x 41 / 2
        linear.fit("y ~ (0 + a | b)", few)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": "ignore"}, "'refuse' or 'drop'"),
        ({"dependent": "ignore"}, "'refuse' or 'drop'"),
        ({"starts": 0}, "1 or more"),
        ({"reference": {"f": "z"}}, "f has no level z; expected one of a, b, c"),
        ({"reference": {"x": "a"}}, "a factor of the formula: f"),
    ],
)
def test_options(options: dict[str, object], message: str) -> None:
    for family in (
        lambda: linear.fit("y ~ x + f + (1 | g)", TABLE, **options),
        lambda: logistic.fit("yes ~ f", TABLE, **options),
    ):
        with pytest.raises(UsageError, match=message):
            family()


def test_dropped_rows_and_columns_are_said() -> None:
    found = linear.fit("y ~ holes + double + x + (1 | g)", TABLE, missing="drop", dependent="drop")
    assert found.n == 57
    assert found.messages[0] == "3 of 60 rows dropped: a value is missing"
    assert found.messages[1] == "fixed effects dropped, since the others determine them: double, x"
    assert [one.name for one in found.coefficients] == ["(Intercept)", "holes"]


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_tiny_tables(rows: int) -> None:
    with pytest.raises(SyntagmError):
        linear.fit("y ~ x + (1 | g)", TABLE.head(rows))


@pytest.mark.slow
@pytest.mark.parametrize("model", [linear.fit, logistic.fit])
def test_predictors_far_from_0_are_refused_and_not_fitted_wrongly(model: Callable[..., Fit]) -> None:
    """A slope that varies by group with the intercept: taking the mean off changes nothing but the intercept."""
    response = "y" if model is linear.fit else "yes"
    formula = f"{response} ~ x + (x | g)"
    plain = model(formula, TABLE)
    near = model(formula, TABLE.with_columns(pl.col("x") + 100))
    assert near.deviance == pytest.approx(plain.deviance, abs=1e-5)
    for far in (1e5, 1e7):
        with pytest.raises(
            InputError, match=r"effects by g that are nearly linearly dependent: \(Intercept\), x; .* Subtract"
        ):
            model(formula, TABLE.with_columns(pl.col("x") + far))


def test_a_singular_correlation_is_said() -> None:
    found = linear.fit("y ~ x + (x + double | g)", TABLE)
    assert found.singular
    assert "vary in" in found.messages[0] or "no variance" in found.messages[0]


@pytest.mark.parametrize(
    ("formula", "options", "message"),
    [
        ("y ~ x + (1 | g)", {}, "column y, row 1: .*; expected 0 or 1"),
        ("g ~ x + (1 | f)", {"trials": "five"}, "column g, row .*: .*|whole"),
        ("yes ~ x", {"trials": "x"}, "whole numbers of trials"),
        ("yes ~ x", {"trials": "trial"}, "no column trial"),
        ("constant ~ x", {"trials": "constant"}, "every response is a success"),
        ("zero ~ x", {}, "every response is 0"),
        ("yes ~ x + (1 | id)", {}, "one observation by id"),
        ("above ~ x + (1 | g)", {}, "separated by x"),
        ("above ~ f + x + (1 | g)", {}, "separated by .*x"),
        ("perfect ~ f + (1 | g)", {}, "separated by fb, fc"),
        ("quasi ~ x + f + (1 | g)", {}, "separated by fb, fc"),
    ],
)
def test_logistic_refusals(formula: str, options: dict[str, str], message: str) -> None:
    table = TABLE.with_columns(
        zero=pl.lit(0),
        perfect=pl.col("f") == "a",
        quasi=(pl.col("f") == "a") | pl.col("yes"),
        g=pl.when(pl.col("id") == 3).then(9).otherwise("g"),
    )
    with pytest.raises(InputError, match=message):
        logistic.fit(formula, table, **options)
