"""Damaged files of the studio: `syntagm integrity` names each, and what is whole stays readable."""

import shutil
from pathlib import Path

import pytest

pytest.importorskip("starlette")

from studio_for_tests import TWO_BY_TWO

from syntagm.core import RunError, integrity
from syntagm.studio import Jobs, Store


def damaged(folder: Path) -> set[Path]:
    found = [finding for inspected in integrity.of_folder(folder) for finding in inspected.findings]
    return {finding.path for finding in found if finding.state == "damaged"}


def written(folder: Path) -> Path:
    """Save a suite twice, and end one of two jobs; return the folder of the ended one."""
    store = Store(folder)
    store.save("own.tsv", TWO_BY_TWO, "")
    store.save("own.tsv", TWO_BY_TWO.replace("dog", "fox"), store.read("own.tsv").digest)
    jobs = Jobs(folder, {"toy": "toy"})
    job, _ = (jobs.find(jobs.add("own.tsv", TWO_BY_TWO, ["toy"], None)) for _ in range(2))
    jobs.cancel(job.number)
    return job.folder


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    written(folder := tmp_path_factory.mktemp("studio"))
    assert damaged(folder) == set()
    return folder


@pytest.mark.parametrize(
    "pattern", ["history/own.tsv/*", "jobs/0001/job.json", "jobs/0001/end.json", "jobs/0001/own.tsv"]
)
@pytest.mark.parametrize("place", [0.0, 0.5, 1.0])
def test_each_changed_byte_is_named(whole: Path, tmp_path: Path, pattern: str, place: float) -> None:
    shutil.copytree(whole, tmp_path, dirs_exist_ok=True)
    path = sorted(tmp_path.glob(pattern))[0]
    content = bytearray(path.read_bytes())
    content[round(place * (len(content) - 1))] ^= 4
    path.write_bytes(content)
    assert damaged(tmp_path) == {path}


def test_a_damaged_version_is_refused_and_the_others_are_read(tmp_path: Path) -> None:
    written(tmp_path)
    store = Store(tmp_path)
    first, second = store.versions("own.tsv")[:2]
    [path] = [path for path in tmp_path.rglob("*.tsv") if path.name.startswith(f"{second.number:04}-")]
    path.write_text("x")
    assert store.version("own.tsv", first.number).text
    with pytest.raises(RunError, match="damaged"):
        store.version("own.tsv", second.number)
