"""Axes of a chart: Vega-Lite channels with their titles, scales and ticks."""

from collections.abc import Sequence
from math import ceil, floor, isnan
from typing import Any

from syntagm.evaluation import Kind
from syntagm.views.drawing.chart import Spec

FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def quantity(field: str, title: str | None, scale: Spec | None = None, **axis: object) -> Spec:
    """Make a channel for numbers."""
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
    """Make a channel for numbers on a logarithmic scale."""
    scale: Spec = {"type": "log"} | ({"base": base} if base else {}) | {"domain": list(domain), "nice": False}
    return quantity(field, title, scale, **{"values": list(ticks)} | axis)


def names(field: str, domain: Sequence[str], **axis: object) -> Spec:
    """Make a channel for names in a fixed order, without a title, an axis line or ticks."""
    bare = {"title": None, "domain": False, "ticks": False}
    return {"field": field, "type": "nominal", "scale": {"domain": list(domain)}, "axis": bare | axis}


def places(field: str, scale: Spec, title: str | None = None, **axis: object) -> Spec:
    """Make a channel for ordered categories such as regions, words or frequency bands."""
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": {"labelAngle": 0} | axis}
