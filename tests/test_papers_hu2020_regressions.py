"""Hu et al. 2020, regressions: which classes are left out of them."""

from functools import cache

import numpy as np
import polars as pl
import pytest

from syntagm.papers import _hu2020_regressions as regressions


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
def test_classes_are_left_out_by_either_name(
    classes: tuple[str, ...], left: dict[str, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regressions, "fitted", lambda table, _: len(set(table["architecture"])))
    expected = {f"without {name}": count for name, count in left.items()}
    assert regressions.without_classes(observed(*classes)) == expected
