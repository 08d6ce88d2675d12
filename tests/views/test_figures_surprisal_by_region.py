from dataclasses import replace
from math import isnan, log2
from pathlib import Path

import pytest
from report_examples import crossed, gaps
from toy_runs import agreement, pairs, toy_run

from syntagm.views import by_name, effects, regions

# The toy model's bigrams: log2((12 + 24) / (8 + 1)), ...
THE = log2(36 / 9)
DOG, CAT = log2(39 / 5), log2(39 / 5)
BARKS, SLEEPS = log2(29 / 3), log2(28 / 3)


def rows(table):
    return {(row["condition"], row["region"]): row for row in table.iter_rows(named=True)}


def test_means_by_hand(tmp_path: Path) -> None:
    found = rows(regions.table(toy_run(tmp_path, gaps()), "gaps"))
    assert found["full", "1"]["bits"] == pytest.approx(((THE + DOG) + (THE + CAT)) / 2)
    assert found["full", "2"]["bits"] == pytest.approx((BARKS + SLEEPS) / 2)
    assert [found["full", "2"][key] for key in ("label", "position", "n", "undefined", "empty")] == [
        "verb",
        1,
        2,
        0,
        False,
    ]


def test_intervals_are_those_of_the_analysis(tmp_path: Path) -> None:
    found = rows(regions.table(toy_run(tmp_path, gaps()), "gaps"))["full", "2"]
    # Two items: 12.706 times half their distance, Student's with one degree of freedom.
    middle, reach = (BARKS + SLEEPS) / 2, 12.7062 * abs(BARKS - SLEEPS) / 2
    assert (found["low"], found["high"]) == pytest.approx((middle - reach, middle + reach), rel=1e-4)


def test_empty_regions_cost_nothing_and_are_marked(tmp_path: Path) -> None:
    found = rows(regions.table(toy_run(tmp_path, gaps()), "gaps"))
    assert (found["gap", "2"]["bits"], found["gap", "2"]["empty"]) == (0.0, True)
    # Empty in one item of two: half the other's bits, and not marked.
    at_the_cat = toy_run(tmp_path / "other", gaps()).regions("gaps")["bits"][2]
    assert found["full", "3"]["bits"] == pytest.approx(at_the_cat / 2)
    assert not found["full", "3"]["empty"]


def test_the_figure_holds_the_numbers_of_the_table(tmp_path: Path) -> None:
    table = regions.table(toy_run(tmp_path, gaps()), "gaps")
    figure = regions.draw([table])
    drawn = {(value["condition"], value["region"]): value["bits"] for value in figure.spec["data"]["values"]}
    assert drawn["full", "2\nverb"] == rows(table)["full", "2"]["bits"]
    assert len(drawn) == len(table) == 6
    assert figure.table.equals(table)
    assert figure.svg().count("<title>") == 6


def test_undefined_items_are_counted_and_not_drawn(tmp_path: Path) -> None:
    table = regions.table(toy_run(tmp_path, crossed()), "crossed")
    assert table["n"].to_list() == [0, 0, 0, 0]
    assert table["undefined"].to_list() == [1, 1, 1, 1]
    assert all(isnan(bits) for bits in table["bits"])
    assert regions.draw([table]).spec["data"]["values"] == []


def test_one_item_has_no_interval(tmp_path: Path) -> None:
    table = regions.table(toy_run(tmp_path, agreement(nouns=("dog",))), "agreement")
    row = rows(table)["good", "2"]
    assert row["bits"] == pytest.approx(BARKS)
    assert isnan(row["low"])
    assert isnan(row["high"])


def test_sentences_without_regions_make_no_rows(tmp_path: Path) -> None:
    run = toy_run(tmp_path, pairs("plain", ("the dog barks", "the dog bark")))
    assert len(regions.table(run, "plain")) == 0
    assert "<svg" in regions.draw([]).svg()


def test_a_panel_a_model(tmp_path: Path) -> None:
    run = toy_run(tmp_path, gaps())
    tables = [regions.table(run, "gaps", name) for name in ("b", "a")]
    figure = regions.draw(tables, "Gaps")
    assert [value["model"] for of_model in values(figure.spec) for value in of_model] == ["b"] * 6 + ["a"] * 6
    drawn = figure.svg()
    assert drawn.index(">b<") < drawn.index(">a<")
    assert ">Gaps<" in drawn


