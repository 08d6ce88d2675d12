"""Data sets of the hub as suites, from a cache laid out as huggingface_hub does it."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
import pytest
from huggingface_hub import constants

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.suites import expand, read_suites

COMMIT = "0123456789abcdef0123456789abcdef01234567"
ROWS = [
    {
        "sentence_good": f"The dog number {number} barks.", "sentence_bad": f"The dog number {number} bark.",
        "field": "syntax", "UID": "agreement", "simple_LM_method": True, "pair_id": number,
    }
    for number in range(4)
]  # fmt: skip


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    return tmp_path / "hub"


def store(cache: Path, files: Mapping[str, bytes], repository: str = "nyu-mll/blimp") -> Path:
    """Put a data set into the hub's cache: blobs by their hash, and a snapshot of links to them."""
    folder = cache / f"datasets--{repository.replace('/', '--')}"
    (folder / "refs").mkdir(parents=True, exist_ok=True)
    (folder / "refs" / "main").write_text(COMMIT)
    (folder / "blobs").mkdir(exist_ok=True)
    for name, content in files.items():
        blob = folder / "blobs" / hashlib.sha256(content).hexdigest()
        blob.write_bytes(content)
        link = folder / "snapshots" / COMMIT / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to(os.path.relpath(blob, link.parent))
    return folder


def table(rows: Sequence[Mapping[str, object]]) -> bytes:
    from io import BytesIO

    pl.DataFrame(rows).write_parquet(buffer := BytesIO())
    return buffer.getvalue()


def card(*configs: str) -> bytes:
    lines = [
        f"- config_name: {config}\n  data_files:\n  - split: train\n    path: {config}/train-*\n" for config in configs
    ]
    return ("---\nconfigs:\n" + "".join(lines) + "---\n# A data set\n").encode()


def test_the_layout_of_blimp(cache: Path) -> None:
    second = [{**row, "UID": "islands"} for row in ROWS]
    parts = {"agreement": [ROWS[:3], ROWS[3:]], "islands": [second]}
    files = {
        f"{config}/train-{number:05d}-of-{len(shards):05d}.parquet": table(rows)
        for config, shards in parts.items()
        for number, rows in enumerate(shards)
    }
    store(cache, {"README.md": card("agreement", "islands"), **files})
    one, other = read_suites("hf:nyu-mll/blimp")
    assert (one.name, len(one.items), other.name) == ("agreement", 4, "islands")
    assert one.tags["hub"] == f"nyu-mll/blimp@{COMMIT}"
    assert one.items[3].id == "3"
    assert one.items[3].sentences["good"].text == "The dog number 3 barks."
    [again] = read_suites(f"hf:nyu-mll/blimp@{COMMIT}/agreement")
    assert again == one
    with pytest.raises(UsageError, match="no configuration 'verbs'; expected one of agreement, islands"):
        expand(["hf:nyu-mll/blimp/verbs"])
    with pytest.raises(UsageError, match="no split 'test' of agreement; expected one of train"):
        expand(["hf:nyu-mll/blimp?split=test"])


def test_columns_and_splits_are_named(cache: Path) -> None:
    rows = [{"fine": "The dog barks.", "foul": "The dog bark."}]
    store(cache, {f"data/{split}-00000-of-00001.parquet": table(rows) for split in ("train", "test")}, "org/mine")
    with pytest.raises(UsageError, match=r"several splits of mine; expected one of test, train. .*split=NAME"):
        expand(["hf:org/mine"])
    with pytest.raises(InputError, match=r"no format claims it: its keys are 'fine', 'foul'; .*good=COLUMN&bad=COLUMN"):
        expand(["hf:org/mine?split=test"])
    [suite] = read_suites("hf:org/mine?split=test&good=fine&bad=foul")
    assert (suite.name, suite.items[0].sentences["bad"].text) == ("mine", "The dog bark.")


