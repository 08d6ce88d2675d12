"""What people do from Python: everything in memory, nothing on disk."""

import importlib.util
import math
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from models_for_tests import byte_level, transformer
from polars.testing import assert_frame_equal

import syntagm as sg

ATTACK = "<script>document.title='pwned'</script>"
TITLES = ("scores", "comparison")


@pytest.fixture(scope="module")
def suites() -> list[sg.Suite]:
    return sg.read_suites("hu2020/mvrr", "hu2020/number_prep")


@pytest.fixture(scope="module")
def run(suites: list[sg.Suite]) -> sg.Run:
    return sg.evaluate(sg.load_model("toy"), suites)


@pytest.mark.slow
def test_a_run_in_memory_is_that_of_a_folder(
    suites: list[sg.Suite], run: sg.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = sg.run_suites(sg.load_model("toy"), suites, tmp_path / "run")
    assert run.done
    assert run.folder is None
    assert_frame_equal(run.results(), other.results())
    for suite in ("mvrr", "number_prep"):
        assert_frame_equal(run.sentences(suite), other.sentences(suite))
        assert_frame_equal(run.tokens(suite), other.tokens(suite))
        assert_frame_equal(run.regions(suite), other.regions(suite))
        assert str(run.signature(suite, "paper")) == str(other.signature(suite, "paper"))
    assert [str(one) for one in sg.estimate(run)] == [str(one) for one in sg.estimate(other)]
    changing = ("started", "finished", "files")
    assert {k: v for k, v in run.record.items() if k not in changing} == {
        k: v for k, v in other.record.items() if k not in changing
    }


def test_nothing_is_written(suites: list[sg.Suite], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made = sg.evaluate(sg.load_model("toy"), suites[:1], measures=["surprisal(condition=reduced_ambig)"], limit=4)
    assert made.results()["measure"].unique().to_list() == ["surprisal(condition=reduced_ambig,region=*)"]
    assert list(tmp_path.iterdir()) == []


def test_a_limit_draws_the_same_items_and_says_so(suites: list[sg.Suite], run: sg.Run) -> None:
    toy = sg.load_model("toy")
    few = sg.evaluate(toy, suites, limit=7, seed=3)
    again = sg.evaluate(toy, iter(suites), limit=7, seed=3)
    items = few.results("mvrr")["item"].to_list()
    assert items == again.results("mvrr")["item"].to_list()
    assert items != sg.evaluate(toy, suites, limit=7, seed=4).results("mvrr")["item"].to_list()
    assert few.suites[0].tags["sample"] == f"7 of {run.suites[0].items} items, seed 3"
    assert few.suites[0].hash != run.suites[0].hash
    assert "sample" not in sg.evaluate(toy, suites, limit=10**6).suites[0].tags
    whole = run.results("mvrr")
    assert_frame_equal(whole.filter(pl.col("item").is_in(items)), few.results("mvrr"))
    with pytest.raises(sg.UsageError, match="limit: 0"):
        sg.evaluate(toy, suites, limit=0)


@pytest.mark.slow
def test_suites_and_runs_may_be_named(suites: list[sg.Suite], run: sg.Run, tmp_path: Path) -> None:
    toy, names = sg.load_model("toy"), ["hu2020/mvrr", "hu2020/number_prep"]
    sg.write_suites(suites[0], file := tmp_path / "mvrr.csv")
    for given in (suites, tuple(suites), iter(suites), names, [suites[0], names[1]]):
        assert_frame_equal(sg.evaluate(toy, given).results(), run.results())
    one = sg.evaluate(toy, suites[:1]).results()
    for given in (suites[0], names[0], file, str(file)):
        results = sg.evaluate(toy, given).results()
        assert results["value"].to_list() == one["value"].to_list()
    saved = sg.run_suites(toy, names[0], tmp_path / "runs" / "toy")
    sg.run_suites(sg.load_model("random", seed=2), names[0], tmp_path / "runs" / "random")
    assert str(sg.estimate(tmp_path / "runs" / "toy")) == str(sg.estimate(saved))
    compared = sg.compare(str(tmp_path / "runs" / "random"), saved)
    assert compared.names == ("random:normal(16,2)?seed=2", "toy:12-sentences")
    # A folder of several runs stands for all of them.
    folders = sorted((tmp_path / "runs").iterdir())
    assert str(sg.table("comparison", tmp_path / "runs")) == str(sg.table("comparison", folders))
    sg.write_report(tmp_path / "runs", tmp_path / "report.html")
    assert "random" in (tmp_path / "report.html").read_text()


def test_what_is_unmistakable_is_converted(suites: list[sg.Suite], run: sg.Run) -> None:
    toy = sg.load_model("toy")
    assert sg.load_model("random", seed=2).name == sg.load_model("random?seed=2").name
    assert sg.evaluate(toy, suites, limit=np.int64(3), seed=np.int32(2)).suites[0].items == 3
    [name] = sg.evaluate(toy, suites[0], measures="surprisal(condition=reduced_ambig)").suites[0].predictions
    assert name == "surprisal(condition=reduced_ambig,region=*)"
    items = [suites[0].items[0]]
    built = sg.Suite("one", items, suites[0].predictions)  # type: ignore[arg-type]
    assert built.items == (suites[0].items[0],)
    answer = sg.Surprisals("a b", [0, 1], [1, 2.5], [True, False])  # type: ignore[arg-type]
    assert (answer.starts.dtype, answer.bits.dtype, answer.in_vocabulary.dtype) == (np.int32, np.float64, bool)
    assert [found.text for found in toy.score("the dog")] == ["the dog"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda toy: sg.evaluate(toy, "hu2020/mvrr", limit="x"),
            "evaluate, limit: 'x'; expected a whole number or None",
        ),
        (
            lambda toy: sg.evaluate(toy, "hu2020/mvrr", limit=True),
            "evaluate, limit: True; expected a whole number or None",
        ),
        (
            lambda toy: sg.evaluate(toy, {"a": "hu2020/mvrr"}),
            r"suites: a dict; expected a Suite.*Use syntagm\.read_suites",
        ),
        (lambda toy: sg.evaluate(toy, (part for part in (toy,))), "evaluate, suites, item 1: a Toy; expected a Suite"),
        (lambda toy: sg.evaluate(toy, "nowhere"), "nowhere: no such file, folder or collection"),
        (lambda toy: sg.estimate(None), r"estimate, run: None; expected a Run.*Use syntagm\.evaluate"),
        (lambda toy: sg.compare(None, None), "compare, first: None; expected a Run"),
        (lambda toy: sg.table("scores", [None]), "table, runs, item 1: None; expected a Run"),
        (lambda toy: sg.open_run("a\0b"), "open_run, folder: 'a.x00b'; expected text without a NUL character"),
        (lambda toy: sg.open_run("x" * 5000), "File name too long; expected to read or write it"),
        (lambda toy: sg.score_text(toy, "\ud800"), "score_text, text: '.ud800'; expected text without lone surrogates"),
        (
            lambda toy: sg.score_text(toy, ["a", "\udfff"]),
            "text, item 2: '.udfff'; expected text without lone surrogates",
        ),
        (lambda toy: sg.Sentence("\ud800"), "Sentence, text: '.ud800'; expected text without lone surrogates"),
        (
            lambda toy: sg.load_model("toy", seed=[1]),
            "load_model, seed: a list; expected text, a whole number, a number or True",
        ),
        (
            lambda toy: toy.score([1]),
            r"LanguageModel\.score, texts, item 1: 1; expected text. See help\(syntagm\.LanguageModel",
        ),
        (lambda toy: sg.Suite("s", (), (), {"n": 3}), "Suite, tags, 'n': 3; expected text"),
    ],
)
def test_an_error_gives_place_found_expected_and_cure(call: Callable[[sg.LanguageModel], object], message: str) -> None:
    with pytest.raises((sg.UsageError, sg.InputError), match=message):
        call(sg.load_model("toy"))


