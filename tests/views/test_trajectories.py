"""Curves over checkpoints: crossings, areas and places by pencil, and what tables and figures say of odd series."""

import json
import math
from math import nan
from pathlib import Path

import numpy as np
import pytest
from toy_runs import agreement, pairs, toy_run, training_record

from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError, seal
from syntagm.evaluation import Kind
from syntagm.runs import Run
from syntagm.stats import Resampling, bootstrap, interval, trajectory as curves_of_scores, using
from syntagm.views import Curve, Table, options, places, score_curves, trajectory, trajectory_gap, words
from syntagm.views.checkpoints import Point, _curve
from syntagm.views.words import columns

Row = dict[str, object]


def rows(made: Table) -> list[Row]:
    return [dict(zip(made.columns, row, strict=True)) for row in made.rows]


def test_crossings_by_pencil() -> None:
    # By logarithm a third of the way from 1 to 8 is 2; linearly 1 + 7 / 3.
    assert curves_of_scores.crossing([1, 8], [0.3, 0.6], 0.4).at == pytest.approx(2)
    assert curves_of_scores.crossing([1, 8], [0.3, 0.6], 0.4, linear=True).at == pytest.approx(1 + 7 / 3)
    dips = curves_of_scores.crossing([1, 2, 4, 8, 16], [0.1, 0.6, 0.2, 0.6, 0.3], 0.5)
    assert (dips.times, dips.kept, dips.before) == (2, False, False)
    assert dips.at == pytest.approx(2**0.8)  # 0.4 / 0.5 of the first doubling
    # To be there at the end is not to have stayed there.
    assert not curves_of_scores.crossing([1, 2, 4, 8], [0.5, 0.9, 0.5, 0.9], 0.7).kept
    assert not curves_of_scores.crossing([1, 2, 4], [0.9, 0.5, 0.9], 0.7).kept
    assert curves_of_scores.crossing([1, 2, 4], [0.5, 0.7, 0.9], 0.7).kept
    assert curves_of_scores.crossing([1, 2, 4], [0.9, 0.8, 0.7], 0.7).kept
    assert curves_of_scores.crossing([0, 10], [0.0, 1.0], 0.25, linear=True).at == 2.5


def test_a_level_that_is_met_exactly_is_reached() -> None:
    assert curves_of_scores.crossing([1, 2], [0.2, 0.5], 0.5).at == 2
    assert curves_of_scores.crossing([1, 2], [0.5, 0.2], 0.5).before


def test_undefined_places_are_passed_by() -> None:
    assert curves_of_scores.crossing([1, 2, 4], [0.2, nan, 0.8], 0.5).at == pytest.approx(2)
    assert math.isnan(curves_of_scores.crossing([1, 2], [nan, nan], 0.5).at)
    assert math.isnan(curves_of_scores.crossing([1, 2], [0.1, 0.9], nan).at)
    assert math.isnan(curves_of_scores.crossing([], [], 0.5).at)


def test_places_must_ascend_and_have_a_logarithm() -> None:
    with pytest.raises(InputError, match="ascending"):
        curves_of_scores.crossing([2, 1], [0, 1], 0.5)
    with pytest.raises(InputError, match="logarithmic"):
        curves_of_scores.crossing([0, 1], [0, 1], 0.5)


def test_areas_by_pencil() -> None:
    assert curves_of_scores.mean_height([0, 10, 20], [0.0, 1.0, 1.0], linear=True) == pytest.approx((5 + 10) / 20)
    assert math.isnan(curves_of_scores.mean_height([3], [0.5]))
    crossed = curves_of_scores.between(([1, 4], [0.0, 1.0]), ([1, 4], [1.0, 0.0]))
    assert crossed.mean == pytest.approx(0)  # what one is ahead first, the other is later
    apart = curves_of_scores.between(([1, 2], [0.1, 0.2]), ([4, 8], [0.3, 0.4]))
    assert math.isnan(apart.mean)
    steps = curves_of_scores.between(([0, 4], [0.2, 0.2]), ([1, 2, 3], [0.2, 0.6, 0.2]), linear=True)
    # From 1 to 3 a triangle of height 0.4 above 0.2.
    assert (steps.area, steps.mean, steps.low, steps.high) == pytest.approx((0.4, 0.2, 1, 3))


