"""Model matrix of a formula: numeric columns, factors in treatment coding, and interactions as products, as in R.

A factor is a column of strings, categories or truth values. Its reference level is the first by code point, or the
first category. The reference level has no column if the formula has the same term without the factor; otherwise each
level has one (the rule of Chambers & Hastie 1992, page 38, as implemented in R's `terms` and `model.matrix`).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, did_you_mean
from syntagm.stats.mixed.formula import Model, Sum, Term, Variable

MAX_CELLS = 40_000_000

Numbers = NDArray[np.float64]
Levels = Mapping[str, Sequence[str]]

_FUNCTIONS: Mapping[str, Callable[[Numbers], Numbers]] = {
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "exp": np.exp,
    "sqrt": np.sqrt,
}


@dataclass(frozen=True, slots=True)
class Columns:
    """Named columns of numbers. Shape (rows, names)."""

    names: tuple[str, ...]
    values: Numbers


def used(
    model: Model, table: pl.DataFrame, extra: Sequence[str] = (), missing: str = "refuse"
) -> tuple[pl.DataFrame, int]:
    """Select the columns of a formula, and drop or refuse rows with missing values."""
    if missing not in ("refuse", "drop"):
        raise UsageError("option missing", repr(missing), "'refuse' or 'drop'")
    variables = [model.response, *_variables(model.fixed), *(v for bar in model.bars for v in _variables(bar.effects))]
    groups = [column for bar in model.bars for column in bar.group]
    names = [*dict.fromkeys([*(variable.column for variable in variables), *groups, *extra])]
    for name in names:
        if name not in table.columns:
            columns = ", ".join(table.columns[:12]) + (" ..." if len(table.columns) > 12 else "")
            raise InputError(model.text, f"no column {name}", f"one of {columns}", did_you_mean(name, table.columns))
    chosen = table.select(names)
    absent = chosen.select(
        pl.any_horizontal(
            pl.col(name).is_null() | (pl.col(name).is_nan() if chosen[name].dtype.is_float() else False)
            for name in names
        )
    ).to_series()
    count = int(absent.sum())
    if count and missing == "refuse":
        where = ", ".join(name for name in names if chosen[name].is_null().any() or _has_nan(chosen[name]))
        cure = 'Fill them in, or drop those rows with missing="drop".'
        raise InputError(model.text, f"{count} of {len(chosen)} rows lack a value ({where})", "complete rows", cure)
    return chosen.filter(~absent), count


def levels(model: Model, table: pl.DataFrame, reference: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Return the levels of each factor in a formula, beginning with the reference level."""
    sums = [model.fixed, *(bar.effects for bar in model.bars)]
    names = {variable.column: None for part in sums for variable in _variables(part) if not variable.function}
    factors = {name: _levels(table[name]) for name in names if not table[name].dtype.is_numeric()}
    for name, level in reference.items():
        if name not in factors:
            raise UsageError("option reference", f"{name}", f"a factor of the formula: {', '.join(factors) or 'none'}")
        if level not in factors[name]:
            raise UsageError("option reference", f"{name} has no level {level}", f"one of {', '.join(factors[name])}")
        factors[name] = (level, *(other for other in factors[name] if other != level))
    return factors


def columns(part: Sum, table: pl.DataFrame, factors: Levels) -> Columns:
    """Compute the columns of a sum of terms, in R's order and with R's names."""
    _limit(part, factors, len(table))
    names, values = ["(Intercept)"] * part.intercept, [np.ones(len(table))] * part.intercept
    full_once = not part.intercept
    for position, term in enumerate(part.terms):
        coded = []
        for variable in term:
            is_factor = not variable.function and variable.column in factors
            full = is_factor and _full(part.terms[:position], term, variable)
            if is_factor and full_once:
                full, full_once = True, False
            coded.append(_coded(variable, table, factors, full) if is_factor else _number(variable, table))
        crossed = _product(coded)
        names += crossed.names
        values += list(crossed.values.T)
    return Columns(tuple(names), np.column_stack(values) if values else np.empty((len(table), 0)))


