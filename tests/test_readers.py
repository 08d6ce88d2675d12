"""Every reader on mutated inputs; `make test-night` tries a million, with coverage as a guide."""

import random
from pathlib import Path

import pytest
from fuzzing import rows
from fuzzing.readers import READERS


def tried(name: str, folder: Path, inputs: int, seed: int) -> int:
    """Let a reader read so many mutants; return how many it accepted."""
    reader = READERS[name]
    seeds, chance = reader.seeds(folder), random.Random(f"{name} {seed}")
    path = folder / reader.file
    assert reader.survives(path, seeds[0]), "the input to begin with is refused"
    return sum(reader.survives(path, reader.mutant(chance, seeds)) for _ in range(max(1, inputs // reader.cost)))


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_mutants_are_read_or_refused(name: str, tmp_path: Path) -> None:
    accepted = tried(name, tmp_path, 25, seed=1)
    assert accepted < 25 or name in ("toy", "text")


@pytest.mark.slow
@pytest.mark.parametrize("name", READERS)
def test_many_mutants_are_read_or_refused(name: str, tmp_path: Path) -> None:
    tried(name, tmp_path, 1_000, seed=2)


@pytest.mark.slow
def test_damaged_rows_are_refused_or_read_right() -> None:
    counts, wrong = rows.run(300, 3, list(rows.BY_NAME))
    assert not wrong
    assert min(counts["read"], counts["refused"]) > 50
