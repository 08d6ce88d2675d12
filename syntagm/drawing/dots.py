"""Panels of dots: a row a name, a dot a number with its interval, and a note at the right edge."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, isnan

from syntagm.drawing.chart import INK, Spec, colours, legend, shapes, shown
from syntagm.drawing.table import or_none

Row = Mapping[str, object]
STEP = 22
GREY = "#808080"


def panel(
    rows: Sequence[Row],
    axis: Spec,
    title: str = "",
    reference: float = float("nan"),
    series: Sequence[str] = (),
    width: int = 420,
    labels: bool = True,
    key: bool = False,
) -> Spec:
    """A panel as Vega-Lite.

    Arguments:
        rows: each with name, series, value, low, high (nan: not drawn), note (perhaps empty) and said (what a reader hears).
        axis: the channel of the numbers: title, scale, axis.
        reference: where a dashed line stands; nan: nowhere.
        series: all series that colours and shapes tell apart, in order.
        labels: whether names stand at the left.
        key: whether a legend tells the series.
    """
    names = list(dict.fromkeys(shown(str(row["name"])) for row in rows))
    # Series need places of their own only where one name has several.
    several = len({(row["name"], row["series"]) for row in rows}) > len(names)
    present = [one for one in series if several and any(row["series"] == one for row in rows)]
    step = STEP if len(present) < 2 else 13 * len(present) + 6
    made: Spec = {
        "width": width,
        "height": step * max(len(names), 1),
        "data": {"values": [_value(row) for row in rows]},
        "layer": [
            *_reference(reference, axis),
            *_layers(names, axis, _distinguished(series, present, width, key), labels, width),
        ],
    }
    return made | ({"title": {"text": shown(title), "fontSize": 12, "fontWeight": "bold"}} if title else {})


def _value(row: Row) -> dict[str, object]:
    numbers = {key: or_none(row[key]) for key in ("value", "low", "high")}
    texts = {key: shown(str(row[key])) for key in ("name", "series", "note", "said")}
    return {**texts, **numbers}


def _reference(at: float, axis: Spec) -> list[Spec]:
    if isnan(at):
        return []
    mark = {"type": "rule", "strokeDash": [4, 3], "color": GREY, "strokeWidth": 1.4, "aria": False}
    return [{"data": {"values": [{"at": at}]}, "mark": mark, "encoding": {"x": axis | _field("at")}}]


def _distinguished(series: Sequence[str], present: Sequence[str], width: int, key: bool) -> Spec:
    """The channels that tell series apart: colour, shape and, if there are several in a row, place."""
    names = [shown(one) for one in series]
    told = legend(names, width) if key else None
    channels: Spec = {
        "color": {"field": "series", "type": "nominal", "scale": colours(names), "legend": told},
        "shape": {"field": "series", "type": "nominal", "scale": shapes(names), "legend": told},
    }
    if len(present) > 1:
        domain = [shown(one) for one in present]
        channels["yOffset"] = {"field": "series", "type": "nominal", "scale": {"domain": domain}}
    return channels


def _layers(names: Sequence[str], axis: Spec, channels: Spec, labels: bool, width: int) -> list[Spec]:
    bare = {"labels": labels, "title": None, "domain": False, "ticks": False, "offset": 6}
    place: Spec = {"y": {"field": "name", "type": "nominal", "scale": {"domain": list(names)}, "axis": bare}}
    offset = {name: channel for name, channel in channels.items() if name == "yOffset"}
    interval = place | offset | {"x": axis | _field("low"), "x2": {"field": "high"}, "color": channels["color"]}
    dot = place | channels | {"x": axis | _field("value"), "description": {"field": "said"}}
    note = place | offset | {"text": {"field": "note"}, "x": {"value": width + 8}}
    small = {"type": "text", "align": "left", "fontSize": 10, "color": INK, "opacity": 0.7, "aria": False}
    return [
        {**_needs("low"), "mark": {"type": "rule", "strokeWidth": 1.8, "aria": False}, "encoding": interval},
        {**_needs("value"), "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1}, "encoding": dot},
        {"mark": small, "encoding": note},
    ]


def _needs(field: str) -> Spec:
    return {"transform": [{"filter": {"field": field, "valid": True}}]}


def _field(name: str) -> Spec:
    return {"field": name, "type": "quantitative"}


def proportion(title: str) -> Spec:
    """The channel of a share from 0 to 1."""
    return {
        "title": title,
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".1f", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
    }


def difference(title: str, values: Sequence[float], width: int = 420) -> Spec:
    """The channel of differences: from the least to the greatest of some numbers, 0 included, in tenths.

    >>> difference("delta", [-0.37, 0.52, float("nan")], 190)["axis"]["values"]
    [-0.4, -0.2, 0.0, 0.2, 0.4, 0.6]
    """
    finite = [0.0, *(one for one in values if not isnan(one))]
    low, high = floor(round(min(finite) * 10, 6)), ceil(round(max(finite) * 10, 6))
    high = high if high > low else low + 1
    # A label needs some 34 pixels.
    step = next((step for step in (1, 2, 3, 5) if (high - low) / step <= width / 34), 10)
    ticks = [at / 10 for at in range(low, high + 1) if at % step == 0]
    axis = {"format": "+.1f", "values": ticks, "labelExpr": "datum.value == 0 ? '0' : datum.label"}
    return {"title": title, "scale": {"domain": [low / 10, high / 10], "nice": False}, "axis": axis}


def signed(value: float) -> str:
    """A difference with its sign, as an axis has it; 0 has none.

    >>> signed(0.25), signed(-0.25), signed(-1e-9), signed(float("nan"))
    ('+0.250', '−0.250', '0.000', 'undefined')
    """
    if isnan(value):
        return "undefined"
    return f"{value:+.3f}".replace("-", "−") if round(value, 3) else "0.000"


def said(row: Row) -> str:
    """A number in words: its name, its value with interval, what it rests on.

    >>> said({"name": "LSTM", "series": "", "value": 0.25, "low": 0.2, "high": 0.3, "n": 12})
    'LSTM: 0.250 [0.200, 0.300], n=12'
    """
    name = str(row["name"]) + (f", {row['series']}" if row["series"] else "")
    value, low, high = (float(str(row[key])) for key in ("value", "low", "high"))
    known = "undefined" if isnan(value) else f"{value:.3f}"
    return f"{name}: {known}" + ("" if isnan(low) else f" [{low:.3f}, {high:.3f}]") + f", n={row['n']}"
