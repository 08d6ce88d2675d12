"""What people do from Python: everything in memory, nothing on disk."""

import importlib.util
import math
from pathlib import Path

import polars as pl
import pytest
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
        sg.table("trajectory", [run], sg.Resampling(draws=draws, seed=3), x="1").notes[-1] for draws in (200, 400)
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
    errors = importlib.import_module("syntagm.errors")
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
