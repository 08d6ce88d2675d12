"""Sealed folders: whatever happens to a file of a model is refused, and named."""

import json
import random
from pathlib import Path
from typing import Any

import pytest
from models_for_tests import TEXT
from toy_runs import agreement, toy_run
from training_for_tests import TRAINED, bracketed, on_trees, tiny

from syntagm.cli import main
from syntagm.core import ModelError, RunError, SyntagmError, seal
from syntagm.models import load
from syntagm.training import Trainable, families

FAMILIES = [family.name for family in TRAINED]


def _options(family: Trainable[Any]) -> list[str]:
    """Return the options of a tiny training on the command line."""
    values = tiny(family.name) | {"epochs": 1, "batch": 2, "warmup": 1}
    given = [(option.flag, values[option.name]) for option in family.options if option.name in values]
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in given]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("sealed")
    (place / "text.txt").write_text(TEXT * 4, encoding="utf-8")
    (place / "text.trees").write_text(bracketed(TEXT), encoding="utf-8")
    for family in TRAINED:
        text = str(place / ("text.trees" if on_trees(family) else "text.txt"))
        line = ["train", family.name, "--corpus", text, "--valid", text, *_options(family)]
        assert main([*line, "-o", str(place / family.name)]) == 0
    return {family: place / family for family in FAMILIES}


def copied(folder: Path, place: Path) -> Path:
    place.mkdir()
    for file in folder.iterdir():
        if file.is_file():
            (place / file.name).write_bytes(file.read_bytes())
    return place


def name_of(family: str, folder: Path) -> str:
    return f"{'causal' if family == 'gpt2' else family}:{folder}"


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_any_flipped_bit_is_refused(trained: dict[str, Path], family: str, tmp_path: Path) -> None:
    folder, draw = copied(trained[family], tmp_path / "m"), random.Random(family)
    load(name_of(family, folder))
    for file in sorted(folder.iterdir()):
        content = file.read_bytes()
        for place in draw.sample(range(len(content)), min(4, len(content))):
            changed = bytearray(content)
            changed[place] ^= 1 << draw.randrange(8)
            file.write_bytes(changed)
            if file.name != "lock":
                with pytest.raises(ModelError):
                    load(name_of(family, folder))
        file.write_bytes(content)
    load(name_of(family, folder))


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_truncated_deleted_and_added_files_are_refused(trained: dict[str, Path], family: str, tmp_path: Path) -> None:
    folder = copied(trained[family], tmp_path / "m")
    for file in sorted(path for path in folder.iterdir() if path.name != "lock"):
        content = file.read_bytes()
        file.write_bytes(content[: len(content) // 2])
        with pytest.raises(ModelError):
            load(name_of(family, folder))
        file.unlink()
        with pytest.raises(ModelError):
            load(name_of(family, folder))
        file.write_bytes(content)
    (folder / "adapter_config.json").write_text("{}")
    with pytest.raises(ModelError, match=r"adapter_config\.json: a file that is not listed in seal\.json"):
        load(name_of(family, folder))
    (folder / "adapter_config.json").unlink()
    (folder / "notes.md").write_text("A note of its owner makes no difference.")
    load(name_of(family, folder))


@pytest.mark.slow
def test_a_seal_that_was_made_to_fit_is_refused(trained: dict[str, Path], tmp_path: Path) -> None:
    folder = copied(trained["lstm"], tmp_path / "m")
    content = json.loads((folder / seal.FILE).read_text())
    content["files"]["model.json"] = "0" * 64
    (folder / seal.FILE).write_text(json.dumps(content))
    with pytest.raises(ModelError, match="damaged or edited: its content does not fit its seal"):
        load(f"lstm:{folder}")


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_the_same_training_line_does_not_call_damage_done(
    trained: dict[str, Path], family: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, text = (
        copied(trained[family], tmp_path / "m"),
        str(trained[family].parent / ("text.trees" if on_trees(families.find(family)) else "text.txt")),
    )
    line = ["train", family, "--corpus", text, "--valid", text, *_options(families.find(family)), "-o", str(folder)]
    assert main(line) == 0
    weights = folder / "model.safetensors"
    content = bytearray(weights.read_bytes())
    content[-3] ^= 4
    weights.write_bytes(content)
    code = main(line)
    if family == "ngram":  # is trained again in no time
        assert code == 0
        load(name_of(family, folder))
    else:
        assert code == 2
        assert "model.safetensors: a file that was damaged or edited after sealing" in capsys.readouterr().err


@pytest.mark.slow
def test_an_intended_change_is_sealed_and_said(
    trained: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(trained["lstm"], tmp_path / "m")
    (folder / "training.json").write_text("{}")
    with pytest.raises(ModelError, match="syntagm seal"):
        load(f"lstm:{folder}")
    assert main(["seal", str(folder)]) == 0
    assert "changed: training.json" in capsys.readouterr().out
    [said] = load(f"lstm:{folder}").record["seal renewed"]  # type: ignore[misc]
    assert said.endswith(": training.json")
    [renewed] = json.loads((folder / seal.FILE).read_text())["renewed"]
    assert renewed["changed"] == ["training.json"]
    before = (folder / seal.FILE).read_bytes()
    assert main(["seal", str(folder)]) == 0
    assert "nothing has changed" in capsys.readouterr().out
    assert (folder / seal.FILE).read_bytes() == before
    assert main(["seal", str(tmp_path)]) == 2


def test_a_folder_without_a_seal(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text("{}")
    assert seal.verify(tmp_path, SyntagmError) is None
    seal.write(tmp_path, {"later.json": b"{}"})
    with pytest.raises(RunError, match=r"later\.json: no such file"):
        seal.verify(tmp_path, RunError)
    (tmp_path / "later.json").write_bytes(b"{}")
    assert seal.verify(tmp_path, RunError)


def test_a_model_without_a_folder_has_nothing_to_do_with_the_folder_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    seal.renew(tmp_path)
    assert "seal renewed" not in load("toy").record
    (tmp_path / seal.FILE).write_text("no JSON")
    load("toy")


@pytest.mark.slow
def test_a_finished_training_without_its_seal_is_refused(
    trained: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(trained["lstm"], tmp_path / "m")
    (folder / seal.FILE).unlink()
    text = str(trained["lstm"].parent / "text.txt")
    line = ["train", "lstm", "--corpus", text, "--valid", text, *_options(families.find("lstm")), "-o", str(folder)]
    assert main(line) == 2
    assert f"{folder}: no seal.json" in capsys.readouterr().err


def test_a_renewal_that_was_killed_is_completed(tmp_path: Path) -> None:
    """The process was killed after it had written the results of a run again, and before it renewed the record."""
    toy_run(tmp_path, agreement())
    record = tmp_path / "run.json"
    record.write_text(record.read_text().replace("toy:12-sentences", "toy:renamed"))
    (tmp_path / "results.csv").write_text((tmp_path / "results.csv").read_text().replace("12-sentences", "renamed"))
    assert main(["seal", str(tmp_path)]) == 0
    assert main(["integrity", str(tmp_path)]) == 0
    assert (tmp_path / "results.csv").read_text().startswith("model,")
