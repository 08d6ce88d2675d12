"""Tables 1 and 2 of Marvin & Linzen 2018, by pencil and by the command."""

import csv
from pathlib import Path

import pytest
from models_for_tests import TEXT
from toy_runs import FULL, interrupt, toy_run
from training_for_tests import bracketed

from syntagm.cli import main
from syntagm.core import RunError
from syntagm.papers import cited
from syntagm.papers.marvin2018 import reproduce as marvin2018
from syntagm.runs import Run, open_run
from syntagm.suites import Item, Sentence, Suite
from syntagm.suites.formats import marvin2018 as names

Row = dict[str, object]


def pairs(name: str, *items: tuple[str, str, str]) -> Suite:
    """Nouns with the numbers of the tested dependency and of the other one.

    Of "barks" and "bark" the toy model has seen 2 and 0 after "dog", 0 and 1 after "cat", none after "bird". With one added
    to each, the margins are log2(3 / 1) = 1.585, log2(1 / 2) = -1 and log2(1 / 1) = 0 bits: right, wrong and a tie.
    """
    made = tuple(
        Item(
            f"{noun}/{index}",
            {"good": Sentence(f"The {noun} barks"), "bad": Sentence(f"The {noun} bark")},
            {"number": number, "attractor": attractor},
        )
        for index, (noun, number, attractor) in enumerate(items)
    )
    return Suite(name, made, (FULL,), names.tags(name))


def triples(name: str) -> Suite:
    """Bits of "barks" after "dog" are log2 3 fewer than those of "bark"; intrusive and ungrammatical are the same: a tie."""
    texts = ("The dog barks", "The dog bark", "The dog bark")
    item = Item("past/0", dict(zip(names.TRIPLE, map(Sentence, texts), strict=True)), {"tense": "past"})
    return Suite(name, (item,), names.PREDICTIONS[3], names.tags(name))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    dog, cat, bird = "dog", "cat", "bird"
    return toy_run(
        tmp_path_factory.mktemp("tables") / "run",
        pairs("prep_anim", (dog, "sing", "sing"), (cat, "sing", "plur")),
        pairs("prep_inanim", (dog, "sing", "sing"), (bird, "sing", "plur"), (dog, "plur", "sing")),
        pairs("obj_rel_across_anim", (dog, "sing", "plur"), (cat, "plur", "sing"), (dog, "plur", "sing")),
        pairs("obj_rel_within_anim", (dog, "sing", "plur"), (bird, "plur", "sing")),
        triples("simple_npi_anim"),
        triples("simple_npi_inanim"),
        pairs("my_own", (cat, "sing", "sing")),
    )


def rows(table: marvin2018.Table) -> list[Row]:
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def test_animate_and_inanimate_pairs_are_pooled(run: Run) -> None:
    row = rows(marvin2018.table1(run))[0]
    # dog right, cat wrong; dog right, bird a tie, dog right: 3 of 5, where the mean of the suites is (1/2 + 2/3) / 2 = 0.583.
    assert (row["construction"], row["comparison"]) == ("Across a prepositional phrase", "full_sentence")
    assert (row["accuracy"], row["n"], row["ties"], row["undefined"]) == (3 / 5, 5, 1, 0)
    assert (row["RNN"], row["Multitask"], row["n-gram"], row["Humans"]) == (0.57, 0.69, 0.50, 0.85)
    # One comparison of two sentences: either order is as likely.
    tables = (marvin2018.table1(run), marvin2018.table2(run))
    assert {one["chance"] for table in tables for one in rows(table)} == {1 / 2}
    assert row["suites"] == "prep_anim, prep_inanim"
    # 5 items with 3 right: redrawn means are multiples of 1/5 around 3/5.
    assert 0 <= float(str(row["low"])) < 3 / 5 < float(str(row["high"])) <= 1


def test_latex_has_columns_that_fit_on_a_page(run: Run) -> None:
    lines = marvin2018.table1(run).latex().splitlines()
    assert lines[lines.index(r"\toprule") + 1] == (
        r"construction & comparison & accuracy & 95\% interval & n & RNN & Multitask & n-gram & Humans \\"
    )
    assert "ties" not in marvin2018.table2(run).latex().split(r"\midrule")[0]


