"""The files that this package writes: run directories, and the cache of answers."""

from pathlib import Path

from syntagm.errors import SyntagmError
from syntagm.io.integrity import Folder, Kind
from syntagm.runs import cache, ledger

RUN = Folder(
    "run",
    ("run.json", "ledger.jsonl", "shards/*.results.parquet"),
    (
        Kind("the record of the run", "run.json"),
        Kind("the ledger of finished units", "ledger.jsonl"),
        Kind("the results of a unit", "shards/????????????????????????????????.results.parquet"),
        Kind("the contexts of a unit", "shards/????????????????????????????????.contexts.parquet"),
        Kind("the lemmas of a unit", "shards/????????????????????????????????.lemmas.parquet"),
        Kind("the most probable entries of a unit", "shards/????????????????????????????????.top_words.parquet"),
        Kind("the sentences of a unit", "shards/????????????????????????????????.parquet"),
        Kind("a damaged file that was set aside", "shards/damaged-*", checked=False),
        Kind("all results as CSV", "results.csv"),
        Kind("all results as Parquet", "results.parquet"),
        Kind("the word list", "words.csv"),
        Kind("a report", "report.html", checked=False),
    ),
    ledger.faults,
    ledger.renew,
)


def _cache_faults(folder: Path) -> dict[Path, SyntagmError]:
    error = cache.fault(folder / cache.NAME)
    return {folder / cache.NAME: error} if error else {}


CACHE = Folder(
    "cache",
    (cache.NAME,),
    (
        Kind("answers of models", cache.NAME),
        Kind("the log of answers.sqlite", f"{cache.NAME}-wal", checked=False),
        Kind("the index of that log", f"{cache.NAME}-shm", checked=False),
        Kind("a damaged file that was set aside", f"{cache.NAME}.damaged-*", checked=False),
    ),
    _cache_faults,
)

FOLDERS = (RUN, CACHE)
