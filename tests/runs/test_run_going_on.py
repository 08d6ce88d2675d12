"""A run that goes on under other circumstances: other files in its folder, suites that change, a model called otherwise."""

import dataclasses
import errno
import json
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

import pytest
from models_for_tests import byte_level, transformer
from toy_runs import agreement, pairs, sentence, toy_run

from syntagm.core import InputError, Interrupted, Progress, RunError, record
from syntagm.models import load
from syntagm.models.causal.model import from_transformers
from syntagm.runs import run_suites as run
from syntagm.suites import Item, Region, Sentence, Suite


class Twice:
    """Suites that are others when they are read again."""

    def __init__(self, first: list[Suite], second: list[Suite]) -> None:
        self._passes = iter([first, second])

    def __iter__(self) -> Iterator[Suite]:
        return iter(next(self._passes))


class StopAtSecond(Progress):
    """Interrupts when the suite `second` is answered."""

    def answered(self, suite: str, sentences: int) -> None:
        if suite == "second":
            raise Interrupted("enough")


def test_only_what_a_killed_run_left_is_deleted(tmp_path: Path) -> None:
    left = f".run.json.{'0' * 16}.syntagm"
    ours = [tmp_path / left, tmp_path / "shards" / left.replace("run.json", "results.parquet")]
    others = [tmp_path / ".mine.tmp", tmp_path / "deep" / left, tmp_path / ".report.html.7.syntagm"]
    for path in (*ours, *others):
        path.parent.mkdir(exist_ok=True)
        path.write_text("something")
    toy_run(tmp_path, agreement())
    assert [path.exists() for path in (*ours, *others)] == [False, False, True, True, True]


@pytest.mark.parametrize(
    ("second", "found"),
    [([pairs("p", ("The cat barks", "The cat bark"))], "has changed"), ([agreement()], "has disappeared")],
    ids=["changed", "gone"],
)
def test_a_suite_that_changes_while_the_run_goes_on_is_refused(tmp_path: Path, second: list[Suite], found: str) -> None:
    with pytest.raises(InputError, match=f"suite p: .*{found}"):
        run(load("toy"), Twice([pairs("p", ("The dog barks", "The dog bark"))], second), tmp_path)
    assert json.loads((tmp_path / "run.json").read_text())["status"] != "done"


@pytest.mark.slow
def test_a_run_that_goes_on_under_another_spelling_has_one_model(tmp_path: Path) -> None:
    # The tokenizer has a start symbol, so bos=auto and bos=yes are the same numbers under two names.
    made, suites = (
        transformer("gpt2", byte_level()),
        [pairs(name, ("Ten boats", "Ten boat")) for name in ("first", "second")],
    )
    with pytest.raises(Interrupted):
        run(from_transformers(made, byte_level(), "tiny"), suites, tmp_path, progress=StopAtSecond())
    done = run(from_transformers(made, byte_level(), "tiny", bos="yes"), suites, tmp_path)
    assert done.results()["model"].to_list() == ["causal:tiny", "causal:tiny"]
    assert "bos=yes" not in (tmp_path / "results.csv").read_text()


def test_a_ledger_entry_without_files_is_no_entry(tmp_path: Path) -> None:
    toy_run(tmp_path, agreement())
    ledger = tmp_path / "ledger.jsonl"
    entry = json.loads(ledger.read_text())
    del entry["seal"]
    ledger.write_text(record.sealed(entry | {"files": {}}) + "\n")
    assert toy_run(tmp_path, agreement()).results().height == 6


def test_tokens_over_borders_are_one_reason_with_an_example(tmp_path: Path) -> None:
    def split(word: str) -> Sentence:
        text = f"The dog {word}"
        return Sentence(text, (Region("1", 0, 2), Region("2", 2, len(text))))

    items = tuple(Item(str(k), {"good": split("barks"), "bad": sentence("The dog", f"bark{k}")}) for k in range(5))
    found = toy_run(tmp_path, Suite("s", items, agreement().predictions[:1]))
    [(reason, count)] = found.undefined.items()
    assert count == 5
    assert "'The' crosses the region border" in reason
    two = [Suite(name, items, agreement().predictions[:1]) for name in ("s", "t")]
    assert list(toy_run(tmp_path / "two", *two).undefined.values()) == [10]


def test_tags_of_a_suite_may_be_corrected_after_the_run(tmp_path: Path) -> None:
    before = toy_run(tmp_path, agreement())
    after = toy_run(tmp_path, dataclasses.replace(agreement(), tags={"circuit": "Other"}))
    assert (before.suites[0].tags, after.suites[0].tags) == ({"circuit": "Agreement"}, {"circuit": "Other"})
    assert after.done
    assert after.suites[0].hash == before.suites[0].hash


def test_a_file_system_without_locks_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("fcntl.flock", refuse)
    with pytest.raises(RunError, match=r"lock: can't be written \(No locks available\)"):
        toy_run(tmp_path, agreement())


@pytest.mark.parametrize("name", ["results.csv", "results.parquet"])
@pytest.mark.parametrize("change", ["flip", "cut", "delete"])
def test_changed_results_are_written_again(tmp_path: Path, name: str, change: str) -> None:
    class Heard(Progress):
        warnings: ClassVar[list[str]] = []

        def warned(self, message: str) -> None:
            self.warnings.append(message)

    run(load("toy"), [agreement()], tmp_path)
    file = tmp_path / name
    content = file.read_bytes()
    heard = Heard()
    heard.warnings.clear()
    run(load("toy"), [agreement()], tmp_path, progress=heard)
    assert heard.warnings == []
    if change == "delete":
        file.unlink()
    else:
        middle = len(content) // 2
        flipped = content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]
        file.write_bytes(flipped if change == "flip" else content[:middle])
    run(load("toy"), [agreement()], tmp_path, progress=heard)
    assert file.read_bytes() == content
    [warning] = heard.warnings
    assert f"{name} is damaged, edited or missing" in warning
