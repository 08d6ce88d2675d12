"""Predictions as measures: region values, margins, ties, undefined items."""

import math

import numpy as np
import pytest
from evaluation import evaluate

from syntagm.evaluation import Predictions, Reading
from syntagm.evaluation.alignment import Batch
from syntagm.evaluation.predictions import PredictionMeasure
from syntagm.models import LanguageModel, Surprisals, names
from syntagm.runs.ledger import options_of
from syntagm.suites import Aggregate, Item, Prediction, Region, Sentence, Suite, formula

TEXT = "The dogs bark ."
REGIONS = (Region("1", 0, 3), Region("2", 4, 8), Region("3", 8, 8), Region("4", 9, 13))
SENTENCE = Sentence(TEXT, REGIONS)
#                                        The dog s  bark .  end
STARTS, BITS = [0, 3, 7, 8, 13, 15], [8.0, 4.0, 1.0, 2.0, 16.0, 32.0]


def answer(bits: list[float] = BITS, starts: list[int] = STARTS, text: str = TEXT) -> Surprisals:
    return Surprisals(text, np.array(starts, np.int32), np.array(bits), np.ones(len(bits), bool))


@pytest.mark.parametrize(
    ("aggregate", "values", "whole"),
    [
        ("sum", [8, 5, 0, 2], 63),  # all tokens, the unowned full stop and the end symbol too
        ("mean", [8, 2.5, math.nan, 2], math.nan),
        ("median", [8, 2.5, math.nan, 2], math.nan),
        ("range", [0, 3, math.nan, 0], math.nan),
        ("max", [8, 4, math.nan, 2], math.nan),
        ("min", [8, 1, math.nan, 2], math.nan),
    ],
)
def test_region_values(aggregate: Aggregate, values: list[float], whole: float) -> None:
    reading = Reading(aggregate)
    assert reading.regions(SENTENCE, answer()).tolist() == pytest.approx(values, nan_ok=True)
    assert reading.region(SENTENCE, answer(), "*") == pytest.approx(whole, nan_ok=True)


def test_the_whole_sentence_under_mean_is_the_sum_of_regions_and_the_end_symbol() -> None:
    full = Sentence(TEXT, (REGIONS[0], REGIONS[1], REGIONS[3]))
    assert Reading("mean").region(full, answer(), "*") == 8 + 2.5 + 2 + 32
    assert Reading("mean").region(full, answer(BITS[:-1], STARTS[:-1]), "*") == 8 + 2.5 + 2
    assert Reading("mean").region(Sentence(""), answer([], [], ""), "*") == 0


@pytest.mark.parametrize(("aggregate", "value"), [("mean", 6.2), ("median", 4), ("range", 15), ("max", 16), ("min", 1)])
def test_a_sentence_without_regions_is_one(aggregate: Aggregate, value: float) -> None:
    """Without its end symbol, whose bits are added; and the same for many sentences at once."""
    undivided, reading = Sentence(TEXT), Reading(aggregate)
    assert reading.region(undivided, answer(), "*") == pytest.approx(value + 32)
    assert reading.region(undivided, answer(BITS[:-1], STARTS[:-1]), "*") == pytest.approx(value)
    regions, tokens = np.array([0, 3, 0]), np.array([6, 6, 5])
    low, high = np.array([0, 4, 9]), np.array([3, 8, 13])
    batch = Batch([TEXT] * 3, regions, low, high, tokens, np.array([*STARTS, *STARTS, *STARTS[:-1]]))
    divided = reading.region(Sentence(TEXT, (REGIONS[0], REGIONS[1], REGIONS[3])), answer(), "*")
    found = reading.all_sentences(batch, np.array([*BITS, *BITS, *BITS[:-1]]))
    assert found.tolist() == pytest.approx([value + 32, divided, value])


