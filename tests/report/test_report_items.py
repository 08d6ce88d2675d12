from math import log2, nan
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest
from report_examples import crossed
from toy_runs import agreement, pairs, toy_run

import syntagm as sg
from syntagm.report import numbers
from syntagm.report.predictions import items, scores


def results(margins: list[float], measure: str = "0") -> pl.DataFrame:
    """Items "0", "1", ... with these margins; 0 is a tie."""
    values = [nan if margin != margin else float(margin > 0) for margin in margins]
    names = [str(index) for index in range(len(margins))]
    return pl.DataFrame({"item": names, "measure": measure, "value": values, "margin": margins})


def listed(shown: items.Shown) -> list[dict[str, Any]]:
    made = shown.items(0, items.LIMIT)
    return [made[rank] for rank in shown.ranks]


def order(count: int) -> list[items.Key]:
    return [(str(index), 0) for index in range(count)]


def test_flips_then_undefined_then_ties_then_extremes() -> None:
    one, two = results([1.0, 2.0, nan, 0.0, -3.0]), results([1.0, -2.0, 1.0, -1.0, -3.0])
    found = items.choose(order(5), [one, two], 1e-4, "s")
    assert found == {("1", 0): "flip", ("2", 0): "undefined", ("3", 0): "tie", ("4", 0): "shown", ("0", 0): "shown"}
    assert [item for item, _ in found] == ["1", "2", "3", "4", "0"]


def test_the_widest_flip_comes_first() -> None:
    one, two = results([1.0, 5.0, 2.0]), results([-1.0, -5.0, -2.0])
    assert [item for item, _ in items.choose(order(3), [one, two], 1e-4, "s")] == ["1", "2", "0"]


def test_a_large_suite_is_cut_to_the_limit_with_a_seeded_sample() -> None:
    margins = [float(index - 100) for index in range(200)]
    found = items.choose(order(200), [results(margins)], 1e-4, "s", 50)
    reasons = list(found.values())
    assert {reason: reasons.count(reason) for reason in reasons} == {"tie": 1, "extreme": 10, "sample": 39}
    extremes = [int(item) for (item, _), reason in found.items() if reason == "extreme"]
    assert extremes == [0, 199, 1, 198, 2, 197, 3, 196, 4, 195]
    assert found == items.choose(order(200), [results(margins)], 1e-4, "s", 50)
    assert found != items.choose(order(200), [results(margins)], 1e-4, "another suite", 50)


def test_many_ties_leave_room_for_others() -> None:
    found = list(items.choose(order(100), [results([0.0] * 90 + [1.0] * 10)], 1e-4, "s", 50).values())
    assert found.count("tie") == 10
    assert len(found) == 50


def test_tokens_regions_and_bits(tmp_path: Path) -> None:
    [subject] = numbers.subjects(scores.columns([toy_run(tmp_path, agreement(nouns=("dog",)))]))
    shown = items.pick(subject)
    assert (shown.total, shown.regions) == (1, ("1", "2"))
    [item] = listed(shown)
    # p(barks | dog) = 3/29, p(bark | dog) = 1/29: the verb's margin is log2(3).
    assert item["verdicts"] == [[0, "verb", 1.0, round(log2(3), 3)], [0, "full_sentence", 1.0, round(log2(3), 3)]]
    column, condition, homes, tokens, bits = item["sentences"][0]
    assert (column, condition, homes, tokens) == (0, 0, [0, 0, 1], ["The", " dog", " barks"])
    assert bits == pytest.approx([2.0, log2(39 / 5), log2(29 / 3)], abs=5e-4)


def test_a_small_margin_is_no_tie_on_the_page() -> None:
    """In bits per byte, the difference of long sentences is often smaller than 0.0005."""
    before = "The dog barks. " * 500
    suite = pairs("long", (f"{before}The dog barks", f"{before}The dog bark"), ("a", "a"))
    run = sg.evaluate(sg.load_model("toy"), [suite], convention="mean_byte")
    [subject] = numbers.subjects(scores.columns([run]))
    [[[_, _, value, margin]], [[_, _, lost, tie]]] = [item["verdicts"] for item in listed(items.pick(subject))]
    assert value == 1
    assert 0 < margin < 0.0005
    assert (lost, tie) == (0, 0)


def test_a_token_over_a_border_stands_where_it_begins(tmp_path: Path) -> None:
    [subject] = numbers.subjects(scores.columns([toy_run(tmp_path, crossed())]))
    [item] = listed(items.pick(subject))
    assert item["why"] == "undefined"
    assert item["verdicts"] == [[0, "0", None, None]]
    assert item["sentences"][0][2:4] == [[0, 1], ["dogs", " bark"]]


def test_items_of_one_id_stay_apart(tmp_path: Path) -> None:
    suite = pairs("twins", ("the dog barks", "the dog bark"), ("the cats sleep", "the cats sleeps"))
    twins = tuple(type(item)("same", item.sentences) for item in suite.items)
    # `run` refuses this now; a run directory may be of another opinion.
    with patch("syntagm.runs.engine.violations", lambda suites: []):
        run = toy_run(tmp_path, type(suite)("twins", twins, suite.predictions))
    [subject] = numbers.subjects(scores.columns([run]))
    texts = [["".join(sentence[3]) for sentence in item["sentences"]] for item in listed(items.pick(subject))]
    assert texts == [["the dog barks", "the dog bark"], ["the cats sleep", "the cats sleeps"]]
