"""What a run directory says when it is read: the tables that exports, figures and reports rest on."""

from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from toy_runs import agreement, interrupt, pairs, toy_run, training_record

from syntagm.core import RunError
from syntagm.models import load
from syntagm.report import key_of
from syntagm.report.site.run import FILES
from syntagm.runs import REGION_COLUMNS, TOKEN_COLUMNS, Rejudged, open_run, reopened, run_suites as run, trained_on
from syntagm.suites import Item, Prediction, Region, Sentence, Suite, parse

# A token "dogs" that reaches over the border between "dog" and "s".
CROSSING = "index,start,token,bits\n0,0,the,1\n1,3, dogs,2\n0,0,the,1\n1,3, dog,4\n"


def crossing(tmp_path, align):
    (tmp_path / "in.csv").write_text(CROSSING)
    sentences = {
        "good": Sentence("the dogs", (Region("stem", 0, 7), Region("ending", 7, 8))),
        "bad": Sentence("the dog", (Region("stem", 0, 7), Region("ending", 7, 7))),
    }
    suite = Suite("s", (Item("1", sentences),), (Prediction("0", parse("(stem;%good%) < (stem;%bad%)")),))
    return run(load(f"recorded:{tmp_path / 'in.csv'}"), [suite], tmp_path / "run", align=align)


def test_tokens_have_the_columns_of_the_contract(tmp_path):
    table = toy_run(tmp_path, agreement()).tokens("agreement")
    assert tuple(table.columns) == TOKEN_COLUMNS
    assert table.head(3).select("index", "start", "token", "known").rows() == [
        (0, 0, "The", True),
        (1, 3, " dog", True),
        (2, 7, " barks", True),
    ]
    assert table.filter(item="3", condition="good")["known"].to_list() == [True, False, True]


def test_an_end_symbol_is_an_empty_token_at_the_end_of_the_text(tmp_path):
    table = toy_run(tmp_path, agreement(nouns=("dog",)), model="toy?eos=yes").tokens("agreement")
    last = table.filter(condition="good").row(-1, named=True)
    assert (last["index"], last["start"], last["token"]) == (3, len("The dog barks"), "")


def test_regions_are_sums_of_their_tokens(tmp_path):
    found = toy_run(tmp_path, agreement())
    regions, tokens = found.regions("agreement"), found.tokens("agreement")
    assert tuple(regions.columns) == REGION_COLUMNS
    bits = tokens.filter(item="1", condition="good")["bits"].to_list()
    assert regions.filter(item="1", condition="good").select("region", "content", "bits").rows() == [
        ("1", "The dog", pytest.approx(bits[0] + bits[1])),
        ("2", "barks", pytest.approx(bits[2])),
    ]


def test_margins_follow_from_the_regions(tmp_path):
    found = toy_run(tmp_path, agreement())
    verbs = found.regions("agreement").filter(region="2").pivot("condition", index="item", values="bits")
    margins = (verbs["bad"] - verbs["good"]).to_list()
    assert found.results().filter(measure="verb")["margin"].to_list() == pytest.approx(margins)


def test_a_token_over_a_border_makes_regions_and_results_undefined(tmp_path):
    found = crossing(tmp_path, "strict")
    assert found.results()["value"].is_nan().all()
    assert sum(found.undefined.values()) == 1
    by_condition = found.regions("s").group_by("condition", maintain_order=True).agg("bits")
    assert by_condition.filter(condition="good")["bits"].list.eval(pl.element().is_nan()).to_list() == [[True, True]]
    assert by_condition.filter(condition="bad")["bits"].to_list() == [[5.0, 0.0]]


def test_the_rule_of_the_run_holds_when_it_is_read(tmp_path):
    # align=start gives the token to the region in which it starts: 1 + 2 bits for the stem.
    found = crossing(tmp_path, "start")
    assert found.regions("s").filter(condition="good")["bits"].to_list() == [3.0, 0.0]
    assert found.results()["margin"].to_list() == [5.0 - 3.0]


def test_results_of_one_suite_and_of_all(tmp_path):
    found = toy_run(tmp_path, agreement(), pairs("p", ("the dog barks", "the dog bark")))
    assert len(found.results()) == 3 * 2 + 1
    assert found.results("p")["item"].to_list() == ["p-0"]
    assert found.results().equals(pl.read_parquet(tmp_path / "results.parquet"))


def test_the_record_of_a_suite(tmp_path):
    [suite] = toy_run(tmp_path, agreement()).suites
    assert list(suite.predictions) == ["verb", "full_sentence"]
    assert suite.conditions == ("good", "bad")
    assert suite.region_labels == {"1": "subject"}
    assert suite.tags == {"circuit": "Agreement"}
    assert (suite.items, suite.sentences) == (3, 6)


def test_the_signature_names_all_that_the_numbers_rest_on(tmp_path):
    found = toy_run(tmp_path, agreement(), model="toy?eos=yes")
    parts = str(found.signature("agreement", "verb")).split("|")
    digest = found.suites[0].hash[:8]
    for part in ("toy", "bos:yes", "eos:yes", "align:strict", "tie:0.0001", f"agreement@{digest}", "verb", "sum"):
        assert part in parts


def test_an_unknown_suite_is_refused_with_the_names(tmp_path):
    with pytest.raises(RunError, match="no suite 'x'; expected one of agreement"):
        toy_run(tmp_path, agreement()).tokens("x")


def test_a_folder_without_a_run_and_another_version_are_refused(tmp_path):
    with pytest.raises(RunError, match=r"no run\.json"):
        open_run(tmp_path)
    for format in (2, 999):
        (tmp_path / "run.json").write_text(f'{{"format": {format}}}')
        with pytest.raises(
            RunError, match=f"format {format}; expected format 3 or 4. Another version of Syntagm wrote it"
        ):
            open_run(tmp_path)


def test_a_line_of_the_ledger_cut_short_is_no_entry(tmp_path):
    toy_run(tmp_path, agreement(), agreement("again"))
    interrupt(tmp_path)
    content = (tmp_path / "ledger.jsonl").read_bytes()
    (tmp_path / "ledger.jsonl").write_bytes(content[:-20])
    assert set(open_run(tmp_path).results()["suite"]) == {"agreement"}


def test_a_damaged_shard_is_refused(tmp_path):
    found = toy_run(tmp_path, agreement())
    path = tmp_path / "shards" / f"{found.suites[0].shards[0]}.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(RunError, match="damaged"):
        open_run(tmp_path).tokens("agreement")


def test_a_run_is_read_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toy_run(tmp_path, agreement())
    [name] = [path.parent.relative_to(tmp_path) for path in tmp_path.rglob("run.json")]
    found = open_run(name)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert found.place == str(name)
    assert found.results().height == found.results("agreement").height > 0
    assert found.tokens("agreement").height
    assert all(path.is_file() for path in found.paths)
    assert Rejudged(found, "mean_token").tokens("agreement").height


def test_all_readers_find_a_run_where_it_was_opened(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folder = Path("study", "runs", "model")
    toy_run(tmp_path / folder, agreement())
    training_record(tmp_path / folder, 1000)
    found = open_run(folder)
    key = key_of([found], [])
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    for each in (found, Rejudged(found, "mean_token"), reopened(found)):
        assert (each.root, each.folder) == (tmp_path / folder, folder)
    assert trained_on(found, "words") == (1000, "lstm")
    assert key_of([found], []) == key != ""
    (tmp_path / folder / "results.csv").write_text("edited")
    assert "1 damaged" in FILES.show(SimpleNamespace(run=found))["content"]