def test_a_first_token_that_nothing_stands_before_counts_nothing() -> None:
    bare = answer([math.nan, *BITS[1:]])
    reading = Reading(first_scored=False)
    assert reading.regions(SENTENCE, bare).tolist() == [0, 5, 0, 2]
    assert reading.region(SENTENCE, bare, "*") == 55
    # With something before it, its nan means undefined, and it is.
    assert math.isnan(Reading().region(SENTENCE, bare, "*"))
    assert math.isnan(Reading().region(SENTENCE, bare, "1"))
    assert Reading().region(SENTENCE, bare, "2") == 5
    # Under other aggregates it is left out, where a region has other tokens.
    two = Sentence(TEXT, (Region("1", 0, 8), Region("4", 9, 13)))
    for aggregate, value, whole in (("mean", 2.5, 5.75), ("min", 1, 1), ("median", 2.5, 3), ("range", 3, 15)):
        other = Reading(aggregate, first_scored=False)
        assert other.regions(two, bare).tolist() == [value, 0 if aggregate == "range" else 2]
        assert other.regions(SENTENCE, bare)[0] == 0
        assert other.region(Sentence(TEXT), bare, "*") == whole + 32
        batch = Batch([TEXT] * 2, *(np.array(each) for each in ([2, 0], [0, 9], [8, 13], [6, 6], [*STARTS] * 2)))
        many = np.array([*bare.bits] * 2)
        assert other.all_regions(batch, many).tolist() == other.regions(two, bare).tolist()
        assert other.all_sentences(batch, many).tolist() == [other.region(two, bare, "*"), whole + 32]
    # Only the first: a later nan stays.
    later = answer([math.nan, 4.0, math.nan, 2.0, 16.0, 32.0])
    assert math.isnan(reading.region(SENTENCE, later, "2"))
    assert bare.bits[0] != 0


def test_no_such_region() -> None:
    with pytest.raises(KeyError):
        Reading().region(SENTENCE, answer(), "9")


def item(**texts: str) -> Item:
    return Item("1", {name: Sentence(text, (Region("1", 0, len(text)),)) for name, text in texts.items()})


def judged(text: str, tolerance: float = 1e-4, **bits: float) -> tuple[float, float, int]:
    """The verdict on a formula over sentences of one token, with that many bits each."""
    answers = {name: answer([value], [0], name) for name, value in bits.items()}
    made = item(**{name: name for name in bits})
    found = PredictionMeasure(Prediction("0", formula.parse(text)), tolerance=tolerance).judge(made, answers, Reading())
    return found.value, found.margin, found.n


@pytest.mark.parametrize(
    ("text", "value", "margin"),
    [
        ("(1;%a%) < (1;%b%)", 1, 2),
        ("(1;%a%) > (1;%b%)", 0, -2),
        ("(*;%a%) < (*;%b%)", 1, 2),
        ("((1;%a%) < (1;%b%)) & ((1;%b%) < (1;%c%))", 1, 1.5),  # min(2, 1.5)
        ("((1;%a%) > (1;%b%)) | ((1;%b%) < (1;%c%))", 1, 1.5),  # max(-2, 1.5)
        ("(1;%b%) - (1;%a%) > (1;%c%) - (1;%b%)", 1, 0.5),  # 2 - 1.5
        ("(1;%a%) = (1;%a%)", 1, 1e-3 + 1e-5),  # 1e-3 + 1e-5 * 1 - 0
        ("(1;%a%) = (1;%b%)", 0, 1e-3 + 3e-5 - 2),
    ],
)
def test_margins_by_pencil(text: str, value: float, margin: float) -> None:
    found = judged(text, a=1.0, b=3.0, c=4.5)
    assert found[:2] == (value, pytest.approx(margin, abs=1e-12))


@pytest.mark.parametrize(("b", "value"), [(1.00005, 0), (1.0, 0), (0.99995, 0), (1.0002, 1), (0.5, 0)])
def test_a_margin_within_the_tolerance_does_not_hold(b: float, value: float) -> None:
    assert judged("(1;%a%) < (1;%b%)", a=1.0, b=b)[0] == value


def test_a_coarser_model_ties_more() -> None:
    assert judged("(1;%a%) < (1;%b%)", a=1.0, b=1.4, tolerance=0.3)[0] == 1
    assert judged("(1;%a%) < (1;%b%)", a=1.0, b=1.4, tolerance=0.5)[0] == 0
    # On the tolerance is still within it: 1.5 - 1 = 0.5.
    assert judged("(1;%a%) < (1;%b%)", a=1.0, b=1.5, tolerance=0.5)[0] == 0


@pytest.mark.parametrize(
    "text", ["(1;%a%) < (1;%b%)", "((1;%a%) < (1;%b%)) | (1 < 2)", "((1;%a%) < (1;%b%)) & (2 < 1)"]
)
def test_nan_decides_nothing(text: str) -> None:
    value, margin, _ = judged(text, a=math.nan, b=1.0)
    assert math.isnan(value)
    assert math.isnan(margin)


def test_infinite_bits_on_both_sides_are_undefined() -> None:
    assert math.isnan(judged("(1;%a%) < (1;%b%)", a=math.inf, b=math.inf)[0])


