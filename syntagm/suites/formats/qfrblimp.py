"""QFrBLiMP (Beauchemin et al. 2025): two sentences, the votes of annotators, and a label that says which one is good.

The label 0 means that `sentence_a` is the good one, 1 that `sentence_b` is. The votes count in the same way. The columns
`sentence_a`, `sentence_b` and `label` alone could mean something else, so the columns of votes (`annotator_1`, ...) are
required; without them, name the columns (`?good=sentence_a&bad=sentence_b&label=label`).
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagm.suites.formats import _table, pairs
from syntagm.suites.suite import Suite

ENDINGS = (".jsonl", ".csv", ".tsv")
_COLUMNS = ("sentence_a", "sentence_b", "label")


def claims(path: Path, head: str) -> bool:
    """Return whether this is a table with the three columns and those of votes."""
    if path.suffix not in ENDINGS or not all(name in head[:4000] for name in (*_COLUMNS, "annotator_")):
        return False
    return _has_columns(_table.excerpt(path, head, _has_columns).columns)


def unscored(path: Path, head: str, **options: str) -> list[str]:
    """Return the columns that become tags."""
    return [name for name in _table.excerpt(path, head, _has_columns).columns if name not in _COLUMNS]


def read_as(path: Path, head: str, **options: str) -> str:
    return "good: sentence_a where label is 0, sentence_b where it is 1"


def read(path: Path, *, suite: str = "") -> Iterator[Suite]:
    """Read the suite of a file; the suite is named after the file.

    Arguments:
        path: the file.
        suite: a column with the names of suites, such as `category`.

    Raises:
        InputError, UsageError: as for the format `pairs`.
    """
    first, second, label = _COLUMNS
    yield from pairs.read(path, good=first, bad=second, label=label, values="0,1", suite=suite)


def _has_columns(columns: Sequence[str]) -> bool:
    votes = [name for name in columns if name.startswith("annotator_")]
    return bool(votes) and set(_COLUMNS) <= set(columns)
