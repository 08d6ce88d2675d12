"""People of one's own beside those of the papers: of small runs by pencil, and of BLiMP's published judgements."""

import hashlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import RunError, UsageError
from syntagm.experiment import Answer, Audit, Exclusions, people
from syntagm.papers.marvin2018 import reproduce as marvin2018
from syntagm.papers.marvin2018.reproduce import Judged
from syntagm.papers.warstadt2020 import raw, reproduce as warstadt2020
from syntagm.runs import Run, named
from syntagm.suites import Item, Sentence, Suite
from syntagm.suites.formats import marvin2018 as names
from syntagm.views import Figure, Table
from tests.experiment_for_tests import pairs, planned

BLIMP = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "blimp"


def run_of(suites: list[Suite], right: dict[str, list[str]]) -> Run:
    """Answers to all pairs: suite -> for each pair the choices of people, as g (good) and b (bad)."""
    made = planned(suites, "forced-choice", 4, exclusions=Exclusions(catch=0.0, complete=False))
    by_item = {(trial.suite, trial.item): trial for trial in made.trials}
    given = []
    for suite in suites:
        for item, choices in zip(suite.items, right[suite.name], strict=True):
            trial = by_item[suite.name, item.id]
            for person, choice in enumerate(choices):
                given.append(Answer(f"p{person}", None, trial.id, trial.choices[choice != "g"]))
    return people.run_of(made, "0" * 16, given, Audit(), "ours", None)[0]


def rows(table: Table | Figure) -> list[dict[str, object]]:
    assert isinstance(table, Table)
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_a_paradigm_is_accepted_if_four_of_five_pairs_are_won() -> None:
    suites = [pairs("wh_island", 5), pairs("my_own", 5)]
    run = run_of(suites, {
        "wh_island": ["gggg", "gggb", "gggg", "gggb", "ggbb"],  # four won, one tie
        "my_own": ["gggg", "gggg", "bbbg", "bbbb", "gggg"],  # three won
    })  # fmt: skip
    made = warstadt2020.of_runs([run])
    second, first = rows(made["table_people"])
    assert (second["paradigm"], second["won"], second["ties"], second["accepted"]) == ("wh_island", 4, 1, "yes")
    # (4 + 3 + 4 + 3 + 2) / 20, beside the 73 % of the paper, whose people won all five of its own pairs.
    assert second["individual"] == pytest.approx(0.8)
    assert (second["people (paper)"], second["won (paper)"]) == (0.73, 5)
    assert (first["paradigm"], first["won"], first["accepted"], first["people (paper)"]) == ("my_own", 3, "no", None)
    majority, single, accepted, judgements = rows(made["table_validation"])
    assert majority["ours"] == pytest.approx(70), "7 of 10 pairs"
    assert single["ours"] == pytest.approx(100 * (0.8 + 13 / 20) / 2)
    assert (accepted["ours"], judgements["ours"]) == (1, 40)
    assert {row["paper"] for row in rows(made["table_validation"])} == {None}, "not the paradigms of the paper"
    [everything] = [row for row in rows(made["table3"]) if row["over"] == "all"]
    assert everything["model"] == "people:ours"
    assert everything["accuracy"] == pytest.approx((0.8 + 0.65) / 2), "the share of choices, not of majorities"
    assert "table_shallow" not in made


PARADIGMS = ("wh_island", "causative", "passive_1", "my_own")


def paradigm(name: str, count: int, first: int = 0) -> Suite:
    """Pairs with the ids from 1, of which other `first` mean other pairs."""
    items = [
        Item(str(n + 1), {"good": Sentence(f"The {name} {n + first} sleeps."), "bad": Sentence(f"The {name} {n + first} sleep.")})
        for n in range(count)
    ]  # fmt: skip
    return Suite(name, tuple(items), names.PREDICTIONS[2][:1], {})


def model(count: int, first: int = 0, seed: int = 1) -> Run:
    return sg.evaluate(sg.load_model(f"random?seed={seed}"), [paradigm(name, count, first) for name in PARADIGMS])


def people_on(first: int = 0) -> Run:
    """People who saw the first two pairs of each paradigm, from files of SyntaxGym's format, which numbers predictions."""
    choices = {"wh_island": ["gggg", "gggb"], "causative": ["gbbb", "ggbb"], "passive_1": ["gggb", "ggbb"],
               "my_own": ["gbbb", "gbbb"]}  # fmt: skip
    numbered = (replace(names.PREDICTIONS[2][0], name="0"),)
    return run_of([replace(paradigm(name, 2, first), predictions=numbered) for name in PARADIGMS], choices)


