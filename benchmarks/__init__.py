"""Measurements run by hand (`make bench`), never part of the tests; see README.md here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
STORE = ROOT / ".bench"
