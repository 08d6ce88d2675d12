"""The design of a mixed-effects model: response, fixed effects, and groupings with their random effects.

Random terms of the same group form one grouping, with a mask of the free covariances. The columns of a grouping are
scaled to a mean square of 1, so that the optimisation of the covariances doesn't depend on units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.core import InputError, UsageError
from syntagm.stats.mixed import columns as _lmm_columns
from syntagm.stats.mixed.columns import Columns, Numbers
from syntagm.stats.mixed.formula import Bar, Model, Variable

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
    """The design of a mixed-effects model."""

    model: Model  # the formula
    response: Numbers  # Shape (rows,)
    fixed: Columns  # the linearly independent columns of the fixed effects
    groupings: tuple[Grouping, ...]  # the groupings, beginning with the one that has the most random effects
    remarks: tuple[str, ...]  # sentences about dropped rows and columns
    trials: Numbers  # the number of trials of each response; 1 in a linear model. Shape (rows,).


def design(
    model: Model,
    table: pl.DataFrame,
    *,
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    trials: str = "",
) -> Design:
    """Apply a formula to a table; the options are the same as for `linear.fit` and `logistic.fit`."""
    chosen, dropped = _lmm_columns.used(model, table, [trials] if trials else [], missing)
    if not len(chosen):
        raise InputError(model.text, "a table without complete rows", "at least one")
    factors = _lmm_columns.levels(model, chosen, reference or {})
    fixed, dropped_effects = _independent(_lmm_columns.columns(model.fixed, chosen, factors), model.text, dependent)
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
    response = _lmm_columns.number(model.response, chosen, "the response")
    counted = _lmm_columns.number(Variable(trials), chosen, "the number of trials") if trials else np.ones(len(chosen))
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
        blocks.setdefault(":".join(bar.group), []).append(_lmm_columns.columns(bar.effects, table, factors))
    groupings = [
        _grouping(_lmm_columns.group(table, sources[name]), name, parts, place) for name, parts in blocks.items()
    ]
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
