"""Plans of experiments: who sees what, in which order."""

import itertools
import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError
from syntagm.evaluation import Kind
from syntagm.experiment import Plan, designs, make, plan, texts
from syntagm.stats import Judgements
from syntagm.suites import Prediction, Suite, parse
from tests.experiment_for_tests import crossed, pairs, planned


def test_a_person_sees_one_condition_of_each_item_and_all_conditions_equally_often() -> None:
    made = planned([crossed(8)], "acceptability", 8)
    assert len(made.lists) == 4
    seen: Counter[tuple[str, str]] = Counter()
    for shown in made.lists:
        trials = [made.trials[number] for number, _ in shown]
        assert sorted(trial.item for trial in trials) == sorted(item.id for item in made.suites[0].items)
        assert set(Counter(trial.condition for trial in trials).values()) == {2}
        seen.update((trial.item, trial.condition) for trial in trials)
    # Over the four lists, each item is seen once in each condition.
    assert len(seen) == 32
    assert set(seen.values()) == {1}


def test_sides_are_balanced_within_a_person_and_for_each_pair() -> None:
    made = planned([pairs(items=6)], "forced-choice", 10)
    assert len(made.lists) == 2
    for shown in made.lists:
        assert sum(first for _, first in shown) == 3
    sides = Counter(entry for shown in made.lists for entry in shown)
    assert set(sides.values()) == {1}
    assert len(sides) == 12


def test_sides_are_balanced_within_a_person_and_condition() -> None:
    """A Latin square of two pairs an item alternates as sides do: each condition would have one side only."""
    both = parse("((verb;%sg_sg%) < (verb;%sg_pl%)) & ((verb;%pl_pl%) < (verb;%pl_sg%))")
    suites = [
        Suite(name, crossed(items).items, (Prediction("both", both),)) for name, items in (("x", 8), ("y", 5), ("z", 3))
    ]
    made = planned(suites, "forced-choice", 8)
    assert len(made.lists) == 4
    for shown in made.lists:
        sides: dict[tuple[str, str], int] = Counter()
        for number, first in shown:
            sides[made.trials[number].suite, made.trials[number].condition] += 1 if first else -1
        assert all(abs(surplus) <= 1 for surplus in sides.values())
        assert sum(sides.values()) == 0
    # Over all lists, each pair is seen with either sentence first.
    assert set(Counter(entry for shown in made.lists for entry in shown).values()) == {1}


def test_blocks_have_complete_groups_of_conditions() -> None:
    made = planned([crossed(8)], "yes-no", 16, per_person=4)
    assert len(made.lists) == 8
    for shown in made.lists:
        trials = [made.trials[number] for number, _ in shown]
        assert len(trials) == 4
        assert len({trial.condition for trial in trials}) == 4
    everything = Counter(number for shown in made.lists for number, _ in shown)
    assert set(everything.values()) == {1}
    assert len(everything) == 32


@pytest.mark.parametrize(("items", "most", "parts"), [(10, 5, 3), (12, 8, 2), (8, 8, 1), (3, 3, 1)])
def test_nobody_gets_more_trials_than_wished(items: int, most: int, parts: int) -> None:
    made = planned([crossed(items)], "yes-no", 16, per_person=most)
    assert len(made.lists) == 4 * parts
    assert all(0 < len(shown) <= most for shown in made.lists)
    assert set(Counter(number for shown in made.lists for number, _ in shown).values()) == {1}


def test_fewer_trials_than_conditions_and_catch_trials_that_nobody_judges_are_refused() -> None:
    with pytest.raises(UsageError, match="at least 4"):
        planned([crossed(8)], "yes-no", 16, per_person=3)
    with pytest.raises(UsageError, match="in which nothing is judged"):
        planned([pairs()], "self-paced", 4, catch=[pairs("catch")])


def test_the_same_seed_gives_the_same_bytes_and_orders(tmp_path: Path) -> None:
    for name in ("a", "b"):
        make.write(planned([crossed(4)], "acceptability", 4, seed=3), tmp_path / name)
    assert (tmp_path / "a/plan.json").read_bytes() == (tmp_path / "b/plan.json").read_bytes()
    made = plan.read(tmp_path / "a")
    assert made == planned([crossed(4)], "acceptability", 4, seed=3)
    assert plan.ordered(made, 0, 0) == plan.ordered(made, 0, 0)
    assert plan.ordered(made, 0, 0) != plan.ordered(made, 0, 1)


