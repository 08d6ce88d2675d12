"""What a figure is: a Vega-Lite specification and the table behind it, and the look that all figures share.

Names from materials and models are untrusted text. They enter a specification only as data values, scale domains and plain
titles, never as field names or expressions, so a name can't become code.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import polars as pl

from syntagm.drawing.save import Product
from syntagm.drawing.svg import checked
from syntagm.drawing.text import shown

Spec = dict[str, Any]

INK = "currentColor"
GREY = "#808080"
FORMATS = {ending: ending for ending in ("png", "svg", "pdf", "vl.json")}


@dataclass(frozen=True, slots=True)
class Figure(Product):
    """A Vega-Lite specification with its values inside, and the same numbers as a frame.

    It is drawn without a browser or the network.
    """

    FORMATS: ClassVar[Mapping[str, str]] = FORMATS
    spec: Mapping[str, Any]
    table: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """Return the numbers as a polars frame."""
        return self.table

    def svg(self) -> str:
        """Draw the figure as SVG on no background, without active content, in the colour of the text around it."""
        import vl_convert

        return checked(vl_convert.vegalite_to_svg(json.dumps(self.spec), allowed_base_urls=[]))

    def content(self, format: str) -> bytes:
        """Return the content of a file in one of `FORMATS`; drawings stand on white."""
        import vl_convert

        spec = json.dumps({**self.spec, "background": "white"})
        match format:
            case "vl.json":
                return (json.dumps(self.spec, indent=1, ensure_ascii=False) + "\n").encode()
            case "svg":
                return checked(_laid_out(spec)).encode()
            case "png":
                return bytes(vl_convert.svg_to_png(_laid_out(spec), ppi=216))
            case _:
                return bytes(vl_convert.svg_to_pdf(_laid_out(spec)))

    def _repr_html_(self) -> str:
        return f'<div style="background: white; color: black">{self.svg()}</div>'


# PNG and PDF are made of the same SVG, which takes longer than either.
@lru_cache(maxsize=1)
def _laid_out(spec: str) -> str:
    import vl_convert

    svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    assert "<image" not in svg, "a chart without pictures, which could be loaded from anywhere"
    return svg


def finish(spec: Spec, title: str = "", subtitle: str | Sequence[str] = "", offset: int | None = None) -> Spec:
    """Complete a specification with its schema, titles and the shared look.

    Arguments:
        subtitle: one line, or several; none without a title.
        offset: pixels between titles and plot, where panels have titles of their own.
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
