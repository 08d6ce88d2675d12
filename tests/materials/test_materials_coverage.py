"""The page on coverage by the chapters of books: what it names exists, and its counts are those of its tables."""

import re
from fnmatch import fnmatch
from pathlib import Path

import pytest

import syntagm

MATERIALS = Path(syntagm.__file__).parent / "suites" / "materials"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "coverage.md"
BOOKS = re.findall(
    r"^### ([^\n]+)\n\n[^\n]*?(\d+) of (\d+) chapters\.$(.*?)^In no chapter: (.*?)\.",
    PAGE.read_text(encoding="utf-8"),
    re.MULTILINE | re.DOTALL,
)


def codes(text: str) -> list[str]:
    return re.findall("`([^`]+)`", text)


def test_three_books_have_a_table() -> None:
    assert [book[0] for book in BOOKS] == ["Adger 2003", "Sag, Wasow & Bender 2003", "Huddleston & Pullum 2002"]


@pytest.mark.parametrize(
    ("reached", "of", "table", "absent"), [book[1:] for book in BOOKS], ids=[book[0] for book in BOOKS]
)
def test_each_chapter_names_what_is_bundled(reached: str, of: str, table: str, absent: str) -> None:
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| \d.*$", table, re.MULTILINE)
    ]
    assert [int(chapter.split()[0]) for chapter, *_ in rows] == list(range(1, int(of) + 1))
    assert sum(bool(codes(own + other)) for _, own, other in rows) == int(reached)
    named = {name for _, own, _ in rows for name in codes(own)}
    files = (MATERIALS / "warstadt2020").glob("*.toml")
    phenomena = {
        name for path in files for name in re.findall(r'^circuit = "(.+)"$', path.read_text("utf-8"), re.MULTILINE)
    }
    assert named.isdisjoint(codes(absent))
    assert named | set(codes(absent)) == phenomena
    suites = [f"{path.parent.name}/{path.stem}" for path in MATERIALS.glob("*/*.toml")]
    patterns = [pattern for *_, other in rows for pattern in codes(other)]
    assert [pattern for pattern in patterns if not any(fnmatch(suite, pattern) for suite in suites)] == []