SHARES = [7 / 8, 3 / 8, 5 / 8, 2 / 8]


def accuracy_of(run: Run) -> list[float]:
    results = run.results().filter(pl.col("measure") == "full_sentence")
    return [float(results.filter(suite=name)["value"].mean()) for name in PARADIGMS]  # type: ignore[arg-type]


def test_people_are_correlated_with_models_that_have_their_pairs() -> None:
    same, other, judged = model(9), model(9, 100, seed=4), people_on()
    made = warstadt2020.of_runs([same, other, judged])["table_correlations"]
    assert isinstance(made, Table)
    first, second = (name for name, _ in named([same, other]))
    found = {(row["a"], row["b"]): row for row in rows(made) if row["kind"] == "Pearson"}
    assert found[first, "people:ours"]["n"] == 4
    assert found[first, "people:ours"]["r"] == pytest.approx(np.corrcoef(accuracy_of(same), SHARES)[0, 1])
    assert (found[second, "people:ours"]["n"], found[first, second]["n"]) == (0, 0)
    # The people of the paper judged three of the paradigms, whatever the pairs.
    published = [warstadt2020.published()[name].human for name in PARADIGMS[:3]]
    for name, run in ((first, same), (second, other)):
        row = found[name, "people (published)"]
        assert (row["n"], row["r"]) == (3, pytest.approx(np.corrcoef(accuracy_of(run)[:3], published)[0, 1]))
    notes = "\n".join(made.notes)
    assert f"{first} and people:ours: 8 pairs in both, 36 in the larger set." in notes
    assert f"{second} and people:ours: not correlated over suites wh_island, causative, passive_1 and 1 more" in notes
    assert "the judged pairs themselves in 0 of 3 paradigms, elsewhere other pairs under the same name" in notes
    assert "only 0 suites" not in notes


def test_people_who_saw_other_pairs_are_not_mixed_with_a_model() -> None:
    run, judged = model(9), people_on(first=100)
    [row] = [
        row for row in rows(warstadt2020.of_runs([run, judged])["table_correlations"])
        if row["b"] == "people:ours" and row["kind"] == "Pearson"
    ]  # fmt: skip
    assert row["n"] == 0
    with pytest.raises(UsageError, match="0 suites"), pytest.warns(UserWarning, match="DIFFERENT CONTENT"):
        sg.figure("correlation", [run, judged])
    with pytest.warns(UserWarning, match="DIFFERENT CONTENT"):
        made = sg.table("ceiling", [run, judged])
    assert {(row["model"], row["r"]) for row in rows(made)} == {(None, None)}
    said = (
        f"{run.name} lacks items that people:ours saw, or their prediction, in suites wh_island, causative, passive_1"
    )
    assert made.notes[-1] == f"{said} and 1 more."


def test_views_compare_people_with_a_model_over_the_pairs_that_they_saw() -> None:
    run, judged = model(9), people_on()
    frame = sg.figure("correlation", [run, judged]).to_frame()
    majorities = [1.0, 0.0, 0.5, 0.0]
    assert frame["n"].to_list() == [4, 4]
    assert frame["r"][0] == pytest.approx(np.corrcoef(accuracy_of(run), majorities)[0, 1])
    made = sg.table("ceiling", [run, judged])
    [everything] = [row for row in rows(made) if row["suite"] == "all 4 suites"]
    margins = run.results().filter((pl.col("measure") == "full_sentence") & pl.col("item").is_in(["1", "2"]))["margin"]
    shares = [1, 0.75, 0.25, 0.5, 0.75, 0.5, 0.25, 0.25]
    assert (everything["model"], everything["items"]) == (run.name, 8)
    assert everything["r"] == pytest.approx(np.corrcoef(margins, shares)[0, 1])
    assert not any("lacks items" in note for note in made.notes)
    with pytest.raises(RunError, match="people saw some of the items only"):
        sg.compare(judged, run)


def test_the_published_pairs_are_known_by_their_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    run = model(9)
    [said] = [note for note in made_notes(run) if "judged pairs" in note]
    assert "in 0 of 3" in said
    texts = sorted({text for n in range(5) for text in (f"The causative {n} sleeps.", f"The causative {n} sleep.")})
    digest = hashlib.sha256("\n".join(texts).encode()).hexdigest()[:8]
    cited = {"paradigms": [{"paradigm": "causative", "pairs": digest}]}
    monkeypatch.setattr("syntagm.papers.warstadt2020.paradigms.cited", lambda name: cited)
    [said] = [note for note in made_notes(run) if "judged pairs" in note]
    assert "themselves in 1 of 3 paradigms, elsewhere" in said


