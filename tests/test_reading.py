"""The page about the reading of `warstadt2020` is made from its table."""

from collections import Counter
from pathlib import Path

import syntagm
from tools import reading

MATERIALS = Path(syntagm.__file__).parent / "suites" / "materials" / "warstadt2020"


def test_the_page_counts_the_rows_of_the_table() -> None:
    verdicts = [
        ("one", "first", "right"),
        ("one", "first", "doubtful"),
        ("two", "first", "right"),
        ("two", "another seed", "wrong"),
    ]
    text = reading.page([dict(zip(("paradigm", "reading", "verdict"), row, strict=True)) for row in verdicts])
    assert "| first | 3 | 2 | 1 | 0 |\n| after mending | 0 | 0 | 0 | 0 |\n| another seed | 1 | 0 | 0 | 1 |\n" in text
    assert "| one | 1 of 2 |  |  |  |\n| two | 1 of 1 |  | 0 of 1 |  |\n" in text


def test_twenty_pairs_of_every_paradigm_were_read_and_five_of_another_seed() -> None:
    rows = reading.rows()
    paradigms = {path.stem for path in MATERIALS.glob("*.toml")}
    sizes = {reading.FIRST: 20, reading.OTHER: 5, reading.LATER: 10}
    assert len(paradigms) == 67
    for kind, size in sizes.items():
        counts = Counter(row["paradigm"] for row in rows if row["reading"] == kind)
        assert counts == dict.fromkeys(paradigms, size), kind
    assert {row["verdict"] for row in rows} <= set(reading.VERDICTS)
    assert all(row["reason"] and row["good"] != row["bad"] for row in rows)


def test_every_paradigm_has_nineteen_right_pairs_in_its_last_reading() -> None:
    right: dict[tuple[str, str], int] = {}
    for row in reading.rows():
        key = row["paradigm"], row["reading"]
        right[key] = right.get(key, 0) + (row["verdict"] == "right")
    for name in {paradigm for paradigm, _ in right}:
        assert right.get((name, reading.AGAIN), right[name, reading.FIRST]) >= 19, name
