"""A quantity of items, its groups and estimates, and the curves of them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, log2, nan
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from toy_runs import FULL, agreement, sentence, toy_run

import syntagm as sg
from syntagm.core import RunError, UsageError
from syntagm.evaluation import Kind
from syntagm.runs import Run
from syntagm.stats import bootstrap, cluster_intervals, interval
from syntagm.suites import Item, Suite
from syntagm.views import clustered, curves, factors, quantity, vega

# Nouns with a place each, and a size that one of them lacks. Of "barks" and "bark" the toy model has seen 2 and 0 after
# "dog", 0 and 1 after "cat".
DESIGN = (("dog", "near", "2"), ("cat", "far", "10"), ("dog", "near", None), ("cat", "near", "10"))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    items = tuple(
        Item(
            str(k),
            {"good": sentence(f"The {noun}", "barks"), "bad": sentence(f"The {noun}", "bark")},
            {"place": place} | ({"size": size} if size else {}),
        )
        for k, (noun, place, size) in enumerate(DESIGN, 1)
    )
    return toy_run(tmp_path_factory.mktemp("quantity") / "run", Suite("places", items, (FULL,)), agreement())


def letters(run: Run, suite: str) -> Mapping[str, Sequence[Any]]:
    """The number of letters of the noun of each item: 3 or 4."""
    good = run.sentences(suite).filter(pl.col("condition") == "good")
    return {"letters": [len(text.split()[1]) for text in good["text"]]}


def test_items_of_several_suites_are_random_with_their_suites(run: Run) -> None:
    items = quantity.of_items([run], "full_sentence", letters)
    found = items.estimates("model", "letters")
    # dog, cat, dog, cat, and dog, cat of the other suite; bird ties.
    assert found.select("letters", "value", "n", "ties", "suites").rows() == [(3, 0.5, 6, 0, 2), (4, 0.0, 1, 1, 1)]
    expected = cluster_intervals.of_clusters([1, 0, 1, 0, 1, 0], Kind.VERDICT, {"suites": list("aaaabb")})
    assert found.select("low", "high").row(0) == (expected.low, expected.high)
    with bootstrap.using(bootstrap.Resampling(suites="fixed")):
        fixed = items.estimates("letters")
    alone = interval.of_items([1, 0, 1, 0, 1, 0], Kind.VERDICT)
    assert fixed.select("low", "high").row(0) == (alone.low, alone.high)
    of_suites = items.estimates("suite", "letters")
    assert of_suites.select("suite", "letters", "n").rows() == [
        ("places", 3, 4),
        ("agreement", 3, 2),
        ("agreement", 4, 1),
    ]


def test_margins_are_bits(run: Run) -> None:
    items = quantity.of_items([run], "full_sentence", letters)
    assert (items.kind, items.margins.kind, items.properties) == (Kind.VERDICT, Kind.BITS, ("letters",))
    [row] = items.margins.estimates("suite", "letters").filter(suite="places").to_dicts()
    margins = [log2(3), -1.0, log2(3), -1.0]
    expected = interval.of_numbers(margins)
    assert (row["value"], row["low"], row["high"]) == pytest.approx((sum(margins) / 4, expected.low, expected.high))


def test_items_without_one_of_two_tags_are_left_out(run: Run) -> None:
    rows = factors.values([run], "size,place")[0]
    assert rows.select("level", "other", "n").rows() == [("2", "near", 1), ("10", "near", 1), ("10", "far", 1)]
    [row] = clustered.make_table([run], by="size,place").to_frame().to_dicts()
    assert row["n"] == 3
    assert quantity.tagged([run], "size").rows["tag1"].to_list() == ["2", "10", "10"]


def test_a_tag_of_a_suite_is_that_of_its_items(tmp_path: Path) -> None:
    """Readers give a column to the suite if all its rows have the same value, and to the items otherwise."""
    items = agreement().items
    several = Suite("several", items, (FULL,), {"size": "5"})
    own = tuple(Item(item.id, item.sentences, {"size": str(place)}) for place, item in enumerate(items))
    run = toy_run(tmp_path / "run", several, Suite("own", own, (FULL,)))
    found = quantity.tagged([run], "size").rows
    assert found["suite"].to_list() == ["several"] * 3 + ["own"] * 3
    assert found["tag1"].to_list() == ["5", "5", "5", "0", "1", "2"]


def test_what_does_not_fit_is_refused(run: Run) -> None:
    def short(run: Run, suite: str) -> Mapping[str, Sequence[Any]]:
        return {"letters": [3, 4]}

    with pytest.raises(RunError, match="4 results of 2 items"):
        quantity.of_items([run], "full_sentence", short, ["places"])
    with pytest.raises(RunError, match="4 results of 0 items"):
        quantity.of_items([run], "full_sentence", lambda run, suite: {"letters": []}, ["places"])
    with pytest.raises(UsageError, match="'full_sentence', of which no item has results and the properties"):
        quantity.of_items([run], "full_sentence", lambda run, suite: {})
    with pytest.raises(UsageError, match=r"'place,size'; expected one tag of the items$"):
        quantity.tagged([run], "place,size", most=1)


def test_a_table_lacks_empty_columns_that_are_optional() -> None:
    rows = pl.DataFrame({"a": ["x", "y"], "b": ["", ""], "c": [nan, 1.0], "d": [nan, nan]})
    made = quantity.tabulated("A title", rows, ["A note."], ("b", "c"))
    assert made.columns == ("a", "c", "d")
    assert made.rows == (("x", None, None), ("y", 1.0, None))
    assert made.notes == ("A note.",)


def test_a_suite_that_no_run_has_is_named_rather_than_the_tag(run: Run) -> None:
    for make in (factors.make_table, clustered.make_table):
        with pytest.raises(UsageError, match="suite=: 'other', which no run has; expected one of places, agreement"):
            make([run], by="place", suite="other")


def test_properties_may_have_other_types_in_another_suite(run: Run) -> None:
    def mixed(run: Run, suite: str) -> Mapping[str, Sequence[Any]]:
        found = letters(run, suite)["letters"]
        return {"letters": found} if suite == "places" else {"letters": [number / 2 for number in found]}

    items = quantity.of_items([run], "full_sentence", mixed)
    assert items.estimates("letters").select("letters", "n").rows() == [(1.5, 2), (2.0, 1), (3.0, 4)]


def test_digits_of_other_scripts_are_numbers(tmp_path: Path) -> None:
    items = tuple(
        Item(str(k), {"good": sentence("The dog", "barks"), "bad": sentence("The dog", "bark")}, {"rank": rank})
        for k, rank in enumerate("٣٢", 1)
    )
    run = toy_run(tmp_path / "run", Suite("ranks", items, (FULL,)))
    figure = factors.draw_figure([run], by="rank")
    dots = figure.spec["concat"][0]["layer"][-1]["data"]["values"]
    assert [value["x"] for value in dots] == [2.0, 3.0]


ROWS = pl.DataFrame({
    "model": ["m", "n", "m", "n"], "x": [1.0, 1.0, 3.0, 3.0], "value": [0.5, 0.25, 1.0, nan], "low": [0.4, nan, 0.9, nan],
    "high": [0.6, nan, 1.0, nan], "n": [9, 9, 9, 0],
})  # fmt: skip


def _layers(rows: pl.DataFrame, **panel: Any) -> list[dict[str, Any]]:
    figure = curves.draw([curves.Panel(rows, "x", **panel)], vega.proportion("y"), "A title", [], rows)
    layers: list[dict[str, Any]] = figure.spec["concat"][0]["layer"]
    return layers


def test_curves_have_bars_where_there_are_intervals_and_dots_apart() -> None:
    bars, line, dots = _layers(ROWS)
    said = [value["said"] for value in bars["data"]["values"]]
    assert said == ["m, 1: 0.500 [0.400, 0.600], n=9", "m, 3: 1.000 [0.900, 1.000], n=9"]
    # 2% of the width apart, half of it to each side.
    assert [value["x"] for value in dots["data"]["values"]] == pytest.approx([0.98, 1.02, 2.98])
    assert line["data"] == dots["data"]
    assert dots["encoding"]["x"]["axis"]["values"] == [1.0, 3.0]


def test_texts_are_places_without_a_line_and_a_reference_is_dashed() -> None:
    dashed, bars, dots = _layers(ROWS.with_columns(x=pl.Series(["a", "a", "b", "b"])), reference=0.5)
    assert dashed["mark"]["strokeDash"]
    assert dashed["data"]["values"] == [{"at": 0.5}]
    assert {bars["mark"]["type"], dots["mark"]["type"]} == {"rule", "point"}
    assert [value["x"] for value in dots["data"]["values"]] == ["a", "a", "b"]
    assert not any(isnan(value["value"]) for value in dots["data"]["values"])


def test_an_array_that_a_view_uses_again_does_not_change_the_quantity(run: Run) -> None:
    places = np.zeros(0)

    def reused(run: Run, suite: str) -> Mapping[str, Any]:
        nonlocal places
        places = places if len(places) else np.arange(4.0)
        places += 1
        return {"place": places[: run.suite(suite).items]}

    found = quantity.of_items([run], "full_sentence", reused).rows
    places += 100
    assert found["place"].to_list() == [1, 2, 3, 4, 2, 3, 4]


def test_the_notes_name_the_intervals_that_a_table_has(run: Run) -> None:
    [of_factors] = [note for note in sg.table("factors", run, by="place").notes if note.startswith("Intervals are 95%")]
    wilson = "Wilson's score interval, for other items of the kind"
    of_both = wilson.replace(",", ", Student's t,")  # of the accuracy, and of the margin
    assert of_factors == f"Intervals are 95%: {of_both}."
    # One suite has this measure, so nothing is said of intervals over suites; two have the other one.
    of_scores = {measure: sg.table("scores", run, measure=measure).notes[0] for measure in ("verb", "full_sentence")}
    assert of_scores["verb"] == f"Intervals are 95%: {wilson}."
    assert of_scores["full_sentence"].startswith(f"Intervals are 95%: {wilson}. Intervals over suites are for other")


def test_margins_count_the_items_that_lack_one(run: Run) -> None:
    items = quantity.tagged([run], "place", "full_sentence")
    rows = items.rows.with_columns(value=pl.when(pl.col("item") == "1").then(nan).otherwise("value"))
    rows = rows.with_columns(margin=pl.when(pl.col("item") == "3").then(float("inf")).otherwise("margin"))
    [near, _] = replace(items, rows=rows).margins.estimates("tag1").to_dicts()
    # Of three near items, one has no value, one an infinite margin, and the cat a margin of -1 bit.
    assert (near["tag1"], near["n"], near["undefined"], near["value"]) == ("near", 1, 2, pytest.approx(-1.0))