@pytest.mark.slow
def test_an_object_with_score_is_a_model(suites: list[sg.Suite], tmp_path: Path) -> None:
    """The class of `examples/agreement.py`: in this process it answers as in one of its own."""
    path = Path(__file__).parents[1] / "examples" / "agreement.py"
    space = runpy.run_path(str(path))
    [kind] = [value for value in space.values() if isinstance(value, type) and callable(getattr(value, "score", None))]
    texts = ["The dog near the cats barks", "The dog near the cats bark", " The dogs bark"]
    there = sg.load_model(f"python:{path}", allow_exec=True)
    expected, found = (sg.score_text(model, texts) for model in (there, kind()))
    assert_frame_equal(found, expected)
    run = sg.evaluate(kind(), suites, limit=3)
    assert run.model.startswith("python:")
    assert run.model != there.name, "nothing is known of what its numbers depend on but what it states"
    sg.write_report(run, tmp_path / "report.html")

    class Broken(kind):
        def score(self, texts: list[str]) -> list[dict[str, object]]:
            raise KeyError("no such word")

    with pytest.raises(sg.ModelError, match="Broken: KeyError: 'no such word'; expected an answer to 1 text"):
        sg.score_text(Broken(), "The dog barks")
    for model in (kind, object(), suites[0]):
        with pytest.raises(
            sg.UsageError, match=r"evaluate, model: .*expected a LanguageModel or an object with the method"
        ):
            sg.evaluate(model, suites)  # type: ignore[arg-type]


