"""Lines of which each two are a pair, without a header: `pairs.txt?format=alternating&first=good`.

Nothing in such a file says which sentence is the good one, so the format and the option `first` must be named.
"""

from collections.abc import Iterator
from pathlib import Path

from syntagm.core import UsageError
from syntagm.suites.formats import _pair
from syntagm.suites.suite import Suite

ENDINGS = (".txt",)


def claims(path: Path, head: str) -> bool:
    """Return False, because plain text may be anything."""
    return False


def read_as(path: Path, head: str, **options: str) -> str:
    """Say which sentence is taken as the good one."""
    return f"alternating lines, the {options.get('first', '')} sentence of each pair first"


def read(path: Path, *, first: str = "") -> Iterator[Suite]:
    """Read the suite in a file. The suite is named after the file, and pairs are numbered from 0.

    Arguments:
        path: the file.
        first: `good` or `bad`: the first sentence of each pair.

    Raises:
        InputError: a line is empty, or the number of lines is odd.
        UsageError: `first` is missing, or is something else.
    """
    if first not in ("good", "bad"):
        expected = f"{path.name}?format=alternating&first=good or {path.name}?format=alternating&first=bad"
        raise UsageError(f"{path}, first", repr(first) if first else "not given", expected)
    yield from _pair.alternating(path, first)
