"""Effects in bits, by hand: the toy model's surprisals are log2((24 + count of the word before) / (1 + count of the pair))."""

import re
from dataclasses import replace
from math import isnan, nan, sqrt
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
from report_examples import crossed, gaps
from scipy import stats
from toy_runs import agreement, pairs, sentence, toy_run

from syntagm.core import UsageError
from syntagm.evaluation.measures.surprisal import Surprisal
from syntagm.models import load
from syntagm.report import Predictions, place_figures, report
from syntagm.report.predictions import figures as report_figures
from syntagm.runs import Run, run_suites as run
from syntagm.suites import Item, Prediction, Suite, parse
from syntagm.views import compare, effects, figure
from syntagm.views.by_name import table

RECORDED = "index,start,token,bits\n"


def recorded(folder: Path, suite: Suite, bits: dict[str, list[float]]) -> Run:
    """Run a suite with given bits for the words of each sentence."""
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for text, values in bits.items():
        starts = [0, *(place for place, sign in enumerate(text) if sign == " ")]
        ends = [*starts[1:], len(text)]
        rows += [
            f"{k},{start},{text[start:end]},{value}"
            for k, (start, end, value) in enumerate(zip(starts, ends, values, strict=True))
        ]
    (folder / "bits.csv").write_text(RECORDED + "\n".join(rows) + "\n")
    return run(load(f"recorded:{folder / 'bits.csv'}"), [suite], folder / "run")


GARDEN = (
    "[(2;%reduced_ambig%) > (2;%full_ambig%)] & "
    "[(2;%reduced_ambig%) - (2;%full_ambig%) > (2;%reduced_clear%) - (2;%full_clear%)]"
)
# Bits of the second region in the conditions reduced_ambig, full_ambig, reduced_clear, full_clear, by item.
CELLS = [[9.0, 5.0, 4.0, 3.0], [8.0, 6.5, 3.0, 3.5], [7.0, 6.0, 6.0, 4.0]]
CONDITIONS = ("reduced_ambig", "full_ambig", "reduced_clear", "full_clear")


def garden_path(folder: Path) -> Run:
    items, bits = [], {}
    for number, cells in enumerate(CELLS, 1):
        texts = {name: sentence(f"n{number} {name}", "fell") for name in CONDITIONS}
        items.append(Item(str(number), texts))
        bits |= {texts[name].text: [1.0, 2.0, value] for name, value in zip(CONDITIONS, cells, strict=True)}
    suite = Suite("garden", tuple(items), (Prediction("paper", parse(GARDEN)),))
    return recorded(folder, suite, bits)


def test_a_garden_path_suite_by_hand(tmp_path: Path) -> None:
    simple, interaction = table("effects", garden_path(tmp_path)).to_frame().iter_rows(named=True)
    # Within items: 4, 1.5, 1 bits; minus 1, -0.5, 2 bits in the clear conditions.
    assert (simple["n"], simple["undefined"], simple["measure"]) == (3, 0, "paper")
    assert simple["effect_bits"] == pytest.approx(6.5 / 3)
    assert simple["contrast"] == "2: reduced_ambig − full_ambig"
    assert interaction["effect_bits"] == pytest.approx((3 + 2 - 1) / 3)
    mean = 4 / 3
    deviation = sqrt(((3 - mean) ** 2 + (2 - mean) ** 2 + (-1 - mean) ** 2) / 2)
    assert interaction["d"] == pytest.approx(mean / deviation)
    assert (interaction["low"], interaction["high"]) == pytest.approx(
        # t(2) = 4.303.
        (mean - 4.3027 * deviation / sqrt(3), mean + 4.3027 * deviation / sqrt(3)),
        rel=1e-4,
    )
    assert interaction["contrast"] == "2: reduced_ambig − full_ambig − reduced_clear + full_clear"


