"""The layers of charts: dots, intervals, lines, bands, labels and dashed lines."""

from collections.abc import Mapping, Sequence

from syntagm.views.drawing.axes import of
from syntagm.views.drawing.chart import INK, Spec

Values = Sequence[Mapping[str, object]]


def layer(mark: Spec, encoding: Spec, where: Spec | None = None, values: Values | None = None) -> Spec:
    """Make a layer from a mark and its channels."""
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    return data | ({"transform": [{"filter": where}]} if where else {}) | {"mark": mark, "encoding": encoding}


def defined(field: str) -> Spec:
    """Make a filter for rows with a number in a column."""
    return {"field": field, "valid": True}


def equal(field: str, value: object) -> Spec:
    """Make a filter for rows with a given value in a column."""
    return {"field": field, "equal": value}


def dot(size: int | None = None, opacity: float | None = 1, filled: bool = True, **mark: object) -> Spec:
    """Make a point. Screen readers read out only this mark, because the others repeat its numbers."""
    point: Spec = {"type": "point", "filled": filled} | ({} if size is None else {"size": size}) | mark
    return point if opacity is None else point | {"opacity": opacity}


def rule(**mark: object) -> Spec:
    """Make a straight line, for example for an interval."""
    return {"type": "rule", **mark, "aria": False}


def line(width: float, **mark: object) -> Spec:
    """Make a line through points."""
    return {"type": "line", "strokeWidth": width, **mark, "aria": False}


def band(opacity: float) -> Spec:
    """Make an area, for example for intervals along a line."""
    return {"type": "area", "opacity": opacity, "aria": False}


def label(size: float, **mark: object) -> Spec:
    """Make small text to the right of its position."""
    return {"type": "text", "align": "left", "fontSize": size, "color": INK, **mark}


def dashed(color: str = INK, **mark: object) -> Spec:
    """Make a dashed line for a reference value such as chance, a level or human accuracy."""
    return rule(strokeDash=[4, 3], color=color, **mark)


def reference(at: float, channel: Spec, towards: str, mark: Spec) -> Spec:
    """Make a layer with a line across the plot at one value of a channel."""
    return layer(mark, {towards: of(channel, "at")}, values=[{"at": at}])
