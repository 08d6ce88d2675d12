"""Benchmarks that are run by hand (`make bench`) and are no part of the tests; see benchmarks/README.md."""

import platform
import subprocess
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
STORE = ROOT / ".bench"


def processor() -> str:
    """Return the name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def commit_and_machine() -> str:
    """Return a sentence that says where numbers come from: the day, the commit, and the machine.

    The commit is the last one before the page that has the sentence.
    """
    found = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    commit = found.stdout.strip() or "unknown"
    return f"{date.today()}, commit {commit}, {processor()}, one thread, Python {platform.python_version()}."
