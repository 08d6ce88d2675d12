"""Every command on the pages of papers was run, and writes the tables that the pages say."""

import re
from pathlib import Path

import page_commands
import pytest
from page_commands import Command, Workshop, commands, recorded

from tools import pages

ENTRIES = {place: entry for place, entry in recorded().items() if entry["page"] != "input"}


def test_the_record_is_about_the_commands_of_today() -> None:
    today = {command.key: command.appended for command in commands()}
    found = {place: entry.get("appended", "") for place, entry in ENTRIES.items()}
    assert found == today, "run `python -m tests.page_commands --new`, and commit the record"


def test_every_command_ended_as_expected() -> None:
    assert [entry for entry in recorded().values() if "wrong" in entry] == []
    for place, entry in recorded().items():
        assert entry.get("skipped") or entry["code"] == Command(*place).expected
        assert entry["record"].startswith("Computed by `python -m tests.page_commands` on 20")


def named(cell: str) -> list[str]:
    """Return the tables and figures that a cell of `statements.md` names."""
    lists = re.findall(r"\btables? \[?(`\w+`(?:(?:, | and |, and )`\w+`)*)|(`(?:table|figure)[\d_]\w*`)", cell)
    return re.findall(r"`(\w+)`", " ".join(map("".join, lists)))


def test_named_tables_and_figures() -> None:
    assert named("the tables `a` and `b` of `c`; `figure4_by_class`; `table_d`") == [
        "a",
        "b",
        "figure4_by_class",
        "table_d",
    ]


def test_tables_and_figures_are_what_their_commands_write() -> None:
    """Those of a cell's own commands, if they are no plans, or else of `reproduce` with its paper, on any page."""
    wrong = []
    for section, row in page_commands.rows((pages.PAGES / "statements.md").read_text(encoding="utf-8")):
        paper = f"syntagm reproduce {Command('', section, '').about} "
        own = [place for place in ENTRIES if place[2] in page_commands.codes(row[-1]) and "--plan" not in place[2]]
        meant = own or [place for place in ENTRIES if paper in place[2]]
        wrote = {Path(name).name for place in meant for name in ENTRIES[place].get("wrote", [])}
        wrong += [f"{row[-1]}: {name}" for name in named(row[-1]) if name not in wrote]
    assert wrong == []


@pytest.fixture(scope="module")
def workshop(tmp_path_factory: pytest.TempPathFactory) -> Workshop:
    return Workshop(tmp_path_factory.mktemp("commands"), commands())


@pytest.mark.slow
@pytest.mark.parametrize(
    "command", page_commands.chosen(60), ids=lambda command: f"{command.page}: {command.code}"[:70]
)
def test_a_slice_of_a_minute_runs_again(command: Command, workshop: Workshop) -> None:
    entry = workshop.entry(command)
    if reason := entry.get("skipped"):
        pytest.skip(reason)
    assert entry.get("wrong", "") == ""
    assert entry["wrote"] == ENTRIES[command.key]["wrote"]


def test_what_is_a_command(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "A table: `syntagm table scores\nruns/a`. The name `syntagm run`.\n\n"
        '    T="--valid b"\n    syntagm train lstm $T \\\n        -o out  # a remark\n    out/file\n\n'
        "<!-- run x: seconds -->\n\n    echo a > b\n    syntagm check b\n"
    )
    assert [command.code for command in page_commands.of_page(page)] == [
        "syntagm table scores runs/a",
        'T="--valid b"\nsyntagm train lstm $T -o out',
    ]


def test_inputs_are_made_by_the_nearest_command_above_or_by_lines(tmp_path: Path) -> None:
    codes = ("cat 5gram.arpa", "touch 1 -o runs/x", "touch 2 -o runs/x", "cat runs/x")
    lines = [Command("p", "", code) for code in codes]
    found = Workshop(tmp_path, lines).inputs
    assert [command.code for command in found(lines[0]).values()] == [
        "syntagm export models/5gram --as arpa -o 5gram.arpa"
    ]
    assert found(lines[1]) == {}
    assert found(lines[3]) == {"runs/x": lines[2]}


def test_a_command_that_fails_is_wrong_and_so_is_what_needs_it(tmp_path: Path) -> None:
    fails, needs = Command("p", "", "echo a >&2; exit 3; -o runs/x"), Command("p", "", "cat runs/x")
    workshop = Workshop(tmp_path, [fails, needs])
    assert workshop.entry(needs)["wrong"] == "runs/x: exit code 3: a\n"
    assert workshop.entry(fails)["wrong"] == "exit code 3: a\n"
