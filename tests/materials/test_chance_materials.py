"""The bundled materials against chance: what knows nothing scores at chance, what is blind to context not above it.

Verdicts that a binomial test counts must be independent. Under the random model a verdict is a function of draws, each named
by the seed and by what is hashed. Different seeds make different draws. Within a seed, of the items of a suite only those
are counted which share no draw with a counted one (`chance_trials.independent`): two minimal pairs that begin alike, or, for
the model that sees words alone, differ in the same two words, would be the same trial twice. Draws that stand on both sides
of a comparison cancel out, and don't count as shared. Holm's correction needs no independence between suites.

`=` is left out of the counts: its chance is 0 as the limit of an ever smaller tolerance, and nothing is learnt from a test of 0.
"""

import random
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import pytest
from chance_trials import Counted, event, independent, probability
from evaluation import evaluate
from scipy.stats import binomtest
from toy_runs import pairs

import syntagm as sg
from syntagm.evaluation import chance
from syntagm.models import LanguageModel
from syntagm.models.random.model import load
from syntagm.stats import holm
from syntagm.suites import Item, Prediction, Suite

SEEDS = range(1, 21)
MOST = 100
COLLECTIONS = ["distance", "hu2020", "islands", "textbook", pytest.param("marvin2018", marks=pytest.mark.slow)]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "chance.md"
each_collection = pytest.mark.parametrize("collection", COLLECTIONS)

Name = tuple[str, str]


@cache
def sampled(collection: str) -> tuple[Suite, ...]:
    """The suites of a collection with at most 100 items each."""
    return tuple(
        Suite(suite.name, _sample(suite.items), suite.predictions, suite.tags, suite.aggregate)
        for suite in sg.read_suites(collection)
    )


def _sample(items: Sequence[Item]) -> tuple[Item, ...]:
    return tuple(items) if len(items) <= MOST else tuple(random.Random(1).sample(list(items), MOST))


def compared(suite: Suite) -> list[Prediction]:
    """The predictions that compare by < and >."""
    return [one for one in suite.predictions if "=" not in one.formula.text]


def asked(collection: str) -> Iterator[tuple[Suite, Prediction, float]]:
    """Every prediction that compares by < and >, and its chance."""
    for suite in sampled(collection):
        for prediction in compared(suite):
            yield suite, prediction, chance(prediction.formula).value


def held(suite: Suite, model: LanguageModel) -> dict[str, list[float]]:
    """Prediction -> the verdict on each item."""
    found = evaluate(suite, model, "strict", max(1e-4, model.numerical_error))
    return {one.name: [row.value for row in found.results if row.measure == one.name] for one in suite.predictions}


def over_seeds(collection: str, unigram: str) -> dict[Name, tuple[int, int]]:
    """(suite, prediction) -> of how many independent items it holds over all seeds, and how many there are."""
    models = [load("", seed=str(seed), unigram=unigram) for seed in SEEDS]
    found = {}
    for suite in sampled(collection):
        verdicts = [held(suite, model) for model in models]
        for prediction in compared(suite):
            # What draws are called is the same for all seeds.
            places = independent(event(item, prediction.formula, models[0]) for item in suite.items)
            values = [one[prediction.name][place] for one in verdicts for place in places]
            found[suite.name, prediction.name] = int(sum(values)), len(values)
    return found


def rejected(found: dict[Name, tuple[int, int]], expected: dict[Name, float], alternative: str) -> dict[Name, float]:
    p = [binomtest(*found[name], expected[name], alternative=alternative).pvalue for name in found]
    return {name: one for name, one in zip(found, holm(p), strict=True) if one <= 0.05}


def chances(collection: str) -> dict[Name, float]:
    return {(suite.name, prediction.name): value for suite, prediction, value in asked(collection)}


