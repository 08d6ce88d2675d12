"""Tables in memory: those used last, of all runs together, up to a number of bytes."""

import gc
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from toy_runs import agreement, pairs, toy_run

from syntagm import estimate as estimates, evaluate, figure
from syntagm.models import load
from syntagm.runs import Run, kept, open_run


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
    read = list[tuple[Run, str]]()
    of_suite = Run._of_suite
    monkeypatch.setattr(
        Run, "_of_suite", lambda run, ending, suite: read.append((run, suite.name)) or of_suite(run, ending, suite)
    )
    third.table("results.parquet", "agreement")
    first.table("results.parquet", "p")
    second.table("results.parquet", "p")
    first.table("results.parquet", "p")
    monkeypatch.setattr(kept, "MOST_BYTES", memory._bytes - 1)
    second.table("results.parquet", "agreement")
    assert read == [(third, "agreement"), (first, "p"), (second, "p"), (second, "agreement")]
    first.table("results.parquet", "p")
    assert len(read) == 4
    second.table("results.parquet", "p")
    assert read[4:] == [(second, "p")]


@pytest.mark.parametrize("on_disk", [True, False])
def test_what_is_written_into_a_frame_does_not_change_the_run(tmp_path: Path, on_disk: bool) -> None:
    run = toy_run(tmp_path / "run", agreement()) if on_disk else evaluate(load("toy"), [agreement()])
    numbers = [estimate.value for estimate in estimates(run)]
    assert numbers[0] == 1 / 3
    drawn = figure("scores", run)
    of_suite = partial(run.table, "results.parquet", "agreement"), partial(run.results, "agreement")
    frames = run.results, *of_suite, run.tally, partial(run.tally, "all"), partial(run.sentences, "agreement")
    for make in (*frames, partial(run.regions, "agreement"), drawn.to_frame):
        before, frame = make(), make()
        for place, column in enumerate(frame.columns):
            if frame.schema[column] == pl.Float64:
                frame.replace_column(place, pl.Series(column, [1.0] * len(frame)))
        frame.drop_in_place(frame.columns[0])
        frame.extend(frame)
        assert make().equals(before)
    assert [estimate.value for estimate in estimates(run)] == numbers
