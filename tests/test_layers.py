"""Which way imports point (docs/design.md), and what is loaded when."""

import ast
import functools
import re
import subprocess
import sys
from pathlib import Path

import pytest

import syntagm
from syntagm.core import registry

PACKAGE = Path(syntagm.__file__).parent
DESIGN = PACKAGE.parent / "docs" / "design.md"
MOST_ARROWS = 80


def listed() -> dict[str, list[list[str]]]:
    """Each room from the ground up, with the floors inside it, as the page on the design lists them."""
    text = DESIGN.read_text(encoding="utf-8").split("## Rooms")[1]
    [block] = re.findall(r"\n\n((?:    [a-z_]+(?: .*)?\n)+)\n", text.split("## ")[0])
    rooms = {}
    for line in block.splitlines():
        name, _, floors = line.strip().partition(" ")
        rooms[name] = [floor.split() for floor in floors.split(";")] if floors else [["*"]]
    return rooms


def budgets() -> dict[str, tuple[int, int]]:
    """Room -> the most lines, and the most files, that the page on the design grants it."""
    text = DESIGN.read_text(encoding="utf-8").split("## Rooms")[1]
    rows = re.findall(r"^\| `(\w+)` \|[^|\n]*\| ([\d,]+) \| (\d+) \|", text, re.MULTILINE)
    return {name: (int(lines.replace(",", "")), int(count)) for name, lines, count in rows}


