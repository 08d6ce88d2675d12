"""How much of the variance of scores belongs to classes, to sizes, to training runs, to suites and to the choice of items.

Unlike a comparison of AICs, shares are on a scale that doesn't depend on the number of observations, and they have
intervals. Groups with few levels have wide ones: five classes tell little about how much classes differ.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from syntagm.core import InputError
from syntagm.stats import bootstrap
from syntagm.stats.bootstrap import FEW

Numbers = NDArray[np.float64]
DRAWS = 10_000
_NONE = 1e-9
_REST = ("items", "residual")


@dataclass(frozen=True, slots=True)
class Share:
    """The share of the variance of responses that belongs to a group."""

    name: str  # of the group; "items" and "residual" are what no group explains
    levels: int  # the number of levels of the group; for "items" and "residual", of responses
    sd: float  # the standard deviation of the levels, in the unit of the responses
    share: float  # from 0 to 1; all shares sum to 1
    low: float  # `low`, `high`: the 95% interval of the share
    high: float
    # `only N levels`, if the group has fewer than ten; `only N of GROUP`, if another group has: the whole contains its
    # variance.
    remark: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """The variance of responses, split into the parts of groups."""

    names: tuple[str, ...]  # of the groups, then "items" if their variance is known, and "residual"
    levels: tuple[int, ...]  # the number of levels of each group, and of responses
    variances: Numbers  # of each part
    drawn: Numbers  # (draws, parts), the variances that are as likely, given the data

    def shares(self) -> list[Share]:
        low, high = np.percentile(self.drawn / self.drawn.sum(axis=1, keepdims=True), (2.5, 97.5), axis=0).tolist()
        found = (self.variances / self.variances.sum()).tolist()
        sds = (self.variances**0.5).tolist()
        groups = {name: count for name, count in zip(self.names, self.levels, strict=True) if name not in _REST}
        least = min(groups, key=lambda name: groups[name])
        few = f"only {groups[least]} of {least}" if groups[least] < FEW else ""
        return [
            Share(name, count, sd, share, start, end, f"only {count} levels" if groups.get(name, FEW) < FEW else few)
            for name, count, sd, share, start, end in zip(self.names, self.levels, sds, found, low, high, strict=True)
        ]

    def difference(self, first: str, second: str) -> tuple[float, float, float]:
        """Return by how much the share of one part exceeds that of another, and the 95% interval of this difference."""
        a, b = self.names.index(first), self.names.index(second)
        parts = np.vstack([self.variances, self.drawn])
        found = (parts[:, a] - parts[:, b]) / parts.sum(axis=1)
        low, high = np.percentile(found[1:], (2.5, 97.5)).tolist()
        return float(found[0]), low, high


def split(
    values: Sequence[float] | Numbers, groups: Mapping[str, Sequence[object]], sampling: Sequence[float] | None = None
) -> Split:
    """Split the variance of responses.

    A response is the sum of independent random effects, one for each group, and of a residual. The variances are those of
    Henderson's method 3 (1953), from the sums of squares of each group after those before it. The intervals are
    generalized ones (Weerahandi 1993): each sum of squares is divided by a drawn chi-squared variable, and the variances
    are computed again. This supposes normal effects, and is approximate if the design is not balanced. Negative variances
    become 0. The seed is that of `bootstrap.current()`.

    Arguments:
        values: the responses.
        groups: name -> the level of each response. A group comes before those that divide it (class, run), and an
            interaction after its parts.
        sampling: the variance that each response has because it is the mean of a sample of items; their mean is taken out
            of the residual.

    Raises:
        InputError: a group has one level or can't be told from the groups before it, no residual is left, or the responses
            don't differ.

    >>> found = split([1, 2, 5, 6, 9, 10, 1, 3], {"model": list("aabbccdd")}).shares()
    >>> [(share.name, share.levels, round(share.share, 3)) for share in found]
    [('model', 4, 0.938), ('residual', 8, 0.062)]
    """
    response = np.asarray(values, np.float64)
    columns = {name: _indicators(levels) for name, levels in groups.items()}
    basis = np.full((len(response), 1), len(response) ** -0.5)
    squares, degrees, expected = [], [], []
    for name, indicators in columns.items():
        own = _added(indicators, basis)
        if not own.shape[1]:
            found = "one level" if indicators.shape[1] == 1 else "the same rows as in groups before it"
            raise InputError(name, found, "levels that no group before it separates", f"Leave {name} out.")
        basis = np.hstack([basis, own])
        squares.append(float(((own.T @ response) ** 2).sum()))
        degrees.append(own.shape[1])
        expected.append([*(float(((own.T @ other) ** 2).sum()) for other in columns.values()), own.shape[1]])
    rest = len(response) - basis.shape[1]
    if rest < 1:
        raise InputError(", ".join(groups), f"{len(response)} responses", "more responses than levels of all groups")
    squares.append(float(((response - basis @ (basis.T @ response)) ** 2).sum()))
    degrees.append(rest)
    expected.append([0.0] * len(columns) + [rest])
    if not sum(squares) > _NONE * float((response**2).sum()):
        raise InputError("responses", "no variance", "responses that differ")
    source = bootstrap.generator(f"variance shares/{'/'.join(groups)}", bootstrap.current().seed)
    drawn = np.array(squares) * np.array(degrees) / source.chisquare(degrees, (DRAWS, len(degrees)))
    variances = _estimate_components(np.vstack([squares, drawn]), np.array(expected), sampling)
    names = (*groups, *(_REST if sampling is not None else _REST[1:]))
    levels = [column.shape[1] for column in columns.values()]
    counts = (*levels, *[len(response)] * (len(names) - len(levels)))
    return Split(names, counts, variances[0], variances[1:])


def _estimate_components(squares: Numbers, expected: Numbers, sampling: Sequence[float] | None) -> Numbers:
    # A sum of squares doesn't contain the groups before it, so `expected` is triangular.
    solved = np.maximum(np.linalg.solve(np.triu(expected), squares.T).T, 0)
    if sampling is None:
        return np.asarray(solved, np.float64)
    of_items = float(np.mean(sampling))
    left = np.maximum(solved[:, -1:] - of_items, 0)
    return np.hstack([solved[:, :-1], np.full_like(left, of_items), left])


def _indicators(levels: Sequence[object]) -> Numbers:
    index = {level: place for place, level in enumerate(dict.fromkeys(levels))}
    return np.eye(len(index))[[index[level] for level in levels]]


def _added(columns: Numbers, basis: Numbers) -> Numbers:
    """Return an orthonormal basis of what columns add to the space of a basis."""
    left = columns - basis @ (basis.T @ columns)
    vectors, values, _ = np.linalg.svd(left - basis @ (basis.T @ left), full_matrices=False)
    return np.asarray(vectors[:, values > 1e-7 * max(1.0, float(np.abs(columns).sum(axis=0).max()) ** 0.5)])