def test_what_is_no_construction_of_the_paper_is_left_out(run: Run) -> None:
    constructions = [row["construction"] for row in rows(marvin2018.table1(run))]
    assert list(dict.fromkeys(constructions)) == [
        "Across a prepositional phrase",
        "Across an object relative clause",
        "In an object relative clause",
        "NPI: simple",
    ]


def test_triples_have_three_rows_and_the_published_figures_where_they_probably_belong(run: Run) -> None:
    found = {row["comparison"]: row for row in rows(marvin2018.table1(run)) if row["construction"] == "NPI: simple"}
    assert {name: (row["accuracy"], row["ties"]) for name, row in found.items()} == {
        "grammatical_intrusive": (1.0, 0),
        "grammatical_ungrammatical": (1.0, 0),
        "intrusive_ungrammatical": (0.0, 2),
    }
    assert [found[name]["RNN"] for name in marvin2018.COMPARISONS] == [None, 0.40, None]
    assert [found[name]["Humans"] for name in marvin2018.COMPARISONS] == [0.98, None, None]


def test_numbers_that_pool_two_suites_are_not_beside_one_of_them(tmp_path: Path) -> None:
    table = marvin2018.table1(
        toy_run(tmp_path, pairs("prep_anim", ("dog", "sing", "sing")), triples("npi_across_inanim"))
    )
    assert {row[name] for row in rows(table) for name in ("RNN", "Multitask", "n-gram", "Humans")} == {None}
    assert any("not beside npi_across_inanim, prep_anim alone" in note for note in table.notes)


def test_words_of_other_items_have_figures_of_their_own(run: Run, tmp_path: Path) -> None:
    def drawn(*others: Run) -> list[str]:
        return [name for name in marvin2018.of_runs([run, *others]) if name.startswith("words_obj_rel_across_anim")]

    other = toy_run(tmp_path, pairs("obj_rel_across_anim", ("bird", "sing", "plur")))
    assert drawn(run) == ["words_obj_rel_across_anim"]
    assert drawn(other) == ["words_obj_rel_across_anim_1", "words_obj_rel_across_anim_2"]


def test_table_2_names_the_main_subject_first_in_both_suites(run: Run) -> None:
    found = {(row["suite"], row["main"], row["embedded"]): row for row in rows(marvin2018.table2(run))}
    assert {key: (row["accuracy"], row["n"], row["ties"]) for key, row in found.items()} == {
        ("obj_rel_across_anim", "sing", "plur"): (1.0, 1, 0),
        ("obj_rel_across_anim", "plur", "sing"): (0.5, 2, 0),
        # Tested is the embedded dependency: (sing, plur) is an embedded singular in a plural subject.
        ("obj_rel_within_anim", "plur", "sing"): (1.0, 1, 0),
        ("obj_rel_within_anim", "sing", "plur"): (0.0, 1, 1),
    }
    assert [found["obj_rel_within_anim", "plur", "sing"][name] for name in ("RNN", "Multitask", "Humans")] == [
        0.81,
        0.97,
        0.73,
    ]


def test_notes_say_what_the_numbers_rest_on(run: Run) -> None:
    notes = marvin2018.table1(run).notes
    assert notes[0].startswith("Signature: ")
    assert "|7 suites|full_sentence|" in notes[0]
    assert notes[1] == "Intervals: 95 %, Wilson; random: items; only 5 items. Ties count as wrong."


def test_runs_that_can_not_make_the_tables(tmp_path: Path) -> None:
    other = toy_run(tmp_path / "other", pairs("my_own", ("dog", "sing", "sing")))
    with pytest.raises(RunError, match="no suite with a construction of the paper"):
        marvin2018.table1(other)
    assert marvin2018.table2(other).rows == ()
    assert marvin2018.table2(other).notes[-2:] == (
        "obj_rel_across_anim was not run.",
        "obj_rel_within_anim was not run.",
    )
    item = Item("1", {"good": Sentence("The dog barks"), "bad": Sentence("The dog bark")})
    bare = toy_run(tmp_path / "bare", Suite("obj_rel_across_anim", (item,), (FULL,)))
    with pytest.raises(RunError, match="item 1: no tag `number` or no tag `attractor`"):
        marvin2018.table2(bare)


