"""The fault laboratory: a fault at the n-th call to the disk, then the same command again, which ends as if undisturbed.

The faults are a kill, a kill in the middle of a write, a call that fails (no space, an input or output error, a read-only file
system; once, or from then on), and a power cut, after which only what was synced is certain to be there.
`python -m tests.laboratory` tries thousands of them.
"""

import json
import os
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from laboratory.damage import ARTEFACTS, EXEMPT, Damages
from laboratory.disk import COMPILER, HERE, Disk, tree
from laboratory.lines import LINES, PREPARATION, READERS, prepare, write_inputs
from laboratory.trials import KINDS, Laboratory, faults

from syntagm.core import FOLDERS, registry
from syntagm.core.io.integrity import FILES, File
from syntagm.training import families

OF_FOLDERS = {
    kind: [name for name, artefact in ARTEFACTS.items() if artefact.kind == kind]
    for kind in {artefact.kind for artefact in ARTEFACTS.values()}
}
# A server writes these, and no command line; tests/studio/test_studio_damage.py damages them.
SERVED = {"studio", "job", "pages"}
compiled = pytest.mark.skipif(not COMPILER, reason="no gcc, which compiles the faults")


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    folder = tmp_path_factory.mktemp("laboratory")
    disk = Disk(folder / "disk")
    prepare(disk, folder / "start")
    yield Laboratory(disk, folder / "start")
    disk.close()


def wrong(laboratory: Laboratory, name: str, number: int) -> list[str]:
    """Try faults of a command line; return what is wrong after each."""
    undisturbed, draw = laboratory.undisturbed(LINES[name]), random.Random(name)
    assert undisturbed.outcome.code == 0, undisturbed.outcome.printed
    assert laboratory.not_durable(undisturbed) == []
    kinds = draw.sample(KINDS, len(KINDS))
    return [
        f"{undisturbed.described(fault)}: {problem}"
        for fault in faults(undisturbed, number, draw, kinds)
        for problem in laboratory.trial(undisturbed, fault)
    ]


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("name", LINES)
def test_a_command_after_a_fault_ends_like_an_undisturbed_one(laboratory: Laboratory, name: str) -> None:
    assert wrong(laboratory, name, 4) == []


@compiled
@pytest.mark.slow
@pytest.mark.parametrize("folder", sorted(OF_FOLDERS))
def test_no_damaged_file_changes_a_number_in_silence(laboratory: Laboratory, tmp_path: Path, folder: str) -> None:
    """Flipped bits, lost ends, swapped, deleted and edited files: refused by name, or repaired, or without effect."""
    kinds: set[File] = set()
    for name in OF_FOLDERS[folder]:
        damages = Damages(laboratory.disk, laboratory.start, ARTEFACTS[name], tmp_path / name)
        assert list(damages.trials(8, random.Random(name))) == []
        kinds |= set(damages.kinds.values())
    declared = next((each.files for each in FOLDERS if each.name == folder), FILES)
    # Users name single files, so that only their endings tell their kinds.
    found, expected = ({kind.pattern for kind in group if kind.name not in EXEMPT} for group in (kinds, declared))
    assert found == expected, "a kind of file without an artefact in laboratory/damage.py that has one"


def test_every_declared_kind_of_folder_is_damaged_in_a_trial() -> None:
    """A new kind of folder needs an artefact in laboratory/damage.py; the slow lane damages its files."""
    assert set(OF_FOLDERS) | SERVED == {folder.name for folder in FOLDERS} | {""}


@compiled
@pytest.mark.slow
def test_a_sample_of_faults(tmp_path: Path) -> None:
    disk = Disk(tmp_path / "disk", preload=False)
    prepare(disk, tmp_path / "start", [])
    assert wrong(Laboratory(disk, tmp_path / "start"), "make_pairs", 3) == []
    disk.close()


def test_every_command_that_writes_is_tried() -> None:
    """A new command belongs into LINES, or to those that write nothing; so do a new family's training and a new import."""
    assert {line[0].replace("-", "_") for line in LINES.values()} == set(registry.names("cli")) - READERS
    trained = {line[1] for line in LINES.values() if line[0] == "train"}
    assert trained == {family.name for family in families.FAMILIES if not family.variant_of}
    assert {line[1] for line in LINES.values() if line[0] == "import"} == set(registry.names("checkpoints"))


# Runs command lines one after another, as a process of number 1.
NUMBERED = """
import json, os, sys
if {forced}:
    os.getpid = lambda: 1
assert os.getpid() == 1
from syntagm.cli import main
print("ready", flush=True)
sys.stdin.readline()
for line in json.loads(sys.argv[1]):
    code = main(line)
    assert code == 0 or line[0] == "train", line
"""


@pytest.mark.slow
def test_two_processes_of_one_number_write_whole_files(tmp_path: Path) -> None:
    """As in two containers: the same exports, tables, figures, reports, cache and training at the same time."""
    forced = (
        not shutil.which("unshare") or subprocess.run(["unshare", "-pf", "true"], capture_output=True).returncode != 0
    )
    root = tmp_path / "root"
    write_inputs(root)
    preparation = [PREPARATION[name] for name in ("make", "run", "other", "ngram", "lstm")]
    names = ("export_results", "export_arpa", "table", "figure", "report", "make")
    lines = [LINES[name] for name in names for _ in range(3)] + [LINES["train_lstm"]]
    environment = os.environ | {"PYTHONPATH": str(HERE.parents[1]), "SYNTAGM_CACHE": str(root / "answers.sqlite")}

    def start(*lines: tuple[str, ...]) -> subprocess.Popen[str]:
        program = [sys.executable, "-c", NUMBERED.format(forced=forced), json.dumps(lines)]
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        return subprocess.Popen(
            program if forced else ["unshare", "-pf", *program], cwd=root, env=environment, text=True, **pipes
        )

    def finish(*processes: subprocess.Popen[str]) -> None:
        for process in processes:
            assert process.stdout
            assert process.stdout.readline() == "ready\n"
        for process in processes:
            assert process.stdin
            print(file=process.stdin, flush=True)
        for process in processes:
            printed, _ = process.communicate()
            assert process.returncode == 0, printed
            assert "damaged" not in printed

    finish(start(*preparation))
    finish(start(*lines, LINES["run_cached"]))
    expected = _products(root)
    shutil.rmtree(root / "out")
    (root / "out").mkdir()
    (root / "answers.sqlite").unlink()
    other = [*LINES["run_cached"]]
    other[other.index("-o") + 1] = "out/other"
    finish(start(*lines, LINES["run_cached"]), start(*lines, tuple(other)))
    assert _products(root / "out" / "other") == {
        name.removeprefix("out/run/"): content for name, content in expected.items() if name.startswith("out/run/")
    }
    shutil.rmtree(root / "out" / "other")
    assert _products(root) == expected


def _products(folder: Path) -> dict[str, bytes]:
    """Return the files without those that hold times, or count the answers that were in the cache."""
    timed = {"run.json", "training.json", "seal.json", "ledger.jsonl"}
    return {
        name: content
        for name, content in tree(folder).items()
        if Path(name).name not in timed and not name.startswith("answers.sqlite") and not name.endswith("/")
    }
