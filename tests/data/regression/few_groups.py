"""Write the designs that few_groups.R fits with lmerTest and pbkrtest: `python tests/data/regression/few_groups.py`.

Own, seeded: runs crossed with suites, unbalanced; a slope that varies by run; few groups of unequal size; classes with
a size slope of their own on suites with slopes, crossed with runs; a group that doesn't vary, so that the fit is singular.
"""

from pathlib import Path

import numpy as np
import polars as pl

FOLDER = Path(__file__).parent


def crossed() -> pl.DataFrame:
    """Return nine runs of two classes on twelve suites; a fifth of the cells are missing."""
    draw = np.random.default_rng(1)
    of_runs, of_suites = draw.normal(0, 0.08, 9), draw.normal(0, 0.2, 12)
    rows = [
        (
            f"r{run}",
            f"s{suite:02}",
            "ab"[run % 2],
            run // 2,
            0.4 + of_runs[run] + of_suites[suite] + draw.normal(0, 0.1),
        )
        for run in range(9)
        for suite in range(12)
        if draw.random() < 0.8
    ]
    return pl.DataFrame(rows, schema=["run", "suite", "class", "size", "score"], orient="row")


def sloped() -> pl.DataFrame:
    """Return seven groups of three to nine rows with a slope of their own."""
    draw = np.random.default_rng(2)
    rows = []
    for group in range(7):
        level, slope = draw.normal(0, 1.0), draw.normal(0.3, 0.4)
        rows += [(f"g{group}", x, level + slope * x + draw.normal(0, 0.7)) for x in range(3 + int(draw.integers(0, 7)))]
    return pl.DataFrame(rows, schema=["g", "x", "y"], orient="row")


def classes() -> pl.DataFrame:
    """Return eleven runs of three classes and four sizes on eight suites with slopes; a fifth of the cells are missing."""
    draw = np.random.default_rng(4)
    of_runs, levels, slopes = draw.normal(0, 0.06, 11), draw.normal(0, 0.2, 8), draw.normal(0.03, 0.04, 8)
    rows = [
        (f"r{run:02}", f"s{suite}", "abc"[run % 3], size, levels[suite] + slopes[suite] * size + of_runs[run] + noise)
        for run in range(11)
        for suite in range(8)
        if draw.random() < 0.8
        for size, noise in [(run // 3, draw.normal(0.4, 0.1))]
    ]
    return pl.DataFrame(rows, schema=["run", "suite", "class", "size", "score"], orient="row")


def singular() -> pl.DataFrame:
    """Return six groups of five rows, crossed with five that don't vary, and a factor of three levels."""
    draw = np.random.default_rng(12)
    of_groups, of_levels = draw.normal(0, 0.8, 6), {"a": 0.0, "b": 0.4, "c": 0.9}
    rows = []
    for group in range(6):
        for place in range(5):
            level = "abc"[int(draw.integers(3))]
            rows.append((f"g{group}", f"h{place}", level, of_groups[group] + of_levels[level] + draw.normal(0, 0.7)))
    return pl.DataFrame(rows, schema=["g", "h", "f", "y"], orient="row")


if __name__ == "__main__":
    for design in (crossed, sloped, classes, singular):
        design().with_columns(pl.selectors.float().round(6)).write_csv(FOLDER / f"few_groups_{design.__name__}.csv")
