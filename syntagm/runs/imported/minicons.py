"""minicons, or any script: a CSV file with the log-probabilities of two sentences in each row.

    good,bad,score_good,score_bad

Scores are sums of natural logarithms, as `sequence_score(texts, reduction=lambda x: x.sum(0).item())` gives them. Further
columns: `suite` (by default the name of the file), `item` (by default the number of the row, from 0), `reported` (1 or 0).
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from syntagm.core import InputError, csv, utf8
from syntagm.evaluation import Sum
from syntagm.runs.imported.pairs import Pair
from syntagm.suites import Suite

COLUMNS = ("good", "bad", "score_good", "score_bad")


def read(files: Sequence[Path], suites: Sequence[Suite] = ()) -> Iterator[Pair]:
    for file in files:
        for number, (line, row) in enumerate(csv.records(utf8.read(file), file, COLUMNS)):
            place = f"{file}, line {line}"
            good, bad = (_bits(row[name], f"{place}, {name}") for name in COLUMNS[2:])
            reported = row.get("reported", "")
            if reported not in ("", "0", "1"):
                raise InputError(f"{place}, reported", repr(reported), "1, 0 or nothing")
            own = float(reported) if reported else float(good < bad)
            yield Pair(
                row.get("suite") or file.stem,
                row.get("item") or str(number),
                row["good"],
                row["bad"],
                Sum(good, bad, own),
            )


def _bits(text: str, place: str) -> float:
    try:
        nats = float(text)
    except ValueError:
        nats = math.inf
    if not nats <= 1e-4:
        raise InputError(place, repr(text), "a sum of log-probabilities, at most 0")
    return -nats / math.log(2) + 0.0
