"""Permissions: nothing but an option of the command line or an argument gives one."""

import json
import pickle
import shutil
from pathlib import Path

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import NAMES, ModelError, Permissions, SyntagmError, UsageError, of_flags
from syntagm.models import names, sweeps
from syntagm.runs.shared_folder import program, started
from syntagm.suites import expand, read_suite_file

DEMO = Path(sg.__file__).parent / "models" / "_demo"
SPELLINGS = [
    "allow_pickle=yes", "allow-pickle=yes", "ALLOW_PICKLE=yes", "allow_pickle=no", "allow_exec=yes", "allow-exec=1",
    "remote_code=yes", "remote-code=true", "trust_remote_code=True", "trust-remote-code=yes", "Remote_Code=yes",
    "bos=no&remote_code=yes", "remote_code=yes&bos=no",
]  # fmt: skip


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A checkpoint whose own code would create the file `canary` beside it."""
    folder = tmp_path / "hostile"
    shutil.copytree(DEMO, folder)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"auto_map": {"AutoModelForCausalLM": "own.Own"}}))
    (folder / "own.py").write_text(f"open({str(tmp_path / 'canary')!r}, 'w')\nclass Own: pass\n")
    return folder


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_name_of_a_model_carries_one(hostile: Path, spelling: str) -> None:
    for name in (f"causal:{hostile}?{spelling}", f"{hostile}?{spelling}", f"toy?{spelling}", f"python:x.py?{spelling}"):
        with pytest.raises(UsageError, match=r"the permission .* in a name.*On the command line: --"):
            names.load(name)
        with pytest.raises(UsageError, match=r"in Python: \w+=True"):
            names.check(name)
        with pytest.raises(UsageError, match="in a name"):
            names.load(name, allow_pickle=True, allow_exec=True, trust_remote_code=True)
    assert not (hostile.parent / "canary").exists()


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_no_name_of_a_suite_carries_one(tmp_path: Path, spelling: str) -> None:
    file = tmp_path / "prep_anim.pickle"
    file.write_bytes(pickle.dumps({"k": [("a b", "a c")]}))
    for name in (
        f"{file}?{spelling}",
        f"{tmp_path}/*.pickle?{spelling}",
        f"{tmp_path}?{spelling}",
        f"hu2020?{spelling}",
    ):
        with pytest.raises(UsageError, match="in a name"):
            expand([name])
        with pytest.raises(UsageError, match="in a name"):
            sg.read_suites(name, allow_pickle=True)
    with pytest.raises(SyntagmError, match="permission"):
        read_suite_file(file)


@pytest.mark.parametrize(
    "pattern", ["?{allow_pickle,remote_code}=yes", "?remote_code={yes,no}", "?seed=1,2&allow_exec=yes"]
)
def test_no_pattern_carries_one(hostile: Path, pattern: str) -> None:
    with pytest.raises(UsageError, match="in a name"):
        [names.parse(name) for name in sweeps.several(f"{hostile}{pattern}")]


def test_the_name_of_a_folder_that_matches_carries_none(hostile: Path) -> None:
    hostile.rename(hostile.parent / "step1?trust_remote_code=yes")
    with pytest.raises(UsageError, match=r"a folder with \? in its name"):
        sweeps.several(f"causal:{hostile.parent}/step*")


@pytest.mark.parametrize(
    "line", ["models = ['causal:{}?remote_code=yes']", "[[models]]\nmodel = '{}?trust-remote-code=yes'\nname = 'x'"]
)
def test_no_configuration_carries_one(hostile: Path, line: str, capsys: pytest.CaptureFixture[str]) -> None:
    place = hostile.parent
    config = place / "study.toml"
    config.write_text("suite = 'hu2020/mvrr'\n" + line.format(hostile) + "\n")
    if "[[" not in line:
        config.write_text(line.format(hostile) + "\nsuite = 'hu2020/mvrr'\n")
    for more in ([], ["--trust-remote-code"], ["--dry-run"], ["--executor", "local:1"]):
        assert main(["run", "--config", str(config), "-o", str(place / "run"), *more]) == 2
        assert "a name without it. On the command line: --trust-remote-code" in capsys.readouterr().err
    assert not (place / "canary").exists()
    assert not (place / "run").exists()


def test_a_model_without_permission_names_the_flag(hostile: Path) -> None:
    with pytest.raises(
        ModelError, match=r"custom code.*On the command line: --trust-remote-code; in Python: trust_remote"
    ):
        sg.load_model(f"causal:{hostile}")
    (hostile / "model.safetensors").rename(hostile / "pytorch_model.bin")
    with pytest.raises(ModelError, match=r"only pickled weights.*--allow-pickle; in Python: allow_pickle=True"):
        sg.load_model(f"causal:{hostile}", trust_remote_code=True)


@pytest.mark.parametrize("value", ["yes", "no", 1, None, "True"])
def test_a_permission_is_true_or_false(value: object) -> None:
    for name in NAMES:
        with pytest.raises(UsageError, match="expected True or False"):
            sg.load_model("toy", **{name: value})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="expected True or False"):
        sg.read_suites("hu2020/mvrr", allow_pickle=value)  # type: ignore[arg-type]


def test_the_old_argument_is_refused_with_the_new_one() -> None:
    with pytest.raises(UsageError, match="trust_remote_code=True"):
        sg.load_model("toy", remote_code="yes")


@pytest.mark.parametrize("flags", [[], ["--allow-pickle"], ["--allow-exec", "--trust-remote-code"]])
def test_a_worker_gets_them_as_arguments(tmp_path: Path, flags: list[str]) -> None:
    permissions = of_flags(flags)
    assert permissions.flags == flags

    class Session:
        exchange = tmp_path

    (tmp_path / "session").write_bytes(pickle.dumps("session"))
    command = program("syntagm.runs.worker", Session, permissions)  # type: ignore[arg-type]
    got: list[object] = []
    started(lambda *words: got.extend(words), *command[4:], "w1", "w2")
    assert got == ["session", permissions, "w1", "w2"]


def test_none_is_stored_in_what_workers_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder of the exchange holds none: its files are the same with and without permissions."""
    from syntagm.evaluation import Predictions
    from syntagm.runs import Session
    from syntagm.runs.computing import Work

    session = Session(Work(Predictions(), []), tmp_path, tmp_path, {}, 1.0, 10.0)
    program("syntagm.runs.worker", session, Permissions(True, True, True))
    assert not any(name.encode() in (tmp_path / "session").read_bytes() for name in NAMES)
