"""Each recipe for contributors works: its files are written into a copy of the package, and its commands print what it shows.

On `docs/contributors/recipes.md`, a section is a recipe. A block of code that begins with `# PATH` is a new file, one of the
language `diff` changes a file, one with lines after `$` is typed into a shell, and other Python is a script.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_tutorials import holds

import syntagm
from syntagm.core import registry

PAGE = Path(__file__).resolve().parents[1] / "docs" / "contributors" / "recipes.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SECTIONS = {
    part.partition("\n")[0]: part
    for part in re.split(r"^## ", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
}
RECIPES = [name for name, text in SECTIONS.items() if BLOCK.search(text)]
# In the shell, the command is that of the copy, and packages are installed beside it, without an index.
SHELL = f"""
set -e
export PYTHONPATH=.:packages
syntagm() {{ {sys.executable} -W ignore -m syntagm "$@"; }}
pip() {{ {sys.executable} -m pip -q "$@" --no-deps --no-build-isolation --target packages; }}
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A folder with a copy of the package."""
    shutil.copytree(Path(syntagm.__file__).parent, tmp_path / "syntagm", ignore=shutil.ignore_patterns("lib"))
    return tmp_path


def perform(text: str, folder: Path) -> None:
    """Do what a recipe says, and compare what is printed."""
    for language, block in BLOCK.findall(text):
        named = re.match(r"# ([\w/.]+\.\w+)\n", block)
        if language == "console":
            for command, expected in commands(block):
                printed = shell(command, folder)
                assert holds(expected, printed), f"{command}\n" + "\n".join(printed)
        elif language == "diff":
            change(block, folder)
        elif named:
            path = folder / named[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            assert not path.exists(), f"{path} exists; a diff changes it"
            path.write_text(block, encoding="utf-8")
            for parent in path.relative_to(folder).parents:
                if parent.parts[:1] == ("syntagm",) and not (folder / parent / "__init__.py").exists():
                    (folder / parent / "__init__.py").write_text(f'"""{parent.name}."""\n')
        else:
            assert language == "python", language
            shell(f"{sys.executable} - <<'END'\n{block}END", folder)


def commands(block: str) -> list[tuple[str, list[str]]]:
    """The commands of a block, each with the lines under it."""
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    return [(part.split("\n")[0], part.rstrip("\n").split("\n")[1:]) for part in parts]


def shell(command: str, folder: Path) -> list[str]:
    """Type a command, and return what it prints."""
    environment = os.environ | {"SYNTAGM_CACHE": str(folder / "cache.sqlite"), "NO_COLOR": "1"}
    done = subprocess.run(["bash", "-c", SHELL + command], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout.splitlines()


def change(block: str, folder: Path) -> None:
    """Change a file: `-` is what it has, `+` what it gets, and other lines stay. `@@` is between two places."""
    head, changes = block.split("\n", 1)
    path = folder / head.removeprefix("# ")
    for hunk in changes.split("@@\n"):
        lines = hunk.splitlines()
        old, new = ("".join(f"{line[1:]}\n" for line in lines if line[:1] in (" ", sign)) for sign in "-+")
        text = path.read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{path} has other lines than\n{old}"
        path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_works(name: str, copy: Path) -> None:
    perform(SECTIONS[name], copy)


def test_a_recipe_that_does_not_work_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    perform("```diff\n# a.py\n-x = 1\n+x = 2\n```\n\n```console\n$ cat a.py\nx = 2\n```\n", tmp_path)
    for wrong in (
        "```console\n$ cat a.py\nx = 3\n```\n",
        "```python\nassert False\n```\n",
        "```diff\n# a.py\n-y\n+z\n```\n",
    ):
        with pytest.raises(AssertionError):
            perform(wrong, tmp_path)


def test_the_page_is_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").split()) <= 4000


def test_every_room_that_is_open_to_packages_is_listed() -> None:
    assert set(re.findall(r"^\| `(syntagm\.\w+)` \|", SECTIONS["Another package"], re.MULTILINE)) == {
        f"syntagm.{room}" for room in registry.ROOMS
    }
