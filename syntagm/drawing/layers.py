"""Layers of a chart: dots, intervals, lines, bands, labels and dashed lines, as all charts draw them."""

from collections.abc import Mapping, Sequence

from syntagm.drawing.axes import of
from syntagm.drawing.chart import INK, Spec

Values = Sequence[Mapping[str, object]]


def layer(mark: Spec, encoding: Spec, where: Spec | None = None, values: Values | None = None) -> Spec:
    """A mark with its channels.

    Arguments:
        where: which rows are drawn: `defined` or `equal`.
        values: rows of its own.
    """
    made: Spec = {} if values is None else {"data": {"values": list(values)}}
    return made | ({"transform": [{"filter": where}]} if where else {}) | {"mark": mark, "encoding": encoding}


def defined(field: str) -> Spec:
    """Rows that have a number in a column."""
    return {"field": field, "valid": True}


def equal(field: str, value: object) -> Spec:
    """Rows that have a value in a column."""
    return {"field": field, "equal": value}


def dot(size: int | None = None, opacity: float | None = 1, filled: bool = True, **mark: object) -> Spec:
    """A point, the only mark that screen readers are told; others repeat what it says."""
    made: Spec = {"type": "point", "filled": filled} | ({} if size is None else {"size": size}) | mark
    return made if opacity is None else made | {"opacity": opacity}


def rule(**mark: object) -> Spec:
    """A straight line, as of an interval."""
    return {"type": "rule", **mark, "aria": False}


def line(width: float, **mark: object) -> Spec:
    """A line through points."""
    return {"type": "line", "strokeWidth": width, **mark, "aria": False}


def band(opacity: float) -> Spec:
    """An area, as of an interval along a line."""
    return {"type": "area", "opacity": opacity, "aria": False}


def label(size: float, **mark: object) -> Spec:
    """Small text at the right of its place."""
    return {"type": "text", "align": "left", "fontSize": size, "color": INK, **mark}


def dashed(color: str = INK, **mark: object) -> Spec:
    """A dashed line that says what to compare with: chance, a level, people."""
    return rule(strokeDash=[4, 3], color=color, **mark)


def reference(at: float, channel: Spec, towards: str, mark: Spec) -> Spec:
    """A line across the plot at one number of a channel."""
    return layer(mark, {towards: of(channel, "at")}, values=[{"at": at}])
