"""What tables, exports, comparisons and pages say of runs that are judged by another convention than the sum of bits."""

import csv
import io
import json
import threading
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest
from toy_runs import agreement, pairs

import syntagm as sg
from syntagm.cli import main
from syntagm.cli.reproduce import with_conventions
from syntagm.core import RunError, UsageError
from syntagm.evaluation import Kind
from syntagm.report import Filed, Predictions, Site, methods, shell
from syntagm.runs import Rejudged, Run, judged, judging, run_suites
from syntagm.runs.evaluate import evaluate
from syntagm.suites import SCORED, Suite
from syntagm.views import compare, ties_of_pairs

TEXTS = (
    ("The dog barks", "The dog bark"),
    ("The dogs near the cat bark", "The dogs bark"),
    ("a b", "a b"),
    ("The cat sleeps", "The bird sleeps"),
)
HITS, HALF = "mean_token+ties_as_hits", "bits+ties_as_half"


def run_of(convention: str = "bits", suite: Suite | None = None) -> Run:
    return evaluate(sg.load_model("toy"), [suite or pairs("one", *TEXTS)], convention=convention)


def in_folder(tmp_path: Path, convention: str) -> str:
    folder = tmp_path / convention
    run_suites(sg.load_model("toy"), [pairs("one", *TEXTS)], folder, convention=convention)
    return str(folder)


def test_a_signature_names_no_convention_where_only_regions_are_compared() -> None:
    """Predictions about regions are judged in bits, so their signature is that of a run by bits."""
    suite = agreement()
    verb, whole = suite.predictions
    by_bits, asked = run_of("bits", suite), run_of("mean_token", suite)
    for run in (asked, Rejudged(by_bits, "mean_token")):
        assert run.signature("agreement", verb.name) == by_bits.signature("agreement", verb.name)
        assert "convention:mean_token" in run.signature("agreement", whole.name).asked
        # A rule names it if it is about a prediction that the convention judges.
        assert run.signature("agreement", "first").asked == by_bits.signature("agreement", "first").asked
        assert "convention:mean_token" in run.signature("agreement", "all").asked
    assert asked.results().filter(measure=verb.name).equals(by_bits.results().filter(measure=verb.name))
    turned = replace(suite, name="turned", predictions=(whole, verb))
    several = evaluate(sg.load_model("toy"), [suite, turned], convention="mean_token")
    assert "convention:mean_token" not in several.signature("agreement", "first").asked
    assert "convention:mean_token" in judging.signature_over(several, ["agreement", "turned"], "first").asked
    assert judging.signature_over(several, ["agreement"], "first") == several.signature("agreement", "first")


def test_a_tie_may_be_half_a_hit() -> None:
    """Hits and failures as by bits (1, 0, 1), and a tie of 0.5: (1 + 0 + 0.5 + 1) / 4 = 0.625."""
    by_bits = run_of()
    for run in (run_of(HALF), Rejudged(by_bits, HALF)):
        assert run.results()["value"].to_list() == [1, 0, 0.5, 1]
        assert run.kind("full_sentence") is Kind.SHARE
        table = sg.table("scores", run)
        assert table.rows[0][3] == 0.625
        assert "Ties count as half a hit" in " ".join(table.notes)
    names = ("bits", HALF, "bits+ties_as_hits")
    assert [row[4] for row in sg.table("conventions", by_bits, convention=names).rows] == [0.5, 0.625, 0.75]
    tied = ties_of_pairs(Rejudged(by_bits, HALF))
    assert tied
    assert (tied.ties, tied.tie, tied.score, tied.otherwise) == (1, 0.5, 0.625, 0.75)
    other = evaluate(sg.load_model("random"), [pairs("one", *TEXTS)], convention=HALF)
    row, _ = sg.table("comparison", [run_of(HALF), other]).rows
    assert row[10] == other.results()["value"].mean() - 0.625
    with pytest.raises(RunError, match=r"values of one kind in all runs\. .*--convention judges all by one"):
        sg.table("comparison", [run_of(HALF), by_bits])
    with pytest.raises(UsageError, match="one treatment of ties"):
        run_of("bits+ties_as_hits+ties_as_half")


def test_tables_and_figures_say_by_which_convention_they_are() -> None:
    asked, by_bits = run_of(HITS), run_of()
    for run in (asked, Rejudged(by_bits, HITS)):
        table = sg.table("scores", run)
        assert (
            f"Convention: {HITS} (surprisal per token; a tie is a hit), instead of the sum of bits" in table.notes[-1]
        )
        assert any("Ties count as hits" in note for note in table.notes)
        assert "Convention: mean_token+ties_as_hits" in str(sg.figure("scores", run).spec["title"]["subtitle"])
    notes = sg.table("scores", by_bits).notes
    assert not any("onvention" in note for note in notes)
    assert any("Ties count as failures" in note for note in notes)
    # Effects are differences of bits, whatever the convention; the table of conventions names its own.
    for name in ("effects", "conventions"):
        assert not any(note.startswith("Convention:") for note in sg.table(name, asked).notes)


