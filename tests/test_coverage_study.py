"""The committed coverage studies: what falls short is what the product remarks on."""

import re
from math import sqrt
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[1] / "benchmarks"


def rows(page: str, column: str = "remark") -> list[dict[str, str]]:
    """Return the rows of the tables of a page of `benchmarks`, or of another folder, that have a column."""
    lines = [line for line in (PAGES / page).read_text("utf-8").splitlines() if line.startswith("|")]
    tables: list[dict[str, str]] = []
    header: list[str] = []
    for k, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if k + 1 < len(lines) and lines[k + 1].startswith("|---"):
            header = cells
        elif not line.startswith("|---") and column in header:
            tables.append(dict(zip(header, cells, strict=True)))
    return tables


@pytest.mark.parametrize(
    ("page", "draws"), [("coverage.md", 2000), ("coverage_models.md", 400), ("coverage_claims.md", 2000)]
)
def test_intervals_and_tests_hold_or_the_product_says_so(page: str, draws: int) -> None:
    found = rows(page)
    assert len(found) > 10
    for row in found:
        # Beyond twice the error of the simulation.
        low = float(row["coverage, mean"] or 1) + 2 * sqrt(0.94 * 0.06 / draws)
        high = float(row["size"] or 0) - 2 * sqrt(0.06 * 0.94 / draws)
        assert (low >= 0.94 and high <= 0.06) or row["remark"], f"{row['number (method)']}, {row['units']}"


# Half of the draws of the study of worlds; a row of it has no fewer.
DRAWS = 1000


def test_in_hard_worlds_intervals_hold_or_the_product_says_what_they_do_not_know() -> None:
    found = rows("coverage_worlds.md", "always said")
    assert len(found) > 150
    for row in found:
        most = 0.06 if row["number"].startswith(("equivalence", "McNemar", "difference")) else 0.07
        most += 2 * sqrt(most * (1 - most) / DRAWS)
        place = f"{row['number']}, {row['world']}, {row['units']}"
        assert float(row["wrong"]) <= most or row["always said"] or float(row["unremarked"]) <= most, place
        if row["world"].startswith("mild"):
            assert float(row["wrong"]) <= most, place
            assert float(row["remarked"]) < 0.1, place


def test_interval_and_test_agree_in_20000_random_data_sets() -> None:
    found = rows("coverage_worlds.md", "disagreeing")
    assert sum(int(row["with interval and test"].replace(",", "")) for row in found) > 19000
    assert {row["disagreeing"] for row in found} == {"0"}


def test_the_page_on_statistics_quotes_the_study_of_worlds() -> None:
    """A cell has two or three percentages, `plain → now (remarked)`; its column or the row has the units."""
    study = {(row["number"], row["world"], row["units"]): row for row in rows("coverage_worlds.md", "always said")}
    quoted = 0
    for row in rows("../docs/reference/statistics.md", "world"):
        number, world = row.pop("number"), row.pop("world")
        units = row.pop("units", "")
        for column, cell in row.items():
            found = study[number, world, units or column]
            rates = [
                f"{100 * float(found[name]):.1f}" for name in ("earlier: wrong", "wrong", "remarked") if found[name]
            ]
            assert re.findall(r"[\d.]+", cell) == rates, (number, world, column)
            quoted += 1
    assert quoted >= 12
