"""The tutorials work for a stranger: their files are written, their commands run, and what is printed stands on the page."""

import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from syntagm.cli import main

ROOT = Path(__file__).resolve().parents[1]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
NUMBER = re.compile(r"-?\d+\.\d+")
# Sums of float32 differ a little between processors.
NEAR = 0.02


def same(expected: str, found: str) -> bool:
    """Are two lines the same, decimal fractions within the tolerance?"""
    numbers = [[float(one) for one in NUMBER.findall(line)] for line in (expected, found)]
    alike = all(math.isclose(one, other, abs_tol=NEAR) for one, other in zip(*numbers, strict=False))
    return NUMBER.sub("#", expected).split() == NUMBER.sub("#", found).split() and alike


def holds(expected: list[str], found: list[str]) -> bool:
    """Is what was printed what the page shows? `...` stands for any lines."""
    if not expected:
        return not found
    if expected[0] == "...":
        return any(holds(expected[1:], found[number:]) for number in range(len(found) + 1))
    return bool(found) and same(expected[0], found[0]) and holds(expected[1:], found[1:])


def commands(block: str) -> Iterator[tuple[list[str], list[str]]]:
    """The commands of a block, each with the lines under it."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        first, *printed = part.rstrip("\n").split("\n")
        name, *arguments = shlex.split(first)
        assert name == "syntagm"
        yield arguments, printed


def with_lines(text: str, lines: str) -> str:
    """The text of a template with other lines in place of those that begin with the same word."""
    for line in lines.splitlines():
        (old,) = re.findall(rf"^{line.split()[0]} .*$", text, re.MULTILINE)
        text = text.replace(old, line)
    return text


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["README", "docs/guide/first_suite", "docs/guide/cross_a_lexicon", "docs/guide/paradigm"]
)
def test_tutorial(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page = (ROOT / f"{name}.md").read_text(encoding="utf-8")
    space: dict[str, object] = {}
    file, right = Path(), ""
    for place in BLOCK.finditer(page):
        kind, block = place.groups()
        if kind == "toml" and (named := re.match(r"# (\w+\.toml)\n", block)):
            file, right = Path(named[1]), block
            file.write_text(block)
        elif kind == "toml":
            # A mistake: it stands until the next command is done.
            file.write_text(with_lines(right, block))
        elif kind == "tsv":
            name = re.findall(r"Save this as `([^`]+)`", page[: place.start()])[-1]
            file, right = Path(name), block
            file.write_text(block)
        elif kind == "python":
            exec(block, space)
        elif kind == "text":
            printed = capsys.readouterr().out.splitlines()
            assert holds(block.splitlines(), printed), "\n".join(printed)
        elif kind == "console":
            for arguments, expected in commands(block):
                capsys.readouterr()
                main(arguments)
                printed = capsys.readouterr().out.splitlines()
                assert holds(expected, printed), f"{arguments}\n" + "\n".join(printed)
            if right:
                file.write_text(right)


@pytest.mark.slow
def test_the_table_of_the_page_about_planning_is_what_its_commands_print(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before, table, _ = re.split(
        r"((?:^\|.*\n)+)", (ROOT / "docs/guide/plan.md").read_text("utf-8"), maxsplit=1, flags=re.M
    )
    run, power = re.findall(r"^    syntagm (.*)$", before, re.MULTILINE)
    main([*shlex.split(run), "--no-report", "--quiet"])
    capsys.readouterr()
    main(shlex.split(power))
    printed = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert holds(table.splitlines(), printed), "\n".join(printed)


def test_a_page_that_is_wrong_is_found() -> None:
    assert holds(["a", "...", "score 0.750"], ["a", "b", "c", "score 0.751"])
    assert not holds(["a", "...", "score 0.750"], ["a", "b", "score 0.850"])
    assert not holds(["a"], ["a", "b"])