@pytest.fixture
def checkpoints(tmp_path: Path) -> list[Run]:
    """Three checkpoints, with 1, 2 and 3 of three items right: the toy model on texts that get longer."""
    texts = {"step100": "the dog barks\n", "step200": "the dog barks\nthe cat barks\n"}
    texts["step400"] = texts["step200"] + "the bird barks\n"
    made = []
    for name, text in texts.items():
        (tmp_path / f"{name}.txt").write_text(text)
        made.append(toy_run(tmp_path / name, agreement(), model=f"toy:{tmp_path / name}.txt"))
    return made


def test_the_table_of_a_series_by_pencil(checkpoints: list[Run]) -> None:
    # "barks" was seen after the noun or not: 1 of 3, 2 of 3, 3 of 3 right; a noun never seen ties and fails.
    [row] = rows(trajectory.make_table(checkpoints, level=0.5))
    assert (row["from"], row["to"], row["runs"], row["n"], row["suites"]) == (100, 400, 3, 3, 1)
    assert (row["score at the start"], row["score at the end"]) == pytest.approx((1 / 3, 1))
    assert row["slope"] == pytest.approx(1 / 3)
    assert row["se"] == pytest.approx(0, abs=1e-9)
    # Half way between 1/3 and 2/3, by logarithm.
    assert row["reached at"] == pytest.approx(100 * 2**0.5)
    assert (row["times"], row["kept"]) == (1, "yes")
    assert row["mean height"] == pytest.approx(2 / 3)
    # Three items are few, so the percentiles are the outermost: all dogs, where the level is reached before; all birds,
    # where it is reached at 200 * sqrt(2).
    assert (row["reached low"], row["reached high"]) == ("before", pytest.approx(200 * 2**0.5))
    assert row["series"] == "toy:.txt"


@pytest.mark.slow
def test_chance_as_a_level_and_levels_never_reached(checkpoints: list[Run]) -> None:
    [row] = rows(trajectory.make_table(checkpoints, level="chance"))
    assert row["level"] == 0.5
    [row] = rows(trajectory.make_table(checkpoints[:2], level=0.9))
    assert (row["reached at"], row["times"], row["kept"]) == ("never", 0, "no")
    [row] = rows(trajectory.make_table(checkpoints))
    assert (row["level"], row["reached at"]) == (None, None)
    with pytest.raises(UsageError, match="level="):
        options.call(trajectory.make_table, checkpoints, {"level": "people"}, "table trajectory")


@pytest.mark.slow
def test_two_series_and_seeds_at_one_place(checkpoints: list[Run]) -> None:
    a, b, c = checkpoints
    # Series one: 1/3 at 1, 1 at 2. Series two: at 1 the mean of 1/3 and 1, at 2 a score of 2/3: flat.
    made = trajectory_gap.make_table([a, c, a, c, b], x="1,2,1,1,2", series=("one", "one", "two", "two", "two"))
    [row] = rows(made)
    assert (row["A"], row["B"], row["from"], row["to"]) == ("one", "two", 1, 2)
    # One: mean height 2/3; two: 2/3 and 2/3.
    assert row["B - A"] == pytest.approx(0, abs=1e-12)
    two = rows(trajectory.make_table([a, c, b], x="1,1,2"))[0]
    assert (two["runs"], two["score at the start"], two["slope"]) == (3, pytest.approx(2 / 3), pytest.approx(0))
    assert two["sd"] is None
    # At the end 1/3 and 1: their standard deviation is (2/3) / sqrt(2).
    ends = rows(trajectory.make_table([b, a, c], x="1,2,2"))[0]
    assert ends["sd"] == pytest.approx(2 / 3 / 2**0.5)
    with pytest.raises(UsageError, match="one series"):
        trajectory_gap.make_table(checkpoints)


