"""Benchmarks that are run by hand (`make bench`) and are no part of the tests; see benchmarks/README.md."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
STORE = ROOT / ".bench"