def test_a_card_with_splits_by_name(cache: Path) -> None:
    described = b"---\nconfigs:\n- config_name: pairs\n  data_files:\n    train: a.parquet\n    test: b.jsonl\n---\n"
    line = b'{"sentence_good": "The dog barks.", "sentence_bad": "The dog bark."}\n'
    store(cache, {"README.md": described, "a.parquet": table(ROWS), "b.jsonl": line}, "org/both")
    counts = [len(read_suites(f"hf:org/both?split={split}")[0].items) for split in ("train", "test")]
    assert counts == [4, 1]


def test_other_files_are_read_in_place(cache: Path) -> None:
    store(cache, {"test.tsv": b"good\tbad\nThe dog barks.\tThe dog bark.\n"}, "org/typed")
    [suite] = read_suites("hf:org/typed")
    assert (suite.name, suite.tags["hub"]) == ("test", f"org/typed@{COMMIT}")


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({"README.md": b"# Nothing"}, "no data that can be read"),
        (
            {"README.md": card("a", "b"), "a/train-0.parquet": table(ROWS)},
            r"hf:org/broken/b: no files of the split train",
        ),
        ({"README.md": b"---\nconfigs:\n- config_name: a\n---\n", "a.parquet": table(ROWS)}, "without data_files"),
        ({"a/train-00000-of-00002.parquet": table(ROWS)}, "1 of 2 files.* hf download --repo-type dataset org/broken"),
        ({"a/train.parquet": b"no table"}, "hf:org/broken, a: .*expected tables in Parquet"),
        ({"README.md": b"---\na: [\n---\n", "a.parquet": table(ROWS)}, "a card that can't be read"),
    ],
)
def test_what_is_refused(cache: Path, files: dict[str, bytes], message: str) -> None:
    store(cache, files, "org/broken")
    with pytest.raises(InputError, match=message):
        expand(["hf:org/broken"])


def test_a_damaged_blob(cache: Path) -> None:
    folder = store(cache, {"train.parquet": table(ROWS)})
    expand(["hf:nyu-mll/blimp"])
    [blob] = (folder / "blobs").iterdir()
    content = bytearray(blob.read_bytes())
    content[len(content) // 2] ^= 1
    blob.write_bytes(content)
    with pytest.raises(InputError, match="a damaged file in the hub's cache") as error:
        expand(["hf:nyu-mll/blimp"])
    assert f" Delete {blob}. Where there is a network: hf download --repo-type dataset nyu-mll/blimp" in str(
        error.value
    )


@pytest.mark.parametrize("name", ["hf:", "hf:/x", "hf:a b/c", "hf:../x", "hf:org/name@"])
def test_names_that_are_refused(cache: Path, name: str) -> None:
    with pytest.raises(SyntagmError, match="hf:"):
        expand([name])


@pytest.mark.parametrize(("name", "command"), [("hf:org/x", "org/x"), ("hf:org/x@v1/config", "org/x --revision v1")])
def test_offline(cache: Path, name: str, command: str) -> None:
    with pytest.raises(
        InputError, match=rf"the hub can't be reached, and its cache .* hf download --repo-type dataset {command}$"
    ):
        expand([name])


@pytest.mark.slow
def test_the_folder_of_hf_home(tmp_path: Path) -> None:
    store(tmp_path / "home" / "hub", {"train.parquet": table(ROWS)})
    environment = os.environ | {"HF_HOME": str(tmp_path / "home"), "XDG_CACHE_HOME": str(tmp_path / "user")}
    environment.pop("HF_HUB_CACHE", None)
    command = [
        sys.executable,
        "-m",
        "syntagm",
        "run",
        "toy",
        "--suite",
        "hf:nyu-mll/blimp",
        "-o",
        str(tmp_path / "run"),
    ]
    done = subprocess.run([*command, "--no-report"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"nyu-mll/blimp@{COMMIT}" in (tmp_path / "run" / "run.json").read_text()
