"""Write the designs that few_groups.R fits with lmerTest and pbkrtest: `python tests/data/regression/few_groups.py`.

Own, seeded: runs crossed with suites, unbalanced; a slope that varies by run; few groups of unequal size.
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


if __name__ == "__main__":
    for design in (crossed, sloped):
        design().with_columns(pl.selectors.float().round(6)).write_csv(FOLDER / f"few_groups_{design.__name__}.csv")
