"""Docstrings: in full where others call from outside, one line inside a room.

Outside are the public names, the contracts of whatever packages add, records on disk, what programs read or show, what has
an example, and what a page of the documentation imports. Everything else says what it is in one line, or with its name
alone.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TypeAlias

import pytest

import syntagm

PACKAGE = Path(syntagm.__file__).parent
DOCS = PACKAGE.parent / "docs"
Definition: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
# What other packages derive from or fill in, and the functions that a format and a view have.
CONTRACTS = {"LanguageModel", "Described", "Family", "Option", "Fixed", "Scoring", "Setting", "Values"}
CONTRACTS |= {"Task", "Unit", "Plan", "Judged", "Measure", "Judgement", "Executor", "Export", "Outcome", "Layout"}
CONTRACTS |= {"Paper", "Experiment", "Gaps", "Learner", "Spot"}
FORMAT, VIEW = {"claims", "read", "write", "unscored"}, {"make_table", "draw_figure"}
SECTION = re.compile(
    r"^(Arguments|Attributes|Returns|Yields|Raises|Examples?|Notes?|References?|Warnings?):$", re.MULTILINE
)
ENTRY = re.compile(r"^    (\*{0,2}[a-z_]\w*(?:, \*{0,2}[a-z_]\w*)*):", re.MULTILINE)


@dataclass
class Module:
    """A module of the package: what it defines, and the names that it imports."""

    name: str
    tree: ast.Module
    defined: dict[str, Definition] = field(default_factory=dict)
    imported: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.defined = dict(_definitions(self.tree.body, ""))
        for node in self.nodes:
            if isinstance(node, ast.Import):
                self.imported |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                self.imported |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}

    @cached_property
    def nodes(self) -> list[ast.AST]:
        return list(ast.walk(self.tree))

    @cached_property
    def used(self) -> set[str]:
        """The dotted names of the package that the module imports, or reaches through a module that it imports."""
        reached = {
            f"{self.imported[node.value.id]}.{node.attr}"
            for node in self.nodes
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in self.imported
        }
        return {name for name in {*self.imported.values(), *reached} if name.startswith("syntagm.")}


def _definitions(body: list[ast.stmt], owner: str) -> Iterator[tuple[str, Definition]]:
    """Functions and classes by qualified name, those within functions and conditions among them."""
    for node in body:
        if isinstance(node, Definition):
            yield f"{owner}{node.name}", node
            inner = f"{owner}{node.name}." + ("" if isinstance(node, ast.ClassDef) else "<locals>.")
            yield from _definitions(node.body, inner)
        else:
            for _, value in ast.iter_fields(node):
                if isinstance(value, list):
                    yield from _definitions([part for part in value if isinstance(part, ast.stmt)], owner)


def modules(package: Path) -> dict[str, Module]:
    read = {}
    for path in sorted(package.rglob("*.py")):
        parts = ("syntagm", *path.relative_to(package).with_suffix("").parts)
        name = ".".join(parts).removesuffix(".__init__")
        read[name] = Module(name, ast.parse(path.read_text(encoding="utf-8")))
        if (front := path.with_suffix(".pyi")).exists():
            read[name].imported |= Module(name, ast.parse(front.read_text(encoding="utf-8"))).imported
    return read


def home(read: dict[str, Module], dotted: str) -> tuple[str, str] | None:
    """The module that defines a dotted name, and its name there; None if it is no function or class of the package."""
    module, _, name = dotted.rpartition(".")
    if module not in read:
        return None
    if name in read[module].defined:
        return module, name
    further = read[module].imported.get(name, "")
    return home(read, further) if further != dotted else None


def bases(read: dict[str, Module], place: tuple[str, str]) -> list[tuple[str, str]]:
    """The classes of the package that a class is derived from, directly or not."""
    module, name = place
    node, found = read[module].defined[name], list[tuple[str, str]]()
    for base in node.bases if isinstance(node, ast.ClassDef) else ():
        written = ast.unparse(base).partition("[")[0]
        if parent := home(read, read[module].imported.get(written, f"{module}.{written}")):
            found += [parent, *bases(read, parent)]
    return found


def public(node: Definition) -> Iterator[ast.FunctionDef]:
    """The public methods of a class."""
    return (part for part in node.body if isinstance(part, ast.FunctionDef) and not part.name.startswith("_"))


def _is_record(node: ast.ClassDef, filled: set[str]) -> bool:
    """Whether a class is read from JSON as it is, or has the settings of training, which are recorded."""
    values = [part.value for part in node.body if isinstance(part, ast.AnnAssign)]
    called = {ast.unparse(value.func).rpartition(".")[2] for value in values if isinstance(value, ast.Call)}
    return node.name in filled or bool(called & {"option", "part"})


def _is_read(node: Definition) -> bool:
    """Whether a program reads the docstring: a rule of `check`, a claim on a paper, a protocol; or runs its examples."""
    if ">>>" in (ast.get_docstring(node) or ""):
        return True
    if isinstance(node, ast.ClassDef):
        return any(ast.unparse(base).startswith("Protocol") for base in node.bases)
    decorators = [ast.unparse(decorator) for decorator in node.decorator_list]
    returned = ast.unparse(node.returns) if node.returns else ""
    return any(name.startswith("rule(") for name in decorators) or returned in ("Checked", "list[Claim]")


def _is_contract(module: Module, name: str, node: Definition) -> bool:
    if isinstance(node, ast.ClassDef):
        return name in CONTRACTS
    return name in VIEW or (name in FORMAT and module.name.split(".")[-2] == "formats")


def imported_by_pages() -> set[str]:
    """The dotted names that pages of the documentation import."""
    pages = "\n".join(page.read_text(encoding="utf-8") for page in sorted(DOCS.rglob("*.md")))
    lines = re.findall(r"^ *(?:>>> )?from (syntagm[\w.]*) import ([\w, ]+)$", pages, re.MULTILINE)
    return {f"{module}.{name.split(' as ')[0]}" for module, names in lines for name in names.split(", ")}


def outside(read: dict[str, Module]) -> dict[tuple[str, str], str]:
    """What is called, written or read from outside: module and qualified name -> why."""
    found = dict[tuple[str, str], str]()
    calls = [node for module in read.values() for node in module.nodes if isinstance(node, ast.Call)]
    filled = {ast.unparse(call.func) for call in calls if any(keyword.arg is None for keyword in call.keywords)}
    for dotted in read["syntagm"].used:
        if place := home(read, dotted):
            found[place] = "public"
    for module in read.values():
        for name, node in module.defined.items():
            if _is_contract(module, name, node):
                found.setdefault((module.name, name), "contract")
            elif isinstance(node, ast.ClassDef) and _is_record(node, filled):
                found.setdefault((module.name, name), "record")
            if _is_read(node):
                found.setdefault((module.name, name), "read")
    for dotted in imported_by_pages():
        if place := home(read, dotted):
            found.setdefault(place, "page")
    # Users of a public class also see what its bases have.
    for place in [place for place, why in found.items() if why in ("public", "contract")]:
        for base in bases(read, place):
            found.setdefault(base, found[place])
    for (name, kind), why in list(found.items()):
        if isinstance(node := read[name].defined[kind], ast.ClassDef):
            described = {
                part.name for base in bases(read, (name, kind)) for part in public(read[base[0]].defined[base[1]])
            }
            for method in public(node):
                # What overrides a method does what the base class says.
                if method.name in described and why != "public":
                    continue
                if why in ("public", "contract", "read"):
                    found.setdefault((name, f"{kind}.{method.name}"), why)
    return found


def parameters(node: Definition) -> list[str]:
    """The names that a section of arguments may explain: parameters of a function, or fields of a class."""
    if isinstance(node, ast.ClassDef):
        constructors = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        fields = [part.target for part in node.body if isinstance(part, ast.AnnAssign)]
        names = [target.id for target in fields if isinstance(target, ast.Name)]
        return names + [name for constructor in constructors for name in parameters(constructor)]
    given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    named = [argument.arg for argument in (*given, node.args.vararg, node.args.kwarg) if argument]
    return [name for name in named if name not in ("self", "cls")]


def section(text: str, title: str) -> str:
    """The lines of a section of a docstring."""
    found = re.search(rf"^{title}:\n((?:    .*\n?|\n)*)", text, re.MULTILINE)
    return found[1] if found else ""


def raised(node: Definition) -> set[str]:
    """The classes of errors that a function raises itself."""
    raising = [part.exc for part in ast.walk(node) if isinstance(part, ast.Raise)]
    called = [part.func for part in raising if isinstance(part, ast.Call)]
    return {part.id for part in called if isinstance(part, ast.Name) and part.id[0].isupper()}


def lacking_outside(node: Definition, why: str) -> Iterator[str]:
    """What a docstring lacks that people outside need."""
    text = ast.get_docstring(node)
    if text is None:
        yield "no docstring"
        return
    known = parameters(node)
    explained = [name.lstrip("*") for names in ENTRY.findall(section(text, "Arguments")) for name in names.split(", ")]
    # A class has the fields of its bases, too.
    inherits = isinstance(node, ast.ClassDef) and node.bases
    if not inherits and (wrong := [name for name in explained if name not in known]):
        yield f"explains {', '.join(wrong)}, which it doesn't have"
    if isinstance(node, ast.ClassDef):
        return
    missing = [name for name in known if name not in explained and not re.search(rf"\b{name}\b", text)]
    # A summary says what a single argument is. With `kwargs`, another library calls a function as it documents.
    if why == "public" and missing and len(known) > 1 and "kwargs" not in known and "same as for" not in text:
        yield f"doesn't explain {', '.join(missing)}"
    unsaid = [name for name in sorted(raised(node)) if name not in text]
    if why != "read" and unsaid and "errors see" not in text:
        yield f"doesn't say that it raises {', '.join(unsaid)}"


def too_much_inside(node: Definition) -> Iterator[str]:
    """What a docstring inside a room has beyond one line."""
    text = ast.get_docstring(node)
    if text is None:
        return
    if SECTION.search(text):
        yield "has sections"
    elif "\n" in text:
        yield "has more than one line"


def faults(package: Path) -> list[str]:
    read = modules(package)
    others = outside(read)
    found = list[str]()
    for module in read.values():
        for name, node in module.defined.items():
            why = others.get((module.name, name))
            wrong = lacking_outside(node, why) if why else too_much_inside(node)
            found += [f"{module.name}.{name} ({why or 'inside'}): {fault}" for fault in wrong]
    return found


@pytest.mark.slow
def test_docstrings_are_full_outside_and_one_line_inside() -> None:
    assert not faults(PACKAGE)
