"""Factors: accuracy and mean margin by one tag of the items or by two, and what can't be shown."""

from math import log2
from pathlib import Path

import polars as pl
import pytest
from toy_runs import agreement, pairs, sentence, toy_run

from syntagm.core import UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run
from syntagm.stats import interval
from syntagm.suites import Item, Suite
from syntagm.views import factors

# Of "barks" and "bark" the toy model has seen 2 and 0 after "dog", 0 and 1 after "cat", none after "bird".
MARGIN = {"dog": log2(3), "cat": -1.0, "bird": 0.0}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Distances that have several digits, in no order, and a second tag."""
    design = (
        ("dog", "10", "near"),
        ("dog", "2", "near"),
        ("cat", "2", "far"),
        ("dog", "2", "near"),
        ("bird", "10", "far"),
    )
    suite = agreement()
    items = tuple(
        Item(
            str(k),
            {"good": sentence(f"The {noun}", "barks"), "bad": sentence(f"The {noun}", "bark")},
            {"distance": distance, "place": place},
        )
        for k, (noun, distance, place) in enumerate(design, 1)
    )
    other = pairs("untagged", ("The dog barks", "The dog bark"))
    return toy_run(tmp_path_factory.mktemp("factors") / "run", Suite("distances", items, suite.predictions), other)


def test_a_tag_of_numbers_is_in_their_order(run: Run) -> None:
    rows = factors.values([run], "distance")[0].to_dicts()
    assert [(row["suite"], row["level"], row["n"], row["ties"]) for row in rows] == [
        ("distances", "2", 3, 0),
        ("distances", "10", 2, 1),
    ]
    two, ten = rows
    assert (two["score"], ten["score"]) == (pytest.approx(2 / 3), 0.5)
    assert two["margin"] == pytest.approx((2 * MARGIN["dog"] + MARGIN["cat"]) / 3)
    expected = interval.of_items([1.0, 0.0, 1.0], Kind.VERDICT)
    assert (two["low"], two["high"]) == (expected.low, expected.high)
    bits = interval.of_numbers([MARGIN["dog"], MARGIN["cat"], MARGIN["dog"]])
    assert (two["margin_low"], two["margin_high"]) == pytest.approx((bits.low, bits.high))
    assert {row["chance"] for row in rows} == {0.5}


def test_two_tags_are_crossed_and_regions_count_as_tags(run: Run) -> None:
    rows = factors.values([run], "distance,place")[0].to_dicts()
    assert [(row["level"], row["other"], row["n"]) for row in rows] == [
        ("2", "near", 2),
        ("10", "near", 1),
        ("2", "far", 1),
        ("10", "far", 1),
    ]
    by_noun = factors.values([run], "region:1", suite="distances")[0].to_dicts()
    assert [(row["level"], row["score"]) for row in by_noun] == [("the dog", 1), ("the cat", 0), ("the bird", 0)]


def test_the_table_leaves_out_what_is_empty(run: Run) -> None:
    made = factors.make_table([run], by="distance")
    assert "other" not in made.columns
    assert made.title == "Accuracy by distance"
    crossed = factors.make_table([run], by="distance,place")
    assert "other" in crossed.columns
    assert crossed.title == "Accuracy by distance and place"


def test_the_margin_of_several_predictions_is_the_smallest(run: Run) -> None:
    rows = factors.values([run], "distance", measure="all")[0]
    assert rows["score"].to_list() == [pytest.approx(2 / 3), 0.5]
    smallest = run.results("distances").group_by("item", maintain_order=True).agg(pl.col("margin").min())["margin"]
    assert rows["margin"][1] == pytest.approx((smallest[0] + smallest[4]) / 2)


def test_numbers_make_a_curve_and_names_do_not(run: Run) -> None:
    curve = factors.draw_figure([run], by="distance")
    assert '"line"' in str(curve.spec).replace("'", '"')
    assert '"line"' not in str(factors.draw_figure([run], by="place").spec).replace("'", '"')
    margins = factors.draw_figure([run, run], by="distance,place", show="margin")
    assert "mean margin (bits)" in margins.svg()
    assert "place: far" in margins.svg()


@pytest.mark.parametrize(
    ("by", "found"),
    [("", "expected one of distance, place"), ("colour", "expected one of distance, place"), ("a,b,c", "one tag")],
)
def test_what_no_item_has_is_refused(run: Run, by: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=found):
        factors.values([run], by)
