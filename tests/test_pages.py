"""The pages of papers: what a command computed stands in a generated block, and every other number is a citation."""

import re
import subprocess
from pathlib import Path

import pytest

from syntagm.cli import _parser
from tools import blocks, pages

PAGES = sorted(pages.PAGES.glob("*.md"))
RUNS = [
    pytest.param(page, run, id=f"{page.stem}-{run.name}")
    for page in PAGES
    for run in pages.runs(page.read_text(encoding="utf-8"))
]
_CODE = re.compile(r"^```.*?^```$|^(?: {4}[^\n]*\n)+|`[^`]*`|\]\([^)]*\)|<!--.*?-->", re.DOTALL | re.MULTILINE)
# Digits that are no result: parts of names, places in a paper, years, the level of intervals, the numbers of a list.
_NAMES = re.compile(
    r"\b[A-Za-z]+-?\d[\w-]*|\b\d+-grams?\b|\b(?:Figures?|Tables?|[Ss]ections?|footnote|TACL|BY) \d[\d.]*"
    r"(?:(?:,| and| to) \d[\d.]*)*|\b(?:19|20)\d\d\b|95 ?%|^ *\d+\. |(?<![\d.,-])[01](?!\d|%|[.,]\d)",
    re.MULTILINE,
)


def by_hand(text: str) -> list[str]:
    """Return the lines with a number that is neither in a generated block nor cited, nor in code."""
    for block in reversed(blocks.find(text)):
        text = text[: block.start] + text[block.end :]
    text = _NAMES.sub("", _CODE.sub("", pages.CITED.sub("", text)))
    return [line for line in text.splitlines() if re.search(r"\d", line)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_number_is_computed_or_cited(page: Path) -> None:
    assert by_hand(page.read_text(encoding="utf-8")) == []


def test_numbers_by_hand_are_found() -> None:
    page = """1. GPT-2 of 2019 (Figures 3 to 5, 95% intervals) has a score.
2. The score of `x=3` is 0.31.

    code 4

<!-- cited: somebody, Table 1 -->
They print 0.5.
<!-- /cited -->
<!-- a/b: written by python -m tools.pages -->
7
<!-- end of a/b -->
"""
    assert by_hand(page) == ["The score of  is 0.31."]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_has_its_command(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    found = [block for block in blocks.find(text) if block.tool == "pages"]
    for block in found:
        run = pages.run_of(block, text)
        assert block.content, f"{block.name}: run `python -m tools.pages {page.stem}`"
        assert run is None or f" {block.name.split('/')[0]}" in run.code or block.name == f"record of {run.name}"
    recorded = {block.name for block in found if block.name.startswith("record of ")}
    assert recorded == {f"record of {run.name}" for run in pages.runs(text) if run.takes != pages.SECONDS}


@pytest.mark.parametrize(("page", "run"), RUNS)
def test_every_command_parses(page: Path, run: pages.Run, tmp_path: Path) -> None:
    """The shell expands the commands, as in a run; instead of Syntagm, it calls a function that prints the arguments."""
    (tmp_path / "data" / "blimp").mkdir(parents=True)
    (tmp_path / "data" / "blimp" / "paradigm.jsonl").touch()
    echo = "syntagm() { printf '%s\\0' \"$@\"; printf '\\1'; }\npython() { echo; }\n"
    found = subprocess.run(["bash", "-c", echo + run.code], cwd=tmp_path, capture_output=True, text=True)
    commands = [text.split("\0")[:-1] for text in found.stdout.split("\1") if text]
    assert len(commands) >= run.code.count("syntagm ")
    for command in commands:
        _parser(command[0]).parse_args(command)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_parts_that_need_no_command_are_current(page: Path) -> None:
    for block in blocks.find(page.read_text(encoding="utf-8")):
        if block.name in pages.PARTS:
            assert block.content == pages.PARTS[block.name](), f"run `python -m tools.pages {page.stem}`"


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_runs_of_seconds_give_what_the_page_shows(page: Path, tmp_path: Path, shared: Path) -> None:
    text = page.read_text(encoding="utf-8")
    short = [run for run in pages.runs(text) if run.takes == pages.SECONDS]
    if not short:
        pytest.skip("no run of seconds on this page")
    for run in short:
        run.carry_out(tmp_path)
    for block in blocks.find(text):
        if pages.run_of(block, text) in short:
            assert pages.same(pages.content(block, tmp_path), block.content), block.name


def test_a_page_is_renewed_by_its_commands(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        """# A page

<!-- run out: seconds -->

    mkdir -p out
    printf '## T\\n\\n| a | b |\\n|---|---|\\n| x | 0.5 |\\n| y | 0.7 |\\n\\n- A note.\\n' > out/table.md

<!-- out/table: written by python -m tools.pages;
rows a = y -->
old
<!-- end of out/table -->

<!-- run late: a year -->

    exit 1

<!-- record of late: written by python -m tools.pages -->
Long ago.
<!-- end of record of late -->
"""
    )
    pages.renew(page, tmp_path / "work", only=pages.SECONDS)
    made, record = blocks.find(page.read_text())
    assert made.content == "| a | b |\n|---|---|\n| y | 0.7 |\n\n- A note."
    assert record.content == "Long ago."
    assert list(pages.sources(page)) == ["page: out/table: run out, seconds", "page: record of late: run late, a year"]
    assert by_hand(page.read_text()) == []


@pytest.mark.parametrize(
    ("how", "message"),
    [("columns c", "no column 'c'; expected one of a, b"), ("rows a = z", "no row with a = z"), ("rows z = 1", "no column 'z'")],
)  # fmt: skip
def test_a_part_that_a_table_lacks_is_refused(how: str, message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        pages.shown("## T\n\n| a | b |\n|---|---|\n| x | 1 |\n", how)


def test_a_comment_without_its_counterpart_is_refused() -> None:
    with pytest.raises(ValueError, match="no counterpart"):
        blocks.find("<!-- a: written by python -m tools.pages -->\n\n1\n\n<!-- end of b -->\n")
