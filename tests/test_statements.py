"""The page of what the papers say: each statement has a command that parses and whose names exist, or a reason."""

import re
import shlex
from pathlib import Path

import pytest

from syntagm import read_suites
from syntagm.cli import _parser
from syntagm.core import registry
from syntagm.suites import expand
from syntagm.views import by_name
from tools import reading

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "papers" / "statements.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in PAGE.read_text(encoding="utf-8").splitlines()
    if line.startswith("| ") and not line.startswith("| where")
]
CODE = [code for row in ROWS for code in re.findall(r"`([^`]*)`", row[-1])]
COMMANDS = [code for code in CODE if code.startswith("syntagm ")]
_BUNDLED = re.compile(r"(hu2020|marvin2018|warstadt2020|islands|distance|textbook)(/.*)?")


def test_each_statement_has_its_place_and_a_command_or_a_reason() -> None:
    assert len(ROWS) >= 110
    assert [row for row in ROWS if len(row) != 3 or not all(row)] == []


def test_suites_that_are_named_without_a_command_exist() -> None:
    names = [code for code in CODE if _BUNDLED.fullmatch(code)]
    assert len(names) >= 2
    for name in names:
        assert expand([name])


def test_rows_say_the_numbers_that_commands_show() -> None:
    [checked] = [row[-1] for row in ROWS if row[-1].startswith("`syntagm check hu2020`")]
    suites = read_suites("hu2020")
    assert checked.endswith(f": {len(suites)} suites, {sum(len(suite.items) for suite in suites)} items")
    [compared] = [row[-1] for row in ROWS if row[-1].startswith("`syntagm compare runs/a runs/b`")]
    assert f"`mean of {len(suites)}`" in compared
    [made] = [row[-1] for row in ROWS if row[-1].startswith("`syntagm make marvin2018 -o pairs`")]
    assert f": {len(expand(['marvin2018']))} suites" in made


@pytest.mark.parametrize("command", dict.fromkeys(COMMANDS))
def test_commands_parse_and_name_what_exists(command: str) -> None:
    words = shlex.split(command)[1:]
    arguments = _parser(words[0]).parse_args(words)
    for kind, maker in by_name.MAKERS.items():
        if words[0] == kind:
            assert words[1] in registry.names("views"), words[1]
            assert hasattr(registry.find("views", words[1]), maker)
    for name in (getattr(arguments, "suite", None) or []) + (getattr(arguments, "source", None) or []):
        if isinstance(name, str) and _BUNDLED.fullmatch(name):
            assert expand([name])


def test_numbers_of_readers_are_those_of_the_page_of_readings() -> None:
    [row] = [row for row in ROWS if "readers found" in row[-1]]
    pairs, wrong, odd = re.findall(r"\b\d+\b", row[-1].partition(" (")[0])
    page = reading.page(reading.rows())
    assert wrong == "1"
    assert f"of {pairs} were right, {odd} odd, and one wrong" in page
