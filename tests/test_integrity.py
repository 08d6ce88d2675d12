"""`syntagm integrity`: what is whole, damaged and foreign, in every kind of folder that Syntagm writes."""

import json
import re
from pathlib import Path
from pkgutil import resolve_name

import pytest
from toy_runs import agreement, interrupt, toy_run

from syntagm.cli import main
from syntagm.core import FOLDERS, integrity
from syntagm.core.io.integrity import FILES
from syntagm.reading_times import record
from syntagm.runs.cache import AnswerCache
from syntagm.suites import syntaxgym
from syntagm.suites.formats import blimp, pairs, syntaxgym_csv
from syntagm.views import Figure, Table


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    toy_run(tmp_path / "runs" / "toy", agreement())
    return tmp_path / "runs"


def states(folder: Path) -> dict[str, str]:
    return {
        finding.path.relative_to(folder).as_posix(): finding.state
        for inspected in integrity.of_folder(folder)
        for finding in inspected.findings
    }


def test_a_run_as_it_was_written_is_whole(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["integrity", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / 'toy'}: run: 1 unchecked, 6 whole\n"


def test_damaged_missing_and_foreign_files_are_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = folder / "toy"
    (run / "notes.txt").write_text("mine")
    (run / "results.csv").write_text("edited")
    [shard] = (run / "shards").glob("*.results.parquet")
    shard.unlink()
    assert main(["integrity", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert f"foreign    {run / 'notes.txt'}\n" in shown
    assert f"damaged    {run / 'results.csv'}: damaged, edited or missing" in shown
    assert f"damaged    {shard}: damaged" in shown
    assert main(["integrity", str(folder), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["summary"] == {"damaged": 2, "foreign": 1, "unchecked": 1, "whole": 4}
    assert {row["path"] for row in found["findings"] if row["state"] == "damaged"} == {
        str(run / "results.csv"),
        str(shard),
    }


@pytest.mark.parametrize("done", [False, True])
def test_a_unit_that_was_committed_twice_is_named_and_the_same_command_repairs_it(
    done: bool, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = folder / "toy"
    before = (run / "ledger.jsonl").read_bytes()
    if not done:
        interrupt(run)
    (run / "ledger.jsonl").write_bytes(2 * before)
    assert main(["integrity", str(run)]) == 1
    shown = capsys.readouterr().out
    assert re.search(r"ledger.jsonl, line 2: unit \w{32} a second time; expected one line per unit", shown)
    toy_run(run, agreement())
    assert (run / "ledger.jsonl").read_bytes() == before


def test_one_file_is_judged_as_a_part_of_its_folder(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["integrity", str(folder / "toy" / "ledger.jsonl"), "--all"]) == 0
    assert "whole" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["", "notes.txt", "missing"])
def test_a_place_where_nothing_was_written_is_refused(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert main(["integrity", str(tmp_path / name)]) == 2
    assert "expected a run, a model, an experiment or a cache" in capsys.readouterr().err


def test_odd_names_and_links_are_no_traceback(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = (folder / "toy").rename(folder / "toy, line 2")
    (run / "round").symlink_to(folder)
    interrupt(run)
    ledger = run / "ledger.jsonl"
    ledger.write_text(ledger.read_text().replace("undefined", "undefinee"))
    assert main(["integrity", str(folder)]) == 1
    shown = capsys.readouterr().out
    assert f"foreign    {run / 'round'}\n" in shown
    assert f"damaged    {ledger}, line 1: damaged or edited" in shown
    path = run / "run.json"
    path.write_text(path.read_text().replace("interrupted", "perfect"))
    assert main(["integrity", str(folder)]) == 1
    assert f'damaged    {path}, status: "perfect"; expected one of done' in capsys.readouterr().out


def test_a_cache_is_inspected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.sqlite"
    AnswerCache(path, pytest.fail)
    assert main(["integrity", str(path)]) == 0
    path.write_bytes(b"no database, though it is long enough to be taken for one" * 99)
    assert main(["integrity", str(tmp_path)]) == 1
    assert f"{path}: file is not a database; expected a cache of answers" in capsys.readouterr().out
    path.rename(tmp_path / "other.sqlite")
    assert main(["integrity", str(tmp_path)]) == 2


def test_the_list_names_functions_that_exist() -> None:
    names = [name for kind in FOLDERS for name in (kind.check, kind.renew)]
    for name in filter(None, [*names, *(kind.inspect for kind in FILES)]):
        assert callable(resolve_name(name)), name


def test_the_list_has_every_ending_that_is_written() -> None:
    suites = [f"*{ending}" for form in (syntaxgym, blimp, pairs, syntaxgym_csv) for ending in form.WRITES]
    expected = {
        "a suite": suites,
        "a table": [f"*.{ending}" for ending in Table.FORMATS.values()],
        "a figure": [f"*.{ending}" for ending in Figure.FORMATS.values()],
        "the record of an analysis of reading times": [f"*{record.ENDING}"],
    }
    for name, patterns in expected.items():
        assert {kind.pattern for kind in FILES if kind.name == name} == set(patterns), name
