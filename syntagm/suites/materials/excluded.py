"""Lists of items that are left out of a run: CSV with the columns `suite` and `item`, as `check --exclude-list` writes it."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeAlias

from syntagm.core import InputError, UsageError, csv, did_you_mean, utf8
from syntagm.suites.suite import Suite

COLUMNS = ("suite", "item")
# Suite and item of each row, or the file that has them.
Excluded: TypeAlias = Sequence[tuple[str, str]] | str | Path


def read(path: Path) -> tuple[tuple[str, str], ...]:
    """Return suite and item of each row."""
    rows: dict[tuple[str, str], int] = {}
    for line, (suite, item) in csv.under(COLUMNS, utf8.read(path), path):
        if not suite or not item:
            raise InputError(f"{path}, line {line}", "an empty cell", "a suite and an item")
        if (suite, item) in rows:
            raise InputError(f"{path}, line {line}", f"the item of line {rows[suite, item]} again", "each item once")
        rows[suite, item] = line
    return tuple(rows)


def given(excluded: Excluded) -> tuple[tuple[str, str], ...]:
    """Return suite and item of each row of a list, which may be given as its file; the errors are those of `read`."""
    return read(Path(excluded)) if isinstance(excluded, str | Path) else tuple(excluded)


def refuse_unknown(rows: Sequence[tuple[str, str]], suites: Iterable[Suite]) -> None:
    """Refuse a list with a suite or an item that there is not, because a misspelt name would exclude nothing."""
    items = {suite.name: {item.id for item in suite.items} for suite in suites}
    for suite, item in rows:
        if suite not in items:
            found = f"the suite {suite!r}, which is not evaluated"
            raise UsageError("--exclude", found, "suites of this run", did_you_mean(suite, items))
        if item not in items[suite]:
            raise UsageError("--exclude", f"no item {item!r} in the suite {suite}", "ids of its items")
