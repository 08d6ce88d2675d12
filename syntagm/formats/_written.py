"""The files that this package writes: suites. Users may edit them; a run records their hashes."""

from syntagm.formats import blimp, pairs, syntaxgym, syntaxgym_csv
from syntagm.io.integrity import File

FILES = tuple(
    File("a suite", f"*{ending}", checked=False)
    for ending in dict.fromkeys((*syntaxgym.WRITES, *blimp.WRITES, *pairs.WRITES, *syntaxgym_csv.WRITES))
)
