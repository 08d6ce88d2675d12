"""Figures that a reader can use: short remarks below the title, labels on their ticks, points without bars, and names."""

import re
from collections.abc import Sequence
from dataclasses import replace
from math import log, nan
from pathlib import Path

import polars as pl
import pytest
from toy_runs import agreement, toy_run

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import FEW_NUMBERS, Estimate, Group, unseen
from syntagm.papers.hu2020 import figures
from syntagm.stats import correlations
from syntagm.views import (
    Figure,
    correlation,
    coverage,
    curves,
    dots,
    learning_curve,
    lexical,
    lines,
    perplexity,
    phenomena,
    vega,
)
from syntagm.views.drawing.text import remarks, remarks_on

MODELS = ("ngram:a@0123abcd", "ngram:b@0123abcd", "lstm:c@0123abcd")
FEW = {f"phenomenon_{at}": at % 8 + 2 for at in range(12)}


def subtitle(figure: Figure) -> list[str]:
    lines = figure.spec["title"]["subtitle"]
    return [lines] if isinstance(lines, str) else list(lines)


def estimates(remark: str = "") -> list[Estimate]:
    """12 phenomena of 2 to 9 suites under three models; another remark on one of them."""
    cells = [(name, model, suites) for name, suites in FEW.items() for model in MODELS]
    own = {("phenomenon_3", MODELS[2]): (remark,)} if remark else {}
    return [
        Estimate(
            Group(model, labels=(("over", "phenomenon"), ("phenomenon", name)), counts=(("paradigms", suites),)),
            0.5, 0.4, 0.6, 20, "Wilson", remarks=(f"only {suites} suites", *own.get((name, model), ())),
        )
        for name, model, suites in cells
    ]  # fmt: skip


def ends(figure: Figure) -> set[str]:
    """How the labels of ticks are anchored: those of a horizontal axis on their ticks."""
    return set(re.findall(r'text-anchor="(\w+)" transform="translate\([\d.-]+,16\)" font-size="12px"', figure.svg()))


def test_remarks_on_many_groups_are_one_sentence() -> None:
    everywhere = "all 12 numbers: only 2 to 9 suites."
    assert remarks_on(estimates()) == (everywhere,)
    with_own = remarks_on(estimates("without x: 0.5"))
    listed = "phenomenon 0, phenomenon 1, phenomenon 2, phenomenon 3 and 8 more"
    assert with_own == (f"{listed}: only 2 to 9 suites.", "phenomenon 3 (c): without x: 0.5.")
    # A model that has a remark on all its numbers is named once; long names are fewer.
    few = [replace(each, remarks=each.remarks if each.group.model == MODELS[1] else ()) for each in estimates()]
    assert remarks_on(few) == ("b: only 2 to 9 suites.",)
    long = [(f"{at} {'long ' * 9}name", ["only 4 items"] * (at < 5)) for at in range(6)]
    assert remarks(long) == (f"{long[0][0]} and 4 more: only 4 items.",)
    drawn = phenomena.draw(estimates(), title="Accuracy")
    assert len(subtitle(drawn)) <= 3
    assert not any("@" in line for line in subtitle(drawn))
    # Of one mean, the models are named.
    means = [
        Estimate(Group(model), 0.5, 0.4, 0.6, 9, "Wilson", remarks=("r",) * (model != MODELS[0])) for model in MODELS
    ]
    assert remarks_on(means) == ("b, c: r.",)
    # Tables name more remarks than figures.
    each = [(f"suite_{at}", [f"without item {at}"]) for at in range(9)]
    assert (len(remarks(each)), len(remarks(each, 3))) == (9, 4)
    assert remarks(each)[-1] == "1 more remark of this kind."


def test_labels_of_axes_stand_on_their_ticks() -> None:
    estimate = Estimate(Group("m", labels=(("contrast", "a"),)), 0.2, -0.4, 0.8, 9, "Newcombe")
    assert ends(dots.draw_contrasts([estimate], "t", "difference", [])) == {"middle"}
    assert ends(phenomena.draw(estimates(), title="Accuracy")) == {"middle"}


