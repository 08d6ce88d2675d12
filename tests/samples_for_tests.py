"""Samples of the dataset formats: the files in `tests/data/NAME/` for each format NAME, found and not listed."""

from functools import cache
from pathlib import Path

from syntagm.core import registry
from syntagm.suites import claimed

DATA = Path(__file__).parent / "data"
FILES = [path for name in registry.names("formats") for path in sorted((DATA / name).glob("*"))]
# Files that their format doesn't recognise by itself: its options must be given.
UNCLAIMED = ("unknown.csv", "agreement-across_pp.txt", "kites_first_good.txt", "rows.csv", "zones.csv")
# Formats whose samples are written by tests: a language of its own, and pickles.
WRITTEN = ("template", "marvin2018")


def of_format(name: str) -> list[Path]:
    """Return the samples of a format: the files that it alone claims, and those in its folder that no format claims."""
    return [path for path in FILES if (_format(path) or path.parent.name) == name]


@cache
def _format(path: Path) -> str:
    claims = claimed(path)
    return claims[0].__name__.rpartition(".")[2] if len(claims) == 1 else ""
