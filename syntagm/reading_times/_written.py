"""The files that this package writes: tables for regressions, folds of fits, effects, and the records beside them."""

from syntagm.io.integrity import File
from syntagm.reading_times import record

FILES = (
    *(File("reading times with predictors", f"*.{ending}", checked=False) for ending in ("csv", "parquet")),
    File("the record of an analysis of reading times", f"*{record.ENDING}", checked=False, inspect=record.inspect),
)
