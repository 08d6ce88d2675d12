"""The files that this package writes: run directories, and the cache of answers."""

from pathlib import Path

from syntagm.errors import SyntagmError
from syntagm.io.integrity import File, Folder
from syntagm.runs import cache, ledger

RUN = Folder(
    "run",
    ("run.json", "ledger.jsonl", "shards/*.results.parquet"),
    (
        File("the record of the run", "run.json"),
        File("the ledger of finished units", "ledger.jsonl"),
        File("the results of a unit", "shards/????????????????????????????????.results.parquet"),
        File("the contexts of a unit", "shards/????????????????????????????????.contexts.parquet"),
        File("the lemmas of a unit", "shards/????????????????????????????????.lemmas.parquet"),
        File("the most probable entries of a unit", "shards/????????????????????????????????.top_words.parquet"),
        File("the answers of people of a unit", "shards/????????????????????????????????.answers.parquet"),
        File("the sentences of a unit", "shards/????????????????????????????????.parquet"),
        File("a damaged file that was set aside", "shards/damaged-*", checked=False),
        File("all results as CSV", "results.csv"),
        File("all results as Parquet", "results.parquet"),
        File("the word list", "words.csv"),
        File("a report", "report.html", checked=False),
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
        File("answers of models", cache.NAME),
        File("the log of answers.sqlite", f"{cache.NAME}-wal", checked=False),
        File("the index of that log", f"{cache.NAME}-shm", checked=False),
        File("a damaged file that was set aside", f"{cache.NAME}.damaged-*", checked=False),
    ),
    _cache_faults,
)

FOLDERS = (RUN, CACHE)