def test_draws_are_the_same_at_all_places(checkpoints: list[Run]) -> None:
    a, _, c = checkpoints
    points = [Point("a", a, "s", 1.0), Point("again", a, "s", 2.0), Point("c", c, "s", 3.0)]
    [curve] = score_curves(points)
    assert (curve.draws[:, 0] == curve.draws[:, 1]).all()
    # At the last place every item is right: 1 / (1 + 3.84 / 3).
    assert (curve.low[-1], curve.high[-1]) == (pytest.approx(0.4385, abs=1e-4), 1.0)
    assert curve.method == "bootstrap(items, 2000, seed 1); only 3 items; the same draws at all positions"
    assert curve.chance == 0.5
    assert np.isclose(curve.draws[:, 0] * 3 % 1, 0).sum() + np.isclose(curve.draws[:, 0] * 3 % 1, 1).sum() >= 2000


def curve_of(*suites: list[list[float]]) -> Curve:
    """The curve of checkpoints whose items have these values, a list a checkpoint; all suites in one group."""
    matrices = {f"s{k}": np.array(values).T for k, values in enumerate(suites)}
    places = range(len(suites[0]))
    with using(Resampling(suites="fixed")):
        return _curve("series", "all", [1.0 + k for k in places], places, matrices, [0.5], Kind.VERDICT)


def test_draws_without_a_defined_item_are_left_out() -> None:
    whole = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    found = curve_of([whole, [0.0, 1.0, *[nan] * 4], [1.0, *[nan] * 5], [nan] * 6])
    # (4/6) ** 6 = 8.8 % of the draws have none of the two items of the second checkpoint.
    assert np.isnan(found.draws[:, 1]).mean() == pytest.approx((4 / 6) ** 6, abs=0.02)
    assert (found.low[1], found.high[1]) == pytest.approx((0.0945, 0.9055), abs=1e-4)  # Wilson's of 1 of 2
    # One item, and none, have no interval.
    assert np.isnan([found.low[2:], found.high[2:]]).all()
    # Where all are defined it is the interval of any accuracy.
    same = interval.of_items(whole, Kind.VERDICT)
    assert (found.low[0], found.high[0]) == (same.low, same.high)


def test_tables_leave_out_draws_without_a_value_at_one_of_the_places() -> None:
    items = [0.0, 1.0, 1.0, 1.0, 1.0, 0.0]
    part, other = curve_of([items, [0.0, 1.0, *[nan] * 4]]), curve_of([items, items])
    heights = [draw.mean() for draw in part.draws if not np.isnan(draw).any()]
    assert 1800 < len(heights) < 1850  # 8.8 % of 2,000 are left out
    ends = bootstrap.interval(heights, 6)
    # Between two places the mean height is the mean of both: of 4/6 and 1/2.
    assert trajectory._height(part, False) == pytest.approx((7 / 12, *ends))
    # From 0 to 1 in every draw that has a value at the second place: half way between 1 and 2, never late or not at all.
    certain = curve_of([[0.0] * 6, [1.0, 1.0, *[nan] * 4]])
    assert trajectory._reached(certain, 0.5, False)[1:4] == pytest.approx((2**0.5,) * 3)
    gap, _ = trajectory_gap.compared(part, other)
    # The second is ahead at the end by 4/6 - 1/2, so by half of that on the mean.
    assert gap.difference.value == pytest.approx(1 / 12)
    assert gap.difference.low < gap.difference.high


