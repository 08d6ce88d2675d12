"""The committed coverage study: what falls short is what the product remarks on."""

from math import sqrt
from pathlib import Path

import pytest

PAGES = Path(__file__).resolve().parents[1] / "benchmarks"


def rows(page: str) -> list[dict[str, str]]:
    lines = [line for line in (PAGES / page).read_text("utf-8").splitlines() if line.startswith("|")]
    tables: list[dict[str, str]] = []
    header: list[str] = []
    for k, line in enumerate(lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if k + 1 < len(lines) and lines[k + 1].startswith("|---"):
            header = cells
        elif not line.startswith("|---") and "remark" in header:
            tables.append(dict(zip(header, cells, strict=True)))
    return tables


@pytest.mark.parametrize(("page", "draws"), [("coverage.md", 2000), ("coverage_models.md", 400), ("coverage_claims.md", 2000)])
def test_intervals_and_tests_hold_or_the_product_says_so(page: str, draws: int) -> None:
    found = rows(page)
    assert len(found) > 10
    for row in found:
        # Beyond twice the error of the simulation.
        low = float(row["coverage, mean"] or 1) + 2 * sqrt(0.94 * 0.06 / draws)
        high = float(row["size"] or 0) - 2 * sqrt(0.06 * 0.94 / draws)
        assert (low >= 0.94 and high <= 0.06) or row["remark"], f"{row['number (method)']}, {row['units']}"
