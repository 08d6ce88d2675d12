"""Parts of Vega-Lite specifications: points, series with their colours, axes, layers of marks, and panels."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, isnan
from typing import Any

from syntagm.core import shown
from syntagm.evaluation import Kind
from syntagm.views.drawing.chart import INK, Spec
from syntagm.views.drawing.text import short_names, spoken

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


# The palette of Okabe and Ito, which colour-blind readers can tell apart, without black and yellow, which can't be seen
# on a dark or a light page; wine of Paul Tol's palette and grey are added.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#882255", "#808080")
# One fewer than the colours, so that 56 series differ in colour or shape.
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right")


@dataclass(frozen=True, slots=True)
class Series:
    """The series of a chart, with their channels."""

    field: str  # the column with the names of the series
    names: Sequence[str]  # the displayed names, in order
    width: float = 0.0  # the width of the plot in pixels; the legend must fit into it
    key: bool = False  # whether there is a legend
    colours: Sequence[str] = COLOURS  # the colours, in the order of the names

    @property
    def colour(self) -> Spec:
        return self._channel() | {"scale": self._scale(self.colours), "legend": self._legend}

    @property
    def shape(self) -> Spec:
        """The channel with a shape for each name, so that series can be told apart without colour."""
        return self._channel() | {"scale": self._scale(SHAPES), "legend": self._legend}

    @property
    def place(self) -> Spec:
        """The channel with an offset for each name, which places marks of several series side by side."""
        return self._channel() | {"scale": {"domain": list(self.names)}}

    def sizes(self, sizes: Sequence[float]) -> Spec:
        return self._channel() | {"scale": {"domain": list(self.names), "range": list(sizes)}, "legend": None}

    def _channel(self) -> Spec:
        return {"field": self.field, "type": "nominal"}

    def _scale(self, kinds: Sequence[str]) -> Spec:
        return {"domain": list(self.names), "range": [kinds[at % len(kinds)] for at in range(len(self.names))]}

    @property
    def _legend(self) -> Spec | None:
        """The legend above the plot, with short names of models, in as many columns as fit its width."""
        if not self.key:
            return None
        short = short_names(self.names)
        longest = min(max((len(name) for name in short.values()), default=1), 60)
        columns = min(max(1, int(self.width // (longest * 7.5 + 40))), len(self.names) or 1)
        legend: Spec = {"orient": "top", "direction": "horizontal", "columns": columns, "title": None}
        labels = {name: text for name, text in short.items() if text != name}
        return legend | ({"labelExpr": f"{json.dumps(labels)}[datum.label] || datum.label"} if labels else {})


FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def quantity(field: str, title: str | None, scale: Spec | None = None, **axis: object) -> Spec:
    channel: Spec = {"field": field, "type": "quantitative", "title": title}
    return channel | ({"scale": scale} if scale else {}) | ({"axis": axis} if axis else {})


def of(channel: Spec, field: str) -> Spec:
    """Copy a channel, with another column."""
    return {**channel, "field": field}


def spread(channel: Spec, towards: str = "y") -> Spec:
    """Make the two channels of an interval, from the column `low` to the column `high`."""
    return {towards: of(channel, "low"), f"{towards}2": {"field": "high"}}


def proportion(title: str, field: str = "value", ticks: Sequence[float] = FIFTHS, **axis: Any) -> Spec:
    """Make a channel for proportions from 0 to 1.

    >>> proportion("accuracy")["axis"]
    {'format': '.1f', 'values': [0, 0.2, 0.4, 0.6, 0.8, 1]}
    """
    return quantity(field, title, {"domain": [0, 1]}, **{"format": ".1f", "values": list(ticks)} | axis)


def mean(kind: Kind, title: str, field: str = "value", **axis: Any) -> Spec:
    """Make a channel for means of values of one kind: from 0 to 1 if the values are, otherwise as far as the data reach.

    >>> mean(Kind.VERDICT, "accuracy")["scale"], mean(Kind.BITS, "surprisal")["title"]
    ({'domain': [0, 1]}, 'surprisal (bits)')
    """
    if kind.bounded:
        return proportion(title, field, **axis)
    unit = {Kind.BITS: " (bits)", Kind.MS: " (ms)"}.get(kind, "")
    return quantity(field, title and title + unit, {"zero": False}, **axis)


def difference(title: str, values: Sequence[float], width: int = 420) -> Spec:
    """Make a channel for differences, whose scale spans the values and 0, rounded outwards to tenths.

    Arguments:
        values: the numbers to be drawn; nan is ignored.
        width: the width of the plot in pixels; a narrow plot has fewer ticks.

    >>> difference("delta", [-0.37, 0.52, float("nan")], 190)["axis"]["values"]
    [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6]
    """
    finite = [0.0, *(value for value in values if not isnan(value))]
    low, high = floor(round(min(finite) * 10, 6)), ceil(round(max(finite) * 10, 6))
    high = high if high > low else low + 1
    # A label is about 34 pixels wide.
    step = next((step for step in (1, 2, 3, 5) if (high - low) / step <= width / 34), 10)
    ticks = [at / 10 for at in range(low, high + 1) if at % step == 0]
    scale = {"domain": [low / 10, high / 10], "nice": False}
    return quantity(
        "value", title, scale, format="+.1f", values=ticks, labelExpr="datum.value == 0 ? '0' : datum.label"
    )


def logarithmic(
    field: str, title: str, domain: tuple[float, float], ticks: Sequence[float], base: int | None = None, **axis: object
) -> Spec:
    scale: Spec = {"type": "log"} | ({"base": base} if base else {}) | {"domain": list(domain), "nice": False}
    return quantity(field, title, scale, **{"values": list(ticks)} | axis)


def names(field: str, domain: Sequence[str], **axis: object) -> Spec:
    """Make a channel for names in a fixed order, without a title, an axis line or ticks."""
    bare = {"title": None, "domain": False, "ticks": False}
    return {"field": field, "type": "nominal", "scale": {"domain": list(domain)}, "axis": bare | axis}


def places(field: str, scale: Spec, title: str | None = None, **axis: object) -> Spec:
    """Make a channel for ordered categories such as regions, words or frequency bands."""
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": {"labelAngle": 0} | axis}


Values = Sequence[Mapping[str, object]]


def layer(mark: Spec, encoding: Spec, where: Spec | None = None, values: Values | None = None) -> Spec:
    data: Spec = {} if values is None else {"data": {"values": list(values)}}
    return data | ({"transform": [{"filter": where}]} if where else {}) | {"mark": mark, "encoding": encoding}


def defined(field: str) -> Spec:
    """Make a filter for rows with a number in a column."""
    return {"field": field, "valid": True}


def equal(field: str, value: object) -> Spec:
    return {"field": field, "equal": value}


def dot(size: int | None = None, opacity: float | None = 1, filled: bool = True, **mark: object) -> Spec:
    """Make a point. Screen readers read out only this mark, because the others repeat its numbers."""
    point: Spec = {"type": "point", "filled": filled} | ({} if size is None else {"size": size}) | mark
    return point if opacity is None else point | {"opacity": opacity}


def rule(**mark: object) -> Spec:
    return {"type": "rule", **mark, "aria": False}


def line(width: float, **mark: object) -> Spec:
    return {"type": "line", "strokeWidth": width, **mark, "aria": False}


def band(opacity: float) -> Spec:
    return {"type": "area", "opacity": opacity, "aria": False}


def label(size: float, **mark: object) -> Spec:
    """Make small text to the right of its position."""
    return {"type": "text", "align": "left", "fontSize": size, "color": INK, **mark}


def dashed(color: str = INK, **mark: object) -> Spec:
    return rule(strokeDash=[4, 3], color=color, **mark)


def reference(at: float, channel: Spec, towards: str, mark: Spec) -> Spec:
    return layer(mark, {towards: of(channel, "at")}, values=[{"at": at}])


def heading(text: str, subtitle: str | Sequence[str] | None = None, **title: object) -> Spec:
    spec: Spec = {"text": shown(text)}
    if subtitle is not None:
        spec["subtitle"] = subtitle if isinstance(subtitle, str) else list(subtitle)
    return spec | {"fontSize": 12} | ({} if subtitle is None else {"subtitleFontSize": 11}) | title


def grid(panels: Sequence[Spec], columns: int, spacing: int) -> Spec:
    return {"concat": list(panels), "columns": columns, "spacing": spacing}


def pile(panels: Sequence[Spec], spacing: int, **spec: object) -> Spec:
    """Arrange panels one below the other; `spec` has further properties of the specification."""
    return {"vconcat": list(panels), "spacing": spacing, **spec}


def beside(panels: Sequence[Spec], spacing: int) -> Spec:
    return {"hconcat": list(panels), "spacing": spacing}


def by_model(panel: Spec, values: Values, models: int) -> Spec:
    """Arrange a panel for each model, one below the other, in the order of first appearance."""
    # With a single model there is no heading.
    if models < 2:
        return {"data": {"values": list(values)}, **panel}
    ordered = [{**value, "panel": index} for index, value in enumerate(values)]
    # Beside the panel, a long name would reach into the next one.
    header = {"title": None, "labelOrient": "top", "labelAnchor": "start"}
    facet = {"field": "model", "type": "nominal", "sort": {"field": "panel", "op": "min"}, "header": header}
    return {"data": {"values": ordered}, "facet": {"row": facet}, "spec": panel}