def test_a_suite_of_one_defined_item_adds_no_spread() -> None:
    # The second suite has one item at the first checkpoint, which stays 1 in every draw, and none at the second.
    lone = [[1.0, *[nan] * 5], [nan] * 6]
    found = curve_of([[0.0, 1.0] * 3] * 2, lone)
    assert not np.isnan(found.draws[:, 0]).any()
    assert set(np.round(found.draws[:, 0] * 12).astype(int)) <= {6, 7, 8, 9, 10, 11, 12}  # (k / 6 + 1) / 2
    assert found.low[0] < found.values[0] < found.high[0]
    assert np.isnan([found.values[1], found.low[1], found.high[1]]).all()
    assert np.isnan(curve_of(lone, lone).low).all()


def test_places_from_names_records_and_options(checkpoints: list[Run], tmp_path: Path) -> None:
    assert [one.at for one in places(checkpoints).points] == [100, 200, 400]
    assert places(checkpoints).title == "training steps"
    assert [one.at for one in places(checkpoints, "1e6,2e6,4_000_000").points] == [1e6, 2e6, 4e6]
    assert places(checkpoints, "1,2,3").title == "x"
    assert places(checkpoints, "tokens:1,2,3").title == "tokens of training"
    assert [one.at for one in places(checkpoints, "step200=2,step100=1,step400=8").points] == [1, 2, 8]
    assert [one.series for one in places(checkpoints, "1,2,3", ["a", "a", "b"]).points] == ["a", "a", "b"]
    for found in ("1,2", "1,x,3", "step100=1", "1,2,inf", "-1,2,3"):
        with pytest.raises(UsageError, match="x="):
            places(checkpoints, found)
    with pytest.raises(UsageError, match="x=words: unknown for step100"):
        places(checkpoints, "words")
    with pytest.raises(UsageError, match="series="):
        places(checkpoints, series=["a", "b"])


def test_places_of_a_controlled_experiment_and_of_names_with_amounts(tmp_path: Path) -> None:
    small = toy_run(tmp_path / "runs" / "lstm-xs", agreement())
    path = training_record(tmp_path / "runs" / "lstm-xs", 1000)
    found = places([small])
    assert [(one.at, one.series) for one in found.points] == [(1000, "lstm")]
    assert found.title == "words of training text"
    assert found.source == "from the records of the experiment"
    path.write_text(json.dumps({"training_words": 1000, "family": "lstm"}))
    with pytest.raises(RunError, match=r"lstm-xs\.json"):
        places([small], "words")
    amounts = [toy_run(tmp_path / name, agreement(nouns=("dog",))) for name in ("model-chck_10M", "model-chck_1.5B")]
    found = places(amounts, "words")
    assert [(one.at, one.series) for one in found.points] == [(10e6, "model"), (1.5e9, "model")]
    assert found.source == "read from the names"


def test_training_tokens_are_read_from_a_sealed_folder_only(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "runs" / "lstm-xs", agreement())
    (model := tmp_path / "models" / "lstm-xs").mkdir(parents=True)
    (model / "training.json").write_text(json.dumps({"training_tokens": 5000, "family": "lstm"}))
    with pytest.raises(UsageError, match="x=tokens: unknown for lstm-xs"):
        places([run], "tokens")
    seal.write(model)
    found = places([run], "tokens")
    assert [(one.at, one.series) for one in found.points] == [(5000, "lstm")]
    assert found.source == "from the records of the experiment"
    (model / "training.json").write_text(json.dumps({"training_tokens": 9000, "family": "lstm"}))
    with pytest.raises(RunError, match=r"training\.json: a file that was damaged or edited"):
        places([run], "tokens")


def test_the_place_0_needs_a_linear_scale(checkpoints: list[Run]) -> None:
    with pytest.raises(UsageError, match="0 on a logarithmic scale"):
        trajectory.make_table(checkpoints, x="0,1,2")
    [row] = rows(trajectory.make_table(checkpoints, x="0,1,2", scale="linear", level=0.5))
    assert (row["reached at"], row["slope"]) == (pytest.approx(0.5), None)
    with pytest.raises(UsageError, match="scale="):
        options.call(trajectory.make_table, checkpoints, {"scale": "square"}, "table trajectory")


