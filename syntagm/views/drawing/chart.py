"""Figures: a Vega-Lite specification with the table behind it, and the style that all figures share.

Names from materials and models are untrusted text. They enter a specification only as data values, scale domains and plain
titles, never as field names or expressions, so a name is never run as code.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import polars as pl

from syntagm.core import UsageError, public, shown, visible
from syntagm.views.drawing.save import Product, checked_svg, endings, ordered_pdf, packed_png
from syntagm.views.drawing.text import lines

Spec = dict[str, Any]

INK = "currentColor"
GREY = "#808080"
_FONT = "Helvetica, Arial, Liberation Sans, sans-serif"
_RESOLUTION = 216  # pixels per inch
_SIZE = re.compile(r'<svg [^>]*?width="([^"]*)" height="([^"]*)"[^>]*>')
_PIXELS_PER_METRE = round(_RESOLUTION / 0.0254).to_bytes(4)
# How the files of figures begin, or what they contain. A PNG gives its resolution in pixels per metre.
_MARKS = {
    "png": re.compile(rb"\x89PNG.{29}\x00\x00\x00\x09pHYs%b" % re.escape(2 * _PIXELS_PER_METRE), re.DOTALL),
    "svg": re.compile(rb'<svg xmlns="http://www.w3.org/2000/svg" [^>]*font-family="%b"' % _FONT.encode()),
    "pdf": re.compile(rb"%PDF-.*/Producer \(svg2pdf\)", re.DOTALL),
    "vl.json": re.compile(rb'{\s+"\$schema": "https://vega.github.io/schema/vega-lite/'),
}


@dataclass(frozen=True, slots=True, repr=False)
@public(cure="Use syntagm.figure(name, runs).")
class Figure(Product):
    """A Vega-Lite specification with its data, and the same numbers as a polars frame.

    It is drawn without a browser or the network.

    Arguments:
        spec: the specification.
        table: the numbers.

    Raises:
        UsageError: the figure is drawn, and its specification is invalid.
    """

    FORMATS: ClassVar[Mapping[str, str]] = {extension: extension for extension in ("png", "svg", "pdf", "vl.json")}
    spec: Mapping[str, Any]
    table: pl.DataFrame

    def to_frame(self) -> pl.DataFrame:
        """Return the numbers as a polars frame."""
        return self.table.clone()

    def svg(self) -> str:
        """Draw the figure as SVG without active content, with a transparent background and in the colour of surrounding text."""
        return checked_svg(_laid_out(_written(self.spec)))

    def content(self, format: str) -> bytes:
        """Return the content of the file in one of `FORMATS`; drawings have a white background."""
        import vl_convert

        endings(self.FORMATS, [format])
        if format == "vl.json":
            return (_written(self.spec, indent=1) + "\n").encode()
        svg = _on_white(_laid_out(_written(self.spec)))
        match format:
            case "svg":
                return checked_svg(svg).encode()
            case "png":
                return packed_png(bytes(vl_convert.svg_to_png(svg, ppi=_RESOLUTION)))
            case _:
                return ordered_pdf(bytes(vl_convert.svg_to_pdf(svg)))

    def marks(self) -> Mapping[str, re.Pattern[bytes]]:
        """Return, by extension, the pattern of files that may be earlier versions of this product."""
        return _MARKS

    def __repr__(self) -> str:
        return f"<Figure of {self.table.height} rows: {', '.join(self.table.columns)}>"

    def _repr_html_(self) -> str:
        return f'<div style="background: white; color: black">{self.svg()}</div>'


def _written(spec: Mapping[str, Any], indent: int | None = None) -> str:
    """Return a specification as JSON, without characters that hide or reorder text."""
    return visible(json.dumps(spec, indent=indent, ensure_ascii=False))


# All files and the drawing on a page are made from the same SVG, and laying it out takes longer than converting it.
@lru_cache(maxsize=32)
def _laid_out(spec: str) -> str:
    import vl_convert

    try:
        svg: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    except ValueError as error:
        raise UsageError("Figure, spec", " ".join(str(error).split())[:300], "a Vega-Lite specification") from error
    assert "<image" not in svg, "charts have no pictures, since a picture could be loaded from anywhere"
    return svg


def _on_white(svg: str) -> str:
    """Put a drawing with a transparent background on a white one, as the converter would."""
    size = _SIZE.match(svg)
    assert size, "the converter gives the size of a drawing"
    ground = f'<rect width="{size[1]}" height="{size[2]}" fill="white"/>'
    return svg[: size.end()] + ground + svg[size.end() :]


def captioned(figure: Figure, sentence: str) -> Figure:
    """Return a figure with a sentence more below its title; the figure itself if it has no title."""
    title = figure.spec.get("title")
    if not sentence or not title:
        return figure
    below = title.get("subtitle") or []
    subtitle = [*([below] if isinstance(below, str) else below), *lines([shown(sentence)])]
    return Figure({**figure.spec, "title": {**title, "subtitle": subtitle}}, figure.table)


def finish(spec: Spec, title: str = "", subtitle: str | Sequence[str] = "", offset: int | None = None) -> Spec:
    """Add the schema, the titles and the shared style to a specification."""
    below: str | list[str] = shown(subtitle) if isinstance(subtitle, str) else [shown(line) for line in subtitle]
    if bare := _without_bars(spec):
        below = [*([below] if isinstance(below, str) and below else below), *lines([shown(bare)])]
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


def _points(part: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(part, dict) and "low" in part:
        yield part
    for own in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _points(own)


def _without_bars(spec: Spec) -> str:
    """Say why some points have no interval; "" if all have one, or if none has and no reason is known."""
    reasons = {point.get("why") for point in _points(spec)}
    known = sorted(reason for reason in reasons if reason)
    given = f" ({', '.join(known)})" if known else ""
    return f"point without bar or band: no interval{given}" if known or {None, ""} <= reasons else ""


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
        "labelFontSize": 12,
        "titleFontSize": 13,
        "titleFontWeight": "normal",
        "labelLimit": 600,
        # Otherwise the labels at both ends of an axis are moved inwards, off their ticks and towards the next labels.
        "labelFlush": False,
    },
    "legend": {
        "aria": False,
        "labelColor": INK,
        "labelFontSize": 13,
        "labelLimit": 460,
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
