"""Completion, asked as a shell asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def completed(line: str, folder: Path) -> list[str]:
    output = folder / "answer"
    surroundings = os.environ | {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(output),
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "COMP_TYPE": "9",
        "_ARGCOMPLETE_SUPPRESS_SPACE": "1",
    }
    program = "import sys; sys.argv = ['syntagm']; from syntagm.cli import main; main()"
    subprocess.run([sys.executable, "-c", program], env=surroundings, cwd=folder, check=True, timeout=120)
    return [word.strip() for word in output.read_text(encoding="utf-8").split("\n") if word.strip()]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("syntagm com", {"compare"}),
        ("syntagm run de", {"demo"}),
        ("syntagm run demo --sui", {"--suite"}),
        ("syntagm run demo --suite hu2", {"hu2020"}),
        ("syntagm run demo --suite hu2020/mv", {"hu2020/mvrr", "hu2020/mvrr_mod"}),
        ("syntagm fill demo --words np", {"npis"}),
        ("syntagm table sco", {"scores"}),
        ("syntagm table traj", {"trajectory", "trajectory_gap"}),
        ("syntagm train ngram --disc", {"--discount-fallback"}),
    ],
)
def test_words(line: str, words: set[str], tmp_path: Path) -> None:
    assert set(completed(line, tmp_path)) == words


@pytest.mark.slow
def test_files_stand_beside_bundled_names(tmp_path: Path) -> None:
    (tmp_path / "human.json").write_text("{}")
    assert set(completed("syntagm check hu", tmp_path)) == {"hu2020", "human.json"}
