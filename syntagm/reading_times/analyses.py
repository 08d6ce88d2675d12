"""Analyses of reading times: the numbers of a fit or of effects, as views, reports and citations take them from its record.

`syntagm reading fit` and `reading effects` write a table with a sealed record beside it. The record has all numbers of views,
so that looking at an analysis fits nothing again.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from syntagm.core import InputError, SyntagmError, UsageError
from syntagm.reading_times import fitting, record, regressions, slopes
from syntagm.reading_times.alarms import Alarm
from syntagm.reading_times.effects import UNITS
from syntagm.reading_times.fitting import COLUMNS, Linearity, Outcome
from syntagm.reading_times.observations import ROW, Observations
from syntagm.reading_times.slopes import Slopes
from syntagm.reading_times.tables import open_table
from syntagm.stats import Variable, critical

FIT, EFFECTS = "reading fit", "reading effects"
_CITED = re.compile(r"@([\w-]+)")
# The places of a curve.
_PLACES = 40


def next_word(label: str, rows: Observations, model: str, random: Sequence[str]) -> Slopes | None:
    """Fit a regression again with the first added column of the next word beside the others; its slope is the last."""
    # Times spill over to later words only, so a slope of the next word is a sign that times belong to another word.
    term = rows.added[label][0]
    over = [f":{role}" for role in ("language", "participant", "text") if f":{role}" in rows.frame.columns]
    columns = []
    for each in term:
        # Between two rows of a regression there may be words that were dropped.
        following = pl.when(pl.col(ROW).shift(-1) - pl.col(ROW) == 1).then(pl.col(each.column).shift(-1))
        columns.append((following.over(over) if over else following).alias(f"{each.column} (next)"))
    frame = rows.frame.sort(ROW, maintain_order=True).with_columns(columns)
    frame = frame.drop_nulls([f"{each.column} (next)" for each in term])
    later = tuple(Variable(f"{each.column} (next)", each.function) for each in term)
    terms = (*rows.added[label], later)
    if frame.height < 10 * (len(rows.baseline) + len(terms) + 1):
        return None
    wider = replace(rows, frame=frame, added={**rows.added, label: terms})
    try:
        return slopes.fit(label, wider, fitting.clusters(wider), model, random)
    except SyntagmError:
        return None


def curve_of_shape(label: str, rows: Observations) -> list[tuple[str, float, float, float, float, int]]:
    """Compute the curve of the first added column: model, place, difference in ms from the median, low, high, n."""
    added = rows.added[label]
    straight = rows.columns((*rows.baseline, *added))
    values = regressions.smoothed(rows, added)
    bases = [regressions.basis(column, name) for name, column in values.items()]
    curve = regressions.smooth(
        straight.values, [base.at(column) for base, column in zip(bases, values.values(), strict=True)], rows.times
    )
    first = next(iter(values))
    own = values[first]
    low, high = (float(np.quantile(own, share)) for share in (0.005, 0.995))
    places = np.linspace(low, high, _PLACES)
    centre = np.array([np.median(own)])
    at = straight.names.index(first)
    width = bases[0].parts.shape[1]
    start = straight.values.shape[1]

    def columns(at_values: regressions.Numbers) -> regressions.Numbers:
        found = np.zeros((len(at_values), len(curve.coefficients)))
        found[:, at] = at_values
        found[:, start : start + width] = bases[0].at(at_values)
        return found

    differences = columns(places) - columns(centre)
    estimates = differences @ curve.coefficients
    errors = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", differences, curve.covariance, differences), 0))
    reach = critical(math.inf) * errors
    return [
        (label, float(place), float(value), float(value - wide), float(value + wide), len(own))
        for place, value, wide in zip(places, estimates, reach, strict=True)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """The results of one command about reading times."""

    name: str  # what tells it from other analyses: the name of its table, without its ending
    content: Mapping[str, Any]  # its record (`record.RECORD`)
    frame: pl.DataFrame  # its table

    @property
    def command(self) -> str:
        """The command that made it: `reading fit`, `reading effects` and so on."""
        return str(self.content["command"])

    @property
    def methods(self) -> str:
        """The methods paragraph, with citations in Pandoc's form, and what earlier versions left unsaid; "" if it has none."""
        text = str(self.content["results"].get("methods", ""))
        if text and self.command == EFFECTS and "times" not in self.frame.columns:
            return f"{text} ({UNITS['']})"
        if text and self.content["settings"].get("random") and "slopes" not in self.content["results"]:
            return f"{text} The baseline had no random slopes of the added columns."
        return text

    def rows(self, part: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return some of its results, which the record has as a list of objects."""
        results = self.content["results"]
        if part not in results:
            reason = results.get("left_out", {}).get(part, f"a record of `{self.command}` without them")
            raise UsageError(
                f"{part} of {self.name}", reason, "an analysis that has them", f"Repeat the command: {self.command}."
            )
        return [tuple(row.get(name) for name in columns) for row in results[part]]


def rows_of(analyses: Sequence[Analysis], part: str, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return some results of several analyses, each row with the name of its analysis first; see `Analysis.rows`."""
    return [(one.name, *row) for one in analyses for row in one.rows(part, columns)]


def open_analysis(path: Path) -> Analysis:
    """Open the results of a command, by the path of its table or of the record beside it."""
    output = path.with_name(path.name.removesuffix(record.ENDING))
    beside = record.place(output)
    if not beside.is_file():
        cure = "Give -o to `syntagm reading fit` or `reading effects`: it writes the table and its record."
        raise InputError(str(path), f"no record {beside.name} beside it", "the results of `syntagm reading`", cure)
    content = record.RECORD.read(beside)
    if error := record.inspect(beside)[output]:
        raise error
    return Analysis(output.stem, content, open_table(output).frame)


def open_analyses(paths: Sequence[str | Path]) -> list[Analysis]:
    """Open several analyses; those of one name are told apart by their folders."""
    found = [open_analysis(Path(path)) for path in paths]
    names = [one.name for one in found]
    return [
        Analysis(str(Path(path).parent / one.name), one.content, one.frame) if names.count(one.name) > 1 else one
        for path, one in zip(paths, found, strict=True)
    ]


def of_outcome(outcome: Outcome, found: Sequence[Alarm] = (), tests: Sequence[Linearity] = ()) -> Analysis:
    """Return a fit in memory, with the same numbers as in its record; for the arguments see `of_fit`."""
    content = {"command": FIT, **of_fit(outcome, found, tests)}
    return Analysis("fit", content, outcome.frame())


def of_fit(outcome: Outcome, found: Sequence[Alarm] = (), tests: Sequence[Linearity] = ()) -> dict[str, Any]:
    """Return what the record of a fit says: rows, dropped, notes, alarms, and the results of all views."""
    gains = [
        {
            "model": gain.model, "n": len(gain.gains), "gain": gain.mean, "low": finite(gain.interval.low),
            "high": finite(gain.interval.high), "method": gain.interval.method,
        }
        for gain in outcome.gains
    ]  # fmt: skip
    differences = [
        {
            "first": pair.first, "second": pair.second, "difference": pair.value, "low": finite(pair.interval.low),
            "high": finite(pair.interval.high), "p": finite(pair.interval.p),
        }
        for pair in outcome.differences
    ]  # fmt: skip
    left_out: dict[str, str] = {}
    results: dict[str, Any] = {
        "columns": list(COLUMNS), "gains": gains, "differences": differences, "methods": fitting.methods(outcome),
        "slopes": [row for each in outcome.slopes.values() for row in of_slopes(each)], "lag": _lag(outcome),
        "linearity": [_plain(asdict(test)) for test in tests],
    }  # fmt: skip
    if not results["lag"]:
        del results["lag"]
        left_out["lag"] = "; ".join(dict.fromkeys(outcome.left_out.values()))
    try:
        results["shape"] = _shape(outcome)
    except SyntagmError as error:
        left_out["shape"] = str(error)
    if left_out:
        results["left_out"] = left_out
    return {
        "rows": outcome.rows, "dropped": dict(outcome.dropped), "notes": list(outcome.notes),
        "alarms": [asdict(alarm) for alarm in found], "results": results,
    }  # fmt: skip


def _lag(outcome: Outcome) -> list[dict[str, Any]]:
    found = []
    for label, own in outcome.slopes.items():
        rows = [row for row in of_slopes(own) if row["predictor"] == own.predictors[0]]
        after = next_word(label, outcome.observations[label], outcome.request.model, outcome.request.random)
        if after:
            same = {name: rows[0][name] for name in ("predictor", "unit")}
            rows.insert(0, {**of_slopes(after)[-1], **same, "words_back": -1})
        found += [{**row, "method": own.method} for row in rows]
    return found


def _shape(outcome: Outcome) -> list[dict[str, Any]]:
    return [
        {"model": label, "predictor": _first(outcome, label), "at": at, "ms": ms, "low": low, "high": high, "n": n}
        for label, rows in outcome.observations.items()
        for _, at, ms, low, high, n in curve_of_shape(label, rows)
    ]


def _first(outcome: Outcome, label: str) -> str:
    return ":".join(map(str, outcome.observations[label].added[label][0]))


def of_slopes(found: Slopes) -> list[dict[str, Any]]:
    """Return the slopes of a model as records have them; `ms` is in the unit that `unit` says."""
    return [
        {
            "model": model, "predictor": predictor, "words_back": back, "ms": value, "se": finite(se), "low": finite(low),
            "high": finite(high), "n": found.n, "unit": unit,
        }
        for model, predictor, back, value, se, low, high, unit in found.cells()
    ]  # fmt: skip


def cited(analyses: Sequence[Analysis]) -> list[str]:
    """Return the keys of the works that the methods paragraphs of analyses cite, in the order of the text."""
    return list(dict.fromkeys(key for one in analyses for key in _CITED.findall(one.methods)))


def finite(number: float) -> float | None:
    """Return a number as JSON can have it: None for nan."""
    return number if number == number else None


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: finite(value) if isinstance(value, float) else value for name, value in row.items()}
