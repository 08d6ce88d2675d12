"""The report on fill runs: its numbers are those of the run, what is left out is said, and texts stay texts."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from fill_for_tests import Drawn
from report_examples import Reader, saved
from toy_runs import agreement, interrupt, pairs, toy_run

from syntagm.cli import main
from syntagm.core import UsageError
from syntagm.models import load
from syntagm.report import report
from syntagm.report.gaps import evidence
from syntagm.runs import Run, fill, open_run
from syntagm.suites import Suite, WordList, WordRow
from syntagm.views import gaps

FORMS = [("is", "are"), ("barks", "bark"), ("sings", "sing"), ("naps", "nap")]
WORDS = WordList(
    "four", ("singular", "plural"), tuple(WordRow(two[1], two, {"band": str(k)}) for k, two in enumerate(FORMS))
)
VOCABULARY = [*(form for two in FORMS for form in two), *"abcdefghij"]
SIMPLE = pairs(
    "simple",
    ("The dog barks.", "The dog bark."),
    ("The dogs are here.", "The dogs is here."),
    ("It rains.", "They rain."),
    tags={"construction": "Agreement"},
)
OTHER = pairs("other", ("A bird sings.", "A bird sing."), tags={"construction": "Agreement"})
TOY = WordList(
    "three", ("singular", "plural"), tuple(WordRow(one, (f"{one}s", one)) for one in ("bark", "sleep", "hum"))
)


def filled(folder: Path, *suites: Suite, seed: str = "", **options: object) -> Run:
    model = Drawn([*VOCABULARY, *seed])
    return fill(model, suites or (SIMPLE, OTHER), WORDS, folder, **options)  # type: ignore[arg-type]


def text(path: Path) -> str:
    return " ".join(Reader(path.read_text("utf-8")).text.split())


def of_csv(path: Path) -> dict[str, list[dict[str, str]]]:
    return saved(Reader(path.read_text("utf-8")))


@pytest.mark.slow
def test_the_numbers_of_a_run_by_pencil(tmp_path: Path) -> None:
    # As in the tests of the command: of two known rows one is right and one a tie, 1/2; of the mass 4 of 6.
    sentences = ("The dog barks.", "The dog bark."), ("The dogs bark.", "The dogs barks."), ("It rains.", "They rain.")
    run = fill(load("toy"), [pairs("agreement", *sentences)], TOY, tmp_path / "run")
    shown = text(report([run], tmp_path / "page.html"))
    found = {estimate.group.measure: estimate for estimate in gaps.estimates(run)}
    for measure, value in (("equal_weight", "0.500"), ("model_weight", "0.667")):
        assert f"{value} [{found[measure].low:.3f}, {found[measure].high:.3f}]n=2" in shown
    assert "1 × more than one word differs" in shown
    assert (
        "The items have 2 gaps, in 2 distinct contexts. 1 item without a context: more than one word differs." in shown
    )
    assert "Of 2 lemmas scored here, 1 never wins and 1 always wins." in shown
    assert "sleeps / sleep0 of 10 of 10.500" in shown
    assert "barks / bark1 of 11 of 10.750" in shown  # (3 + 3) / (3 + 1 + 3 + 1)
    assert "The dog ____.singular0.5000.667" in shown
    assert str(run.signature("agreement", "equal_weight")) in shown
    assert "2of 3" in shown  # rows


@pytest.mark.slow
def test_every_estimate_is_in_the_csv(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", top=[0.9], bottom=[0.1])
    page = report([run], tmp_path / "page.html")
    rows = {(row["of"], row["name"], row["measure"]): row for row in of_csv(page)["scores.csv"]}
    found = [("suite", one.group.suite, one) for one in gaps.estimates(run)]
    found += [("construction", one.group["construction"], one) for one in gaps.pooled(run)]
    assert len(rows) == len(found)
    for kind, name, one in found:
        row = rows[kind, name, one.group.measure]
        assert int(row["n"]) == one.n
        assert np.array_equal(float(row["value"]), one.value, equal_nan=True)
    assert {row["measure"] for row in rows.values()} >= {"equal_weight(top=0.9)", "invalid(bottom=0.1)", "tse"}
    assert len(of_csv(page)["01-simple-lemmas.csv"]) == 2 * 4  # two labels, four lemmas
    assert [row["left"] for row in of_csv(page)["02-other-contexts.csv"]] == ["A bird "]


@pytest.mark.slow
def test_cut_offs_bands_and_constructions_are_there_where_the_run_has_them(tmp_path: Path) -> None:
    page = report([filled(tmp_path / "cut", top=[0.9])], tmp_path / "cut.html")
    shown = text(page)
    for expected in ("Equal weight (EW) at cut-offs", "By frequency", "By construction", "top 0.9"):
        assert expected in shown
    assert {"cut_offs_equal_weight.csv", "cut_offs_model_weight.csv", "frequency_bands.csv"} <= of_csv(page).keys()
    plain = WordList("plain", WORDS.labels, tuple(replace(row, tags={}) for row in WORDS.rows))
    run = fill(Drawn(VOCABULARY), [OTHER], plain, tmp_path / "plain")
    page = report([run], tmp_path / "plain.html")
    for absent in ("at cut-offs only", "By frequency", "By construction"):
        assert absent not in text(page)


@pytest.mark.slow
def test_what_the_page_says_of_gaps_and_forms_is_true_of_its_runs(tmp_path: Path) -> None:
    words = WordList("more", WORDS.labels, (*WORDS.rows, WordRow("thunder", ("a_b", "a_c"), {"band": "1"})))
    model = Drawn(VOCABULARY)
    every, single = (
        fill(model, [SIMPLE], words, tmp_path / name, top=[0.9], eligible=name)  # type: ignore[arg-type]
        for name in ("all", "single-token")
    )
    differ = "differ from those of the overview"
    assert f"single tokens, so the numbers {differ}" in text(report([every], tmp_path / "a.html"))
    assert "only rows count whose forms are single tokens." in text(report([single], tmp_path / "s.html"))
    # Without a row of several tokens, `all` doesn't include any.
    none = text(report([filled(tmp_path / "none")], tmp_path / "n.html"))
    assert "drawn:18: all rows that the model can score. Every form" in none
    both = text(report([every, single], tmp_path / "b.html"))
    assert f"so the numbers of drawn:18 (all) {differ}" in both
    assert "forms of several tokens included for drawn:18 (all)." in both
    assert "drawn:18 (all): all rows that the model can score, including words of several tokens;" in both
    suite = pairs("shared", ("The dog barks a.", "The dogs barks a."))
    shown = text(report([fill(model, [suite], WORDS, tmp_path / "shared", shared=True)], tmp_path / "shared.html"))
    assert "With --blank shared, a gap is the word of the list that the two sentences of an item share" in shown
    assert "Where the two sentences of an item share a word of the list" in shown
    assert "differ in one word" not in shown


@pytest.mark.slow
def test_bands_on_the_page_have_the_numbers_of_the_figure(tmp_path: Path) -> None:
    page = report([filled(tmp_path / "run")], tmp_path / "page.html")
    rows = [row for row in of_csv(page)["frequency_bands.csv"] if row["label"].startswith("all")]
    assert [row["band"] for row in rows] == ["0", "1", "2", "3"]
    for row in rows:
        assert f"{row['band']}{float(row['value']):.3f} no intervaln=1" in text(page)


@pytest.mark.slow
def test_what_makes_runs_incomparable_is_said(tmp_path: Path) -> None:
    one, same = filled(tmp_path / "one"), filled(tmp_path / "same", seed="k")
    other = filled(tmp_path / "other", eligible="single-token")
    assert "Not comparable" not in text(report([one, same], tmp_path / "a.html"))
    shown = text(report([one, other], tmp_path / "b.html"))
    assert "Not comparable" in shown
    assert "drawn:18 (one): all rows that the model can score" in shown
    assert "drawn:18 (other): rows of which every form is a single token" in shown


def test_runs_of_both_kinds_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    score, blanks = toy_run(tmp_path / "score", agreement()), filled(tmp_path / "blanks")
    with pytest.raises(UsageError, match="write a separate page for each kind"):
        report([score, blanks], tmp_path / "page.html")
    assert main(["report", str(score.folder), str(blanks.folder), "-o", str(tmp_path / "page.html")]) == 2
    assert "a run of `syntagm fill`" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


@pytest.mark.slow
def test_an_unfinished_run_says_how_much_is_missing(tmp_path: Path) -> None:
    run = filled(tmp_path)
    assert run.done
    assert len((tmp_path / "ledger.jsonl").read_text().splitlines()) == 2
    interrupt(tmp_path, 1)  # the second shard is that of `other`, one item
    assert main(["report", str(tmp_path)]) == 1
    shown = text(tmp_path / "report.html")
    assert "1 of the items that make a context are not judged" in shown
    assert "no context" in shown


def test_a_suite_without_contexts_stands_in_the_report(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", SIMPLE, pairs("nothing", ("It rains.", "They rain.")))
    shown = text(report([run], tmp_path / "page.html"))
    cells = "no context" * 4
    assert f"nothingundefined no intervaln=0{cells}0of 41" in shown


def test_the_command_writes_the_page_unless_told_not_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "list.csv").write_text("lemma,form:singular,form:plural\nbark,barks,bark\n")
    (tmp_path / "agreement.tsv").write_text("id\tgood\tbad\n1\tThe dog barks.\tThe dog bark.\n")
    line = ["fill", "toy", "--suite", str(tmp_path / "agreement.tsv"), "--words", str(tmp_path / "list.csv"), "-o"]
    assert main([*line, str(tmp_path / "a")]) == 0
    assert f"report: {tmp_path / 'a' / 'report.html'}" in capsys.readouterr().out
    assert "Words in gaps" in (tmp_path / "a" / "report.html").read_text("utf-8")
    assert main([*line, str(tmp_path / "b"), "--no-report"]) == 0
    assert not (tmp_path / "b" / "report.html").exists()
    assert main(["report", str(tmp_path / "a"), "--figures", str(tmp_path / "figures"), "--format", "svg"]) == 0
    assert list((tmp_path / "figures").iterdir()) == []  # neither cut-offs nor bands
    assert open_run(tmp_path / "b").done


@pytest.mark.slow
def test_figures_as_files(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", top=[0.9])
    assert main(["report", str(run.folder), "--figures", str(tmp_path / "figures"), "--format", "svg"]) == 0
    names = {path.stem for path in (tmp_path / "figures").iterdir()}
    measures = ("equal_weight", "model_weight", "covered", "invalid")
    assert names == {"frequency_bands", *(f"cut_offs_{measure}" for measure in measures)}


@pytest.mark.slow
def test_a_page_that_is_too_large_leaves_out_and_then_refuses(tmp_path: Path) -> None:
    run = filled(tmp_path / "run", top=[0.9])
    whole = report([run], tmp_path / "page.html")
    size = whole.stat().st_size
    assert "01-simple-lemmas.csv" in of_csv(whole)
    report([run], whole, ceiling=size - 1)
    assert whole.stat().st_size < size
    with pytest.raises(UsageError, match="at most 1,000"):
        report([run], whole, ceiling=1000)


def test_hardest_and_easiest_lemmas(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = filled(tmp_path)
    # Lemma 0 wins 1/2 and 0/1, so 1/4; 1 and 2 never; 3 always. Of 1 and 2 the second has more probability.
    singular = ((1.0, 0.1), (0.0, 0.1), (0.0, 0.2), (2.0, 0.3))
    sums = [("s", "singular", row, "", 2, won, right, 0.1) for row, (won, right) in enumerate(singular)]
    sums += [("s", "plural", row, "", 1, won, 0.1, 0.1) for row, won in enumerate((0.0, 0.0, 0.0, 1.0))]
    columns = ("suite", "label", "row", "lemma", "contexts", "won", "right", "wrong")
    table = pl.DataFrame(sums, schema=columns, orient="row")
    monkeypatch.setattr(gaps, "lemma_sums", lambda run, suite=None: table)
    found = evidence.example_lemmas(run, "s", most=1)
    assert [one.forms for one in found.hardest] == [("sings", "sing")]
    assert [one.forms for one in found.easiest] == [("naps", "nap")]
    assert (found.never, found.always, found.total) == (2, 1, 4)
    assert found.hardest[0].won == {"singular": (0.0, 2), "plural": (0.0, 1)}
    assert found.hardest[0].right == pytest.approx((0.2 + 0.1) / (0.2 + 0.1 + 0.1 + 0.1))
    every = evidence.example_lemmas(run, "s", most=2)
    assert [one.forms[1] for one in every.hardest] == ["sing", "bark", "are", "nap"]
    assert every.easiest == ()


def test_contexts_are_the_extremes_and_a_sample(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = filled(tmp_path)
    table = pl.DataFrame({"equal_weight": [0.5, 0.1, np.nan, 0.9, 0.4], "model_weight": [0.5] * 5})
    monkeypatch.setattr(gaps, "contexts", lambda run, suite=None: table)
    found = evidence.example_contexts(run, "s", most=1)
    assert [(one["equal_weight"], one["why"]) for one in found[:2]] == [(0.1, "lowest"), (0.9, "highest")]
    assert [one["why"] for one in found[2:]] == ["sampled"]
    assert [one["why"] for one in evidence.example_contexts(run, "s", most=2)] == [""] * 5


def test_the_most_probable_entries_of_the_contexts_that_are_shown(tmp_path: Path) -> None:
    suites = [pairs("agreement", ("The dog barks.", "The dog bark."), ("The dogs barks.", "The dogs bark."))]
    run = fill(load("toy"), suites, TOY, tmp_path / "run", most_probable=3)
    shown = text(report([run], tmp_path / "page.html"))
    assert "The 3 most probable vocabulary entries in these gaps" in shown
    # After `dog`: (2 + 1) / (5 + 24) and twice (1 + 1) / 29; after `dogs`: bark has (2 + 1) / (3 + 24), the next two 2 / 27.
    assert "The dog ____.singularbarks 0.103 correct, ever 0.069, near 0.069" in shown
    assert "The dogs ____.singularbark 0.111 wrong" in shown
    assert "most probable" not in text(report([fill(load("toy"), suites, TOY, None)], tmp_path / "other.html"))