def test_ties_of_predictions_about_regions_are_failures_under_each_convention() -> None:
    """No convention applies to them, so a note that their ties were hits would be wrong."""
    run = run_of(HITS, agreement())
    verb, whole = (prediction.name for prediction in agreement().predictions)
    assert (judging.ties_of([run], verb), judging.ties_of([run], whole)) == ("failures", "hits")
    assert judging.ties_of([run]) == judging.ties_of([run], "all") == "hits or as failures, as the convention says"
    for name in ("items", "scores"):
        assert any("ies count as failures" in note for note in sg.table(name, run).notes)
    assert any("hits or as failures" in note for note in sg.table("scores", run, measure="each").notes)


def test_several_conventions_side_by_side_are_warned_of() -> None:
    asked, by_bits = run_of(HITS), run_of()
    for name in ("scores", "comparison", "power"):
        options = {"items": "4"} if name == "power" else {}
        [warning] = sg.table(name, [by_bits, asked], None, **options).warnings
        assert warning.startswith("DIFFERENT CONVENTIONS: ")
        assert f"by bits; {asked.name} (toy:12-sentences) #2 by {HITS}." in warning
    pairing = compare(by_bits, asked)
    assert pairing.warnings[0].startswith("DIFFERENT CONVENTIONS")
    assert (pairing.unit, pairing.overall.margin) == ("", None)
    same = compare(asked, asked)
    assert same.unit == HITS
    assert same.overall.margin
    assert not [warning for warning in same.warnings if "unknown" not in warning]
    assert compare(by_bits, by_bits).unit == "bits"


def test_the_conventions_of_authors_are_named_with_their_suites() -> None:
    sling, blimp = (
        replace(pairs(name, *TEXTS), tags={SCORED: scored}) for name, scored in (("s", "mean_token"), ("b", "bits"))
    )
    run = evaluate(sg.load_model("toy"), [sling, blimp], convention="published")
    assert judging.by_suite(run) == {"s": "mean_token", "b": "bits"}
    assert judging.convention_of(run) == "published (mean_token: suite s; bits: suite b)"
    assert judging.ties_of([run]) == "failures"
    assert judging.convention_of(evaluate(sg.load_model("toy"), [blimp], convention="published")) == "bits"


def test_a_run_in_a_folder_is_judged_by_the_convention(tmp_path: Path) -> None:
    """The file of all results has the verdicts by bits; those of another convention are never read from it."""
    by_bits, in_memory = sg.open_run(in_folder(tmp_path, "bits")), run_of()
    judged = Rejudged(by_bits, HITS)
    assert judged.results().equals(Rejudged(in_memory, HITS).results(), null_equal=True)
    assert judged.results().equals(run_of(HITS).results(), null_equal=True)
    assert not judged.results().equals(by_bits.results(), null_equal=True)
    scores = [sg.table("scores", run).to_frame()["score"].to_list() for run in (judged, run_of(HITS))]
    assert scores[0] == scores[1]


def test_bits_are_those_of_the_aggregate_of_a_suite() -> None:
    """A run judged by bits again, as on a page under /under/bits/, has the verdicts that it has without."""
    suite = replace(pairs("one", *TEXTS), aggregate="mean")
    by_bits = run_of(suite=suite)
    expected = by_bits.results().with_columns(pl.when(pl.col("margin").abs() > 1e-4).then("margin").otherwise(0.0))
    for run in (by_bits, run_of("mean_byte", suite)):
        found = Rejudged(run, "bits").results()
        assert found["value"].equals(expected["value"])
        assert found["margin"].to_numpy() == pytest.approx(expected["margin"].to_numpy())
    assert expected["margin"].to_numpy() != pytest.approx(run_of().results()["margin"].to_numpy())


@pytest.mark.slow
def test_people_and_gaps_have_no_convention() -> None:
    fill = sg.fill(sg.load_model("toy"), [agreement()], "verbs", limit=2)
    assert judging.different([fill, run_of(HITS)]) == ""