def test_a_filler_gap_suite_by_hand(tmp_path: Path) -> None:
    # What lowers surprisal at the gap and raises it at the filled object: two effects, each with its own sign.
    formula = "[(2;%what_filled%) > (2;%that_filled%)] & [(3;%what_gap%) < (3;%that_gap%)]"
    cells = {
        "what_filled": [7.0, 9.0], "that_filled": [4.0, 8.5], "what_gap": [2.0, 3.0], "that_gap": [5.0, 2.0],
    }  # fmt: skip
    items, bits = [], {}
    for k in (0, 1):
        texts = {name: sentence(f"i{k} {name}", "meat", "today") for name in cells}
        items.append(Item(str(k), texts))
        for name, values in cells.items():
            filled = name.endswith("filled")
            bits[texts[name].text] = [1.0, 1.0, values[k] if filled else 0.5, 0.5 if filled else values[k]]
    made = recorded(tmp_path, Suite("fgd", tuple(items), (Prediction("paper", parse(formula)),)), bits)
    filled, gap = table("effects", made).to_frame().iter_rows(named=True)
    assert (filled["effect_bits"], gap["effect_bits"]) == pytest.approx((1.75, 1.0))
    assert filled["d"] == pytest.approx(1.75 / (2.5 / sqrt(2)))
    assert (filled["comparison"], gap["contrast"]) == (
        "(2;%what_filled%) > (2;%that_filled%)",
        "3: that_gap − what_gap",
    )


def test_the_effect_of_a_single_comparison_is_the_mean_margin(tmp_path: Path) -> None:
    made = toy_run(tmp_path, agreement(), gaps())
    for suite, measure in (("agreement", "verb"), ("agreement", "full_sentence"), ("gaps", "0")):
        [effect] = effects.suite_effects(made, suite, measure)
        results = made.results(suite)
        margins = results.filter(results["measure"] == measure)["margin"]
        assert effect.estimate.value == pytest.approx(margins.mean())
        assert effect.d == pytest.approx(margins.mean() / margins.std())


@pytest.mark.parametrize("aggregate", ["sum", "mean", "max"])
@pytest.mark.parametrize("model", ["toy", "toy:?eos=yes"])
def test_whole_sentences_and_items_of_one_id_are_read_as_predictions_read_them(
    tmp_path: Path, aggregate: str, model: str
) -> None:
    suite = agreement()
    items = tuple(replace(item, id="same") for item in suite.items)
    with patch(
        "syntagm.runs.engine.violations", lambda suites: []
    ):  # a new run would refuse the ids, an old one may have them
        made = toy_run(tmp_path, replace(suite, items=items, aggregate=aggregate), model=model)
    [whole] = effects.differences(made, "agreement", "full_sentence")
    results = made.results("agreement")
    margins = results.filter(results["measure"] == "full_sentence")["margin"].to_list()
    assert whole.bits.tolist() == pytest.approx(margins)
    assert whole.items.rows() == [("same", 0), ("same", 1), ("same", 2)]


def test_undefined_items_and_few_items_are_said(tmp_path: Path) -> None:
    [row] = table("effects", toy_run(tmp_path / "crossed", crossed())).to_frame().iter_rows(named=True)
    assert (row["n"], row["undefined"], row["effect_bits"], row["d"]) == (0, 1, None, None)
    made = toy_run(tmp_path / "one", pairs("single", ("the dog barks", "the dog bark")))
    [single] = table("effects", made).to_frame().iter_rows(named=True)
    assert (single["n"], single["low"], single["d"]) == (1, None, None)


def test_equality_is_a_difference_and_equal_differences_have_no_d(tmp_path: Path) -> None:
    suite = agreement(nouns=("dog", "dog"))
    predictions = (Prediction("same", parse("(1;%good%) = (2;%good%)")), Prediction("not", parse("(1;%good%) > 0")))
    made = toy_run(tmp_path, Suite("s", suite.items, predictions))
    same, size = table("effects", made).to_frame().iter_rows(named=True)
    rows = made.regions("s").filter(condition="good").iter_rows(named=True)
    regions = {row["region"]: row["bits"] for row in rows}
    assert same["effect_bits"] == pytest.approx(regions["1"] - regions["2"])
    assert same["d"] is None
    assert size["effect_bits"] == pytest.approx(regions["1"])


def test_models_are_compared_within_items(tmp_path: Path) -> None:
    runs = [toy_run(tmp_path / name, agreement(), model=name) for name in ("toy", "random")]
    frame = table("effects", runs, paired=True, measure="verb").to_frame()
    [row] = frame.iter_rows(named=True)
    a, b = (effects.differences(made, "agreement", "verb")[0].bits for made in runs)
    assert row["B - A"] == pytest.approx((b - a).mean()) == pytest.approx(row["effect B"] - row["effect A"])
    assert row["d"] == pytest.approx((b - a).mean() / (b - a).std(ddof=1))
    assert (row["low"], row["high"]) == pytest.approx(tuple(stats.ttest_1samp(b - a, 0).confidence_interval()))
    assert row["B - A"] == pytest.approx(compare(*runs, "verb").overall.margin.value)