def test_orders_keep_the_constraints() -> None:
    made = planned([crossed(12)], "acceptability", 4, built_in=True)
    for place in range(20):
        trials = [made.trials[number] for number, _ in plan.ordered(made, place % 4, place)]
        roles = [trial.role for trial in trials]
        assert roles[:4] == ["practice"] * 4
        assert "practice" not in roles[4:]
        assert roles[4] != "catch"
        assert ("catch", "catch") not in itertools.pairwise(roles)
        critical = [trial.condition for trial in trials if trial.role == "critical"]
        assert all(one != other for one, other in itertools.pairwise(critical))


def test_a_forced_choice_asks_each_comparison_of_the_first_prediction() -> None:
    suite = crossed(4)
    both = Prediction("both", parse("((verb;%sg_sg%) < (verb;%sg_pl%)) & ((verb;%pl_pl%) < (verb;%pl_sg%))"))
    made = planned([Suite("s", suite.items, (both,))], "forced-choice", 8)
    assert {trial.condition for trial in made.trials} == {"sg_sg/sg_pl", "pl_pl/pl_sg"}
    assert made.trials[1].texts == ("The cats sleep all day.", "The cats sleeps all day.")
    with pytest.raises(InputError, match="compares two conditions"):
        planned([suite], "forced-choice", 8)


def test_a_damaged_plan_is_refused_and_another_one_is_not_written_over_it(tmp_path: Path) -> None:
    made = planned([pairs()], "forced-choice", 4)
    make.write(made, tmp_path)
    make.write(made, tmp_path)
    with pytest.raises(RunError, match="another plan"):
        make.write(planned([pairs()], "forced-choice", 6), tmp_path)
    path = tmp_path / "plan.json"
    path.write_text(path.read_text().replace('"participants": 4', '"participants": 5'))
    with pytest.raises(RunError, match="damaged or edited"):
        plan.read(tmp_path)


def test_texts_that_the_experimenter_edited_stay(tmp_path: Path) -> None:
    made = planned([pairs()], "forced-choice", 4)
    make.write(made, tmp_path)
    (tmp_path / "texts/consent.md").write_text("Mine.")
    make.write(made, tmp_path)
    assert (tmp_path / "texts/consent.md").read_text() == "Mine."


def test_what_is_not_balanced_is_said() -> None:
    made = planned([crossed(6)], "acceptability", 7)
    assert any("balanced over people with 8" in note for note in made.notes)
    assert any("6 items and 4 conditions" in note for note in made.notes)