def test_compare_says_what_margins_are_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_bits, asked = (in_folder(tmp_path, name) for name in ("bits", "mean_token"))
    assert main(["compare", asked, asked]) == 0
    out = capsys.readouterr().out
    assert "margin, B - A: 0.000 no interval (mean_token)" in out
    assert main(["compare", by_bits, asked, "--json"]) == 0
    shown = capsys.readouterr()
    assert "DIFFERENT CONVENTIONS" in shown.err
    content = json.loads(shown.out)
    assert (content["margin_unit"], content["overall"]["margin"]) == (None, None)
    assert main(["compare", by_bits, asked]) == 0
    assert "margin, B - A: not compared" in capsys.readouterr().out
    assert main(["power", by_bits, asked, "items=4"]) == 0
    assert "DIFFERENT CONVENTIONS" in capsys.readouterr().out


def test_compare_and_power_judge_runs_by_another_convention(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_bits, asked = (in_folder(tmp_path, name) for name in ("bits", HITS))
    for line in (["compare", "--json"], ["power", "items=4"]):
        assert main([line[0], asked, asked, *line[1:]]) == 0
        expected = capsys.readouterr().out
        assert main([line[0], by_bits, by_bits, *line[1:]]) == 0
        assert capsys.readouterr().out != expected
        assert main([line[0], by_bits, by_bits, *line[1:], "--convention", HITS]) == 0
        found = capsys.readouterr().out
        # Two runs of one model are told apart by their folders.
        assert found.replace(by_bits, asked).replace("(bits)", f"({HITS})") == expected
    assert main(["compare", by_bits, by_bits, "--explain", "--convention", HITS]) == 2
    assert "with --explain" in capsys.readouterr().err
    assert main(["power", "--people", "pilot.csv", "--convention", HITS]) == 2
    assert "with --people" in capsys.readouterr().err


def test_one_thread_does_not_say_what_another_read() -> None:
    run = run_of()
    with judged() as read, judged() as inner:
        reader = threading.Thread(target=run.results)
        reader.start()
        reader.join()
        assert read == []
        run.tally("first")
        run.results()
        assert read == inner == [run]
    with judged() as read:
        run.title  # noqa: B018
    assert read == []


def test_exports_say_by_which_convention_they_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = in_folder(tmp_path, "mean_token")
    assert main(["export", asked, "--as", "results", "-o", "-"]) == 0
    shown = capsys.readouterr()
    assert "Convention: mean_token" in shown.err
    assert "onvention" not in shown.out
    assert main(["export", asked, "--as", "scores", "-o", "-"]) == 0
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert all("|convention:mean_token|" in row["signature"] for row in rows)
    # Tokens are the same under every convention.
    assert main(["export", asked, "--as", "tokens", "-o", str(tmp_path / "tokens.csv")]) == 0
    assert "onvention" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("convention", "metric", "note"),
    [
        ("bits", "acc", "acc is the verdict of syntagm: a tie is not correct"),
        ("mean_byte", "acc_bytes", "acc_bytes is the verdict of syntagm: a tie is not correct"),
        ("mean_character+ties_as_hits", "acc_norm", "acc_norm is the verdict of syntagm: a tie is correct"),
    ],
)
def test_lm_eval_has_names_for_some_conventions(tmp_path: Path, convention: str, metric: str, note: str) -> None:
    folder, file = in_folder(tmp_path, convention), tmp_path / "out" / "results.json"
    file.parent.mkdir()
    assert main(["export", folder, "--as", "lm-eval", "-o", str(file)]) == 0
    content = json.loads(file.read_text())
    accuracy = sg.open_run(folder).results()["value"].mean()
    assert content["results"]["one"][f"{metric},none"] == pytest.approx(accuracy)
    assert content["config"]["note"].startswith(note)
    assert {key for key in content["results"]["one"] if key.startswith("acc")} == {
        f"{metric},none",
        f"{metric}_stderr,none",
    }
    [samples] = file.parent.glob("samples_*.jsonl")
    assert all(metric in json.loads(line) for line in samples.read_text().splitlines())