def test_items_undefined_under_one_model_count_under_none(tmp_path: Path) -> None:
    first = garden_path(tmp_path / "a")
    made = effects.differences(first, "garden")[0]
    made.bits[0] = nan
    tables = [effects.differences(first, "garden"), [made]]
    with patch.object(effects, "differences", lambda *_: tables.pop(0)):
        [(a, b, change)] = effects.between(first, first, "garden")
    assert (a.estimate.n, a.estimate.undefined, a.estimate.value) == (2, 1, pytest.approx(1.25))
    assert (b.estimate.value, change.estimate.value) == (pytest.approx(1.25), 0.0)
    assert isnan(change.d)


def test_what_can_not_be_shown_is_refused(tmp_path: Path) -> None:
    made = toy_run(tmp_path, agreement())
    for options in ({"suite": "other"}, {"measure": "other"}, {"paired": True}):
        with pytest.raises(UsageError):
            table("effects", made, **options)
    measured = run(load("toy"), [agreement()], tmp_path / "bits", measures=[Surprisal("good")])
    with pytest.raises(UsageError, match="no comparison of regions"):
        table("effects", measured)


def test_the_figure_has_a_row_for_each_comparison(tmp_path: Path) -> None:
    drawn = figure("effects", [garden_path(tmp_path / "a"), garden_path(tmp_path / "b")])
    assert drawn.to_frame().height == 4
    svg = drawn.svg()
    assert svg.count(" bits, n=3") == 4
    # 2.167 -+ t(2) * 1.607 / sqrt(3).
    assert re.search(r"2: reduced_ambig − full_ambig: 2\.167 \[.1\.826, 6\.159\] bits, n=3, d=1\.35", svg)


def test_an_infinite_difference_is_no_number(tmp_path: Path) -> None:
    texts = {"good": sentence("The dog", "barks"), "bad": sentence("The dog", "bark")}
    suite = Suite("s", (Item("1", texts),), (Prediction("p", parse("(2;%good%) < (2;%bad%)")),))
    made = recorded(tmp_path, suite, {texts["good"].text: [1, 1, np.inf], texts["bad"].text: [1, 1, np.inf]})
    [effect] = effects.suite_effects(made, "s")
    assert (effect.estimate.n, effect.estimate.undefined) == (0, 1)


TWO = (
    Prediction("gp", parse("(2;%reduced_ambig%) > (2;%full_ambig%)")),
    Prediction("interaction", parse("(2;%reduced_ambig%) - (2;%full_ambig%) > (2;%reduced_clear%) - (2;%full_clear%)")),
)


def of_two_predictions(folder: Path) -> Run:
    texts = [{name: sentence(f"n{number} {name}", "fell") for name in CONDITIONS} for number in range(len(CELLS))]
    items = tuple(Item(str(number), of_item) for number, of_item in enumerate(texts))
    bits = {
        of_item[name].text: [1.0, 2.0, value]
        for of_item, cells in zip(texts, CELLS, strict=True)
        for name, value in zip(CONDITIONS, cells, strict=True)
    }
    return recorded(folder, Suite("garden", items, TWO), bits)


def test_table_figure_and_report_show_every_prediction(tmp_path: Path) -> None:
    made = of_two_predictions(tmp_path)
    expected = ["gp", "interaction"]
    assert table("effects", made).to_frame()["measure"].to_list() == expected
    drawn = figure("effects", made)
    assert drawn.to_frame()["measure"].to_list() == expected
    assert "prediction" not in str(drawn.spec["title"]).replace("supports the prediction", "")
    assert "prediction gp only" in str(figure("effects", made, measure="gp").spec["title"])
    assert "first prediction of each suite only" in str(figure("effects", made, measure="first").spec["title"])
    chapter = Predictions([made])
    forest = dict(chapter.figures())["effects"]
    assert forest.to_frame()["measure"].to_list() == expected
    with patch.object(report_figures, "ROWS", 1):
        forest = dict(chapter.figures())["effects"]
    assert forest.to_frame()["measure"].to_list() == ["gp"]
    assert "first prediction of each suite only" in str(forest.spec["title"])