@pytest.mark.parametrize(("design", "what"), [("acceptability", "condition"), ("forced-choice", "side")])
def test_a_tag_that_alternates_as_conditions_do_is_named(design: str, what: str) -> None:
    suite = pairs(items=8)
    mixed, in_order = (
        replace(suite, items=tuple(replace(item, tags={"length": of(place)}) for place, item in enumerate(suite.items)))
        for of in (lambda place: ("short", "long")[place % 2], lambda place: ("short", "long")[place // 4])
    )
    [note] = planned([mixed], design, 8).notes
    assert f"the {what}" in note
    assert "Sort the items by length." in note
    assert not planned([in_order], design, 8).notes
    sets = replace(suite, items=tuple(replace(item, tags={"set": str(i % 4)}) for i, item in enumerate(suite.items)))
    assert not planned([sets], design, 8).notes


def test_words_are_timed_by_region() -> None:
    made = planned([pairs()], "self-paced", 4)
    first = made.trials[0]
    assert first.words == (
        ("The", "subject"),
        ("cat", "subject"),
        ("sleeps", "verb"),
        ("all", "rest"),
        ("day.", "rest"),
    )
    assert first.regions == ("subject", "verb", "rest")


def test_presets_use_the_items_of_the_papers() -> None:
    suites = [pairs(name, 12) for name in ("one", "simple_agrmt")]
    wishes = make.Wishes(planned([pairs()], "forced-choice", 1).design, 20)
    chosen, blimp = make.of_preset("warstadt2020", suites, wishes)
    assert [[item.id for item in suite.items] for suite in chosen] == [["1", "2", "3", "4", "5"]] * 2
    assert "at least 4 of its items" in blimp.analyses[0]
    _, marvin = make.of_preset("marvin2018", suites, wishes)
    assert marvin.attention == ("simple_agrmt",)


def preset(per_person: int | None = None, suites: int = 3) -> Plan:
    wishes = make.Wishes(planned([pairs()], "forced-choice", 1).design, 0, per_person=per_person)
    return make.planned(*make.of_preset("warstadt2020", [pairs(f"s{number}", 6) for number in range(suites)], wishes))


def test_four_pairs_have_one_attention_check_and_each_pair_keeps_its_judgements() -> None:
    for per_person, suites, checks, participants in ((4, 3, 1, 80), (None, 3, 4, 20), (None, 6, 6, 20), (9, 3, 3, 40)):
        made = preset(per_person, suites)
        roles = Counter(made.trials[number].role for number, _ in made.lists[0])
        assert (roles["catch"], made.participants) == (checks, participants)
    assert Counter(trial.role for trial in planned([pairs()], "forced-choice", 4, built_in=True).trials)["catch"] == 6


def test_a_preset_says_who_may_take_part(tmp_path: Path) -> None:
    made = preset()
    assert [question for question, _ in made.questions][:2] == [
        "Are you in the United States now? (yes or no)", "Is English your first language? (yes or no)",
    ]  # fmt: skip
    assert "filter of locations" in made.notes[0]
    assert made.rules[-3:] == [
        "People who answer no are excluded: Are you in the United States now? (yes or no)",
        "People who answer no are excluded: Is English your first language? (yes or no)",
        "People who answer a question that our server hides are excluded: What is seven plus four?",
    ]
    make.write(made, tmp_path)
    assert plan.read(tmp_path).questions == made.questions
    assert (
        "that you are in the United States, that English is your first language"
        in texts.read(tmp_path, made.design).consent
    )
    assert texts.asked_at_end(made, texts.settings(tmp_path)) == [question for question, _ in made.questions]
    # Others are asked as before.
    other = planned([pairs()], "forced-choice", 4)
    make.write(other, tmp_path / "other")
    assert texts.asked_at_end(other, texts.settings(tmp_path / "other")) == [
        "Is English your first language? (yes or no)"
    ]
    assert "United States" not in texts.read(tmp_path / "other", other.design).consent


@pytest.mark.parametrize("wrong", [{"participants": 0}, {"participants": 10**6}, {"per_person": 0}])
def test_wrong_numbers_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        planned([pairs()], "forced-choice", **{"participants": 4, **wrong})  # type: ignore[arg-type]


def test_a_precision_is_that_of_all_suites_or_of_the_smallest(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 items in all, of which a person sees 12: of the smallest suite, 10 items, as large a part."""
    wished: list[tuple[int, int]] = []
    monkeypatch.setattr(make, "People", lambda pilot, against: pilot)
    monkeypatch.setattr(make, "people_for", lambda pilot, reach, items, load: wished.append((items, load)) or 7)
    people, items = np.divmod(np.arange(20), 5)
    pilot = Judgements(people, items, np.arange(20) % 2.0, Kind.VERDICT)
    wishes = make.Wishes(designs.find("forced-choice"), 0, per_person=12)
    suites = [pairs("x", 20), pairs("y", 10)]
    assert make.for_precision(wishes, suites, 0.1, pilot).participants == 7
    make.for_precision(wishes, suites, 0.1, pilot, each_suite=True)
    assert wished == [(30, 12), (10, 4)]


def test_suites_that_no_run_takes_are_refused_before_anyone_is_asked() -> None:
    with pytest.raises(InputError, match="E102"):
        planned([pairs("<i>name</i>")], "forced-choice", 4)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "make x --design acceptability --participants 2 --words no.csv -o y",
            "--words: the design acceptability; exp",
        ),
        (
            "make x --design acceptability --participants 2 --errors redo -o y",
            "--errors: the design acceptability; exp",
        ),
        (
            "make x --design self-paced --participants 2 --model no -o y",
            "--model: the design self-paced; expected --design",
        ),
        (
            "make x --preset warstadt2020 --errors stop -o y",
            "--errors: the design forced-choice; expected --design maze",
        ),
        ("status x --models no", "--models: given without --alarms"),
    ],
)
def test_options_that_would_change_nothing_are_refused(
    line: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["experiment", *line.split()]) == 2
    assert message in capsys.readouterr().err


def test_contradictory_plans_are_refused(tmp_path: Path) -> None:
    content = planned([pairs()], "forced-choice", 4).content()
    for key, value in {"lists": [[[99, True]]], "trials": [], "exclusions": {"catch": 1}}.items():
        with pytest.raises(InputError):
            plan.of_content(json.loads(json.dumps({**content, key: value})), "plan.json")
