"""Equivalence: by pencil, and three verdicts."""

from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.stats import Resampling, paired_intervals, suite_intervals, using


def test_over_suites_it_is_two_t_tests() -> None:
    draw = np.random.default_rng(1)
    values = {str(k): np.sign(draw.normal(size=40)) * (draw.random(40) < 0.2) for k in range(12)}
    means = [items.mean() for items in values.values()]
    expected = max(
        stats.ttest_1samp(means, -0.1, alternative="greater").pvalue,
        stats.ttest_1samp(means, 0.1, alternative="less").pvalue,
    )
    if suite_intervals.spread_over_suites(list(values.values())).freedom == 11:
        assert suite_intervals.equivalence_over_suites(values, 0.1) == pytest.approx(expected)
    with using(Resampling(suites="fixed")):
        assert suite_intervals.equivalence_over_suites(values, 0.1) < 0.05


def test_on_a_suite_it_agrees_with_the_interval_of_ninety_percent() -> None:
    # 2 and 1 of 200 items: Tango's 90% interval is within .05, not within .005.
    differences = [1.0, 1.0, -1.0] + [0.0] * 197
    assert paired_intervals.equivalence(differences, 0.05) < 0.05 < paired_intervals.equivalence(differences, 0.005)
    assert np.isnan(paired_intervals.equivalence([], 0.05))


@pytest.mark.slow
def test_the_table_has_three_verdicts(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n")
    suites = (agreement("far", ("cat",) * 20), agreement("same", ("dog",) * 200), agreement("few", ("dog",) * 5))
    runs = [toy_run(tmp_path / "a", *suites), toy_run(tmp_path / "b", *suites, model=f"toy:{tmp_path / 'other.txt'}")]
    rows = sg.table("equivalence", runs, bound=0.05).to_frame().rows(named=True)
    assert {row["suite"]: row["verdict"] for row in rows} == {
        "far": "different",
        "same": "equivalent",
        "few": "inconclusive",
        "mean of 3": "inconclusive",
    }
    with pytest.raises(sg.UsageError, match="bound="):
        sg.table("equivalence", runs)
    with pytest.raises(sg.UsageError, match="bound="):
        sg.table("equivalence", runs, bound=2)
