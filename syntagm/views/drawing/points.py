"""Points of a chart: where they are, their number with its interval, and what screen readers say of them."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from syntagm.core import shown
from syntagm.views.drawing.text import spoken

Row = Mapping[str, Any]
ESTIMATE = ("value", "low", "high")


def estimated(row: Row, estimate: Sequence[str] = ESTIMATE, digits: int = 3) -> str:
    """Say the number of a row with its interval, and its n.

    Arguments:
        estimate: the columns of the number and of the ends of its interval.
        digits: the number of decimals.

    >>> estimated({"value": 0.25, "low": 0.2, "high": 0.3, "n": 12})
    '0.250 [0.200, 0.300], n=12'
    """
    return f"{spoken(*(row[name] for name in estimate), digits=digits)}, n={row['n']}"


def point(row: Row, said: str, *places: str, estimate: Sequence[str] = ESTIMATE) -> dict[str, Any]:
    """Return the data of a point: its places, `value`, `low` and `high` (nan as null), and `said`.

    Without an interval there is also `why`, which `chart.finish` writes below the title; empty if unknown. With
    an empty `method`, none was meant.

    Arguments:
        said: what screen readers say of it.
        places: the columns that say where it is; hidden characters of their texts are shown.
        estimate: the columns of the number and of the ends of its interval.

    >>> point({"model": "toy", "x": 3, "value": 0.5, "low": float("nan"), "high": float("nan")}, "toy: 0.500", "model", "x")
    {'model': 'toy', 'x': 3, 'value': 0.5, 'low': None, 'high': None, 'why': '', 'said': 'toy: 0.500'}
    """
    known = not isnan(row[estimate[1]]) or isnan(row[estimate[0]]) or row.get("method") == ""
    given = (row.get("method") or "").partition("no interval: ")[2].partition(";")[0]
    why = {} if known else {"why": given or ("n = 1" if row.get("n") == 1 else "")}
    where = {name: shown(row[name]) if isinstance(row[name], str) else row[name] for name in places}
    numbers = {name: None if isnan(row[at]) else row[at] for name, at in zip(ESTIMATE, estimate, strict=True)}
    return {**where, **numbers, **why, "said": shown(said)}
