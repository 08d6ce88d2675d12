"""What earlier versions wrote is opened, continued, and gives the same numbers: `data/old`, written by `old_data.py`."""

import csv
import json
import re
import shlex
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import transformers

import syntagm as sg
from syntagm.cli import main
from syntagm.evaluation import suite_hash

OLD = Path(__file__).parent / "data" / "old"
# `test_old_formats.py` opens what else versions wrote.
VERSIONS = sorted(path.parent.name for path in OLD.glob("*/models"))
RUNS = [path.parent.relative_to(OLD).as_posix() for of in VERSIONS for path in sorted((OLD / of).rglob("run.json"))]
SUITES = [path.relative_to(OLD).as_posix() for path in sorted(OLD.glob("*/suites/*/*"))]
# In bits. Sums of the bits of several tokens differ more between machines.
OF_A_TOKEN, OF_AN_ITEM = 1e-5, 1e-4
OF_LIBRARY = "the fingerprint of a model of transformers depends on the version of transformers"


def record_of(run: str) -> dict[str, Any]:
    record: dict[str, Any] = json.loads((OLD / run / "run.json").read_text("utf-8"))
    return record


def command_of(run: str) -> str:
    """The command that wrote a run; empty for a run of a study or of a trajectory."""
    program, _, words = record_of(run)["command"].partition(" ")
    return words if program == "syntagm" else ""


FINISHED = [run for run in RUNS if record_of(run)["status"] == "done"]
UNFINISHED = [run for run in RUNS if run not in FINISHED]
STUDIED = [run for run in RUNS if "/study/" in run]
MODELS_OF_STUDY = sorted({run.split("/")[-1] for run in STUDIED})
# Version and command, once for all runs that it wrote.
COMMANDS = sorted({(run.split("/")[0], command_of(run)) for run in FINISHED if command_of(run)})


def output(command: str) -> Path:
    words = shlex.split(command)
    return Path(words[words.index("-o") + 1])


def each_command(*quick: str, option: str = "") -> pytest.MarkDecorator:
    """Parametrise over the commands with an option. If outputs are named as `quick`, all others are slow."""
    chosen = []
    for version, command in COMMANDS:
        if option in command:
            folder = output(command).as_posix()
            marks = [pytest.mark.slow] if quick and folder not in quick else []
            chosen.append(pytest.param(version, command, id=f"{version}-{folder}", marks=marks))
    return pytest.mark.parametrize(("version", "command"), chosen)


# Version and command of each training; of the n-gram model, the settings have since been extended.
TRAINING = [
    pytest.param(
        version, line, id=f"{version}-{line.split()[1]}", marks=[] if "train ngram" in line else pytest.mark.slow
    )
    for version in VERSIONS
    for line in re.findall(r"^    syntagm (train .*)$", (OLD / version / "README.md").read_text("utf-8"), re.MULTILINE)
]
each_version = pytest.mark.parametrize("version", VERSIONS)


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that copies the data of a version and makes it the current directory."""

    def copied(version: str) -> None:
        shutil.copytree(OLD / version, tmp_path / version)
        monkeypatch.chdir(tmp_path / version)

    return copied


@pytest.fixture(scope="module")
def shared_copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of all versions, for tests that change no file of them."""
    return Path(shutil.copytree(OLD, tmp_path_factory.mktemp("old") / "old"))


