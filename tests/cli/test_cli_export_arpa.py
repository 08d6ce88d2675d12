"""An n-gram model as an ARPA file: by the name that the command prints, the same numbers."""

from pathlib import Path

import pytest
from models_for_tests import TEXT

from syntagm.cli import main
from syntagm.models import load
from syntagm.training import NgramSettings, changed
from syntagm.training.ngram import train as ngram

ASKED = ["The dog barks.", "Nobody knows the zzyxes , or 1999 Xyzlings .", "barks"]


def trained(folder: Path, classes: str) -> Path:
    (folder / "text.txt").write_text(TEXT * 4, encoding="utf-8")
    settings = changed(NgramSettings(), {"order": 3, "classes": classes, "discount_fallback": True})
    ngram.train([str(folder / "text.txt")], [], folder / "model", settings)
    return folder / "model"


@pytest.mark.parametrize("classes", ["berkeley", "single", "none"])
@pytest.mark.parametrize("name", ["model.arpa", "model.arpa.gz"])
def test_the_printed_name_scores_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], classes: str, name: str
) -> None:
    folder, path = trained(tmp_path, classes), tmp_path / name
    assert main(["export", str(folder), "--as", "arpa", "-o", str(path)]) == 0
    said, _, model = capsys.readouterr().out.strip().partition(": ")
    assert (said, model.partition("?")[0]) == ("the same model", f"ngram:{path}")
    for ours, theirs in zip(load(f"ngram:{folder}").score(ASKED), load(model).score(ASKED), strict=True):
        assert ours.bits.tolist() == theirs.bits.tolist()
        assert ours.in_vocabulary.tolist() == theirs.in_vocabulary.tolist()
        assert ours.starts.tolist() == theirs.starts.tolist()


def test_no_file_is_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, path = trained(tmp_path, "none"), tmp_path / "model.arpa"
    path.write_text("mine")
    command = ["export", str(folder), "--as", "arpa", "-o", str(path)]
    assert main(command) == 2
    assert "this file exists, with other content; expected a new name" in capsys.readouterr().err
    assert path.read_text() == "mine"
    assert main([*command, "--force"]) == 0
    assert path.read_text().startswith("\\data\\\n")
    capsys.readouterr()
    assert main(command) == 0, "the same content may be written again"
    assert f"the same model: ngram:{path}?" in capsys.readouterr().out


@pytest.mark.parametrize(("output", "message"), [("-", "expected a file"), ("out.arpa", "model.json: no such file")])
def test_what_can_t_be_written_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, output: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["export", str(tmp_path), "--as", "arpa", "-o", output]) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / output).exists()
