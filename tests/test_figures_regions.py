"""The bits of all regions at once equal those that are read sentence by sentence."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from report_examples import crossed, gaps
from toy_runs import agreement, pairs, toy_run

from syntagm.runs.evaluate import run
from syntagm.runs.store import open_run
from syntagm.suite import Item, Region, Sentence, Suite
from syntagm.views.regions import compute as regions


def expected(opened, suite: str) -> pl.DataFrame:
    table = opened.regions(suite)
    place = pl.int_range(pl.len()).over("item", "condition")
    return table.select("item", "condition", "region", place.alias("place"), "bits")


def same(one: pl.DataFrame, other: pl.DataFrame) -> None:
    keys = ["item", "condition", "region", "place"]
    assert one.select(keys).rows() == other.select(keys).rows()
    np.testing.assert_array_equal(one["bits"].to_numpy(), other["bits"].to_numpy())


def test_empty_regions_crossings_and_no_regions(tmp_path: Path) -> None:
    opened = toy_run(tmp_path, agreement(), gaps(), crossed(), pairs("plain", ("the dog barks", "the dog bark")))
    for suite in ("agreement", "gaps", "crossed"):
        same(regions.regions(opened, suite), expected(opened, suite))
    assert regions.regions(opened, "crossed")["bits"].is_nan().all()
    assert regions.regions(opened, "gaps").filter(pl.col("empty")).select("condition", "region").rows() == [
        ("gap", "2"), ("full", "3"), ("gap", "2"),
    ]  # fmt: skip
    assert not len(regions.regions(opened, "plain"))


TEXTS = st.text("ab \u3000\u00e9\n", min_size=1, max_size=12).filter(str.strip)


@pytest.mark.slow
@given(st.lists(st.tuples(TEXTS, st.data()), min_size=1, max_size=4), st.sampled_from(["strict", "start"]))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_texts_and_borders(tmp_path_factory: pytest.TempPathFactory, drawn, rule: str) -> None:
    items = []
    for number, (text, draw) in enumerate(drawn):
        cuts = sorted(draw.draw(st.lists(st.integers(0, len(text)), min_size=2, max_size=5)))
        regions = tuple(Region(str(k), low, high) for k, (low, high) in enumerate(pairwise(cuts)))
        items.append(Item(str(number), {"only": Sentence(text, regions)}))
    from unittest.mock import patch

    from syntagm.models.names import load

    with patch("syntagm.runs.engine.check", lambda suites: []):
        opened = run(load("toy:?eos=yes"), [Suite("any", tuple(items), ())], tmp_path_factory.mktemp("run"), align=rule)
    same(regions.regions(opened, "any"), expected(open_run(opened.folder), "any"))
