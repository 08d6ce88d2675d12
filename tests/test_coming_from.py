"""The page for users of R: its commands run, and R reads what they write."""

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from syntagm.cli import main

PAGE = Path(__file__).parents[1] / "docs" / "guide" / "coming_from" / "r.md"


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_reads_what_the_page_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    commands = re.findall(r"^ {4}syntagm (.*)$", text, re.MULTILINE)
    assert len(commands) == 4
    for command in commands:
        assert main(shlex.split(command)) == 0, command
    [program] = re.findall(r"^```r\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    done = subprocess.run(["Rscript", "--vanilla", "-e", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # Two suites, and the mean of a model whose surprisals tie everywhere: no prediction holds.
    assert re.search(r"mvrr +0\n.*number_prep +0\n", done.stdout), done.stdout
