"""Tables in memory: those used last, of all runs together, up to a number of bytes."""

import gc
from pathlib import Path

import pytest
from toy_runs import agreement, pairs, toy_run

from syntagm.runs import kept
from syntagm.runs.store import Run, open_run


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> kept._Memory:
    memory = kept._Memory()
    monkeypatch.setattr(kept, "_memory", memory)
    return memory


def made(folder: Path, count: int) -> list[Run]:
    suites = [agreement(), pairs("p", ("the dog barks", "the dog bark"))]
    for number in range(count):
        toy_run(folder / f"{number}", *suites, model=f"random?seed={number}")
    gc.collect()
    return [open_run(folder / f"{number}") for number in range(count)]


@pytest.mark.slow
def test_what_is_dropped_is_read_again(tmp_path: Path, memory: kept._Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = [run.results() for run in made(tmp_path, 3)]
    assert len(memory._tables) == 0, "deleted runs leave nothing behind"
    runs = [open_run(tmp_path / f"{number}") for number in range(3)]
    monkeypatch.setattr(kept, "MOST_BYTES", 30_000)
    for _ in range(2):
        assert all(run.results().equals(table) for run, table in zip(runs, expected, strict=True))
        assert memory._bytes <= kept.MOST_BYTES
        assert memory._bytes == sum(size for _, size in memory._tables.values())
        assert 1 < len(memory._tables) < 9
    # A table that alone is larger than that is held until the next one.
    monkeypatch.setattr(kept, "MOST_BYTES", 1)
    runs[0].table("results.parquet", "p")
    assert len(memory._tables) == 1


@pytest.mark.slow
def test_what_was_used_last_is_held(tmp_path: Path, memory: kept._Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second, third = made(tmp_path, 3)
    third.table("results.parquet", "agreement")
    table = first.table("results.parquet", "p")
    other = second.table("results.parquet", "p")
    assert first.table("results.parquet", "p") is table
    monkeypatch.setattr(kept, "MOST_BYTES", memory._bytes - 1)
    second.table("results.parquet", "agreement")
    assert first.table("results.parquet", "p") is table
    assert second.table("results.parquet", "p") is not other