@pytest.fixture
def place(shared_copy: Path, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The data of a version as the current directory, for tests that write new files only."""
    monkeypatch.chdir(shared_copy / version)


def again(command: str, folder: Path | None = None, cache: Path | None = None) -> None:
    """Repeat a command, perhaps with another folder for its runs and another cache."""
    words = shlex.split(command)
    for option, path in (("-o", folder), ("--cache", cache)):
        if path and option in words:
            words[words.index(option) + 1] = str(path)
    assert main(words) == 0


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part)
    else:
        yield value


def refuse_other_numbers(run: sg.Run, old: sg.Run) -> None:
    """Compare all tables of two runs."""
    assert run.done
    assert [suite.name for suite in run.suites] == [suite.name for suite in old.suites]
    assert run.tables.keys() == old.tables.keys()
    for ending in old.tables:
        found, expected = run.table(ending), old.table(ending)
        assert found.columns == expected.columns
        for name in expected.columns:
            values, wanted = ([*leaves(table[name].to_list())] for table in (found, expected))
            if any(isinstance(value, float) for value in wanted):
                tolerance = OF_AN_ITEM if ending == "results.parquet" else OF_A_TOKEN
                np.testing.assert_allclose(values, wanted, rtol=0, atol=tolerance, err_msg=f"{ending}, {name}")
            else:
                assert values == wanted


def same_library(run: sg.Run) -> bool:
    """Return whether the fingerprint of the model is that of the run; see `OF_LIBRARY`."""
    return run.record["model"]["record"].get("transformers", transformers.__version__) == transformers.__version__


def unit_files(folder: Path) -> dict[Path, tuple[int, int]]:
    """The tables of units, each with what changes if it is written again."""
    paths = folder.rglob("shards/*")
    return {path: (path.stat().st_ino, path.stat().st_mtime_ns) for path in paths}


def test_there_is_data() -> None:
    for version in VERSIONS:
        names = [run.removeprefix(f"{version}/") for run in RUNS if run.startswith(f"{version}/")]
        assert {"runs/lstm", "runs/sweep/lstm", "fills/gpt2", "trajectory/step1", "study/runs/lstm-xs-1"} <= {*names}
        commands = [command for of, command in COMMANDS if of == version]
        for model in (OLD / version / "models").iterdir():
            assert any(f"models/{model.name}" in command for command in commands), model
    assert [run.split("/")[-1] for run in UNFINISHED] == ["interrupted"] * len(VERSIONS)


@pytest.mark.parametrize("run", FINISHED)
def test_a_run_has_the_numbers_of_its_results(run: str) -> None:
    opened = sg.open_run(OLD / run)
    assert opened.done
    rows = opened.results().rows(named=True)
    with (OLD / run / "results.csv").open(newline="", encoding="utf-8") as file:
        recorded = list(csv.DictReader(file))
    assert recorded
    for name in recorded[0]:
        values, wanted = [row[name] for row in rows], [row[name] for row in recorded]
        if name in ("value", "margin"):
            np.testing.assert_array_equal(values, [float(value) for value in wanted])
        else:
            assert values == wanted


@pytest.mark.parametrize("run", RUNS)
def test_the_kinds_of_its_measures_are_known(run: str) -> None:
    opened = sg.open_run(OLD / run)
    kinds = {"tse": "VERDICT", "equal_weight": "SHARE", "model_weight": "SHARE", "surprisal": "BITS"}
    measures = opened.results()["measure"].unique().to_list()
    assert measures
    for measure in measures:
        assert opened.kind(measure).name == kinds.get(measure.partition("(")[0], "VERDICT")


@pytest.mark.slow
@each_version
def test_every_file_is_whole(version: str, copy: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    copy(version)
    assert main(["integrity", ".", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    unsealed = {Path(finding["path"]).name for finding in findings if finding["state"] != "whole"}
    assert unsealed <= {"results.csv", "results.md", "answers.sqlite-wal", "answers.sqlite-shm"}
    assert {finding["folder"] for finding in findings} >= {"run", "cache", "model", "experiment"}


@pytest.mark.parametrize(("version", "line"), TRAINING)
def test_a_finished_training_has_nothing_to_do(version: str, line: str, copy: Callable[[str], None]) -> None:
    copy(version)
    words = shlex.split(line)
    folder = Path(words[-1])
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(words) == 0
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.slow
@each_command()
@pytest.mark.usefixtures("place")
def test_models_give_the_same_numbers(version: str, command: str) -> None:
    folder = output(command)
    again(command, new := "again" / folder, new.with_suffix(".sqlite"))
    names = [path.parent.relative_to(OLD / version / folder) for path in (OLD / version / folder).rglob("run.json")]
    assert names
    for name in names:
        run, old = sg.open_run(new / name), sg.open_run(OLD / version / folder / name)
        refuse_other_numbers(run, old)
        if same_library(old):
            assert (run.model, run.name) == (old.model, old.name)
            assert run.record["model"]["fingerprint"] == old.record["model"]["fingerprint"]


@pytest.mark.parametrize("run", STUDIED)
def test_models_of_a_study_give_the_same_bits(run: str) -> None:
    folder = OLD / run
    model, old = sg.load_model(str(folder.parents[1] / "models" / folder.name)), sg.open_run(folder)
    assert model.fingerprint == old.record["model"]["fingerprint"]
    for suite in old.suites:
        expected = [answer for *_, answer in old.answers(suite.name)]
        assert expected
        for found, answer in zip(model.score([answer.text for answer in expected]), expected, strict=True):
            assert found.starts.tolist() == answer.starts.tolist()
            np.testing.assert_allclose(found.bits, answer.bits, rtol=0, atol=OF_A_TOKEN)


@pytest.mark.slow
@pytest.mark.parametrize("run", UNFINISHED)
def test_an_interrupted_run_goes_on_where_it_stopped(run: str, copy: Callable[[str], None]) -> None:
    version, _, name = run.partition("/")
    copy(version)
    command, units = command_of(run), unit_files(Path(name))
    assert units
    again(command)
    assert unit_files(Path(name)).items() > units.items()
    again(command, Path("anew"), Path("anew.sqlite"))
    refuse_other_numbers(sg.open_run(name), sg.open_run("anew"))


@each_command("runs/sweep", "fills/lstm")
def test_a_finished_command_given_again_computes_nothing(
    version: str, command: str, copy: Callable[[str], None]
) -> None:
    copy(version)
    if not all(same_library(sg.open_run(path.parent)) for path in output(command).rglob("run.json")):
        pytest.skip(OF_LIBRARY)
    before = unit_files(output(command))
    assert before
    again(command)
    assert unit_files(output(command)) == before


@each_command("runs/lstm", "runs/ngram", option="--cache")
def test_the_cache_answers(version: str, command: str, copy: Callable[[str], None]) -> None:
    copy(version)
    old = sg.open_run(output(command))
    if not same_library(old):
        pytest.skip(OF_LIBRARY)
    before = answers_in(cache := Path("cache/answers.sqlite"))
    again(command, Path("anew"), cache)
    refuse_other_numbers(sg.open_run("anew"), old)
    assert answers_in(cache) == before
    lines = Path("anew/ledger.jsonl").read_text("utf-8").splitlines()
    texts = sum(len({answer.text for *_, answer in old.answers(suite.name)}) for suite in old.suites)
    assert texts
    # N-gram models compute an answer faster than the cache gives it.
    assert sum(json.loads(line)["cached"] for line in lines) == (0 if old.model.startswith("ngram:") else texts)


def answers_in(cache: Path) -> list[tuple[bytes, bytes]]:
    with closing(sqlite3.connect(cache)) as connection:
        return connection.execute("SELECT key, value FROM entries ORDER BY key").fetchall()


@pytest.mark.slow
@each_version
def test_a_finished_study_has_nothing_to_do(
    version: str, copy: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    copy(version)
    assert main([*study_of(version), "--plan"]) == 0
    states = [
        line.split()[1] for line in capsys.readouterr().out.splitlines() if {*line.split()[:1]} & {*MODELS_OF_STUDY}
    ]
    assert states == ["done"] * len(MODELS_OF_STUDY)


@pytest.mark.slow
@each_version
def test_a_finished_study_shows_the_same_results(version: str, copy: Callable[[str], None]) -> None:
    copy(version)
    place = Path("study")
    results = (place / "results.csv").read_bytes()
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*/*") if path.is_file()}
    assert before
    assert main(study_of(version)) == 0
    # Version 0.1 called the score over all suites score_34, however many there were.
    assert (place / "results.csv").read_bytes() == results.replace(b",score_34,", b",score_all,")
    after = {path: path.stat().st_mtime_ns for path in place.rglob("*/*") if path.is_file() and path.name != "lock"}
    assert after == before


def study_of(version: str) -> list[str]:
    """The command of the study, from the list of all commands."""
    lines = (OLD / version / "README.md").read_text("utf-8").splitlines()
    [line] = [line for line in lines if line.startswith("    syntagm reproduce ")]
    return shlex.split(line)[1:]


@pytest.mark.parametrize("path", SUITES)
def test_a_suite_has_the_content_of_which_runs_were_made(path: str) -> None:
    [suite] = sg.read_suites(str(OLD / path))
    runs = [run for run in RUNS if run.startswith(path.split("/")[0])]
    recorded = {(part["name"], part["hash"]) for run in runs for part in record_of(run)["suites"]}
    assert (suite.name, suite_hash(suite)) in recorded


READING = """\
table scores runs/lstm runs/gpt2 runs/sweep measure=all
table scores fills/gpt2 fills/lstm measure=each
table comparison runs/lstm runs/gpt2
figure regions runs/lstm suite=number_src --format vl.json -o out/regions
table trajectory trajectory
figure scores runs/lstm runs/gpt2 --format vl.json -o out/scores
compare runs/lstm runs/gpt2
compare fills/gpt2 fills/lstm --measure equal_weight
export runs/lstm --as tokens -o out/tokens.csv
export runs/lstm --as regions -o out/regions_of_lstm.csv
export runs/lstm --as scores -o out/scores_of_lstm.csv
export trajectory/step1 --as lm-eval -o out/results.json
export runs/measures --as results -o out/results.csv
cite runs/tables
cite fills/gpt2
report runs/lstm runs/gpt2 -o out/report.html
report fills/gpt2 -o out/fills.html"""


@each_version
@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("line", READING.splitlines())
def test_commands_read_runs(version: str, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words := line.split()) == 0
    assert capsys.readouterr().out or Path(words[-1]).stat().st_size
