"""The design of a mixed-effects model: response, fixed effects, and groupings with their random effects.

Random terms of the same group form one grouping, with a mask of the free covariances. The columns of a grouping are
scaled to a mean square of 1, so that the optimisation of the covariances doesn't depend on units.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError, did_you_mean
from syntagm.stats.mixed.formula import Bar, Model, Sum, Term, Variable

# A factor is a column of strings, categories or truth values. Its reference level is the first by code point, or the
# first category. The reference level has no column if the formula has the same term without the factor; otherwise each
# level has one (the rule of Chambers & Hastie 1992, page 38, as implemented in R's `terms` and `model.matrix`).

MAX_MODEL_CELLS = 40_000_000

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


def factor_levels(model: Model, table: pl.DataFrame, reference: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
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


def model_columns(part: Sum, table: pl.DataFrame, factors: Levels) -> Columns:
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


def group_index(table: pl.DataFrame, names: Sequence[str]) -> tuple[list[str], NDArray[np.int64]]:
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
    if (count := sum(widths)) * rows > MAX_MODEL_CELLS:
        raise InputError(
            str(part), f"{count} columns for {rows} rows", f"at most {MAX_MODEL_CELLS} cells", "Cross fewer factors."
        )


def _product(parts: Sequence[Columns]) -> Columns:
    """Multiply columns for an interaction: all combinations, with the first factor varying fastest."""
    product = parts[0]
    for other in parts[1:]:
        names = [f"{left}:{right}" for right in other.names for left in product.names]
        values = (other.values[:, :, None] * product.values[:, None, :]).reshape(len(other.values), -1)
        product = Columns(tuple(names), values)
    return product


MAX_CELLS = 10_000_000
MAX_COVARIANCES = 500
_RANK = 1e-9
# Products of columns square their differences: below this limit covariances are lost in numerical error.
_APART = 2e-4

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The random effects of a group."""

    name: str  # the columns of the group, joined by colons
    levels: tuple[str, ...]  # the levels that occur, sorted
    index: Integers  # the index of the level of each row. Shape (rows,).
    effects: tuple[str, ...]  # the random effects, with R's names
    columns: Numbers  # their scaled values. Shape (rows, effects).
    scale: Numbers  # the divisors of the values. Shape (effects,).
    free: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """The number of random effects: levels x effects."""
        return len(self.levels) * len(self.effects)


@dataclass(frozen=True, slots=True)
class Design:
    model: Model  # the formula
    response: Numbers  # Shape (rows,)
    fixed: Columns  # the linearly independent columns of the fixed effects
    groupings: tuple[Grouping, ...]  # the groupings, beginning with the one that has the most random effects
    remarks: tuple[str, ...]  # sentences about dropped rows and columns
    trials: Numbers  # the number of trials of each response; 1 in a linear model. Shape (rows,).


def design_of(
    model: Model,
    table: pl.DataFrame,
    *,
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    trials: str = "",
) -> Design:
    """Apply a formula to a table; the options are the same as for `linear.fit` and `logistic.fit`."""
    chosen, dropped = used(model, table, [trials] if trials else [], missing)
    if not len(chosen):
        raise InputError(model.text, "a table without complete rows", "at least one")
    factors = factor_levels(model, chosen, reference or {})
    fixed, dropped_effects = _independent(model_columns(model.fixed, chosen, factors), model.text, dependent)
    remarks = [f"{dropped} of {len(table)} rows dropped: a value is missing"] if dropped else []
    remarks += (
        [f"fixed effects dropped, since the others determine them: {', '.join(dropped_effects)}"]
        if dropped_effects
        else []
    )
    groupings = _groupings(model.bars, chosen, factors, model.text)
    if len(fixed.names) >= len(chosen):
        raise InputError(
            model.text, f"{len(fixed.names)} fixed effects for {len(chosen)} rows", "more rows than effects"
        )
    response = number(model.response, chosen, "the response")
    counted = number(Variable(trials), chosen, "the number of trials") if trials else np.ones(len(chosen))
    return Design(model, response, fixed, groupings, tuple(remarks), counted)


def independent(values: Numbers) -> NDArray[np.bool_]:
    """Return whether each column is linearly independent of those before it. Shape (columns,)."""
    space = np.empty((len(values), min(values.shape)))
    kept: list[bool] = []
    for column in values.T:
        basis = space[:, : sum(kept)]
        length = float(np.linalg.norm(column))
        rest = column / length if length else column
        for _ in range(2):  # twice, because of numerical error
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        kept.append(left > _RANK and basis.shape[1] < space.shape[1])
        if kept[-1]:
            space[:, basis.shape[1]] = rest / left
    return np.array(kept, np.bool_)


def within(values: Numbers, others: Numbers) -> bool:
    """Return whether all columns of one matrix are linear combinations of the columns of another."""
    both = np.column_stack([others, values])
    return not independent(both)[others.shape[1] :].any()


