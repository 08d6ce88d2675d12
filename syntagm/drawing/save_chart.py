"""Figures as files: SVG, PNG and PDF drawn on the spot, without a browser or the network, Vega-Lite, and their numbers."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from syntagm.drawing.chart import Figure
from syntagm.drawing.svg import checked
from syntagm.errors import UsageError
from syntagm.io import atomic, csv

Format = Literal["png", "svg", "pdf", "vl.json"]
FORMATS: tuple[Format, ...] = get_args(Format)
_WHITE = {"background": "white"}


def svg(figure: Figure) -> str:
    """The figure as SVG, on no background, without active content, in the colour of the text around it."""
    import vl_convert

    return checked(vl_convert.vegalite_to_svg(json.dumps(figure.spec), allowed_base_urls=[]))


def save(figure: Figure, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write `stem`.png, .svg, .pdf, .vl.json (Vega-Lite), as `formats` says, and `stem`.csv; the paths written.

    Raises:
        UsageError: a format that can't be written.
        RunError: the folder can't be written.
    """
    if odd := [one for one in formats if one not in FORMATS]:
        raise UsageError("figure format", repr(odd[0]), "one of " + ", ".join(FORMATS))
    contents = {one: _content(figure, one) for one in formats} | {"csv": _csv(figure)}
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        atomic.write(path, content)
    return paths


def _content(figure: Figure, format: str) -> bytes:
    import vl_convert

    spec = json.dumps({**figure.spec, **_WHITE})
    match format:
        case "vl.json":
            return (json.dumps(figure.spec, indent=1, ensure_ascii=False) + "\n").encode()
        case "svg":
            return checked(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])).encode()
        case "png":
            return bytes(vl_convert.vegalite_to_png(spec, ppi=216, allowed_base_urls=[]))
        case _:
            return bytes(vl_convert.vegalite_to_pdf(spec, allowed_base_urls=[]))


def _csv(figure: Figure) -> bytes:
    return "".join(csv.lines(figure.table.columns, figure.table.iter_rows())).encode()