def made_notes(run: Run) -> tuple[str, ...]:
    table = warstadt2020.of_runs([run])["table_correlations"]
    assert isinstance(table, Table)
    return table.notes


@pytest.mark.skipif(not BLIMP.exists(), reason="the published pairs are not here")
def test_the_first_published_pairs_are_those_that_people_judged() -> None:
    paths = [path for path in sorted(BLIMP.glob("*.jsonl")) if path.stem in warstadt2020.published()][:3]
    suites = [replace(suite, items=suite.items[:9]) for path in paths for suite in sg.read_suites(path)]
    assert "themselves in 3 of 3 paradigms." in made_notes(sg.evaluate(sg.load_model("random"), suites))[-2]


def numbered(name: str, *numbers: tuple[str, str]) -> Suite:
    items = [
        Item(str(n), {"good": Sentence(f"The cat {n} sleeps."), "bad": Sentence(f"The cat {n} sleep.")},
             {"number": tested, "attractor": other})
        for n, (tested, other) in enumerate(numbers)
    ]  # fmt: skip
    return Suite(name, tuple(items), names.PREDICTIONS[2][:1], names.tags(name))


def test_constructions_pool_their_pairs_and_stand_beside_humans() -> None:
    one, two = numbered("prep_anim", ("sing", "sing")), numbered("prep_inanim", *[("sing", "sing")] * 3)
    within = numbered("obj_rel_within_anim", ("sing", "plur"), ("sing", "plur"))
    sentences = dict(
        zip(names.TRIPLE, map(Sentence, ("No cat ever.", "The cat ever.", "Most cats ever.")), strict=True)
    )
    triple = Suite("simple_npi_anim", (Item("0", sentences),), names.PREDICTIONS[3], names.tags("simple_npi_anim"))
    run = run_of([one, two, within, triple], {
        "prep_anim": ["gggg"], "prep_inanim": ["ggbb", "gbbb", "ggbb"], "obj_rel_within_anim": ["gggb", "gggg"],
        "simple_npi_anim": ["gggb"],
    })  # fmt: skip
    made = marvin2018.of_runs([run])
    by_name = {row["construction"]: row for row in rows(made["table1_people"])}
    prep = by_name["Across a prepositional phrase"]
    # Of four pairs (1 + .5 + .25 + .5) / 4, where the mean of the two suites is (1 + 5/12) / 2 = .708.
    assert (prep["individual"], prep["pairs"], prep["won"], prep["ties"]) == (9 / 16, 4, 1, 2)
    assert (prep["people"], prep["judgements"], prep["Humans"]) == (4, 16, 0.85)
    assert by_name["NPI: simple"]["comparison"] == "grammatical_intrusive"
    # Beside a model stand the answers about its own suites: of prep_anim all, of both 9/16, of one that was not asked none.
    for suites, share in (([one], 1.0), ([one, two], 9 / 16), ([one, replace(two, name="prep_other")], None)):
        table = marvin2018.table1(sg.evaluate(sg.load_model("toy"), suites), {"ours": Judged(run, "ours")})
        assert [row["ours"] for row in rows(table)] == [share]
    # In a clause, the tested verb is that of the embedded subject: the main one is plural, the embedded one singular.
    [cell] = rows(made["table2_people"])
    assert (cell["main"], cell["embedded"], cell["individual"], cell["pairs"], cell["Humans"]) == (
        "plur", "sing", 0.875, 2, 0.73,
    )  # fmt: skip


def test_people_who_saw_other_pairs_have_no_column_beside_a_construction() -> None:
    numbers = [("sing", "sing"), ("sing", "plur")]
    seen, within = numbered("prep_anim", *numbers), numbered("obj_rel_within_anim", *numbers)
    # SyntaxGym's format numbers predictions.
    renamed = replace(seen, predictions=(replace(seen.predictions[0], name="0"),))
    judged = run_of([renamed, within], {"prep_anim": ["gggg", "gggb"], "obj_rel_within_anim": ["gggb", "ggbb"]})
    others = replace(within, items=tuple(
        replace(item, sentences={name: Sentence(f"Now {sentence.text}") for name, sentence in item.sentences.items()})
        for item in within.items
    ))  # fmt: skip
    more = replace(seen, items=(*seen.items, *numbered("prep_anim", *numbers * 2).items[2:]))
    made = marvin2018.of_runs([sg.evaluate(sg.load_model("random"), [more, others]), judged])
    by_name = {row["construction"]: row["people:ours"] for row in rows(made["table1"])}
    assert by_name == {"Across a prepositional phrase": 0.875, "In an object relative clause": None}
    assert {row["people:ours"] for row in rows(made["table2"])} == {None}
    table = made["table1"]
    assert isinstance(table, Table)
    [said] = [note for note in table.notes if "lacks pairs" in note]
    assert said.endswith("that these people saw: In an object relative clause.")


