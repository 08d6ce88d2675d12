"""People of one's own beside those of the papers: of small runs by pencil, and of BLiMP's published judgements."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.drawing.chart import Figure
from syntagm.drawing.table import Table
from syntagm.errors import RunError
from syntagm.experiment import people
from syntagm.experiment.answers import Answer, Audit
from syntagm.experiment.plan import Exclusions
from syntagm.formats import marvin2018 as names
from syntagm.papers.marvin2018 import reproduce as marvin2018
from syntagm.papers.marvin2018.people import Judged
from syntagm.papers.warstadt2020 import raw
from syntagm.papers.warstadt2020 import reproduce as warstadt2020
from syntagm.runs.store import Run
from syntagm.suite import Item, Sentence, Suite
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


def test_other_designs_are_no_forced_choice() -> None:
    made = planned([pairs("wh_island", 2)], "yes-no", 2, exclusions=Exclusions(catch=0.0, complete=False))
    run = people.run_of(made, "0" * 16, [Answer("a", None, made.trials[0].id, "yes")], Audit(), "x", None)[0]
    for paper in (warstadt2020, marvin2018):
        with pytest.raises(RunError, match="forced-choice"):
            paper.of_runs([run])


@pytest.mark.slow
@pytest.mark.skipif(not BLIMP.exists(), reason="the published judgements are not here")
def test_published_judgements_as_a_run_of_people_give_the_printed_numbers() -> None:
    judged = raw.judgements(BLIMP / "human_responses.csv")
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
