"""Whole numbers in options: what is none, and the thousands of digits from which Python makes no number."""

from pathlib import Path

import pytest

from syntagm.cli import main
from syntagm.cli.reproduce import _number
from syntagm.core import UsageError, whole
from syntagm.models import families

LONG = "9" * 5000


@pytest.mark.parametrize("text", [LONG, "0" * 5000, "", "0", "-1", "1.5", "1_000", "²", "٣", " 7", "1000000000001"])
def test_what_is_no_whole_number_is_refused_in_few_words(text: str) -> None:
    with pytest.raises(UsageError, match=r"--n: '.*; expected a whole number from 1 to 1,000,000,000,000$") as caught:
        whole("--n", text)
    assert len(str(caught.value)) < 150


def test_limits() -> None:
    assert [whole("--n", "1"), whole("--n", "007"), whole("--n", "0", 0), whole("--n", "9", 0, 9)] == [1, 7, 0, 9]
    with pytest.raises(UsageError, match=r"from 0 to 9, or all$"):
        whole("--n", "10", 0, 9, also="all")


@pytest.mark.slow
def test_options_of_thousands_of_digits(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="model option batch"):
        families.find("causal").choose({"batch": LONG})
    with pytest.raises(UsageError, match="--sizes"):
        _number("--sizes", LONG)
    assert _number("--sizes", "1_000_000") == 1_000_000
    assert main(["score", f"demo?batch={LONG}", "It barks."]) == 2
    assert "model option batch: '999" in capsys.readouterr().err


def test_an_lstm_with_a_batch_of_thousands_of_digits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (text := tmp_path / "text.txt").write_text("the dog barks\nthe cat sleeps\n" * 4)
    made = ["-o", str(tmp_path / "m"), "--epochs", "1", "--embedding", "4", "--hidden", "4", "--batch", "2"]
    assert main(["train", "lstm", "--corpus", str(text), "--valid", str(text), *made]) == 0
    assert main(["score", f"{tmp_path / 'm'}?batch={LONG}", "the dog"]) == 2
    assert "model option batch: '999" in capsys.readouterr().err
