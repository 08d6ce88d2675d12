"""Figures of model classes: valid Vega-Lite, the numbers behind them, names as text, and what runs give."""

from itertools import pairwise
from math import nan
from pathlib import Path

import altair
import polars as pl
import pytest
from report_examples import ATTACKS
from toy_runs import FULL, toy_run

from syntagm.core import RunError
from syntagm.runs import Run
from syntagm.suites import Item, Sentence, Suite
from syntagm.views import Figure, circuits as circuit_scores, classes, dots, modifiers, perplexity, vega

A, B = ATTACKS[0], ATTACKS[1]


def of_classes() -> Figure:
    rows = [
        (A, "trained", 0.25, 0.2, 0.3, 9, "m"),
        (B, "off the shelf", 0.75, nan, nan, 1, "m"),
        ("c", "trained", nan, nan, nan, 0, "m"),
    ]
    return classes.draw(pl.DataFrame(rows, schema=classes.SCHEMA, orient="row"), 0.285, A, [B])


def circuits() -> Figure:
    rows = [
        ("Agreement", A, "s", 0.1, 0.0, 0.2, 4, "m"),
        ("Agreement", A, "t", -0.3, -0.4, 0.0, 4, "m"),
        (B, "c", "s", 0.0, nan, nan, 1, "m"),
    ]
    return circuit_scores.draw(pl.DataFrame(rows, schema=circuit_scores.SCHEMA, orient="row"), "score delta", A, [B])


def deltas() -> Figure:
    rows = [
        ("by class", A, "", 0.1, 0.0, 0.2, 4, 2, "m"),
        (B, "xs", "s", -0.1, -0.2, 0.0, 4, 2, "m"),
        (B, "xs", "t", 0.0, nan, nan, 1, 1, "m"),
    ]
    return classes.draw_deltas(pl.DataFrame(rows, schema=classes.DELTAS, orient="row"), A, [B])


def modified() -> Figure:
    rows = [
        (A, "", "no modifier", 0.7, 0.6, 0.8, 5, "m"),
        (A, "", "with modifier", 0.4, 0.3, 0.5, 5, "m"),
        (B, "", "no modifier", 0.5, nan, nan, 1, "m"),
    ]
    return modifiers.draw(pl.DataFrame(rows, schema=modifiers.SCHEMA, orient="row"), A, [B])


def points() -> Figure:
    rows = [
        (A, "xs", 1, 60.0, 0.3, 0.2, 0.4, 9, "m"),
        ("c", "lg", 1, 530.0, 0.5, nan, nan, 9, "m"),
        (B, "", 0, None, 0.8, 0.7, 0.9, 9, "m"),
    ]
    return perplexity.draw(pl.DataFrame(rows, schema=perplexity.POINT, orient="row"), ["xs", "lg"], A, [B])


ALL = {"classes": of_classes, "circuits": circuits, "deltas": deltas, "modified": modified, "points": points}


@pytest.mark.slow
@pytest.mark.parametrize("name", ALL)
def test_figures_are_valid_and_names_are_text(name: str) -> None:
    figure = ALL[name]()
    altair.Chart.from_dict(dict(figure.spec), validate=True)
    # svg() refuses whatever is active.
    assert "document.title='pwned'" in figure.svg()


def test_the_numbers_behind_a_figure() -> None:
    table = of_classes().table
    assert table.columns == [*classes.SCHEMA, "chance"]
    assert table.select("model", "n").rows() == [(B, 1), (A, 9), ("c", 0)]
    assert set(table["chance"]) == {0.285}


def test_series_have_places_of_their_own_only_where_a_name_has_several() -> None:
    axis = vega.proportion("score")
    row = {"value": 0.5, "low": nan, "high": nan, "note": "", "said": ""}
    alone = [{**row, "name": "a", "series": "s"}, {**row, "name": "b", "series": "t"}]
    both = [*alone, {**row, "name": "a", "series": "t"}]
    assert "yOffset" not in str(dots.panel(alone, axis, series=["s", "t"]))
    assert "yOffset" in str(dots.panel(both, axis, series=["s", "t"]))


def test_corpora_differ_in_fill_and_size_and_by_name() -> None:
    dots = points().spec["layer"][-1]["encoding"]
    # From the first corpus to the last: Vega-Lite spreads the corpora between two ends.
    assert [dots[channel]["scale"]["range"] for channel in ("fillOpacity", "size")] == [[0, 1], [30, 75]]
    assert {dots[channel]["field"] for channel in ("fillOpacity", "size")} == {"corpus"}
    drawn = points().svg()
    assert ", xs: score 0.300" in drawn
    assert 'fill-opacity="0"' in drawn
    assert "c, lg: score 0.500" in drawn


def test_lines_close_together_have_labels_apart() -> None:
    rows = [(name, "", 0, None, 0.5 + 0.001 * at, nan, nan, 9, "m") for at, name in enumerate("abc")]
    figure = perplexity.draw(pl.DataFrame(rows, schema=perplexity.POINT, orient="row"), [])
    places = sorted(one["at"] for one in figure.spec["layer"][1]["data"]["values"])
    assert min(b - a for a, b in pairwise(places)) >= 13


def pairs(name: str, circuit: str, *nouns: str) -> Suite:
    """Of "barks" and "bark" the toy model prefers the first after dog, the second after cat; after bird they tie."""
    items = tuple(
        Item(str(index), {"good": Sentence(f"The {noun} barks"), "bad": Sentence(f"The {noun} bark")})
        for index, noun in enumerate(nouns)
    )
    return Suite(name, items, (FULL,), {"circuit": circuit})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return toy_run(
        tmp_path_factory.mktemp("classes") / "run",
        pairs("mvrr", "Garden-Path Effects", "dog", "dog"),
        pairs("mvrr_mod", "Garden-Path Effects", "dog", "cat"),
        pairs("number_src", "Agreement", "cat", "bird"),
    )


def test_figures_of_runs(run: Run) -> None:
    score = classes.draw_figure([run]).table.row(0, named=True)
    # (2/2 + 1/2 + 0/2) / 3, of pairs, whose chance is 1/2.
    assert (score["value"], score["n"], score["chance"]) == (pytest.approx(0.5), 6, 0.5)
    by_circuit = circuit_scores.draw_figure([run]).table
    assert dict(by_circuit.select("circuit", "value").iter_rows()) == {"Garden-Path Effects": 0.75, "Agreement": 0.0}
    changed = modifiers.draw_figure([run]).table
    assert dict(changed.select("modifier", "value").iter_rows()) == {"no modifier": 1.0, "with modifier": 0.5}


def test_runs_without_modified_suites(tmp_path: Path) -> None:
    other = toy_run(tmp_path / "run", pairs("mvrr", "Garden-Path Effects", "dog"))
    with pytest.raises(RunError, match="no suite with its modified version"):
        modifiers.draw_figure([other])
