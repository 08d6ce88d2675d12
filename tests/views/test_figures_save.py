import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import altair
import polars as pl
import pytest
from report_examples import ATTACKS

from syntagm.drawing.chart import Figure
from syntagm.drawing.svg import ATTRIBUTES, ELEMENTS
from syntagm.errors import UsageError
from syntagm.result import Estimate, Group
from syntagm.views import margins, regions
from syntagm.views.scores import chart as scores


def hostile_scores() -> Figure:
    found = [Estimate(Group(a, b), 0.5, 0.4, 0.6, 9, a) for a in ATTACKS[:2] for b in ATTACKS]
    return scores.draw(found, {}, ATTACKS[0])


def hostile_regions() -> Figure:
    rows = [(a, a, a, b, a, at, 1.0, 0.5, 1.5, 9, 0, a == b) for a in ATTACKS for at, b in enumerate(ATTACKS)]
    return regions.draw([pl.DataFrame(rows, schema=regions.SCHEMA, orient="row")], ATTACKS[2])


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


def test_specifications_are_valid_vega_lite() -> None:
    counts = pl.DataFrame({"suite": ["s"] * 2, "measure": ["0"] * 2, "value": [0.0, 1.0], "margin": [-1.0, 2.0]})
    bars = margins.draw([margins.table(counts, "s", "0", model) for model in "ab"], "Margins")
    for figure in (hostile_scores(), hostile_regions(), bars):
        altair.Chart.from_dict(dict(figure.spec), validate=True)


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
    with pytest.raises(UsageError, match=r"some of png,svg,pdf,vl\.json"):
        hostile_scores().save(tmp_path / "figure", ["gif"])
    assert list(tmp_path.iterdir()) == []
