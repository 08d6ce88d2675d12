import csv
import io
import json
import re
import zlib
from pathlib import Path
from xml.etree import ElementTree

import altair
import polars as pl
import pytest
import vl_convert
from report_examples import ATTACKS

from syntagm.core import UsageError, visible
from syntagm.evaluation import Estimate, Group
from syntagm.views import Figure, margins, regions, scores
from syntagm.views.drawing import save
from syntagm.views.drawing.save import ATTRIBUTES, ELEMENTS, checked_svg


def hostile_scores() -> Figure:
    found = [Estimate(Group(a, b), 0.5, 0.4, 0.6, 9, a) for a in ATTACKS[:2] for b in ATTACKS]
    return scores.draw(found, {}, ATTACKS[0])


def hostile_regions() -> Figure:
    rows = [
        (a, a, a, b, a, at, 1.0, 0.5, 1.5, 9, 0, a == b, 0.9, 1.1, b) for a in ATTACKS for at, b in enumerate(ATTACKS)
    ]
    return regions.draw([pl.DataFrame(rows, schema=regions.SCHEMA, orient="row")], ATTACKS[2])


@pytest.mark.slow
@pytest.mark.parametrize("figure", [hostile_scores(), hostile_regions()], ids=["scores", "regions"])
def test_hostile_names_are_text(figure: Figure) -> None:
    root = ElementTree.fromstring(figure.svg())
    for element in root.iter():
        assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in ELEMENTS
        assert set(element.attrib) <= ATTRIBUTES
    texts = "".join(root.itertext())
    assert "document.title='pwned'" in texts
    assert "{{ 7*7 }}${7*7}" in texts


def test_specifications_hold_names_only_as_values() -> None:
    spec = {key: value for key, value in hostile_regions().spec.items() if key not in ("data", "title")}

    def fields(part: object) -> set[str]:
        if isinstance(part, list):
            return set().union(*map(fields, part), set())
        if not isinstance(part, dict):
            return set()
        assert not {"expr", "signal", "href", "url", "calculate"} & part.keys()
        return set().union(*map(fields, part.values()), {part["field"]} if "field" in part else set())

    assert fields(spec) == {"condition", "region", "bits", "low", "high", "empty", "said", "segment"}


@pytest.mark.slow
def test_specifications_are_valid_vega_lite() -> None:
    counts = pl.DataFrame({"suite": ["s"] * 2, "measure": ["0"] * 2, "value": [0.0, 1.0], "margin": [-1.0, 2.0]})
    bars = margins.draw([margins.table(counts, "s", "0", model) for model in "ab"], "Margins")
    for figure in (hostile_scores(), hostile_regions(), bars):
        altair.Chart.from_dict(dict(figure.spec), validate=True)


@pytest.mark.slow
def test_files_are_drawn_on_white_and_a_png_has_the_pixels_that_the_converter_drew() -> None:
    figure = hostile_scores()
    drawn = vl_convert.vegalite_to_svg({**figure.spec, "background": "white"}, allowed_base_urls=[])
    assert figure.content("svg").decode() == checked_svg(visible(drawn))
    plain = bytes(vl_convert.svg_to_png(visible(drawn), ppi=216))
    found = figure.content("png")
    assert pixels(found) == pixels(plain)
    assert len(found) < len(plain) / 2
    assert save.packed_png(b"GIF89a") == b"GIF89a"


def pixels(image: bytes) -> tuple[bytes, dict[bytes, bytes]]:
    """The pixels of a PNG, and its other parts, of which the checksums are right."""
    parts: dict[bytes, bytes] = {}
    at = 8
    while at < len(image):
        length = int.from_bytes(image[at : at + 4])
        name, content = image[at + 4 : at + 8], image[at + 8 : at + 8 + length]
        assert int.from_bytes(image[at + 8 + length : at + 12 + length]) == zlib.crc32(name + content)
        parts[name] = parts.get(name, b"") + content
        at += 12 + length
    return zlib.decompress(parts.pop(b"IDAT")), parts


@pytest.mark.slow
def test_all_formats_and_the_numbers(tmp_path: Path) -> None:
    paths = hostile_scores().save(tmp_path / "figure")
    assert [path.name for path in paths] == ["figure.png", "figure.svg", "figure.pdf", "figure.vl.json", "figure.csv"]
    heads = {path.suffix: path.read_bytes()[:4] for path in paths}
    assert (heads[".png"], heads[".pdf"]) == (b"\x89PNG", b"%PDF")
    rows = list(csv.reader(io.StringIO(paths[4].read_text("utf-8"), newline="")))
    assert rows[0] == list(scores.SCHEMA)
    assert [row[1] for row in rows[1:]] == [*ATTACKS, *ATTACKS]
    assert rows[1][3:6] == ["0.5", "0.4", "0.6"]
    assert json.loads(paths[3].read_text("utf-8")) == hostile_scores().spec


def test_other_formats_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"one or more of png,svg,pdf,vl\.json"):
        hostile_scores().save(tmp_path / "figure", ["gif"])
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_the_same_figure_is_the_same_pdf() -> None:
    """The converter writes fonts and resources in an order of its own each time."""
    figure = hostile_regions()
    files = {figure.content("pdf") for _ in range(3)}
    assert len(files) == 1


def test_a_pdf_in_order_has_the_same_objects(tmp_path: Path) -> None:
    import vl_convert

    raw = bytes(vl_convert.vegalite_to_pdf(json.dumps(hostile_scores().spec)))
    written = save.ordered_pdf(raw)
    assert save.ordered_pdf(written) == written
    # Every entry of the table points to the object of its number.
    table = int(written.rsplit(b"startxref\n", 1)[1].split()[0])
    entries = re.findall(rb"(\d{10}) \d{5} n", written[table:])
    assert len(entries) == written.count(b"\nendobj") > 20
    for number, entry in enumerate(entries, 1):
        assert written[int(entry) :].startswith(b"%d 0 obj\n" % number)
    assert {int(number) for number in re.findall(rb"\b(\d+) 0 R\b", written)} <= set(range(1, len(entries) + 1))
    assert sorted(re.findall(rb"stream\n.*?endstream", raw, re.DOTALL)) == sorted(
        re.findall(rb"stream\n.*?endstream", written, re.DOTALL)
    )
    assert save.ordered_pdf(b"%PDF-1.7 of another structure") == b"%PDF-1.7 of another structure"