@pytest.mark.slow
@each_collection
def test_under_the_random_model_every_item_holds_with_the_chance_of_its_formula(collection: str) -> None:
    """Exactly: no tie by construction, no value counted twice, no longer text against a shorter one."""
    model = load("")
    for suite, prediction, expected in asked(collection):
        for item in suite.items:
            found = probability(event(item, prediction.formula, model))
            assert found == pytest.approx(expected, abs=1e-9), f"{suite.name} {prediction.name} item {item.id}"


@pytest.mark.slow
@each_collection
def test_a_model_of_words_alone_is_not_expected_above_chance(collection: str) -> None:
    """Exactly, item by item, if each word of the vocabulary costs an independent draw."""
    model = load("", unigram="yes")
    for suite, prediction, expected in asked(collection):
        for item in suite.items:
            found = probability(event(item, prediction.formula, model))
            assert found <= expected + 1e-9, f"{suite.name} {prediction.name} item {item.id}"


@pytest.mark.slow
@each_collection
def test_the_random_model_scores_at_chance_over_20_seeds(collection: str) -> None:
    assert rejected(over_seeds(collection, "no"), chances(collection), "two-sided") == {}


@pytest.mark.slow
@each_collection
def test_the_model_of_words_alone_scores_not_above_chance_over_20_seeds(collection: str) -> None:
    assert rejected(over_seeds(collection, "yes"), chances(collection), "greater") == {}


@pytest.mark.slow
@each_collection
def test_word_frequencies_alone_score_above_chance_only_where_the_page_says_so(collection: str, shared: Path) -> None:
    """Items are the sample here, all of them: that one pair of words decides every item is what a leak is."""
    model = Counted((shared / "data" / "corpora" / "classics.1.txt").read_text(encoding="utf-8"))
    found, expected = {}, {}
    for suite in sampled(collection):
        verdicts = held(suite, model)
        for prediction in suite.predictions:
            values, name = verdicts[prediction.name], (suite.name, prediction.name)
            found[name], expected[name] = (int(sum(values)), len(values)), chance(prediction.formula).value
    section = PAGE.read_text(encoding="utf-8").partition("\n## What leaks\n")[2].partition("\n## ")[0]
    listed = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \|", section, re.MULTILINE)
    assert set(rejected(found, expected, "greater")) == set(listed) & found.keys()


def test_ties_and_lengths_are_found_out() -> None:
    # Equal sentences never hold. A word more costs 16 bits more, 8 standard deviations of 2.
    suite = pairs("p", ("the dog barks", "the dog barks"), ("the dog barks", "the dog barks now"), ("a dog", "a cat"))
    formula = suite.predictions[0].formula
    events = [event(item, formula, load("")) for item in suite.items]
    assert [probability(one) for one in events] == [0.0, pytest.approx(1.0), 0.5]


def test_items_that_share_a_draw_are_one_trial() -> None:
    # dog : dogs after "the" twice, whatever follows; then "a"; alone, the words are the same in all three.
    texts = [("the dog barks", "the dogs barks"), ("the dog bark", "the dogs bark"), ("a dog barks", "a dogs barks")]
    suite = pairs("p", *texts)
    found = [event(item, suite.predictions[0].formula, load("")) for item in suite.items]
    assert independent(found) == [0, 2]
    alone = [event(item, suite.predictions[0].formula, load("", unigram="yes")) for item in suite.items]
    assert independent(alone) == [0]


def test_a_suite_off_chance_is_rejected() -> None:
    # 350 of 560 at 1/2: 5.9 standard deviations. With three tests the smallest p is tripled.
    found = {("a", "0"): (350, 560), ("b", "0"): (285, 560), ("c", "0"): (160, 560)}
    expected = {("a", "0"): 0.5, ("b", "0"): 0.5, ("c", "0"): 7 / 24}
    assert rejected(found, expected, "two-sided").keys() == {("a", "0")}


def test_holm() -> None:
    # 0.005 x 4, 0.011 x 3, 0.02 x 2, 0.04 x 1 = 0.04.
    assert holm([0.02, 0.04, 0.005, 0.011]) == pytest.approx([0.04, 0.04, 0.02, 0.033])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []
