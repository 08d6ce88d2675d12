from math import nan

from syntagm.evaluation import Estimate, Group
from syntagm.views import scores


def estimate(model: str, suite: str, value: float, low: float, high: float) -> Estimate:
    return Estimate(Group(model, suite, "0"), value, low, high, 24, "made up", 1, 2)


def test_a_dot_a_model_and_suite() -> None:
    found = [estimate("m", "s", 0.75, 0.5, 1.0), estimate("n", "s", 0.5, 0.25, 0.75), estimate("m", "t", 1.0, 1.0, 1.0)]
    figure = scores.draw(found, {"s": 0.25})
    values = figure.spec["data"]["values"]
    dots = [(value["model"], value["suite"], value["value"]) for value in values]
    assert dots == [
        ("m", "s", 0.75),
        ("n", "s", 0.5),
        ("m", "t", 1.0),
    ]
    assert [value["chance"] for value in values] == [0.25, 0.25, None]
    assert values[0]["said"] == "m, s: 0.750 [0.500, 1.000], n=24"
    assert figure.table.row(0) == ("m", "s", "0", 0.75, 0.5, 1.0, 24, 1, 2, 0.25, "made up")
    assert figure.svg().count("<title>") == 3


def test_undefined_scores_have_a_row_and_no_dot() -> None:
    figure = scores.draw([estimate("m", "s", nan, nan, nan), estimate("m", "one item", 1.0, nan, nan)])
    drawn = figure.svg()
    assert ">s<" in drawn
    assert drawn.count("<title>") == 1
    assert "m, one item: 1.000, n=24" in drawn


def test_names_that_look_the_same_stay_apart() -> None:
    figure = scores.draw([estimate("m", "a b", 0.5, 0.4, 0.6), estimate("m", "a\nb", 0.5, 0.4, 0.6)])
    assert [value["suite"] for value in figure.spec["data"]["values"]] == ["a b", "a b (2)"]


def test_no_estimates_make_an_empty_figure() -> None:
    assert "<svg" in scores.draw([]).svg()


def test_suites_are_sorted_within_groups_and_groups_among_themselves() -> None:
    marks = {"low": 0.2, "middle": 0.5, "high": 0.9, "top": 1.0}
    found = [estimate("m", suite, value, value, value) for suite, value in marks.items()]
    groups = {"low": "A", "high": "A", "middle": "B", "top": "B"}
    figure = scores.draw(found, groups=groups)
    titles = [panel["title"]["text"] for panel in figure.spec["vconcat"]]
    rows = [panel["layer"][0]["encoding"]["y"]["scale"]["domain"] for panel in figure.spec["vconcat"]]
    assert (titles, rows) == (["B", "A"], [["top", "middle"], ["high", "low"]])
    assert figure.table["suite"].to_list() == list(marks)
    assert figure.svg().count("<title>") == 4
    # An undefined score comes last.
    found = [estimate("m", "none", nan, nan, nan), *found]
    last = scores.draw(found, groups={**groups, "none": "A"}).spec["vconcat"][1]
    assert last["layer"][0]["encoding"]["y"]["scale"]["domain"] == ["high", "low", "none"]


def test_eight_models_have_different_colours_and_shapes() -> None:
    figure = scores.draw([estimate(f"m{k}", "s", 0.5, 0.4, 0.6) for k in range(8)])
    dot = next(layer["encoding"] for layer in figure.spec["layer"] if layer["mark"]["type"] == "point")
    pairs = list(zip(dot["color"]["scale"]["range"], dot["shape"]["scale"]["range"], strict=True))
    assert len(set(dot["color"]["scale"]["range"])) == 8
    assert len(set(pairs)) == 8
