"""The values of the same items under several runs, some of which lack items."""

from pathlib import Path

import numpy as np
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.runs import open_run
from syntagm.views import estimates


def test_items_keep_their_places_whichever_run_has_them_first(tmp_path: Path) -> None:
    suites = agreement(), pairs("p", ("the dog barks", "the dog bark"), ("the dog sleeps", "the dog sleep"))
    for name in ("whole", "begun", "reversed"):
        toy_run(tmp_path / name, *suites)
    whole, begun, reversed_ = (
        open_run(tmp_path / "whole"),
        interrupt(tmp_path / "begun", 1),
        open_run(tmp_path / "reversed"),
    )
    turned = reversed_.results().reverse()
    reversed_.results = lambda suite=None: turned  # type: ignore[method-assign, assignment]
    matrices = estimates.values_of([begun, whole, reversed_], ["agreement", "p"], "first")
    expected = whole.results("p")["value"].to_numpy()
    nothing = np.full(2, np.nan)
    assert np.array_equal(matrices["p"], np.column_stack([nothing, expected, expected]), equal_nan=True)
    assert matrices["agreement"].shape == (3, 3)
    assert (matrices["agreement"] == matrices["agreement"][:, :1]).all()