def test_other_designs_are_no_forced_choice() -> None:
    made = planned([pairs("wh_island", 2)], "yes-no", 2, exclusions=Exclusions(catch=0.0, complete=False))
    run = people.run_of(made, "0" * 16, [Answer("a", None, made.trials[0].id, "yes")], Audit(), "x", None)[0]
    for paper in (warstadt2020, marvin2018):
        with pytest.raises(RunError, match="forced-choice"):
            paper.of_runs([run])


@pytest.mark.slow
@pytest.mark.skipif(not BLIMP.exists(), reason="the published judgements are not here")
def test_published_judgements_as_a_run_of_people_give_the_printed_numbers() -> None:
    judged = raw.read_judgements(BLIMP / "human_responses.csv")
    kept = {suite: found for suite, found in judged.items() if suite in warstadt2020.published()}
    suites = [
        replace(pairs(suite, 5), items=tuple(
            Item(str(n), {"good": Sentence(good), "bad": Sentence(f"{good} *")}) for n, good in enumerate(found)
        ))
        for suite, found in kept.items()
    ]  # fmt: skip
    suites = [replace(suite, predictions=(names.PREDICTIONS[2][0],)) for suite in suites]
    run = run_of(suites, {
        suite: ["".join("bg"[choice] for choice in choices) for choices in found.values()]
        for suite, found in kept.items()
    })  # fmt: skip
    made = warstadt2020.of_runs([run])
    majority, single, accepted, judgements = rows(made["table_validation"])
    assert isinstance(majority["ours"], float)
    assert isinstance(single["ours"], float)
    assert (round(majority["ours"], 1), majority["paper"]) == (96.4, 96.4)
    assert (round(single["ours"], 1), single["paper"]) == (88.6, 88.6)
    assert (accepted["ours"], accepted["paper"], judgements["ours"]) == (67, 67, 6676)
    assert all(row["won"] == row["won (paper)"] for row in rows(made["table_people"]))


@pytest.mark.slow
def test_the_command_puts_people_beside_a_model(tmp_path: Path) -> None:
    suites = tmp_path / "suites"
    suites.mkdir()
    lines = [
        json.dumps({"sentence_good": f"The cat {word} sleeps.", "sentence_bad": f"The cat {word} sleep.", "UID": "wh_island",
                    "pairID": str(n), "field": "syntax", "linguistics_term": "island_effects", "simple_LM_method": True,
                    "one_prefix_method": False, "two_prefix_method": False, "lexically_identical": False})
        for n, word in enumerate(("now", "then", "here"))
    ]  # fmt: skip
    (suites / "wh_island.jsonl").write_text("\n".join(lines) + "\n")
    study, copy = str(tmp_path / "study"), str(tmp_path / "copy")
    make = ["experiment", "make", str(suites), "--design", "forced-choice", "--participants", "2", "-o", study]
    assert main([*make, "--exclude-catch", "0"]) == 0
    assert main(["experiment", "simulate", study, "-o", copy]) == 0
    assert main(["experiment", "import", copy, "-o", str(tmp_path / "people"), "--label", "sim"]) == 0
    assert main(["run", "random", "--suite", str(suites), "-o", str(tmp_path / "random")]) == 0
    out = tmp_path / "out"
    folders = [str(tmp_path / "people"), str(tmp_path / "random")]
    assert main(["reproduce", "warstadt2020", "--from-run", *folders, "-o", str(out)]) == 0
    assert "simulated" in (out / "table_validation.md").read_text()
    assert "people:sim" in (out / "table3.csv").read_text()


def test_a_report_says_why_people_judge_the_first_prediction_only(tmp_path: Path) -> None:
    suite = paradigm("wh_island", 2)
    two = replace(suite, predictions=(*suite.predictions, replace(suite.predictions[0], name="other")))
    page = sg.write_report([run_of([two], {"wh_island": ["gggg", "gggb"]})], tmp_path / "page.html").read_text()
    assert "People chose between the sentences of the first prediction only." in page
    assert "sees the text on both sides" not in page