def test_a_mean_that_is_infinite_is_in_the_table_and_not_drawn(tmp_path: Path) -> None:
    # A recorded word of probability 0.
    lines = ["index,start,token,bits", "0,0,The dog,1", "1,7, barks,2", "0,0,The dog,1", "1,7, bark,inf"]
    (tmp_path / "bits.csv").write_text("\n".join(lines) + "\n")
    found = toy_run(tmp_path / "run", agreement(nouns=("dog",)), model=f"recorded:{tmp_path / 'bits.csv'}")
    table = regions.table(found, "agreement")
    assert rows(table)["bad", "2"]["bits"] == float("inf")
    drawn = regions.draw([table])
    assert [value["bits"] for value in drawn.spec["data"]["values"]] == [1.0, 2.0, 1.0]
    assert "<svg" in drawn.svg()


def layers(spec: dict) -> list[dict]:
    """All layers of a specification."""
    if "layer" in spec:
        return spec["layer"]
    parts = [*spec.get("vconcat", []), *spec.get("hconcat", []), *([spec["spec"]] if "spec" in spec else [])]
    return [layer for part in parts for layer in layers(part)]


def values(spec: dict) -> list[list[dict]]:
    """The values of each part of a specification that has some, in order."""
    parts = [*spec.get("vconcat", []), *spec.get("hconcat", [])]
    own = [spec["data"]["values"]] if "data" in spec else []
    return [*own, *(found for part in parts for found in values(part))]


def test_lines_break_at_empty_regions(tmp_path: Path) -> None:
    figure = regions.draw([regions.table(toy_run(tmp_path, gaps()), "gaps")])
    segments = {}
    for value in figure.spec["data"]["values"]:
        segments.setdefault(value["condition"], []).append(value["segment"])
    assert len(set(segments["full"])) == 1
    before, _, after = segments["gap"]
    assert before != after
    [line] = [layer for layer in figure.spec["layer"] if layer["mark"]["type"] == "line"]
    assert line["encoding"]["detail"] == {"field": "segment"}


@pytest.mark.parametrize("models", [1, 2])
def test_compared_regions_have_a_band_and_a_scale_of_their_own_and_effects(tmp_path: Path, models: int) -> None:
    run = toy_run(tmp_path, agreement())
    figure = by_name.figure("regions", [run] * models)
    bands = [layer for layer in layers(figure.spec) if layer["mark"]["type"] == "rect"]
    assert bands[0]["data"]["values"] == [{"region": "2"}]
    *of_models, effects = values(figure.spec)
    for means, zoomed in zip(of_models[::2], of_models[1::2], strict=True):
        assert len(means) == 4
        assert [value["region"] for value in zoomed] == ["2", "2"]
    assert len(of_models) == 2 * models
    # The margins of `verb`: log2(3), -1 and 0 bits.
    assert [value["value"] for value in effects] == [pytest.approx((log2(3) - 1) / 3)] * models
    assert {value["name"] for value in effects} == {"2: bad − good"}
    assert "<svg" in figure.svg()


def test_the_scale_of_a_compared_region_spans_at_least_a_bit(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement(nouns=("dog",)))
    equal = regions.table(run, "agreement").with_columns(bits=12.294)
    _, panel = regions.draw([equal], "", effects.references(run.suite("agreement"))).spec["hconcat"]
    assert panel["layer"][0]["encoding"]["y"]["scale"]["domain"] == pytest.approx([11.794, 12.794])


def test_compared_regions_have_intervals_within_items(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement())
    found = rows(regions.table(run, "agreement"))
    differences = by_name.table("effects", run, measure="verb").to_frame()
    # Two conditions: the interval of their difference is wider by the square root of 2.
    reach = (differences["high"][0] - differences["low"][0]) / 2 / 2**0.5
    for condition in ("good", "bad"):
        row = found[condition, "2"]
        assert (row["low_within"], row["high_within"]) == pytest.approx((row["bits"] - reach, row["bits"] + reach))
        assert isnan(found[condition, "1"]["low_within"])
    _, zoomed, _ = values(by_name.figure("regions", run).spec)
    assert [(value["low"], value["high"]) for value in zoomed] == [
        (found[condition, "2"]["low_within"], found[condition, "2"]["high_within"]) for condition in ("good", "bad")
    ]
    assert all("within items" in value["said"] for value in zoomed)


def test_whole_sentences_compared_have_no_band_but_effects(tmp_path: Path) -> None:
    suite = replace(agreement(), predictions=agreement().predictions[1:])
    means, effects = values(by_name.figure("regions", toy_run(tmp_path, suite)).spec)
    assert len(means) == 4
    assert effects[0]["name"] == "sentence: bad − good"
