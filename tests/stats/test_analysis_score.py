import numpy as np
import polars as pl
import pytest
from toy_runs import agreement, pairs, toy_run

from syntagm.evaluation import Group, Kind
from syntagm.stats import score, verdicts
from syntagm.views import estimates

NAN = float("nan")
COLUMNS = ("model", "suite", "item", "measure", "value", "margin")


def VERDICTS(measure):  # noqa: N802
    return Kind.VERDICT


def table(*rows):
    """Rows of suite, item, measure, margin; the value follows from the margin."""
    full = [("m", s, i, q, NAN if m != m else float(m > 1e-4), m) for s, i, q, m in rows]
    return pl.DataFrame(full, schema=COLUMNS, orient="row")


def test_accuracy_of_three_items_is_one_third(tmp_path):
    run = toy_run(tmp_path, agreement())
    verb, full = estimates.accuracies(run)
    assert verb.group == Group("toy:12-sentences", "agreement", "verb")
    assert full.group.measure == "full_sentence"
    assert verb.value == 1 / 3
    assert (verb.n, verb.ties, verb.undefined) == (3, 1, 0)
    # z**2 = 3.8415: (1/3 + 3.8415 / 6 -+ 1.96 sqrt(2/27 + 3.8415 / 36)) / (1 + 3.8415 / 3).
    assert (verb.low, verb.high) == pytest.approx((0.0615, 0.7923), abs=1e-4)
    assert verb.method == "Wilson; random: items; only 3 items"


def test_undefined_items_are_left_out_and_counted():
    [estimate] = score.accuracy(
        table(("s", "1", "0", 2.0), ("s", "2", "0", NAN), ("s", "3", "0", -1.0)), VERDICTS, 1e-4
    )
    assert (estimate.value, estimate.n, estimate.ties, estimate.undefined) == (1 / 2, 2, 0, 1)


def test_a_suite_of_undefined_items_is_undefined():
    [estimate] = score.accuracy(table(("s", "1", "0", NAN), ("s", "2", "0", NAN)), VERDICTS, 1e-4)
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
    assert (estimate.n, estimate.undefined) == (0, 2)
    assert estimate.method == "no interval: no defined items in s"


def test_one_item_has_a_value_and_no_interval():
    [estimate] = score.accuracy(table(("s", "1", "0", 3.0)), VERDICTS, 1e-4)
    assert estimate.value == 1.0
    assert np.isnan([estimate.low, estimate.high]).all()
    assert estimate.method == "no interval: fewer than two items"


@pytest.mark.parametrize(("margin", "ties"), [(0.0, 1), (1e-4, 1), (-1e-4, 1), (1.1e-4, 0), (-1.1e-4, 0)])
def test_margins_within_the_tolerance_are_ties(margin, ties):
    estimate, _ = score.accuracy(table(("s", "1", "0", margin), ("other", "1", "0", 5.0)), VERDICTS, 1e-4)
    assert estimate.ties == ties
    assert estimate.value == float(margin > 1e-4)


# Item 1 holds under both predictions, item 2 under the first, item 3 under the second, item 4 is undefined under the second.
TWO = table(
    *(("s", "1", "0", 1.0), ("s", "1", "1", 2.0)),
    *(("s", "2", "0", 3.0), ("s", "2", "1", -4.0)),
    *(("s", "3", "0", -5.0), ("s", "3", "1", 6.0)),
    *(("s", "4", "0", 7.0), ("s", "4", "1", NAN)),
)


def test_first_takes_the_first_prediction_in_the_order_of_the_suite():
    assert verdicts(TWO, {"s": ["0", "1"]}, "first")["margin"].to_list() == [1.0, 3.0, -5.0, 7.0]
    assert verdicts(TWO, {"s": ["1", "0"]}, "first")["margin"].to_list()[:3] == [2.0, -4.0, 6.0]


def test_all_is_the_conjunction_and_undefined_if_a_part_is():
    found = verdicts(TWO, {"s": ["0", "1"]}, "all")
    assert found["item"].to_list() == ["1", "2", "3", "4"]
    assert found["margin"].to_list()[:3] == [1.0, -4.0, -5.0]
    assert found["value"].to_list()[:3] == [1.0, 0.0, 0.0]
    assert np.isnan([found["value"][3], found["margin"][3]]).all()
    [estimate] = score.accuracy(found, VERDICTS, 1e-4)
    assert (estimate.value, estimate.n, estimate.undefined) == (1 / 3, 3, 1)
    assert estimate.group.measure == "all"


def test_all_does_not_depend_on_the_order_of_the_rows():
    shuffled = verdicts(TWO.sample(fraction=1, shuffle=True, seed=3), {"s": ["0", "1"]}, "all").sort("item")
    assert shuffled.equals(verdicts(TWO, {"s": ["0", "1"]}, "all"))


def test_items_of_one_name_stay_apart():
    rows = [("s", "same", q, m) for m in (1.0, -1.0) for q in ("0", "1")]
    assert verdicts(table(*rows), {"s": ["0", "1"]}, "all")["value"].to_list() == [1.0, 0.0]


# Accuracies 3/4 and 1/2; 5 of 6 items would be another number than their mean.
SUITES = table(
    *(("a", str(k), "0", m) for k, m in enumerate([1.0, 1.0, 1.0, -1.0])),
    *(("b", str(k), "0", m) for k, m in enumerate([1.0, 0.0])),
)
NAMES = {"a": ["0"], "b": ["0"]}