ROOMS = listed()
FLOOR = {room: number for number, room in enumerate(ROOMS)}
FORBIDDEN = {
    ("models", "suites"): "a model must not know about materials",
    ("training", "suites"): "a model must not know about materials",
    ("training", "evaluation"): "a model must not know what is made of its answers",
    ("stats", "models"): "statistics must not know about models",
    ("stats", "suites"): "statistics must not know about materials",
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


def inner_floor(room: str, part: str) -> int:
    """The floor, inside a room, of a module or folder of it; what the page doesn't name is where its `*` is."""
    floors = ROOMS[room]
    if part == "__init__":
        return len(floors)
    return next((number for number, names in enumerate(floors) if part in names), _of_the_rest(floors))


def _of_the_rest(floors: list[list[str]]) -> int:
    return next((number for number, names in enumerate(floors) if names == ["*"]), -1)


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
            # `from syntagm.suites import suite` imports a module, `from syntagm.suites.suite import Suite` a name of one.
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return found


def fault(path: str, target: str) -> str | None:
    """What is wrong with the file `path` (relative to the package) importing `target`, as a message."""
    names = target.split(".")
    if names[0] != "syntagm" or len(names) == 1:
        return None
    parts = Path(path).with_suffix("").parts
    here, there = parts[0], names[1]
    message = f"{path} imports syntagm.{there}"
    if there not in ROOMS:
        return f"{message}: no such room in docs/design.md"
    if (here, there) in FORBIDDEN:
        return f"{message}: {FORBIDDEN[here, there]}"
    if here != there:
        if here in ROOMS and FLOOR[there] > FLOOR[here]:
            return f"{message}: {here} stands below {there}"
        return None
    if len(names) == 2 or parts[1] == names[2]:
        return None
    inside, below = inner_floor(here, parts[1]), inner_floor(here, names[2])
    if below > inside or (below == inside and {parts[1], names[2]} & {name for floor in ROOMS[here] for name in floor}):
        return f"{message}.{names[2]}: inside {here}, {parts[1]} doesn't stand above {names[2]}"
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
    assert sorted(rooms - {"__init__", "__main__"}) == sorted(ROOMS)
    assert len(ROOMS) == 14
    for room, floors in ROOMS.items():
        for name in (name for names in floors for name in names if name != "*"):
            assert (PACKAGE / room / name).is_dir() or (PACKAGE / room / f"{name}.py").is_file(), f"{room}: {name}"


def test_a_room_keeps_to_its_budget() -> None:
    granted, found = budgets(), {}
    for room in ROOMS:
        sizes = {path: len(path.read_text("utf-8").splitlines()) for path in (PACKAGE / room).rglob("*.py")}
        counted = [path for path, size in sizes.items() if path.name != "__init__.py" or size > 3]
        found[room] = (sum(sizes.values()), len(counted))
    assert found.keys() == granted.keys()
    over = {room for room in ROOMS if found[room][0] > granted[room][0] or found[room][1] > granted[room][1]}
    assert not over, {room: f"{found[room]} of {granted[room]}" for room in over}


def arrows() -> set[tuple[str, str]]:
    """The pairs of rooms of which the first imports the second."""
    graph = {name: targets - {"syntagm"} for name, targets in edges().items() if name != "syntagm.__main__"}
    rooms = {(name.split(".")[1], target.split(".")[1]) for name, targets in graph.items() for target in targets}
    return {(here, there) for here, there in rooms if here != there}


def test_few_rooms_know_each_other_and_none_mutually() -> None:
    found = arrows()
    assert len(found) <= MOST_ARROWS, sorted(found)
    assert not [(here, there) for here, there in found if (there, here) in found]


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


def test_rooms_are_entered_by_their_fronts() -> None:
    """Files inside a room can move without changing others: what these import is listed in its `__init__.pyi`."""
    fronts = {
        path.parent.name: set(re.findall(r" as (\w+)", path.read_text(encoding="utf-8")))
        for path in PACKAGE.glob("*/__init__.pyi")
    }
    # What fronts are made of, and a function with the name of its module.
    allowed = {"syntagm.core.front.front", "syntagm.runs.evaluate.evaluate"}
    found = [
        f"{path.relative_to(PACKAGE)} imports {target}"
        for path in files()
        for target in imported(path)
        for names in [target.split(".")]
        if names[0] == "syntagm" and len(names) > 2 and path.parent != PACKAGE and target not in allowed
        if names[1] != path.relative_to(PACKAGE).parts[0]
        and (len(names) > 3 or names[2] not in fronts.get(names[1], set()))
    ]
    assert not found


def test_imports_point_down() -> None:
    found = list[str | None]()
    for path in files():
        name = path.relative_to(PACKAGE).as_posix()
        assert name in ("__init__.py", "__main__.py") or Path(name).parts[0] in ROOMS, f"{name} is in no room"
        # The public names are at home everywhere; __init__ only points there.
        if name != "__init__.py":
            found += [fault(name, target) for target in imported(path)]
    assert not [message for message in found if message]


@pytest.mark.parametrize(
    ("path", "target", "message"),
    [
        (
            "models/masked/model.py",
            "syntagm.suites.suite.Suite",
            "models/masked/model.py imports syntagm.suites: a model must not know about materials",
        ),
        (
            "suites/formats/new.py",
            "syntagm.models.toy",
            "suites/formats/new.py imports syntagm.models: suites stands below models",
        ),
        (
            "suites/formats/new.py",
            "syntagm.suites.materials.reading",
            "suites/formats/new.py imports syntagm.suites.materials: inside suites, formats doesn't stand above materials",
        ),
        (
            "suites/templates/new.py",
            "syntagm.suites.check.Finding",
            "suites/templates/new.py imports syntagm.suites.check: inside suites, templates doesn't stand above check",
        ),
        (
            "evaluation/new.py",
            "syntagm.runs.store.Run",
            "evaluation/new.py imports syntagm.runs: evaluation stands below runs",
        ),
        ("core/new.py", "syntagm.utils", "core/new.py imports syntagm.utils: no such room in docs/design.md"),
        ("models/new/family.py", "syntagm.models.names.choose", None),
        ("evaluation/new.py", "syntagm.suites.suite.Item", None),
        ("suites/suite.py", "numpy", None),
    ],
)
def test_the_reader_of_imports_itself(path: str, target: str, message: str | None) -> None:
    assert fault(path, target) == message


def test_the_ground_floors_need_numpy_at_most() -> None:
    allowed = set(sys.stdlib_module_names) | {"numpy", "syntagm"}
    ground = ["core", *(f"suites/{name}" for name in ("formula", "suite", "word_list", "languages")), "models/answers"]
    for name in ground:
        place = PACKAGE / name
        for path in place.rglob("*.py") if place.is_dir() else [place.with_suffix(".py")]:
            assert {target.split(".")[0] for target in imported(path)} <= allowed, path


def loaded(code: str) -> set[str]:
    """Which heavy libraries are loaded after `code`, in a fresh interpreter."""
    report = f"\nimport sys\nprint(*sorted({HEAVY!r} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code + report], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_the_package_and_every_command_loads_nothing_heavy() -> None:
    # `import` is no name in Python's own statement.
    commands = "\n".join(f"registry.find('cli', '{name}')" for name in registry.names("cli"))
    assert loaded(f"import syntagm\nimport syntagm.cli\nfrom syntagm.core import registry\n{commands}") == set()


def test_reading_and_checking_suites_loads_nothing_heavy() -> None:
    code = "import syntagm as sg\nsuites = sg.read_suites('hu2020')\nlist(sg.check_suites(suites))"
    assert loaded(code) == set()


def test_a_model_by_pencil_needs_no_torch() -> None:
    assert not loaded("import syntagm as sg\nlist(sg.load_model('toy').score(['the dog']))") & {"torch", "transformers"}


def test_help() -> None:
    done = subprocess.run([sys.executable, "-m", "syntagm", "--help"], capture_output=True, text=True, check=True)
    for name in registry.names("cli"):
        assert name.replace("_", "-") in done.stdout
