"""What `import syntagm` offers is what it lists."""

import ast
import inspect
from pathlib import Path

import pytest

import syntagm


def test_the_names_are_listed_in_order_and_once() -> None:
    assert sorted(set(syntagm.__all__)) == syntagm.__all__


@pytest.mark.parametrize("name", syntagm.__all__)
def test_each_name_exists_and_is_explained(name: str) -> None:
    assert inspect.getdoc(getattr(syntagm, name))


def test_no_other_public_name() -> None:
    """Neither in the module nor in what it says to type checkers nor among the homes of the names."""
    tree = ast.parse(Path(syntagm.__file__).read_text(encoding="utf-8"))
    typed = {
        alias.asname or alias.name
        for block in tree.body
        if isinstance(block, ast.If)
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert typed == set(syntagm.__all__)
    assert set(syntagm._HOMES) == set(syntagm.__all__)


def test_types_say_where_they_live() -> None:
    for name, home in syntagm._HOMES.items():
        module, _, attribute = home.partition(":")
        found = getattr(syntagm, name)
        assert found.__module__ == f"syntagm.{module}"
        assert found.__name__ == attribute


def test_a_name_that_does_not_exist() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = syntagm.nonsense


def test_star_import() -> None:
    space: dict[str, object] = {}
    exec("from syntagm import *", space)
    assert set(syntagm.__all__) == set(space) - {"__builtins__"}
