"""The tables of runs that are held in memory: those used last, whichever run they belong to.

So the memory for reading runs doesn't grow with their number. A table that was dropped is read again when it is needed.
"""

import itertools
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable

import polars as pl

# The most bytes of all tables together. The results on BLiMP's 67,000 pairs take about 5 MB for each model and measure.
MOST_BYTES = 256_000_000
# What a table takes beside its values: small ones of many suites are mostly this.
_OVERHEAD = 8_000


class _Memory:
    """The tables of all runs, those used last at the end."""

    def __init__(self) -> None:
        # Each with its bytes when it was read: polars may join the parts of a table later.
        self._tables: OrderedDict[tuple[int, str, str], tuple[pl.DataFrame, int]] = OrderedDict()
        self._bytes = 0
        # Reentrant, because a garbage collection may drop a run at any time.
        self._lock = threading.RLock()

    def get(self, key: tuple[int, str, str]) -> pl.DataFrame | None:
        with self._lock:
            if key not in self._tables:
                return None
            self._tables.move_to_end(key)
            return self._tables[key][0]

    def put(self, key: tuple[int, str, str], table: pl.DataFrame) -> None:
        """Hold a table, and drop others if there are too many bytes."""
        with self._lock:
            self._forget(key)
            self._tables[key] = table, int(table.estimated_size()) + _OVERHEAD
            self._bytes += self._tables[key][1]
            while self._bytes > MOST_BYTES and len(self._tables) > 1:
                self._forget(next(iter(self._tables)))

    def drop(self, run: int) -> None:
        with self._lock:
            for key in [key for key in self._tables if key[0] == run]:
                self._forget(key)

    def _forget(self, key: tuple[int, str, str]) -> None:
        if held := self._tables.pop(key, None):
            self._bytes -= held[1]


_memory = _Memory()
_numbers = itertools.count()


class Kept:
    """Those tables of one run that are held in memory."""

    def __init__(self, run: object) -> None:
        self._number = next(_numbers)
        weakref.finalize(run, _memory.drop, self._number).atexit = False

    def table(self, kind: str, suite: str, read: Callable[[], pl.DataFrame]) -> pl.DataFrame:
        # It is a copy, which shares the values: in a frame of polars, columns are replaced, and values never are. So
        # what is written into it stays there, and doesn't change the run.
        key = (self._number, kind, suite)
        if (table := _memory.get(key)) is None:
            table = read()
            _memory.put(key, table)
        return table.clone()
