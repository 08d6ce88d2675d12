"""What a figure is: a Vega-Lite specification and the table behind it, and the look that all figures share.

Names from materials and models are untrusted text. They enter a specification only as data values, scale domains and plain
titles, never as field names or expressions, so a name can't become code.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

Spec = dict[str, Any]

# Okabe and Ito's colours, which colour-blind readers tell apart, less black and yellow, which a dark or a light page swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#808080")
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "stroke")
INK = "currentColor"


@dataclass(frozen=True, slots=True)
class Figure:
    """A Vega-Lite specification with its values inside, and the same numbers as a table."""

    spec: Mapping[str, Any]
    table: pl.DataFrame


def shown(text: str) -> str:
    """Text as it can stand in a figure: on one line, with what XML can't hold replaced.

    >>> shown("a\\x00b") == "a\\ufffdb", shown("two\\nlines")
    (True, 'two lines')
    """
    return "".join(_visible(character) for character in " ".join(text.split("\n")))


def _visible(character: str) -> str:
    code = ord(character)
    if code in (0x85, 0x2028, 0x2029, 0x0B, 0x0C, 0x0D, 0x09):
        return " "
    return (
        "\ufffd"
        if code < 0x20 or 0x7F <= code < 0xA0 or 0xD800 <= code < 0xE000 or code in (0xFFFE, 0xFFFF)
        else character
    )


def distinct(names: Iterable[str]) -> dict[str, str]:
    """Each name as it is shown, in order; names that would look the same are numbered.

    >>> distinct(["a", "b", "a", "b\\n"])
    {'a': 'a', 'b': 'b', 'b\\n': 'b '}
    """
    found: dict[str, str] = {}
    for name in dict.fromkeys(names):
        text, count = shown(name), 1
        while text in found.values():
            count += 1
            text = f"{shown(name)} ({count})"
        found[name] = text
    return found


def colours(names: Sequence[str]) -> Spec:
    """A colour scale over `names`, in order."""
    return {"domain": list(names), "range": [COLOURS[index % len(COLOURS)] for index in range(len(names))]}


def shapes(names: Sequence[str]) -> Spec:
    """A shape scale over `names`, in order, so that nothing hangs on colour alone."""
    return {"domain": list(names), "range": [SHAPES[index % len(SHAPES)] for index in range(len(names))]}


def legend(names: Sequence[str], width: float) -> Spec:
    """A legend above the plot, in as many columns as `width` pixels hold."""
    longest = min(max((len(name) for name in names), default=1), 60)
    columns = max(1, int(width // (longest * 6.5 + 30)))
    return {"orient": "top", "direction": "horizontal", "columns": min(columns, len(names) or 1), "title": None}


def only(models: Sequence[str]) -> list[str]:
    """A line of a subtitle that names the model, where there is one only, and so no legend.

    >>> only(["causal:demo"]), only(["a", "b"])
    (['model: causal:demo'], [])
    """
    return [f"model: {models[0]}"] if len(models) == 1 else []


def finish(spec: Spec, title: str = "", subtitle: str | Sequence[str] = "") -> Spec:
    """The specification with its schema, titles and the shared look; a subtitle may have several lines."""
    below = shown(subtitle) if isinstance(subtitle, str) else [shown(line) for line in subtitle]
    heading = {"text": shown(title), "subtitle": below} if title else {}
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
