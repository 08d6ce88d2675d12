"""Tables and figures as files, in all their formats.

A table is written as CSV with all digits, and as Markdown and LaTeX with rounded numbers. A figure is drawn as SVG, PNG
or PDF without a browser or the network. It is also written as a Vega-Lite specification, and its numbers as CSV.
"""

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

from syntagm.drawing import chart, table
from syntagm.drawing.chart import Figure
from syntagm.drawing.svg import checked
from syntagm.drawing.table import Table
from syntagm.errors import UsageError
from syntagm.io import atomic, csv

_WHITE = {"background": "white"}


def endings(known: Mapping[str, str], chosen: Sequence[str] = ()) -> dict[str, str]:
    """Return the chosen formats with their file name extensions.

    Arguments:
        known: `FORMATS` of `drawing.table` or of `drawing.chart`.
        chosen: names of formats; all known formats by default.

    Raises:
        UsageError: a format that can't be written.
    """
    if unknown := [name for name in chosen if name not in known]:
        raise UsageError("--format", repr(unknown[0]), "some of " + ",".join(known))
    return {name: known[name] for name in chosen} if chosen else dict(known)


def save(document: Table | Figure, stem: Path, formats: Sequence[str] = ()) -> list[Path]:
    """Write a table or a figure as one file for each format; the numbers of a figure are also written, as `stem`.csv.

    Arguments:
        stem: the path of the files without extension.
        formats: names of formats; all by default.

    Returns:
        The paths written.

    Raises:
        UsageError: a format that can't be written.
        RunError: the folder can't be written.
    """
    contents = {ending: content(document, name) for name, ending in endings(formats_of(document), formats).items()}
    if isinstance(document, Figure):
        contents["csv"] = "".join(csv.lines(document.table.columns, document.table.iter_rows())).encode()
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in contents]
    for path, text in zip(paths, contents.values(), strict=True):
        atomic.write(path, text)
    return paths


def formats_of(document: Table | Figure) -> Mapping[str, str]:
    """Return the formats in which a table or a figure can be written, with their file name extensions."""
    return chart.FORMATS if isinstance(document, Figure) else table.FORMATS


def columns_of(document: Table | Figure) -> Sequence[str]:
    """Return the columns of the CSV file of a table or a figure."""
    return document.table.columns if isinstance(document, Figure) else document.columns


def content(document: Table | Figure, format: str) -> bytes:
    """Return the content of the file in one format."""
    if isinstance(document, Figure):
        return _drawn(document, format)
    return {"csv": document.csv, "md": document.markdown, "latex": document.latex}[format]().encode()


def svg(figure: Figure) -> str:
    """Draw a figure as SVG without active content: transparent background, in the colour of the surrounding text."""
    import vl_convert

    return checked(vl_convert.vegalite_to_svg(json.dumps(figure.spec), allowed_base_urls=[]))


def _drawn(figure: Figure, format: str) -> bytes:
    import vl_convert

    spec = json.dumps({**figure.spec, **_WHITE})
    match format:
        case "vl.json":
            return (json.dumps(figure.spec, indent=1, ensure_ascii=False) + "\n").encode()
        case "svg":
            return checked(_laid_out(spec)).encode()
        case "png":
            return bytes(vl_convert.svg_to_png(_laid_out(spec), ppi=216))
        case _:
            return bytes(vl_convert.svg_to_pdf(_laid_out(spec)))


# PNG and PDF are made from the same SVG, and laying it out takes longer than converting it.
@lru_cache(maxsize=1)
def _laid_out(spec: str) -> str:
    import vl_convert

    drawing: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    assert "<image" not in drawing, "charts have no pictures, since a picture could be loaded from anywhere"
    return drawing
