"""An old name does what the new one does, with a warning; the table of renames is of names that exist."""

import warnings
from pathlib import Path
from typing import Any, cast

import pytest

import syntagm as sg
from syntagm.cli import main
from syntagm.core import UsageError, registry, renames, settings
from syntagm.core.renames import ARGUMENT, FLAG, OPTION, PYTHON, Rename, RenamedWarning, current
from syntagm.views import by_name

PAIRS = "good\tbad\nThe keys are here.\tThe keys is here.\n"


@pytest.fixture(autouse=True)
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    renamed = (
        Rename("views", "dots", "scores", "1.1"),
        Rename("cli", "inspect", "check", "1.1"),
        Rename("formats", "tables", "pairs", "1.1"),
        Rename(OPTION, "broad", "wide", "1.1"),
        Rename(FLAG, "--counting", "--counts", "1.1"),
        Rename(FLAG, "--trust", "--trust-remote-code", "1.1"),
        Rename(PYTHON, "assess", "evaluate", "1.1"),
        Rename(ARGUMENT.format("score_text"), "passage", "text", "1.1"),
        Rename("views", "gone", "nowhere", "1.1"),
        Rename("views", "scores", "regions", "1.1"),
    )
    monkeypatch.setattr(renames, "RENAMES", renamed)


def warned(old: str, new: str) -> pytest.WarningsRecorder:
    return pytest.warns(RenamedWarning, match=f"^{old} is called {new} since version 1.1; a later version knows")  # type: ignore[return-value]


def test_rooms_know_old_names() -> None:
    with warned("dots", "scores"):
        assert registry.find("views", "dots") is registry.find("views", "scores")
    with warned("dots", "scores"):
        assert by_name.find("table", "dots") is by_name.find("table", "scores")
    with warned("tables", "pairs"):
        assert registry.find("formats", "tables").__name__ == "syntagm.suites.formats.pairs"
    with pytest.raises(UsageError, match="no such name: 'gone'"):  # the new name does not exist
        registry.find("views", "gone")


def test_a_name_that_exists_is_never_an_old_one() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert registry.find("views", "scores").__name__ == "syntagm.views.scores"
        assert current("views", "unknown", ["scores"]) == "unknown"


def test_settings_know_old_names() -> None:
    def function(runs: list[str], *, wide: bool = False) -> None: ...

    known = settings.of_parameters(function)
    with warned("broad", "wide"):
        assert settings.read(known, {"broad": "yes"}, "view") == {"wide": True}
    with pytest.warns(RenamedWarning), pytest.raises(UsageError, match="broad and wide; expected one of the two"):
        settings.read(known, {"broad": "yes", "wide": "no"}, "view")
    with pytest.raises(UsageError, match="no option 'narrow'"):
        settings.read(known, {"narrow": "yes"}, "view")


def test_python_knows_old_names() -> None:
    with pytest.warns(RenamedWarning) as found:
        assert sg.assess is sg.evaluate
    assert found[0].filename == __file__
    with pytest.raises(AttributeError, match="no attribute 'judge'"):
        sg.judge  # noqa: B018


def test_functions_know_old_names_of_arguments() -> None:
    model, old, read = sg.load_model("random:"), {"passage": "The keys."}, cast(Any, sg.read_suites)
    score = cast(Any, sg.score_text)
    with warned("passage", "text"):
        assert score(model, **old).equals(score(model, text="The keys."))
    with pytest.warns(RenamedWarning), pytest.raises(UsageError, match="passage and text; expected one of the two"):
        score(model, text="The keys.", **old)
    with pytest.raises(TypeError, match="passage"):
        read(**old)


def test_the_command_line_knows_old_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pairs.tsv").write_text(PAIRS, encoding="utf-8")
    assert main(["check", "pairs.tsv", "--counts"]) == 0
    expected = capsys.readouterr()
    assert main(["inspect", "pairs.tsv", "--counting"]) == 0
    found = capsys.readouterr()
    assert found.out == expected.out
    notes = [line for line in found.err.splitlines() if line not in expected.err.splitlines()]
    assert notes == [
        f"note: {old} is called {new} since version 1.1; a later version knows the new name only"
        for old, new in (("inspect", "check"), ("--counting", "--counts"))
    ]


def test_what_follows_two_hyphens_is_no_option() -> None:
    with warned("--counting", "--counts"):
        words = renames.flags(["a", "--counting=3", "--", "--counting"], ["--counts"])
    assert words == ["a", "--counts=3", "--", "--counting"]


def test_a_file_knows_old_names_but_gives_no_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text(PAIRS, encoding="utf-8")
    for text, exit_code, said in (
        ("counting = true", 2, "no option"),  # `run` has no --counts
        ("trust = true", 2, "a permission"),
    ):
        (tmp_path / "run.toml").write_text(f"{text}\n", encoding="utf-8")
        words = ["run", "toy", "--suite", str(pairs), "--config", str(tmp_path / "run.toml"), "-o", str(tmp_path / "r")]
        assert main(words) == exit_code
        assert said in capsys.readouterr().err


def test_the_table_is_of_names_that_exist(monkeypatch: pytest.MonkeyPatch) -> None:
    """A rename is of this MAJOR version, its new name exists, and its old one doesn't."""
    monkeypatch.undo()
    now = tuple(map(int, sg.__version__.split(".")[:2]))
    for rename in renames.RENAMES:
        assert (now[0], 0) < tuple(map(int, rename.since.split("."))) <= now, rename
        if rename.kind not in (OPTION, FLAG, PYTHON):
            assert rename.new in registry.names(rename.kind), rename
            assert rename.old not in registry.names(rename.kind), rename
    assert len({(rename.kind, rename.old) for rename in renames.RENAMES}) == len(renames.RENAMES)