def test_points_without_bars_are_explained() -> None:
    def drawn(*methods: str) -> list[str]:
        found = [
            Estimate(
                Group("m", labels=(("contrast", str(at)),)), 0.2, *([nan, nan] if method else [0.1, 0.3]), 9, method
            )
            for at, method in enumerate(methods)
        ]
        return [
            line for line in subtitle(dots.draw_contrasts(found, "t", "difference", [])) if line.startswith("point")
        ]

    assert drawn("", "") == []
    assert drawn("", "mean of 2 suites; no interval: no spread; random: items") == [
        "point without bar or band: no interval (no spread)"
    ]
    assert drawn("", "other") == ["point without bar or band: no interval"]
    assert drawn("other", "other", "other") == []  # a figure without intervals has nothing to explain


def over(places: Sequence[str], models: Sequence[str]) -> Figure:
    rows = pl.DataFrame([(model, place, 0.5, nan, nan, 1) for model in models for place in places],
                        schema=["model", "x", "value", "low", "high", "n"], orient="row")  # fmt: skip
    return curves.draw([curves.Panel(rows, "verb", "suite")], vega.proportion("accuracy"), "Accuracy", [], rows)


def test_many_places_have_room_for_their_labels_and_models() -> None:
    verbs = [f"verb{at}" for at in range(28)]
    figure = over(verbs, ["a", "b"])
    [panel] = figure.spec["concat"]
    assert panel["width"] >= 15 * len(verbs)
    assert all("xOffset" in each["encoding"] for each in panel["layer"])
    assert subtitle(figure) == ["point without bar or band: no interval (n = 1)"]
    assert over(verbs[:3], ["a"]).spec["concat"][0]["width"] == curves.WIDTH
    # A model that is a place itself has its dot above its label.
    rows = pl.DataFrame([("a", "a", 0.5, 0.4, 0.6, 9), ("b", "b", 0.5, 0.4, 0.6, 9)],
                        schema=["model", "x", "value", "low", "high", "n"], orient="row")  # fmt: skip
    gain = curves.draw([curves.Panel(rows, "model")], vega.proportion("gain"), "Gain", [], rows)
    assert not any("xOffset" in each["encoding"] for each in gain.spec["concat"][0]["layer"])


def test_labels_of_close_lines_are_nearest_their_own_lines() -> None:
    scores = {"XL": 0.6, "JRNN": 0.563, "GRNN": 0.551}
    rows = [(name, "", 0, None, score, nan, nan, 31, "") for name, score in scores.items()]
    layers = perplexity.draw(pl.DataFrame(rows, schema=perplexity.POINT, orient="row"), [], "t").spec["layer"]
    placed = {each["name"]: each["at"] for each in layers[1]["data"]["values"]}
    heights = {name: perplexity.HEIGHT * (1 - score) for name, score in scores.items()}
    assert all(min(heights, key=lambda line: abs(heights[line] - at)) == name for name, at in placed.items())
    assert placed["GRNN"] - placed["JRNN"] >= 13


def test_words_of_several_models_are_side_by_side_and_their_labels_free() -> None:
    one = Estimate(Group("m"), 1.0, nan, nan, 1, "no interval: fewer than two items")
    counts = {"spill": 90.0, "bury": 700.0, "abandon": 720.0}
    tables = [lexical.Words(model, "s", dict.fromkeys(counts, one), counts, None, [], "list") for model in ("a", "b")]
    drawn = lexical.draw(tables, "t")
    values = drawn.spec["concat"][0]["data"]["values"]
    assert len({value["frequency"] for value in values}) == 6
    assert drawn.table["frequency"].to_list()[:2] == [90.0, 700.0]  # the numbers stay
    labels = [value for value in values if "at" in value]
    assert len(labels) == 3
    low, high = 45.0, 720.0 * 6
    pixels = {id(value): lexical.WIDTH * log(value["frequency"] / low) / log(high / low) for value in values}
    for label in labels:
        left, right = pixels[id(label)] + 7, pixels[id(label)] + 9 + 6 * len(label["word"])
        for dot in values:
            beside = not left < pixels[id(dot)] + 5 or not pixels[id(dot)] - 5 < right
            assert beside or abs(label["at"] - dot["value"]) * lexical.HEIGHT >= 11.9