def test_infinite_and_undefined_bits_of_an_object() -> None:
    class Constant:
        name, fingerprint, sees, exact, bos, eos = "constant", "1", "left", True, "start", None
        bits = math.inf

        def score(self, texts: list[str]) -> list[dict[str, object]]:
            return [{"starts": np.array([0]), "bits": [self.bits]} for _ in texts]

    with pytest.raises(sg.ModelError, match="an infinite number"):
        sg.score_text(Constant(), "dog")
    Constant.bits = math.nan
    with pytest.warns(UserWarning, match="not a number"):
        assert sg.score_text(Constant(), "dog")["bits"].is_nan().all()


@pytest.mark.slow
def test_gaps_are_filled_in_memory_as_in_a_folder(tmp_path: Path) -> None:
    suites = sg.make("marvin2018/simple_agrmt", n=4)
    demo = sg.load_model("demo")
    words = tmp_path / "words.csv"
    words.write_text("lemma,form:singular,form:plural\nlaugh,laughs,laugh\nswim,swims,swim\nbe,is,are\n")
    made = sg.fill(demo, suites, str(words))
    other = sg.fill(demo, suites, str(words), tmp_path / "run")
    assert_frame_equal(made.results(), other.results())
    frame, wanted = (sg.table("scores", run, measure="equal_weight").to_frame() for run in (made, other))
    assert_frame_equal(frame, wanted)
    # The report shows the word list, which a run in a folder keeps as a file.
    sg.write_report([made], tmp_path / "report.html")
    assert "laugh" in (tmp_path / "report.html").read_text()


def test_runs_in_memory_are_compared_drawn_and_reported(suites: list[sg.Suite], run: sg.Run, tmp_path: Path) -> None:
    other = sg.evaluate(sg.load_model("random?seed=2"), suites)
    found = sg.compare(run, other)
    assert found.overall.n == sum(suite.items for suite in run.suites)
    table = sg.table("comparison", [run, other])
    [difference] = table.to_frame().filter(pl.col("suite") == "mvrr")["B - A"].to_list()
    assert difference == pytest.approx(found.suites[0].difference.value)
    [path] = table.save(tmp_path / "comparison.tex")
    assert path.read_text().startswith("\\begin{table}")
    figure = sg.figure("scores", [run, other], measure="first")
    assert {file.suffix for file in figure.save(tmp_path / "scores", ["svg"])} == {".svg", ".csv"}
    assert figure.save(tmp_path / "alone.png")[0].read_bytes().startswith(b"\x89PNG")
    assert [file.name for file in tmp_path.glob("alone*")] == ["alone.png"]
    sg.write_report([run, other], tmp_path / "report.html")
    assert "mvrr" in (tmp_path / "report.html").read_text()
    assert repr(run).startswith("<Run of toy")


