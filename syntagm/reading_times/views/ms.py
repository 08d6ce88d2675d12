"""Reading times, ms: effects of suites in milliseconds by region: those of people, and those that surprisal predicts."""

from collections.abc import Sequence
from typing import Annotated, Any

import polars as pl

from syntagm.core import UsageError
from syntagm.reading_times.analyses import EFFECTS, Analysis
from syntagm.reading_times.effects import COLUMNS as _COLUMNS, UNITS
from syntagm.views import Figure, Spec, Table, dots, finish, vega

COLUMNS = ("analysis", *_COLUMNS)
SCHEMA = {
    "analysis": pl.String, "suite": pl.String, "contrast": pl.String, "region": pl.String, "of": pl.String,
    "ms": pl.Float64, "low": pl.Float64, "high": pl.Float64, "items": pl.Int64,
}  # fmt: skip
OneSuite = Annotated[str, "name of a suite; default: every suite"]
_SLOPES = ("model", "predictor", "words_back", "ms", "low", "high", "n", "unit")


def make_table(analyses: Sequence[Analysis], suite: OneSuite = "") -> Table:
    """Make a row for each analysis, model, suite and region, and item if the analysis has them.

    Raises:
        UsageError: an analysis isn't one of `reading effects`, or there is no such suite.
    """
    frames = [(one, _frame(one, suite)) for one in analyses]
    by_item = any("item" in frame.columns for _, frame in frames)
    columns = (*COLUMNS[:5], "item", *COLUMNS[5:]) if by_item else COLUMNS
    rows = tuple(
        tuple({"analysis": one.name, "times": "unit unknown", **row}.get(name) for name in columns)
        for one, frame in frames
        for row in frame.iter_rows(named=True)
    )
    return Table("Effects in ms", columns, rows, notes=(*notes(analyses), "Intervals: 95%."))


def notes(analyses: Sequence[Analysis]) -> tuple[str, ...]:
    """Return a sentence for what the numbers of each analysis are about, and for each of its slopes."""
    units = tuple(f"{one.name}: {UNITS[unit]}" for one in analyses for unit in _units(one))
    return units + tuple(
        f"{one.name}: {model}, {predictor} of {f'{back} before' if back else 'the word'}: {ms:.3f} {unit or 'ms per unit'}"
        + (f" [{low:.3f}, {high:.3f}], n = {n:,}." if low is not None else ".")
        for one in analyses
        for model, predictor, back, ms, low, high, n, unit in one.rows("slopes", _SLOPES)
    )


def _units(one: Analysis) -> list[str]:
    return one.frame["times"].unique(maintain_order=True).to_list() if "times" in one.frame.columns else [""]


def draw_figure(analyses: Sequence[Analysis], suite: OneSuite = "") -> Figure:
    """Draw a panel for each suite and contrast: for each region, the effect of people and those predicted.

    Raises:
        UsageError: as for `make_table`, or the effects are those of items.
    """
    rows: list[tuple[Any, ...]] = []
    for one in analyses:
        frame = _frame(one, suite)
        if "item" in frame.columns:
            raise UsageError(f"figure ms of {one.name}", "effects by item", "effects by region", "Omit --by-item.")
        within = f" ({one.name})" if len(analyses) > 1 else ""
        for row in frame.iter_rows(named=True):
            place = (one.name, row["suite"] or "", row["contrast"], row["region"])
            # People are the same for all models.
            people = (*place, "people", row["people"], row["people_low"], row["people_high"], row["items"])
            if row["people"] is not None and people[1:] not in [each[1:] for each in rows]:
                rows.append(people)
            predicted = (row["predicted"], row["predicted_low"], row["predicted_high"])
            rows.append((*place, f"predicted, {row['model']}{within}", *predicted, row["items"]))
    table = pl.DataFrame(rows, schema=SCHEMA, orient="row").with_columns(pl.col("low", "high").fill_null(float("nan")))
    series = table["of"].unique(maintain_order=True).to_list()
    per = {"words": "ms per word", "regions": "ms per region", "": "ms, unit unknown"}
    units = " or ".join(dict.fromkeys(per[unit] for one in analyses for unit in _units(one)))
    specs: list[Spec] = []
    for at, ((name, contrast), part) in enumerate(table.group_by("suite", "contrast", maintain_order=True)):
        drawn = [
            {
                "name": row["region"], "series": row["of"], "note": "", "value": row["ms"], "low": row["low"],
                "high": row["high"], "said": f"{row['region']}, {row['of']}: {row['ms']:.3g} ms",
            }
            for row in part.iter_rows(named=True)
        ]  # fmt: skip
        title = f"{name}: {contrast}" if name else str(contrast)
        specs.append(dots.panel(drawn, vega.quantity("value", f"effect ({units})"), title, 0.0, series, key=not at))
    chart = vega.pile(specs, 20) if len(specs) > 1 else specs[0]
    return Figure(finish(chart, "Effects in ms", "95% intervals"), table)


def _frame(one: Analysis, suite: str) -> pl.DataFrame:
    if one.command != EFFECTS:
        found = f"an analysis of `{one.command}`"
        raise UsageError(f"ms of {one.name}", found, "one of `reading effects`", "Give the file that it wrote.")
    texts = ("model", "suite", "contrast", "region", "item", "times")
    frame = (
        one.frame.with_columns(
            pl.col(name).cast(pl.String).replace("NA", None).cast(pl.Float64)
            for name in one.frame.columns
            if name not in texts
        )
        .with_columns(pl.col(pl.Float64).fill_nan(None))
        .with_columns(pl.col("items").cast(pl.Int64))
    )
    if suite and suite not in frame["suite"]:
        known = ", ".join(map(str, frame["suite"].drop_nulls().unique(maintain_order=True)))
        raise UsageError("suite=", repr(suite), f"one of {known}")
    return frame.filter(pl.col("suite") == suite) if suite else frame
