"""The tables and figures of Warstadt et al. 2020: of small runs by pencil, of the published data by their check values."""

import csv
import json
import math
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import altair
import numpy as np
import polars as pl
import pytest
from toy_runs import toy_run, training_record

from syntagm.cli import main
from syntagm.core import InputError, RunError, UsageError
from syntagm.evaluation import Estimate, Group, Kind
from syntagm.papers import published
from syntagm.papers.warstadt2020 import reproduce as warstadt2020, tables
from syntagm.papers.warstadt2020.paradigms import CONTRASTS, paradigms
from syntagm.papers.warstadt2020.raw import people_samples
from syntagm.runs import Run
from syntagm.stats import Comparison, Sample
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse
from syntagm.suites.formats import _pair
from syntagm.views import Cell, Figure, Table, correlation, learning_curve, methods, phenomena, surface

PLAIN, NOUN = "regular_plural_subject_verb_agreement_1", "distractor_agreement_relational_noun"
Row = dict[str, Cell]


def agreement(name: str, *nouns: str, tags: dict[str, str] | None = None) -> Suite:
    """Nouns with "barks" (good) and "bark": to toy "dog" is right, "cat" wrong, "bird" a tie, by 1.585, -1 and 0 bits."""
    items = [
        Item(
            str(k),
            {side: _pair.split(f"The {noun} {verb}", f"The {noun}", verb, "here") for side, verb in VERBS.items()},
        )
        for k, noun in enumerate(nouns)
    ]
    return Suite(name, tuple(items), (_pair.FULL, Prediction("one_prefix", _pair.CRITICAL)), tags or {})


VERBS = {"good": "barks", "bad": "bark"}


def undefined(name: str) -> Suite:
    """One item in which a token reaches over a border of what is compared."""
    over = Sentence("dogs bark", (Region("1", 0, 2), Region("2", 2, 9)))
    formula = Prediction("full_sentence", parse("(1;%good%) < (1;%bad%)"))
    return Suite(name, (Item("1", {"good": over, "bad": over}),), (formula,))


def notes(table: object) -> str:
    assert isinstance(table, Table)
    return " ".join(table.notes)


def rows(made: Table | Figure, **where: object) -> list[Row]:
    assert isinstance(made, Table)
    found = [dict(zip(made.columns, row, strict=True)) for row in made.rows]
    return [row for row in found if all(row[key] == value for key, value in where.items())]