def test_the_cited_figures_are_whole() -> None:
    figures = cited("marvin2018")
    assert [line["construction"] for line in figures["table1"]] == [row for row, _ in names.CONSTRUCTIONS.values()]
    # The counts of sentences of Table 1: two a pair, three a triple.
    assert sum(line["sentences"] for line in figures["table1"]) == 2 * 152_300 + 3 * 10_824
    assert {(line["suite"], line["main"], line["embedded"]) for line in figures["table2"]} == {
        (f"obj_rel_{where}_anim", main, embedded)
        for where in ("across", "within")
        for main in ("sing", "plur")
        for embedded in ("sing", "plur")
    }
    numbers = [
        line[name]
        for table in ("table1", "table2")
        for line in figures[table]
        for name in figures["columns"]
        if name in line
    ]
    assert len(numbers) == 15 * 4 + 8 * 3
    assert all(0 < number <= 1 for number in numbers)


@pytest.mark.slow
@pytest.mark.parametrize("paper", ["marvin2018", "newman2021"])
def test_one_suite_of_the_command(paper: str, tmp_path: Path) -> None:
    line = ["reproduce", paper, "--model", "toy", "-n", "2", "--suite", "marvin2018/simple_agrmt", "-o", str(tmp_path)]
    assert main(line) == 0
    assert open_run(tmp_path / "run").done


