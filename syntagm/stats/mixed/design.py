"""What a model formula makes of a table: the response, the fixed effects, and the groups with the effects that vary in them.

Random terms of one group are kept as one grouping, with the pattern of the covariances that are free; the columns of a
grouping are scaled to a mean square of 1, so that the search for the covariances doesn't depend on units.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import polars as pl
from numpy.typing import NDArray

from syntagm.errors import InputError, UsageError
from syntagm.stats.mixed import columns as _lmm_columns
from syntagm.stats.mixed.columns import Columns, Numbers
from syntagm.stats.mixed.terms import Bar, Model, Variable

MAX_CELLS = 10_000_000
MAX_COVARIANCES = 500
_RANK = 1e-9
# Products of columns are squares of what tells them apart: below this the covariances are lost in rounding.
_APART = 2e-4

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Grouping:
    """Effects that vary between the levels of a group.

    Arguments:
        name: the columns of the group, joined by colons.
        levels: the values that occur, sorted.
        index: which level each row has. Shape (rows,).
        effects: what varies, under R's names.
        columns: their values, scaled. Shape (rows, effects).
        scale: what the values were divided by. Shape (effects,).
        free: which entries of the lower triangle of the covariance factor are estimated. Shape (effects, effects).
    """

    name: str
    levels: tuple[str, ...]
    index: Integers
    effects: tuple[str, ...]
    columns: Numbers
    scale: Numbers
    free: NDArray[np.bool_]

    @property
    def size(self) -> int:
        """How many random effects there are: levels x effects."""
        return len(self.levels) * len(self.effects)


@dataclass(frozen=True, slots=True)
class Design:
    """A table as a mixed-effects model sees it.

    Arguments:
        model: the formula.
        response: shape (rows,).
        fixed: the columns of the fixed effects, linearly independent.
        groupings: the one with most random effects first.
        remarks: what was dropped, in words.
        trials: of how many trials each response counts the successes; ones for a linear model. Shape (rows,).
    """

    model: Model
    response: Numbers
    fixed: Columns
    groupings: tuple[Grouping, ...]
    remarks: tuple[str, ...]
    trials: Numbers


def design(
    model: Model,
    table: pl.DataFrame,
    *,
    reference: Mapping[str, str] | None = None,
    missing: str = "refuse",
    dependent: str = "refuse",
    trials: str = "",
) -> Design:
    """Apply a formula to a table; the options are those of `regression.fit`.

    Raises:
        InputError, UsageError: whatever makes the model impossible to fit, by name.
    """
    chosen, dropped = _lmm_columns.used(model, table, [trials] if trials else [], missing)
    if not len(chosen):
        raise InputError(model.text, "a table without complete rows", "at least one")
    factors = _lmm_columns.levels(model, chosen, reference or {})
    fixed, gone = _independent(_lmm_columns.columns(model.fixed, chosen, factors), model.text, dependent)
    remarks = [f"{dropped} of {len(table)} rows dropped: a value is missing"] if dropped else []
    remarks += [f"fixed effects dropped, since the others determine them: {', '.join(gone)}"] if gone else []
    groupings = _groupings(model.bars, chosen, factors, model.text)
    if len(fixed.names) >= len(chosen):
        raise InputError(
            model.text, f"{len(fixed.names)} fixed effects for {len(chosen)} rows", "more rows than effects"
        )
    response = _lmm_columns.number(model.response, chosen, "the response")
    counted = _lmm_columns.number(Variable(trials), chosen, "the number of trials") if trials else np.ones(len(chosen))
    return Design(model, response, fixed, groupings, tuple(remarks), counted)


def independent(values: Numbers) -> NDArray[np.bool_]:
    """Which columns don't follow from those before them. Shape (columns,)."""
    space = np.empty((len(values), min(values.shape)))
    found: list[bool] = []
    for column in values.T:
        basis = space[:, : sum(found)]
        length = float(np.linalg.norm(column))
        rest = column / length if length else column
        for _ in range(2):  # once more, since rounding leaves something of the others
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        found.append(left > _RANK and basis.shape[1] < space.shape[1])
        if found[-1]:
            space[:, basis.shape[1]] = rest / left
    return np.array(found, np.bool_)


