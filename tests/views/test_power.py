"""Power by simulation from a pilot: its level, its limits, and what it refuses."""

from pathlib import Path

import numpy as np
import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.views import power


def test_without_a_difference_the_power_is_the_level() -> None:
    # Pilot suites whose items differ in either direction alike: the true difference is 0.
    pilot = [np.array([1.0, -1.0] + [0.0] * 8), np.array([1.0, -1.0] * 2 + [0.0] * 6)]
    # 1,000 studies: three standard errors of .05 are .021.
    assert power.simulated(pilot, 12, 20) == pytest.approx(0.05, abs=0.021)


def test_more_suites_and_items_find_more() -> None:
    pilot = [np.array([1.0] * k + [-1.0] + [0.0] * (9 - k)) for k in (1, 2, 3)]
    small, more_items, more_suites = (power.simulated(pilot, *shape) for shape in ((4, 10), (4, 40), (16, 10)))
    assert small < more_items
    assert small < more_suites
    assert power.simulated([np.ones(5), np.array([1.0, 1, 1, 1, 0])], 20, 20) == 1.0


def test_the_table_takes_two_runs_and_several_suites(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("the dog barks\nthe bird bark\nthe cats bark\nthe cat barks\n")
    suites = (agreement("s"), agreement("t", ("cat",) * 5))
    runs = [toy_run(tmp_path / "a", *suites), toy_run(tmp_path / "b", *suites, model=f"toy:{tmp_path / 'other.txt'}")]
    rows = sg.table("power", runs, suites="3,5", items="10").to_frame().rows(named=True)
    assert [(row["suites"], row["items each"], row["pilot suites"]) for row in rows] == [(3, 10, 2), (5, 10, 2)]
    assert all(0 <= row["power"] <= 1 for row in rows)
    with pytest.raises(sg.UsageError, match="whole numbers"):
        sg.table("power", runs, suites="1")
    with pytest.raises(sg.UsageError, match="one run"):
        sg.table("power", runs[:1])
    alone = [toy_run(tmp_path / f"{name}1", agreement("s"), model=name) for name in ("toy", "random")]
    with pytest.raises(sg.UsageError, match="one suite"):
        sg.table("power", alone)