def test_the_score_is_the_unweighted_mean_over_suites():
    [estimate] = score.score(SUITES, NAMES, Kind.VERDICT, 1e-4)
    assert estimate.value == (3 / 4 + 1 / 2) / 2
    assert estimate.group == Group("m", rule="first")
    assert (estimate.n, estimate.ties) == (6, 1)
    assert estimate.method == "mean of 2 suites; Wilson with t(1); random: suites, items; only 2 suites"
    # Items are redrawn within suites: the variance of the mean is (3/4 * 1/4 / 4 + 1/2 * 1/2 / 2) / 4.
    deviation = np.sqrt((3 / 16 / 4 + 1 / 8) / 4)
    assert estimate.high - estimate.low == pytest.approx(2 * 1.96 * deviation, rel=0.2)


def test_another_suite_does_not_move_the_interval_of_a_suite():
    alone, beside = (
        score.accuracy(SUITES.filter(suite="a"), VERDICTS, 1e-4)[0],
        score.accuracy(SUITES, VERDICTS, 1e-4)[0],
    )
    assert alone == beside


def test_scores_of_groups():
    labels = {"a": "Agreement", "b": "Licensing"}
    first, second = score.score(SUITES, NAMES, Kind.VERDICT, 1e-4, tag="circuit", labels=labels)
    assert first.group == Group("m", rule="first", labels=(("circuit", "Agreement"),))
    assert (first.value, second.value) == (3 / 4, 1 / 2)
    assert [
        one.group["circuit"] for one in score.score(SUITES, NAMES, Kind.VERDICT, 1e-4, tag="circuit", labels={"b": "x"})
    ] == ["x"]


def test_a_suite_without_results_makes_the_score_undefined():
    [estimate] = score.score(SUITES, NAMES | {"c": ["0"]}, Kind.VERDICT, 1e-4)
    assert np.isnan([estimate.value, estimate.low, estimate.high]).all()
    assert estimate.method == "mean of 3 suites; no interval: no defined items in c"


def test_a_measure_is_a_rule_for_the_suites_that_have_it():
    rows = table(("a", "1", "0", 1.0), ("a", "1", "1", -1.0), ("b", "1", "0", 1.0))
    [estimate] = score.score(rows, {"a": ["0", "1"], "b": ["0"]}, Kind.VERDICT, 1e-4, rule="1")
    assert (estimate.value, estimate.n) == (0.0, 1)


def test_models_are_scored_apart():
    both = pl.concat([SUITES, SUITES.with_columns(model=pl.lit("other"), value=1.0 - pl.col("value"))])
    first, second = score.score(both, NAMES, Kind.VERDICT, 1e-4)
    assert (first.group.model, second.group.model) == ("m", "other")
    assert second.value == 1 - first.value


def about(group: Group) -> tuple[str, ...]:
    """What an estimate of one run is about, without the model."""
    names = (group.suite, group.measure, group.rule, *(label for _, label in group.labels))
    return tuple(name for name in names if name)


def test_the_estimates_of_a_run(tmp_path):
    tags = {"UID": "p", "phenomenon": "agreement", "field": "syntax"}
    run = toy_run(tmp_path, agreement(), pairs("p", ("the dog barks", "the dog bark"), ("a dog", "a dog"), tags=tags))
    found = {about(one.group): one.value for one in estimates.estimates(run)}
    assert found == {
        ("agreement", "verb"): 1 / 3,
        ("agreement", "full_sentence"): 1 / 3,
        ("p", "full_sentence"): 1 / 2,
        ("first",): (1 / 3 + 1 / 2) / 2,
        ("first", "Agreement"): 1 / 3,
        ("first", "agreement"): 1 / 2,
        ("first", "syntax"): 1 / 2,
    }
    tags = [[tag for tag, _ in one.group.labels] for one in estimates.estimates(run)][3:]
    assert tags == [[], ["circuit"], ["phenomenon"], ["field"]]
    [by_uid] = estimates.scores(run, tag="UID")
    assert (by_uid.group["UID"], by_uid.value) == ("p", 1 / 2)
    assert [one.value for one in estimates.scores(run, "full_sentence")] == [(1 / 3 + 1 / 2) / 2]


@pytest.mark.parametrize("names", [2, 8, 9, 20])
def test_a_rule_selects_the_same_rows_whatever_the_number_of_names(names):
    # Each suite has two predictions, whose names are two of so many.
    predictions = {f"s{k}": (f"q{k % names}", f"q{(k + 1) % names}") for k in range(20)}
    rows = [(s, i, q, float(i)) for s, both in predictions.items() for i in "12" for q in (*both, "other")]
    found = verdicts(table(*rows), predictions, "first")
    assert found.select("suite", "item", "margin").rows() == [
        (s, i, float(i)) for s, i, q, _ in rows if q == predictions[s][0]
    ]
    assert found["measure"].unique().to_list() == ["first"]
    conjoined = verdicts(table(*rows), predictions, "all")
    assert conjoined.select("suite", "item", "margin").rows() == found.select("suite", "item", "margin").rows()


def test_without_predictions_nothing_is_selected():
    rows = table(("s", "1", "0", 1.0))
    assert verdicts(rows, {"s": ()}, "first").is_empty()
    assert verdicts(rows, {}, "all").columns == ["model", "suite", "item", "measure", "value", "margin"]
    assert score.accuracy(verdicts(rows, {}, "all"), VERDICTS, 1e-4) == []