def drawn(made: dict[str, Table | Figure]) -> list[Figure]:
    return [one for one in made.values() if isinstance(one, Figure)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    own = agreement("my_own", "dog", "cat", tags={"linguistics_term": "s-selection", "field": "syntax/semantics"})
    suites = agreement(PLAIN, "dog", "dog", "dog", "cat"), agreement(NOUN, "dog", "bird"), own
    return toy_run(tmp_path_factory.mktemp("blimp") / "run", *suites)


@pytest.fixture(scope="module")
def made(run: Run) -> dict[str, Table | Figure]:
    return warstadt2020.of_runs([run])


def test_categories_are_means_of_their_paradigms(made: dict[str, Table | Figure]) -> None:
    # 3 of 4, 1 of 2 and 1 of 2: 7/12 over all, 5/8 over the two of agreement.
    [everything] = rows(made["table3"], over="all")
    assert math.isclose(float(str(everything["accuracy"])), 7 / 12)
    assert (everything["paradigms"], everything["n"], everything["ties"]) == ("3, 2 of the paper's 67", 8, 1)
    [verbs] = rows(made["table3"], category="subject_verb_agreement")
    assert (verbs["accuracy"], verbs["paradigms"], verbs["n"]) == (0.625, "2 of 6", 6)
    # People agree by 0.95 and 0.81; the paper's models stand only beside whole categories.
    assert math.isclose(float(str(verbs["people"])), 0.88)
    assert verbs["GPT-2"] is None
    assert everything["people"] is None
    # A suite of another name is no paradigm of the paper, though its category is.
    [arguments] = rows(made["table3"], category="argument_structure")
    assert arguments["paradigms"] == "1"


def test_suites_of_ones_own_go_by_their_tags(run: Run, made: dict[str, Table | Figure]) -> None:
    assert [row["paradigm"] for row in rows(made["table_paradigms"], category="argument_structure")] == ["my_own"]
    assert paradigms(run.suites)["my_own"].field == "syntax_semantics"
    assert [row["category"] for row in rows(made["table3"], over="field")] == ["morphology", "syntax_semantics"]


def test_what_stands_beside_a_model_is_of_its_own_paradigms(run: Run, tmp_path: Path) -> None:
    small = toy_run(tmp_path / "small", agreement(PLAIN, "dog"))
    made = warstadt2020.of_runs([run, small])
    figure = made["phenomena"]
    assert isinstance(figure, Figure)
    verbs = figure.table.filter(phenomenon="subject_verb_agreement")
    # People agree by .95 on the one paradigm, and by .81 on the other.
    assert verbs.select("paradigms", "value", "n").rows() == [(2, 0.625, 6), (1, 1.0, 1)]
    assert verbs["humans"].to_list() == pytest.approx([(0.95 + 0.81) / 2, 0.95])
    assert [row["people"] for row in rows(made["table3"], category="subject_verb_agreement")] == verbs[
        "humans"
    ].to_list()
    assert figure.table.filter(phenomenon="all").select("paradigms", "n").rows() == [(3, 8), (1, 1)]
    values: Any = figure.spec["data"]
    assert [row["note"] for row in values["values"] if row["name"] == "subject verb agreement"] == [
        "2 suites, n = 6", "1 suite, n = 1",
    ]  # fmt: skip
    ticks = [row["humans"] for row in values["values"] if row["name"] == "subject verb agreement"]
    assert ticks == verbs["humans"].to_list()


def test_slopes_of_the_paper_are_beside_whole_categories(tmp_path: Path) -> None:
    gender, number = agreement("anaphor_gender_agreement", "dog"), agreement("anaphor_number_agreement", "dog")
    both, one = (toy_run(tmp_path / str(len(suites)), *suites) for suites in ([gender, number], [gender]))
    for runs, quoted in (([both, both], 0.0623), ([both, one], None)):
        [slope] = rows(warstadt2020.of_runs(runs, words="10,20")["table_slopes"], category="anaphor_agreement")
        assert (slope["LSTM"], slope["n"]) == (quoted, 2)
    assert "learning_curve" not in warstadt2020.of_runs([one, toy_run(tmp_path / "other", number)], words="10,20")


def test_a_contrast_is_over_the_pairs_that_are_there(made: dict[str, Table | Figure]) -> None:
    # 3/4 - 1/2, of the one pair of the two that the mean over both attractors has.
    found = {row["difference"]: row for row in rows(made["table_contrasts"])}
    one = found["verb: no attractor − mean of both"]
    assert (one["difference_of_accuracies"], one["pairs"], one["n"]) == (0.25, "1 of 2", 6)
    assert list(found) == ["verb: no attractor − relational noun between", "verb: no attractor − mean of both"]
    table = made["table_contrasts"]
    assert isinstance(table, Table)
    assert any("relative clause" in note for note in table.notes)


def test_two_ways_to_ask_agree_where_one_word_decides(made: dict[str, Table | Figure]) -> None:
    assert {row["difference_of_accuracies"] for row in rows(made["table_methods"])} == {0.0}
    assert [row["n"] for row in rows(made["table_methods"], category="all")] == [8]


def test_differences_of_methods_have_the_deviation_over_categories() -> None:
    def compared(label: str, value: float, measure: str = "one_prefix") -> Comparison:
        group = Group("m", measure=measure, labels=(("label", label),), counts=(("suites", 1),))
        return Comparison(group, Estimate(group, value, 0.0, 0.2, 9, "made up"))

    found = [compared("all", 0.2), compared("binding", 0.1), compared("ellipsis", 0.3), compared("islands", 0.5)]
    found += [compared("all", 0.1, "two_prefix"), compared("binding", 0.1, "two_prefix")]
    # sqrt((.2 ** 2 + 0 + .2 ** 2) / 2); of one category there is none.
    deviations = [row["sd"] for row in rows(tables.method_table(found))]
    assert deviations == [pytest.approx(0.2), None, None, None, None, None]


def test_pairs_of_one_length_have_no_regression_on_it(made: dict[str, Table | Figure]) -> None:
    remarks = {row["predictor"]: row["remark"] for row in rows(made["table_shallow"])}
    assert remarks["words"] == remarks["more_words"] == "the same for all pairs"


def test_every_mean_has_a_count_and_an_interval(made: dict[str, Table | Figure]) -> None:
    for name, one in made.items():
        if isinstance(one, Table):
            assert {"n", "low", "high"} <= set(one.columns), name


@pytest.mark.slow
def test_figures_are_valid_and_drawn(made: dict[str, Table | Figure]) -> None:
    assert len(drawn(made)) == 5
    for one in drawn(made):
        altair.Chart.from_dict(dict(one.spec), validate=True)
        assert "<svg" in one.svg()


def test_small_slopes_are_shown_with_four_decimals() -> None:
    row = ("lstm", "island_effects", -0.00123, 0.0005, -0.0025, 0.0004, 0.5, 8, 4)
    known = published()
    samples = {("lstm", suite): Sample(suite, Kind.VERDICT, np.ones(2), 0, 0) for suite in known}
    table = tables.slope_table(pl.DataFrame([row], schema=learning_curve.SLOPES, orient="row"), samples, known)
    # The last two are those of the paper.
    assert (
        "| island_effects | lstm | -0.0012 | 0.0005 | -0.0025 | 0.0004 | 8 | 4 | never | 0.0036 | 0.0039 |"
        in table.markdown()
    )
    assert r"island\_effects & lstm & $-$0.0012 & [$-$0.0025, 0.0004] & 4 & never & 0.0036 & 0.0039 \\" in table.latex()


@pytest.mark.slow
def test_several_models_and_sizes_have_learning_curves(run: Run, tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("the cat barks\nthe dog bark\n")
    other = toy_run(tmp_path / "other", agreement(PLAIN, "dog", "cat"), model=f"toy:{text}")
    made = warstadt2020.of_runs([run, other], words="1000,4000")
    # 3/4 and 1/2 at two doublings' distance: -1/8 a doubling, of two models, so without an error.
    [slope] = rows(made["table_slopes"], category="subject_verb_agreement")
    assert (slope["n"], slope["sizes"], slope["se"]) == (2, 2, None)
    # The first model has 5/8 over two paradigms of the category, but 3/4 on the one that both have.
    assert math.isclose(float(str(slope["slope"])), (0.5 - 0.75) / 2)
    assert [row["category"] for row in rows(made["table_slopes"])] == ["all", "subject_verb_agreement"]
    assert f"Without suites {NOUN}, my_own, which not all models of known size have." in notes(made["table_slopes"])
    assert slope["words_at_people"] == "never"
    # The two runs have other items under one name: they share no suite, and nothing is correlated.
    assert "Same name but different content" in notes(made["table3"])
    assert {
        row["n"] for row in rows(made["table_correlations"], a="toy:12-sentences") if "people" not in str(row["b"])
    } == {0}
    for one in drawn(made):
        altair.Chart.from_dict(dict(one.spec), validate=True)
        assert "<svg" in one.svg()
    with pytest.raises(UsageError, match="2 whole numbers"):
        warstadt2020.of_runs([run, other], words="1000")
    assert "table_slopes" not in warstadt2020.of_runs([run, other], words="1000,-")
    assert "table_slopes" not in warstadt2020.of_runs([run, other])


def test_sizes_are_found_in_the_folder_of_an_experiment(tmp_path: Path) -> None:
    run = toy_run(tmp_path / "runs" / "toy-S", agreement(PLAIN, "dog"))
    assert learning_curve.training_words([run]) == [None]
    path = training_record(tmp_path / "runs" / "toy-S", 1000)
    assert learning_curve.training_words([run]) == [1000]
    assert learning_curve.training_words([run], "12_000") == [12000]
    assert learning_curve.training_words([run, run, run], "1e6,2.5e3,-") == [1_000_000, 2500, None]
    for odd in ("1.5", "1e400", "-1e3", "nan", "1e13"):
        with pytest.raises(UsageError, match="whole number"):
            learning_curve.training_words([run], odd)
    # A record that was edited, or that somebody else wrote, is refused.
    for content in (path.read_text().replace("1000", "9000"), json.dumps({"training_words": 1000}), "", "[1]"):
        path.write_text(content)
        with pytest.raises(RunError, match=r"toy-S\.json"):
            learning_curve.training_words([run])


@pytest.mark.slow
def test_one_item_undefined_items_and_ties_are_said(tmp_path: Path) -> None:
    run = toy_run(tmp_path, agreement(PLAIN, "bird"), undefined(NOUN))
    made = warstadt2020.of_runs([run])
    by_paradigm = {row["paradigm"]: row for row in rows(made["table_paradigms"])}
    assert [by_paradigm[PLAIN][key] for key in ("accuracy", "n", "ties", "undefined")] == [0.0, 1, 1, 0]
    assert math.isnan(float(str(by_paradigm[PLAIN]["low"])))
    assert math.isnan(float(str(by_paradigm[NOUN]["accuracy"])))
    assert [by_paradigm[NOUN][key] for key in ("n", "ties", "undefined")] == [0, 0, 1]
    # A mean over a suite without a defined item would be a mean over other suites.
    assert math.isnan(float(str(rows(made["table3"], over="all")[0]["accuracy"])))
    assert all(math.isnan(float(str(row["difference_of_accuracies"]))) for row in rows(made["table_contrasts"]))
    assert "no interval: fewer than two items" in notes(made["table_paradigms"])
    for one in drawn(made):
        assert "<svg" in one.svg()


def test_runs_without_pairs_are_refused_and_no_runs_make_nothing(tmp_path: Path) -> None:
    item = Item("1", {"a": Sentence("The dog", (Region("1", 0, 7),))})
    other = Suite("other", (item,), (Prediction("0", parse("(1;%a%) < (1;%a%)")),))
    with pytest.raises(RunError, match="no suite with the prediction full_sentence"):
        warstadt2020.of_runs([toy_run(tmp_path, other)])
    assert warstadt2020.of_runs([]) == {}


@pytest.mark.slow
@pytest.mark.parametrize("module", [learning_curve, surface, methods, correlation, phenomena])
def test_figures_of_runs_can_be_drawn_by_their_names(module: ModuleType, run: Run) -> None:
    options = {"words": "1000,2000"} if module is learning_curve else {}
    figure = module.draw_figure([run, run], **options)
    altair.Chart.from_dict(dict(figure.spec), validate=True)
    assert "<svg" in figure.svg()
    assert {"n", "method"} <= set(figure.table.columns)


def test_figures_that_would_show_nothing_are_refused(run: Run, tmp_path: Path) -> None:
    bare = toy_run(tmp_path, Suite("bare", agreement("bare", "dog").items, (Prediction("one", _pair.CRITICAL),)))
    for module, runs, said in (
        (phenomena, [bare], "which no suite"),
        (surface, [bare], "no suite of minimal pairs"),
        (methods, [bare], "no suite with full_sentence and a prefix"),
        (correlation, [run], "1 run"),
        (learning_curve, [run], "no size"),
    ):
        with pytest.raises(UsageError, match=said):
            module.draw_figure(runs)


def test_the_paradigms_are_those_of_the_paper() -> None:
    known = published()
    assert len(known) == 67
    fields = [one.field for one in known.values()]
    assert [fields.count(name) for name in ("morphology", "syntax", "semantics", "syntax_semantics")] == [18, 26, 9, 14]
    # The mean agreement of single people, 88.6 %.
    assert round(sum(one.human for one in known.values()) / 67, 5) == 0.88555
    assert {name for one in CONTRASTS for pair in one.pairs for name in pair} <= set(known)


@pytest.fixture(scope="module")
def raw() -> dict[str, Table | Figure]:
    from conftest import SHARED

    if not SHARED.is_dir():
        pytest.skip("no ../shared here")
    return warstadt2020.from_raw(SHARED / "blimp" if (SHARED / "blimp").is_dir() else SHARED / "data" / "blimp")


def percent(found: Sequence[Row], model: str, column: str = "accuracy") -> float:
    [row] = [row for row in found if row["model"] == model]
    return round(100 * float(str(row[column])), 2)


@pytest.mark.slow
def test_published_means(raw: dict[str, Table | Figure]) -> None:
    found = rows(raw["table3"], over="all")
    assert [percent(found, name) for name in ("5-gram", "LSTM", "TXL", "GPT-2")] == [61.24, 69.81, 69.63, 83.02]
    assert {row["n"] for row in found} == {67000, 335}
    islands = rows(raw["table3"], category="island_effects")
    assert [round(percent(islands, name), 1) for name in ("5-gram", "LSTM", "TXL", "GPT-2")] == [57.2, 46.6, 48.3, 72.7]


@pytest.mark.slow
def test_no_table_names_intervals_of_another_kind(raw: dict[str, Table | Figure]) -> None:
    """Only the intervals of single paradigms are for other pairs."""
    for name in ("table3", "table_correlations"):
        assert "pairs" in notes(raw[name])
        assert "for other pairs" not in notes(raw[name])
        assert "Wilson's" not in notes(raw[name])


@pytest.mark.slow
def test_published_contrasts(raw: dict[str, Table | Figure]) -> None:
    expected = {
        "determiner next to noun − adjective between": [35.1, 4.8, 5.32, 2.1],
        "verb: no attractor − mean of both": [52.9, 19.65, 4.6, 24.1],
        "regular − irregular nouns, all": [-1.97, 5.22, 1.27, 2.28],
    }
    for said, numbers in expected.items():
        found = rows(raw["table_contrasts"], difference=said)
        column = "difference_of_accuracies"
        assert [percent(found, name, column) for name in ("5-gram", "LSTM", "TXL", "GPT-2")] == numbers


@pytest.mark.slow
def test_published_correlations(raw: dict[str, Table | Figure]) -> None:
    found = {(row["kind"], frozenset((row["a"], row["b"]))): row["r"] for row in rows(raw["table_correlations"])}
    pearson = {
        ("people", "5-gram"): 0.34, ("people", "LSTM"): 0.49, ("people", "TXL"): 0.48, ("LSTM", "TXL"): 0.90,
        ("LSTM", "5-gram"): 0.59, ("TXL", "5-gram"): 0.58, ("people", "GPT-2"): 0.65, ("GPT-2", "TXL"): 0.77,
        ("GPT-2", "LSTM"): 0.79, ("GPT-2", "5-gram"): 0.43,
    }  # fmt: skip
    for pair, r in pearson.items():
        assert round(float(str(found["Pearson", frozenset(pair)])), 2) == r
    spearman = {"GPT-2": 0.62, "TXL": 0.45, "LSTM": 0.48, "5-gram": 0.31}
    for model, rho in spearman.items():
        assert round(float(str(found["Spearman", frozenset(("people", model))])), 2) == rho


@pytest.mark.slow
def test_published_people(raw: dict[str, Table | Figure]) -> None:
    kept = rows(raw["table_people"], data="kept")
    assert (len(kept), sum(int(str(row["won"])) for row in kept), sum(int(str(row["tied"])) for row in kept)) == (
        67,
        323,
        5,
    )
    dropped = {row["paradigm"]: row["won"] for row in rows(raw["table_people"], data="dropped")}
    assert dropped == {
        "coordinate_structure_constraint_subject_extraction": 1,
        "wh_questions_object_gap_long_distance": 2,
    }
    assert percent(rows(raw["table3"], over="all"), "people") == 88.56


@pytest.mark.slow
def test_what_was_printed_and_is_not_so_is_listed(raw: dict[str, Table | Figure]) -> None:
    odd = [(row["what"], row["system"], row["printed"]) for row in rows(raw["table_printed"], same="no")]
    first = [(system, text) for what, system, text in odd if what == "mean of all paradigms, %"]
    assert first == [("5-gram", "60.5"), ("LSTM", "68.9"), ("TXL", "68.7"), ("GPT-2", "80.1")]
    old = {(system, text) for what, system, text in odd if what == "Pearson's r"}
    assert old == {
        ("people and GPT-2", "0.54"), ("GPT-2 and TXL", "0.68"), ("GPT-2 and LSTM", "0.63"), ("GPT-2 and 5-gram", "0.39"),
    }  # fmt: skip
    assert all(
        row["remark on the publication"] not in ("", "not known") for row in rows(raw["table_printed"], same="no")
    )


@pytest.mark.slow
def test_the_command_writes_what_the_data_give(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "blimp"
    assert main(["reproduce", "warstadt2020", "--from-raw", str(folder), "-o", str(tmp_path)]) == 0
    with (tmp_path / "table3.csv").open(newline="") as lines:
        found = {(row["category"], row["model"]): float(row["accuracy"]) for row in csv.DictReader(lines)}
    assert math.isclose(found["all", "GPT-2"], 0.8302388060, abs_tol=1e-9)
    assert math.isclose(found["ellipsis", "5-gram"], 0.369)
    assert {path.stem for path in tmp_path.glob("*.png")} == {"phenomena", "correlation", "contrasts"}


def test_files_that_are_something_else_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="human_responses"):
        warstadt2020.from_raw(tmp_path)
    (tmp_path / "human_responses.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match="individual judgements"):
        warstadt2020.from_raw(tmp_path)
    header = ["AssignmentStatus"]
    header += [name.format(k) for k in range(1, 6) for name in ("Input.item_{}_condition", "Answer.Choice{}")]
    header += [f"Input.field_{k}_{side}" for k in range(1, 6) for side in (1, 2)]
    (tmp_path / "human_responses.csv").write_text(",".join(header) + "\n")
    for line, said in (
        ("{}", "KeyError"),
        ('{"UID":"a","ngram":0.5,"lstm":0.5,"txl":0.5,"gpt2":0.12345}', "a share of 1000 pairs"),
        ("[", "line 1, column 2: not valid JSON"),
        ('{"UID":"a","ngram":0.5,"lstm":0.5,"txl":0.5,"gpt2":0.1}\n' * 2, "a twice"),
        ('{"UID":"a","ngram":0.5,"lstm":0.5,"txl":0.5,"gpt2":NaN}', "line 1: NaN"),
        ('{"UID":"wh_island","ngram":0.5,"lstm":0.5,"txl":0.5,"gpt2":0.1}', "and 65 more paradigms; expected all 67"),
    ):
        (tmp_path / "models_summary.jsonl").write_text(line + "\n")
        with pytest.raises(InputError, match=said):
            warstadt2020.from_raw(tmp_path)
    with pytest.raises(InputError, match=r"human judgements: no data for .* and 66 more paradigms"):
        people_samples({})
    (tmp_path / "human_responses.csv").write_text(
        ",".join(["AssignmentId", *header]) + "\n" + 2 * ("A" + 21 * "," + "\n")
    )
    with pytest.raises(InputError, match="assignment A twice"):
        warstadt2020.from_raw(tmp_path)


@pytest.mark.slow
def test_one_model_on_two_sets_of_materials(tmp_path: Path) -> None:
    first = toy_run(tmp_path / "ours", agreement(PLAIN, "dog", "dog", "cat", "cat"), agreement(NOUN, "dog", "cat"))
    second = toy_run(
        tmp_path / "published", agreement(PLAIN, "dog", "dog", "dog", "cat"), agreement(NOUN, "dog", "cat")
    )
    made = warstadt2020.of_runs([first, second])["table_materials"]
    [plain] = rows(made, paradigm=PLAIN)
    # The same content in both runs is no comparison.
    assert rows(made, paradigm=NOUN) == []
    assert (plain["a"], plain["b"]) == ("toy:12-sentences (ours)", "toy:12-sentences (published)")
    assert [plain[key] for key in ("accuracy_a", "accuracy_b", "b_minus_a", "n", "people")] == [
        0.5,
        0.75,
        0.25,
        8,
        0.95,
    ]
    assert float(str(plain["low"])) < 0 < float(str(plain["high"]))
    [overall] = rows(made, category="all")
    assert (overall["paradigm"], overall["b_minus_a"]) == ("mean of 1", 0.25)
    assert "table_materials" not in warstadt2020.of_runs([first])
