"""The map in the README has every file, with the first sentence of its docstring."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def summaries() -> dict[str, str]:
    files = [
        path
        for path in (ROOT / "syntagm").rglob("*.py")
        if path.parent.name != "syntagm" or not path.stem.startswith("__")
    ]
    docstrings = {path: ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "" for path in files}
    return {
        str(path.relative_to(ROOT / "syntagm")).replace("__init__.py", ""): " ".join(
            text.split("\n\n")[0].split()
        ).rstrip(".")
        for path, text in docstrings.items()
    }


def test_the_map_is_complete_and_true() -> None:
    section = (ROOT / "README.md").read_text(encoding="utf-8").split("## The map")[1].split("## Citing")[0]
    shown, folder = {}, ""
    for indent, name, text in re.findall(r"^    ( *)(\w+(?:\.py|/)) +(.+)$", section, re.MULTILINE):
        folder = name if name.endswith("/") else folder if indent else ""
        shown[folder + ("" if name.endswith("/") else name)] = text
    shown.pop("benchmarks/")
    assert shown == summaries()