@pytest.mark.slow
@pytest.mark.parametrize("model", ["toy", "random:?seed=3"])
def test_the_command(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    line = ["reproduce", "marvin2018", "--model", model, "-o", str(out), "-n", "4", "--no-cache"]
    assert main(line) == 0
    shown = capsys.readouterr()
    assert "| Simple | full_sentence |" in shown.out
    # 18 suites of 4 pairs and 4 of 4 triples.
    assert f"22 suites, {18 * 4 * 2 + 4 * 4 * 3} sentences" in shown.err
    with (out / "table1.csv").open() as file:
        table1 = list(csv.DictReader(file))
    # 13 rows of pairs and 2 times 3 comparisons of triples.
    assert len(table1) == 13 + 2 * 3
    assert {row["n"] for row in table1} == {"4", "8"}
    with (out / "table2.csv").open() as file:
        assert [row["n"] for row in csv.DictReader(file)] == ["1"] * 8
    assert (out / "table1.md").read_text() in shown.out
    assert "Items were sampled" in shown.out

    assert main(line) == 0
    again = capsys.readouterr()
    assert again.out == shown.out
    assert "192 of them already finished" in again.err

    assert main(["reproduce", "marvin2018", "--from-run", str(out / "run"), "-o", str(tmp_path / "second")]) == 0
    for name in [f"table{number}.{kind}" for number in (1, 2) for kind in ("csv", "md", "tex")]:
        assert (tmp_path / "second" / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.slow
def test_the_command_in_published_style_on_one_suite(tmp_path: Path) -> None:
    line = ["reproduce", "marvin2018", "--model", "toy", "-o", str(tmp_path), "-n", "4", "--style", "published"]
    assert main([*line, "--suite", "marvin2018/prep_anim"]) == 0
    run = open_run(tmp_path / "run")
    assert [suite.tags["style"] for suite in run.suites] == ["published"]
    assert not [text for text in run.sentences("prep_anim")["text"] if text != text.lower() or text.endswith(".")]


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ([], "reproduce marvin2018: none of these options; expected one of --model, --from-run"),
        (["--model", "toy", "--from-run", "x"], "--model and --from-run; expected one of --model, --from-run"),
        (["--from-raw", "x"], "--from-raw: marvin2018 has no published raw data that Syntagm can read"),
        (["--from-run", "x", "-n", "4"], "-n: given with --from-run"),
        (["--from-run", "x", "--suite", "y"], "--suite: given with --from-run"),
    ],
)
def test_one_way_is_asked_for(
    options: list[str], found: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["reproduce", "marvin2018", "-o", str(tmp_path / "out"), *options]) == 2
    assert found in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_choices_that_an_analysis_does_not_have(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["reproduce", "marvin2018", "--from-run", str(run.folder), "-o", str(tmp_path)]
    assert main([*line, "--set", "suites=31"]) == 2
    assert "--set: no option 'suites'; expected one of unigrams" in capsys.readouterr().err


@pytest.mark.slow
def test_several_runs_have_tables_of_their_own(run: Run, tmp_path: Path) -> None:
    line = ["reproduce", "marvin2018", "--from-run", str(run.folder), str(run.folder), "-o", str(tmp_path)]
    assert main(line) == 0
    assert (tmp_path / "table1_1.csv").read_bytes() == (tmp_path / "table1_2.csv").read_bytes()


@pytest.mark.slow
def test_an_unfinished_run_is_said(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "run"
    (copy / "shards").mkdir(parents=True)
    for file in ("run.json", "ledger.jsonl"):
        (copy / file).write_bytes((run.folder / file).read_bytes())
    for file in (run.folder / "shards").iterdir():
        (copy / "shards" / file.name).write_bytes(file.read_bytes())
    interrupt(copy)
    assert main(["reproduce", "marvin2018", "--from-run", str(copy), "-o", str(tmp_path / "out")]) == 1
    assert "The run is not finished" in capsys.readouterr().out


@pytest.mark.slow
def test_published_pickles_make_the_same_tables(shared: Path, tmp_path: Path) -> None:
    folder = shared / "data" / "marvin_linzen"
    line = ["reproduce", "marvin2018", "--model", "random:?seed=3", "-o", str(tmp_path), "-n", "8", "--allow-pickle"]
    assert main([*line, "--suite", str(folder), "--no-cache"]) == 0
    with (tmp_path / "table1.csv").open() as file:
        found = {(row["construction"], row["comparison"]): row["n"] for row in csv.DictReader(file)}
    assert found == {
        ("Simple", "full_sentence"): "8",
        ("In a sentential complement", "full_sentence"): "8",
        ("Short VP coordination", "full_sentence"): "8",
        ("Across a prepositional phrase", "full_sentence"): "8",
        ("Reflexive: simple", "full_sentence"): "8",
        **{("NPI: simple", comparison): "8" for comparison in marvin2018.COMPARISONS},
    }


@pytest.mark.slow
def test_one_task_is_compared_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    trees = tmp_path / "text.trees"
    trees.write_text(bracketed(TEXT * 8), encoding="utf-8")
    tiny = ("hidden=8", "embedding=8", "layers=1", "epochs=2", "batch=2")
    line = ["reproduce", "marvin2018", *(f"--{name}={trees}" for name in ("corpus", "valid", "test"))]
    line += [
        "-o",
        str(tmp_path / "out"),
        "--suite",
        "marvin2018/simple_agrmt",
        "marvin2018/simple_npi_anim",
        "--sizes",
        "xs=400",
        "--seeds",
        "1,2",
    ]
    line += ["--families", "lstm,multitask", "--set", f"multitask.tags={trees}"]
    line += [f"{family}.{value}" for family in ("lstm", "multitask") for value in tiny]
    assert main(line) == 0
    rows = list(csv.DictReader((tmp_path / "out" / "results.csv").read_text().splitlines()))
    assert [(row["family"], row["seed"]) for row in rows] == [(name, n) for name in ("lstm", "multitask") for n in "12"]
    assert [bool(row["tags_correct"]) for row in rows] == [False, False, True, True]
    found = list(csv.DictReader((tmp_path / "out" / "comparison.csv").read_text().splitlines()))
    assert [row["finding"] for row in found] == ["Simple", "NPI: simple", "Perplexity"]
    for name in ("Simple", "NPI: simple"):
        one, two = ([float(row[name]) for row in rows if row["family"] == family] for family in ("lstm", "multitask"))
        [row] = [row for row in found if row["finding"] == name]
        assert float(row["difference"]) == pytest.approx(sum(two) / 2 - sum(one) / 2)
        assert [float(value) for value in row["by_seed"].split(", ")] == pytest.approx(
            [b - a for a, b in zip(one, two, strict=True)], abs=5e-4
        )
    assert found[-1]["paper's finding"] in ("holds", "unclear", "does not hold")
    capsys.readouterr()
    assert main(line) == 0, "nothing is left to do"
    # Perplexities with other unknown words say nothing of the paper's finding.
    other = tmp_path / "other"
    line[line.index(str(tmp_path / "out"))] = str(other)
    assert main([*line, "lstm.threshold=1", "--seeds", "1", "--suite", "marvin2018/simple_agrmt"]) == 0
    *_, row = csv.DictReader((other / "comparison.csv").read_text().splitlines())
    assert (row["finding"], row["paper's finding"]) == ("Perplexity", "not comparable: other unknown words")
