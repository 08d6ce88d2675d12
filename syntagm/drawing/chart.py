"""Figures: a Vega-Lite specification with the table behind it, and the style that all figures share.

Names from materials and models are untrusted text. They enter a specification only as data values, scale domains and plain
titles, never as field names or expressions, so that a name is never run as code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from syntagm.drawing.text import shown

Spec = dict[str, Any]

INK = "currentColor"
GREY = "#808080"
# Name of a format on the command line -> file name extension.
FORMATS = {name: name for name in ("png", "svg", "pdf", "vl.json")}


@dataclass(frozen=True, slots=True)
class Figure:
    """A Vega-Lite specification with its data, and the same numbers as a table."""

    spec: Mapping[str, Any]
    table: pl.DataFrame


def finish(spec: Spec, title: str = "", subtitle: str | Sequence[str] = "", offset: int | None = None) -> Spec:
    """Add the schema, the titles and the shared style to a specification.

    Arguments:
        subtitle: one or more lines; dropped if there is no title.
        offset: the space between titles and plot in pixels; needed where panels have titles of their own.
    """
    below = shown(subtitle) if isinstance(subtitle, str) else [shown(line) for line in subtitle]
    heading: Spec = {"text": shown(title), "subtitle": below} if title else {}
    if title and offset is not None:
        heading["offset"] = offset
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "background": "transparent",
        "padding": 4,
        **({"title": heading} if heading else {}),
        **spec,
        "config": _CONFIG,
    }


_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
_CONFIG: Spec = {
    "font": _FONT,
    "lineBreak": "\n",
    "view": {"stroke": None},
    "axis": {
        "aria": False,
        "labelColor": INK,
        "titleColor": INK,
        "tickColor": INK,
        "domainColor": INK,
        "domainOpacity": 0.5,
        "tickOpacity": 0.5,
        "gridColor": INK,
        "gridOpacity": 0.12,
        "labelFontSize": 11,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "labelLimit": 280,
    },
    "legend": {
        "aria": False,
        "labelColor": INK,
        "labelFontSize": 12,
        "labelLimit": 420,
        "symbolSize": 70,
        "symbolStrokeWidth": 2,
        "symbolOpacity": 1,
    },
    "header": {"labelColor": INK, "titleColor": INK, "labelFontSize": 12, "labelLimit": 600, "title": None},
    "title": {
        "color": INK,
        "subtitleColor": INK,
        "anchor": "start",
        "frame": "group",
        "fontSize": 14,
        "subtitleFontSize": 12,
        "limit": 760,
    },
    "text": {"color": INK},
}