def test_n_counts_the_tokens_of_each_text_once() -> None:
    assert judged("((1;%a%) < (1;%b%)) & ((1;%a%) < (1;%c%))", a=1.0, b=2.0, c=3.0)[2] == 3
    same = Item("1", {"a": SENTENCE, "b": SENTENCE})
    found = PredictionMeasure(Prediction("0", formula.parse("(1;%a%) < (1;%b%)"))).judge(
        same, {TEXT: answer()}, Reading()
    )
    assert found.n == 6
    assert found.value == 0
    assert found.margin == 0


class Told(LanguageModel):
    """Answers one token a text, with the bits it was told; counts what it was asked."""

    name, fingerprint, settings, record = "told", "0" * 64, {"bos": "yes"}, {}
    bos = "<s>"

    def __init__(self, **bits: float) -> None:
        self.bits = bits
        self.asked: list[str] = []

    def score(self, texts, done=None):  # type: ignore[no-untyped-def]
        for text in texts:
            self.asked.append(text)
            yield answer([self.bits[text]], [0], text)


SUITE = Suite(
    "s", (item(a="a", b="b"), item(a="c", b="a")), (Prediction("0", formula.parse("(1;%a%) < (1;%b%)")),)
)  # fmt: skip


def test_each_distinct_text_is_asked_once_and_every_item_judged() -> None:
    model = Told(a=1.0, b=2.0, c=math.nan)
    found = evaluate(SUITE, model)
    assert sorted(model.asked) == ["a", "b", "c"]
    assert [(row.item, row.measure, row.model, row.suite) for row in found.results] == [("1", "0", "told", "s")] * 2
    assert found.results[0].value == 1
    assert math.isnan(found.results[1].value)
    [(reason, count)] = found.undefined.items()
    assert count == 1
    assert reason.startswith("a text has no surprisals: the model's answers are not numbers")
    assert reason.endswith(", for example in item 1 of s")


def test_reasons_for_undefined_values_are_told_apart() -> None:
    from syntagm.evaluation.items import _reason

    found = {
        tuple(bits): _reason(
            Item("1", {"a": SENTENCE}), {TEXT: answer(bits, STARTS[:5])}, Reading(first_scored=bool(bits[0]))
        )
        for bits in ([1.0, 2, 3, math.nan, math.nan], [1.0, math.nan, 3, 4, 5], [1.0, 2, 3, 4, 5])
    }
    assert [reason.partition(":")[0] for reason in found.values()] == [
        "a text is longer than the model's positions, or its beam search did not reach the next word",
        "some of the model's answers are not numbers",
        "a region has no tokens, or a measure has no value",
    ]


def test_answers_of_the_cache_are_not_asked_again() -> None:
    class Kept:
        def __init__(self) -> None:
            self.stored: list[str] = []

        def get(self, model: LanguageModel, texts: list[str]) -> dict[str, Surprisals]:
            return {"a": answer([1.0], [0], "a")}

        def put(self, model: LanguageModel, answers: list[Surprisals]) -> None:
            self.stored = sorted(one.text for one in answers)

    model, cache, told = Told(b=2.0, c=5.0), Kept(), list[int]()
    found = evaluate(SUITE, model, cache=cache, hear=told.append)  # type: ignore[arg-type]
    assert sorted(model.asked) == cache.stored == ["b", "c"]
    assert found.cached == told[0] == 1
    # 2 - 1 and 1 - 5.
    assert [row.margin for row in found.results] == [1, -4]


def test_a_token_over_a_border_makes_the_item_undefined_with_a_reason() -> None:
    split = Item("7", {"a": Sentence("ab", (Region("1", 0, 1), Region("2", 1, 2))), "b": SENTENCE})
    suite = Suite(
        "s", (split,), (Prediction("0", formula.parse("(1;%a%) < 5")), Prediction("1", formula.parse("(*;%a%) < 5")))
    )
    model = Told(**{"ab": 1.0, TEXT: 1.0})
    found = evaluate(suite, model)
    assert math.isnan(found.results[0].value)
    [(reason, count)] = found.undefined.items()
    assert "crosses a region border" in reason
    assert "'ab'" in reason
    assert count == 1
    assert found.results[0].n == 0
    # The whole sentence has no borders inside.
    assert found.results[1].value == 1
    loose = evaluate(suite, model, "start")
    assert [row.value for row in loose.results] == [1, 1]


def test_the_tolerance_is_the_measured_noise_where_that_is_larger() -> None:
    assert options_of(Predictions(), names.load("toy"), {})["tolerance"] == 1e-4
    coarse = Told()
    coarse.numerical_error = 0.3
    assert options_of(Predictions(), coarse, {})["tolerance"] == 0.3