def test_one_checkpoint_one_item_and_suites_that_differ(tmp_path: Path, checkpoints: list[Run]) -> None:
    [row] = rows(trajectory.make_table(checkpoints[:1], level=0.5))
    assert (row["slope"], row["mean height"], row["reached at"]) == (None, None, "never")
    alone = toy_run(tmp_path / "alone_step1", agreement("one", ("dog",)))
    [row] = rows(trajectory.make_table([alone], level=0.5))
    # One item has no interval, and so nothing that rests on redrawn items.
    assert (row["n"], row["low"], row["reached at"], row["reached low"]) == (1, None, "before", None)
    with pytest.raises(RunError, match="no suite has the same content in all runs"):
        trajectory.make_table([checkpoints[0], alone], x="1,2")
    both = toy_run(tmp_path / "both", agreement(), agreement("one", ("dog",)))
    made = trajectory.make_table([checkpoints[0], both], x="1,2")
    assert any("Skipped suites, not in all runs with the same content: one." in note for note in made.notes)


def test_groups_and_measures_that_are_not_there(checkpoints: list[Run]) -> None:
    assert [row["group"] for row in rows(trajectory.make_table(checkpoints, by="circuit"))] == ["Agreement"]
    assert [row["group"] for row in rows(trajectory.make_table(checkpoints, by="suite"))] == ["agreement"]
    for chosen in ({"by": "colour"}, {"measure": "colour"}):
        with pytest.raises(UsageError, match="colour"):
            trajectory.make_table(checkpoints, **chosen)


def test_in_latex_there_are_the_columns_that_fit_on_a_page(checkpoints: list[Run]) -> None:
    head = trajectory.make_table(checkpoints, level=0.5).latex().splitlines()[6]
    assert head.startswith(
        "group & suites & from & to & score at the start & score at the end & 95\\% interval & slope &"
    )
    assert head.endswith("& level & reached at \\\\")
    two = trajectory.make_table(checkpoints[:2], x="1,2", series=("a", "b")).latex().splitlines()[6]
    assert two.startswith("series & group &")
    assert two.endswith("& slope \\\\")


def test_the_figure_draws_what_the_table_says(checkpoints: list[Run], tmp_path: Path) -> None:
    made = trajectory.draw_figure(checkpoints, level=0.5)
    assert made.table.select("group", "at", "n").rows() == [("Agreement", at, 3) for at in (100.0, 200.0, 400.0)]
    assert made.table["value"].to_list() == pytest.approx([1 / 3, 2 / 3, 1])
    ring = made.spec["concat"][0]["layer"][-1]["data"]["values"]
    assert ring[0]["at"] == pytest.approx(100 * 2**0.5)
    line = [
        "figure",
        "trajectory",
        *(str(run.folder) for run in checkpoints),
        "level=chance",
        "-o",
        str(tmp_path / "f"),
    ]
    assert main([*line, "--format", "svg"]) == 0
    assert "training steps" in (tmp_path / "f.svg").read_text()


def test_panels_are_the_groups_that_suites_have(tmp_path: Path) -> None:
    two = ("The dog barks", "The dog bark"), ("The cat barks", "The cat bark")
    in_fields = pairs("blimp", *two, tags={"field": "morphology", "linguistics_term": "agreement"})
    circuit, field, neither = (
        [toy_run(tmp_path / f"{k}_step{step}", *suites) for step in (1, 2)]
        for k, suites in enumerate(([agreement(), in_fields], [in_fields], [pairs("own", *two)]))
    )
    # The circuit is that of a suite which only one of the runs has.
    mixed = [circuit[0], field[1]]
    for runs, groups in (
        (circuit, ["Agreement"]),
        (field, ["morphology"]),
        (mixed, ["morphology"]),
        (neither, ["all suites"]),
    ):
        assert trajectory.draw_figure(runs).table["group"].unique().to_list() == groups
    assert trajectory.draw_figure(circuit, by="").table["group"].unique().to_list() == ["all suites"]