def test_which_units_are_random_can_be_set(suites: list[sg.Suite], run: sg.Run) -> None:
    fixed = sg.Resampling(suites="fixed", draws=500, seed=7)
    random, alone = ({str(one.group): one for one in sg.estimate(run, setting)} for setting in (None, fixed))
    name = "rule=first"
    [over] = [key for key in random if key.endswith(name)]
    assert "random: suites, items" in random[over].method
    assert "fixed: suites" in alone[over].method
    assert random[over].value == alone[over].value
    # The interval of one suite is the same under both.
    assert all(random[key] == alone[key] for key in random if "suite=" in key)
    chance = sg.evaluate(sg.load_model("random"), suites)
    wide, narrow = (sg.compare(run, chance, resampling=setting).overall.difference for setting in (None, fixed))
    assert wide.value == narrow.value
    assert narrow.high - narrow.low <= wide.high - wide.low
    tables = [sg.table("scores", run, setting).to_frame() for setting in (None, fixed)]
    assert tables[0].tail(1)["high"].item() >= tables[1].tail(1)["high"].item()
    curves = [
        str(sg.table("trajectory", [run], sg.Resampling(draws=draws, seed=3), x="1").notes) for draws in (200, 400)
    ]
    assert [note.count(", 200, seed 3)") for note in curves] == [1, 0]
    with pytest.raises(sg.UsageError, match="draws: 99"):
        sg.estimate(run, sg.Resampling(draws=99))


def test_options_are_python_values_or_text(run: sg.Run) -> None:
    assert sg.table("scores", run, wide=True).columns == sg.table("scores", [run], wide="yes").columns
    with pytest.raises(sg.UsageError, match="no option 'color'"):
        sg.table("scores", run, color="red")
    with pytest.raises(sg.UsageError, match="no such name: 'nonsense'"):
        sg.figure("nonsense", run)


def test_a_model_of_transformers(suites: list[sg.Suite]) -> None:
    tokenizer = byte_level()
    network = transformer("gpt2", tokenizer)
    model = sg.from_transformers(network, tokenizer, name="mine", bos="no")
    assert model.name == "causal:mine?bos=no"
    scored = sg.evaluate(model, suites, limit=2).results()["value"]
    assert scored.is_in([0.0, 1.0]).all()
    with pytest.raises(sg.UsageError, match=r"syntagm\.from_transformers\(model, tokenizer, name="):
        sg.evaluate(network, suites)
    with pytest.raises(sg.UsageError, match=r"syntagm\.from_transformers\(model, tokenizer, name="):
        sg.load_model(network)  # type: ignore[arg-type]
    with pytest.raises(sg.UsageError, match="model: a Linear of torch; expected a transformers model in memory"):
        sg.from_transformers(torch.nn.Linear(1, 1), tokenizer, name="mine")  # type: ignore[arg-type]
    with pytest.raises(
        sg.UsageError, match="from_transformers, tokenizer: None; expected a fast tokenizer of transformers"
    ):
        sg.from_transformers(network, None, name="mine")  # type: ignore[arg-type]
    with pytest.raises(sg.UsageError, match=r"syntagm\.load_model"):
        sg.evaluate("gpt2", suites)  # type: ignore[arg-type]
    with pytest.raises(sg.UsageError, match=r"syntagm\.load_model"):
        sg.from_transformers("gpt2", tokenizer, name="mine")


@pytest.mark.skipif(importlib.util.find_spec("pandas") is None, reason="pandas is not installed")
def test_frames_of_pandas(run: sg.Run) -> None:
    table = sg.table("scores", run)
    frame = table.to_pandas()
    assert list(frame.columns) == list(table.columns)
    assert frame["n"].tolist() == table.to_frame()["n"].to_list()


