"""Axes: channels of numbers and names with their titles, scales and ticks."""

from collections.abc import Sequence
from math import ceil, floor, isnan

from syntagm.drawing.chart import Spec

FIFTHS = (0, 0.2, 0.4, 0.6, 0.8, 1)


def quantity(field: str, title: str | None, scale: Spec | None = None, **axis: object) -> Spec:
    """A channel of numbers.

    Arguments:
        scale: of Vega-Lite, likewise `axis`.
    """
    channel: Spec = {"field": field, "type": "quantitative", "title": title}
    return channel | ({"scale": scale} if scale else {}) | ({"axis": axis} if axis else {})


def of(channel: Spec, field: str) -> Spec:
    """The same channel for another column."""
    return {**channel, "field": field}


def spread(channel: Spec, towards: str = "y") -> Spec:
    """The channels from the column `low` to the column `high`."""
    return {towards: of(channel, "low"), f"{towards}2": {"field": "high"}}


def proportion(title: str, field: str = "value", ticks: Sequence[float] = FIFTHS, **axis: object) -> Spec:
    """A channel of shares from 0 to 1.

    >>> proportion("accuracy")["axis"]
    {'format': '.1f', 'values': [0, 0.2, 0.4, 0.6, 0.8, 1]}
    """
    return quantity(field, title, {"domain": [0, 1]}, **{"format": ".1f", "values": list(ticks)} | axis)


def difference(title: str, values: Sequence[float], width: int = 420) -> Spec:
    """A channel of differences: from the least to the greatest of some numbers, 0 included, in tenths.

    >>> difference("delta", [-0.37, 0.52, float("nan")], 190)["axis"]["values"]
    [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6]
    """
    finite = [0.0, *(one for one in values if not isnan(one))]
    low, high = floor(round(min(finite) * 10, 6)), ceil(round(max(finite) * 10, 6))
    high = high if high > low else low + 1
    # A label needs some 34 pixels.
    step = next((step for step in (1, 2, 3, 5) if (high - low) / step <= width / 34), 10)
    ticks = [at / 10 for at in range(low, high + 1) if at % step == 0]
    scale = {"domain": [low / 10, high / 10], "nice": False}
    return quantity(
        "value", title, scale, format="+.1f", values=ticks, labelExpr="datum.value == 0 ? '0' : datum.label"
    )


def logarithmic(
    field: str, title: str, domain: tuple[float, float], ticks: Sequence[float], base: int | None = None, **axis: object
) -> Spec:
    """A channel of numbers by their logarithm."""
    scale: Spec = {"type": "log"} | ({"base": base} if base else {}) | {"domain": list(domain), "nice": False}
    return quantity(field, title, scale, **{"values": list(ticks)} | axis)


def names(field: str, domain: Sequence[str], **axis: object) -> Spec:
    """A channel of names in an order, without a title, a line or ticks."""
    bare = {"title": None, "domain": False, "ticks": False}
    return {"field": field, "type": "nominal", "scale": {"domain": list(domain)}, "axis": bare | axis}


def places(field: str, scale: Spec, title: str | None = None, **axis: object) -> Spec:
    """A channel of places in an order: regions, words, bands.

    Arguments:
        scale: of Vega-Lite, with the order as its domain.
    """
    return {"field": field, "type": "ordinal", "title": title, "scale": scale, "axis": {"labelAngle": 0} | axis}
