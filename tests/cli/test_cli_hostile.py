"""What terminals and browsers would obey in the texts of suites: it is shown, and does nothing."""

import json
from pathlib import Path

import pytest

from syntagm.cli import main

# Commands of a terminal, and characters that turn the direction of text or hide it.
ESCAPES = "\x1b]0;pwned\x07\x1b[2J\x9b31m\u202e\u2066\u200b"


@pytest.fixture
def suite(tmp_path: Path) -> str:
    def condition(name: str, verb: str) -> dict[str, object]:
        contents = ("The dog ", verb)
        regions = [{"region_number": at, "content": content} for at, content in enumerate(contents, 1)]
        return {"condition_name": name, "regions": regions}

    content = {
        "meta": {"name": "dogs", "metric": "sum", "reference": ESCAPES, "comment": ESCAPES, "circuit": f"A {ESCAPES}"},
        "region_meta": {"1": "subject", "2": f"verb {ESCAPES}"},
        "predictions": [{"type": "formula", "formula": "(2;%x%) < (2;%y%)"}],
        "items": [{"item_number": 1, "conditions": [condition("x", "barks."), condition("y", "bark.")]}],
    }
    (tmp_path / "dogs.json").write_text(json.dumps(content))
    return str(tmp_path / "dogs.json")


@pytest.mark.slow
def test_no_control_character_reaches_the_screen(
    suite: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = [
        ["check", suite],
        ["describe", suite],
        ["run", "toy", "--suite", suite, "-o", "run", "--no-cache"],
        ["run", "random", "--suite", suite, "-o", "other", "--no-cache"],
        ["table", "groups", "run", "by=circuit"],
        ["table", "groups", "run", "by=circuit", "--format", "latex"],
        ["table", "comparison", "run", "other"],
        ["compare", "run", "other"],
        ["cite", "run"],
        ["report", "run"],
        ["table", "scores", f"nowhere{ESCAPES}"],
        ["run", "toy", "--suite", f"nowhere{ESCAPES}", "-o", "third"],
    ]
    for line in lines:
        code = main(line)
        shown = "".join(capsys.readouterr())
        odd = {sign for sign in shown if not sign.isprintable() and sign not in "\n\t"}
        assert not odd, f"{line}: {odd}"
        assert code == (2 if any("nowhere" in word for word in line) else 0), f"{line}: {shown}"


@pytest.mark.parametrize("name", ["x.html", "x.HTM", "x.svg", "x.js"])
def test_a_description_is_never_a_page_of_a_browser(
    suite: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["describe", suite, "-o", str(tmp_path / name)]) == 2
    assert "Write x.md" in capsys.readouterr().err
    assert not (tmp_path / name).exists()
    assert main(["describe", suite, "-o", str(tmp_path / "x.md")]) == 0


def test_memory_that_ends_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def load(*_: object) -> None:
        raise MemoryError

    monkeypatch.setattr("syntagm.cli._options.load", load)
    assert main(["score", "toy", "the dog"]) == 2
    assert "out of memory" in capsys.readouterr().err


@pytest.mark.slow
def test_long_texts_are_printed_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    """Rows for 20,000 words took a library of tables fifteen seconds; here each is a line, never wrapped or cut."""
    word = "z" * 90
    assert main(["score", "toy", " ".join(["the dog", word, *["barks \x1b[2J"] * 6_600])]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.split()[:1] == ["barks"] for line in lines) == 6_600
    assert any(line.count(word) == 2 for line in lines)
    assert not any("\x1b[2J" in line for line in lines)