def blocks(design: Design) -> list[Grouping]:
    """Split the groupings into blocks of correlated effects."""
    parts = []
    for grouping in design.groupings:
        starts = [n for n in range(len(grouping.effects)) if not grouping.free[n, :n].any()]
        for start, end in pairwise([*starts, len(grouping.effects)]):
            block = slice(start, end)
            effects, columns, scale = grouping.effects[block], grouping.columns[:, block], grouping.scale[block]
            parts.append(
                replace(grouping, effects=effects, columns=columns, scale=scale, free=grouping.free[block, block])
            )
    return parts


def contains(large: Grouping, small: Grouping) -> bool:
    """Return whether one block of random effects can express another."""
    partition = (
        len(large.levels) == len(small.levels) == len(set(zip(large.index.tolist(), small.index.tolist(), strict=True)))
    )
    return partition and within(small.columns, large.columns)


def _independent(columns: Columns, place: str, dependent: str) -> tuple[Columns, list[str]]:
    if dependent not in ("refuse", "drop"):
        raise UsageError("option dependent", repr(dependent), "'refuse' or 'drop'")
    kept = independent(columns.values)
    dropped = [name for name, keep in zip(columns.names, kept, strict=True) if not keep]
    if dropped and dependent == "refuse":
        raise InputError(
            place, f"fixed effects that the others determine: {', '.join(dropped)}", "linearly independent columns",
            'Remove these terms from the formula, or drop the columns with dependent="drop".',
        )  # fmt: skip
    names = tuple(name for name in columns.names if name not in dropped)
    return Columns(names, columns.values[:, kept]), dropped


def _groupings(
    bars: Sequence[Bar], table: pl.DataFrame, factors: Mapping[str, Sequence[str]], place: str
) -> tuple[Grouping, ...]:
    blocks: dict[str, list[Columns]] = {}
    sources = {":".join(bar.group): bar.group for bar in bars}
    for bar in bars:
        blocks.setdefault(":".join(bar.group), []).append(model_columns(bar.effects, table, factors))
    groupings = [_grouping(group_index(table, sources[name]), name, parts, place) for name, parts in blocks.items()]
    groupings.sort(key=lambda grouping: -grouping.size)
    if not groupings:
        return (nothing(len(table)),)
    if (count := sum(int(grouping.free.sum()) for grouping in groupings)) > MAX_COVARIANCES:
        cure = "Use fewer random effects, or random effects without correlations: ||."
        raise InputError(place, f"{count} variances and covariances", f"at most {MAX_COVARIANCES}", cure)
    rest = sum(grouping.size for grouping in groupings[1:])
    if rest * (rest + groupings[0].size) > MAX_CELLS:
        raise InputError(
            place, f"{rest} random effects crossed with {groupings[0].size}", f"a product of at most {MAX_CELLS}",
            "The exact likelihood would not fit into memory: use fewer rows, or fewer crossed groups.",
        )  # fmt: skip
    return tuple(groupings)


def _grouping(group: tuple[list[str], Integers], name: str, parts: Sequence[Columns], place: str) -> Grouping:
    levels, index = group
    if len(levels) < 2:
        raise InputError(
            f"group {name}", f"only the level {levels[0]}", "two or more levels", "Remove its random term."
        )
    effects = [effect for part in parts for effect in part.names]
    if repeated := sorted({effect for effect in effects if effects.count(effect) > 1}):
        raise InputError(place, f"{', '.join(repeated)} given twice for group {name}", "each effect once per group")
    values = np.column_stack([part.values for part in parts])
    scale = np.sqrt((values**2).mean(axis=0))
    if not scale.all():
        raise InputError(
            place, f"{effects[int(np.argmin(scale))]} is 0 in every row", f"an effect that can vary by {name}"
        )
    for part in parts:
        _refuse_alike(part, name, place)
    free = np.zeros((len(effects), len(effects)), np.bool_)
    start = 0
    for part in parts:
        end = start + len(part.names)
        free[start:end, start:end] = np.tri(end - start, dtype=np.bool_)
        start = end
    return Grouping(name, tuple(levels), index, tuple(effects), values / scale, scale, free)


def _refuse_alike(part: Columns, name: str, place: str) -> None:
    """Refuse correlated effects that are nearly linearly dependent; exact dependence gives a singular fit instead."""
    columns = part.values / np.linalg.norm(part.values, axis=0)
    smallest = float(np.linalg.svd(columns, compute_uv=False).min())
    if _RANK < smallest < _APART:
        found = f"effects by {name} that are nearly linearly dependent: {', '.join(part.names)}"
        expected = "predictors that vary by more than a few thousandths of a per cent of their size"
        raise InputError(place, found, expected, "Subtract from each predictor its mean: the model stays the same.")


def nothing(rows: int) -> Grouping:
    """Return a grouping without levels, for models without random effects."""
    empty = np.empty((0, 0), np.bool_)
    return Grouping("", (), np.zeros(rows, np.int64), (), np.empty((rows, 0)), np.empty(0), empty)
