"""Planning from a pilot: the level without a difference, variances without the pilot's sampling error, and refusals."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from syntagm.core import InputError, UsageError
from syntagm.evaluation import Kind
from syntagm.stats import Judgements, Resampling, judgements, model_classes, planning, suite_intervals, using


@pytest.fixture(autouse=True)
def fewer_studies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "STUDIES", 200)


def verdicts(better: int, worse: int, same: int) -> np.ndarray:
    return np.repeat([1.0, -1.0, 0.0], [better, worse, same])


TWO = [verdicts(2, 1, 17), verdicts(5, 1, 14), verdicts(3, 2, 15), verdicts(9, 1, 10)]


@pytest.mark.slow
def test_without_a_difference_the_power_is_the_level() -> None:
    found = planning.power(planning.TwoModels(TWO), 0.0, suites=12, items=20)
    # 200 studies: three standard errors of .05 are .046.
    assert found.power == pytest.approx(0.05, abs=0.046)
    assert found.low < found.power < found.high


@pytest.mark.slow
def test_more_suites_and_items_find_more() -> None:
    pilot = planning.TwoModels(TWO)
    small, more_items, more_suites = (
        planning.power(pilot, 0.1, suites=suites, items=items).power for suites, items in ((4, 10), (4, 60), (16, 10))
    )
    assert small < more_items < 1
    assert small < more_suites


def test_of_one_suite_the_power_is_that_of_mcnemars_test() -> None:
    pilot = planning.TwoModels([verdicts(12, 4, 24)])  # difference .2, 20% balanced
    found = planning.power(pilot, 0.2, suites=1, items=40)
    assert found.power == pytest.approx(planning.mcnemar_power(40, 0.2, 0.4), abs=3 * sqrt(0.25 / 200))


def test_suites_differ_only_by_what_sampling_does_not_explain() -> None:
    # Equal suites: their means differ by the sampling of 20 items alone.
    draw = np.random.default_rng(1)
    equal = [draw.choice([1.0, 0.0, -1.0], 20, p=[0.25, 0.6, 0.15]) for _ in range(400)]
    means = np.array([items.mean() for items in equal])
    assert planning.TwoModels(equal).deviations.std() < 0.5 * means.std()
    # Suites that differ by .2: with sampling, their means differ by .25.
    apart = [draw.choice([1.0, 0.0, -1.0], 20, p=p) for p in ([0.5, 0.3, 0.2], [0.2, 0.5, 0.3]) for _ in range(400)]
    assert planning.TwoModels(apart).deviations.std() == pytest.approx(0.2, abs=0.02)


@pytest.mark.slow
def test_fixed_suites_are_those_of_the_pilot() -> None:
    with using(Resampling(suites="fixed")):
        pilot = planning.TwoModels(TWO)
        assert pilot.difference + pilot.deviations == pytest.approx([0.05, 0.2, 0.05, 0.4])
        fixed = planning.power(pilot, 0.175, suites=4, items=20)
    assert fixed.power > planning.power(planning.TwoModels(TWO), 0.175, suites=4, items=20).power + 0.2


def scores(draw: np.random.Generator, better: float, of_models: float, models: int = 4) -> dict[str, np.ndarray]:
    p = np.clip(0.5 + better + draw.normal(0, of_models, models), 0, 1)
    return {str(suite): (draw.random((40, models)) < p).astype(float) for suite in range(30)}


@pytest.mark.slow
def test_classes_vary_by_models_and_more_models_help() -> None:
    draw = np.random.default_rng(2)
    pilot = planning.TwoClasses(scores(draw, 0.0, 0.1, 12), scores(draw, 0.1, 0.1, 12))
    assert np.sqrt(pilot.of_models) == pytest.approx([0.1, 0.1], abs=0.04)
    few, many = (planning.power(pilot, 0.1, suites=30, items=40, models=models).power for models in (2, 10))
    assert few < 0.5 * many
    # With many suites and items, models alone decide: Student's t with as many models in each class.
    sd = float(np.sqrt(np.mean(pilot.of_models)))
    shift = 0.1 / (sd * sqrt(2 / 10))
    expected = float(stats.nct.sf(stats.t.ppf(0.975, 18), 18, shift))
    large = planning.power(pilot, 0.1, suites=200, items=200, models=10).power
    assert large == pytest.approx(expected, abs=0.12)


def test_classes_need_several_models_and_suites() -> None:
    draw = np.random.default_rng(3)
    both = scores(draw, 0.0, 0.1)
    with pytest.raises(UsageError, match="at least two of each"):
        planning.TwoClasses(both, {suite: values[:, :1] for suite, values in both.items()})
    with using(Resampling(suites="fixed")), pytest.raises(UsageError, match="random suites"):
        planning.TwoClasses(both, both)


def test_the_difference_of_classes_contains_suites_and_models() -> None:
    draw = np.random.default_rng(4)
    first, second = scores(draw, 0.0, 0.1, 3), scores(draw, 0.1, 0.1, 3)
    value, found = model_classes.difference(first, second, Kind.VERDICT)
    sides = [np.array([items.mean(axis=0) for items in values.values()]) for values in (first, second)]
    assert value == pytest.approx(sides[1].mean() - sides[0].mean())
    between = sum(float(table.mean(axis=0).var(ddof=1)) / 3 for table in sides)
    assert (found.high - found.low) / 2 > stats.t.ppf(0.975, 10) * sqrt(between)
    assert found.method.endswith("random: models, suites; only 3 models")
    assert (found.p <= 0.05) == (not found.low <= 0 <= found.high)
    # One model each: the same as any comparison of two models.
    ones = [{suite: values[:, :1] for suite, values in side.items()} for side in (first, second)]
    pairs = {suite: (ones[1][suite] - ones[0][suite])[:, 0] for suite in first}
    assert model_classes.difference(*ones, Kind.VERDICT)[1] == suite_intervals.over_suites(
        pairs, Kind.VERDICT, difference=True
    )
    with using(Resampling(suites="fixed")):
        assert "fixed: suites" in model_classes.difference(first, second, Kind.VERDICT)[1].method
        assert "models" in model_classes.difference(first, second, Kind.VERDICT)[1].method


def people(draw: np.random.Generator, difference: float = 0.0) -> Judgements:
    person, item = np.divmod(np.arange(20 * 12), 12)
    item = (item + 5 * person) % 24
    second = (person + item) % 2 == 1
    log_odds = 1 + draw.normal(0, 0.7, 20)[person] + draw.normal(0, 0.8, 24)[item] + difference * second
    values = (draw.random(240) < 1 / (1 + np.exp(-log_odds))).astype(float)
    return Judgements(person, item, values, Kind.VERDICT, second, ("a", "b"))


@pytest.mark.slow
def test_people_and_items_vary_as_in_the_pilot() -> None:
    draw = np.random.default_rng(8)
    judged = people(draw)
    plain = Judgements(judged.people, judged.items, judged.values, Kind.VERDICT)
    pilot = planning.People(plain)
    assert pilot.load == 12
    assert pilot.people(24, 5) == 10
    assert 0.2 < pilot.sd["item"][0] < 1.4
    none, some, more = (
        planning.power(pilot, by, items=24, each=each).power for by, each in ((0.0, 5), (0.1, 5), (0.1, 15))
    )
    assert none == pytest.approx(0.05, abs=0.046)
    assert none < some < more


@pytest.mark.slow
def test_conditions_differ_and_each_person_sees_both() -> None:
    draw = np.random.default_rng(6)
    judged = people(draw, 1.5)
    pilot = planning.People(judged)
    assert pilot.difference == judgements.estimate(judged)[0] > 0.1
    assert planning.power(pilot, 0.2, items=24, each=10).power > 0.4
    values = judged.values + draw.normal(3, 1, 240)
    ratings = Judgements(judged.people, judged.items, values, Kind.NUMBER, judged.second, ("a", "b"))
    assert planning.power(planning.People(ratings), 0.5, items=24, each=10).power > 0.3
    between = Judgements(judged.people, judged.items, judged.values, Kind.VERDICT, judged.people > 9, ("a", "b"))
    with pytest.raises(UsageError, match="each person has one condition"):
        planning.People(between)
    with pytest.raises(UsageError, match="between 0 and 1"):
        planning.People(Judgements(judged.people, judged.items, judged.values, Kind.VERDICT), 1.0)
    people_pilot = planning.People(Judgements(judged.people, judged.items, judged.values, Kind.VERDICT))
    with pytest.raises(UsageError, match="a mean of 1"):
        planning.power(people_pilot, 0.5, items=9, each=3)


def test_the_test_of_judgements_agrees_with_their_interval() -> None:
    judged = people(np.random.default_rng(7))
    plain = Judgements(judged.people, judged.items, judged.values, Kind.VERDICT)
    value, found = judgements.estimate(plain, 0.5)
    assert value == pytest.approx(judged.values.mean())
    assert judgements.estimate(plain, found.low)[1].p == pytest.approx(0.05)
    assert judgements.estimate(plain, found.high)[1].p == pytest.approx(0.05)
    always = Judgements(judged.people, judged.items, np.ones(240), Kind.VERDICT)
    assert judgements.estimate(always, 0.5)[1].p < 0.001
    assert found.p > judgements.estimate(always, 0.5)[1].p


def test_judgements_are_read_strictly(tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text("person,item,value,condition\np1,i1,1,a\np1,i2,0,b\np2,i1,1,b\np2,i2,1,a\n")
    found = judgements.read(path)
    assert (found.names, found.kind, found.values.tolist()) == (("a", "b"), Kind.VERDICT, [1, 0, 1, 1])
    path.write_text("person,item,value,condition\np1,i1,1,a\np1 ,i2,0,b\np2,i1 ,1,b \np2,i2,1,a\n")
    assert [len(set(column.tolist())) for column in (judgements.read(path).people, judgements.read(path).items)] == [
        2,
        2,
    ]
    for text, message in (
        ("person,value\np,1\n", "item"),
        ("person,item,value\np,i,yes\n", "'yes'"),
        ("person,item,value\n,i,1\n", "no person"),
        ("person,item,value\np,i,1\np,j,1\n", "1 people and 2 items"),
        (
            "person,item,value\np,i,1\nq,i,1\np,j,1\np,i ,0\n",
            "line 5: a second judgement of item 'i' by 'p', as in line 2",
        ),
        ("person,item,value,condition\np,i,1,a\nq,j,1,b\nq,i,1,c\n", "3 conditions"),
        ("person,item,value\np,i,inf\nq,j,1\n", "'inf'"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            judgements.read(path)


def test_classes_with_other_undefined_items_make_a_pilot_of_those_that_all_define() -> None:
    draw = np.random.default_rng(3)
    first, second = ({f"s{k}": (draw.random((12, 2)) < right).astype(float) for k in range(3)} for right in (0.5, 0.7))
    whole = planning.TwoClasses(*({suite: items[2:] for suite, items in side.items()} for side in (first, second)))
    for suite in first:
        first[suite][0, 0] = second[suite][1, 1] = np.nan
    assert planning.TwoClasses(first, second).difference == whole.difference
    first["s1"][1:] = np.nan
    with pytest.raises(InputError, match="suite s1: 0 items that are defined under all models"):
        planning.TwoClasses(first, second)


def test_one_item_is_no_pilot() -> None:
    with pytest.raises(InputError, match="a pilot of one item"):
        planning.TwoModels([np.array([1.0])])
    assert planning.TwoModels([np.array([1.0]), np.array([0.0])]).difference == 0.5
