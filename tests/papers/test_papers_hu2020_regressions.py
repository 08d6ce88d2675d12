"""Hu et al. 2020, regressions: which classes are left out of them, and tests that can't be made."""

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest

from syntagm.papers.hu2020 import item_regressions, regressions
from syntagm.papers.hu2020.regressions import Fits
from syntagm.stats import bootstrap


@cache
def observed(*classes: str) -> pl.DataFrame:
    """Each class on two sizes with two seeds, on six suites."""
    draw = np.random.default_rng(1)
    rows = [
        (draw.normal(0.5 + 0.1 * at, 0.1), words, name, f"s{suite}", f"{name}-{words}-{seed}")
        for at, name in enumerate(classes)
        for words in (0.1, 1.0)
        for seed in (1, 2)
        for suite in range(6)
    ]
    columns = ["performance", "numwords", "architecture", "suite", "instance"]
    return pl.DataFrame(rows, schema=columns, orient="row")


@pytest.mark.parametrize(
    ("classes", "left"),
    [
        # As the raw data call them, and as experiments do.
        (("vanilla", "rnng", "ngram", "gpt-2"), {"n-gram": 3, "GPT-2": 3, "both": 2}),
        (("lstm", "other", "ngram", "gpt2", "gpt2-words"), {"n-gram": 4, "GPT-2": 3, "both": 2}),
        (("lstm", "ngram", "gpt2-words"), {"n-gram": 2, "GPT-2": 2, "both": 1}),
        (("lstm", "other", "gpt2"), {"GPT-2": 2}),
        (("lstm", "other"), {}),
    ],
)
def test_classes_are_left_out_by_either_name(classes: tuple[str, ...], left: dict[str, int]) -> None:
    tables = regressions.without_classes(observed(*classes))
    found = {name: table["architecture"].n_unique() for name, table in tables.items()}
    assert found == {f"without {name}": count for name, count in left.items()}


@pytest.mark.slow
def test_a_test_that_cannot_be_made_is_a_note() -> None:
    names = ("full", "no_size", "no_architecture")
    found = regressions.fit_models(observed("lstm", "gpt2"), names)
    assert tuple(found.fits) == names
    # As if the search for the larger model had ended at a worse place.
    better = replace(found.fits["no_size"], loglik=found.fits["full"].loglik + 1)
    odd = Fits({**found.fits, "no_size": better}, {})
    none = Fits({}, {"full": "the reason."})
    by_classes = {"all classes": found, "without n-gram": odd, "without GPT-2": none}
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        made = regressions.tests(by_classes, regressions.ratios(by_classes))
    assert [row[:2] for row in made.rows] == [
        ("all classes", "size"),
        ("all classes", "architecture"),
        ("without n-gram", "architecture"),
    ]
    [failed] = [note for note in made.notes if "not tested" in note]
    assert failed.startswith("without n-gram: size is not tested: ")
    assert "the larger model has the lower likelihood, by 1;" in failed
    # Which models: those of all classes are fitted.
    assert "without GPT-2: full is not fitted: the reason." in made.notes


def test_variance_is_split_into_what_differs_and_the_choice_of_items() -> None:
    classes = ("lstm", "other", "ngram")
    table = observed(*classes).with_columns(pl.col("performance").clip(0, 1), n=pl.lit(24))
    made = regressions.variances(table)
    parts = {row[0]: dict(zip(made.columns, row, strict=True)) for row in made.rows}
    assert [*parts] == [
        "class", "size", "training run", "suite", "class by suite", "size by suite", "items", "residual",
    ]  # fmt: skip
    scores = table["performance"].to_numpy()
    assert parts["items"]["sd"] == pytest.approx(np.sqrt(np.mean(scores * (1 - scores) / 23)))
    assert sum(part["share"] for part in parts.values()) == pytest.approx(1)
    assert (parts["class"]["levels"], parts["class"]["remark"]) == (3, "only 3 levels")
    [*_, reason] = regressions.variances(table.filter(architecture="lstm")).notes
    assert reason.startswith("The variance is not split: class: one level")


@pytest.mark.slow
def test_items_and_counts_have_diagnostics() -> None:
    """Suites that suit one class better: the model of items doesn't know it, and says so."""
    draw = np.random.default_rng(2)
    both = {(suite, name): draw.normal(0, 1.5) for suite in range(5) for name in ("gpt2", "lstm")}
    rows = [
        (
            int(draw.random() < 1 / (1 + np.exp(-both[suite, name]))),
            words,
            name,
            f"{name}-{words}-{seed}",
            f"s{suite}",
            item,
        )
        for name in ("gpt2", "lstm")
        for words in (0.1, 1.0)
        for seed in (1, 2)
        for suite in range(5)
        for item in range(12)
    ]
    items = pl.DataFrame(
        rows, schema=["correct", "numwords", "architecture", "instance", "suite", "item"], orient="row"
    )
    with bootstrap.using(bootstrap.Resampling(simulated=0)):
        made = dict(item_regressions.tables(items))
    assert [f"regression_items{end}" for end in ("", "_fits", "_tests", "_residuals", "_influence")] == list(made)
    [note] = [note for note in made["regression_items"].notes if "use counts" in note]
    ratios = {
        row[0]: row[made["regression_items_fits"].columns.index("dispersion")]
        for row in made["regression_items_fits"].rows
    }
    assert ratios["items"] > 2 > 1 > ratios["counts"]
    assert f"vary {ratios['items']:.1f} times" in note
    tests = made["regression_items_tests"]
    assert [(row[0], row[2], row[4]) for row in tests.rows] == [
        ("size", 1, "chi-squared"),
        ("architecture", 1, "chi-squared"),
    ]
    assert any("only 5 groups" in note for note in tests.notes)
    influence = made["regression_items_influence"]
    assert len(influence.rows) == 2 * 8
    assert influence.columns[3:] == ("(Intercept)", "log(numwords)", "architecturelstm")
    # A model that the data don't allow gets its reason.
    same = items.with_columns(correct=pl.lit(1))
    found = dict(item_regressions.tables(same))
    assert list(found) == ["regression_items", "regression_items_fits"]
    assert any("every response is a success" in note for note in found["regression_items"].notes)