def number(variable: Variable, table: pl.DataFrame, what: str) -> Numbers:
    """Return a numeric column with its function applied. Shape (rows,)."""
    column = table[variable.column]
    if not (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        example = next(iter(column.head(1)), "")
        raise InputError(
            f"column {variable.column}", f"{column.dtype}, for example {example!r}", f"numbers, because it is {what}"
        )
    raw = column.cast(pl.Float64).to_numpy()
    if not np.isfinite(raw).all():
        raise InputError(
            f"column {variable.column}", f"{int((~np.isfinite(raw)).sum())} infinite numbers", "finite numbers"
        )
    if not variable.function:
        return raw
    with np.errstate(all="ignore"):
        values = _FUNCTIONS[variable.function](raw)
    if not (fine := np.isfinite(values)).all():
        row = int(np.argmin(fine))
        found = f"{variable} is undefined in {int((~fine).sum())} rows, first where {variable.column} is {raw[row]:g}"
        raise InputError(
            f"column {variable.column}, row {row + 1}", found, "numbers above 0" if "log" in str(variable) else ""
        )
    return values


def group(table: pl.DataFrame, names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
    """Return the sorted levels that occur in a group of crossed columns, and the index of each row's level."""
    # Numbers are sorted by value, other values as text. The index has shape (rows,).
    plain = [pl.col(name).cast(pl.String) if table[name].dtype == pl.Categorical else pl.col(name) for name in names]
    keys = table.select(plain)
    levels = keys.unique().sort(names).with_row_index("")
    index = keys.join(levels, on=names, how="left", maintain_order="left")[""].cast(pl.Int64).to_numpy()
    shown = zip(*(_strings(levels[name]) for name in names), strict=True)
    return [":".join(row) for row in shown], index


def _variables(part: Sum) -> list[Variable]:
    return [variable for term in part.terms for variable in term]


def _has_nan(column: pl.Series) -> bool:
    return bool(column.dtype.is_float() and column.is_nan().any())


def _strings(column: pl.Series) -> list[str]:
    if column.dtype == pl.Boolean:
        return ["TRUE" if value else "FALSE" for value in column]
    return [str(value) for value in column]


def _levels(column: pl.Series) -> tuple[str, ...]:
    if isinstance(column.dtype, pl.Enum):
        present = set(column)
        return tuple(str(category) for category in column.dtype.categories if category in present)
    return tuple(sorted(set(_strings(column))))


def _full(before: Sequence[Term], term: Term, variable: Variable) -> bool:
    """Return whether a factor needs a column for each level in a term, because no earlier term contains the rest of it."""
    rest = set(term) - {variable}
    return bool(rest) and not any(rest <= set(earlier) for earlier in before)


def _coded(variable: Variable, table: pl.DataFrame, factors: Levels, full: bool) -> Columns:
    own = factors[variable.column]
    if len(own) < 2:
        raise InputError(
            f"column {variable.column}",
            f"only the level {', '.join(own)}",
            "two or more levels",
            "Remove it from the formula.",
        )
    if len(own) > 1000:
        raise InputError(
            f"column {variable.column}", f"{len(own)} levels as a fixed factor", "at most 1000",
            f"Let it vary at random: (1 | {variable.column}).",
        )  # fmt: skip
    number = {level: place for place, level in enumerate(own)}
    places = np.array([number[level] for level in _strings(table[variable.column])])
    shown = range(0 if full else 1, len(own))
    values = (places[:, None] == np.array(shown)).astype(np.float64)
    return Columns(tuple(variable.column + own[place] for place in shown), values)


def _number(variable: Variable, table: pl.DataFrame) -> Columns:
    return Columns((str(variable),), number(variable, table, "a predictor").reshape(-1, 1))


def _limit(part: Sum, factors: Levels, rows: int) -> None:
    """Refuse columns that would not fit into memory, before creating them."""
    widths = [math.prod(len(factors.get(str(variable), "1")) for variable in term) for term in part.terms]
    if (count := sum(widths)) * rows > MAX_CELLS:
        raise InputError(
            str(part), f"{count} columns for {rows} rows", f"at most {MAX_CELLS} cells", "Cross fewer factors."
        )


def _product(parts: Sequence[Columns]) -> Columns:
    """Multiply columns for an interaction: all combinations, with the first factor varying fastest."""
    product = parts[0]
    for other in parts[1:]:
        names = [f"{left}:{right}" for right in other.names for left in product.names]
        values = (other.values[:, :, None] * product.values[:, None, :]).reshape(len(other.values), -1)
        product = Columns(tuple(names), values)
    return product
