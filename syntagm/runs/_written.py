"""The files that this room writes: run directories, and the cache of answers."""

from pathlib import Path

from syntagm.errors import SyntagmError
from syntagm.io.integrity import Folder, Kind
from syntagm.runs import cache, ledger

RUN = Folder(
    "run",
    ("run.json",),
    (
        Kind("the record of the run", "run.json"),
        Kind("the ledger of finished units", "ledger.jsonl"),
        Kind("the results of a unit", "shards/????????????????????????????????.results.parquet"),
        Kind("the contexts of a unit", "shards/????????????????????????????????.contexts.parquet"),
        Kind("the lemmas of a unit", "shards/????????????????????????????????.lemmas.parquet"),
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
    return {path: error for path in folder.glob("*.sqlite") if (error := cache.fault(path))}


CACHE = Folder(
    "cache",
    ("*.sqlite",),
    (
        Kind("answers of models", "*.sqlite"),
        Kind("the log of answers.sqlite", "*.sqlite-wal", checked=False),
        Kind("the index of that log", "*.sqlite-shm", checked=False),
        Kind("a damaged file that was set aside", "*.sqlite.damaged-*", checked=False),
    ),
    _cache_faults,
)

FOLDERS = (RUN, CACHE)
