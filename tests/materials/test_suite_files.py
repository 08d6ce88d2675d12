"""Suite files are read once, as long as they fit in memory."""

from pathlib import Path

import pytest

from syntagm.suites import Suite, SuiteFiles
from syntagm.suites.materials import suite_files


def pairs(count: int) -> str:
    rows = (f"Dog {number} barks at a cat.\tDog {number} bark at a cat.\n" for number in range(count))
    return "good\tbad\n" + "".join(rows)


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    for name, count in (("small", 10), ("large", 2_000), ("huge", 2_001), ("last", 10)):
        (tmp_path / f"{name}.tsv").write_text(pairs(count))
    return [str(tmp_path / f"{name}.tsv") for name in ("small", "large", "huge", "last")]


@pytest.mark.slow
def test_what_does_not_fit_is_read_again_one_file_at_a_time(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[str] = []

    def read(file: str, allow_pickle: bool) -> list[Suite]:
        found.append(Path(file).stem)
        return reading(file, allow_pickle)

    reading = suite_files.read_suite_file
    monkeypatch.setattr(suite_files, "read_suite_file", read)
    monkeypatch.setattr(suite_files, "MOST_BYTES", 100_000)
    suites = SuiteFiles(files)
    first = list(suites)
    # All are read for the names of their suites.
    assert found == ["small", "large", "huge", "last", "large", "huge"]
    assert list(suites) == first
    assert found[6:] == ["large", "huge"]
    # The units of one suite follow each other.
    assert suites.read(files[2]) == suites.read(files[2])
    assert found[8:] == []
    assert suites.read(files[1]) == [first[1]]
    assert found[8:] == ["large"]


def test_one_file_is_read_once(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite_files, "MOST_BYTES", 0)
    (suite,) = SuiteFiles(files[:1])
    assert (suite.name, len(suite.items)) == ("small", 10)


def written(folder: Path, names: dict[str, str]) -> list[str]:
    """Files with one pair each: path -> the name of the suite."""
    for path, name in names.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        rows = f"suite\tgood\tbad\n{name}\tThe kite at {path} flies.\tThe kite at {path} fly.\n"
        (folder / path).write_text(rows.replace("\t", ",") if path.endswith(".csv") else rows)
    return [str(folder / path) for path in names]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ({"a/x.tsv": "kites", "a/y.tsv": "gates"}, ["kites", "gates"]),
        ({"a/x.tsv": "Plural", "a/y.tsv": "Plural", "a/z.tsv": "Dual"}, ["x/Plural", "y/Plural", "Dual"]),
        ({"a/kites.tsv": "kites", "b/kites.tsv": "kites"}, ["a/kites", "b/kites"]),
        ({"a/x.tsv": "kites", "b/x.tsv": "kites"}, ["a/x/kites", "b/x/kites"]),
        ({"a/x.tsv": "kites", "a/x.csv": "kites"}, ["x.tsv/kites", "x.csv/kites"]),
        ({"kites.tsv": "kites", "x.tsv": "kites"}, ["kites", "x/kites"]),
    ],
)
@pytest.mark.parametrize("memory", [0, 10**9])
def test_the_paths_tell_suites_of_one_name_apart(
    tmp_path: Path, names: dict[str, str], expected: list[str], memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(suite_files, "MOST_BYTES", memory)
    files = written(tmp_path, names)
    suites = SuiteFiles(files)
    assert [suite.name for suite in suites] == [suite.name for suite in suites] == expected
    assert [suites.read(file)[0].name for file in files] == expected


def test_one_path_with_two_options_is_not_told_apart(tmp_path: Path) -> None:
    (file,) = written(tmp_path, {"x.tsv": "kites"})
    assert [suite.name for suite in SuiteFiles([file, f"{file}?quote=none"])] == ["kites", "kites"]


@pytest.mark.slow
def test_the_estimate_is_not_below_what_python_takes(files: list[str]) -> None:
    import tracemalloc

    tracemalloc.start()
    suites = list(SuiteFiles(files))
    taken, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert taken < sum(map(suite_files._bytes, suites)) < 4 * taken