def test_a_frame_of_pandas_needs_pandas(run: sg.Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(sg.UsageError, match=r"pandas is not installed.*pip install pandas, or use to_frame\(\)"):
        sg.table("scores", run).to_pandas()


@pytest.mark.slow
def test_lists_are_shown_as_tables(run: sg.Run, suites: list[sg.Suite]) -> None:
    estimates = sg.estimate(run)
    assert estimates == list(estimates)
    page = estimates[:2]._repr_html_()
    assert page.count("<tr>") == 3
    assert "<th>measure</th>" in page
    frame = estimates.to_frame()
    assert frame["value"].to_list() == [estimate.value for estimate in estimates]
    assert set(frame["circuit"].drop_nulls()) == {"", "Garden-Path Effects", "Agreement"}
    pairing = sg.compare(run, sg.evaluate(sg.load_model("random"), suites))
    comparison = sg.table("comparison", [run, sg.evaluate(sg.load_model("random"), suites)]).to_frame()
    assert_frame_equal(pairing.table().to_frame(), comparison.drop("A", "B"))
    assert_frame_equal(pairing.suites.to_frame(), comparison.drop("A", "B").head(2))
    for each in (pairing, pairing.suites):
        assert "<td>mvrr</td>" in each._repr_html_()
    assert "A: toy:12-sentences." in pairing._repr_html_()
    findings = sg.check_suites([sg.Suite("empty", (), ())])
    assert [finding.code for finding in findings] == ["E101", "W101"]
    assert "<td>E101</td>" in findings._repr_html_()


def test_print_shows_the_numbers_of_a_table(run: sg.Run) -> None:
    text = str(sg.table("scores", run))
    assert text.splitlines()[:4] == [
        "Score by suite",
        "",
        "suite             measure  model             score    low   high   n  ties  undefined  chance",
        "mvrr              paper    toy:12-sentences  0.000  0.000  0.121  28    28          0   0.292",
    ]
    assert "n=28" not in repr(sg.table("scores", run))
    assert str(sg.estimate(run)).splitlines()[3].startswith("toy:12-sentences  mvrr")


def test_an_empty_cell_is_null_and_no_digit_is_lost() -> None:
    table = sg.Table("T", ("name", "score", "n"), (("a", 0.1 + 0.2, 3), ("b", None, None)))
    assert table.to_frame().rows() == [("a", 0.1 + 0.2, 3), ("b", None, None)]


def test_what_a_notebook_shows_is_text() -> None:
    estimate = sg.Estimate(sg.Group(model=ATTACK, suite=ATTACK), 0.5, 0.4, math.nan, 3, ATTACK)
    sentence = sg.Sentence(ATTACK)
    prediction = sg.Prediction(ATTACK, sg.parse_formula("(*;%a%) < (*;%b%)"))
    suite = sg.Suite(ATTACK, (sg.Item(ATTACK, {ATTACK: sentence}),), (prediction,))
    table = sg.Table(ATTACK, (ATTACK,), ((ATTACK,),), notes=(ATTACK,))
    for shown in (estimate, suite, table):
        page = shown._repr_html_()
        assert "<script" not in page
        assert "&lt;script" in page


def test_figures_and_runs_show_themselves(run: sg.Run) -> None:
    assert "<svg" in sg.figure("scores", run)._repr_html_()
    assert "number_prep" in run._repr_html_()


def test_dir_lists_what_there_is() -> None:
    assert dir(sg) == sg.__all__
    errors = importlib.import_module("syntagm.core.errors")
    raised = [name for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, Exception)]
    assert set(raised) <= set(sg.__all__)


def test_suites_are_written(tmp_path: Path) -> None:
    suites = sg.make("marvin2018/simple_agrmt", n=3, seed=5)
    assert sg.write_suites(suites, tmp_path / "pairs.jsonl") == []
    assert len(sg.read_suites(str(tmp_path / "pairs.jsonl"))[0].items) == 3
    mvrr = sg.read_suites("hu2020/mvrr")
    with pytest.raises(sg.InputError, match="lossy=True"):
        sg.write_suites(mvrr, tmp_path / "mvrr.json")
    assert not (tmp_path / "mvrr.json").exists()
    assert sg.write_suites(mvrr, tmp_path / "mvrr.json", lossy=True)
    with pytest.raises(sg.UsageError, match="the extension"):
        sg.write_suites(mvrr, tmp_path / "mvrr.doc")
