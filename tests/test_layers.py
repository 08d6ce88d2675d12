"""Which way imports point (docs/design.md), and what is loaded when."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import syntagm
from syntagm import folder

PACKAGE = Path(syntagm.__file__).parent
LEVELS = {
    0: "errors folder durable table",
    1: "suite formula question result word_list",
    2: "formats grammar check models training measures align analysis",
    3: "evaluate run recording ledger blanks shard cache estimates pairing export lm_eval perplexity workers "
    "normalised trajectories",
    4: "figures tables report papers",
    5: "cli web __main__ __init__",
}
LEVEL = {room: level for level, rooms in LEVELS.items() for room in rooms.split()}
ISLANDS = [{"formats", "grammar", "check"}, {"models", "training"}, {"measures", "align"}, {"analysis"}]
FORBIDDEN = {
    ("models", "suite"): "a model must not know about materials",
    ("models", "formula"): "a model must not know about predictions",
    ("models", "result"): "a model must not know what is made of its answers",
    ("formats", "question"): "materials must not know about models",
    ("check", "question"): "materials must not know about models",
    ("web", "cli"): "the pages and the command line don't know each other",
    ("cli", "web"): "the pages and the command line don't know each other",
}
HEAVY = {
    "torch",
    "transformers",
    "tokenizers",
    "safetensors",
    "nltk",
    "polars",
    "altair",
    "vl_convert",
    "scipy",
    "rich",
    "jinja2",
}


def files() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def room(parts: tuple[str, ...]) -> str:
    return Path(parts[0]).stem


def imported(tree: ast.Module) -> Iterator[str]:
    """The dotted names that a file imports, wherever in it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports are not read here"
            # `from syntagm import suite` imports a module, `from syntagm.suite import Suite` a name of one.
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def fault(path: str, target: str) -> str | None:
    """What is wrong with the file `path` (relative to the package) importing `target`, as a message."""
    names = target.split(".")
    if names[0] != "syntagm" or len(names) == 1:
        return None
    here, there = room(Path(path).parts), names[1]
    message = f"{path} imports syntagm.{there}"
    if there not in LEVEL:
        return f"{message}: no such room in docs/design.md"
    if (here, there) in FORBIDDEN:
        return f"{message}: {FORBIDDEN[here, there]}"
    if here == there:
        return None
    if LEVEL[there] > LEVEL[here]:
        return f"{message}: level {LEVEL[here]} must not know level {LEVEL[there]}"
    if LEVEL[here] == LEVEL[there] == 2 and not any({here, there} <= island for island in ISLANDS):
        return f"{message}: no bridges between islands"
    return None


@pytest.mark.parametrize("path", files(), ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_point_down(path: Path) -> None:
    name = path.relative_to(PACKAGE).as_posix()
    assert room(Path(name).parts) in LEVEL or room(Path(name).parts) == "materials", f"{name} stands in no level"
    found = [fault(name, target) for target in imported(ast.parse(path.read_text(encoding="utf-8")))]
    # The public names are at home everywhere; __init__ only points there.
    assert name == "__init__.py" or not [message for message in found if message]


@pytest.mark.parametrize(
    ("path", "target", "message"),
    [
        (
            "models/masked.py",
            "syntagm.suite.Suite",
            "models/masked.py imports syntagm.suite: a model must not know about materials",
        ),
        ("formats/new.py", "syntagm.models.toy", "formats/new.py imports syntagm.models: no bridges between islands"),
        (
            "measures/new.py",
            "syntagm.evaluate",
            "measures/new.py imports syntagm.evaluate: level 2 must not know level 3",
        ),
        ("suite.py", "syntagm.utils", "suite.py imports syntagm.utils: no such room in docs/design.md"),
        ("models/new.py", "syntagm.models._name.choose", None),
        ("measures/new.py", "syntagm.align.align", None),
        ("suite.py", "numpy", None),
    ],
)
def test_the_reader_of_imports_itself(path: str, target: str, message: str | None) -> None:
    assert fault(path, target) == message


@pytest.mark.parametrize("level", [0, 1])
def test_the_ground_floors_need_numpy_at_most(level: int) -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy", "syntagm"}
    for name in LEVELS[level].split():
        tree = ast.parse((PACKAGE / f"{name}.py").read_text(encoding="utf-8"))
        assert {target.split(".")[0] for target in imported(tree)} <= allowed


def loaded(code: str) -> set[str]:
    """Which heavy libraries are loaded after `code`, in a fresh interpreter."""
    report = f"\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_and_every_command_loads_nothing_heavy() -> None:
    commands = "\n".join(f"import syntagm.cli.{name}" for name in folder.names("cli"))
    assert loaded(f"import syntagm\nimport syntagm.cli\n{commands}") == set()


def test_reading_and_checking_suites_loads_nothing_heavy() -> None:
    code = "import syntagm as sg\nsuites = sg.read_suites('hu2020')\nlist(sg.check_suites(suites))"
    assert loaded(code) == set()


def test_a_model_by_pencil_needs_no_torch() -> None:
    assert not loaded("import syntagm as sg\nlist(sg.load_model('toy').score(['the dog']))") & {"torch", "transformers"}


def test_help() -> None:
    done = subprocess.run([sys.executable, "-m", "syntagm", "--help"], capture_output=True, text=True, check=True)
    for name in folder.names("cli"):
        assert name.replace("_", "-") in done.stdout
