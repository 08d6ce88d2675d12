"""Suite files are read once, as long as they fit in memory."""

from pathlib import Path

import pytest

from syntagm.materials import suite_files
from syntagm.materials.suite_files import SuiteFiles
from syntagm.suite import Suite


def pairs(count: int) -> str:
    rows = (f"Dog {number} barks at a cat.\tDog {number} bark at a cat.\n" for number in range(count))
    return "good\tbad\n" + "".join(rows)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, count in (("small", 10), ("large", 2_000), ("huge", 2_001), ("last", 10)):
        (tmp_path / f"{name}.tsv").write_text(pairs(count))
    return [str(tmp_path / f"{name}.tsv") for name in ("small", "large", "huge", "last")]


def test_what_does_not_fit_is_read_again_one_file_at_a_time(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def read(file: str, allow_pickle: bool) -> list[Suite]:
        found.append(Path(file).stem)
        return reading(file, allow_pickle)

    reading = suite_files.read
    monkeypatch.setattr(suite_files, "read", read)
    monkeypatch.setattr(suite_files, "MOST_BYTES", 100_000)
    suites = SuiteFiles(files)
    first = list(suites)
    assert found == ["small", "large", "huge", "last"]
    assert list(suites) == first
    assert found[4:] == ["large", "huge"]
    # The units of one suite follow each other.
    assert suites.read(files[2]) == suites.read(files[2])
    assert found[6:] == []
    assert suites.read(files[1]) == [first[1]]
    assert found[6:] == ["large"]


def test_the_estimate_is_not_below_what_python_takes(files: list[str]) -> None:
    import tracemalloc

    tracemalloc.start()
    suites = list(SuiteFiles(files))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < sum(map(suite_files._bytes, suites)) < 4 * taken