def test_lm_eval_has_no_name_for_others(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", in_folder(tmp_path, "mean_token"), "--as", "lm-eval", "-o", str(tmp_path / "x.json")]) == 2
    assert "judged by mean_token, which is no metric of lm-eval" in capsys.readouterr().err


def test_the_methods_paragraph_says_what_was_compared() -> None:
    text = " ".join(methods.paragraphs([run_of(HITS)]))
    assert f"the convention was `{HITS}` (surprisal per token; a tie is a hit) instead of the sum of bits" in text
    assert "ties and count as hits" in text
    plain = " ".join(methods.paragraphs([run_of()]))
    assert "onvention" not in plain
    assert "ties and count as failures" in plain


def test_tables_of_a_paper_say_by_which_convention_they_are() -> None:
    made = {"table": sg.Table("t", ("a",), ((1,),)), "figure": sg.figure("scores", run_of())}
    said = dict(with_conventions(made, [run_of(HITS)]))
    assert said["table"].notes[-1].startswith(f"Convention: {HITS}")
    assert "Convention" in str(said["figure"].spec["title"])
    by_bits = dict(with_conventions(iter(made.items()), [run_of()]))["table"]
    assert [note.partition(":")[2][:22] for note in by_bits.notes] == ["12-sentences: 5 of 25 "]


def test_pages_say_by_which_convention_they_are() -> None:
    def shown(runs: list[Run], *place: str) -> str:
        site = Site(runs)
        page = site.page(place, Filed({}, "index"))
        return " ".join(str(alert.content) for alert in page.alerts())

    for place in ((), ("suite", "one"), ("suite", "one", "one-0")):
        assert "Convention: mean_token+ties_as_hits" in shown([run_of(HITS)], *place)
        assert "DIFFERENT CONVENTIONS" in shown([run_of(HITS), run_of()], *place)
        assert "onvention" not in shown([run_of()], *place)
    alerts = shown([run_of(HITS)])
    assert "(within 0.0001 bits)" in alerts
    assert "ties count as hits" in alerts


def test_the_items_of_a_report_say_what_their_margins_are_in() -> None:
    """The script of the page reads it, and says of ties what they count as."""
    for convention, units in (("bits", None), (HITS, {"full_sentence": [HITS]})):
        [suite] = Predictions([run_of(convention)]).suites
        data = json.loads(suite.data_of(4))
        assert data.get("units") == units
    assert "suite.units?.[measure]?.[column]" in shell.SCRIPT


def treated(label: str, tolerance: float = 1e-4, **settings: str) -> Run:
    """A run of the toy whose record says that the model had other settings. The family `causal` has words for them."""
    made = sg.evaluate(
        sg.load_model("toy"), [pairs("p", ("The dog barks.", "Those dog barks."), ("It barks.", "It bark."))]
    )
    made.record["options"]["tolerance"] = tolerance
    model = made.record["model"] | {
        "name": f"causal:{label}",
        "label": label,
        "start": "<s>" if settings["bos"] == "yes" else None,
    }
    return Run(None, made.record | {"model": model | {"policies": settings}}, made._ledger, made._in_memory)


def test_what_differs_in_signatures_is_said_in_words() -> None:
    plain = treated("a", bos="yes", eos="no", dtype="f32", boundary="token", fill="word")
    same = treated("b", bos="yes", eos="no", dtype="f32", boundary="token", fill="token")
    half = treated("c", 0.2, bos="yes", eos="no", dtype="bf16", boundary="word", fill="word")
    bare = treated("d", bos="no", eos="no")
    # `fill` is about gaps alone, and what a family doesn't have is no difference.
    assert judging.treatment([plain, same]) == judging.treatment([plain]) == ""
    assert judging.treatment([plain, bare]) == (
        "DIFFERENT TREATMENT. start symbol: before each text (a); none, so that the first token has no bits (d). Numbers may "
        "differ for this reason alone."
    )
    said = judging.treatment([plain, same, half, bare])
    assert "dtype: 32-bit floats (a, b); bfloat16 (c). " in said
    assert "correction for the ends of words: none (a, b); made (c). " in said
    assert "bits within which there is a tie: 0.0001 (a, b, d); 0.2 (c). " in said
    older = treated("e", bos="yes", eos="no")
    older.record["versions"]["syntagm"] = "0.0.9"
    assert f"version of Syntagm: {sg.__version__} (a); 0.0.9 (e). " in judging.treatment([plain, older])
    # Of many values, such as the measured errors of checkpoints in half precision, five are named.
    many = [treated(f"m{number}", number / 10, bos="yes") for number in range(1, 8)]
    assert judging.treatment(many).endswith("0.4 (m4); 0.5 (m5); and 2 more. Numbers may differ for this reason alone.")
    # Comparisons, tables of several models and reports say it.
    expected = judging.treatment([plain, bare])
    assert sg.compare(plain, bare).warnings[0] == expected
    assert expected in sg.table("comparison", [plain, bare]).warnings
    assert expected in sg.table("scores", [plain, bare]).warnings
    assert expected in [str(alert.content) for alert in Predictions([plain, bare]).alerts()]
    assert not sg.table("comparison", [plain, same]).warnings


def test_a_first_token_that_is_lost_is_said() -> None:
    """Of two items, the sentences of one differ in the first word: The, Those."""
    lost, kept = treated("a", bos="no"), treated("b", bos="yes")
    assert list(judging.unscored([lost, kept])) == [
        "a: in 1 of 2 items, sentences differ in the first token, whose bits are not compared, since nothing precedes the "
        "first token of a text (bos=no)"
    ]