def within(values: Numbers, others: Numbers) -> bool:
    """Are all columns linear combinations of the others?"""
    both = np.column_stack([others, values])
    return not independent(both)[others.shape[1] :].any()


def blocks(found: Design) -> list[Grouping]:
    """The groupings, cut into blocks of correlated effects."""
    cut = []
    for one in found.groupings:
        starts = [n for n in range(len(one.effects)) if not one.free[n, :n].any()]
        for start, end in pairwise([*starts, len(one.effects)]):
            part = slice(start, end)
            free = one.free[part, part]
            cut.append(
                replace(one, effects=one.effects[part], columns=one.columns[:, part], scale=one.scale[part], free=free)
            )
    return cut


def contains(large: Grouping, small: Grouping) -> bool:
    """Can one block of random effects express another?"""
    partition = (
        len(large.levels) == len(small.levels) == len(set(zip(large.index.tolist(), small.index.tolist(), strict=True)))
    )
    return partition and within(small.columns, large.columns)


def _independent(found: Columns, place: str, dependent: str) -> tuple[Columns, list[str]]:
    if dependent not in ("refuse", "drop"):
        raise UsageError("option dependent", repr(dependent), "'refuse' or 'drop'")
    kept = independent(found.values)
    gone = [name for name, keep in zip(found.names, kept, strict=True) if not keep]
    if gone and dependent == "refuse":
        raise InputError(
            place, f"fixed effects that the others determine: {', '.join(gone)}", "linearly independent columns",
            'Leave such terms out of the formula, or have these columns dropped with dependent="drop".',
        )  # fmt: skip
    names = tuple(name for name in found.names if name not in gone)
    return Columns(names, found.values[:, kept]), gone


def _groupings(
    bars: Sequence[Bar], table: pl.DataFrame, factors: Mapping[str, Sequence[str]], place: str
) -> tuple[Grouping, ...]:
    blocks: dict[str, list[Columns]] = {}
    sources = {":".join(bar.group): bar.group for bar in bars}
    for bar in bars:
        blocks.setdefault(":".join(bar.group), []).append(_lmm_columns.columns(bar.effects, table, factors))
    found = [_grouping(_lmm_columns.group(table, sources[name]), name, parts, place) for name, parts in blocks.items()]
    found.sort(key=lambda one: -one.size)
    if not found:
        return (nothing(len(table)),)
    if (count := sum(int(one.free.sum()) for one in found)) > MAX_COVARIANCES:
        cure = "Let fewer effects vary, or without correlations: ||."
        raise InputError(place, f"{count} variances and covariances", f"at most {MAX_COVARIANCES}", cure)
    rest = sum(one.size for one in found[1:])
    if rest * (rest + found[0].size) > MAX_CELLS:
        raise InputError(
            place, f"{rest} random effects crossed with {found[0].size}", f"a product of at most {MAX_CELLS}",
            "The exact likelihood would not fit into memory: take fewer rows, or fewer crossed groups.",
        )  # fmt: skip
    return tuple(found)


def _grouping(group: tuple[list[str], Integers], name: str, parts: Sequence[Columns], place: str) -> Grouping:
    levels, index = group
    if len(levels) < 2:
        raise InputError(f"group {name}", f"only the level {levels[0]}", "two or more", "Leave its random term out.")
    effects = [effect for part in parts for effect in part.names]
    if twice := sorted({effect for effect in effects if effects.count(effect) > 1}):
        raise InputError(place, f"{', '.join(twice)} varies twice by {name}", "each effect once for a group")
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
    """Correlated effects must differ by more than rounding, or depend on each other exactly, which a singular fit tells."""
    columns = part.values / np.linalg.norm(part.values, axis=0)
    smallest = float(np.linalg.svd(columns, compute_uv=False).min())
    if _RANK < smallest < _APART:
        found = f"effects by {name} that hardly differ: {', '.join(part.names)}"
        expected = "predictors that vary by more than a few thousandths of a per cent of their size"
        raise InputError(place, found, expected, "Subtract from each predictor its mean: the model stays the same.")


def nothing(rows: int) -> Grouping:
    """No random effects: a grouping without levels, so that the algebra needs no exception."""
    empty = np.empty((0, 0), np.bool_)
    return Grouping("", (), np.zeros(rows, np.int64), (), np.empty((rows, 0)), np.empty(0), empty)
