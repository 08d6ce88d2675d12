"""Which way imports point (docs/design.md), and what is loaded when."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import syntagm
from syntagm import registry

PACKAGE = Path(syntagm.__file__).parent
DESIGN = PACKAGE.parent / "docs" / "design.md"


def floors() -> list[list[str]]:
    """The rooms from the ground up, as the page on the design lists them."""
    [block] = re.findall(
        r"\n\n((?:    [a-z_ ]+\n)+)\n", DESIGN.read_text(encoding="utf-8").split("## Rooms")[1].split("| room")[0]
    )
    return [line.split() for line in block.splitlines()]


FLOORS = floors()
FLOOR = {room: number for number, rooms in enumerate(FLOORS) for room in rooms}
FORBIDDEN = {
    ("models", "suite"): "a model must not know about materials",
    ("models", "formula"): "a model must not know about predictions",
    ("models", "result"): "a model must not know what is made of its answers",
    ("training", "suite"): "a model must not know about materials",
    ("formats", "answers"): "materials must not know about models",
    ("formats", "models"): "materials must not know about models",
    ("templates", "models"): "materials must not know about models",
    ("materials", "models"): "materials must not know about models",
    ("check", "models"): "materials must not know about models",
    ("check", "answers"): "materials must not know about models",
    ("stats", "models"): "statistics must not know about models",
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


# An import stands on lines of its own, as `make lint` demands. To parse whole files takes seconds.
IMPORT = re.compile(r"^[ \t]*((?:from [\w.]+ )?import (?:\([^)]*\)|.*))$", re.MULTILINE)


@functools.cache
def imported(path: Path) -> list[str]:
    """The dotted names that a file imports, wherever in it."""
    found = list[str]()
    for node in ast.parse("\n".join(IMPORT.findall(path.read_text(encoding="utf-8")))).body:
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "relative imports are not read here"
            # `from syntagm import suite` imports a module, `from syntagm.suite import Suite` a name of one.
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def fault(path: str, target: str) -> str | None:
    """What is wrong with the file `path` (relative to the package) importing `target`, as a message."""
    names = target.split(".")
    if names[0] != "syntagm" or len(names) == 1:
        return None
    here, there = room(Path(path).parts), names[1]
    message = f"{path} imports syntagm.{there}"
    if there not in FLOOR:
        return f"{message}: no such room in docs/design.md"
    if (here, there) in FORBIDDEN:
        return f"{message}: {FORBIDDEN[here, there]}"
    if here == there:
        return None
    if FLOOR[there] >= FLOOR[here]:
        return f"{message}: {here} stands on floor {FLOOR[here]} and must not know floor {FLOOR[there]}"
    return None


def modules() -> dict[str, Path]:
    """Every module of the package by its dotted name."""
    names = {path: ".".join(("syntagm", *path.relative_to(PACKAGE).with_suffix("").parts)) for path in files()}
    return {name.removesuffix(".__init__"): path for path, name in names.items()}


def edges() -> dict[str, set[str]]:
    """Module -> the modules that it imports, wherever in it."""
    known = modules()
    return {
        name: {
            module
            for target in imported(path)
            for module in [target if target in known else target.rpartition(".")[0]]
            if module in known and module != name
        }
        for name, path in known.items()
        # The public names point everywhere, and are imported on first use.
        if name != "syntagm"
    }


def test_the_page_lists_the_rooms_that_exist() -> None:
    rooms = {path.stem for path in PACKAGE.glob("*.py")} | {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert sorted(FLOOR) == sorted(rooms)


def test_no_paper_knows_another() -> None:
    papers = registry.names("papers")
    for path in files():
        parts = path.relative_to(PACKAGE).parts
        if parts[0] == "papers" and parts[1] in papers:
            others = {name.split(".")[2] for name in imported(path) if name.startswith("syntagm.papers.")} & set(papers)
            assert others <= {parts[1]}, f"{'/'.join(parts)} imports another paper"


def readers_of_parsed_words(tree: ast.AST) -> set[str]:
    """The functions of a file that see what argparse has parsed."""
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if argument.annotation and re.search(r"\bNamespace\b", ast.unparse(argument.annotation))
    }


def test_only_the_border_sees_a_parsed_command_line() -> None:
    commands = set(registry.names("cli"))
    for path in files():
        if "Namespace" not in (text := path.read_text(encoding="utf-8")):
            continue
        names = readers_of_parsed_words(ast.parse(text))
        room, *inside = path.relative_to(PACKAGE).parts
        # A command is a file, or a folder if it has subcommands.
        command = room == "cli" and inside[0].removesuffix(".py") in commands
        if room == "cli" and not command:
            # What commands share turns options into something typed.
            names = {name for name in names if not name.startswith("given")}
        assert not names or command, f"{path}: {names}"


def test_no_import_goes_round_in_a_circle() -> None:
    graph, order = edges(), list[str]()
    left = dict(graph)
    while left:
        free = [name for name, targets in left.items() if not targets & left.keys()]
        assert free, f"a circle among {sorted(left)}"
        order += free
        left = {name: targets for name, targets in left.items() if name not in free}
    assert len(order) == len(graph)


def test_private_modules_are_imported_in_their_own_folder_only() -> None:
    found = [
        f"{name} imports {target}"
        for name, targets in edges().items()
        for target in targets
        for owner, private in [target.rsplit(".", 1)]
        if private.startswith("_") and not private.startswith("__") and not f"{name}.".startswith(f"{owner}.")
    ]
    assert not found


def test_imports_point_down() -> None:
    found = list[str | None]()
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert room(Path(name).parts) in FLOOR, f"{name} stands on no floor"
        # The public names are at home everywhere; __init__ only points there.
        if name != "__init__.py":
            found += [fault(name, target) for target in imported(path)]
    assert not [message for message in found if message]


@pytest.mark.parametrize(
    ("path", "target", "message"),
    [
        (
            "models/masked/model.py",
            "syntagm.suite.Suite",
            "models/masked/model.py imports syntagm.suite: a model must not know about materials",
        ),
        (
            "formats/new.py",
            "syntagm.models.toy",
            "formats/new.py imports syntagm.models: materials must not know about models",
        ),
        (
            "tasks/new.py",
            "syntagm.runs.store.Run",
            "tasks/new.py imports syntagm.runs: tasks stands on floor 12 and must not know floor 13",
        ),
        ("suite.py", "syntagm.utils", "suite.py imports syntagm.utils: no such room in docs/design.md"),
        ("models/new/family.py", "syntagm.models.names.choose", None),
        ("tasks/new.py", "syntagm.suite.Item", None),
        ("suite.py", "numpy", None),
    ],
)
def test_the_reader_of_imports_itself(path: str, target: str, message: str | None) -> None:
    assert fault(path, target) == message


def test_the_ground_floors_need_numpy_at_most() -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy", "syntagm"}
    for name in [room for rooms in FLOORS[:8] for room in rooms]:
        place = PACKAGE / name
        for path in place.rglob("*.py") if place.is_dir() else [PACKAGE / f"{name}.py"]:
            assert {target.split(".")[0] for target in imported(path)} <= allowed, path


def loaded(code: str) -> set[str]:
    """Which heavy libraries are loaded after `code`, in a fresh interpreter."""
    report = f"\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_and_every_command_loads_nothing_heavy() -> None:
    # `import` is no name in Python's own statement.
    commands = "\n".join(f"registry.find('cli', '{name}')" for name in registry.names("cli"))
    assert loaded(f"import syntagm\nimport syntagm.cli\nfrom syntagm import registry\n{commands}") == set()


def test_reading_and_checking_suites_loads_nothing_heavy() -> None:
    code = "import syntagm as sg\nsuites = sg.read_suites('hu2020')\nlist(sg.check_suites(suites))"
    assert loaded(code) == set()


def test_a_model_by_pencil_needs_no_torch() -> None:
    assert not loaded("import syntagm as sg\nlist(sg.load_model('toy').score(['the dog']))") & {"torch", "transformers"}


def test_help() -> None:
    done = subprocess.run([sys.executable, "-m", "syntagm", "--help"], capture_output=True, text=True, check=True)
    for name in registry.names("cli"):
        assert name.replace("_", "-") in done.stdout
