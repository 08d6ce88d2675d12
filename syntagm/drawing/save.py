"""Tables and figures as files, in all their formats.

A table is CSV with all digits, Markdown and LaTeX as people read them. A figure is drawn on the spot, without a browser or the
network, as SVG, PNG and PDF; it is also kept as Vega-Lite, and its numbers as CSV.
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
    """Return the chosen formats with the endings of their files, all of those known unless some are chosen.

    Arguments:
        known: `FORMATS` of `drawing.table` or of `drawing.chart`.

    Raises:
        UsageError: a format that can't be written.
    """
    if odd := [one for one in chosen if one not in known]:
        raise UsageError("--format", repr(odd[0]), "some of " + ",".join(known))
    return {one: known[one] for one in chosen} if chosen else dict(known)


def save(made: Table | Figure, stem: Path, formats: Sequence[str] = ()) -> list[Path]:
    """Write `stem` with the ending of each format, all unless some are chosen; of a figure also its numbers, `stem`.csv.

    Returns:
        The paths written.

    Raises:
        UsageError: a format that can't be written.
        RunError: the folder can't be written.
    """
    contents = {ending: content(made, one) for one, ending in endings(formats_of(made), formats).items()}
    if isinstance(made, Figure):
        contents["csv"] = "".join(csv.lines(made.table.columns, made.table.iter_rows())).encode()
    paths = [stem.with_name(f"{stem.name}.{ending}") for ending in contents]
    for path, text in zip(paths, contents.values(), strict=True):
        atomic.write(path, text)
    return paths


def formats_of(made: Table | Figure) -> Mapping[str, str]:
    """Return the formats in which a table or a figure can be written, with the endings of their files."""
    return chart.FORMATS if isinstance(made, Figure) else table.FORMATS


def columns_of(made: Table | Figure) -> Sequence[str]:
    """Return the columns of the CSV that belongs to a table or a figure."""
    return made.table.columns if isinstance(made, Figure) else made.columns


def content(made: Table | Figure, format: str) -> bytes:
    """Return the content of a file in one format."""
    if isinstance(made, Figure):
        return _drawn(made, format)
    return {"csv": made.csv, "md": made.markdown, "latex": made.latex}[format]().encode()


def svg(figure: Figure) -> str:
    """Draw a figure as SVG, on no background, without active content, in the colour of the text around it."""
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


# PNG and PDF are made of the same SVG, which takes longer than either.
@lru_cache(maxsize=1)
def _laid_out(spec: str) -> str:
    import vl_convert

    made: str = vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])
    assert "<image" not in made, "a chart without pictures, which could be loaded from anywhere"
    return made
