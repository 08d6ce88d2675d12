"""Every example in the documentation and in docstrings runs."""

import doctest
import importlib
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import syntagm
from syntagm.cli import _parser
from syntagm.core import InputError, registry
from tools import collection_pages

ROOT = Path(__file__).resolve().parents[1]
# Pages that `make docs` writes.
COLLECTIONS = {collection_pages.FOLDER / name for name in collection_pages.NAMES}
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in path.parts and path not in COLLECTIONS),
]
PACKAGE = ROOT / "syntagm"
MODULES = {
    ".".join(("syntagm", *path.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in sorted(PACKAGE.rglob("*.py"))
    if path.stem != "__main__"
}
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text(encoding="utf-8")]
OTHERS = [
    *(ROOT / name for name in ("CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md", "tests/golden/README.md")),
    *(ROOT / "syntagm" / "suites" / "materials").rglob("*.md"),
]
# What commands print is shown as it is printed.
PRINTED = re.compile(r"^```(console|text)\n.*?^```", re.DOTALL | re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
TUTORIALS = {"first_suite.md", "cross_a_lexicon.md", "paradigm.md"}  # run with their commands by test_tutorials.py
RECIPES = "recipes.md"  # performed by test_recipes.py
WITH_CODE = [
    page for page in PAGES if BLOCK.search(page.read_text(encoding="utf-8")) and page.name not in {*TUTORIALS, RECIPES}
]
# Asking a model for thousands of verbs, and all that can be done in Python, take seconds.
LONG = {"gaps.md", "python.md"}


def name(page: Path) -> str:
    """Return a page's path from the root of the repository."""
    return str(page.relative_to(ROOT))


@pytest.mark.slow
def test_every_module_says_what_it_is() -> None:
    for name in MODULES:
        assert importlib.import_module(name).__doc__, f"{name} does not say what it is"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_docstrings(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = importlib.import_module(name)
    # `doctest.testmod` takes ten times as long, since it also runs docstrings without examples.
    examples = doctest.DocTestRunner()
    for docstring in doctest.DocTestFinder().find(module):
        if docstring.examples:
            assert examples.run(docstring).failed == 0


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=[pytest.mark.slow] * (page.name in LONG), id=name(page)) for page in WITH_CODE],
)
def test_pages(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = page.read_text(encoding="utf-8")
    if any("runs/demo" in found[1] for found in BLOCK.finditer(text)):
        # Of the run that the README's first command makes, this suite is looked at.
        syntagm.run_suites(syntagm.load_model("toy"), syntagm.read_suites("hu2020/mvrr"), "runs/demo")
    execute(page, text)


def test_the_page_on_reading_times_holds_for_another_number_of_stories(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    page = next(page for page in PAGES if page.name == "reading_times.md")
    third = "A third story has six words."
    text = page.read_text(encoding="utf-8").replace("words = {\n", f'words = {{\n    "0": "{third}",\n', 1)
    execute(page, text)
    assert sum(line.startswith("s0,0,") for line in (tmp_path / "times.csv").read_text().splitlines()) == 6


def execute(page: Path, text: str) -> None:
    """Run the Python code of a page."""
    space: dict[str, object] = {"__name__": page.stem}
    for found in BLOCK.finditer(text):
        line = text[: found.start(1)].count("\n")
        # Empty lines before the code make a traceback show the line of the page.
        exec(compile("\n" * line + found[1], str(page), "exec"), space)


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\((?!https?:|mailto:)([^)#]*)#?([^)]*)\)", text):
            linked = page.parent / target if target else page
            assert linked.exists() or linked.resolve() in COLLECTIONS, f"{page.name} links to {target}"
            assert not anchor or anchor in anchors(linked), f"{page.name} links to {target}#{anchor}"


@cache
def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the site make them."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_lines_are_short() -> None:
    for page in [*PAGES, *OTHERS]:
        text = PRINTED.sub("", page.read_text(encoding="utf-8"))
        # A row of a table can't be broken.
        long = [line for line in text.splitlines() if len(line) > 120 and not line.startswith("|")]
        assert long == [], name(page)


def test_no_words_are_written_twice() -> None:
    """`There is there is no such suite`: the same words again, in the code or on a page."""
    files = [*PAGES, *OTHERS, *sorted((ROOT / "syntagm").rglob("*.py"))]
    twice = re.compile(r"\b(?!one by)(?:([A-Za-z]+ [a-z]+) \1|(the|a|an|of|is|to|in) \2)\b")
    found = [(name(path), match[0]) for path in files for match in twice.finditer(path.read_text(encoding="utf-8"))]
    assert found == []


def test_a_page_says_whom_it_is_for() -> None:
    for page in PAGES:
        if page.name != "README.md":
            first = page.read_text(encoding="utf-8").split("\n\n")[1]
            assert re.match(r"For \w+", first), f"{name(page)}: {first}"


LINE = re.compile(r"^(?: {4}|\$ )syntagm ([^\n]*)$", re.MULTILINE)


def test_every_command_line_has_the_options_of_its_command(capsys: pytest.CaptureFixture[str]) -> None:
    """Command lines of pages and of help texts are parsed. An ellipsis stands for further arguments."""
    parser, wrong, count = _parser(), list[str](), 0
    # The recipes have commands and names that they add.
    texts = {name(page): page.read_text(encoding="utf-8") for page in PAGES if page.name != RECIPES}
    texts |= {command: registry.find("cli", command).__doc__ for command in registry.names("cli")}
    for place, text in texts.items():
        for found in LINE.finditer(re.sub(r"\\\n\s*", " ", text)):
            # In help texts, what follows after a gap says what the command does; on pages, a comment does, so that lines
            # can be copied. $T holds the texts of an experiment.
            line = found[1] if place.endswith(".md") else re.split(" {3,}", found[1])[0]
            line = re.sub(r" \$T(?= )", " --corpus x", line)
            words = shlex.split(line, comments=True)
            kept = words[: next((at for at, word in enumerate(words) if word in ("|", ">", "...", "…")), None)]
            count += 1
            try:
                parser.parse_args(kept)
            except InputError:
                assert "--config" in words
            except SystemExit as end:
                said = capsys.readouterr().err
                if end.code and not (kept != words and "are required" in said):
                    wrong.append(f"{place}: {line}: {said.splitlines()[-1]}")
    assert wrong == []
    assert count > 300


def test_every_promise_names_a_test_that_exists() -> None:
    """In `docs/reference/reliability.md`, each row of a table ends with the tests that show it."""
    lines = (ROOT / "docs" / "reference" / "reliability.md").read_text("utf-8").splitlines()
    rows = [line for line in lines if line.startswith("|") and not re.match(r"\|(---|\s*promise\s*\|)", line)]
    assert len(rows) > 25
    for row in rows:
        promise, tried, shown = (cell.strip() for cell in row.strip("|").split("|"))
        tests = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", shown)
        assert promise, row
        assert tried, row
        assert tests, row
        for file, name in tests:
            assert re.search(rf"^ *def {name}\(", (ROOT / file).read_text("utf-8"), re.MULTILINE), f"{file}::{name}"