@pytest.mark.slow
def test_with_many_models_each_has_a_figure_of_effects_on_the_same_axis(tmp_path: Path) -> None:
    runs = [of_two_predictions(tmp_path / name) for name in ("first", "second")]
    for made, name in zip(runs, ("first", "second"), strict=True):
        made.name = name
    together = dict(Predictions(runs).figures())
    assert together["effects"].to_frame()["model"].unique(maintain_order=True).to_list() == ["first", "second"]
    with patch.object(report_figures, "FEW", 1):
        chapter = Predictions(runs)
        drawn = dict(chapter.figures())
        shown = "effects", "suite-by-suite"
        page = {
            part.section.anchor: part.pictures
            for part in place_figures([chapter], 10**6)
            if part.section.anchor in shown
        }
        # They come out of the room for all figures.
        room = sum(len(picture.svg) for picture in page["effects"].values())
        full = {part.section.anchor: part.pictures for part in place_figures([chapter], room)}
    assert [bool(picture.svg) for picture in page["suite-by-suite"].values()] == [True]
    assert [bool(picture.svg) for picture in full["suite-by-suite"].values()] == [False]
    for picture, name, stem in zip(
        page["effects"].values(), ("first", "second"), ("effects-01-first", "effects-02-second"), strict=True
    ):
        frame = drawn[stem].to_frame()
        assert frame["model"].to_list() == [name, name]
        above, below = int((frame["low"] > 0).sum()), int((frame["high"] < 0).sum())
        sides = f"{name}</bdi>: interval right of 0 for {above} of 2 effects, left of 0 for {below}"
        assert (picture.drawing.stem, sides in picture.drawing.heading) == (stem, True)


@pytest.mark.slow
def test_a_figure_of_many_effects_has_an_axis_at_the_top_as_well(tmp_path: Path) -> None:
    run = of_two_predictions(tmp_path)
    found = [
        replace(effect, estimate=replace(effect.estimate, group=replace(effect.estimate.group, suite=str(number))))
        for number in range(effects.MANY)
        for effect in effects.suite_effects(run, "garden")
    ]
    titles = [panel["layer"][0]["encoding"]["x"]["title"] for panel in effects.draw(found).spec["vconcat"]]
    assert [at for at, title in enumerate(titles) if title] == [0, effects.MANY - 1]
    few = effects.draw(found[:4])
    assert [bool(panel["layer"][0]["encoding"]["x"]["title"]) for panel in few.spec["vconcat"]] == [False, True]


def test_the_figure_of_regions_names_the_prediction_that_it_shows(tmp_path: Path) -> None:
    assert "those of the first prediction, gp" in str(figure("regions", of_two_predictions(tmp_path)).spec["title"])
    assert "those of" not in str(figure("regions", garden_path(tmp_path / "one")).spec["title"])


@pytest.mark.slow
def test_the_reason_for_a_missing_interval_is_given(tmp_path: Path) -> None:
    same = pairs("same", ("the dog barks", "the dog bark"), ("the dog barks", "the dog bark"))
    made = toy_run(tmp_path / "same", replace(same, items=tuple(replace(same.items[0], id=name) for name in "ab")))
    reason = "o interval and no d: all items have the same difference"
    assert f"N{reason}, in 1 of 1 rows." in table("effects", made).notes
    assert f"n{reason}" in report([made], tmp_path / "report.html").read_text("utf-8")
    one = toy_run(tmp_path / "one", pairs("single", ("the dog barks", "the dog bark")))
    assert "No interval and no d: fewer than two defined items, in 1 of 1 rows." in table("effects", one).notes


def test_sums_in_another_order_make_no_effect(tmp_path: Path) -> None:
    # .1 + .2 + .3 is 1.1e-16 more than .3 + .2 + .1 in floating point.
    suite = pairs("orders", *((f"a{k} b c", f"c{k} b a") for k in range(4)))
    bits = {f"a{k} b c": [0.1, 0.2, 0.3] for k in range(4)} | {f"c{k} b a": [0.3, 0.2, 0.1] for k in range(4)}
    [effect] = effects.suite_effects(recorded(tmp_path / "model", suite, bits), "orders")
    assert (effect.estimate.value, isnan(effect.estimate.low)) == (0.0, True)
    assert effect.missing == "no interval and no d: all items have the same difference"