def test_intervals_of_a_single_model_are_not_for_other_models() -> None:
    methods = ["t(30); random: suites; fixed: models", "t(9); random: suites, models"]
    said = [figures._others(pl.DataFrame({"method": found})) for found in (methods[:1], methods, methods[1:])]
    several = "for other suites, and models of classes with several"
    assert said == ["for other suites", several, "for other suites and models"]


def test_captions_of_figures_are_short() -> None:
    said = lines([unseen("suites"), FEW_NUMBERS])
    assert len(said) == 2
    assert said[0] == "Intervals don't know kinds of suites that are absent."


def test_no_band_over_two_models() -> None:
    one = [("all", "lstm", f"m{at}", words, 0.5, nan, nan, 9, "") for words in (10, 20) for at in range(3)]
    table = pl.DataFrame(one, schema=learning_curve.SCHEMA, orient="row")

    def drawn(models: int, method: str = "t(2)") -> tuple[bool, str]:
        means = [("all", "lstm", f"mean of {models}", words, 0.5, 0.0, 1.0, 9, method) for words in (10, 20)]
        figure = learning_curve.draw(table, title="t", means=pl.DataFrame(means, schema=table.schema, orient="row"))
        marks = [each["mark"]["type"] for each in figure.spec["concat"][0]["layer"]]
        assert figure.table.filter(model=f"mean of {models}")["high"].to_list() == [1.0, 1.0]  # the numbers stay
        return "area" in marks, subtitle(figure)[1]

    assert drawn(3) == (
        True,
        "ring, band: mean over models of one size and its 95% interval, for other suites and models",
    )
    assert subtitle(learning_curve.draw(table, title="t")) == [
        "dot: a model; line: least squares, with its gain for each doubling of the text"
    ]
    few = "ring, band: mean over models of one size and its 95% interval, if there are more than two, for other suites and models"
    assert drawn(2) == (False, few)
    assert drawn(4, "t(1); random: samples of the corpus; only 2 samples of the corpus") == (False, few)


@pytest.mark.parametrize(("suites", "remark"), [(3, ["only 3 suites"]), (9, ["only 9 suites"]), (10, []), (0, [])])
def test_correlations_over_fewer_than_ten_suites_have_a_remark(suites: int, remark: list[str]) -> None:
    accuracies = {model: {str(suite): suite**power for suite in range(suites)} for model, power in (("a", 1), ("b", 2))}
    drawn = correlation.draw(correlations(accuracies), ["a", "b"], "Correlation of accuracies")
    assert [line for line in subtitle(drawn) if line.startswith("only")] == remark


@pytest.mark.parametrize("view", ["circuits", "classes", "modifiers"])
def test_models_have_the_names_that_they_were_given(view: str, tmp_path: Path) -> None:
    run, suites = str(tmp_path / "run"), ["hu2020/mvrr", "hu2020/mvrr_mod"]
    assert (
        main(["run", "random", "--name", "Chance", "--suite", *suites, "-n", "3", "-o", run, "--no-report", "-q"]) == 0
    )
    assert main(["figure", view, run, "-o", str(tmp_path / view), "--format", "svg"]) == 0
    drawing = (tmp_path / f"{view}.svg").read_text()
    assert ">Chance<" in drawing
    assert "random:" not in drawing
    assert "Chance" in (tmp_path / f"{view}.csv").read_text()


@pytest.mark.parametrize("view", ["scores", "margins", "effects", "words"])
def test_a_single_model_without_a_legend_is_named_once(view: str, tmp_path: Path) -> None:
    lines = subtitle(sg.figure(view, [toy_run(tmp_path / "a", agreement(), model="toy")]))
    assert sum(line.startswith("model: ") for line in lines) == 1


def test_an_interval_at_one_position_is_a_bar(tmp_path: Path) -> None:
    drawn = sg.figure("trajectory", [toy_run(tmp_path / "a", agreement(), model="toy")], x="1")
    assert drawn.spec["concat"][0]["layer"][0]["mark"]["type"] == "rule"


def test_unknown_words_of_many_models_are_one_sentence(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / name, agreement(), model="toy") for name in "abc"]
    assert len(list(coverage.unknown(runs))) == 3
    said = coverage.describe(runs)
    assert said.startswith("3 of 3 models: ")
    assert said.count("%") == 1  # the same share