def test_the_figure_shows_runs_and_says_what_the_band_is(checkpoints: list[Run]) -> None:
    a, b, c = checkpoints
    seeds = trajectory.draw_figure([a, b, c], x="1,1,2")
    assert seeds.table["sd"].to_list()[0] == pytest.approx(1 / 3 / 2**0.5)
    subtitle = str(seeds.spec["title"]["subtitle"])
    assert (
        "for other items and training runs, where there are several; dot: mean over runs, small dots: runs" in subtitle
    )
    single = seeds.spec["concat"][0]["layer"][1]["data"]["values"]
    assert [(one["at"], one["value"]) for one in single] == [(1, pytest.approx(1 / 3)), (1, pytest.approx(2 / 3))]
    alone = str(trajectory.draw_figure([a, c], x="1,2").spec["title"]["subtitle"])
    assert "for other items; dot: score" in alone


def test_words_in_columns() -> None:
    assert columns([["a", "b"], ["a", "x", "y", "b"]]) == [[0, 3], [0, 1, 2, 3]]
    assert columns([["a", "b", "c"], ["a", "c"], ["a", "d", "c"]]) == [[0, 1, 2], [0, 2], [0, 1, 2]]
    assert columns([["a"], []]) == [[0], []]
    assert columns([["x", "x"], ["x"]]) == [[0, 1], [0]]


def test_surprisal_by_word_by_pencil(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "run", agreement(), model="toy:?eos=yes")
    found = words.table(run, "agreement", "2", ["bad"])
    assert found.select("word", "column", "tokens").rows() == [
        ("The", 0, 1),
        ("cat", 1, 1),
        ("bark", 2, 1),
        ("(end)", 3, 1),
    ]
    tokens = run.tokens("agreement").filter(
        (run.tokens("agreement")["item"] == "2") & (run.tokens("agreement")["condition"] == "bad")
    )
    assert found["bits"].to_list() == tokens["bits"].to_list()
    both = words.draw_figure([run], item="1")
    assert both.table.filter(both.table["column"] == 2)["word"].to_list() == ["barks", "bark"]
    with pytest.raises(UsageError, match="item=9"):
        words.draw_figure([run], item="9")
    with pytest.raises(UsageError, match="conditions="):
        words.draw_figure([run], conditions="ugly")


def test_groups_and_names_keep_series_apart(checkpoints: list[Run]) -> None:
    def series(*names: str) -> list[str]:
        for run, name in zip(checkpoints, names, strict=True):
            run.name = name
        return [one.series for one in places(checkpoints).points]

    folders = ["toy:step100.txt", "toy:step200.txt", "toy:step400.txt"]
    assert series("Alpha: step 100", "Alpha: step 200", "Beta: step 400") == ["Alpha", "Alpha", "Beta"]
    assert series("one-step100", "one-step200", "two-step400") == ["one", "one", "two"]
    # Names without the number, or with another one, say nothing but the group.
    assert series("Alpha: early", "Alpha: step 7", "late") == ["Alpha: toy:.txt", "Alpha: toy:.txt", "toy:.txt"]
    assert series(*folders) == ["toy:.txt"] * 3
    # So do groups where positions are given.
    series("Alpha: early", "Alpha: late", "Beta: early")
    assert [one.series.partition(": ")[0] for one in places(checkpoints, "1,2,1").points] == ["Alpha", "Alpha", "Beta"]


def test_step_512_is_not_written_as_510() -> None:
    for linear in (False, True):
        assert trajectory._across([1, 64, 512], "steps", linear)["axis"]["format"] == ".3~s"
