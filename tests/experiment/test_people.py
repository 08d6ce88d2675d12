"""Answers as results: the check against the plan, exclusions, runs of people, and the views about them."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError
from syntagm.experiment import Answer, Audit, Exclusions, Plan, Study, alarms, answers, make, people, read, simulate
from syntagm.runs import Run, open_run
from syntagm.stats import judgements
from syntagm.suites import Item, Prediction, Sentence, Suite, parse
from tests.experiment_for_tests import crossed, filled, pairs, planned, written

PAIRS = planned([pairs(items=2)], "forced-choice", 4)


def run_of(made: Plan, given: list[Answer], folder: Path | None = None) -> Run:
    return people.run_of(made, "0" * 16, given, Audit(), "test", folder)[0]


def chosen(person: str, *choices: str, list_number: int = 0) -> list[Answer]:
    return [Answer(person, list_number, f"0.{place}", choice, ms=1000.0) for place, choice in enumerate(choices)]


def test_pairs_become_verdicts_of_the_majority_and_shares(tmp_path: Path) -> None:
    given = [
        *chosen("a", "good", "good"),
        *chosen("b", "good", "bad"),
        *chosen("c", "bad", "good"),
        *chosen("d", "good", "bad"),
    ]
    run = run_of(PAIRS, given, tmp_path)
    rows = {(row["item"], row["measure"]): row for row in open_run(tmp_path).results().iter_rows(named=True)}
    assert run.model == "people:test"
    assert run.done
    # Item 1: three of four; log2(3.5 / 1.5). Item 2: two of four, a tie, which does not hold.
    assert rows["1", "better"]["value"] == 1
    assert rows["1", "better"]["margin"] == pytest.approx(math.log2(3.5 / 1.5))
    assert (rows["2", "better"]["value"], rows["2", "better"]["margin"]) == (0, 0)
    assert rows["1", "agreement"]["value"] == 0.75
    assert rows["2", "agreement"]["n"] == 4
    assert run.record["kinds"] == {"better": "verdict", "agreement": "share"}
    assert run.record["people"]["people"] == 4


def test_ratings_and_times_take_the_place_of_surprisals() -> None:
    made = planned([crossed(4)], "acceptability", 4)
    by_condition = {"sg_sg": 6, "sg_pl": 2, "pl_pl": 5, "pl_sg": 3}
    given = [
        Answer(f"p{number}", number, made.trials[trial].id, rating=float(by_condition[made.trials[trial].condition]))
        for number, shown in enumerate(made.lists)
        for trial, _ in shown
    ]
    results = run_of(made, given).results().filter(item="1")
    # (-2 - -6) - (-5 - -3) of the formula (sg_pl - sg_sg) > (pl_pl - pl_sg), with minus the rating as value.
    assert results.filter(measure="interaction")["margin"].item() == 4 - -2
    assert results.filter(measure="rating(condition=sg_pl)")["value"].item() == 2
    timed = planned([pairs(items=2)], "self-paced", 4)
    ms = {"good": 300.0, "bad": 360.0}
    given = [
        Answer(f"p{number}", number, timed.trials[trial].id, regions=tuple(
            (region, ms[timed.trials[trial].condition] if region == "verb" else 250.0, False)
            for region in timed.trials[trial].regions
        ))
        for number, shown in enumerate(timed.lists)
        for trial, _ in shown
    ]  # fmt: skip
    run = run_of(timed, given)
    assert run.results().filter(measure="better")["margin"].to_list() == [60, 60]
    assert run.record["kinds"]["ms(condition=bad,region=verb)"] == "ms"
    with pytest.raises(RunError, match="no surprisals"):
        run.tokens("agreement")
    with pytest.raises(RunError, match="no surprisals"):
        sg.figure("words", [run])


def test_an_item_without_answers_is_undefined_and_counted() -> None:
    made = planned([pairs(items=2)], "forced-choice", 4, exclusions=Exclusions(complete=False))
    run = run_of(made, chosen("a", "good"))
    assert math.isnan(run.results().filter(item="2", measure="better")["value"].item())
    assert sum(run.undefined.values()) == 2


def test_the_check_against_the_plan_counts_what_does_not_belong() -> None:
    made = planned([crossed(4)], "yes-no", 4)
    own = [made.trials[number].id for number, _ in made.lists[0]]
    other = next(trial.id for trial in made.trials if trial.id not in own)
    given = [
        Answer("a", 0, own[0], "yes"), Answer("a", 0, own[0], "no"), Answer("a", 0, other, "yes"),
        Answer("a", 1, own[1], "yes"), Answer("b", None, other, "no"),
    ]  # fmt: skip
    audit = Audit()
    kept = answers.audited(made, given, audit)
    assert [(answer.person, answer.trial, answer.choice) for answer in kept] == [
        ("a", own[0], "yes"),
        ("b", other, "no"),
    ]
    assert {kind: len(places) for kind, places in audit.found.items()} == {
        "second answers to a trial, left out": 1,
        "answers to trials that are not in the person's list, left out": 1,
        "answers of a person under another list, left out": 1,
        "missing answers": 3,
        answers.UNLISTED: 1,
    }


def test_exclusions_are_applied_as_declared() -> None:
    rules = Exclusions(catch=0.75, fastest=200, sameness=0.9)
    made = planned([pairs(items=4)], "forced-choice", 2, built_in=True, exclusions=rules)
    names = [made.trials[number].id for number, _ in made.lists[0]]
    first = {made.trials[number].id: first for number, first in made.lists[0]}
    trials = made.by_id

    def person(
        name: str, catch: str = "good", side: bool | None = None, last: float = 900, until: int | None = None
    ) -> list[Answer]:
        given = []
        for trial in names[:until]:
            choice = catch if trials[trial].role == "catch" else "good"
            if side is not None and trials[trial].role == "critical":
                choice = "good" if first[trial] == side else "bad"
            given.append(Answer(name, 0, trial, choice, ms=last if trial == names[0] else 900))
        return given

    given = [
        *person("fine"),
        *person("careless", catch="bad"),
        *person("left", side=True),
        *person("gone", until=5),
        *person("quick", last=50),
    ]
    applied = answers.apply(made, given)
    assert applied.people == {"careless": "catch trials", "left": "the same answer", "gone": "not finished"}
    assert applied.excluded["quick", names[0]] == "too fast"
    run, _ = people.run_of(made, "0" * 16, given, Audit(), "test", None)
    assert run.results().filter(item="1", measure="agreement")["n"].item() == 1, "only that of `fine`"


def test_people_without_a_known_list_are_not_excluded_by_rules_about_it(tmp_path: Path) -> None:
    made = planned([pairs(items=4)], "forced-choice", 2, exclusions=Exclusions(catch=0, sameness=0.9))
    path = tmp_path / "answers.csv"
    path.write_text("person,trial,choice\n" + "".join(f"a,0.{number},good\n" for number in range(4)))
    audit = Audit()
    given = answers.audited(made, read.read(path, made, {}, audit), audit)
    assert answers.apply(made, given).people == {}, "good is no side"
    assert audit.found.keys() == {answers.UNLISTED}
    path.write_text("person,list,trial,choice\na,9,0.0,good\nb,x,0.1,good\n")
    audit = Audit()
    assert read.read(path, made, {}, audit) == []
    assert [len(places) for places in audit.found.values()] == [2]


def test_a_sentence_without_one_of_its_regions_has_no_time() -> None:
    # A formula over whole sentences; one person for each condition, whose verb was too slow once.
    made = planned([whole_sentences()], "self-paced", 2, exclusions=Exclusions(catch=0, slowest=1000))
    given = [
        Answer(f"p{number}", number, made.trials[trial].id, regions=tuple(
            (region, 5000.0 if (number, place, region) == (0, 0, "2") else 300.0, False)
            for region in made.trials[trial].regions
        ))
        for number, shown in enumerate(made.lists)
        for place, (trial, _) in enumerate(shown)
    ]  # fmt: skip
    results = run_of(made, given).results().filter(measure="full_sentence")
    assert math.isnan(results["margin"][0]), "not 600 ms against 900"
    assert results["margin"][1] == 0


def test_a_reading_without_one_of_its_regions_is_no_short_one() -> None:
    made = planned([whole_sentences()], "self-paced", 8, exclusions=Exclusions(catch=0, slowest=1000))
    given = [
        Answer(f"p{number}", number % 2, made.trials[trial].id, regions=tuple(
            (region, 5000.0 if (number, region) == (0, "2") else 300.0, False) for region in made.trials[trial].regions
        ))
        for number in range(8)
        for trial, _ in made.lists[number % 2]
    ]  # fmt: skip
    table = sg.table("people_effects", [run_of(made, given)])
    [row] = [
        row for row in (dict(zip(table.columns, cells, strict=True)) for cells in table.rows) if row["region"] == "*"
    ]
    assert (row["effect"], row["people"], row["answers"]) == (0, 7, 14), (
        "not 37.5 ms by a sum of two words out of three"
    )


def whole_sentences() -> Suite:
    formula = parse("(*;%good%) < (*;%bad%)")
    items = tuple(
        Item(str(n), {"good": Sentence(f"The {noun} sleeps."), "bad": Sentence(f"The {noun} sleep.")})
        for n, noun in enumerate(("cat", "dog"))
    )
    return Suite("whole", items, (Prediction("full_sentence", formula),))


def test_rules_are_said_as_they_are() -> None:
    assert planned([whole_sentences()], "self-paced", 2, exclusions=Exclusions(), built_in=True).rules == [
        "People who did not finish are excluded."
    ]
    maze = planned([pairs(items=2)], "maze", 2, model=sg.load_model("toy"))
    assert maze.rules[-1] == "The rest of a sentence after a mistake is excluded."
    assert "less than 66.5% correct catch" in "\n".join(Exclusions(catch=0.665).sentences())


def test_a_study_that_nobody_has_begun_has_no_answers(tmp_path: Path) -> None:
    written(PAIRS, tmp_path)
    with pytest.raises(InputError, match=r"no answers\.sqlite"):
        read.read(tmp_path, PAIRS, {}, Audit())


def test_a_mistake_in_a_maze_excludes_the_rest_of_the_sentence() -> None:
    made = planned([pairs(items=2)], "maze", 2, model=sg.load_model("toy"))
    trial = made.trials[0]
    assert trial.distractors[0] == "x-x-x"
    assert len(trial.distractors) == 5
    assert trial.distractors[4].endswith(".")
    body = {"trial": trial.id, "times": [500, 400, 600, 450, 420], "wrong": [False, False, True, False, False]}
    answer = answers.checked(made, trial, "a", 0, body, "here")
    rows = list(answers.rows(made, [answer], {}))
    assert [(row.region, row.choice, row.ms, row.excluded) for row in rows] == [
        ("subject", "right", 900, ""), ("verb", "wrong", 600, "mistake"), ("rest", "right", 870, "mistake"),
    ]  # fmt: skip


def test_answers_that_were_exported_give_the_same_run(tmp_path: Path) -> None:
    for design in ("forced-choice", "acceptability", "self-paced"):
        made = planned([pairs(items=4)], design, 8)
        study = filled(made, tmp_path / design)
        given = study.answers()
        columns, lines = answers.table(made, given)
        from syntagm.core import csv

        # Times are those of regions, and say so.
        assert columns == (*answers.COLUMNS, *(["times"] if design == "self-paced" else []))
        assert {row[-1] for row in lines if row[6]} == ({"regions"} if design == "self-paced" else set())
        path = tmp_path / f"{design}.csv"
        path.write_text("".join(csv.lines(columns, lines)))
        audit = Audit()
        again = read.read(path, made, {}, audit)
        assert not audit.found
        assert run_of(made, again).results().equals(run_of(made, given).results())


ADMITTING = replace(
    PAIRS, participants=5, options={**PAIRS.options, "questions": [["Here?", "no"], ["English?", "no"], ["7 + 4?", ""]]}
)


def test_answers_to_questions_exclude_whoever_says_no_or_answers_a_hidden_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make.write(ADMITTING, tmp_path)
    study = Study(tmp_path)
    said = {
        "here": ["Yes: Norwich", "Yes", ""],
        "abroad": [" No, in Norway", "yes", ""],
        "machine": ["yes", "yes", "11"],
        "silent": [],
    }
    for code, texts in {**said, "left": None}.items():
        person, _ = study.admit(code=code)  # type: ignore[misc]
        for number, _ in study.trials_of(person):
            study.answer(person, {"trial": ADMITTING.trials[number].id, "choice": "good"})
        # Who leaves at the questions has answered everything else.
        assert texts is None or study.finish(person, texts)
    study.close()
    assert main(["experiment", "status", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert "asked: Here? answers: 3, of which exclude: 1" in shown
    assert "asked, hidden: 7 + 4? answers: 1, of which exclude: 1" in shown
    assert main(["experiment", "import", str(tmp_path), "-o", str(tmp_path / "run")]) == 0
    run = open_run(tmp_path / "run")
    assert (run.record["people"]["excluded, admission"], run.record["people"]["excluded, hidden question"]) == (2, 1)
    assert run.results().filter(measure="agreement")["n"].to_list() == [2, 2]
    # The file that is published keeps the reasons, and gives the same run.
    file = str(tmp_path / "answers.csv")
    assert main(["experiment", "export", str(tmp_path), "-o", file]) == 0
    again = Audit()
    given = answers.audited(ADMITTING, read.read(Path(file), ADMITTING, {}, again), again)
    assert answers.apply(ADMITTING, given, again.refused).people == {
        "abroad": "admission",
        "machine": "hidden question",
        "left": "admission",
    }
    assert not again.found
    assert main(["experiment", "export", str(tmp_path), "--said", "-o", str(tmp_path / "said.csv")]) == 0
    assert "machine,7 + 4?,11" in (tmp_path / "said.csv").read_text()


def test_files_of_jspsych_have_what_was_said_and_tables_of_others_lack_it(tmp_path: Path) -> None:
    sent = [
        {"person": person, "list": 1, "trial": f"0.{place}", "choice": "good"} for person in "xy" for place in (0, 1)
    ]
    sent += [{"person": "y", "list": 1, "trial": "_end", "said": ["no", "yes", ""]}]
    path = tmp_path / "sent.json"
    path.write_text(json.dumps(sent))
    audit = Audit()
    given = answers.audited(ADMITTING, read.read(path, ADMITTING, {}, audit), audit)
    assert answers.apply(ADMITTING, given, audit.refused).people == {"p002": "admission"}
    table = tmp_path / "theirs.csv"
    table.write_text("person,trial,choice,list\nx,0.0,good,1\nx,0.1,good,1\n")
    audit = Audit()
    answers.audited(ADMITTING, read.read(table, ADMITTING, {}, audit), audit)
    assert list(audit.found) == [answers.UNASKED]


def test_a_model_is_compared_with_people_on_the_same_sentences_only() -> None:
    suite = pairs(items=3)
    run = sg.evaluate(sg.load_model("random"), [suite])
    renamed = replace(suite, items=tuple(replace(item, id=f"n{item.id}") for item in suite.items[:2]))
    margins = alarms.margins_of(run, planned([renamed], "forced-choice", 4))
    assert margins == dict(zip([("agreement", "n1"), ("agreement", "n2")], run.results()["margin"], strict=False))
    other = {
        name: replace(sentence, text=sentence.text.replace("day", "eve"))
        for name, sentence in suite.items[0].sentences.items()
    }
    said = planned([replace(suite, items=(replace(suite.items[0], sentences=other),))], "forced-choice", 4)
    with pytest.raises(RunError, match="no item of the study"):
        alarms.margins_of(run, said)


def test_jspsych_pcibex_and_tables_are_read(tmp_path: Path) -> None:
    sent = [
        {"trial_type": "html", "rt": 5},
        {"person": "x1", "list": 1, "trial": "0.0", "choice": "good", "ms": 812.5, "trial_type": "html"},
        {"person": "x1", "list": 1, "trial": "0.1", "choice": "elsewhere"},
    ]
    (tmp_path / "x.json").write_text(json.dumps(sent))
    audit = Audit()
    found = read.read(tmp_path / "x.json", PAIRS, {}, audit)
    assert found == [Answer("p001", 0, "0.0", "good", ms=812.5)], "people are numbered anew"
    assert list(audit.found) == ["impossible answers, left out"]
    (tmp_path / "x.csv").write_text("trial_type,person,list,trial,choice,ms\nhtml,x1,1,0.0,good,812.5\nhtml,,,,,\n")
    assert read.read(tmp_path / "x.csv", PAIRS, {}, Audit()) == found
    pcibex = (
        "# Results on Friday\n# 1. Results reception time.\n# 2. PennElementType.\n# 3. PennElementName.\n# 4. Parameter.\n"
        "# 5. Value.\n# 6. EventTime.\n# 7. person.\n# 8. list.\n# 9. trial.\n"
        "1,PennController,0,_Trial_,Start,1000,x1,1,0.0\n1,Selector,choice,Selection,good,1812.5,x1,1,0.0\n"
    )
    (tmp_path / "results.txt").write_text(pcibex)
    assert read.read(tmp_path / "results.txt", PAIRS, {}, Audit()) == found
    (tmp_path / "own.csv").write_text("subject,item,condition,answer\ns,1,good/bad,good\ns,9,good/bad,good\n")
    audit = Audit()
    table = read.read(tmp_path / "own.csv", PAIRS, {"person": "subject", "choice": "answer"}, audit)
    assert table == [Answer("p001", None, "0.0", "good")]
    assert list(audit.found) == ["answers to unknown trials, left out"]
    with pytest.raises(InputError, match="--column"):
        read.read(tmp_path / "own.csv", PAIRS, {}, Audit())


def test_a_table_of_times_may_have_fillers_and_answers_to_questions(tmp_path: Path) -> None:
    """A row without a region has the answer; without such rows, a rule about answers excludes nobody."""
    asked = pairs(items=2)
    items = tuple(Item(item.id, item.sentences, {"question": "All day?", "answer": "yes"}) for item in asked.items)
    filler = [Suite("fillers", pairs(items=1).items, ())]
    made = planned(
        [Suite(asked.name, items, asked.predictions)],
        "self-paced",
        2,
        fillers=filler,
        exclusions=Exclusions(questions=0.8),
    )
    shown = [made.trials[number] for number, _ in made.lists[0]]
    rows = [
        (f"{trial.suite},{trial.item},{trial.condition},{region}", "300", "")
        for trial in shown
        for region in trial.regions
    ]
    asked_of = [f"{trial.suite},{trial.item},{trial.condition}," for trial in shown if trial.question]
    path = tmp_path / "times.csv"
    wrong, unreadable = {"p001": "questions"}, {"answers that are neither yes nor no, left out": len(asked_of)}
    for said, excluded, noted in (
        ("", {}, {}), ("no", wrong, {}), ("No", wrong, {}), (" NO ", wrong, {}), ("YES", {}, {}), ("0", {}, unreadable),
    ):  # fmt: skip
        table = [*rows, *((place, "", said) for place in asked_of)] if said else rows
        lines = [f"x,{place},{ms},{choice}" for place, ms, choice in table]
        path.write_text("\n".join(["reader,suite,item,condition,region,ms,choice", *lines]) + "\n")
        audit = Audit()
        given = read.read(path, made, {"person": "reader"}, audit)
        assert {answer.trial for answer in given} == {trial.id for trial in shown}
        assert answers.apply(made, given).people == excluded
        assert {kind: len(places) for kind, places in audit.found.items()} == noted


def test_blanks_make_no_person_and_nobody_is_no_person(tmp_path: Path) -> None:
    path = tmp_path / "own.csv"
    path.write_text("subject,item,condition,choice\ns,1,good/bad,good\ns ,2,good/bad,bad\n,1,good/bad,bad\n")
    audit = Audit()
    table = read.read(path, PAIRS, {"person": "subject"}, audit)
    assert [(answer.person, answer.trial, answer.choice) for answer in table] == [
        ("p001", "0.0", "good"),
        ("p001", "0.1", "bad"),
    ]
    assert {kind: len(places) for kind, places in audit.found.items()} == {"answers without a person, left out": 1}


_PCIBEX = (
    "# 1. Results reception time.\n# 2. PennElementType.\n# 3. PennElementName.\n# 4. Parameter.\n# 5. Value.\n"
    "# 6. EventTime.\n# 7. person.\n# 8. list.\n# 9. trial.\n"
)


@pytest.mark.parametrize(
    ("name", "head", "row", "empty"),
    [
        ("x.json", "", '{{"person": "{}", "trial": "{}", "choice": "good"}}\n', "null"),
        ("x.csv", "trial_type,person,list,trial,choice,ms\n", "html,{},1,{},good,812.5\n", "null"),
        ("results.txt", _PCIBEX, "1,Selector,choice,Selection,good,1,{},1,{}\n", ""),
        ("own.csv", "person,trial,choice\n", "{},{},good\n", ""),
    ],
)
def test_a_person_is_one_however_accents_are_written_and_null_is_nobody(
    tmp_path: Path, name: str, head: str, row: str, empty: str
) -> None:
    rows = [
        row.format(person, trial) for person, trial in (("Zo\u00eb", "0.0"), (" Zoe\u0308 ", "0.1"), (empty, "0.2"))
    ]
    path = tmp_path / name
    path.write_text(head + "".join(rows).replace('"null"', "null"), encoding="utf-8")
    audit = Audit()
    found = read.read(path, planned([pairs(items=3)], "forced-choice", 4), {}, audit)
    assert [(answer.person, answer.trial) for answer in found] == [("p001", "0.0"), ("p001", "0.1")]
    assert {kind: len(places) for kind, places in audit.found.items()} == {"answers without a person, left out": 1}


@pytest.mark.parametrize("text", ["[", "[1]", "{}", "#\n", "person,trial\n", "", "\x00"])
def test_files_that_are_no_answers_are_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.csv"
    path.write_text(text)
    with pytest.raises(InputError):
        read.read(path, PAIRS, {}, Audit())


def test_the_same_simulation_gives_the_same_answers(tmp_path: Path) -> None:
    made = planned([pairs(items=4)], "forced-choice", 4)
    first, second = (filled(made, tmp_path / name).answers() for name in "ab")
    assert first == second


@pytest.mark.parametrize("design", ["forced-choice", "yes-no", "acceptability", "magnitude"])
def test_honest_people_pass_attention_checks_whatever_the_effect(design: str) -> None:
    # A check by a suite of one's own, whose conditions have other names.
    items = tuple(
        Item(item.id, {"fine": item.sentences["good"], "odd": item.sentences["bad"]}) for item in pairs().items
    )
    own = [Suite("own", items, (Prediction("better", parse("(verb;%fine%) < (verb;%odd%)")),))]
    for catch in ([], own):
        made = planned([pairs()], design, 2, built_in=True, catch=catch, exclusions=Exclusions(catch=0.75))
        checks = [made.trials[number] for number, _ in made.lists[0] if made.trials[number].role == "catch"]
        for effect in (-3.0, 0.0, 3.0):
            simulated = simulate.Simulated(made, simulate.Truth(effect, lapse=0.0), 1)
            passed = [
                answers.attention(made, made.by_id, [
                    answers.checked(made, trial, "a", 0, person.answer(trial), "here") for trial in checks
                ])
                for person in map(simulated.person, range(40))
            ]  # fmt: skip
            assert len(checks) >= 4
            assert min(passed) >= 0.75, (design, effect, passed)


def test_each_comparison_of_a_conjunction_has_the_effect() -> None:
    def shares(text: str, timed: bool = False) -> dict[tuple[str, str], float]:
        return simulate._shares(parse(text), timed)

    assert shares("(v;%a%) < (v;%b%)") == {("b", ""): 0.5, ("a", ""): -0.5}
    two = "[(v;%a%) < (v;%b%)] & [(w;%c%) > (w;%d%)]"
    assert shares(two) == {("b", ""): 0.5, ("a", ""): -0.5, ("c", ""): 0.5, ("d", ""): -0.5}
    # b - a = 1 and c - a = 1: the smallest are a = -2/3, b = c = 1/3.
    three = shares("[(v;%a%) < (v;%b%)] & [(v;%a%) < (v;%c%)]")
    assert three == pytest.approx({("b", ""): 1 / 3, ("a", ""): -2 / 3, ("c", ""): 1 / 3})
    # Of times, each region of a comparison has its part, and regions of different comparisons have their own.
    assert shares("(v;%a%) + (w;%a%) < (v;%b%) + (w;%b%)", True) == {
        ("b", "v"): 0.25, ("b", "w"): 0.25, ("a", "v"): -0.25, ("a", "w"): -0.25,
    }  # fmt: skip
    apart = shares("[(v;%a%) < (v;%b%)] & [(w;%b%) < (w;%a%)] & [(u;%a%) = (u;%b%)]", True)
    assert (apart["b", "v"] - apart["a", "v"], apart["a", "w"] - apart["b", "w"], apart["a", "u"]) == (1, 1, 0)


@pytest.mark.slow
def test_the_views_about_people(tmp_path: Path) -> None:
    given = [
        *chosen("a", "good", "good"),
        *chosen("b", "good", "bad"),
        *chosen("c", "bad", "good"),
        *chosen("d", "good", "good"),
    ]
    run = run_of(PAIRS, given)
    table = sg.table("people", [run], accepted=2)
    row = dict(zip(table.columns, table.rows[0], strict=True))
    assert (row["individual"], row["won"], row["accepted"], row["people"], row["answers"]) == (0.75, 2, "yes", 4, 8)
    model = sg.evaluate(sg.load_model("toy"), list(PAIRS.suites))
    ceiling = sg.table("ceiling", [run, model])
    assert ceiling.rows[0][:3] == ("agreement", "people:test", model.model)
    with pytest.raises(UsageError, match="no run of people"):
        sg.table("people", [model])
    with pytest.raises(UsageError, match="forced-choice"):
        sg.table("people_effects", [run])
    assert len(sg.table("scores", [run, model]).rows) == 2


def test_known_effects_lie_in_their_intervals(tmp_path: Path) -> None:
    made = planned([crossed(12)], "self-paced", 24)
    run = run_of(made, filled(made, tmp_path, effect=80.0).answers())
    table = sg.table("people_effects", [run])
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    verb = next(row for row in rows if row["region"] == "verb")
    assert verb["low"] < 80 < verb["high"]
    assert verb["compared"] == "yes"
    assert verb["unit"] == "ms"
    figure = sg.figure("people_effects", [run])
    assert len(figure.to_frame()) == len(rows)
    assert "verb" in figure.svg()


def test_alpha_and_halves_by_hand() -> None:
    # Two units with two judgements each: 0 0 and 0 1. Within: 0 + 2 * 1 = 2; between: 2 * (4 * 1 - 1) = 6; 1 - 3 * 2 / 6.
    assert judgements.krippendorff(np.array([0.0, 0, 0, 1]), np.array([0, 0, 1, 1])) == 0
    assert math.isnan(judgements.krippendorff(np.ones(4), np.array([0, 0, 1, 1])))
    values = np.arange(5.0)
    same = judgements.split_halves(6, lambda half: values, 10, 1)
    assert (same.value, same.splits) == (pytest.approx(1), 10)
    assert judgements.split_halves(3, lambda half: values, 10, 1).splits == 0


def test_a_language_model_can_be_the_judge(tmp_path: Path) -> None:
    made = planned([pairs(items=2)], "forced-choice", 2)
    bits = simulate.judged(made, sg.load_model("toy"))
    assert set(bits) == {text for trial in made.trials for text in trial.texts}
    assert all(len(found) == len(text.split()) for text, found in bits.items())


def test_a_page_shows_people_beside_models_and_says_how_they_were_asked(tmp_path: Path) -> None:
    run = run_of(PAIRS, [*chosen("a", "good", "good"), *chosen("b", "good", "bad")])
    model = sg.evaluate(sg.load_model("toy"), list(PAIRS.suites))
    page = sg.write_report([run, model], tmp_path / "page.html").read_text()
    assert "Agreement of people" in page
    assert "We evaluated 1 language model and asked 1 group of people on 1 suite" in page
    assert "2 people took part (forced-choice, each item in one condition" in page
    alone = sg.write_report([run], tmp_path / "alone.html").read_text()
    assert "the probability given the text before it" not in alone
